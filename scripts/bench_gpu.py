#!/usr/bin/env python3
"""Time the kernels and whole searches on a GPU: scripts/bench_gpu.py [--json FILE]

Kernel times are by CUDA events, with the text on the device; a search for differences is timed as
a filter and as a scan, and its rate is that of the one that is chosen. A rate in bp·pattern/s is
text length × patterns ÷ time, one in CUPS that times the pattern's length: cells that a cut-off or
filter spares count too, so either may exceed what the limits allow. Hits are counted and held
against the CPU's. Shares are of an H200's 16.7e12 logic operations and 4.8e12 bytes a second.

Dense searches, in which most places or every twentieth are hits of each pattern, are whole calls
of kmatch, from letters in memory to hits, beside `pmasm-thread` with its list of hits.
"""

import argparse
import json
import statistics
import subprocess
import sys
import time

import numba
import numpy as np

import kmatch
from kmatch.bench.data import Case
from kmatch.bench.timing import by_engine, by_published
from kmatch.engine.cuda.bits.buffer import HitBuffer
from kmatch.engine.cuda.edit import scan as edit
from kmatch.engine.cuda.edit.filter import Filter
from kmatch.engine.cuda.edit.pieces import Survivors
from kmatch.engine.cuda.gpu.driver import Stopwatch, cuda, empty, on_device
from kmatch.engine.cuda.hamming import scan as hamming
from kmatch.engine.devices import choose_engine
from kmatch.engine.differences import difference_query
from kmatch.published.registry import find
from kmatch.search.chunks import packed_chunks, plan_chunks, plan_reading
from kmatch.search.panel import build_panel, build_reading_panel
from kmatch.sequences.patterns import load_patterns

LOGIC, BANDWIDTH, COPY = 16.7e12, 4.8e12, 50e9
MISMATCH_OPERATIONS, CELL_OPERATIONS = 4, 10  # 32-bit ones, for the 64 positions of a word
ROOM = 1 << 23  # hits
REPEAT, TURNS = 7, 3  # of a kernel, and of searches that take turns or list many hits
HAMMING = (20, 3, (1, 64))  # m, k and numbers of patterns
DENSE = (16, 6, 1 << 27)  # m, k and letters of a text in which one position in 33 is an end
DENSE_PANELS = ((8, 9, 4), (6, 7, 6))  # patterns, m and k
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
from contextlib import contextmanager
import numba
from numba import cuda
cuda.current_context()
began = time.perf_counter()
import kmatch
from kmatch.search.hooked import hooked
times = []
@contextmanager
def timing(stream):
    yield
    times.append(time.perf_counter() - began)
def watch(engine):
    engine.timing = timing
genome = kmatch.Genome.from_records([("r", "ACGTTGCATTAGCCAGTACTGAACCGGTT" * 100)])
hooked("{call}", genome, ["ACGTTGCATTAGCCAGTACT"], 3, device="cuda", on_engine=watch)
print(times[0], time.perf_counter() - began)
"""


@numba.njit(parallel=True)
def random_letters(count, seed):
    """uint8[count], the same letters on every machine."""
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
    """Median seconds of a launch on the GPU, after one to warm up; prepare() goes before each."""
    watches = [Stopwatch() for _ in range(REPEAT + 1)]
    for watch in watches:
        prepare()
        with watch.timing(stream):
            launch()
    watches.pop(0)
    return statistics.median(watch.seconds for watch in watches)


def told(counter, stream):
    """The number in an int64[1] on the GPU, once the stream has come so far."""
    number = counter.copy_to_host(stream=stream)
    stream.synchronize()
    return int(number[0])


def clear(counts, stream):
    counts.copy_to_device(np.zeros(len(counts), np.int64), stream=stream)


class Bench:
    """A text, its chunks on the GPU, and the figures so far."""

    def __init__(self, length):
        self.length = length
        self.rows = []
        self.engine = choose_engine("cuda")
        self.letters = random_letters(length, 0)

    def note(self, name, **figures):
        self.rows.append({"name": name, **figures})
        shown = (f"{k}={v:.4g}" if isinstance(v, float) else f"{k}={v}" for k, v in figures.items())
        print(f"{name:<42}", *shown, flush=True)

    def chunk(self, plan, length):
        """The one chunk of the text, or of its beginning, in the layout of the engine."""
        genome = kmatch.Genome.from_records([("r", self.letters[:length])])
        return next(packed_chunks(genome, plan, self.engine, self.engine.layout.reading_words))

    def on_gpu(self, chunk, masks):
        """The Text of a chunk on the GPU, as the engine's kernels take it."""
        return self.engine._gpu.broad_text(chunk.text(masks, self.engine))

    def kernel(self, start, prepare=None):
        """(seconds, hits) of what start(HitBuffer) puts into the engine's stream."""
        stream = self.engine.stream
        buffer = HitBuffer(empty(ROOM, np.int64, stream), self.engine.new_count())
        start(buffer)
        hits = told(buffer.count, stream)

        def prepare_all():
            clear(buffer.count, stream)
            if prepare:
                prepare()

        return event_seconds(lambda: start(buffer), stream, prepare_all), hits

    def hamming(self, m, k, counts):
        plan = plan_chunks(m, k, 1, self.length, self.engine.layout)
        chunk = self.chunk(plan, self.length)
        stream, text = self.engine.stream, self.on_gpu(chunk, ())
        for count in counts:
            patterns = random_patterns(m, count)
            exact = np.zeros(m * count, bool)
            letters = build_panel(load_patterns(patterns), k, "+", exact).letters
            queries = hamming.upload(letters, k, stream)

            def start(buffer, queries=queries):
                hamming.scan(text, queries, buffer, stream)

            seconds, hits = self.kernel(start)
            looked = float(np.mean(letters.bounds[:, 3] - letters.bounds[:, 0]))
            operations = self.length / 64 * count * looked * MISMATCH_OPERATIONS
            same = self.same(kmatch.hamming, patterns, k, self.length)
            rate = self.length * count / seconds
            name = f"hamming m={m} k={k} patterns={count}"
            self.tell(name, self.length, seconds, rate, m, operations, hits, same)

    def edit(self, m, k, count, length=None):
        length = length or self.length
        chunk = self.chunk(plan_reading(m, k, k + 1, length, self.engine.layout), length)
        stream, text = self.engine.stream, self.on_gpu(chunk, ())
        patterns = random_patterns(m, count)
        panel = build_reading_panel(load_patterns(patterns), "+")
        limits, chosen = np.full(count, k, np.int64), np.arange(count)
        searches = edit.Searches(text, panel.letters, limits, chosen, k, stream)

        def scan(buffer):
            edit.scan_edit(text, searches, buffer)

        seconds, hits = self.kernel(scan)
        figures = {"scan_ms": seconds * 1e3}
        operations = length / 64 * count * m * CELL_OPERATIONS
        query = difference_query(panel.letters, limits, self.engine)
        pays = Filter(text, query, False, stream).budgets.all()
        figures["filtered"] = bool(pays)
        filtering, survivors = self.filter(text, Filter(text, query, True, stream), count)
        figures |= {"filter_ms": filtering * 1e3, "survivors": survivors}
        same = self.same(kmatch.edit, patterns, k, length, report="ends")
        seconds = filtering if pays else seconds
        rate = length * count / seconds
        name = f"edit m={m} k={k} patterns={count}"
        self.tell(name, length, seconds, rate, m, operations, hits, figures | same)

    def filter(self, text, queries, count):
        """(seconds, survivors) of a filter and what verifies its survivors."""
        stream, chosen = queries.stream, np.flatnonzero(queries.budgets)
        counts, many = on_device(np.zeros(count, np.int64), stream), self.engine.new_count()
        survivors = Survivors(counts, empty(16 * ROOM, np.int64, stream), many)

        def start(buffer):
            queries.run(text, chosen, survivors, buffer)

        def prepare():
            clear(counts, stream)
            clear(many, stream)

        seconds, _ = self.kernel(start, prepare)
        return seconds, told(many, stream)

    def tell(self, name, length, seconds, rate, m, operations, hits, same):
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

    def same(self, search, patterns, k, length, **options):
        """The hits of whole searches on both devices, and whether they are the same."""
        results = {}
        for device in ("cuda", "cpu"):
            genome = kmatch.Genome.from_records([("r", self.letters[:length])])
            began = time.perf_counter()
            results[device] = search(genome, patterns, k, strand="+", device=device, **options)
            results[device + "_s"] = time.perf_counter() - began
        gpu, cpu = results["cuda"], results["cpu"]
        columns = ("start", "end", "pattern_number", "distance")
        equal = all(np.array_equal(getattr(gpu, x), getattr(cpu, x)) for x in columns)
        return {
            "hits": len(gpu),
            "cpu_hits": len(cpu),
            "equal": bool(equal),
            "whole_cuda_s": results["cuda_s"],
            "whole_cpu_s": results["cpu_s"],
        }

    def beside(self, command, m, k, length):
        """A published algorithm on the same text, and how many times faster the engine's kernel is.

        That is the kernel timed before, on a text of its own length.
        """
        name = PUBLISHED[command]
        case = Case(command, self.letters[:length], random_patterns(m, 1), k)
        answers = [by_published(case, self.engine, find(command, name)) for _ in range(TURNS)]
        ours = by_engine(case, self.engine.place)
        rate = length / statistics.median(answer.kernel for answer in answers)
        self.note(
            f"{command} m={m} k={k} patterns=1, {name}",
            text=length,
            gbp_pattern_s=rate / 1e9,
            times_slower=self.rate(f"{command} m={m} k={k} patterns=1") / rate,
            hits=len(ours.keys),
            equal=all(np.array_equal(answer.keys, ours.keys) for answer in answers),
        )

    def dense(self, count, m, k, length):
        """Whole calls of kmatch and of a published algorithm where hits are many, in turn.

        Both begin with letters in the host's memory and end with the hits there.
        """
        name = PUBLISHED["multi"]
        case = Case("multi", self.letters[:length], random_patterns(m, count), k)
        searches = (
            lambda: by_engine(case, self.engine.place),
            lambda: by_published(case, self.engine, find(case.command, name)),
        )
        seconds, equal = [], True
        for _ in range(TURNS + 1):
            ours, theirs = (search() for search in searches)
            seconds.append((ours.call, theirs.call))
            equal &= np.array_equal(ours.keys, theirs.keys)
        seconds = np.array(seconds[1:])  # the first turn compiles
        rate, published_rate = length / np.median(seconds, axis=0)
        self.note(
            f"dense, {count} patterns of {m}, k={k}, beside {name}",
            text=length,
            mbp_s=float(rate / 1e6),
            published_mbp_s=float(published_rate / 1e6),
            ratio=float(np.median(seconds[:, 1] / seconds[:, 0])),
            hits=len(ours.keys),
            equal=bool(equal),
        )

    def rate(self, name):
        """bp·pattern/s of a row."""
        return 1e12 * next(row["tbp_pattern_s"] for row in self.rows if row["name"] == name)

    def whole_call(self, m, k, count, length):
        """A search of both strands from packed host memory, against its kernels and its copy."""
        genome = kmatch.Genome.from_records([("r", self.letters[:length])])
        patterns, gpu = random_patterns(m, count), self.engine._gpu
        hits = kmatch.hamming(genome, patterns, k, device="cuda")
        copied, kept = [], []
        for seconds, resident in ((copied, False), (kept, True)) * REPEAT:
            while not resident and gpu._release():
                pass
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
    """Seconds of a second process from Numba and a context to the launch of its first search, and
    to the end of that."""
    for call in ("hamming", "edit"):
        command = (sys.executable, "-c", BEGIN.format(call=call))
        told = [subprocess.check_output(command, text=True) for _ in range(4)]
        launched, done = np.median([[float(x) for x in line.split()] for line in told[1:]], axis=0)
        bench.note(f"second process, {call}", to_launch_s=float(launched), to_end_s=float(done))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--length", type=int, default=1 << 31, help="letters of text")
    parser.add_argument(
        "--edit",
        action="append",
        metavar="M,K,PATTERNS",
        help="only this search for differences; can be repeated",
    )
    parser.add_argument("--json", metavar="FILE")
    options = parser.parse_args()
    bench = Bench(options.length)
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
    if options.json:
        with open(options.json, "w") as handle:
            json.dump(bench.rows, handle, indent=1)


if __name__ == "__main__":
    main()
