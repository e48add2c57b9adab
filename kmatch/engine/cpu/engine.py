"""The CPU's kernels as searches call them, run on the number of threads asked for."""

from functools import partial
from typing import Any

import numba
import numpy as np

from kmatch.engine.cpu.bits.buffer import written
from kmatch.engine.geometry import SPARE, Layout
from kmatch.engine.hits import Found, make_buffer
from kmatch.engine.host.engine import HostEngine

LAYOUT = Layout()
CAPACITY = 1 << 20  # hit codes of a chunk: 8 MB, and as much while they are sorted


class CpuEngine(HostEngine):
    """An Engine, with SeedLookup and SiteChoice (see `kmatch.engine.protocol`).

    threads: at most one a core, None for all cores; reason: why the CPU was chosen; work: see
    HostEngine. What begins with `start_` goes on while the caller does other things.
    """

    name = place = "cpu"

    def __init__(self, threads: int | None = None, reason: str = "", work: Any = None) -> None:
        super().__init__(threads, work)
        self.layout = LAYOUT.shared_by(self.threads)
        self.capacity = CAPACITY
        self.description = f"cpu, {self.threads} of {self.cores} threads ({reason})"

    def run(self, function, *arguments):
        """function(*arguments), whose parallel kernels run on the engine's threads."""
        before = numba.get_num_threads()
        numba.set_num_threads(self.threads)
        try:
            return function(*arguments)
        finally:
            numba.set_num_threads(before)

    def planes(self, size):
        return np.empty(size, np.uint64)

    def keep(self, planes):
        """Nothing: planes that do not change are as good as others."""

    def fetch(self, planes):
        """Nothing: planes that will be scanned soon are where they are needed."""

    def pack(self, letters, text):
        from kmatch.engine.cpu.text.pack import pack_by

        pack_by(self._workers, letters, text)

    def unite(self, text, masks):
        from kmatch.engine.cpu.text.pack import unite

        if not len(masks):
            return text
        united = self.planes((4 + len(masks)) * text.plane_words + SPARE)
        united[: 4 * text.plane_words] = text.planes[: 4 * text.plane_words]
        unite(united, text.plane_words, masks)
        return text._replace(planes=united)

    def start_scan(self, text, query, k, capacity):
        from kmatch.engine.cpu.hamming.scan import scan, tiles

        return self._start(scan, tiles(text.words, text.rows), capacity, text, query, k)

    def seeds_pay(self, codes, k, queries):
        from kmatch.engine.cpu.hamming.seeds import pays

        return pays(codes, k, queries)

    def seed_tables(self, codes, ranks, exact, k):
        from kmatch.engine.cpu.hamming.seeds import seed_tables

        return seed_tables(codes, ranks, exact, k)

    def start_seeds(self, text, tables, k, capacity):
        from kmatch.engine.cpu.hamming.seeds import blocks, scan_seeds

        return self._start(scan_seeds, blocks(text.words, text.rows), capacity, text, tables, k)

    def sites_pay(self, queries, strands, share):
        from kmatch.engine.host.sites import pays

        return pays(queries, strands, share)

    def start_edit(self, text, query, filtering, capacity):
        from kmatch.engine.cpu.edit.filter import choose
        from kmatch.engine.cpu.edit.scan import scan_edit, stretches

        queries = len(query.limits)
        budgets = np.zeros(queries, np.int64)
        if filtering is not False:
            budgets = choose(text, query, bool(filtering))
        parts = stretches(queries, query.reach, text.rows, self.threads)
        return self._start(scan_edit, parts * queries, capacity, text, query, budgets, parts)

    def smallest_edit(self, text, reading, bounds):
        from kmatch.engine.cpu.edit.scan import smallest_edit, stretches

        queries = len(bounds)
        reach = int((np.diff(reading.begins) + bounds).max())
        parts = stretches(queries, max(reach, 1), text.rows, self.threads)
        lowest = np.empty((parts, queries), np.int64)
        with self._timed(text.rows):
            self._workers.run(smallest_edit, parts * queries, text, reading, bounds, parts, lowest)
        return lowest.min(axis=0)

    def extend_primers(self, starts, columns, k, on_progress=None, sizes=None):
        from kmatch.engine.cpu.primer.extend import SIZES, extend_primers

        with self._timed():
            options = {"threads": self.threads, "sizes": sizes or SIZES}
            done = extend_primers(starts, columns, k, on_progress, **options)
        return self._noted(done)

    def _start(self, kernel, items, capacity, text, *arguments):
        scan = Scan(make_buffer(capacity), items)
        start = partial(self._workers.start, kernel, items, text, *arguments, scan.buffer)
        with self._timed(text.rows):
            scan.job = start(after=scan.sort)
            if self._watch:
                scan.job.wait()
        return scan


class Scan:
    """A scan of a chunk under way, as a Job of the workers."""

    def __init__(self, buffer, items):
        self.buffer, self.job = buffer, None
        self._items, self._codes = items, buffer.codes[:0]

    def sort(self):
        """Sort the codes, once all are there."""
        from kmatch.engine.host.sorting import sort_codes

        codes = written(self.buffer)
        self._codes = codes[: sort_codes(codes, np.empty_like(codes))]

    def found(self):
        self.job.wait()
        _, lost, begun = self.buffer.tally.tolist()
        return Found(self._codes, lost, (begun or self._items) / self._items)

    def stop(self):
        self.job.stop()
