#!/usr/bin/env python
"""Time whole processes whose search is short: their start-up, and the reading of FASTA.

    scripts/bench/start.py [--length N] [--repeat N] [--json FILE]

Start-up: a search of phage phiX174 beside a process that imports Numba and Biopython's FASTA
reader. Reading: one pattern of 20, k = 2, both strands, in random genomes of N bp, each written in
another way, beside the seconds that Biopython's SimpleFastaParser takes to read the same file line
by line (without the start of its process); a gzipped genome beside `gzip -dc`.

Files are in memory when they are read, kernels are compiled, tables go to a file. Seconds are
medians of the repeats. Both sides take turns; their ratio, kmatch's seconds ÷ the other's, is the
median of the ratios, and the only figure that means something on a machine that does other work
too.
"""

import gzip
import shutil
import statistics
import subprocess
import tempfile
from pathlib import Path

from harness.options import plain_parser
from harness.processes import kmatch_command, process_seconds, python_command
from harness.records import write_results
from harness.timing import median_ratio, take_turns
from harness.workloads import write_fasta

ROOT = Path(__file__).parents[2]
PATTERN = "GTYCATGNTACAGATTCTCT"
WAYS = {
    "5 records, 60 a line": {"records": 5},
    "70 a line": {"width": 70},
    "80 a line, CRLF": {"width": 80, "newline": b"\r\n"},
    "lower case": {"lower": True},
    "one line": {"width": 1 << 40},
    "100,000 records": {"records": 100_000},
}
PARSER = """
import sys, time
from Bio.SeqIO.FastaIO import SimpleFastaParser
began = time.perf_counter()
with open(sys.argv[1]) as handle:
    for title, sequence in SimpleFastaParser(handle):
        pass
print(time.perf_counter() - began)
"""
IMPORTS = "import numba; from Bio.SeqIO.FastaIO import SimpleFastaParser"


def main():
    parser = plain_parser(__doc__, repeat=3)
    parser.add_argument("--length", type=int, default=500_000_000)
    options = parser.parse_args()
    rows = [start_up(options.repeat)]
    with tempfile.TemporaryDirectory() as folder:
        rows += [reading(Path(folder), name, options) for name in WAYS]
        rows.append(inflating(Path(folder), options))
    write_results(options.json, rows)


def in_turn(repeat, *calls):
    """The results of calls in turn, after a turn that is not counted, a tuple for each call."""
    for call in calls:
        call()
    return take_turns(repeat, *calls)


def figures(name, ours, theirs, other):
    """Print and return the row of a comparison with `other`."""
    ratio = median_ratio(theirs, ours)
    row = {"name": name, "kmatch": statistics.median(ours), other: statistics.median(theirs)}
    shown = f"{name}: kmatch {row['kmatch']:.2f} s, {other} {row[other]:.2f} s; ratio {ratio:.2f}"
    print(shown, flush=True)
    return row | {"ratio": ratio}


def start_up(repeat):
    genome = ROOT / "examples" / "data" / "phix174.fa.gz"
    search = kmatch_command("hamming", genome, "-p", PATTERN, "-k", 2)
    imports = python_command(IMPORTS)
    ours, theirs = in_turn(
        3 * repeat, lambda: process_seconds(search), lambda: process_seconds(imports)
    )
    return figures("phiX174", ours, theirs, "imports alone")


def reading(folder, name, options):
    path = folder / "genome.fa"
    write_fasta(path, options.length, **WAYS[name])
    search = kmatch_command("hamming", path, "-p", PATTERN, "-k", 2, "-o", folder / "hits.bed")

    def parse():
        return float(subprocess.check_output(python_command(PARSER, path)))

    ours, theirs = in_turn(options.repeat, lambda: process_seconds(search), parse)
    return figures(f"{options.length:,} bp, {name}", ours, theirs, "SimpleFastaParser")


def inflating(folder, options):
    path, packed = folder / "genome.fa", folder / "genome.fa.gz"
    write_fasta(path, options.length)
    with open(path, "rb") as source, gzip.open(packed, "wb", compresslevel=1) as target:
        shutil.copyfileobj(source, target, 1 << 20)
    path.unlink()
    search = kmatch_command("hamming", packed, "-p", PATTERN, "-k", 2, "-o", folder / "hits.bed")
    inflate = ["gzip", "-dc", str(packed)]
    ours, theirs = in_turn(
        options.repeat, lambda: process_seconds(search), lambda: process_seconds(inflate)
    )
    packed.unlink()
    return figures(f"{options.length:,} bp, gzip", ours, theirs, "gzip -dc")


if __name__ == "__main__":
    main()
