"""Published algorithms on the CPU, and a text in host memory, as they take it."""

import time
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from kmatch.arrays import Bytes, Ints, Longs


class HostText:
    """masks: uint8[n], a set of bases a letter; seconds: of the kernels so far."""

    def __init__(self, masks: Bytes) -> None:
        self.masks = masks
        self.seconds = 0.0

    @contextmanager
    def timed(self) -> Iterator[None]:
        """Time the kernels that run inside."""
        began = time.perf_counter()
        yield
        self.seconds += time.perf_counter() - began

    def table(self, shape: int | tuple[int, ...]) -> Ints:
        """int32[shape] for results."""
        return np.empty(shape, np.int32)

    def hits(self, table: Ints) -> tuple[Longs, Longs]:
        """(index, distance) of the entries of a table that are not negative."""
        return list_hits(table.reshape(-1))

    def smallest(self, table: Ints) -> int:
        """The smallest number in a table."""
        return int(table.min())


def list_hits(table: Ints) -> tuple[Longs, Longs]:
    """(index, distance) of the numbers in a flat table that are not negative."""
    index = np.flatnonzero(table >= 0)
    return index, table[index].astype(np.int64)
