"""Options of the measurements, and the texts and panels that they name."""

import argparse

from harness.workloads import at_rich_text, file_panel, file_text, random_text


def plain_parser(doc, repeat=None):
    """A parser with --json, and with --repeat where a default is given; doc: of the script."""
    parser = argparse.ArgumentParser(description=doc.splitlines()[0])
    if repeat:
        parser.add_argument("--repeat", type=int, default=repeat, help="runs of each search")
    parser.add_argument("--json", metavar="FILE", help="keep the figures in FILE")
    return parser


def text_parser(doc, length, seconds, repeat, threads=None):
    """A parser for measurements on random, real and AT-rich texts."""
    parser = plain_parser(doc, repeat)
    parser.add_argument("--genome", metavar="FASTA", help="real DNA: its first record")
    parser.add_argument("--repeats", metavar="FILE", help="guides out of repeats of the genome")
    parser.add_argument("--at-rich", metavar="FASTA", help="in place of the mitochondrion of yeast")
    parser.add_argument("--at-rich-record", metavar="NAME", help="of that file, such as chrM")
    parser.add_argument("--length", type=int, default=length, help="letters of each text")
    parser.add_argument("--seconds", type=float, default=seconds, help="a search may take")
    parser.add_argument("--threads", type=int, default=threads)
    parser.add_argument("--only", metavar="WORD", help="rows with WORD in text, panel or search")
    return parser


def texts(options):
    """The Texts that the options of `text_parser` name, as `random`, `real` and `at-rich`."""
    found = {"random": random_text(options.length)}
    if options.genome:
        found["real"] = file_text(options.genome, options.length)
    sample = options.at_rich and file_text(options.at_rich, record=options.at_rich_record)
    found["at-rich"] = at_rich_text(options.length, sample)
    return found


def repeat_panel(options):
    """The guides of --repeats, or none."""
    return file_panel(options.repeats) if options.repeats else []


def is_wanted(options, *words):
    """Whether --only selects a row of these words."""
    return not options.only or any(options.only in word for word in words)
