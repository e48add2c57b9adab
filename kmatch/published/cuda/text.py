"""A text on a GPU, as published algorithms take it."""

import numpy as np
from numba import int64

from kmatch.engine.cuda.gpu import driver
from kmatch.engine.cuda.gpu.driver import cuda
from kmatch.published.cpu.text import list_hits

THREADS = 256
MOST_BLOCKS = 1024
DENSE = 64  # places a hit, below which the table is copied whole: sorting hits takes longer


@cuda.jit(cache=True)
def _count_hits(table, found):
    """Add the number of places that are not negative to found[0]."""
    count = 0
    for at in range(cuda.grid(1), len(table), cuda.gridsize(1)):
        if table[at] >= 0:
            count += 1
    if count:
        cuda.atomic.add(found, 0, count)


@cuda.jit(cache=True)
def _list_hits(table, index, distance, found):
    """Write the places that are not negative, in any order; found[0] is 0 before."""
    for at in range(cuda.grid(1), len(table), cuda.gridsize(1)):
        if table[at] >= 0:
            to = cuda.atomic.add(found, 0, 1)
            index[to] = at
            distance[to] = table[at]


@cuda.jit(cache=True)
def _least(table, least):
    best = int64(least[0])
    for at in range(cuda.grid(1), len(table), cuda.gridsize(1)):
        if table[at] < best:
            best = int64(table[at])
    cuda.atomic.min(least, 0, best)


class DeviceText:
    """`masks`, uint8[n], a set of bases a letter, on the GPU; kernels run in `stream`.

    masks: the same on the host; place: the GPU, `cuda:N`. Raises DeviceError where it has no room.
    """

    def __init__(self, masks, place):
        driver.use_device(int(place.partition(":")[2]))
        self.stream = driver.new_stream()
        self.masks = self.put(masks)
        self._watch = driver.Stopwatch()
        self._made = {}
        self._table = None

    @property
    def seconds(self):
        """What kernels took so far; 0 in the simulator, which keeps no time."""
        return self._watch.seconds

    def timed(self):
        """A context that times the kernels launched inside."""
        return self._watch.timing(self.stream)

    def once(self, name, make):
        """make(), or what it returned under this name before."""
        if name not in self._made:
            self._made[name] = make()
        return self._made[name]

    def put(self, array):
        """A copy of an array on the GPU."""
        room = self.room(array.shape, array.dtype)
        room.copy_to_device(np.ascontiguousarray(array), stream=self.stream)
        return room

    def room(self, shape, dtype):
        """An array on the GPU for kernels to work in."""
        return driver.empty(shape, dtype, self.stream)

    def table(self, shape):
        """int32[shape] on the GPU for results; the one asked for before it is then used again."""
        size = int(np.prod(shape))
        if self._table is None or len(self._table) < size:
            self._table = None  # gives the smaller one back first
            self._table = self.room(size, np.int32)
        return self._table[:size].reshape(shape)

    def _grid(self, flat):
        """A grid that goes over an array in strides."""
        return max(min(-(-len(flat) // THREADS), MOST_BLOCKS), 1), THREADS, self.stream

    def hits(self, table):
        """(index, distance), both int64[h], of the places of a table that are not negative."""
        flat = table.reshape(table.size)
        grid = self._grid(flat)
        found = self.put(np.zeros(1, np.int64))
        _count_hits[grid](flat, found)
        count = int(self.fetch(found)[0])
        if not count:
            return np.zeros((2, 0), np.int64)
        if count * DENSE > len(flat):
            return list_hits(self.fetch(flat))
        index, distance = self.room(count, np.int64), self.room(count, np.int64)
        _list_hits[grid](flat, index, distance, self.put(np.zeros(1, np.int64)))
        index, distance = self.fetch(index), self.fetch(distance)
        order = np.argsort(index)
        return index[order], distance[order]

    def smallest(self, table):
        """The smallest number in a table."""
        flat = table.reshape(table.size)
        least = self.put(np.array([np.iinfo(np.int64).max]))
        _least[self._grid(flat)](flat, least)
        return int(self.fetch(least)[0])

    def fetch(self, array):
        """A copy of an array of the GPU on the host."""
        copy = array.copy_to_host(stream=self.stream)
        self.stream.synchronize()
        return copy
