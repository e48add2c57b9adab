"""A text in host memory, as published algorithms take it."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import numpy as np
from numpy.typing import DTypeLike, NDArray

from kmatch.arrays import Bytes, Longs

Made = TypeVar("Made")


class HostText:
    """masks: uint8[n], a set of bases a letter; seconds: of the kernels so far."""

    def __init__(self, masks: Bytes) -> None:
        self.masks = masks
        self.seconds = 0.0
        self._made: dict[str, Any] = {}

    @contextmanager
    def timed(self) -> Iterator[None]:
        """Time the kernels that run inside."""
        began = time.perf_counter()
        yield
        self.seconds += time.perf_counter() - began

    def once(self, name: str, make: Callable[[], Made]) -> Made:
        """The result of make(), which is called once for a name."""
        if name not in self._made:
            self._made[name] = make()
        made: Made = self._made[name]
        return made

    def put(self, array: NDArray[Any]) -> NDArray[Any]:
        """An array in the memory of the device: here the same one."""
        return array

    def empty(self, shape: int | tuple[int, ...], dtype: DTypeLike) -> NDArray[Any]:
        """An array for kernels to work in."""
        return np.empty(shape, dtype)

    def table(self, shape: int | tuple[int, ...]) -> NDArray[np.int32]:
        """int32[shape] for results."""
        return np.empty(shape, np.int32)

    def hits(self, table: NDArray[np.int32]) -> tuple[Longs, Longs]:
        """(index, distance) of the entries of a table that are not negative."""
        return list_hits(table.reshape(-1))

    def smallest(self, table: NDArray[np.int32]) -> int:
        """The smallest number in a table."""
        return int(table.min())


def list_hits(table: NDArray[np.int32]) -> tuple[Longs, Longs]:
    """(index, distance) of the numbers in a flat table that are not negative."""
    index = np.flatnonzero(table >= 0)
    return index, table[index].astype(np.int64)
