"""Rows of unequal length side by side in one array, and tables for arrays of bytes."""

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

Bools = NDArray[np.bool_]
Bytes = NDArray[np.uint8]
Ints = NDArray[np.int32]
Longs = NDArray[np.int64]
Floats = NDArray[np.float64]
Objects = NDArray[np.object_]
Strings = NDArray[np.str_]


def bounds_of(lengths):
    """Where each row begins, and where the last one ends, int64[n+1], from lengths, int64[n]."""
    bounds = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths, out=bounds[1:])
    return bounds


def place_in_row(bounds):
    """The place of each item in its row, int64[bounds[-1]]; bounds: int64[n+1]."""
    lengths = np.diff(bounds)
    if len(lengths) and (lengths == lengths[0]).all():
        return np.tile(np.arange(lengths[0]), len(lengths))
    places = np.arange(bounds[-1])
    places -= np.repeat(bounds[:-1], lengths)
    return places


def gather(values, begins, bounds):
    """Rows of an array of values, one behind the other.

    begins: int64[n], where each row begins among the values; bounds: int64[n+1], where it is to lie
    in what is given, an array of bounds[-1] values.
    """
    lengths = np.diff(bounds)
    if len(lengths) and lengths[0] and (lengths == lengths[0]).all():
        return sliding_window_view(values, lengths[0])[begins].reshape(-1)
    return values[place_in_row(bounds) + np.repeat(begins, lengths)]


def look_up(values, table):
    """table[values] for uint8 values and a table of them, as uint8[n], without wide indices."""
    table = table.tobytes().ljust(256, b"\0")
    return np.frombuffer(bytearray(values).translate(table), np.uint8)
