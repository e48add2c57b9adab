#!/usr/bin/env python
"""Time k-difference primers on real human DNA, and check a sample of them with a plain matrix.

    scripts/bench/primer.py [CASE ...] --data FOLDER [--device DEVICE] [--threads N]
                            [--repeat N] [--sample N] [--json FILE]

Cases: `small` (the default; 43,606 × 241,494, K = 100), `medium` (107,280 × 2,220,391, K = 256) and
`large` (1,000,000 × 4,000,000, K = 100, random) have the lengths of Feuser and Moreano 2018; target
and background are disjoint slices, and the background has its strand + alone. `practical` is
SARS-CoV-2 against human chromosome 20, K = 6, at most 30 letters, both strands. Genomes come from
FOLDER.

The time is that of the whole call with both sequences in memory, the median of the repeats; CPU
time, of all threads together, is the better measure where other programs run. Cells needed are rows
× columns of all matrices; a position's rows end at its length, or at its limit where it has no
primer. Cells computed are the engine's own count. GCUPS are billions of cells a second. A tile is a
group of neighbouring positions under a block of the background.
"""

import random
import statistics
import time
from pathlib import Path

import numpy as np
from harness.options import plain_parser
from harness.records import write_results
from harness.timing import timed
from harness.workloads import random_text
from numba import njit

import kmatch
from kmatch.search.hooked import hooked_primer

GENE, CHROMOSOME, VIRUS = "human_il1rapl1", "human_grch37_chr20", "sarscov2_mn908947"
UNKNOWN = 4


def read(folder, name, start=0, length=None):
    record = next(iter(kmatch.Genome(folder / f"{name}.fa.gz").records()))
    return record.letters[start:][:length]


def small(folder):
    gene = read(folder, GENE)
    return gene[:43_606], gene[43_606 : 43_606 + 241_494], 100, {"background_strand": "+"}


def medium(folder):
    background = read(folder, CHROMOSOME, 20_000_000, 2_220_391)
    return read(folder, GENE, 0, 107_280), background, 256, {"background_strand": "+"}


def large(folder):
    target, background = random_text(1_000_000, seed=7), random_text(4_000_000, seed=8)
    return target.letters, background.letters, 100, {"background_strand": "+"}


def practical(folder):
    return read(folder, VIRUS), read(folder, CHROMOSOME), 6, {"max_length": 30}


CASES = {case.__name__: case for case in (small, medium, large, practical)}


def main():
    parser = plain_parser(__doc__, repeat=3)
    parser.add_argument("cases", nargs="*", metavar="CASE")
    parser.add_argument("--data", type=Path, required=True, help="folder of the genomes")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--threads", type=int)
    parser.add_argument("--sample", type=int, default=5, help="positions checked")
    options = parser.parse_args()
    cases = options.cases or ["small"]
    if unknown := set(cases) - CASES.keys():
        parser.error(f"no case '{unknown.pop()}'; there are {', '.join(CASES)}")
    write_results(options.json, [measure(name, options) for name in cases])


def measure(name, options):
    target, background, k, limits = CASES[name](options.data)
    genomes = [kmatch.Genome.from_records([("r", text)]) for text in (target, background)]
    watches = []

    def search():
        watches.clear()
        began = time.process_time()
        found = hooked_primer(
            *genomes,
            k,
            **limits,
            device=options.device,
            threads=options.threads,
            on_engine=lambda engine: watches.append(engine.time_kernels()),
        )
        return found, time.process_time() - began

    kmatch.primer(
        *(kmatch.Genome.from_records([("r", "ACGTTGCA")]) for _ in genomes),
        2,
        device=options.device,
    )
    runs = [timed(search) for _ in range(options.repeat)]
    found, _ = runs[-1][0]
    check(target, background, k, limits, found, options.sample)
    seconds = statistics.median(run[1] for run in runs)
    busy = statistics.median(run[0][1] for run in runs)
    strands = 1 if limits.get("background_strand") == "+" else 2
    rows = np.minimum(np.arange(len(target), 0, -1), limits.get("max_length", len(target)))
    rows[found.start] = found.length
    needed = int(rows.sum()) * len(background) * strands
    return report(name, options.device, (seconds, busy), found, needed, watches[0].done)


def check(target, background, k, limits, found, many):
    """Check some positions, with a primer and without, with a matrix of plain numbers."""
    codes, columns = as_codes(target), as_codes(background)
    strands = [columns]
    if limits.get("background_strand") != "+":
        strands.append(np.where(columns < UNKNOWN, 3 - columns, UNKNOWN)[::-1])
    lengths = dict(zip(found.start.tolist(), found.length.tolist(), strict=True))
    starts = random.Random(1).sample(range(len(target)), many)
    for start in starts:
        length = lengths.get(start)
        rows = length or min(limits.get("max_length", 2 * len(target)), len(target) - start)
        fewest = np.min(
            [row_minima(codes[start : start + rows], strand) for strand in strands], axis=0
        )
        assert (fewest[rows - 1] >= k) == (length is not None), f"position {start} is wrong"
        assert rows == 1 or fewest[rows - 2] < k, f"position {start} is wrong"


def as_codes(letters):
    codes = np.full(256, UNKNOWN, np.uint8)
    for code, pair in enumerate(("Aa", "Cc", "Gg", "Tt")):
        codes[[ord(letter) for letter in pair]] = code
    return codes[letters]


@njit
def row_minima(read, columns):
    """The smallest value in each row of the matrix D but row 0."""
    column = np.arange(len(read) + 1)
    fewest = column[1:].copy()
    for letter in columns:
        diagonal = 0
        for i in range(1, len(read) + 1):
            wrong = letter != read[i - 1] or letter == UNKNOWN
            here = min(diagonal + wrong, column[i] + 1, column[i - 1] + 1)
            diagonal = column[i]
            column[i] = here
            fewest[i - 1] = min(fewest[i - 1], here)
    return fewest


def report(name, device, times, found, needed, works):
    seconds, busy = times
    row = {"case": name, "device": device, "seconds": seconds, "cpu_seconds": busy}
    row |= {"primers": len(found), "needed": needed, "needed_gcups": needed / seconds / 1e9}
    line = f"{name} on {device}: {seconds:.2f} s ({busy:.2f} s of CPU), "
    line += f"{len(found):,} primers, sample right; "
    line += f"{needed:.3g} cells needed, {row['needed_gcups']:.0f} GCUPS"
    if all(works):
        cells = sum(work.cells for work in works)
        tiles = sum(work.blocks for work in works)
        given_up = sum(work.given_up for work in works) / tiles
        row |= {"cells": cells, "gcups": cells / seconds / 1e9, "given_up": given_up}
        line += f"; {cells:.3g} computed, {row['gcups']:.0f} GCUPS; "
        line += f"{given_up:.1%} of {tiles:,} tiles given up"
    print(line, flush=True)
    return row


if __name__ == "__main__":
    main()
