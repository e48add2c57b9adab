#!/usr/bin/env python
"""Time whole processes of kmatch beside a program that links Sassy's library.

    scripts/bench/library.py [--length BASES] [--reads COUNT] [--repeat N] [--only WORD]
        [--json FILE] PROGRAM GENOME

In the letters A, C, G and T of GENOME's first record, from file to table on one thread:

- `beside NGG`: 312 guides cut out before NGG, every end within k beside the PAM, both strands;
- `forward`: the same guides, each with NGG behind it, the minima on the strand +;
- `reads`: reads cut out of the record, each with one of 96 barcodes, and the barcode of each read
  that is closer than every other within k.

PROGRAM is written by whoever measures. It is called as `PROGRAM TASK FASTA PATTERNS K TABLE`, with
TASK `pam`, `forward` or `reads`, and writes rows of record, start, end, pattern, distance, strand
and CIGAR. docs/benchmarks.md says what the one of the record does. The exit status is 1 where it
finds something else than kmatch. Figures are as in whole.py.
"""

import sys
import tempfile
from pathlib import Path

from harness.common import Table, is_wanted, plain_parser, write_results
from harness.workloads import barcodes, file_text, guide_panel, write_reads, write_text
from whole import COLUMNS, Place, Tool, measure

GUIDES, LENGTH = 312, 20
BARCODES = 96


def beside_pam(place, program, guides, k):
    """Every end within k beside NGG: the guide, the hit's end at the PAM, its distance, strand."""

    def ours(lines):
        rows = (line.split("\t") for line in lines[1:])
        return {anchored(row, guide=row[3]) for row in rows}

    def theirs(lines):
        rows = (line.split("\t") for line in lines)
        return {anchored(row, guide=row[3][:LENGTH]) for row in rows}

    panel = place.write("guides", guides)
    with_pam = place.write("with_pam", [f"{guide}NGG" for guide in guides])
    words = ("-k", k, "--pam", "NGG", "--report", "ends", "--format", "tsv")
    yield place.kmatch("edit", panel, *words)._replace(found=ours)
    yield library(place, program, "pam", place.genome, with_pam, k)._replace(found=theirs)


def anchored(row, guide):
    """A hit as its guide, the end of the text beside the PAM, its distance and its strand."""
    _, start, end, _, distance, strand, *_ = row
    return guide, end if strand == "+" else start, int(distance), strand


def forward(place, program, guides, k):
    """The minima of guides and NGG on the strand +: their ends and distances."""

    def ours(lines):
        return theirs(lines[1:])

    def theirs(lines):
        rows = (line.split("\t") for line in lines)
        return {(row[3], row[2], row[4]) for row in rows}

    panel = place.write("with_pam", [f"{guide}NGG" for guide in guides])
    words = ("-k", k, "--strand", "+", "--format", "tsv")
    yield place.kmatch("edit", panel, *words)._replace(found=ours)
    yield library(place, program, "forward", place.genome, panel, k)._replace(found=theirs)


def reads(place, program, words, k):
    """The reads that one barcode is closest to, and which."""

    def ours(lines):
        rows = (line.split("\t") for line in lines[1:])
        return {(row[0], row[3]) for row in rows if row[2] == "assigned"}

    def theirs(lines):
        closest = {}
        for line in lines:
            read, _, _, barcode, distance, *_ = line.split("\t")
            found = closest.setdefault(read, {})
            found[barcode] = min(int(distance), found.get(barcode, k))
        return {(read, chosen) for read, found in closest.items() for chosen in single(found)}

    fastq = place.folder / "reads.fq"
    panel = place.write("barcodes", words)
    place = place._replace(genome=fastq)
    yield place.kmatch("demux", panel, "-k", k, "--edit", "--format", "tsv")._replace(found=ours)
    yield library(place, program, "reads", fastq, panel, k)._replace(found=theirs)


def single(distances):
    """The barcode that is closer than every other one, in a list, which is empty without one."""
    least = min(distances.values())
    closest = [barcode for barcode, distance in distances.items() if distance == least]
    return closest if len(closest) == 1 else []


def library(place, program, task, genome, panel, k):
    return Tool("Sassy's library", [program, task, genome, panel, k, place.table])


def main():
    parser = plain_parser(__doc__, repeat=3)
    parser.add_argument("program")
    parser.add_argument("genome")
    parser.add_argument("--length", type=int, help="letters of the genome")
    parser.add_argument("--reads", type=int, default=25_000)
    parser.add_argument("--only", metavar="WORD", help="comparisons with WORD in their names")
    options = parser.parse_args()
    options.threads = 1
    text = file_text(options.genome, options.length)
    guides = guide_panel(text, GUIDES, LENGTH)
    words = barcodes(BARCODES)
    shown = Table([("k", "k", ">2d"), *COLUMNS])
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        place = Place(folder, folder / "genome.fa", folder / "table", options)
        write_text(place.genome, text)
        write_reads(folder / "reads.fq", text, words, options.reads)
        for task, sequences, name, distances in (
            (beside_pam, guides, "beside NGG", (3, 4, 5)),
            (forward, guides, "forward", (3,)),
            (reads, words, "reads", (3, 4, 5)),
        ):
            for k in distances if is_wanted(options, name) else ():
                tools = list(task(place, options.program, sequences, k))
                about = {"task": name, "k": k, "text": text.name, "letters": len(text.letters)}
                about["panel"] = f"{len(sequences)} {name}"
                for row in measure(place, lambda *_, tools=tools: tools, sequences):
                    shown.add(about | row)
    write_results(options.json, shown.rows, device="cpu", threads=1, reads=options.reads)
    sys.exit(any(row.get("equal") == "NO" for row in shown.rows))


if __name__ == "__main__":
    main()
