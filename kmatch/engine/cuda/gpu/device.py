"""One GPU: its queues of work, and the chunks that stay in its memory."""

import weakref
from functools import cache

import numpy as np

from kmatch.engine.cuda.gpu import driver
from kmatch.engine.cuda.text.lanes import spread, spread_text, spreads
from kmatch.engine.cuda.text.pack import pack, unite
from kmatch.engine.cuda.text.staging import Staging
from kmatch.engine.geometry import SPARE
from kmatch.errors import DeviceError


class _Copy:
    """`planes` on the GPU, uint64, which are complete when `ready` has come.

    spread: the same with more lanes, once a search wanted them.
    """

    def __init__(self, planes, ready):
        self.planes, self.ready, self.spread = planes, ready, None


class Gpu:
    """A GPU with a stream to compute in and one to copy to it meanwhile.

    Planes that were searched stay in device memory as long as they exist on the host, so that the
    next search need not copy them; where memory is short, those not used for longest go.
    """

    def __init__(self, number):
        driver.open_device(number)
        self.number = number
        self.stream, self._copying = driver.new_stream(), driver.new_stream()
        self._copies = {}  # _Copy or None, by id of the planes on the host, the last used ones last
        self._united = {}  # a Text and masks, by id of the planes that `unite` made of them
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

    def pack(self, letters, text):
        """Pack letters into the planes of a Text, which are on the host and on the GPU then."""
        planes, stream = self.array(text.planes.shape), self._copying
        source = self.array(letters.shape, letters.dtype)
        source.copy_to_device(letters, stream=stream)
        pack(source, text._replace(planes=planes), stream)
        planes.copy_to_host(text.planes, stream=stream)
        stream.synchronize()  # the letters' memory is used again
        if id(text.planes) in self._copies:
            self._copies[id(text.planes)] = _Copy(planes, driver.mark(stream))

    def keep(self, planes):
        """Remember of planes in ordinary memory that they do not change."""
        number = id(planes)
        if number not in self._copies:
            self._keep(planes)
            self._pageable.add(number)
            weakref.finalize(planes, self._pageable.remove, number).atexit = False

    def unite(self, text, masks):
        """The same Text on the host, whose planes have the unions of `masks` behind them on the
        GPU."""
        text, *_ = self._united.get(id(text.planes), (text,))
        united = text.planes[:]
        self._united[id(united)] = text, masks
        weakref.finalize(united, self._united.pop, id(united), None).atexit = False
        self._keep(united)
        return text._replace(planes=united)

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

    def broad_text(self, text):
        """A Text with its planes on the GPU and rows that are broad enough for it."""
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

    def _ready(self, planes):
        copy = self.fetch(planes)
        copy.ready.wait(self.stream)
        return copy

    def array(self, shape, dtype=np.uint64):
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
