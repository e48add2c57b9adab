"""The CPU's kernels as searches call them, run on the number of threads asked for."""

from contextlib import nullcontext
from functools import partial

import numba
import numpy as np

from kmatch.engine.cpu.buffer import written
from kmatch.engine.cpu.sharing import slabs
from kmatch.engine.cpu.workers import Workers
from kmatch.engine.geometry import SPARE, Layout
from kmatch.engine.hits import Found, make_buffer
from kmatch.errors import InputError

CAPACITY = 1 << 20  # hit codes of a chunk: 8 MB, and as much while they are sorted


class CpuEngine:
    """Kernels on `threads` threads, at most one a core; None means all cores.

    `layout` is the chunks it is fastest with, `capacity` the hit codes of a chunk that it has room
    for, `place` what runs the kernels. What begins with `start_` gives a scan that goes on while
    the caller does other things.
    """

    name = place = "cpu"
    layout = Layout()
    capacity = CAPACITY

    def __init__(self, threads=None, reason=""):
        cores = numba.config.NUMBA_NUM_THREADS
        if threads is not None and threads < 1:
            raise InputError(f"{threads} threads cannot search; give 1 or more")
        self.threads = min(threads or cores, cores)
        self.layout = type(self).layout.shared_by(self.threads)
        self._workers = Workers(self.threads)
        self.expected = None  # seconds that the search will take
        self.timing = None  # scans run in timing() and are waited for, which a benchmark sets
        self.description = f"cpu, {self.threads} of {cores} threads ({reason})"

    def run(self, function, *arguments):
        """function(*arguments), whose parallel kernels run on the engine's threads."""
        before = numba.get_num_threads()
        numba.set_num_threads(self.threads)
        try:
            return function(*arguments)
        finally:
            numba.set_num_threads(before)

    def planes(self, size):
        """uint64[size], uninitialised, for planes that do not change once they were scanned."""
        return np.empty(size, np.uint64)

    def keep(self, planes):
        """Nothing: planes that do not change are as good as others."""

    def fetch(self, planes):
        """Nothing: planes that will be scanned soon are where they are needed."""

    def pack(self, letters, words, rows, plane_rows, planes):
        """See `kmatch.engine.cpu.pack.pack`."""
        from kmatch.engine.cpu.pack import blocks, pack

        items = blocks(words, plane_rows)
        self._workers.run(pack, items, letters, words, rows, plane_rows, planes)

    def unite(self, planes, plane_words, masks):
        """Planes A, C, G, T with those of IUPAC letters behind them, of the bases in masks."""
        from kmatch.engine.cpu.pack import unite

        if not len(masks):
            return planes
        united = self.planes((4 + len(masks)) * plane_words + SPARE)
        united[: 4 * plane_words] = planes[: 4 * plane_words]
        unite(united, plane_words, masks)
        return united

    def start_scan(self, text, queries, k, capacity):
        """A Scan for windows within k mismatches; see `kmatch.engine.cpu.hamming.scan`."""
        from kmatch.engine.cpu.hamming import scan, tiles

        return self._start(scan, tiles(text[1], text[2]), capacity, text, queries, k)

    def start_seeds(self, text, tables, k, capacity):
        """The same by look-up; see `kmatch.engine.cpu.seeds.scan_seeds`."""
        from kmatch.engine.cpu.seeds import blocks, scan_seeds

        return self._start(scan_seeds, blocks(text[1], text[2]), capacity, text, tables, k)

    def _start(self, kernel, items, capacity, *arguments):
        scan = Scan(make_buffer(capacity), items)
        start = partial(self._workers.start, kernel, items, *arguments, scan.buffer)
        if self.timing:
            with self.timing():
                scan.job = start(after=scan.sort)
                scan.job.wait()
        else:
            scan.job = start(after=scan.sort)
        return scan

    def align_gapless(self, chunk, positions, *arguments):
        """See `kmatch.engine.cpu.alignments.align_gapless`."""
        from kmatch.engine.cpu.alignments import align_gapless

        self._workers.run(align_gapless, slabs(len(positions)), chunk, positions, *arguments)

    def seeds_pay(self, *arguments):
        """See `kmatch.engine.cpu.seeds.pays`."""
        from kmatch.engine.cpu.seeds import pays

        return pays(*arguments)

    def seed_tables(self, *arguments):
        """See `kmatch.engine.cpu.seeds.seed_tables`."""
        from kmatch.engine.cpu.seeds import seed_tables

        return seed_tables(*arguments)

    def sites_pay(self, *arguments):
        """See `kmatch.engine.cpu.sites.pays`."""
        from kmatch.engine.cpu.sites import pays

        return pays(*arguments)

    def read_sites(self, text, letters, positions, *arguments):
        """See `kmatch.engine.cpu.sites.read_sites`."""
        from kmatch.engine.cpu.sites import read_sites

        items = slabs(len(positions))
        self._workers.run(read_sites, items, text, letters, positions, *arguments)

    def read_text(self, text, letters):
        """See `kmatch.engine.cpu.letters.read_text`."""
        from kmatch.engine.cpu.letters import read_text

        self._workers.run(read_text, text[1], text, letters)

    def start_edit(self, text, query, filtering, capacity):
        """A Scan for ends within k differences; see `kmatch.engine.cpu.edit.scan_edit`.

        query: DifferenceQuery; filtering: True or False where the engine is not to choose.
        """
        from kmatch.engine.cpu.edit import scan_edit, stretches
        from kmatch.engine.cpu.edit_filter import choose

        queries = len(query.limits)
        budgets = np.zeros(queries, np.int64)
        if filtering is not False:
            planes = len(query.letters.bases)
            budgets = choose(text, query.reading, query.limits, planes, bool(filtering))
        parts = stretches(queries, query.reach, text[2], self.threads)
        plan = (query.reading, query.limits, budgets, query.profile, query.k, parts)
        return self._start(scan_edit, parts * queries, capacity, text, *plan)

    def smallest_edit(self, text, reading, bounds):
        """See `kmatch.engine.cpu.edit.smallest_edit`; returns int64[Q], over the whole chunk."""
        from kmatch.engine.cpu.edit import smallest_edit, stretches

        queries, rows = len(bounds), text[2]
        reach = int((np.diff(reading[1]) + bounds).max())
        parts = stretches(queries, max(reach, 1), rows, self.threads)
        lowest = np.empty((parts, queries), np.int64)
        with self.timing() if self.timing else nullcontext():
            self._workers.run(smallest_edit, parts * queries, text, reading, bounds, parts, lowest)
        return lowest.min(axis=0)

    def profiles(self, letters, begins, bases):
        """See `kmatch.engine.cpu.blocks.profiles`."""
        from kmatch.engine.cpu.blocks import profiles

        return profiles(letters, begins, bases)

    def trace(self, chunk, letters, profile, reading, hits, *arguments):
        """See `kmatch.engine.cpu.trace.trace`."""
        from kmatch.engine.cpu.trace import trace

        items = slabs(len(hits[0]))
        self._workers.run(trace, items, chunk, letters, profile, reading, hits, *arguments)

    def extend_primers(self, *arguments, **options):
        """See `kmatch.engine.cpu.primer.extend_primers`."""
        from kmatch.engine.cpu.primer import extend_primers

        return extend_primers(*arguments, threads=self.threads, **options)


class Scan:
    """A scan of a chunk under way, as a Job of the workers."""

    def __init__(self, buffer, items):
        self.buffer, self.job = buffer, None
        self._items, self._codes = items, buffer.codes[:0]

    def sort(self):
        """Sort the codes, once all are there."""
        from kmatch.engine.cpu.sorting import sort_codes

        codes = written(self.buffer)
        self._codes = codes[: sort_codes(codes, np.empty_like(codes))]

    def found(self):
        """What it found, once it is done: a Found."""
        self.job.wait()
        _, lost, begun = self.buffer.tally.tolist()
        return Found(self._codes, lost, (begun or self._items) / self._items)

    def stop(self):
        """Give the scan up."""
        self.job.stop()
