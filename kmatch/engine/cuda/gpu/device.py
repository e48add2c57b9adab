"""One GPU: its queues of work, and the chunks that stay in its memory."""

import weakref
from functools import cache
from threading import RLock

import numpy as np
from numpy.typing import DTypeLike

from kmatch.arrays import Bytes, Words
from kmatch.engine.cuda.gpu import driver
from kmatch.engine.cuda.gpu.driver import DeviceArray, Event
from kmatch.engine.cuda.text.lanes import spread, spread_text, spreads
from kmatch.engine.cuda.text.pack import pack, unite
from kmatch.engine.cuda.text.staging import Staging, Transfer
from kmatch.engine.geometry import SPARE, Text
from kmatch.errors import DeviceError


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
        self.stream, self._copying = driver.new_stream(), driver.new_stream()
        # By id of the planes on the host, the last used ones last.
        self._copies: dict[int, _Copy | None] = {}
        # By id of the planes that `unite` made.
        self._united: dict[int, tuple[Text, Bytes]] = {}
        self._pageable: set[int] = set()  # ids of planes in memory that is not pinned
        self._staging = Staging(self._copying)
        self._lock = RLock()  # for the planes and what fills them

    def use(self) -> None:
        """Make this GPU the current one of the calling thread."""
        driver.use_device(self.number)

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


@cache
def open_gpu(number: int, nth: int = 0) -> Gpu:
    """The Gpu of a number; nth: of those that share it. Raises DeviceError where it cannot run
    kernels.
    """
    return Gpu(number)
