#!/usr/bin/env python
"""Time whole `kmatch multi` processes on a genome: guides beside a PAM, and large random panels.

    scripts/bench_multi.py GENOME GUIDES [--repeat N] [--threads N] [--large] [--json FILE]

GENOME: FASTA, such as human chromosome 20 uncompressed; GUIDES: 20-mers, searched with k = 4 beside
NGG. The panels are random 20-mers on both strands: 10,000 with k = 3 and, with --large, 200,000
with k = 1 and 2. Seconds are from start to exit, the genome's reading included, the median of
the repeats after one that is not counted (it compiles the kernels and reads the file into memory).
Gbp·pattern/s is text length × patterns × 2 strands ÷ time, whether or not a PAM or a filter spared
the comparison.
"""

import argparse
import platform
import random
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks import timed, write_results

PANELS = [(10_000, 3)]
LARGE = [(200_000, 1), (200_000, 2)]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("genome")
    parser.add_argument("guides")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--threads", type=int)
    parser.add_argument("--large", action="store_true")
    parser.add_argument("--json", metavar="FILE")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        rows = [measure(options, folder, options.guides, 4, "--pam", "NGG")]
        for count, k in PANELS + LARGE * options.large:
            rows.append(measure(options, folder, random_panel(folder, count), k))
    write_results(options.json, rows)


def random_panel(folder, count):
    rng = random.Random(20)
    path = Path(folder) / "panel.txt"
    path.write_text("".join("".join(rng.choices("ACGT", k=20)) + "\n" for _ in range(count)))
    return path


def measure(options, folder, panel, k, *pam):
    table = Path(folder) / "hits.bed"
    threads = ("-t", options.threads) if options.threads else ()
    search = ("multi", options.genome, panel, "-k", k, *pam, *threads, "-o", table)
    command = [sys.executable, "-m", "kmatch", *map(str, search)]
    seconds = [timed(lambda: subprocess.run(command, check=True))[1] for _ in range(options.repeat)]
    if options.repeat > 1:
        del seconds[0]
    patterns = sum(bool(line.strip()) and line[0] not in b"#>" for line in lines(panel))
    row = {"patterns": patterns, "k": k, "pam": "".join(pam[1:]), "hits": len(lines(table))}
    row["seconds"] = statistics.median(seconds)
    row["rate"] = bases(options.genome) * patterns * 2 / row["seconds"] / 1e9
    row["python"] = platform.python_version()
    print(
        f"{patterns:,} patterns, k={k}{''.join(f' {word}' for word in pam)}: "
        f"{row['seconds']:.2f} s whole process, {row['hits']:,} hits, "
        f"{row['rate']:,.0f} Gbp·pattern/s",
        flush=True,
    )
    return row


def lines(path):
    return Path(path).read_bytes().splitlines()


def bases(path):
    return sum(len(line) for line in lines(path) if not line.startswith(b">"))


if __name__ == "__main__":
    main()
