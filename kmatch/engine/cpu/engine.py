"""The CPU's kernels as searches call them, run on the number of threads asked for."""

import os
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any

import numba
import numpy as np

from kmatch.arrays import Bools, Bytes, Longs, Words
from kmatch.engine import ways
from kmatch.engine.codes import Found, HitBuffer, found_in, make_buffer
from kmatch.engine.cpu.hits import written
from kmatch.engine.engine import Done, Engine
from kmatch.engine.geometry import CACHE_LINE, LANES_PER_WORD, SPARE, Layout, Text, likeness
from kmatch.engine.queries import DifferenceQuery, QueryArrays, ReadingArrays
from kmatch.engine.types import Constraints, Starts, View
from kmatch.engine.workers import Job, Kernel, Workers
from kmatch.errors import DeviceError

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

    def run(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """function(*arguments), whose parallel kernels run on the engine's threads.

        Raises DeviceError in a process that was forked by one that had used them.
        """
        check_forks()
        before = numba.get_num_threads()
        numba.set_num_threads(self.threads)
        try:
            return function(*arguments)
        finally:
            numba.set_num_threads(before)

    def planes(self, size: int) -> Words:
        whole = np.empty(size + CACHE_LINE, np.uint64)
        skip = -(whole.ctypes.data // whole.itemsize) % CACHE_LINE  # the filter runs half as fast
        return whole[skip : skip + size]  # again where its loads cross cache lines

    def pack(self, letters: Bytes, text: Text) -> None:
        from kmatch.engine.cpu.pack import pack_by

        pack_by(self._workers, letters, text)

    def unite(self, text: Text, masks: Bytes) -> Text:
        from kmatch.engine.cpu.pack import unite

        if not len(masks):
            return text
        united = self.planes((4 + len(masks)) * text.plane_words + SPARE)
        united[: 4 * text.plane_words] = text.planes[: 4 * text.plane_words]
        unite(united, text.plane_words, masks)
        return text._replace(planes=united)

    def start_scan(self, text: Text, query: QueryArrays, k: int, capacity: int) -> "Scan":
        from kmatch.engine.cpu.hamming import scan, tiling_of

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
        from kmatch.engine.cpu.seeds import seed_tables

        return seed_tables(codes, ranks, exact, k)

    def start_seeds(self, text: Text, tables: Any, k: int, capacity: int) -> "Scan":
        """A Scan for the windows within k mismatches of the queries of some tables, by rank.

        tables: from `seed_tables`. It gives a chunk up that has too many candidates (see `Found`).
        """
        from kmatch.engine.cpu.seeds import blocks, scan_seeds

        items = blocks(text.words, text.rows)
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
        from kmatch.engine.cpu.tables import plan_lookup

        return plan_lookup(query, constraints, alike, positions)

    def start_lookup(self, view: View, tables: Any, capacity: int) -> "Scan":
        """A Scan for the ends within the limits of their queries, as `start_edit`, beside PAMs and
        where a View, which has its letters, does not show what stands beside them.

        tables: of a Lookup. It gives a chunk up that has too many candidates (see `Found`).
        """
        from kmatch.engine.cpu.lookup import scan_lookup, spans

        left = _candidates(view.shown, len(tables.strands) * len(tables.seeds.low))
        arguments = view.text, view, *tables, left
        items = spans(view.shown)
        return self._start(self._workers, scan_lookup, items, capacity, *arguments, left=left)

    def start_edit(
        self, text: Text, query: DifferenceQuery, way: str | None, capacity: int
    ) -> "Scan":
        from kmatch.engine.cpu.edit import scan_edit, stretches

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
        from kmatch.engine.cpu.edit import smallest_edit, stretches

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
        from kmatch.engine.cpu.primer import extend_primers

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


_lost: list[str] = []  # threads that this process was forked without


def _note_fork() -> None:
    with suppress(ValueError):  # none have been used
        _lost[:] = [numba.threading_layer()]


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_note_fork)


def check_forks() -> None:
    """Raise DeviceError where this process was forked by one that had used OpenMP."""
    if "omp" in _lost:
        raise DeviceError(
            "published algorithms cannot use threads in this process: it was forked by one that "
            "had used them; start processes by 'spawn' or 'forkserver', or use algorithm 'bitplane'"
        )
