"""Types of arrays, rows of unequal length in one array, and look-up tables of bytes."""

from typing import TypeVar

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import ArrayLike, NDArray

Bools = NDArray[np.bool_]
Bytes = NDArray[np.uint8]  # ASCII letters, or a set of bases (a mask) a letter
Ints = NDArray[np.int32]
Longs = NDArray[np.int64]
Words = NDArray[np.uint64]
Floats = NDArray[np.float64]
Objects = NDArray[np.object_]
Strings = NDArray[np.str_]
Item = TypeVar("Item", bound=np.generic)


def bounds_of(lengths: ArrayLike) -> Longs:
    """The beginnings of rows of these lengths, and the end of the last one: int64[n+1]."""
    bounds = np.zeros(np.size(lengths) + 1, np.int64)
    np.cumsum(lengths, out=bounds[1:])
    return bounds


def place_in_row(bounds: Longs) -> Longs:
    """The index of each item in its row, int64[bounds[-1]]. bounds: int64[n+1] of the rows."""
    lengths = np.diff(bounds)
    if len(lengths) and (lengths == lengths[0]).all():
        return np.tile(np.arange(lengths[0]), len(lengths))
    places = np.arange(bounds[-1])
    places -= np.repeat(bounds[:-1], lengths)
    return places


def gather(values: NDArray[Item], begins: Longs, bounds: Longs) -> NDArray[Item]:
    """Rows of an array, one after the other.

    begins: int64[n], where each row begins in `values`; bounds: int64[n+1], of the rows in the
    result, which has bounds[-1] items.
    """
    lengths = np.diff(bounds)
    if len(lengths) and lengths[0] and (lengths == lengths[0]).all():
        return sliding_window_view(values, lengths[0])[begins].reshape(-1)
    return values[place_in_row(bounds) + np.repeat(begins, lengths)]


def look_up(values: Bytes, table: Bytes) -> Bytes:
    """table[values] for bytes, without wide indices."""
    translation = table.tobytes().ljust(256, b"\0")
    return np.frombuffer(bytearray(values).translate(translation), np.uint8)
