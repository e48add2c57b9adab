"""Bits of a word."""

import numpy as np
from numba import njit

_DE_BRUIJN = np.uint64(0x03F79D71B4CB0A89)


def _table():
    table = np.zeros(64, np.int64)
    for bit in range(64):
        table[(int(_DE_BRUIJN) << bit) % (1 << 64) >> 58] = bit
    return table


_BIT = _table()


@njit(cache=True, nogil=True)
def trailing_zeros(word):
    """Number of the lowest set bit of a uint64 that is not 0."""
    lowest = word & (~word + np.uint64(1))
    return _BIT[(lowest * _DE_BRUIJN) >> np.uint64(58)]
