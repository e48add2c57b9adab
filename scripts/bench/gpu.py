#!/usr/bin/env python3
"""Time the kernels and whole searches on a GPU.

    scripts/bench/gpu.py [--length BASES] [--edit M,K,PATTERNS] … [--json FILE]

Kernels are timed by CUDA events with the text on the device. A rate in bp·pattern/s is text length
× patterns ÷ time, one in CUPS that times the pattern's length. Cells that a cut-off spares count
too, so either may exceed the limits. Hits are counted and compared with the CPU's. Shares are of an
H200's 16.7e12 logic operations and 4.8e12 bytes a second.

Dense searches, in which most positions or every twentieth are hits of each pattern, are whole calls
of kmatch, from letters in memory to hits, beside `pmasm-thread` with its list of hits.
"""

import statistics
import subprocess
import sys
import time

import numpy as np
from harness.gpu import (
    BANDWIDTH,
    COPY,
    LOGIC,
    REPEAT,
    GpuBench,
    random_patterns,
)
from harness.options import plain_parser
from harness.records import write_results

import kmatch
from kmatch.bench.measure import Case, by_engine, by_published
from kmatch.engine.cuda import edit, hamming
from kmatch.engine.cuda.driver import cuda
from kmatch.engine.geometry import halo_of
from kmatch.published.registry import find
from kmatch.search.chunks import plan_chunks, plan_reading
from kmatch.search.panel import build_panel, build_reading_panel, panel_letters
from kmatch.sequences.patterns import load_patterns

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


class Bench(GpuBench):
    """The measurements."""

    def hamming(self, m, k, counts):
        plan = plan_chunks(m, k, 1, self.engine.layout)
        chunk = self.chunk(plan, self.length)
        stream, text = self.stream, self.on_gpu(chunk, ())
        for count in counts:
            patterns = random_patterns(m, count)
            exact = np.zeros(m * count, bool)
            letters = panel_letters(build_panel(load_patterns(patterns), "+"), k, exact)
            queries = hamming.upload(letters, k, stream)

            def start(buffer, queries=queries):
                hamming.scan(text, queries, buffer, stream)

            seconds, hits = self.kernel(start)
            looked = float(np.mean(letters.bounds[:, 3] - letters.bounds[:, 0]))
            operations = self.length / 64 * count * looked * MISMATCH_OPERATIONS
            same = self.same(kmatch.hamming, patterns, k, self.length)
            rate = self.length * count / seconds
            name = f"hamming m={m} k={k} patterns={count}"
            self.report(name, self.length, seconds, rate, m, operations, hits, same)

    def edit(self, m, k, count, length=None):
        length = length or self.length
        chunk = self.chunk(plan_reading(m, k, k + 1, self.engine.layout), length)
        stream, text = self.stream, self.on_gpu(chunk, ())
        patterns = random_patterns(m, count)
        panel = build_reading_panel(load_patterns(patterns), "+")
        limits, chosen = np.full(count, k, np.int64), np.arange(count)
        searches = edit.Searches(halo_of(text), panel.letters, limits, chosen, k, stream)

        def scan(buffer):
            searches.run(text, buffer)

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
        patterns, gpu = random_patterns(m, count), self.engine._gpus[0]
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
    """Seconds of a second process to the end of its first search, once Numba and a context are
    there."""
    for call in ("hamming", "edit"):
        command = (sys.executable, "-c", BEGIN.format(call=call))
        seconds = [float(subprocess.check_output(command)) for _ in range(4)]
        bench.note(f"second process, {call}", to_end_s=statistics.median(seconds[1:]))


def main():
    parser = plain_parser(__doc__)
    parser.add_argument("--length", type=int, default=1 << 31, help="letters of text")
    parser.add_argument(
        "--edit",
        action="append",
        metavar="M,K,PATTERNS",
        help="only this search for differences; can be repeated",
    )
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
    write_results(options.json, bench.rows)


if __name__ == "__main__":
    main()
