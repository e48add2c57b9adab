"""One GPU: its queues of work, and the chunks that stay in its memory."""

import weakref
from functools import cache

import numpy as np

from kmatch.engine.cuda.gpu import driver
from kmatch.engine.cuda.text.lanes import spread, spread_shape, spreads
from kmatch.engine.cuda.text.pack import pack, unite
from kmatch.engine.cuda.text.staging import Staging
from kmatch.engine.geometry import SPARE
from kmatch.errors import DeviceError


class _Copy:
    """Planes on the GPU: `text`, uint64, which is complete when `ready` has come.

    spread: the same with more lanes, once a search wanted them.
    """

    def __init__(self, text, ready):
        self.text, self.ready, self.spread = text, ready, None


class Gpu:
    """A GPU with a stream to compute in and one to copy to it meanwhile.

    Planes that were searched stay in device memory as long as they exist on the host, so that the
    next search need not copy them; where room is short, those not used for longest go.
    """

    def __init__(self, number):
        driver.open_device(number)
        self.number = number
        self.stream, self._copying = driver.new_stream(), driver.new_stream()
        self._copies = {}  # _Copy or None, by id of the planes on the host, the last used ones last
        self._united = {}  # planes, plane_words and masks, by id of what `unite` made of them
        self._pageable = set()  # those in memory that is not pinned
        self._staging = Staging(self._copying)

    def use(self):
        """Make this GPU the current one of the calling thread."""
        driver.use_device(self.number)

    def planes(self, size):
        """uint64[size] on the host for planes that do not change once they were searched."""
        planes = driver.pinned(size)  # of which systems may grant little
        planes = np.empty(size, np.uint64) if planes is None else planes
        self._keep(planes)
        return planes

    def pack(self, letters, words, rows, plane_rows, planes):
        """Pack letters into planes, which are on the host and on the GPU then."""
        text, stream = self.room(planes.shape), self._copying
        source = self.room(letters.shape, letters.dtype)
        source.copy_to_device(letters, stream=stream)
        pack(source, words, rows, plane_rows, text, stream)
        text.copy_to_host(planes, stream=stream)
        stream.synchronize()  # the letters' memory is used again
        if id(planes) in self._copies:
            self._copies[id(planes)] = _Copy(text, driver.mark(stream))

    def keep(self, planes):
        """Remember of planes in ordinary memory that they do not change."""
        number = id(planes)
        if number not in self._copies:
            self._keep(planes)
            self._pageable.add(number)
            weakref.finalize(planes, self._pageable.remove, number).atexit = False

    def unite(self, planes, plane_words, masks):
        """The same planes on the host, which on the GPU have the unions of `masks` behind them."""
        planes, *_ = self._united.get(id(planes), (planes,))
        united = planes[:]
        self._united[id(united)] = planes, plane_words, masks
        weakref.finalize(united, self._united.pop, id(united), None).atexit = False
        self._keep(united)
        return united

    def _keep(self, planes):
        self._copies[id(planes)] = None
        weakref.finalize(planes, self._copies.pop, id(planes), None).atexit = False

    def fetch(self, planes):
        """Begin to copy planes to the GPU, where they are not there; returns at once."""
        number = id(planes)
        if self._copies.get(number) is None:
            copy = self._copy(planes)
            if number not in self._copies:
                return copy  # an array that may change
            self._copies[number] = copy
        self._copies[number] = self._copies.pop(number)
        return self._copies[number]

    def _copy(self, planes):
        """Begin to copy planes, or to unite them from a copy."""
        if id(planes) in self._united:
            planes, plane_words, masks = self._united[id(planes)]
            source = self.fetch(planes)
            source.ready.wait(self._copying)
            text = self.room((4 + len(masks)) * plane_words + SPARE)
            unite(source.text, plane_words, masks, text, self._copying)
        else:
            text = self.room(planes.shape)
            if id(planes) in self._pageable:
                return _Copy(text, self._staging.start(planes, text))
            text.copy_to_device(planes, stream=self._copying)
        return _Copy(text, driver.mark(self._copying))

    def text(self, planes):
        """The planes on the GPU, for work in `stream`."""
        return self._ready(planes).text

    def broad_text(self, planes, shape):
        """The planes on the GPU with rows that are broad enough for it, and their shape.

        shape: (words, rows, plane_words) of the planes.
        """
        copy = self._ready(planes)
        words, rows, plane_words = shape
        if not spreads(words, rows):
            return copy.text, shape
        broad = spread_shape(*shape)
        if copy.spread is None:
            planes = (len(copy.text) - SPARE) // plane_words
            copy.spread = self.room(planes * broad[2])
            spread(copy.text, shape, copy.spread, self.stream)
        return copy.spread, broad

    def _ready(self, planes):
        copy = self.fetch(planes)
        copy.ready.wait(self.stream)
        return copy

    def room(self, shape, dtype=np.uint64):
        """An array on the GPU; planes make room for it. Raises DeviceError where none is left."""
        while True:
            try:
                return driver.empty(shape, dtype, self.stream)
            except DeviceError as error:
                if not self._release():
                    raise DeviceError(
                        f"device cuda:{self.number}: out of memory, with "
                        f"{driver.memory()[0]:,} bytes free; use cpu"
                    ) from error

    def _release(self):
        """Let go of the planes not used for longest; whether there were any."""
        for number, copy in self._copies.items():
            if copy is not None:
                self._copies[number] = None
                return True
        return False


@cache
def open_gpu(number):
    """The Gpu of a number. Raises DeviceError where it cannot run kernels."""
    return Gpu(number)
