#!/usr/bin/env python
"""Time whole processes of kmatch, Sassy and seqkit with the same patterns and genomes.

    scripts/bench/whole.py [--random N] [--repeats FILE] [--most N] [--repeat N] [--threads N]
        [--patience S] [--json FILE] [GENOME ...]

In random letters of N bp and in each GENOME: 1, 64 and 2,000 windows of 20, --most N of them, cut
out of the first record and, in a GENOME, the guides of --repeats, k = 3, both strands, with kmatch,
with Sassy (package sassy-rs) in a script that reads with needletail, and with seqkit locate. Tools
that are not installed are left out, and one that takes more than --patience seconds is stopped.
Sassy has to find the hits of `edit`, but for those near letters other than A, C, G and T, which it
lets match; where it does not, the exit status is 1.

Files are in memory when they are read, kernels are compiled, tables go to a file. Seconds are
medians of --repeat runs, one tool after the other; the ratio is a tool's seconds ÷ those of the
kmatch command that finds the same, or most of it; `cpu_s` are seconds of all threads. On a machine
that does other work too, only ratios mean something, and those of `cpu_s` most.
"""

import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
from functools import partial
from importlib.util import find_spec
from pathlib import Path

from harness.common import (
    CpuCounted,
    Table,
    count_lines,
    kmatch_command,
    plain_parser,
    process_seconds,
    python_command,
    write_panel,
    write_results,
)
from harness.workloads import cut_panel, file_panel, file_text, write_fasta

import kmatch

COUNTS, LENGTH, K = (1, 64, 2_000), 20, 3
HAMMING, EDIT, SASSYS, SEQKIT = "kmatch hamming", "kmatch edit", "Sassy", "seqkit locate"
RIVALS = {HAMMING: None, EDIT: None, SASSYS: EDIT, SEQKIT: HAMMING}  # finds the same
COLUMNS = (
    ("text", "text", "<32s"),
    ("panel", "panel", "<14s"),
    ("tool", "tool", "<14s"),
    ("seconds", "seconds", ">9.2f"),
    ("ratio", "÷ kmatch", ">9.2f"),
    ("lines", "lines", ">11,d"),
    ("equal", "hits equal", ">10s"),
)
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
    parser = plain_parser(__doc__, repeat=3)
    parser.add_argument("genomes", nargs="*")
    parser.add_argument("--random", type=int, default=34_000_000)
    parser.add_argument("--repeats", metavar="FILE")
    parser.add_argument("--most", type=int, default=COUNTS[-1], help="windows in a panel")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--patience", type=float, default=300)
    options = parser.parse_args()
    shown = Table(COLUMNS)
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        genomes = [Path(genome) for genome in options.genomes]
        if options.random:
            genomes.insert(0, folder / "random.fa")
            write_fasta(genomes[0], options.random)
        for genome in genomes:
            for name, patterns in panels(genome, options):
                for row in tools(folder, genome, name, patterns, options):
                    shown.add(row)
    write_results(options.json, shown.rows, threads=options.threads)
    sys.exit(any(row.get("equal") == "NO" for row in shown.rows))


def panels(genome, options):
    """Yield (name, patterns) of each panel that is searched in a genome."""
    text = file_text(genome)
    for count in (count for count in COUNTS if count <= options.most):
        yield f"{count:,} cut", cut_panel(text, count, LENGTH)
    guides = file_panel(options.repeats) if options.repeats else []
    if guides and str(genome) in options.genomes:
        yield f"{len(guides):,} repeats", guides


def tools(folder, genome, name, patterns, options):
    """Rows of whole processes of all tools with a panel."""
    tables = {tool: folder / tool.replace(" ", "_") for tool in RIVALS}
    commands = tool_commands(folder, genome, patterns, tables, options.threads)
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


def tool_commands(folder, genome, patterns, tables, threads):
    """The command line of each tool that is installed."""
    panel, fasta = folder / "panel.txt", folder / "panel.fa"
    write_panel(panel, patterns)
    fasta.write_text("".join(f">p{i}\n{pattern}\n" for i, pattern in enumerate(patterns)))
    commands = {}
    for tool in (HAMMING, EDIT):
        words = ("-k", K, "-t", threads, "-o", tables[tool])
        commands[tool] = kmatch_command(tool.split()[1], genome, panel, *words)
    if find_spec("sassy") and find_spec("needletail"):
        commands[SASSYS] = python_command(SASSY, genome, panel, K, threads, tables[SASSYS])
    if shutil.which("seqkit"):
        words = ("-m", K, "-j", threads, "--bed", "-f", fasta, genome, "-o", tables[SEQKIT])
        commands[SEQKIT] = ["seqkit", "locate", *map(str, words)]
    return commands


def process(command, table, options):
    """Median seconds of a process, and the lines of its table; nothing if it takes too long."""
    runs = []
    run = partial(process_seconds, command, timeout=options.patience)
    run = CpuCounted(run, resource.RUSAGE_CHILDREN)
    try:
        for _ in range(1 + options.repeat):
            runs.append(run())
            if runs[-1] > options.patience / options.repeat:
                break
    except subprocess.TimeoutExpired:
        return {}
    return {
        "seconds": statistics.median(runs[1:] or runs),
        "cpu_s": statistics.median(run.cpu[1:] or run.cpu),
        "lines": count_lines(table),
    }


def differing(genome, patterns, tables):
    """Hits that only one of `edit` and Sassy has, far from letters that only Sassy matches."""
    ours, theirs = set(), set()
    for record, number, minus, start, end, distance in read_bed(tables[EDIT], patterns):
        ours.add((record, number, minus, start if minus else end, distance))
    for line in tables[SASSYS].read_text().splitlines():
        *record, start, end, number, cost, strand = line.split()
        position = int(start if strand == "-" else end)
        theirs.add((record[0], int(number), strand == "-", position, int(cost)))
    if ours == theirs:
        return []
    letters = {r.name: r.letters for r in kmatch.Genome(genome, keep=False).records()}
    reach = LENGTH + 2 * K
    return [
        hit
        for hit in ours ^ theirs
        if is_plain(letters[hit[0]][max(hit[3] - reach, 0) : hit[3] + reach])
    ]


def read_bed(path, patterns):
    """Yield (record, number of the pattern, on the strand -, start, end, distance) of each row."""
    numbers = {pattern: number for number, pattern in enumerate(patterns)}
    with open(path) as table:
        for line in table:
            record, start, end, name, _, strand, distance = line.rstrip("\n").split("\t")
            yield record, numbers[name], strand == "-", int(start), int(end), int(distance)


def is_plain(letters):
    """Whether all letters are A, C, G or T."""
    return not letters.tobytes().upper().strip(b"ACGT")


if __name__ == "__main__":
    main()
