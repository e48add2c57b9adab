#!/usr/bin/env python
"""Time whole searches of a packed genome, as a user runs them.

    scripts/bench/packed.py [--genome FILE] [--device DEVICE] [--threads N] [--patterns N]
                            [--repeat N] [--json FILE]

FILE is a packed genome; without one, scripts/make_genome.py makes one of 3.1 Gbp in a temporary
folder. A time is that of a process from start to exit: Python, imports, devices, checksums, the
search of both strands and the table, written to a file. A search that is not counted goes before,
so that kernels are compiled and the genome is in the page cache. Memory is the most that was seen
of a process's own pages (RssAnon and RssShmem), without those of the mapped genome. Half of the
patterns are random; the others are cut out of the middle of the genome and changed in two letters.
"""

import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from harness.options import plain_parser
from harness.processes import kmatch_command, watch, write_panel
from harness.records import write_results

import kmatch

MAKE_GENOME = Path(__file__).resolve().parents[1] / "make_genome.py"
SEARCHES = (
    ("hamming", 20, 3, ()),
    ("hamming", 20, 3, ("--strand", "+")),
    ("edit", 20, 3, ()),
    ("edit", 20, 1, ()),
    ("multi", 20, 3, ("--pam", "NGG")),
)
FEW = 1  # patterns of a second run of each search


def main():
    parser = plain_parser(__doc__, repeat=3)
    parser.add_argument("--genome", metavar="FILE")
    parser.add_argument("--device", default="auto")
    parser.add_argument("--threads", type=int)
    parser.add_argument("--patterns", type=int, default=64)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        genome = options.genome or make_genome(folder)
        file = kmatch.Genome(genome).file
        letters = sum(len(record.letters) for record in file.records())
        print(f"{letters:,} letters, {file.size / letters:.4f} bytes a letter", flush=True)
        rows = []
        for command, length, k, more in SEARCHES:
            for count in (options.patterns, FEW):
                panel = Path(folder, "patterns.txt")
                write_panel(panel, patterns(file, length, count))
                arguments = (command, genome, str(panel), "-k", str(k), *more)
                rows.append(measure(arguments, count, letters, folder, options))
    write_results(options.json, rows)


def make_genome(folder):
    """The path of a packed genome that is made in a folder."""
    genome = str(Path(folder, "genome.kmatch"))
    subprocess.run((sys.executable, MAKE_GENOME, genome), check=True)
    return genome


def patterns(file, length, count):
    """Random patterns, every second one cut out of the genome and changed in two letters."""
    random = np.random.default_rng(length * count)
    letters = np.frombuffer(b"ACGT", np.uint8)
    records = sorted(file.records(), key=lambda record: -len(record.letters))
    middle = len(records[0].letters) // 2
    stretch = records[0].letters[middle : middle + 100_000]
    stretch = stretch[stretch != ord("N")]
    for i in range(count):
        pattern = random.choice(letters, length)
        if i % 2:
            at = random.integers(len(stretch) - length)
            pattern = stretch[at : at + length].copy()
            pattern[random.integers(0, length, 2)] = random.choice(letters, 2)
        yield pattern.tobytes().decode()


def measure(arguments, count, letters, folder, options):
    """Time a search, after a run that is not counted; returns its row of figures."""
    words = ("--device", options.device, "-o", Path(folder, "hits.tsv"), "-v")
    threads = ("--threads", options.threads) if options.threads else ()
    command = kmatch_command(*arguments, *words, *threads)
    runs = [watch(command) for _ in range(1 + options.repeat)]
    seconds, memory, lines = zip(*runs[1:], strict=True)
    median = statistics.median(seconds)
    strands = 1 if "--strand" in arguments else 2
    shown = " ".join((arguments[0], *arguments[3:]))
    row = {
        "search": shown,
        "patterns": count,
        "strands": strands,
        "seconds": seconds,
        "gbp_pattern_s": letters * count * strands / median / 1e9,
        "own_memory_mb": max(memory) / 1e6,
        "said": lines[-1],
    }
    print(
        f"{shown:<26} {count:>3} patterns  {median:6.2f} s  "
        f"{row['gbp_pattern_s']:8.1f} Gbp·pattern/s  {row['own_memory_mb']:5.0f} MB  "
        f"{row['said'][-1]}",
        flush=True,
    )
    return row


if __name__ == "__main__":
    main()
