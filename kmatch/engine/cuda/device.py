"""One GPU: its queues of work, the chunks that stay in its memory, and work under way."""

from __future__ import annotations

import weakref
from collections import OrderedDict
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext, suppress
from functools import cache
from threading import RLock

import numpy as np
from numpy.typing import DTypeLike

from kmatch.arrays import Bytes, Longs
from kmatch.engine.cuda import driver
from kmatch.engine.cuda.driver import DeviceArray, Event
from kmatch.engine.cuda.text import unite
from kmatch.engine.cuda.words import HitBuffer
from kmatch.engine.engine import UnderWay
from kmatch.engine.geometry import SPARE, Text
from kmatch.errors import DeviceError


class Gpu:
    """A GPU with one stream to compute in and another to copy to it at the same time.

    Planes that were searched stay in device memory as long as they exist on the host, so that the
    next search need not copy them; where memory is short, the least recently used are dropped.
    """

    def __init__(self, number: int) -> None:
        driver.open_device(number)
        self.number = number
        self.memory = driver.memory()[1]  # bytes, free or not
        self.watch: driver.Stopwatch | None = None  # of kernels, where they are timed
        self.stream = driver.cuda.stream()
        self._copying = driver.cuda.stream()
        self._results = driver.cuda.stream()  # copies results while the next scan runs
        # By the id of planes on the host, the last used ones last: their copy, the event that it is
        # complete, and the masks of its planes behind A, C, G and T.
        self._kept: OrderedDict[int, tuple[DeviceArray, Event, bytes]] = OrderedDict()
        self.lock = RLock()  # searches of several threads may share a GPU

    def use(self) -> None:
        """Make this GPU the current one of the calling thread."""
        driver.cuda.select_device(self.number)

    def timed(self, frees: bool = False) -> AbstractContextManager[None]:
        """Return a context in which kernels are launched; times them where that is wanted.

        frees: see `Stopwatch.timing`.
        """
        return self.watch.timing(self.stream, frees) if self.watch else nullcontext()

    def copy_back(self, array: DeviceArray) -> Longs:
        """Return a copy on the host of an array on the GPU that no kernel changes any more."""
        copy: Longs = array.copy_to_host(stream=self._results)
        self._results.synchronize()
        return copy

    def text(self, text: Text, masks: Bytes) -> Text:
        """Return the same Text on the GPU, with planes of IUPAC letters behind A, C, G and T;
        masks: uint8[x], the bases of each.

        Planes in pinned memory are copied at full speed and beside other work; from ordinary
        memory the driver makes a copy first.
        """
        planes = text.planes
        wanted = masks.tobytes()
        with self.lock:
            copy, arrived, united = self._kept.pop(id(planes), (None, None, b""))
            if copy is None:
                copy = self.array(planes.shape)
                copy.copy_to_device(planes, stream=self._copying)
                arrived = driver.mark(self._copying)
                weakref.finalize(planes, self._kept.pop, id(planes), None).atexit = False
            arrived.wait(self.stream)
            if wanted and wanted != united:
                bases = copy
                united = wanted
                copy = self.array((4 + len(masks)) * text.plane_words + SPARE)
                unite(bases, text.plane_words, masks, copy, self.stream)
            self._kept[id(planes)] = copy, arrived, united  # the last now
        return text._replace(planes=copy)

    def array(self, shape: int | tuple[int, ...], dtype: DTypeLike = np.uint64) -> DeviceArray:
        """Return an uninitialised array on the GPU, for which planes are dropped where memory is
        short.

        Raises DeviceError where it does not suffice even so.
        """
        while True:
            try:
                return driver.cuda.device_array(shape, dtype, stream=self.stream)
            except Exception as error:
                if not driver.is_lack_of_memory(error):
                    raise
                if not self._kept:
                    raise DeviceError(
                        f"device cuda:{self.number}: out of memory, with "
                        f"{driver.memory()[0]:,} bytes free; use cpu"
                    ) from error
            with suppress(KeyError):  # the last ones may end meanwhile
                self._kept.popitem(last=False)


def start_scan(
    gpu: Gpu, capacity: int, launch: Callable[[HitBuffer], object]
) -> UnderWay[tuple[Longs, int]]:
    """Return a scan for `capacity` hit codes; launch(buffer) puts its kernels into the GPU's
    stream.

    It finds (codes, lost): int64[n] in any order, and the hits that did not fit.
    """
    count = driver.cuda.to_device(np.zeros(1, np.int64), gpu.stream)
    codes = gpu.array(capacity, np.int64)
    with gpu.timed():
        launch(HitBuffer(codes, count))
    done = driver.mark(gpu.stream)

    def found() -> tuple[Longs, int]:
        gpu.use()  # it may have been started by another thread
        done.synchronize()
        total = int(gpu.copy_back(count)[0])
        kept = min(total, capacity)
        numbers = gpu.copy_back(codes[:kept]) if kept else np.empty(0, np.int64)
        return numbers, total - kept

    return UnderWay(found, done.synchronize)


@cache
def open_gpu(number: int) -> Gpu:
    """Return the Gpu of a number. Raises DeviceError where it cannot run kernels."""
    return Gpu(number)
