"""The CPU's kernels as searches call them, run on the number of threads asked for."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from kmatch.arrays import Bools, Bytes, Longs, Words
from kmatch.engine import ways
from kmatch.engine.codes import Found, HitBuffer, found_in, make_buffer
from kmatch.engine.cpu.items import spans, stretches, tiling_of, written
from kmatch.engine.cpu.primer import extend_primers
from kmatch.engine.cpu.tables import Tables, plan_lookup, window_tables
from kmatch.engine.engine import Done, Engine
from kmatch.engine.geometry import CACHE_LINE, LANES_PER_WORD, SPARE, Layout, Text, likeness
from kmatch.engine.queries import DifferenceQuery, QueryArrays, ReadingArrays
from kmatch.engine.types import Constraints, Starts, View
from kmatch.engine.workers import Job, Kernel, Workers
from kmatch.jit import entry

unite = entry("kmatch.engine.cpu.pack", "unite")
scan = entry("kmatch.engine.cpu.hamming", "scan")
scan_lookup = entry("kmatch.engine.cpu.lookup", "scan_lookup")
scan_edit = entry("kmatch.engine.cpu.edit", "scan_edit")
smallest_edit = entry("kmatch.engine.cpu.edit", "smallest_edit")

LAYOUT = Layout()

CAPACITY = 1 << 20  # hit codes of a chunk: 8 MB, and as much again to sort them

ASKED = 4  # survivors of a filter for a position where it is asked for

FEW = 1 << 14  # words times queries that are searched before another thread has woken up


class CpuEngine(Engine):
    """An Engine that can look pieces up; reason: why the CPU was chosen."""

    name = device = "cpu"

    def __init__(self, threads: int | None = None, reason: str = "") -> None:
        super().__init__(threads)
        self.layout = LAYOUT.shared_by(self.threads)
        self._alone = Workers(1)
        self.capacity = CAPACITY
        self.description = f"cpu, {self.threads} of {self.cores} threads ({reason})"

    def planes(self, size: int) -> Words:
        whole = np.empty(size + CACHE_LINE, np.uint64)
        skip = -(whole.ctypes.data // whole.itemsize) % CACHE_LINE  # the filter runs half as fast
        return whole[skip : skip + size]  # again where its loads cross cache lines

    def unite(self, text: Text, masks: Bytes) -> Text:
        if not len(masks):
            return text
        united = self.planes((4 + len(masks)) * text.plane_words + SPARE)
        united[: 4 * text.plane_words] = text.planes[: 4 * text.plane_words]
        unite(united, text.plane_words, masks)
        return text._replace(planes=united)

    def start_scan(self, text: Text, query: QueryArrays, k: int, capacity: int) -> "Scan":
        workers = self._workers_for(text, len(query.bounds))
        tiling, items = tiling_of(text)
        return self._start(workers, scan, items, capacity, text, query, k, tiling)

    def alone(self) -> "CpuEngine":
        """An engine of the calling thread alone."""
        return CpuEngine(1)

    def lookup(
        self, query: DifferenceQuery, constraints: Constraints, alike: float, positions: int
    ) -> Any:
        """How queries are looked up beside their PAMs, or everywhere where there is none, as a
        Lookup; None where they cannot be.

        alike: see `geometry.likeness`; positions: that are searched, about.
        """
        return plan_lookup(query, constraints, alike, positions)

    def window_tables(self, masks: Bytes, exact: Bools, k: int, strands: Sequence[int]) -> Tables:
        """The Tables for windows within k mismatches of P patterns of A, C, G and T.

        masks: uint8[P, m]; exact: bool[m], the letters that must match; strands: 0 for `+`, 1 for
        `-`, of which each has its queries behind those of the one before.
        """
        return window_tables(masks, exact, k, strands)

    def start_lookup(self, view: View, tables: Any, capacity: int) -> "Scan":
        """A Scan for the ends within the limits of their queries, as `start_edit`, beside PAMs and
        where a View, which has its letters, does not show what stands beside them.

        tables: of a Lookup. It gives a chunk up that has too many candidates (see `Found`).
        """
        left = _candidates(view.shown, len(tables.strands) * len(tables.seeds.low))
        arguments = view.text, view, *tables, left
        items = spans(view.shown)
        return self._start(self._workers, scan_lookup, items, capacity, *arguments, left=left)

    def start_edit(
        self, text: Text, query: DifferenceQuery, way: str | None, capacity: int
    ) -> "Scan":
        queries = len(query.limits)
        parts = stretches(queries, query.reach, text.rows, self.threads)
        budgets = np.zeros(queries, np.int64)
        positions = LANES_PER_WORD * text.words * text.rows
        if way == "filter":
            budgets[:] = ASKED * positions
        elif way is None:
            pays = ways.filter_pays(query.lengths, query.limits, likeness(text))
            budgets[pays] = ways.most_survivors(positions)
        items, workers = parts * queries, self._workers_for(text, queries)
        return self._start(workers, scan_edit, items, capacity, text, query, budgets, parts)

    def start_smallest(self, text: Text, reading: ReadingArrays, bounds: Longs) -> Done[Longs]:
        queries = len(bounds)
        reach = int((np.diff(reading.begins) + bounds).max())
        parts = stretches(queries, max(reach, 1), text.rows, self.threads)
        lowest = np.empty((parts, queries), np.int64)
        with self._timed():
            workers = self._workers_for(text, queries)
            workers.run(smallest_edit, parts * queries, text, reading, bounds, parts, lowest)
        return Done(lowest.min(axis=0))

    def extend_primers(
        self,
        starts: Starts,
        columns: Bytes,
        k: int,
        on_progress: Callable[[float], object] | None = None,
    ) -> int:
        with self._timed():
            return extend_primers(starts, columns, k, on_progress, threads=self.threads)

    def _workers_for(self, text: Text, queries: int) -> Workers:
        """Those for so many queries in a text: the calling thread where others come too late."""
        return self._alone if text.words * text.rows * queries < FEW else self._workers

    def _start(
        self,
        workers: Workers,
        kernel: Kernel,
        items: int,
        capacity: int,
        text: Text,
        *arguments: Any,
        left: Longs | None = None,
    ) -> "Scan":
        buffer = make_buffer(capacity)
        with self._timed():
            job = workers.start(kernel, items, text, *arguments, buffer)
            if self._watch:
                job.wait()
        return Scan(job, buffer, left)


def _candidates(positions: int, queries: int) -> Longs:
    """How many candidates a look-up may still have, int64[1]."""
    return np.array([ways.most_candidates(positions, queries)])


class Scan:
    """A scan of a chunk under way; left: int64[1], how many candidates a look-up may still have,
    below 0 where it gave the chunk up."""

    def __init__(self, job: Job, buffer: HitBuffer, left: Longs | None) -> None:
        self._job, self._buffer, self._left = job, buffer, left

    def found(self) -> Found:
        self._job.wait()
        if self._left is not None and self._left[0] < 0:
            return Found(self._buffer.codes[:0], 0, 0.0)
        _, lost, begun = self._buffer.tally.tolist()
        items = int(self._job.work[1])
        return found_in(written(self._buffer), lost, (begun or items) / items)

    def stop(self) -> None:
        self._job.stop()
