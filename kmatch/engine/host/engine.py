"""What every engine does on the CPU: hits read back from the planes, and their alignments."""

from contextlib import nullcontext

import numba

from kmatch.engine.choice import expected_seconds
from kmatch.engine.host.sharing import slabs
from kmatch.engine.host.stopwatch import Stopwatch
from kmatch.engine.host.workers import Workers


class HostEngine:
    """The part of an engine that runs on `threads` threads of the CPU, at most one a core; None
    means all cores. See `kmatch.engine.protocol.Engine`.

    work: the Work from which the engine foretells its time, or None.
    """

    name: str

    def __init__(self, threads=None, work=None):
        self.cores = numba.config.NUMBA_NUM_THREADS
        self.threads = min(threads or self.cores, self.cores)
        self.expected = expected_seconds(self.name, work, self.threads)
        self._workers = Workers(self.threads)
        self._watch = None

    def time_kernels(self):
        self._watch = Stopwatch()
        return self._watch

    def _timed(self, rows=0):
        """A context whose time is that of kernels, if they are timed; rows: of the text."""
        if self._watch is None:
            return nullcontext()
        self._watch.rows = rows
        return self._watch.timing()

    def _noted(self, done):
        """The WorkDone of a search for primers."""
        if self._watch:
            self._watch.done.append(done)
        return done

    def read_text(self, text, letters):
        from kmatch.engine.host.letters import read_text

        self._workers.run(read_text, text.words, text, letters)

    def read_sites(self, text, letters, positions, minus, length, windows):
        from kmatch.engine.host.sites import read_sites

        items, sites = slabs(len(positions)), (positions, minus, length)
        self._workers.run(read_sites, items, text, letters, *sites, windows)

    def align_gapless(self, text, windows, written, columns):
        from kmatch.engine.host.alignments import align_gapless

        items = slabs(len(windows.position))
        self._workers.run(align_gapless, items, text, windows, written, columns)

    def profiles(self, reading):
        from kmatch.engine.host.blocks import profiles

        return profiles(reading)

    def trace(self, text, letters, query, ends, traced, columns):
        from kmatch.engine.host.trace import trace

        items = slabs(len(ends.position))
        self._workers.run(trace, items, text, letters, query, ends, traced, columns)

    def read_stretch(self, view, position, letters):
        from kmatch.engine.host.constraints import read_stretch

        read_stretch(view, position, letters)

    def stand_beside(self, view, query, constraints, ends, beside):
        from kmatch.engine.host.constraints import stand_beside

        items = slabs(len(beside))
        self._workers.run(stand_beside, items, view, query, constraints, ends, beside)

    def constrained_distances(self, view, query, constraints, ends):
        from kmatch.engine.host.constraints import constrained_distances

        items = slabs(len(ends.position))
        self._workers.run(constrained_distances, items, view, query, constraints, ends)

    def trace_constrained(self, view, query, constraints, ends, traced, columns):
        from kmatch.engine.host.constraints import trace_constrained

        items, search = slabs(len(ends.position)), (view, query, constraints)
        self._workers.run(trace_constrained, items, *search, ends, traced, columns)
