"""The CPU's kernels as searches call them, run on the number of threads asked for."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from kmatch.arrays import Bools, Bytes, Longs, Words
from kmatch.engine import ways
from kmatch.engine.codes import Found, HitBuffer, found_in, make_buffer
from kmatch.engine.cpu.items import pack_items, seed_items, spans, stretches, tiling_of, written
from kmatch.engine.cpu.primer import extend_primers
from kmatch.engine.cpu.tables import plan_lookup, seed_tables
from kmatch.engine.engine import Done, Engine
from kmatch.engine.geometry import CACHE_LINE, LANES_PER_WORD, SPARE, Layout, Text, likeness
from kmatch.engine.host import stand_in
from kmatch.engine.queries import DifferenceQuery, QueryArrays, ReadingArrays
from kmatch.engine.types import Constraints, Starts, View
from kmatch.engine.workers import Job, Kernel, Workers
from kmatch.jit import entry

pack = entry("kmatch.engine.cpu.pack", "pack")
unite = entry("kmatch.engine.cpu.pack", "unite")
scan = entry("kmatch.engine.cpu.hamming", "scan")
scan_seeds = entry("kmatch.engine.cpu.seeds", "scan_seeds")
scan_lookup = entry("kmatch.engine.cpu.lookup", "scan_lookup")
scan_edit = entry("kmatch.engine.cpu.edit", "scan_edit")
smallest_edit = entry("kmatch.engine.cpu.edit", "smallest_edit")

LAYOUT = Layout()

CAPACITY = 1 << 20  # hit codes of a chunk: 8 MB, and as much again to sort them

ASKED = 4  # survivors of a filter for a position where it is asked for

FEW = 1 << 14  # words times queries that are searched before another thread has woken up


def pack_by(workers: Workers, letters: Bytes, text: Text) -> None:
    """Pack on the threads of Workers, or by the function that stands in for the kernel."""
    if pack_instead := stand_in():
        pack_instead(letters, text)
    else:
        workers.run(pack, pack_items(text.words, text.plane_words), letters, text)


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

    def pack(self, letters: Bytes, text: Text) -> None:
        pack_by(self._workers, letters, text)

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

    def seed_tables(self, codes: Bytes, ranks: Longs, exact: Bools, k: int) -> Any:
        """The tables of queries as they are read along the forward text, for `start_seeds`.

        codes: uint8[Q, m], letters 0 to 3; ranks: int64[Q], those of the queries among R; exact:
        bool[R, m], letters that must match, by rank.
        """
        return seed_tables(codes, ranks, exact, k)

    def start_seeds(self, text: Text, tables: Any, k: int, capacity: int) -> "Scan":
        """A Scan for the windows within k mismatches of the queries of some tables, by rank.

        tables: from `seed_tables`. It gives a chunk up that has too many candidates (see `Found`).
        """
        items = seed_items(text.words, text.rows)
        left = _candidates(LANES_PER_WORD * text.words * text.rows, len(tables.exact))
        return self._start(
            self._workers, scan_seeds, items, capacity, text, tables, k, left, left=left
        )

    def lookup(
        self, query: DifferenceQuery, constraints: Constraints, alike: float, positions: int
    ) -> Any:
        """How queries are looked up beside their PAMs, or everywhere where there is none, as a
        Lookup; None where they cannot be.

        alike: see `geometry.likeness`; positions: that are searched, about.
        """
        return plan_lookup(query, constraints, alike, positions)

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
        start = partial(workers.start, kernel, items, text, *arguments, buffer)
        with self._timed():
            scan = Scan(buffer, items, start, left)
            if self._watch:
                scan.wait()
        return scan


def _candidates(positions: int, queries: int) -> Longs:
    """How many candidates a look-up may still have, int64[1]."""
    return np.array([ways.most_candidates(positions, queries)])


class Scan:
    """A scan of a chunk under way; start(after=function) starts its Job; left: int64[1], how many
    candidates a look-up may still have, below 0 where it gave the chunk up."""

    def __init__(
        self,
        buffer: HitBuffer,
        items: int,
        start: Callable[..., Job],
        left: Longs | None = None,
    ) -> None:
        self._buffer, self._items, self._left = buffer, items, left
        self._found: Found | None = None
        self._job = start(after=self._sort)

    def _sort(self) -> None:
        if self._left is not None and self._left[0] < 0:
            self._found = Found(self._buffer.codes[:0], 0, 0.0)
            return
        _, lost, begun = self._buffer.tally.tolist()
        self._found = found_in(written(self._buffer), lost, (begun or self._items) / self._items)

    def wait(self) -> None:
        """Wait until the kernel is done and the codes are sorted."""
        self._job.wait()

    def found(self) -> Found:
        self.wait()
        assert self._found is not None
        return self._found

    def stop(self) -> None:
        self._job.stop()
