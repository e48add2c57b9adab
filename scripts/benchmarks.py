"""What the benchmarks have in common: options, timing, tables, results.

Texts and panels of patterns are in `workloads`, the comparison with Sassy in `versus`.
"""

import argparse
import json
import platform
import re
import statistics
import subprocess
import sys
import time
from pathlib import Path

from workloads import at_rich_text, file_panel, file_text, random_text


def parse_options(doc, length, patterns, repeat=5):
    """The options --length, --patterns, --repeat and --json with these defaults."""
    parser = argparse.ArgumentParser(description=doc.splitlines()[0])
    parser.add_argument("--length", type=int, default=length)
    parser.add_argument("--patterns", type=int, default=patterns)
    parser.add_argument("--repeat", type=int, default=repeat)
    parser.add_argument("--json", metavar="FILE")
    return parser.parse_args()


def text_parser(doc, length, seconds, repeat, threads=None):
    """A parser of options for benchmarks on random, real and AT-rich texts."""
    parser = argparse.ArgumentParser(description=doc.splitlines()[0])
    parser.add_argument("--genome", metavar="FASTA", help="real DNA: its first record")
    parser.add_argument("--repeats", metavar="FILE", help="guides out of repeats of the genome")
    parser.add_argument("--at-rich", metavar="FASTA", help="in place of the mitochondrion of yeast")
    parser.add_argument("--at-rich-record", metavar="NAME", help="of that file, such as chrM")
    parser.add_argument("--length", type=int, default=length, help="letters of each text")
    parser.add_argument("--seconds", type=float, default=seconds, help="a search may take")
    parser.add_argument("--repeat", type=int, default=repeat)
    parser.add_argument("--threads", type=int, default=threads)
    parser.add_argument("--only", metavar="WORD", help="rows that have it in text, panel or search")
    parser.add_argument("--json", metavar="FILE")
    return parser


def texts(options):
    """The Texts that options of `text_parser` ask for, under `random`, `real` and `at-rich`."""
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
    """Whether --only asks for a row of these words."""
    return not options.only or any(options.only in word for word in words)


def timed(call, clock=time.perf_counter):
    """(result, seconds) of a call."""
    began = clock()
    result = call()
    return result, clock() - began


def take_turns(repeat, *calls):
    """What calls return in turn, as a list for each."""
    return list(zip(*([call() for call in calls] for _ in range(repeat)), strict=True))


def median_ratio(ours, theirs):
    """The median of how many times as long theirs took, turn by turn."""
    return statistics.median(b / a for a, b in zip(ours, theirs, strict=True))


def kmatch_command(*arguments):
    """The command line of a kmatch process."""
    return [sys.executable, "-m", "kmatch", *map(str, arguments)]


class Table:
    """Rows printed one by one under a header.

    columns: (key of a row, header, format) each; the width is the header's, or the format's.
    """

    def __init__(self, columns):
        self._columns = columns
        self.rows = []

    def add(self, row):
        if not self.rows:
            print(*(_aligned(header, form) for _, header, form in self._columns), sep="  ")
        self.rows.append(row)
        cells = (_cell(row.get(key), form) for key, _, form in self._columns)
        print(*cells, sep="  ", flush=True)


def _aligned(word, form):
    """A word in the width of a format such as `>9.3f`, on its side."""
    return f"{word:{form[0]}{re.match('[0-9]+', form[1:]).group()}}"


def _cell(value, form):
    return _aligned("–", form) if value is None else f"{value:{form}}"


def run(command, **options):
    """Run a process, which has to succeed; what it prints is dropped."""
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, **options)


def process_seconds(command, **options):
    """Seconds of a process from start to exit."""
    return timed(lambda: run(command, **options))[1]


def write_results(path, rows, **about):
    """Write rows, and what else there is to know of the run, as JSON."""
    if path:
        record = {"machine": platform.platform(), "command": shown_command(), **about, "rows": rows}
        Path(path).write_text(json.dumps(record, indent=1) + "\n")


def shown_command():
    return " ".join((Path(sys.argv[0]).name, *sys.argv[1:]))


def write_fasta(path, length, records=1, width=60, newline=b"\n", lower=False, seed=1):
    """Write random records of one length, `length` letters in all, as FASTA."""
    import numpy as np

    rng = np.random.default_rng(seed)
    bases = np.frombuffer(b"acgt" if lower else b"ACGT", np.uint8)
    each = length // records
    with open(path, "wb") as handle:
        for number in range(records):
            handle.write(b">random%d of one length" % number + newline)
            for first in range(0, each, step := width * max(1, (1 << 22) // width)):
                letters = bases[rng.integers(0, 4, min(step, each - first), np.uint8)]
                write_lines(handle, letters, width, newline)


def write_lines(handle, letters, width=60, newline=b"\n"):
    """Write letters, uint8, in lines of one width."""
    import numpy as np

    whole = len(letters) - len(letters) % width
    lines = np.empty((whole // width, width + len(newline)), np.uint8)
    lines[:, :width] = letters[:whole].reshape(-1, width)
    lines[:, width:] = np.frombuffer(newline, np.uint8)
    handle.write(lines.tobytes())
    if whole < len(letters):
        handle.write(letters[whole:].tobytes() + newline)
