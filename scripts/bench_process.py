#!/usr/bin/env python
"""Time whole processes, from start to exit: reading FASTA, start-up, and other tools.

    scripts/bench_process.py [--length N] [--repeat N] [--json FILE] [GENOME ...]

Reading: one pattern of 20, k = 2, both strands, in random genomes of N bp written in several ways,
against the seconds that Biopython's SimpleFastaParser takes to read the same file line by line (its
process's start is not counted), and gzipped against `gzip -dc`. Start-up: a search of phage phiX174
against a process that imports Numba and Biopython's FASTA reader. Then, for each GENOME, plain
FASTA, 1 and 64 patterns of 20 out of it, k = 3, both strands: kmatch, Sassy (package sassy-rs) in a
script that reads with needletail, and seqkit locate; those that are not installed are left out,
and one that takes more than --patience seconds is stopped.

All files are in memory when they are read, kernels are compiled, tables go to a file. Commands that
are compared take turns; figures are medians of --repeat runs, ratios medians of the ratios. On a
machine that does other work too, only the ratios mean something.
"""

import argparse
import gzip
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path

from benchmarks import timed, write_fasta, write_results

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
SASSY = """
import sys
import needletail, sassy
genome, panel, k, table = sys.argv[1:]
patterns = [line.strip().encode() for line in open(panel)]
mode, alphabet = ("single", "dna") if len(patterns) == 1 else ("batch_patterns", "iupac")
searcher = sassy.Searcher(alphabet, rc=True)
with open(table, "w") as out:
    for record in needletail.parse_fastx_file(genome):
        text = record.seq.encode()
        for m in searcher.search_many(patterns, [text], int(k), 2, mode):
            print(record.id, m.text_start, m.text_end, m.pattern_idx, m.cost, m.strand, file=out)
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("genomes", nargs="*")
    parser.add_argument("--length", type=int, default=500_000_000)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--patience", type=float, default=300)
    parser.add_argument("--json", metavar="FILE")
    options = parser.parse_args()
    rows = [start_up(options.repeat)]
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        if options.length:
            rows += [reading(folder, name, options) for name in WAYS]
            rows.append(inflating(folder, options))
        for genome in options.genomes:
            for count in (1, 64):
                rows += tools(folder, genome, count, options)
    write_results(options.json, rows)


def python(script, *arguments):
    return [sys.executable, "-c", script, *map(str, arguments)]


def kmatch(*arguments):
    return [sys.executable, "-m", "kmatch", *map(str, arguments)]


def seconds(command):
    return timed(lambda: subprocess.run(command, check=True, stdout=subprocess.DEVNULL))[1]


def take_turns(repeat, *calls):
    """The seconds that calls return, after a turn that is not counted, as a list for each."""
    for call in calls:
        call()
    return list(zip(*([call() for call in calls] for _ in range(repeat)), strict=True))


def told(name, ours, theirs, what):
    ratio = statistics.median(a / b for a, b in zip(ours, theirs, strict=True))
    row = {"name": name, "kmatch": statistics.median(ours), what: statistics.median(theirs)}
    print(f"{name}: kmatch {row['kmatch']:.2f} s, {what} {row[what]:.2f} s; ratio {ratio:.2f}")
    sys.stdout.flush()
    return row | {"ratio": ratio}


def start_up(repeat):
    genome = Path(__file__).parents[1] / "examples" / "data" / "phix174.fa.gz"
    search = kmatch("hamming", genome, "-p", PATTERN, "-k", 2)
    ours, theirs = take_turns(3 * repeat, lambda: seconds(search), lambda: seconds(python(IMPORTS)))
    return told("phiX174", ours, theirs, "imports alone")


def reading(folder, name, options):
    path = folder / "genome.fa"
    write_fasta(path, options.length, **WAYS[name])
    search = kmatch("hamming", path, "-p", PATTERN, "-k", 2, "-o", folder / "hits.bed")

    def parse():
        return float(subprocess.check_output(python(PARSER, path)))

    ours, theirs = take_turns(options.repeat, lambda: seconds(search), parse)
    return told(f"{options.length:,} bp, {name}", ours, theirs, "SimpleFastaParser")


def inflating(folder, options):
    path, packed = folder / "genome.fa", folder / "genome.fa.gz"
    write_fasta(path, options.length)
    with open(path, "rb") as source, gzip.open(packed, "wb", compresslevel=1) as target:
        shutil.copyfileobj(source, target, 1 << 20)
    path.unlink()
    search = kmatch("hamming", packed, "-p", PATTERN, "-k", 2, "-o", folder / "hits.bed")
    inflate = ["gzip", "-dc", str(packed)]
    ours, theirs = take_turns(options.repeat, lambda: seconds(search), lambda: seconds(inflate))
    packed.unlink()
    return told(f"{options.length:,} bp, gzip", ours, theirs, "gzip -dc")


def tools(folder, genome, count, options):
    """Whole processes of several tools with patterns out of a genome."""
    panel, fasta = folder / "panel.txt", folder / "panel.fa"
    patterns = sample(genome, count)
    panel.write_text("".join(f"{pattern}\n" for pattern in patterns))
    fasta.write_text("".join(f">p{i}\n{pattern}\n" for i, pattern in enumerate(patterns)))
    table = folder / "table"
    commands = {
        "kmatch hamming": kmatch("hamming", genome, panel, "-k", 3, "-o", table),
        "kmatch edit": kmatch("edit", genome, panel, "-k", 3, "-o", table),
    }
    if find_spec("sassy") and find_spec("needletail"):
        commands["Sassy"] = python(SASSY, genome, panel, 3, table)
    if shutil.which("seqkit"):
        commands["seqkit locate"] = [
            *("seqkit", "locate", "-m", "3", "-j", "2", "--bed", "-f", str(fasta), str(genome)),
            *("-o", str(table)),
        ]
    return [compared(genome, count, name, commands[name], table, options) for name in commands]


def sample(genome, count):
    """Windows of 20 bases spread over a genome."""
    rng = random.Random(20)
    lines = Path(genome).read_bytes().upper().splitlines()
    letters = b"".join(line for line in lines if not line.startswith(b">"))
    found = []
    while len(found) < count:
        at = rng.randrange(len(letters) - 20)
        window = letters[at : at + 20].decode()
        if set(window) <= set("ACGT"):
            found.append(window)
    return found


def compared(genome, count, name, command, table, options):
    row = {"name": f"{os.path.basename(genome)}, {count} patterns", "tool": name}
    try:
        runs = []
        for _ in range(1 + options.repeat):
            run = timed(
                lambda: subprocess.run(
                    command, check=True, stdout=subprocess.DEVNULL, timeout=options.patience
                )
            )
            runs.append(run[1])
            if run[1] > options.patience / options.repeat:
                break
        row["seconds"] = statistics.median(runs[1:] or runs)
        row["lines"] = table.read_bytes().count(b"\n")
        print(f"{row['name']}, {name}: {row['seconds']:.2f} s, {row['lines']:,} lines", flush=True)
    except subprocess.TimeoutExpired:
        print(f"{row['name']}, {name}: more than {options.patience:.0f} s", flush=True)
    return row


if __name__ == "__main__":
    main()
