#!/usr/bin/env python
"""Measure the peak memory of each command on genomes given and on random ones.

    scripts/bench/memory.py [--length N] [--dense-length N] [--repeats FILE] [--json FILE]
        [GENOME ...]

The random genomes have N bp (1 Gbp) in one record and in 100,000. Dense searches follow, which have
many hits: in random letters of --dense-length bp 8 patterns of 9 letters with k = 4, each of which
matches every twentieth window of a strand, and in each GENOME windows of 20 cut out of it and the
guides of --repeats with k = 4, by `edit`. Tables of these are dropped. Peak memory is the most that
a whole process had resident in MB of 10^6 bytes; the bar is 280 MB and 4 bytes a base of
the genome's largest record. The exit status is 1 where a command needed more.
"""

import sys
import tempfile
from pathlib import Path

from harness.options import plain_parser, repeat_panel
from harness.processes import kmatch_command, peak_memory, write_panel
from harness.records import write_results
from harness.workloads import cut_panel, file_text, random_panel, write_fasta

import kmatch

GUIDE = "GTTCATGATACAGATTCTCT"
GENOME, TARGET = "GENOME", "TARGET"  # stand for files
COMMANDS = {
    "hamming": (GENOME, "-p", GUIDE, "-k", "3"),
    "multi": (GENOME, "-p", GUIDE, "-p", GUIDE[::-1], "-k", "4", "--pam", "NGG"),
    "edit": (GENOME, "-p", GUIDE, "-k", "3"),
    "best": (GENOME, "-p", GUIDE + GUIDE[::-1]),
    "primer": (TARGET, GENOME, "-k", "3", "--max-length", "18", "--background-strand", "+"),
    "pack": (GENOME,),
}
PANELS = ((100, "3"), (2_000, "2"))  # windows cut out of a genome, k of `edit`
DENSE = "8 patterns of 9"
RECORDS = (1, 100_000)  # of the random genomes
BASE_BYTES, FIXED = 4, 280e6


def main():
    parser = plain_parser(__doc__)
    parser.add_argument("genomes", nargs="*", type=Path)
    parser.add_argument("--length", type=int, default=1_000_000_000)
    parser.add_argument("--dense-length", type=int, default=16_000_000)
    parser.add_argument("--repeats", metavar="FILE")
    options = parser.parse_args()
    rows = []
    for genome in options.genomes:
        longest = largest(genome)
        rows += measure(genome, longest)
        for name, command, patterns, k in panels(genome, options):
            rows.append(dense(genome, longest, name, command, patterns, k))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"{options.dense_length:,} bp"
        write_fasta(path, options.dense_length)
        patterns = random_panel(8, 9)
        for command in ("hamming", "multi"):
            rows.append(dense(path, options.dense_length, DENSE, command, patterns, "4"))
        path.unlink()
        for records in RECORDS:
            path = Path(folder) / f"{options.length:,} bp in {records:,} records"
            write_fasta(path, options.length, records)
            rows += measure(path, options.length // records)
            path.unlink()
    write_results(options.json, rows)
    sys.exit(any(row["peak"] > row["bar"] for row in rows))


def largest(genome):
    """Letters of the largest record of a file."""
    return max(len(record.letters) for record in kmatch.Genome(genome, keep=False).records())


def panels(genome, options):
    """Yield (name, command, patterns, k) of dense searches in a genome."""
    text = file_text(genome)
    for count, k in PANELS:
        yield f"{count:,} cut", "edit", cut_panel(text, count), k
    if options.repeats:
        yield "guides out of repeats", "edit", repeat_panel(options), "4"


def measure(genome, longest):
    """Yield a row for each command on a genome."""
    for command, words in COMMANDS.items():
        with tempfile.TemporaryDirectory() as folder:
            target, output = Path(folder, "target.fa"), Path(folder, "output")
            target.write_text(f">target\n{GUIDE * 10}\n")

            def search(genome, command=command, words=words, target=target, output=output):
                files = {GENOME: genome, TARGET: target}
                return command, *(files.get(word, word) for word in words), "-o", output

            resident(search(target))  # compiles
            yield row(genome, longest, command, search(genome))


def dense(genome, longest, name, command, patterns, k):
    """The row of a search with many hits."""
    with tempfile.TemporaryDirectory() as folder:
        panel, little = Path(folder, "panel.txt"), Path(folder, "little.fa")
        write_panel(panel, patterns)
        little.write_text(f">little\n{GUIDE * 10}\n")
        resident((command, little, panel, "-k", k))  # compiles
        return row(genome, longest, f"{command} {name}", (command, genome, panel, "-k", k))


def row(genome, longest, name, search):
    """The figures of `kmatch SEARCH …`."""
    bar, peak = FIXED + BASE_BYTES * longest, resident(search)
    print(f"{genome.name}, {name}: {peak / 1e6:,.0f} MB, bar {bar / 1e6:,.0f}", flush=True)
    return {"genome": genome.name, "command": name, "peak": peak, "bar": bar}


def resident(search):
    """The most bytes that `kmatch SEARCH …` had resident, on the CPU."""
    device = () if search[0] == "pack" else ("--device", "cpu")
    return peak_memory(kmatch_command(*search, *device))


if __name__ == "__main__":
    main()
