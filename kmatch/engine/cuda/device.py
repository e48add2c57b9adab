"""One GPU: its queues of work, the chunks that stay in its memory, and scans under way.

A GPU copies at full speed, and while it computes, from pinned memory alone. So threads of the CPU
copy planes in ordinary memory there, the next ones while the previous ones are searched, and each
part is sent on as soon as it has arrived.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from threading import RLock

import numpy as np
from numpy.typing import DTypeLike

from kmatch.arrays import Bytes, Longs, Words
from kmatch.engine.codes import Found, found_in
from kmatch.engine.cuda import driver
from kmatch.engine.cuda.driver import DeviceArray, Event, Stream
from kmatch.engine.cuda.text import pack, spread, spread_text, spreads, unite
from kmatch.engine.cuda.words import HitBuffer
from kmatch.engine.geometry import SPARE, Text
from kmatch.errors import DeviceError

PARTS = 4  # of planes, each copied by a thread
SLOTS = 2  # transfers under way at a time


class Staging:
    """Pinned memory for planes under way.

    stream: of the GPU, in which they are copied.
    """

    def __init__(self, stream: Stream) -> None:
        self._stream = stream
        self._pool = ThreadPoolExecutor(PARTS)
        empty: tuple[Words, Transfer | None] = (np.empty(0, np.uint64), None)
        self._slots = [empty] * SLOTS

    def start(self, planes: Words, copied: DeviceArray) -> Transfer:
        """Begin to copy planes to `copied`, on the GPU; returns the Transfer."""
        pinned, before = self._slots.pop(0)
        if before:
            before.finish()
        if len(pinned) < len(planes):
            granted = driver.pinned(len(planes))  # systems may grant little
            pinned = np.empty(len(planes), np.uint64) if granted is None else granted
        transfer = Transfer(planes, pinned[: len(planes)], copied, self._pool, self._stream)
        self._slots.append((pinned, transfer))
        return transfer


class Transfer:
    """Planes under way to the GPU."""

    def __init__(
        self,
        planes: Words,
        pinned: Words,
        copied: DeviceArray,
        pool: ThreadPoolExecutor,
        stream: Stream,
    ) -> None:
        self._pinned, self._copied, self._stream = pinned, copied, stream
        cuts = np.linspace(0, len(planes), PARTS + 1).astype(int).tolist()
        parts = [slice(*cuts[i : i + 2]) for i in range(PARTS)]
        self._parts = [(part, pool.submit(np.copyto, pinned[part], planes[part])) for part in parts]

    def wait(self, stream: Stream) -> None:
        """Make later work in a stream wait until all has arrived."""
        self._send().wait(stream)

    def finish(self) -> None:
        """Wait until all has arrived."""
        self._send().synchronize()

    def _send(self) -> Event:
        """Send all parts to the GPU, unless they are; returns the event of their arrival."""
        while self._parts:
            part, pinned = self._parts.pop(0)
            pinned.result()
            self._copied[part].copy_to_device(self._pinned[part], stream=self._stream)
            if not self._parts:
                self._sent: Event = driver.mark(self._stream)
        return self._sent


class _Copy:
    """Planes on the GPU.

    planes: uint64, complete when `ready` has occurred; spread: the same with more lanes, once a
    search needed them.
    """

    def __init__(self, planes: DeviceArray, ready: Event | Transfer) -> None:
        self.planes, self.ready = planes, ready
        self.spread: DeviceArray = None


class Gpu:
    """A GPU with one stream to compute in and another to copy to it at the same time.

    Planes that were searched stay in device memory as long as they exist on the host, so that the
    next search need not copy them; where memory is short, the least recently used are dropped.
    """

    def __init__(self, number: int) -> None:
        driver.open_device(number)
        self.number = number
        self.memory = driver.memory()[1]  # bytes, free or not
        self.stream, self._copying = driver.new_stream(), driver.new_stream()
        self._results = driver.new_stream()  # copies results while the next scan runs
        # For hit codes, and how many there are, in pinned memory of the host.
        self._buffers: list[tuple[DeviceArray, Longs]] = []
        # By id of the planes on the host, the last used ones last.
        self._copies: dict[int, _Copy | None] = {}
        # By id of the planes that `unite` made.
        self._united: dict[int, tuple[Text, Bytes]] = {}
        self._pageable: set[int] = set()  # ids of planes in memory that is not pinned
        self._staging = Staging(self._copying)
        self._lock = RLock()  # for buffers, the planes and what fills them

    def use(self) -> None:
        """Make this GPU the current one of the calling thread."""
        driver.use_device(self.number)

    def take_buffer(self, capacity: int) -> tuple[DeviceArray, Longs]:
        """int64[capacity or more] on the GPU and int64[1] in pinned memory of the host, for the
        caller alone until it gives them back."""
        with self._lock:  # searches of several threads may share a GPU
            fitting = [buffer for buffer in self._buffers if len(buffer[0]) >= capacity]
            if fitting:
                best = min(fitting, key=lambda buffer: len(buffer[0]))
                self._buffers = [buffer for buffer in self._buffers if buffer is not best]
                return best
            self._buffers.clear()  # they are too small
        return self.array(capacity, np.int64), driver.pinned_counter()

    def give_buffer(self, buffer: tuple[DeviceArray, Longs]) -> None:
        """Take such a buffer back."""
        with self._lock:
            self._buffers.append(buffer)

    def copy_back(self, array: DeviceArray, codes: Longs) -> None:
        """Fill `codes` on the host from an array on the GPU that no kernel changes any more."""
        array[: len(codes)].copy_to_host(codes, stream=self._results)
        self._results.synchronize()

    def planes(self, size: int) -> Words:
        """uint64[size] on the host for planes that do not change once they were searched."""
        granted = driver.pinned(size)  # systems may grant little
        planes = np.empty(size, np.uint64) if granted is None else granted
        self.remember(planes)
        return planes

    def pack(self, letters: Bytes, text: Text) -> None:
        """Pack letters into the planes of a Text, on the host and on the GPU."""
        planes, stream = self.array(text.planes.shape), self._copying
        source = self.array(letters.shape, letters.dtype)
        source.copy_to_device(letters, stream=stream)
        pack(source, text._replace(planes=planes), stream)
        packed = slice(4 * text.plane_words)  # nothing was written behind it
        planes[packed].copy_to_host(text.planes[packed], stream=stream)
        stream.synchronize()  # the caller may reuse the letters' memory
        if id(text.planes) in self._copies:
            self._copies[id(text.planes)] = _Copy(planes, driver.mark(stream))

    def keep(self, planes: Words) -> None:
        """Note that planes in ordinary memory do not change any more."""
        number = id(planes)
        with self._lock:
            if number in self._copies:
                return
            self.remember(planes)
            self._pageable.add(number)
            weakref.finalize(planes, self._pageable.remove, number).atexit = False

    def unite(self, text: Text, masks: Bytes) -> Text:
        """The same Text on the host; on the GPU the unions of `masks` follow its planes."""
        united = text.planes[:]
        self.remember_united(united, text, masks)
        return text._replace(planes=united)

    def remember_united(self, united: Words, text: Text, masks: Bytes) -> None:
        """Take note that `united` are the planes of a Text and, behind them, unions of `masks`."""
        text, _ = self._united.get(id(text.planes), (text, masks))
        self._united[id(united)] = text, masks
        weakref.finalize(united, self._united.pop, id(united), None).atexit = False
        self.remember(united)

    def remember(self, planes: Words) -> None:
        """Take note that planes in pinned memory do not change once they were searched."""
        self._copies[id(planes)] = None
        weakref.finalize(planes, self._copies.pop, id(planes), None).atexit = False

    def fetch(self, planes: Words) -> _Copy:
        """Begin to copy planes to the GPU, unless they are there; returns at once."""
        number = id(planes)
        with self._lock:
            copy = self._copies.get(number) or self._copy(planes)
            if number in self._copies:  # else an array that may change
                del self._copies[number]
                self._copies[number] = copy  # the last now
        return copy

    def _copy(self, planes: Words) -> _Copy:
        """Begin to copy planes, or to unite them from a copy."""
        if id(planes) in self._united:
            text, masks = self._united[id(planes)]
            source = self.fetch(text.planes)
            source.ready.wait(self._copying)
            copied = self.array((4 + len(masks)) * text.plane_words + SPARE)
            unite(text._replace(planes=source.planes), masks, copied, self._copying)
        else:
            copied = self.array(planes.shape)
            if id(planes) in self._pageable:
                return _Copy(copied, self._staging.start(planes, copied))
            copied.copy_to_device(planes, stream=self._copying)
        return _Copy(copied, driver.mark(self._copying))

    def broad_text(self, text: Text) -> Text:
        """A Text whose planes are on the GPU and whose rows are broad enough for it."""
        with self._lock:
            copy = self._ready(text.planes)
            text = text._replace(planes=copy.planes)
            if not spreads(text):
                return text
            broad = spread_text(text, copy.spread)
            if copy.spread is None:
                many = (len(copy.planes) - SPARE) // text.plane_words
                copy.spread = self.array(many * broad.plane_words)
                broad = broad._replace(planes=copy.spread)
                spread(text, broad, self.stream)
        return broad

    def _ready(self, planes: Words) -> _Copy:
        copy = self.fetch(planes)
        copy.ready.wait(self.stream)
        return copy

    def array(self, shape: int | tuple[int, ...], dtype: DTypeLike = np.uint64) -> DeviceArray:
        """An array on the GPU, for which planes are dropped where memory is short.

        Raises DeviceError where it does not suffice even so.
        """
        while True:
            try:
                return driver.empty(shape, dtype, self.stream)
            except DeviceError as error:
                if not self._release():
                    raise DeviceError(
                        f"device cuda:{self.number}: out of memory, with "
                        f"{driver.memory()[0]:,} bytes free; use cpu"
                    ) from error

    def _release(self) -> bool:
        """Drop the least recently used planes; returns whether there were any."""
        for number, copy in list(self._copies.items()):  # others end meanwhile
            if copy is not None:
                self._copies[number] = None
                return True
        return False


class Scan:
    """A scan under way, for `capacity` hit codes.

    launch(buffer) puts its kernels into the GPU's stream.
    """

    def __init__(self, gpu: Gpu, capacity: int, launch: Callable[[HitBuffer], object]) -> None:
        self._gpu, self._capacity = gpu, capacity
        self._codes, self._many = self._buffer = gpu.take_buffer(capacity)
        self._count = driver.on_device(np.zeros(1, np.int64), gpu.stream)
        launch(HitBuffer(self._codes[:capacity], self._count))
        self._count.copy_to_host(self._many, stream=gpu.stream)
        self._done = driver.mark(gpu.stream)

    def found(self) -> Found:
        """What the scan found; waits until it is done."""
        self._gpu.use()  # it may have been started by another thread
        self._done.synchronize()
        many = int(self._many[0])
        codes = np.empty(min(many, self._capacity), np.int64)
        if many:
            self._gpu.copy_back(self._codes, codes)
        self._gpu.give_buffer(self._buffer)
        return found_in(codes, max(many - self._capacity, 0), 1.0)

    def stop(self) -> None:
        """Give the scan up; returns when the GPU is done with it."""
        self._done.synchronize()
        self._gpu.give_buffer(self._buffer)


class Smallest:
    """A search for the smallest distances under way; lowest: int64[Q] on the GPU."""

    def __init__(self, gpu: Gpu, lowest: DeviceArray) -> None:
        self._gpu, self._lowest, self._done = gpu, lowest, driver.mark(gpu.stream)

    def found(self) -> Longs:
        """The distances; waits until they are there."""
        self._gpu.use()
        found: Longs = self._lowest.copy_to_host(stream=self._gpu.stream)
        self._gpu.stream.synchronize()
        return found

    def stop(self) -> None:
        """Give it up; returns when the GPU is done with it."""
        self._done.synchronize()


@cache
def open_gpu(number: int, nth: int = 0) -> Gpu:
    """The Gpu of a number; nth: of those that share it. Raises DeviceError where it cannot run
    kernels.
    """
    return Gpu(number)


def open_gpus(numbers: Sequence[int]) -> list[Gpu]:
    """The Gpus of some numbers, at the same time, as each takes long; equal ones share a GPU."""
    nths = [list(numbers[:i]).count(number) for i, number in enumerate(numbers)]
    if len(numbers) == 1 or driver.SIMULATED:
        return list(map(open_gpu, numbers, nths))
    with ThreadPoolExecutor(len(numbers)) as pool:
        return list(pool.map(open_gpu, numbers, nths))
