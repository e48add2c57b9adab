"""Scans under way on a GPU, and the device memory that they write to."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Protocol

import numpy as np

from kmatch.arrays import Longs
from kmatch.engine.cuda.bits.buffer import HitBuffer
from kmatch.engine.cuda.edit.filter import FIRST_SURVIVORS, Filter, worthwhile
from kmatch.engine.cuda.edit.pieces import Survivors
from kmatch.engine.cuda.gpu import driver
from kmatch.engine.cuda.gpu.device import Gpu
from kmatch.engine.cuda.gpu.driver import DeviceArray, Stream
from kmatch.engine.geometry import Text
from kmatch.engine.hits import Found
from kmatch.errors import DeviceError


class Arrays:
    """Arrays of int64 on a GPU that one scan after another writes to."""

    def __init__(self, gpu: Gpu) -> None:
        self._gpu = gpu
        self._free: list[DeviceArray] = []

    def take(self, size: int) -> DeviceArray:
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

    def give(self, array: DeviceArray) -> None:
        """Take an array back."""
        self._free.append(array)


class ScanningEngine(Protocol):
    """What a scan uses of the CudaEngine, see there."""

    arrays: Arrays
    timing: Callable[[Stream], AbstractContextManager[object]]

    @property
    def stream(self) -> Stream: ...
    def new_count(self) -> DeviceArray: ...
    def take_host_count(self) -> Longs: ...
    def give_host_count(self, count: Longs) -> None: ...
    def copy_back(self, array: DeviceArray, codes: Longs) -> None: ...


class Scan:
    """A scan under way, for `capacity` hit codes.

    launch(buffer) puts its kernels into the GPU's stream.
    """

    def __init__(
        self, engine: ScanningEngine, capacity: int, launch: Callable[[HitBuffer], object]
    ) -> None:
        self._engine, self._capacity = engine, capacity
        self._codes = engine.arrays.take(capacity)
        self._buffer = HitBuffer(self._codes[:capacity], engine.new_count())
        self._count = engine.take_host_count()
        with engine.timing(engine.stream):
            launch(self._buffer)
        self._finish_launch()

    def _finish_launch(self) -> None:
        self._buffer.count.copy_to_host(self._count, stream=self._engine.stream)
        self._done = driver.mark(self._engine.stream)

    def found(self) -> Found:
        """What the scan found; waits until it is done."""
        self._done.synchronize()
        many = int(self._count[0])
        codes = np.empty(min(many, self._capacity), np.int64)
        if many:
            self._engine.copy_back(self._codes, codes)
        self._give_back()
        codes.sort()
        return Found(codes, max(many - self._capacity, 0), 1.0)

    def stop(self) -> None:
        """Give the scan up; returns when the GPU is done with it."""
        self._done.synchronize()
        self._give_back()

    def _give_back(self) -> None:
        self._engine.arrays.give(self._codes)
        self._engine.give_host_count(self._count)
        del self._codes, self._buffer, self._count


class Smallest:
    """A search for the smallest distances under way; lowest: int64[Q] on the GPU."""

    def __init__(self, engine: ScanningEngine, lowest: DeviceArray) -> None:
        self._engine, self._lowest = engine, lowest
        self._done = driver.mark(engine.stream)

    def found(self) -> Longs:
        """The distances; waits until they are there."""
        found: Longs = self._lowest.copy_to_host(stream=self._engine.stream)
        self._engine.stream.synchronize()
        return found

    def stop(self) -> None:
        """Give it up; returns when the GPU is done with it."""
        self._done.synchronize()


class FilteredScan(Scan):
    """A search for differences that filters some queries and scans for the rest.

    text: with planes on the GPU; start(chosen, buffer) starts the scan for some queries. Some codes
    come twice.
    """

    def __init__(
        self,
        engine: ScanningEngine,
        capacity: int,
        text: Text,
        queries: Filter,
        start: Callable[[Longs, HitBuffer], object],
    ) -> None:
        self._text, self._queries, self._start = text, queries, start
        self._kept: DeviceArray = None
        self._survivors: Survivors | None = None
        super().__init__(engine, capacity, self._launch)

    def _launch(self, buffer: HitBuffer) -> None:
        budgets = self._queries.budgets
        chosen, rest = np.flatnonzero(budgets), np.flatnonzero(budgets == 0)
        self._filter(chosen, FIRST_SURVIVORS, buffer)
        if len(rest):
            self._start(rest, buffer)

    def _filter(self, chosen: Longs, most: int, buffer: HitBuffer) -> None:
        """Filter the chosen queries, with memory for `most` survivors, or scan without that."""
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

    def found(self) -> Found:
        while (survivors := self._survivors) is not None:
            stream = self._engine.stream
            counts = survivors.counts.copy_to_host(stream=stream)
            count = survivors.count.copy_to_host(stream=stream)
            stream.synchronize()
            if count[0] <= len(survivors.codes):
                break
            self._again(counts)
        return super().found()

    def _again(self, counts: Longs) -> None:
        """Filter again where it pays, with memory for all survivors, and scan for the rest."""
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

    def _give_survivors(self) -> None:
        if self._kept is not None:
            self._engine.arrays.give(self._kept)
            self._kept = self._survivors = None

    def _give_back(self) -> None:
        self._give_survivors()
        super()._give_back()
