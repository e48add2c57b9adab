#!/usr/bin/env python
"""Measure the peak memory of each command on genomes given and on random ones.

    scripts/bench_memory.py [--length N] [--json FILE] [GENOME ...]

The random genomes have N bp (1 Gbp) in one record, and in 100,000. Peak memory is the most that a
whole process had resident, by wait4, in MB of 10^6 bytes; the bar is 200 MB and 4 bytes a base of
the genome's largest record. Exit status 1 when a command needed more.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks import write_fasta, write_results

GUIDE = "GTTCATGATACAGATTCTCT"
GENOME, TARGET = "GENOME", "TARGET"  # what stands for files
COMMANDS = {
    "hamming": (GENOME, "-p", GUIDE, "-k", "3"),
    "multi": (GENOME, "-p", GUIDE, "-p", GUIDE[::-1], "-k", "4", "--pam", "NGG"),
    "edit": (GENOME, "-p", GUIDE, "-k", "3"),
    "best": (GENOME, "-p", GUIDE + GUIDE[::-1]),
    "primer": (TARGET, GENOME, "-k", "3", "--max-length", "18", "--background-strand", "+"),
    "pack": (GENOME,),
}
BASE_BYTES, FIXED = 4, 200e6


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("genomes", nargs="*", type=Path)
    parser.add_argument("--length", type=int, default=1_000_000_000)
    parser.add_argument("--json", metavar="FILE")
    options = parser.parse_args()
    rows = [row for genome in options.genomes for row in measure(genome, largest(genome))]
    with tempfile.TemporaryDirectory() as folder:
        for records in (1, 100_000):
            path = Path(folder) / f"{options.length:,} bp in {records:,} records"
            write_fasta(path, options.length, records)
            rows += measure(path, options.length // records)
            path.unlink()
    write_results(options.json, rows)
    sys.exit(any(row["peak"] > row["bar"] for row in rows))


def largest(genome):
    """Letters of the largest record of a plain FASTA file."""
    most = letters = 0
    for line in genome.open("rb"):
        letters = 0 if line.startswith(b">") else letters + len(line.strip())
        most = max(most, letters)
    return most


def measure(genome, longest):
    for command, words in COMMANDS.items():
        bar = FIXED + BASE_BYTES * longest
        row = {"genome": genome.name, "command": command, "peak": peak(command, genome, words)}
        print(
            f"{genome.name}, {command}: {row['peak'] / 1e6:,.0f} MB, bar {bar / 1e6:,.0f}",
            flush=True,
        )
        yield row | {"bar": bar}


def peak(command, genome, words):
    """Bytes that `kmatch COMMAND …` had resident at the most."""
    with tempfile.TemporaryDirectory() as folder:
        target, output = Path(folder, "target.fa"), Path(folder, "output")
        target.write_text(f">target\n{GUIDE * 10}\n")
        files = {GENOME: str(genome), TARGET: str(target)}
        search = [sys.executable, "-m", "kmatch", command, *(files.get(w, w) for w in words)]
        return resident([*search, "-o", str(output)])


def resident(search):
    """Bytes that a process had resident at the most."""
    running = subprocess.Popen(search)
    _, status, usage = os.wait4(running.pid, 0)
    running.returncode = os.waitstatus_to_exitcode(status)
    if running.returncode:
        sys.exit(f"{' '.join(search)}: status {running.returncode}")
    return usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024)


if __name__ == "__main__":
    main()
