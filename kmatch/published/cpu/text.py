"""A text in host memory, as published algorithms take it."""

import time
from contextlib import contextmanager

import numpy as np


class HostText:
    """`masks`, uint8[n], a set of bases a letter; `seconds`: what kernels took so far."""

    def __init__(self, masks):
        self.masks = masks
        self.seconds = 0.0
        self._made = {}

    @contextmanager
    def timed(self):
        """Time the kernels that run inside."""
        began = time.perf_counter()
        yield
        self.seconds += time.perf_counter() - began

    def once(self, name, make):
        """make(), or what it returned under this name before."""
        if name not in self._made:
            self._made[name] = make()
        return self._made[name]

    def put(self, array):
        """The array, where kernels can read it."""
        return array

    def room(self, shape, dtype):
        """An array for kernels to work in."""
        return np.empty(shape, dtype)

    def table(self, shape):
        """int32[shape] for results."""
        return np.empty(shape, np.int32)

    def hits(self, table):
        """(index, distance), both int64[h], of the places of a table that are not negative."""
        return list_hits(table.reshape(-1))

    def smallest(self, table):
        """The smallest number in a table."""
        return int(table.min())


def list_hits(table):
    """(index, distance), both int64[h], of the numbers in int32[n] that are not negative."""
    index = np.flatnonzero(table >= 0)
    return index, table[index].astype(np.int64)
