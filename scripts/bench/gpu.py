#!/usr/bin/env python3
"""Time the kernels, whole searches, and primers on a GPU.

    scripts/bench/gpu.py [--only searches|primers] [--length BASES] [--edit M,K,PATTERNS] …
        [--genomes FOLDER] [--cases N …] [--samples N] [--repeat N] [--json FILE]

Kernels are timed by CUDA events with the text on the device. A rate in bp·pattern/s is text length
× patterns ÷ time, one in CUPS that times the pattern's length. Cells that a cut-off spares count
too, so either may exceed the limits. Hits are counted and compared with the CPU's. Shares are of an
H200's 16.7e12 logic operations and 4.8e12 bytes a second.

Dense searches, in which most positions or every twentieth are hits of each pattern, are whole calls
of kmatch, from letters in memory to hits, beside `pmasm-thread` with its list of hits.

For primers FOLDER holds the genomes that CASES names, by default KMATCH_TEST_DATA; in place of a
missing one there are random letters, a quarter of them copies of two repeats. Seconds are medians
of whole calls of the engine, from letters in memory and with kernels compiled; `first_s` is the
first call, with WARM starts alone. Cells are those computed in tiles, with those computed again;
`full_tcups` counts all cells down to each start's length instead. The share of the limit is at 10
operations for 64 cells. A sample of starts is compared with the CPU.
"""

import os
import statistics
import subprocess
import sys
import time
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numba
import numpy as np
from harness.common import plain_parser, shown_figure, write_results

import kmatch
from kmatch.apps.primer import COMPLEMENT, LETTER_CODES
from kmatch.bench import Case, by_engine, by_published
from kmatch.engine.cuda import edit, hamming
from kmatch.engine.cuda.driver import Stopwatch, cuda
from kmatch.engine.cuda.words import HitBuffer
from kmatch.engine.devices import choose_engine
from kmatch.engine.queries import difference_query
from kmatch.engine.types import FRESH, Starts
from kmatch.search.algorithms import find
from kmatch.search.chunks import Chunking, plan_chunks, plan_reading
from kmatch.search.panel import build_panel, each_strand, panel_letters, panel_reading
from kmatch.sequences.patterns import load_patterns

LOGIC, BANDWIDTH, COPY = 16.7e12, 4.8e12, 50e9  # of an H200: operations and bytes a second
CAPACITY = 1 << 23  # hits
REPEAT = 7  # of a kernel
MISMATCH_OPERATIONS, CELL_OPERATIONS = 4, 10  # 32-bit ones, for the 64 positions of a word
TURNS = 3  # of searches that take turns or list many hits
HAMMING = (20, 3, (1, 64))  # m, k and numbers of patterns
DENSE = (16, 6, 1 << 27)  # m, k and letters of a text in which one position in 33 is an end
DENSE_PANELS = ((8, 9, 4), (6, 7, 4), (6, 7, 6))  # patterns, m and k
DENSE_LENGTH = 10_280_000  # letters, as in table 1 of Ho et al. 2017a
WHOLE_LENGTH = 10**9
PUBLISHED = {"hamming": "opt-block-thread", "edit": "row-shuffle-shared", "multi": "pmasm-thread"}
PUBLISHED_LENGTH = 1 << 30  # of a text, of which published algorithms keep a table
EDIT = (
    *("20,3,1", "20,3,64", "20,1,1", "20,1,64", "20,0,1", "20,2,1", "32,3,1", "32,6,1"),
    *("100,4,1", "100,10,1", "1000,100,1"),
)
BEGIN = """
import time
import numba
from numba import cuda
cuda.current_context()
began = time.perf_counter()
import kmatch
genome = kmatch.Genome.from_records([("r", "ACGTTGCATTAGCCAGTACTGAACCGGTT" * 100)])
kmatch.{call}(genome, ["ACGTTGCATTAGCCAGTACT"], 3, device="cuda")
print(time.perf_counter() - began)
"""
HUMAN_X, HUMAN_20 = "human_il1rapl1.fa.gz", "human_grch37_chr20.fa.gz"
REPEATS = ((300, 0.1), (6000, 0.15))  # letters of a repeat, and its copies' share of the text
WARM = 2048
SHORT = 10  # seconds, of a call that is made once more before it is timed
SAMPLE = 512  # neighbouring starts that the CPU checks


@numba.njit(parallel=True)
def random_letters(count, seed):
    """Letters, the same on every machine."""
    letters = np.empty(count, np.uint8)
    for i in numba.prange(count):
        x = np.uint64(i + seed) * np.uint64(0x9E3779B97F4A7C15)
        x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        code = (x >> np.uint64(62)) & np.uint64(3)
        letters[i] = 65 + 2 * code if code < 2 else (71 if code == 2 else 84)
    return letters


def random_patterns(length, count):
    letters = random_letters(length * count, 1 << 40).tobytes().decode()
    return [letters[i * length : (i + 1) * length] for i in range(count)]


def event_seconds(launch, stream, prepare):
    """Median seconds of a launch on the GPU, after one to warm up; prepare() precedes each."""
    watches = [Stopwatch() for _ in range(REPEAT + 1)]
    for watch in watches:
        prepare()
        with watch.timing(stream):
            launch()
    watches.pop(0)
    return statistics.median(watch.seconds for watch in watches)


def read_counter(counter, stream):
    """The number in an int64[1] on the GPU, once the stream's work is done."""
    number = counter.copy_to_host(stream=stream)
    stream.synchronize()
    return int(number[0])


def clear(counts, stream):
    counts.copy_to_device(np.zeros(len(counts), np.int64), stream=stream)


class Bench:
    """A text in host memory, its chunks on the GPU, and the figures so far.

    path: of the record, which is written anew with every row, as a run takes minutes.
    """

    def __init__(self, length, path):
        self.length = length
        self.path = path
        self.rows = []
        self.engine = choose_engine("cuda")
        self.stream = self.engine.gpus[0].stream
        self.letters = random_letters(length, 0)

    def note(self, name, **figures):
        """Keep and print a row."""
        self.rows.append({"name": name, **figures})
        write_results(self.path, self.rows)
        shown = (f"{figure}={shown_figure(value)}" for figure, value in figures.items())
        print(f"{name:<42}", *shown, flush=True)

    def genome(self, length):
        """A Genome of the beginning of the text."""
        return kmatch.Genome.from_records([("r", self.letters[:length])])

    def chunk(self, plan, length):
        """The one chunk of the beginning of the text, in the layout of the engine."""
        words = self.engine.layout.reading_words
        plan = plan._replace(length=length)
        return next(Chunking(plan, self.engine, words).fresh(self.genome(length).parts()))

    def on_gpu(self, chunk):
        """The Text of a chunk on the GPU, as the engine's kernels take it."""
        return self.engine.gpus[0].text(chunk.plain, np.zeros(0, np.uint8))

    def kernel(self, start, prepare=None):
        """(seconds, hits) of the kernels that start(HitBuffer) puts into the engine's stream."""
        stream = self.stream
        count = cuda.to_device(np.zeros(1, np.int64), stream)
        buffer = HitBuffer(self.engine.gpus[0].array(CAPACITY, np.int64), count)
        start(buffer)
        hits = read_counter(buffer.count, stream)

        def prepare_all():
            clear(buffer.count, stream)
            if prepare:
                prepare()

        return event_seconds(lambda: start(buffer), stream, prepare_all), hits

    def same(self, search, patterns, k, length, **options):
        """Columns of a row: the hits of whole searches on both devices, and their seconds."""
        results, seconds = {}, {}
        for device in ("cuda", "cpu"):
            genome = self.genome(length)
            began = time.perf_counter()
            results[device] = search(genome, patterns, k, strand="+", device=device, **options)
            seconds[device] = time.perf_counter() - began
        gpu, cpu = results["cuda"], results["cpu"]
        columns = ("start", "end", "pattern_number", "distance")
        equal = all(np.array_equal(getattr(gpu, x), getattr(cpu, x)) for x in columns)
        return {
            "hits": len(gpu),
            "cpu_hits": len(cpu),
            "equal": bool(equal),
            "whole_cuda_s": seconds["cuda"],
            "whole_cpu_s": seconds["cpu"],
        }

    def hamming(self, m, k, counts):
        plan = plan_chunks(m, k, self.engine.layout)
        text = self.on_gpu(self.chunk(plan, self.length))
        for count in counts:
            patterns = random_patterns(m, count)
            letters = panel_letters(build_panel(load_patterns(patterns), "+"), k)
            search = hamming.WindowScan(letters, k, text.words, self.engine.gpus[0])
            seconds, hits = self.kernel(partial(search.run, text))
            looked = float(np.mean(letters.bounds[:, 3] - letters.bounds[:, 0]))
            operations = self.length / 64 * count * looked * MISMATCH_OPERATIONS
            same = self.same(kmatch.hamming, patterns, k, self.length)
            rate = self.length * count / seconds
            name = f"hamming m={m} k={k} patterns={count}"
            self.report(name, self.length, seconds, rate, m, operations, hits, same)

    def edit(self, m, k, count, length=None):
        length = length or self.length
        chunk = self.chunk(plan_reading(m, k, k + 1, self.engine.layout, count), length)
        text = self.on_gpu(chunk)
        patterns = random_patterns(m, count)
        reading = panel_reading(each_strand(load_patterns(patterns), "+"))
        query = difference_query(reading, np.full(count, k, np.int64))
        gpu = self.engine.gpus[0]
        searches = edit.upload(query, gpu)
        no_pams = gpu.array(0)

        def scan(buffer):
            edit.scan(text, no_pams, searches, buffer)

        seconds, hits = self.kernel(scan)
        operations = length / 64 * count * m * CELL_OPERATIONS
        same = self.same(kmatch.edit, patterns, k, length, report="ends")
        rate = length * count / seconds
        name = f"edit m={m} k={k} patterns={count}"
        self.report(name, length, seconds, rate, m, operations, hits, same)

    def report(self, name, length, seconds, rate, m, operations, hits, same):
        self.note(
            name,
            text=length,
            kernel_ms=seconds * 1e3,
            tbp_pattern_s=rate / 1e12,
            tcups=rate * m / 1e12,
            logic_share=operations / seconds / LOGIC,
            memory_share=length / 2 / seconds / BANDWIDTH,
            kernel_hits=hits,
            **same,
        )

    def beside(self, command, m, k, length):
        """A published algorithm on the same text, and how many times slower it is than the engine.

        The engine's kernel was timed before, on a text of its own length.
        """
        name = PUBLISHED[command]
        case = Case(command, self.letters[:length], random_patterns(m, 1), k)
        answers = [by_published(case, self.engine, find(command, name)) for _ in range(TURNS)]
        ours = by_engine(case, self.engine.device)
        rate = length / statistics.median(answer.kernel for answer in answers)
        self.note(
            f"{command} m={m} k={k} patterns=1, {name}",
            text=length,
            gbp_pattern_s=rate / 1e9,
            times_slower=self.rate(f"{command} m={m} k={k} patterns=1") / rate,
            hits=ours.hits.shape[1],
            equal=all(np.array_equal(answer.hits, ours.hits) for answer in answers),
        )

    def dense(self, count, m, k, length):
        """Whole calls of kmatch and of a published algorithm with many hits, in turn.

        Both go from letters in host memory to hits in host memory.
        """
        name = PUBLISHED["multi"]
        case = Case("multi", self.letters[:length], random_patterns(m, count), k)
        searches = (
            lambda: by_engine(case, self.engine.device),
            lambda: by_published(case, self.engine, find(case.command, name)),
        )
        seconds, equal = [], True
        for _ in range(TURNS + 1):
            ours, theirs = (search() for search in searches)
            seconds.append((ours.call, theirs.call))
            equal &= np.array_equal(ours.hits, theirs.hits)
        seconds = np.array(seconds[1:])  # the first turn compiles
        rate, published_rate = length / np.median(seconds, axis=0)
        self.note(
            f"dense, {count} patterns of {m}, k={k}, beside {name}",
            text=length,
            mbp_s=float(rate / 1e6),
            published_mbp_s=float(published_rate / 1e6),
            ratio=float(np.median(seconds[:, 1] / seconds[:, 0])),
            hits=ours.hits.shape[1],
            equal=bool(equal),
        )

    def rate(self, name):
        """bp·pattern/s of a row."""
        return 1e12 * next(row["tbp_pattern_s"] for row in self.rows if row["name"] == name)

    def whole_call(self, m, k, count, length):
        """A search of both strands from packed host memory, beside its kernels and its copy."""
        genome = self.genome(length)
        patterns, gpu = random_patterns(m, count), self.engine.gpus[0]
        hits = kmatch.hamming(genome, patterns, k, device="cuda")
        copied, kept = [], []
        for seconds, resident in ((copied, False), (kept, True)) * REPEAT:
            if not resident:
                gpu._kept.clear()
            cuda.synchronize()
            began = time.perf_counter()
            again = kmatch.hamming(genome, patterns, k, device="cuda")
            seconds.append(time.perf_counter() - began)
            assert len(again) == len(hits)
        kernels = 2 * count * length / self.rate(f"hamming m={m} k={k} patterns={count}")
        copy = length / 2 / COPY
        self.note(
            f"whole call, {length:.0e} bp, {count} patterns, both strands",
            seconds=statistics.median(copied),
            seconds_when_resident=statistics.median(kept),
            kernels_s=kernels,
            copy_s=copy,
            times_kernels_and_copy=statistics.median(copied) / (kernels + copy),
            hits=len(hits),
            cpu_hits=len(kmatch.hamming(genome, patterns, k, device="cpu")),
        )


def start_up(bench):
    """Seconds of a second process to the end of its first search, once Numba and a context are
    there."""
    for call in ("hamming", "edit"):
        command = (sys.executable, "-c", BEGIN.format(call=call))
        seconds = [float(subprocess.check_output(command)) for _ in range(4)]
        bench.note(f"second process, {call}", to_end_s=statistics.median(seconds[1:]))


class Primers(NamedTuple):
    """target, background: (file, first letter, letters); bar: seconds allowed on an H200."""

    name: str
    target: tuple
    background: tuple
    k: int
    max_length: int | None
    both: bool
    bar: float


CASES = (
    Primers(
        "43,606 × 241,494", (HUMAN_X, 0, 43_606), (HUMAN_X, 10**6, 241_494), 100, None, False, 0.5
    ),
    Primers(
        "107,280 × 2,220,391",
        (HUMAN_X, 0, 107_280),
        (HUMAN_20, 10**7, 2_220_391),
        256,
        None,
        False,
        8,
    ),
    Primers("1 M × 4 M", (HUMAN_X, 0, 10**6), (HUMAN_20, 10**7, 4 * 10**6), 100, None, False, 60),
    Primers(
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
        return LETTER_CODES[record.letters[first : first + count]], True
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


def call(engine, given):
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
    first_s, *_ = call(engine, head(given, WARM))
    calls = [call(engine, given)]
    if calls[0][0] < SHORT:  # part of which may have been compiling
        calls = [call(engine, given) for _ in range(options.repeat)]
    seconds = statistics.median(each[0] for each in calls)
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
    parser.add_argument("--only", choices=("searches", "primers"))
    parser.add_argument("--length", type=int, default=1 << 31, help="letters of text")
    parser.add_argument(
        "--edit",
        action="append",
        metavar="M,K,PATTERNS",
        help="only this search for differences; can be repeated",
    )
    parser.add_argument("--genomes", metavar="FOLDER", default=os.environ.get("KMATCH_TEST_DATA"))
    parser.add_argument("--cases", type=int, nargs="*", default=range(len(CASES)), help="numbers")
    parser.add_argument("--samples", type=int, default=2, help=f"each of {SAMPLE} starts")
    options = parser.parse_args()
    rows = []
    if options.only != "primers":
        rows += searches(options)
    if options.only != "searches" and not options.edit:
        rows += primers(options)
        write_results(options.json, rows)
    return not all(row["equal"] for row in rows if "equal" in row)


def searches(options):
    """The rows of the searches."""
    bench = Bench(options.length, options.json)
    if not options.edit:
        bench.hamming(*HAMMING)
    for setting in options.edit or EDIT:
        bench.edit(*map(int, setting.split(",")))
    if not options.edit:
        m, k, length = DENSE
        bench.edit(m, k, 1, min(length, options.length))
        bench.beside("edit", m, k, min(length, options.length))
        length = min(PUBLISHED_LENGTH, options.length)
        m, k, counts = HAMMING
        bench.beside("hamming", m, k, length)
        for panel in DENSE_PANELS:
            bench.dense(*panel, min(DENSE_LENGTH, options.length))
        bench.whole_call(m, k, counts[-1], min(WHOLE_LENGTH, options.length))
        start_up(bench)
    return bench.rows


def primers(options):
    """The rows of primers."""
    engine, cpu = choose_engine("cuda"), choose_engine("cpu")
    results = []
    for number in options.cases:
        results.append(measure(CASES[number], engine, cpu, options))
        for name, figure in results[-1].items():
            print(f"{name:>18}", shown_figure(figure), flush=True)
    return results


if __name__ == "__main__":
    sys.exit(main())
