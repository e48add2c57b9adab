#!/usr/bin/env python
"""Time whole searches of a packed genome, as a user runs them.

    scripts/bench_packed.py [--genome FILE] [--device DEVICE] [--threads N] [--patterns N]
                            [--repeat N] [--json FILE]

FILE is a packed genome; without one, scripts/make_genome.py makes one of 3.1 Gbp in the temporary
folder, deleted afterwards. A time is that of a process from its start to its end: Python, imports,
devices, checksums, the search of both strands and the table, written to a file. The genome lies in
the page cache, as one search has gone before, which also compiles. Memory is the most that was seen
of a process's own pages (RssAnon and RssShmem), those of the mapped genome not counted. Patterns
are random, and as many are cut out of the middle of the genome and changed.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager, suppress
from pathlib import Path

import numpy as np
from benchmarks import write_results

import kmatch

KMATCH = (sys.executable, "-m", "kmatch")
SEARCHES = (
    ("hamming", 20, 3, ()),
    ("hamming", 20, 3, ("--strand", "+")),
    ("edit", 20, 3, ()),
    ("edit", 20, 1, ()),
    ("multi", 20, 3, ("--pam", "NGG")),
)
FEW = 1  # patterns of a second run of each search


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--genome", metavar="FILE")
    parser.add_argument("--device", default="auto")
    parser.add_argument("--threads", type=int)
    parser.add_argument("--patterns", type=int, default=64)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--json", metavar="FILE")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, packed(options.genome, folder) as genome:
        file = kmatch.Genome(genome).file
        letters = sum(len(record.letters) for record in file.records())
        print(f"{letters:,} letters, {file.size / letters:.4f} bytes a letter", flush=True)
        rows = []
        for command, length, k, more in SEARCHES:
            for count in (options.patterns, FEW):
                panel = Path(folder, "patterns.txt")
                panel.write_text("\n".join(patterns(file, length, count)) + "\n")
                arguments = (command, genome, str(panel), "-k", str(k), *more)
                rows.append(measure(arguments, count, letters, folder, options))
    write_results(options.json, rows)


@contextmanager
def packed(genome, folder):
    """The path of the packed genome, made in the folder where there is none."""
    if genome is None:
        genome = str(Path(folder, "genome.kmatch"))
        subprocess.run((sys.executable, Path(__file__).with_name("make_genome.py"), genome))
    yield genome


def patterns(file, length, count):
    """Random patterns, every second one cut out of the genome and changed in two places."""
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
    """Run a search, once to warm up; returns its row of figures."""
    table = Path(folder, "hits.tsv")
    threads = ("--threads", str(options.threads)) if options.threads else ()
    command = (*KMATCH, *arguments, "--device", options.device, *threads, "-o", table, "-v")
    seconds, memory = [], []
    for turn in range(options.repeat + 1):
        took, most, told = run(command)
        if turn:
            seconds.append(took)
            memory.append(most)
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
        "said": told,
    }
    print(
        f"{shown:<26} {count:>3} patterns  {median:6.2f} s  "
        f"{row['gbp_pattern_s']:8.1f} Gbp·pattern/s  {row['own_memory_mb']:5.0f} MB  {told[-1]}",
        flush=True,
    )
    return row


def run(command):
    """(seconds, most bytes of its own memory seen, what it said) of a process."""
    began = time.perf_counter()
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        most = 0
        while process.poll() is None:
            most = max(most, own_memory(process.pid))
            with suppress(subprocess.TimeoutExpired):
                process.wait(0.01)
        seconds = time.perf_counter() - began
        told = process.stderr.read().splitlines()
    if process.returncode:
        raise SystemExit(f"{' '.join(map(str, command))}\n{told[-1]}")
    return seconds, most, told


def own_memory(number):
    """Bytes of memory of a process that are no pages of a file; 0 where /proc does not tell."""
    with suppress(OSError), open(f"/proc/{number}/status") as status:
        lines = (line.split() for line in status)
        kinds = ("RssAnon:", "RssShmem:")
        return sum(1024 * int(line[1]) for line in lines if line[0] in kinds)
    return 0


if __name__ == "__main__":
    os.environ.setdefault("PYTHONPATH", str(Path(__file__).resolve().parents[1]))
    main()
