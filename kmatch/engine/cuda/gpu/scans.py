"""Scans under way on a GPU, and the device memory that they write to."""

import numpy as np

from kmatch.engine.cuda.bits.buffer import HitBuffer
from kmatch.engine.cuda.edit.filter import FIRST_SURVIVORS, worthwhile
from kmatch.engine.cuda.edit.pieces import Survivors
from kmatch.engine.cuda.gpu import driver
from kmatch.engine.hits import Found
from kmatch.errors import DeviceError


class Arrays:
    """Arrays of int64 on a GPU that one scan after another writes to."""

    def __init__(self, gpu):
        self._gpu = gpu
        self._free = []

    def take(self, size):
        """int64[size or more], for the caller alone until it is given back."""
        fitting = [array for array in self._free if len(array) >= size]
        if not fitting:
            try:
                return self._gpu.array(size, np.int64)
            except DeviceError:
                if not self._free:
                    raise
                self._free.clear()
                return self._gpu.array(size, np.int64)
        best = min(fitting, key=len)
        self._free = [array for array in self._free if array is not best]
        return best

    def give(self, array):
        """Take an array back."""
        self._free.append(array)


class Scan:
    """A scan under way, for `capacity` hit codes; `launch(HitBuffer)` has put its kernels into the
    GPU's stream."""

    def __init__(self, engine, capacity, launch):
        self._engine, self._capacity = engine, capacity
        self._codes = engine.arrays.take(capacity)
        self._buffer = HitBuffer(self._codes[:capacity], engine.new_count())
        self._count = engine.take_host_count()
        with engine.timing(engine.stream):
            launch(self._buffer)
        self._finish_launch()

    def _finish_launch(self):
        self._buffer.count.copy_to_host(self._count, stream=self._engine.stream)
        self._done = driver.mark(self._engine.stream)

    def found(self):
        """What it found, once it is done: a Found."""
        self._done.synchronize()
        many = int(self._count[0])
        codes = np.empty(min(many, self._capacity), np.int64)
        if many:
            self._engine.copy_back(self._codes, codes)
        self._give_back()
        codes.sort()
        return Found(codes, max(many - self._capacity, 0), 1.0)

    def stop(self):
        """Give the scan up."""
        self._done.synchronize()
        self._give_back()

    def _give_back(self):
        self._engine.arrays.give(self._codes)
        self._engine.give_host_count(self._count)
        self._codes = self._buffer = self._count = None


class FilteredScan(Scan):
    """A search for differences of which some queries are filtered and the rest is scanned.

    text: Text on the GPU; queries: Filter; start(chosen, buffer) starts the scan of some queries.
    Some codes come twice.
    """

    def __init__(self, engine, capacity, text, queries, start):
        self._text, self._queries, self._start = text, queries, start
        self._kept = self._survivors = None
        super().__init__(engine, capacity, self._launch)

    def _launch(self, buffer):
        budgets = self._queries.budgets
        chosen, rest = np.flatnonzero(budgets), np.flatnonzero(budgets == 0)
        self._filter(chosen, FIRST_SURVIVORS, buffer)
        if len(rest):
            self._start(rest, buffer)

    def _filter(self, chosen, most, buffer):
        """Filter the chosen queries, with memory for so many survivors; else scan for them."""
        engine, queries = self._engine, self._queries
        self._chosen = chosen
        try:
            self._kept = engine.arrays.take(most)
        except DeviceError:  # the scan needs less
            self._chosen = chosen[:0]
            self._start(chosen, buffer)
            return
        counts = driver.on_device(np.zeros(len(queries.budgets), np.int64), engine.stream)
        self._survivors = Survivors(counts, self._kept[:most], engine.new_count())
        queries.run(self._text, chosen, self._survivors, buffer)

    def found(self):
        """What it found, once it is done: a Found."""
        while len(self._chosen):
            survivors, stream = self._survivors, self._engine.stream
            counts = survivors.counts.copy_to_host(stream=stream)
            count = survivors.count.copy_to_host(stream=stream)
            stream.synchronize()
            if count[0] <= len(survivors.codes):
                break
            self._again(counts)
        return super().found()

    def _again(self, counts):
        """Filter the queries that are worth it with memory for all survivors; scan for others."""
        chosen = self._chosen
        self._give_survivors()
        again = worthwhile(chosen, counts, self._queries.budgets)
        rest = np.setdiff1d(chosen, again)
        with self._engine.timing(self._engine.stream):
            if len(rest):
                self._start(rest, self._buffer)
            self._chosen = again
            if len(again):
                self._filter(again, max(int(counts[again].sum()), 1), self._buffer)
        self._finish_launch()

    def _give_survivors(self):
        if self._kept is not None:
            self._engine.arrays.give(self._kept)
            self._kept = self._survivors = None

    def _give_back(self):
        self._give_survivors()
        super()._give_back()
