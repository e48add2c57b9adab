"""The CPU's kernels as searches call them, run on the number of threads asked for."""

import numba
import numpy as np

from kmatch.engine.geometry import SPARE, Layout
from kmatch.errors import InputError

TASKS_PER_THREAD = 4  # so that a thread that is done early finds more to do


class CpuEngine:
    """Kernels on `threads` threads, at most one a core; None means all cores.

    `tasks` is the number of parts in which a scan counts its hits, `layout` the chunks it is
    fastest with, `key_room` the room for keys where it has a wish, `place` what runs the kernels.
    """

    name = place = "cpu"
    layout = Layout()
    key_room = ()

    def __init__(self, threads=None, reason=""):
        cores = numba.config.NUMBA_NUM_THREADS
        if threads is not None and threads < 1:
            raise InputError(f"{threads} threads cannot search; give 1 or more")
        self.threads = min(threads or cores, cores)
        self.tasks = TASKS_PER_THREAD * self.threads
        self.description = f"cpu, {self.threads} of {cores} threads ({reason})"

    def _run(self, kernel, arguments):
        before = numba.get_num_threads()
        numba.set_num_threads(self.threads)
        try:
            return kernel(*arguments)
        finally:
            numba.set_num_threads(before)

    def run(self, function, *arguments):
        """function(*arguments), whose kernels run on the engine's threads."""
        return self._run(function, arguments)

    def planes(self, size):
        """uint64[size], uninitialised, for planes that do not change once they were scanned."""
        return np.empty(size, np.uint64)

    def keep(self, planes):
        """Nothing: planes that do not change are as good as others."""

    def fetch(self, planes):
        """Nothing: planes that will be scanned soon are where they are needed."""

    def pack(self, *arguments):
        """See `kmatch.engine.cpu.pack.pack`."""
        from kmatch.engine.cpu.pack import pack

        self._run(pack, arguments)

    def unite(self, planes, plane_words, masks):
        """Planes A, C, G, T with those of IUPAC letters behind them, of the bases in masks."""
        from kmatch.engine.cpu.pack import unite

        if not len(masks):
            return planes
        united = self.planes((4 + len(masks)) * plane_words + SPARE)
        united[: 4 * plane_words] = planes[: 4 * plane_words]
        self._run(unite, (united, plane_words, masks))
        return united

    def scan(self, *arguments):
        """See `kmatch.engine.cpu.hamming.scan`."""
        from kmatch.engine.cpu.hamming import scan

        self._run(scan, arguments)

    def align_gapless(self, *arguments):
        """See `kmatch.engine.cpu.alignments.align_gapless`."""
        from kmatch.engine.cpu.alignments import align_gapless

        self._run(align_gapless, arguments)

    def seeds_pay(self, *arguments):
        """See `kmatch.engine.cpu.seeds.pays`."""
        from kmatch.engine.cpu.seeds import pays

        return pays(*arguments)

    def seed_tables(self, *arguments):
        """See `kmatch.engine.cpu.seeds.seed_tables`."""
        from kmatch.engine.cpu.seeds import seed_tables

        return seed_tables(*arguments)

    def scan_seeds(self, *arguments):
        """See `kmatch.engine.cpu.seeds.scan_seeds`."""
        from kmatch.engine.cpu.seeds import scan_seeds

        self._run(scan_seeds, arguments)

    def sites_pay(self, *arguments):
        """See `kmatch.engine.cpu.sites.pays`."""
        from kmatch.engine.cpu.sites import pays

        return pays(*arguments)

    def read_sites(self, *arguments):
        """See `kmatch.engine.cpu.sites.read_sites`."""
        from kmatch.engine.cpu.sites import read_sites

        self._run(read_sites, arguments)

    def read_text(self, *arguments):
        """See `kmatch.engine.cpu.letters.read_text`."""
        from kmatch.engine.cpu.letters import read_text

        self._run(read_text, arguments)

    def filter_edit(self, *arguments):
        """See `kmatch.engine.cpu.edit_filter.filter_edit`."""
        from kmatch.engine.cpu.edit_filter import filter_edit

        return self._run(filter_edit, (*arguments, self.tasks))

    def scan_edit(self, *arguments):
        """See `kmatch.engine.cpu.edit.scan_edit`."""
        from kmatch.engine.cpu.edit import scan_edit

        self._run(scan_edit, arguments)

    def smallest_edit(self, planes, words, *arguments):
        """See `kmatch.engine.cpu.edit.smallest_edit`; returns int64[Q], over the whole chunk."""
        from kmatch.engine.cpu.edit import smallest_edit
        from kmatch.engine.cpu.vectors import WORDS

        bounds = arguments[-1]
        lowest = np.empty((len(bounds), words // WORDS), np.int64)
        self._run(smallest_edit, (planes, words, *arguments, lowest))
        return lowest.min(axis=1)

    def profiles(self, letters, begins, bases):
        """See `kmatch.engine.cpu.blocks.profiles`."""
        from kmatch.engine.cpu.blocks import profiles

        return profiles(letters, begins, bases)

    def trace(self, *arguments):
        """See `kmatch.engine.cpu.trace.trace`."""
        from kmatch.engine.cpu.trace import trace

        self._run(trace, arguments)

    def extend_primers(self, *arguments, **options):
        """See `kmatch.engine.cpu.primer.extend_primers`."""
        from kmatch.engine.cpu.primer import extend_primers

        return extend_primers(*arguments, threads=self.threads, **options)
