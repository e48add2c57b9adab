"""Scans under way on a GPU, and the device memory that they write to."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Protocol

import numpy as np

from kmatch.arrays import Longs
from kmatch.engine.cuda.bits.buffer import HitBuffer
from kmatch.engine.cuda.gpu import driver
from kmatch.engine.cuda.gpu.device import Gpu
from kmatch.engine.cuda.gpu.driver import DeviceArray, Stream
from kmatch.engine.hits import Found
from kmatch.engine.host.sorting import found_in
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
    threads: int

    @property
    def stream(self) -> Stream: ...
    def use(self) -> None: ...
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
        self._engine.use()  # it may have been started by another thread
        self._done.synchronize()
        many = int(self._count[0])
        codes = np.empty(min(many, self._capacity), np.int64)
        if many:
            self._engine.copy_back(self._codes, codes)
        self._give_back()
        return found_in(codes, max(many - self._capacity, 0), 1.0, self._engine.threads)

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
