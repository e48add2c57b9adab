#!/usr/bin/env python
"""Time whole processes of kmatch beside those of other tools that find the same.

    scripts/bench/whole.py [--repeats FILE] [--length BASES] [--device cpu|cuda] [--threads N]
        [--repeat N] [--only WORD] [--json FILE] GENOME …

In the letters A, C, G and T of each GENOME's first record: patterns of 20 cut out of it, by `edit`
and Sassy (package sassy-rs, in a script that reads, searches and writes a table) and by `hamming`
and seqkit locate, k = 3; guides cut out before NGG and, in the last GENOME, those of --repeats, by
`multi` and Cas-OFFinder 3, k = 4; pairs of primers by `pcr`, seqkit amplicon and primersearch of
EMBOSS, k = 2. Tools that are not installed are left out, and those that would take minutes on a
genome of more than SMALL letters. The exit status is 1 where a tool finds another number of hits
than kmatch, or seqkit amplicon, which gives the longest region of each pair, those of other pairs.

Files are in memory when they are read, kernels are compiled, tables go to a file. Figures are the
least of --repeat runs and one before, or of those until one took longer than PATIENCE: seconds, and
seconds of the CPU of all threads. Cas-OFFinder runs by OpenCL, on the CPU or, with --device cuda,
on the GPU.
"""

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

from harness.common import (
    Table,
    is_wanted,
    kmatch_command,
    plain_parser,
    python_command,
    usage,
    write_panel,
    write_results,
)
from harness.workloads import (
    cut_pairs,
    cut_panel,
    file_panel,
    file_text,
    guide_panel,
    write_text,
)

LENGTH, PRODUCT = 20, (50, 5000)  # of a pattern, and the bounds of a product
SMALL = 10_000_000
PATIENCE = 10  # seconds of a last run
COLUMNS = (
    ("text", "text", "<14s"),
    ("panel", "panel", "<22s"),
    ("tool", "tool", "<16s"),
    ("seconds", "seconds", ">9.2f"),
    ("cpu", "CPU s", ">9.2f"),
    ("mb", "MB", ">7,.0f"),
    ("hits", "hits", ">11,d"),
    ("equal", "hits equal", ">10s"),
)
SASSY = """
import sys
import sassy
genome, panel, k, threads, table = sys.argv[1:]
patterns = [line.strip().encode() for line in open(panel)]
mode = "single" if len(patterns) == 1 else "batch_patterns"
searcher = sassy.Searcher("dna" if mode == "single" else "iupac", rc=True)
with open(genome, "rb") as records, open(table, "w") as out:
    for record in records.read().split(b">")[1:]:
        name, _, lines = record.partition(b"\\n")
        text = lines.replace(b"\\n", b"")
        for m in searcher.search_many(patterns, [text], int(k), int(threads), mode):
            found = m.text_start, m.text_end, m.pattern_idx, m.cost, m.strand
            print(name.decode(), *found, file=out)
"""


class Tool(NamedTuple):
    """A tool's command line, and what it finds.

    found: makes its hits of the lines of its table; same: makes of these, and of kmatch's, what has
    to be equal.
    """

    name: str
    command: list
    found: Callable = list
    same: Callable = len


class Place(NamedTuple):
    """A folder, in it the genome and the table that each tool writes, and the options."""

    folder: Path
    genome: Path
    table: Path
    options: object

    def kmatch(self, command, *words):
        words = (*words, "-t", self.options.threads, "-o", self.table)
        return Tool(f"kmatch {command}", kmatch_command(command, self.genome, *words))

    def write(self, name, lines):
        path = self.folder / name
        write_panel(path, lines)
        return path

    def has(self, program, most=None):
        """Whether a program is installed, and is asked for a genome of this size."""
        small = most is None or self.genome.stat().st_size <= most
        return small and bool(shutil.which(program) or find_spec(program))


def edit(place, patterns):
    panel = place.write("panel", patterns)
    yield place.kmatch("edit", panel, "-k", 3, "--device", place.options.device)
    if place.has("sassy"):
        words = (place.genome, panel, 3, place.options.threads, place.table)
        yield Tool("Sassy", python_command(SASSY, *words))


def hamming(place, patterns):
    panel = place.write("panel.fa", [f">p{i}\n{word}" for i, word in enumerate(patterns)])
    yield place.kmatch("hamming", panel, "-k", 3, "--device", place.options.device)
    if place.has("seqkit", SMALL):
        words = ("-m", 3, "-j", place.options.threads, "--bed", "-f", panel, place.genome)
        yield Tool("seqkit locate", ["seqkit", "locate", *words, "-o", place.table])


def multi(place, guides):
    panel, device = place.write("panel", guides), place.options.device
    yield place.kmatch("multi", panel, "-k", 4, "--pam", "NGG", "--device", device)
    if place.has("cas-offinder"):
        lines = [place.genome.parent, f"{'N' * LENGTH}NGG", *(f"{guide}NNN 4" for guide in guides)]
        words = (place.write("guides", lines), "C" if device == "cpu" else "G", place.table)
        yield Tool("Cas-OFFinder", ["cas-offinder", *words], without_comments)


def pcr(place, pairs):
    lines = [f"p{i}\t{forward}\t{reverse}" for i, (forward, reverse) in enumerate(pairs)]
    panel = place.write("pairs.tsv", lines)
    yield place.kmatch("pcr", panel, "-k", 2, "--product", "{}-{}".format(*PRODUCT))
    if place.has("seqkit", SMALL):
        words = ("-p", panel, "-m", 2, "--bed", "-j", place.options.threads, place.genome)
        command = ["seqkit", "amplicon", *words, "-o", place.table]
        yield Tool("seqkit amplicon", command, same=names_of_pairs)
    if place.has("primersearch", SMALL):
        words = ("-seqall", place.genome, "-infile", panel, "-mismatchpercent", 100 * 2 // LENGTH)
        command = ["primersearch", *words, "-outfile", place.table, "-auto"]
        yield Tool("primersearch", command, products)


def without_comments(lines):
    return [line for line in lines if not line.startswith("#")]


def names_of_pairs(rows):
    return {row.split("\t")[3] for row in rows}


def products(lines):
    """Those of primersearch, which knows no bounds of their length."""
    lengths = [int(line.split()[2]) for line in lines if "Amplimer length" in line]
    return [length for length in lengths if PRODUCT[0] <= length <= PRODUCT[1]]


def comparisons(text, repeats):
    """Yield (what is searched for, tools, its sequences) of each comparison in a Text."""
    for count in (1, 16, 100):
        yield f"{count} cut", edit, cut_panel(text, count, LENGTH)
    for count in (1, 16):
        yield f"{count} cut", hamming, cut_panel(text, count, LENGTH)
    for count in (10, 100):
        yield f"{count} before NGG", multi, guide_panel(text, count, LENGTH)
    if repeats:
        repeats = file_panel(repeats)
        yield f"{len(repeats)} repeats", multi, repeats
    yield "20 pairs", pcr, cut_pairs(text, 20, LENGTH)


def measure(place, tools, sequences):
    """Yield the row of each tool, kmatch's first."""
    ours = None
    for tool in tools(place, sequences):
        runs = []
        while len(runs) <= place.options.repeat and (not runs or runs[-1].seconds < PATIENCE):
            runs.append(usage(tool.command, stderr=subprocess.DEVNULL))
        hits = tool.found(place.table.read_text().splitlines())
        place.table.unlink()
        row = {"tool": tool.name, "seconds": min(run.seconds for run in runs)}
        row |= {"cpu": min(run.cpu for run in runs), "mb": max(run.peak for run in runs) / 1e6}
        if ours is not None:
            row["equal"] = "yes" if tool.same(hits) == tool.same(ours) else "NO"
        ours = hits if ours is None else ours
        yield row | {"hits": len(hits)}


def main():
    parser = plain_parser(__doc__, repeat=3)
    parser.add_argument("genomes", nargs="+")
    parser.add_argument("--repeats", metavar="FILE", help="guides out of repeats of the last")
    parser.add_argument("--length", type=int, default=1 << 25, help="letters of each genome")
    parser.add_argument("--device", choices=("cpu", "cuda", "auto"), default="cpu")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--only", metavar="WORD", help="comparisons with WORD in their names")
    options = parser.parse_args()
    shown = Table(COLUMNS)
    for path in options.genomes:
        text = file_text(path, options.length)
        with tempfile.TemporaryDirectory() as folder:
            folder = Path(folder)
            place = Place(folder, folder / "genome" / "genome.fa", folder / "table", options)
            place.genome.parent.mkdir()
            write_text(place.genome, text)
            for panel, tools, sequences in comparisons(
                text, path == options.genomes[-1] and options.repeats
            ):
                if is_wanted(options, tools.__name__, panel, text.name):
                    about = {"text": text.name, "letters": len(text.letters), "panel": panel}
                    for row in measure(place, tools, sequences):
                        shown.add(about | row)
    write_results(options.json, shown.rows, device=options.device, threads=options.threads)
    sys.exit(any(row.get("equal") == "NO" for row in shown.rows))


if __name__ == "__main__":
    main()
