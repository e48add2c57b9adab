#!/usr/bin/env python
"""Time whole processes, from start to exit: reading FASTA, start-up, and other tools.

    scripts/bench_process.py [--length N] [--random N] [--repeats FILE] [--repeat N]
        [--threads N] [--patience S] [--json FILE] [GENOME ...]

Reading: one pattern of 20, k = 2, both strands, in random genomes of N bp written in several ways,
against the seconds that Biopython's SimpleFastaParser takes to read the same file line by line (its
process's start is not counted), and gzipped against `gzip -dc`. Start-up: a search of phage phiX174
against a process that imports Numba and Biopython's FASTA reader. Then, for random letters of as
many bp as --random says and for each GENOME, 1, 64 and 2,000 windows of 20 cut out of its first
record and, in a GENOME, the guides of --repeats, k = 3, both strands: kmatch, Sassy (package
sassy-rs) in a script that reads with needletail, and seqkit locate; those that are not installed
are left out, and one that takes more than --patience seconds is stopped. Sassy's hits have to be
those of `edit`, but for hits near letters other than A, C, G and T, which it lets match; where they
are not, the exit status is 1.

All files are in memory when they are read, kernels are compiled, tables go to a file. Figures are
medians of --repeat runs. Start-up and reading take turns with what they are compared with, and
their ratio, kmatch's seconds ÷ the others', is the median of the ratios; tools run one after the
other, and theirs is the tool's seconds ÷ those of the command of kmatch that finds the same, or
most of it. On a machine that does other work too, only the ratios mean something.
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
    Table,
    kmatch_command,
    median_ratio,
    process_seconds,
    repeat_panel,
    take_turns,
    write_fasta,
    write_results,
)
from workloads import cut_panel, file_text

import kmatch

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
COUNTS, LENGTH, K = (1, 64, 2_000), 20, 3
HAMMING, EDIT, SASSYS, SEQKIT = "kmatch hamming", "kmatch edit", "Sassy", "seqkit locate"
RIVALS = {HAMMING: None, EDIT: None, SASSYS: EDIT, SEQKIT: HAMMING}  # what finds the same
COLUMNS = (
    ("text", "text", "<32s"),
    ("panel", "panel", "<14s"),
    ("tool", "tool", "<14s"),
    ("seconds", "seconds", ">9.2f"),
    ("ratio", "÷ kmatch", ">9.2f"),
    ("lines", "lines", ">11,d"),
    ("equal", "hits equal", ">10s"),
)
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
    rows, shown = [start_up(options.repeat)], Table(COLUMNS)
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
            for panel in panels(genome, options):
                for row in tools(folder, genome, *panel):
                    shown.add(row)
    write_results(options.json, rows + shown.rows, threads=options.threads)
    sys.exit(any(row.get("equal") == "NO" for row in shown.rows))


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
        yield f"{count:,} cut", cut_panel(text, count, LENGTH), options
    guides = repeat_panel(options)
    if guides and str(genome) in options.genomes:
        yield f"{len(guides):,} repeats", guides, options


def tools(folder, genome, name, patterns, options):
    """Rows of whole processes of several tools with patterns out of a genome."""
    panel, fasta = folder / "panel.txt", folder / "panel.fa"
    panel.write_text("".join(f"{pattern}\n" for pattern in patterns))
    fasta.write_text("".join(f">p{i}\n{pattern}\n" for i, pattern in enumerate(patterns)))
    threads = str(options.threads)
    tables = {tool: folder / tool.replace(" ", "_") for tool in RIVALS}
    commands = {
        tool: kmatch_command(
            tool.split()[1], genome, panel, "-k", K, "-t", threads, "-o", tables[tool]
        )
        for tool in (HAMMING, EDIT)
    }
    if find_spec("sassy") and find_spec("needletail"):
        commands[SASSYS] = python(SASSY, genome, panel, K, threads, tables[SASSYS])
    if shutil.which("seqkit"):
        commands[SEQKIT] = [
            *("seqkit", "locate", "-m", str(K), "-j", threads, "--bed", "-f", str(fasta)),
            *(str(genome), "-o", str(tables[SEQKIT])),
        ]
    rows = {tool: process(commands[tool], tables[tool], options) for tool in commands}
    for tool, row in rows.items():
        row |= {"text": os.path.basename(genome), "panel": name, "tool": tool}
        rival = rows.get(RIVALS[tool])
        if rival and {"seconds"} <= rival.keys() & row.keys():
            row["ratio"] = row["seconds"] / rival["seconds"]
    if SASSYS in rows and "seconds" in rows[SASSYS]:
        equal = not differing(genome, patterns, tables)
        rows[SASSYS]["equal"] = "yes" if equal else "NO"
    return rows.values()


def process(command, table, options):
    """Median seconds of a process, and the lines of its table; nothing where it takes too long."""
    runs = []
    try:
        for _ in range(1 + options.repeat):
            runs.append(process_seconds(command, timeout=options.patience))
            if runs[-1] > options.patience / options.repeat:
                break
    except subprocess.TimeoutExpired:
        return {}
    return {
        "seconds": statistics.median(runs[1:] or runs),
        "lines": table.read_bytes().count(b"\n"),
    }


def differing(genome, patterns, tables):
    """Hits that only one of `edit` and Sassy has, far from letters that only Sassy matches."""
    numbers = {pattern: number for number, pattern in enumerate(patterns)}
    ours, theirs = set(), set()
    for line in tables[EDIT].read_text().splitlines():
        record, start, end, name, _, strand, distance = line.split()
        ours.add((record, numbers[name], strand, int(start if strand == "-" else end), distance))
    for line in tables[SASSYS].read_text().splitlines():
        *record, start, end, number, cost, strand = line.split()
        place = int(start if strand == "-" else end)
        theirs.add((record[0], int(number), strand, place, cost))
    letters = {}
    if ours != theirs:
        letters = {r.name: r.letters for r in kmatch.Genome(genome, keep=False).records()}
    reach = LENGTH + 2 * K
    return [
        hit
        for hit in ours ^ theirs
        if is_plain(letters[hit[0]][max(hit[3] - reach, 0) : hit[3] + reach])
    ]


def is_plain(letters):
    return not letters.tobytes().upper().strip(b"ACGT")


if __name__ == "__main__":
    main()
