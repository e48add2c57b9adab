"""Scans under way on a GPU, and the device memory that they write to."""

import numpy as np

from kmatch.engine.cuda.edit.filter import FIRST_ROOM, worthwhile
from kmatch.engine.cuda.gpu import driver
from kmatch.engine.hits import Found
from kmatch.errors import DeviceError


class Rooms:
    """Arrays of int64 on a GPU that one scan after another writes to."""

    def __init__(self, gpu):
        self._gpu = gpu
        self._free = []

    def take(self, size):
        """int64[size or more], for the caller alone until it is given back."""
        fitting = [room for room in self._free if len(room) >= size]
        if not fitting:
            try:
                return self._gpu.room(size, np.int64)
            except DeviceError:
                if not self._free:
                    raise
                self._free.clear()
                return self._gpu.room(size, np.int64)
        best = min(fitting, key=len)
        self._free = [room for room in self._free if room is not best]
        return best

    def give(self, room):
        """Take an array back."""
        self._free.append(room)


class Scan:
    """A scan under way; `launch(codes, found)` has put its kernels into the GPU's stream.

    codes: int64[capacity] and found: int64[1], 0 before, on the GPU.
    """

    def __init__(self, engine, capacity, launch):
        self._engine, self._capacity = engine, capacity
        self._room = engine.rooms.take(capacity)
        self._count, self._told = engine.counter(), engine.told()
        with engine.timing(engine.stream):
            launch(self._room[:capacity], self._count)
        self._finish_launch()

    def _finish_launch(self):
        self._count.copy_to_host(self._told, stream=self._engine.stream)
        self._done = driver.mark(self._engine.stream)

    def found(self):
        """What it found, once it is done: a Found."""
        self._done.synchronize()
        many = int(self._told[0])
        codes = np.empty(min(many, self._capacity), np.int64)
        if many:
            self._engine.copy_back(self._room, codes)
        self._give_back()
        codes.sort()
        return Found(codes, max(many - self._capacity, 0), 1.0)

    def stop(self):
        """Give the scan up."""
        self._done.synchronize()
        self._give_back()

    def _give_back(self):
        self._engine.rooms.give(self._room)
        self._engine.untold(self._told)
        self._room = self._told = None


class FilteredScan(Scan):
    """A search for differences of which some queries are filtered and the rest is scanned.

    text: uint64, the planes of a chunk on the GPU; queries: Filter; start(chosen, codes, found)
    starts the scan of some queries. Some codes come twice.
    """

    def __init__(self, engine, capacity, text, queries, start):
        self._text, self._queries, self._start = text, queries, start
        self._survivors = None
        super().__init__(engine, capacity, self._launch)

    def _launch(self, codes, found):
        budgets = self._queries.budgets
        chosen, rest = np.flatnonzero(budgets), np.flatnonzero(budgets == 0)
        self._filter(chosen, FIRST_ROOM, codes, found)
        if len(rest):
            self._start(rest, codes, found)

    def _filter(self, chosen, survivors, codes, found):
        """Filter the chosen queries, with room for so many survivors; else scan for them."""
        engine, queries = self._engine, self._queries
        self._chosen, self._most = chosen, survivors
        try:
            self._survivors = engine.rooms.take(survivors)
        except DeviceError:  # the scan needs less
            self._chosen = chosen[:0]
            self._start(chosen, codes, found)
            return
        counts = driver.on_device(np.zeros(len(queries.budgets), np.int64), engine.stream)
        self._tallies = counts, engine.counter()
        room = self._survivors[:survivors]
        queries.run(self._text, chosen, counts, room, self._tallies[1], codes, found)

    def found(self):
        """What it found, once it is done: a Found."""
        while len(self._chosen):
            counts, many = (
                tally.copy_to_host(stream=self._engine.stream) for tally in self._tallies
            )
            self._engine.stream.synchronize()
            if many[0] <= self._most:
                break
            self._again(counts)
        return super().found()

    def _again(self, counts):
        """Filter the queries that are worth it with room for all survivors, and scan for others."""
        chosen, codes = self._chosen, self._room[: self._capacity]
        self._give_survivors()
        again = worthwhile(chosen, counts, self._queries.budgets)
        rest = np.setdiff1d(chosen, again)
        with self._engine.timing(self._engine.stream):
            if len(rest):
                self._start(rest, codes, self._count)
            self._chosen = again
            if len(again):
                self._filter(again, max(int(counts[again].sum()), 1), codes, self._count)
        self._finish_launch()

    def _give_survivors(self):
        if self._survivors is not None:
            self._engine.rooms.give(self._survivors)
            self._survivors = None

    def _give_back(self):
        self._give_survivors()
        super()._give_back()
