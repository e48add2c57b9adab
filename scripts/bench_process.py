#!/usr/bin/env python
"""Time whole processes, from start to exit: reading FASTA, start-up, and other tools.

    scripts/bench_process.py [--length N] [--random N] [--repeats FILE] [--repeat N]
        [--threads N] [--patience S] [--json FILE] [GENOME ...]

Reading: one pattern of 20, k = 2, both strands, in random genomes of N bp written in several ways,
against the seconds that Biopython's SimpleFastaParser takes to read the same file line by line (its
process's start is not counted), and gzipped against `gzip -dc`. Start-up: a search of phage phiX174
against a process that imports Numba and Biopython's FASTA reader. Then, for random letters of as
many bp as --random says and for each GENOME, 1, 64 and 2,000 windows of 20 cut out of it and, in a
GENOME, the guides of --repeats, k = 3, both strands: kmatch, Sassy (package sassy-rs) in a script
that reads with needletail, and seqkit locate; those that are not installed are left out, and one
that takes more than --patience seconds is stopped. Hits are counted here and compared in
bench_whole.py: Sassy, as `edit`, finds insertions and deletions and, other than kmatch, lets N
match; a line is a hit, in kmatch's and Sassy's tables.

All files are in memory when they are read, kernels are compiled, tables go to a file. Commands that
are compared take turns; figures are medians of --repeat runs, ratios medians of the ratios. On a
machine that does other work too, only the ratios mean something.
"""

import argparse
import gzip
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path

from benchmarks import (
    kmatch_command,
    median_ratio,
    process_seconds,
    repeat_panel,
    take_turns,
    write_fasta,
    write_results,
)
from workloads import cut_panel, file_text

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
COUNTS = (1, 64, 2_000)
IMPORTS = "import numba; from Bio.SeqIO.FastaIO import SimpleFastaParser"
SASSY = """
import sys
import needletail, sassy
genome, panel, k, threads, table = sys.argv[1:]
patterns = [line.strip().encode() for line in open(panel)]
mode, alphabet = ("single", "dna") if len(patterns) == 1 else ("batch_patterns", "iupac")
searcher = sassy.Searcher(alphabet, rc=True)
with open(table, "w") as out:
    for record in needletail.parse_fastx_file(genome):
        text = record.seq.encode()
        for m in searcher.search_many(patterns, [text], int(k), int(threads), mode):
            print(record.id, m.text_start, m.text_end, m.pattern_idx, m.cost, m.strand, file=out)
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("genomes", nargs="*")
    parser.add_argument("--length", type=int, default=500_000_000)
    parser.add_argument("--random", type=int, default=34_000_000)
    parser.add_argument("--repeats", metavar="FILE")
    parser.add_argument("--threads", type=int, default=2)
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
        genomes = [Path(genome) for genome in options.genomes]
        if options.random:
            genomes.insert(0, folder / "random.fa")
            write_fasta(genomes[0], options.random)
        for genome in genomes:
            rows += [
                row for panel in panels(genome, options) for row in tools(folder, genome, *panel)
            ]
    write_results(options.json, rows, threads=options.threads)


def python(script, *arguments):
    return [sys.executable, "-c", script, *map(str, arguments)]


def in_turn(repeat, *calls):
    """What calls return in turn, after a turn that is not counted, as a list for each."""
    for call in calls:
        call()
    return take_turns(repeat, *calls)


def told(name, ours, theirs, what):
    ratio = median_ratio(theirs, ours)
    row = {"name": name, "kmatch": statistics.median(ours), what: statistics.median(theirs)}
    print(f"{name}: kmatch {row['kmatch']:.2f} s, {what} {row[what]:.2f} s; ratio {ratio:.2f}")
    sys.stdout.flush()
    return row | {"ratio": ratio}


def start_up(repeat):
    genome = Path(__file__).parents[1] / "examples" / "data" / "phix174.fa.gz"
    search = kmatch_command("hamming", genome, "-p", PATTERN, "-k", 2)
    ours, theirs = in_turn(
        3 * repeat, lambda: process_seconds(search), lambda: process_seconds(python(IMPORTS))
    )
    return told("phiX174", ours, theirs, "imports alone")


def reading(folder, name, options):
    path = folder / "genome.fa"
    write_fasta(path, options.length, **WAYS[name])
    search = kmatch_command("hamming", path, "-p", PATTERN, "-k", 2, "-o", folder / "hits.bed")

    def parse():
        return float(subprocess.check_output(python(PARSER, path)))

    ours, theirs = in_turn(options.repeat, lambda: process_seconds(search), parse)
    return told(f"{options.length:,} bp, {name}", ours, theirs, "SimpleFastaParser")


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
    return told(f"{options.length:,} bp, gzip", ours, theirs, "gzip -dc")


def panels(genome, options):
    """Yield (name, patterns, options) for each panel that is searched in a genome."""
    text = file_text(genome)
    for count in COUNTS:
        yield f"{count:,} cut", cut_panel(text, count), options
    guides = repeat_panel(options)
    if guides and str(genome) in options.genomes:
        yield f"{len(guides):,} repeats", guides, options


def tools(folder, genome, name, patterns, options):
    """Whole processes of several tools with patterns out of a genome."""
    panel, fasta = folder / "panel.txt", folder / "panel.fa"
    panel.write_text("".join(f"{pattern}\n" for pattern in patterns))
    fasta.write_text("".join(f">p{i}\n{pattern}\n" for i, pattern in enumerate(patterns)))
    table, threads = folder / "table", str(options.threads)
    search = (genome, panel, "-k", 3, "-t", threads, "-o", table)
    commands = {
        "kmatch hamming": kmatch_command("hamming", *search),
        "kmatch edit": kmatch_command("edit", *search),
    }
    if find_spec("sassy") and find_spec("needletail"):
        commands["Sassy"] = python(SASSY, genome, panel, 3, threads, table)
    if shutil.which("seqkit"):
        commands["seqkit locate"] = [
            *("seqkit", "locate", "-m", "3", "-j", threads, "--bed", "-f", str(fasta)),
            *(str(genome), "-o", str(table)),
        ]
    name = f"{os.path.basename(genome)}, {name}"
    return [compared(name, tool, commands[tool], table, options) for tool in commands]


def compared(name, tool, command, table, options):
    row = {"name": name, "tool": tool}
    try:
        runs = []
        for _ in range(1 + options.repeat):
            runs.append(process_seconds(command, timeout=options.patience))
            if runs[-1] > options.patience / options.repeat:
                break
        row["seconds"] = statistics.median(runs[1:] or runs)
        row["lines"] = table.read_bytes().count(b"\n")
        print(f"{name}, {tool}: {row['seconds']:.2f} s, {row['lines']:,} lines", flush=True)
    except subprocess.TimeoutExpired:
        print(f"{name}, {tool}: more than {options.patience:.0f} s", flush=True)
    return row


if __name__ == "__main__":
    main()
