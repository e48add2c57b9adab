#!/usr/bin/env python3
"""Time primers on a GPU.

    scripts/bench/gpu_primer.py [--genomes FOLDER] [--cases N …] [--samples N] [--device DEVICE]
        [--repeat N] [--json FILE]

FOLDER holds the genomes that CASES names, by default KMATCH_TEST_DATA; in place of a missing one
there are random letters, a quarter of them copies of two repeats. Seconds are medians of whole
calls of the engine, from letters in memory and with kernels compiled; `first_s` is the first call,
with WARM starts alone. Cells are those computed in tiles, with those computed again; `full_tcups`
counts all cells down to each start's length instead. The share of the limit is of an H200's 16.7e12
logic operations a second, at 10 for 64 cells. A sample of starts is compared with the CPU.
"""

import os
import statistics
import time
from pathlib import Path
from typing import NamedTuple

import numpy as np
from harness.options import plain_parser
from harness.records import shown_figure, write_results

import kmatch
from kmatch.engine.devices import choose_engine
from kmatch.engine.types import FRESH, Starts
from kmatch.search.primer import CODES, COMPLEMENT
from kmatch.sequences.alphabet import encode_text

LOGIC, CELL_OPERATIONS = 16.7e12, 10
HUMAN_X, HUMAN_20 = "human_il1rapl1.fa.gz", "human_grch37_chr20.fa.gz"
REPEATS = ((300, 0.1), (6000, 0.15))  # letters of a repeat, and its copies' share of the text
WARM = 2048
SHORT = 10  # seconds, of a call that is made once more before it is timed
SAMPLE = 512  # neighbouring starts that the CPU checks


class Case(NamedTuple):
    """target, background: (file, first letter, letters); bar: seconds allowed on an H200."""

    name: str
    target: tuple
    background: tuple
    k: int
    max_length: int | None
    both: bool
    bar: float


CASES = (
    Case(
        "43,606 × 241,494", (HUMAN_X, 0, 43_606), (HUMAN_X, 10**6, 241_494), 100, None, False, 0.5
    ),
    Case(
        "107,280 × 2,220,391",
        (HUMAN_X, 0, 107_280),
        (HUMAN_20, 10**7, 2_220_391),
        256,
        None,
        False,
        8,
    ),
    Case("1 M × 4 M", (HUMAN_X, 0, 10**6), (HUMAN_20, 10**7, 4 * 10**6), 100, None, False, 60),
    Case(
        "SARS-CoV-2 × chr20, both strands",
        ("sarscov2_mn908947.fa.gz", 0, 29_903),
        (HUMAN_20, 0, 63_025_520),
        6,
        30,
        True,
        10,
    ),
)


def letters_of(folder, file, first, count, seed):
    """Codes of a slice of a genome's first record, and whether the file was there."""
    path = Path(folder or ".") / file
    if folder and path.is_file():
        record = next(kmatch.Genome(path).records())
        return CODES[encode_text(record.letters[first : first + count])], True
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 4, count, np.uint8)
    repeats = np.random.default_rng(0)  # the same ones in every text
    for length, share in REPEATS:
        unit = repeats.integers(0, 4, length, np.uint8)
        for at in rng.integers(0, max(count - length, 1), int(count * share / length)):
            changed = rng.random(length) < rng.uniform(0.05, 0.15)
            copy = np.where(changed, rng.integers(0, 4, length, np.uint8), unit)
            codes[at : at + length] = copy[: count - at]
    return codes, False


def arguments(case, folder):
    """The arguments of `extend_primers`, and whether they come from real genomes."""
    target, there = letters_of(folder, *case.target, 1)
    background, also = letters_of(folder, *case.background, 2)
    columns = [[FRESH], background]
    if case.both:
        columns += [[FRESH], COMPLEMENT[background[::-1]]]
    n = len(target)
    limits = np.minimum(np.arange(n, 0, -1), case.max_length or n)
    bounds = np.minimum(case.k, limits + 1)
    masks = np.where(target < 4, 1 << target, 0).astype(np.uint8)
    columns = np.concatenate(columns).astype(np.uint8)
    return (masks, np.array([0, n]), limits, bounds, columns, case.k), there and also


def run(engine, given):
    """(seconds, cells, bounds) of a call."""
    masks, begins, limits, bounds, columns, k = given
    bounds = bounds.copy()
    began = time.perf_counter()
    cells = engine.extend_primers(Starts(masks, begins, limits, bounds), columns, k)
    return time.perf_counter() - began, cells, bounds


def head(given, count):
    """The same arguments for the first starts of the target."""
    masks, _, limits, bounds, columns, k = given
    limits = np.minimum(limits[:count], np.arange(count, 0, -1))
    begins = np.array([0, count])
    return masks[:count], begins, limits, np.minimum(bounds[:count], limits + 1), columns, k


def same_on_cpu(cpu, given, found, first):
    """Whether the CPU finds the same bounds for SAMPLE starts from `first` on."""
    masks, _, limits, bounds, columns, k = given
    starts = slice(first, min(first + SAMPLE, len(found)))
    # Rows end at the bounds that were found, so that a bound too small exceeds its limit.
    ends = np.minimum(limits[starts], found[starts])
    last = int((np.arange(starts.start, starts.stop) + ends).max())
    part_limits, part_bounds = np.zeros(last - first, np.int64), np.ones(last - first, np.int64)
    part_limits[: len(ends)] = ends
    part_bounds[: len(ends)] = np.minimum(bounds[starts], ends + 1)
    masks = masks[first:last]
    part = Starts(masks, np.array([0, last - first]), part_limits, part_bounds)
    cpu.extend_primers(part, columns, k)
    return bool(np.array_equal(part_bounds[: len(ends)], found[starts]))


def measure(case, engine, cpu, options):
    given, real = arguments(case, options.genomes)
    first_s, *_ = run(engine, head(given, WARM))
    calls = [run(engine, given)]
    if calls[0][0] < SHORT:  # part of which may have been compiling
        calls = [run(engine, given) for _ in range(options.repeat)]
    seconds = statistics.median(call[0] for call in calls)
    _, cells, found = calls[0]
    limits, columns = given[2], given[4]
    rows = np.minimum(found, limits)
    without = float((found > limits).mean())
    samples = np.random.default_rng(3).integers(0, len(found) - 1, options.samples).tolist()
    return {
        "name": f"primers {case.name}, k = {case.k}",
        "real_genomes": real,
        "seconds": seconds,
        "bar_s": case.bar,
        "first_s": first_s,
        "mean_length": float(rows.mean()),
        "largest_length": int(rows.max()),
        "without_primer": without,
        "cells": cells,
        "tcups": cells / seconds / 1e12,
        "full_tcups": float(rows.sum()) * len(columns) / seconds / 1e12,
        "limit_share": cells / 64 * CELL_OPERATIONS / seconds / LOGIC,
        "starts_checked": SAMPLE * len(samples),
        "equal": all(same_on_cpu(cpu, given, found, first) for first in samples),
    }


def main():
    parser = plain_parser(__doc__, repeat=3)
    parser.add_argument("--genomes", metavar="FOLDER", default=os.environ.get("KMATCH_TEST_DATA"))
    parser.add_argument("--cases", type=int, nargs="*", default=range(len(CASES)), help="numbers")
    parser.add_argument("--samples", type=int, default=2, help=f"each of {SAMPLE} starts")
    parser.add_argument("--device", default="cuda")
    options = parser.parse_args()
    engine, cpu = choose_engine(options.device), choose_engine("cpu")
    results = []
    for number in options.cases:
        results.append(measure(CASES[number], engine, cpu, options))
        for name, figure in results[-1].items():
            print(f"{name:>18}", shown_figure(figure), flush=True)
    write_results(options.json, results)
    return not all(row["equal"] for row in results)


if __name__ == "__main__":
    raise SystemExit(main())
