"""The CPU's kernels as searches call them, run on the number of threads asked for."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numba
import numpy as np

from kmatch.arrays import Bools, Bytes, Longs, Words
from kmatch.engine.choice import SiteWork, Work
from kmatch.engine.constraints import AnchoredQuery, View
from kmatch.engine.costs import CPU
from kmatch.engine.cpu.bits.buffer import written
from kmatch.engine.cpu.forks import check_forks
from kmatch.engine.differences import DifferenceQuery
from kmatch.engine.geometry import CACHE_LINE, LANES_PER_WORD, SPARE, Layout, Text
from kmatch.engine.hits import Found, HitBuffer, make_buffer
from kmatch.engine.host.done import Done
from kmatch.engine.host.engine import HostEngine
from kmatch.engine.host.sorting import found_in
from kmatch.engine.host.workers import Job, Kernel, Workers
from kmatch.engine.primers import Starts, WorkDone
from kmatch.engine.queries import QueryArrays, ReadingArrays

LAYOUT = Layout()
CAPACITY = 1 << 20  # hit codes of a chunk: 8 MB, and as much again to sort them
SAMPLED = 32  # one of so many rows of a chunk is searched to count its hits, or more in a short one
FEWEST_SAMPLED = 16  # of these at least one
FEW = 1 << 14  # words times queries that are searched before another thread has woken up


class CpuEngine(HostEngine):
    """An Engine, with SeedLookup (see `kmatch.engine.protocol`).

    threads: at most one a core, None for all cores; reason: why the CPU was chosen; work: see
    HostEngine. Methods named `start_…` return while the kernel runs.
    """

    name = device = "cpu"

    def __init__(
        self, threads: int | None = None, reason: str = "", work: Work | None = None
    ) -> None:
        super().__init__(threads, work)
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

    def keep(self, planes: Words) -> None:
        """Nothing to do: the CPU reads planes wherever they are."""

    def fetch(self, planes: Words) -> None:
        """Nothing to do: the CPU scans planes where they are."""

    def pack(self, letters: Bytes, text: Text) -> None:
        from kmatch.engine.cpu.text.pack import pack_by

        pack_by(self._workers, letters, text)

    def unite(self, text: Text, masks: Bytes) -> Text:
        from kmatch.engine.cpu.text.pack import unite

        if not len(masks):
            return text
        united = self.planes((4 + len(masks)) * text.plane_words + SPARE)
        united[: 4 * text.plane_words] = text.planes[: 4 * text.plane_words]
        unite(united, text.plane_words, masks)
        return text._replace(planes=united)

    def start_scan(self, text: Text, query: QueryArrays, k: int, capacity: int) -> "Scan":
        from kmatch.engine.cpu.hamming.scan import NEVER, scan, tiling_of

        workers = self._workers_for(text, len(query.bounds))
        tiling, items = tiling_of(text, len(query.bounds), k)
        if tiling.fewest < NEVER:
            from kmatch.engine.cpu.hamming.panel import scan_panel as scan
        return self._start(workers, scan, items, capacity, text, query, k, tiling)

    def count_windows(self, text: Text, query: QueryArrays, k: int) -> float | None:
        if LANES_PER_WORD * text.words * text.rows < len(query.bounds):
            return None  # to begin with the queries would take longer than all the rest
        return self._count(text, 1, lambda some: self.start_scan(some, query, k, self.capacity))

    def seeds_pay(self, codes: Bytes, k: int, queries: int, hits: float = 0.0) -> bool:
        from kmatch.engine.cpu.hamming.seeds import pays

        return pays(codes, k, queries, hits, self.letters or 0)

    def seed_tables(self, codes: Bytes, ranks: Longs, exact: Bools, k: int) -> Any:
        from kmatch.engine.cpu.hamming.seeds import seed_tables

        return seed_tables(codes, ranks, exact, k)

    def start_seeds(self, text: Text, tables: Any, k: int, capacity: int) -> "Scan":
        from kmatch.engine.cpu.hamming.seeds import blocks, scan_seeds

        items = blocks(text.words, text.rows)
        return self._start(self._workers, scan_seeds, items, capacity, text, tables, k)

    def sites_pay(self, work: SiteWork) -> bool:
        from kmatch.engine.host.sites import pays

        return pays(work, CPU.scan, CPU.sites)

    def anchor_tables(
        self,
        search: AnchoredQuery,
        text: Text,
        view: Callable[[], View],
        positions: int | None,
        before: Any = None,
    ) -> tuple[Any, float]:
        from kmatch.engine.cpu.edit.beside import Sample, anchor_tables
        from kmatch.engine.cpu.edit.filter import extent_of, letter_shares
        from kmatch.engine.cpu.edit.lookup import count_candidates
        from kmatch.engine.cpu.edit.scan import stretches

        query, constraints, _ = search
        parts = stretches(len(query.limits), query.reach, text.rows, self.threads)
        sample = Sample(
            query,
            letter_shares(text, len(query.reading.bases)),
            extent_of(text, parts),
            lambda: self._count_ends(text, query),
            lambda *seeds: count_candidates(view(), constraints, *seeds),
        )
        return anchor_tables(search, sample, positions, before), sample.ends

    def _count_ends(self, text: Text, query: DifferenceQuery) -> float | None:
        """The ends at a position in a share of the rows of a Text, None where it has too few."""
        return self._count(
            text, query.reach, lambda some: self.start_edit(some, query, False, self.capacity)
        )

    def _count(self, text: Text, rows: int, start: Callable[[Text], "Scan"]) -> float | None:
        """The hits at a position in a share of the rows of a Text, None where it has too few.

        rows: the least that pay for their beginning; start(text) starts a scan for the hits.
        """
        some = text._replace(rows=max(text.rows // SAMPLED, rows))
        if some.rows * FEWEST_SAMPLED > text.rows:
            return None
        found = start(some).found()
        hits = (len(found.codes) + found.lost) / max(found.share, 1e-9)
        return hits / (LANES_PER_WORD * some.words * some.rows)

    def start_anchors(self, view: View, tables: Any, capacity: int) -> "Scan":
        from kmatch.engine.cpu.edit.anchors import scan_anchors, tiles, window_text
        from kmatch.engine.cpu.edit.lookup import scan_lookup, spans
        from kmatch.engine.host.pams import find_anchors

        workers = self._workers
        query, constraints, strands, panel, seeds = tables
        if seeds:
            text, items = view.text, spans(view.shown)
            return self._start(
                workers, scan_lookup, items, capacity, text, view, constraints, seeds, strands
            )
        sites = find_anchors(view, query, constraints)
        text = window_text(self, view, sites, panel.letters)
        return self._start(workers, scan_anchors, tiles(text), capacity, text, query, sites, panel)

    def start_edit(
        self, text: Text, query: DifferenceQuery, filtering: bool | None, capacity: int
    ) -> "Scan":
        from kmatch.engine.cpu.edit.filter import choose
        from kmatch.engine.cpu.edit.scan import scan_edit, stretches

        queries = len(query.limits)
        parts = stretches(queries, query.reach, text.rows, self.threads)
        budgets = np.zeros(queries, np.int64)
        if filtering is not False:
            budgets = choose(text, query, parts, bool(filtering), (CPU.recurrence, CPU.pieces))
        items, workers = parts * queries, self._workers_for(text, queries)
        return self._start(workers, scan_edit, items, capacity, text, query, budgets, parts)

    def start_smallest(self, text: Text, reading: ReadingArrays, bounds: Longs) -> Done[Longs]:
        from kmatch.engine.cpu.edit.scan import smallest_edit, stretches

        queries = len(bounds)
        reach = int((np.diff(reading.begins) + bounds).max())
        parts = stretches(queries, max(reach, 1), text.rows, self.threads)
        lowest = np.empty((parts, queries), np.int64)
        with self._timed(text.rows):
            workers = self._workers_for(text, queries)
            workers.run(smallest_edit, parts * queries, text, reading, bounds, parts, lowest)
        return Done(lowest.min(axis=0))

    def extend_primers(
        self,
        starts: Starts,
        columns: Bytes,
        k: int,
        on_progress: Callable[[float], object] | None = None,
        sizes: Any = None,
    ) -> WorkDone:
        from kmatch.engine.cpu.primer.extend import SIZES, extend_primers

        with self._timed():
            threads, sizes = self.threads, sizes or SIZES
            done = extend_primers(starts, columns, k, on_progress, threads=threads, sizes=sizes)
        return self._noted(done)

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
    ) -> "Scan":
        buffer = make_buffer(capacity)
        start = partial(workers.start, kernel, items, text, *arguments, buffer)
        with self._timed(text.rows):
            scan = Scan(buffer, items, start)
            if self._watch:
                scan.wait()
        return scan


class Scan:
    """A scan of a chunk under way; start(after=function) starts its Job."""

    def __init__(self, buffer: HitBuffer, items: int, start: Callable[..., Job]) -> None:
        self._buffer, self._items = buffer, items
        self._found: Found | None = None
        self._job = start(after=self._sort)

    def _sort(self) -> None:
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
