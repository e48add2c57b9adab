"""Mismatch counters packed into machine words, as in Ho et al. 2017a and shift-add."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray

from kmatch.arrays import Bytes

ROWS = 9  # of a look-up table: 1, 2, 4 and 8 are the masks of the bases, 0 is no base


class LookUp(NamedTuple):
    """The look-up memory of PMASM for r patterns of m letters (Fig. 2).

    table: the words of all fb_vectors, that of letter t at level j at (j·ROWS + t)·words; words: of
    a bit_vector; size: bits of a counter; counters: of a word, the first in its highest bits.
    """

    table: NDArray[np.unsignedinteger[Any]]
    words: int
    size: int
    counters: int


def counter_size(m: int) -> int:
    """b = ⌈log2(m + 1)⌉ bits, which hold any distance (Eq. 2)."""
    return m.bit_length()


def look_up_memory(patterns: Bytes, dtype: DTypeLike, words: int | None = None) -> LookUp:
    """The LookUp for patterns, masks as uint8[r, m], in words of an unsigned dtype.

    fb_lvl_j_t says for each pattern whether it differs from t at level j. Counters do not cross the
    border of a word. words: of a bit_vector, at least as many as r patterns need (Eq. 3).
    """
    r, m = patterns.shape
    size, bits = counter_size(m), 8 * np.dtype(dtype).itemsize
    counters = bits // size
    words = words or -(-r // counters)
    differs = np.zeros((m, ROWS, words * counters), dtype)
    letters = np.arange(ROWS, dtype=np.uint8)[None, :, None]
    differs[:, :, :r] = patterns.T[:, None, :] & letters == 0
    shifts = (size * np.arange(counters)[::-1]).astype(dtype)
    vectors = differs.reshape(m, ROWS, words, counters) << shifts
    return LookUp(np.bitwise_or.reduce(vectors, axis=3).reshape(-1), words, size, counters)


class ShiftAdd(NamedTuple):
    """The table of shift-add for a pattern of m letters: a counter for each of its prefixes.

    table: uint64[ROWS·words], the words for letter t begin at t·words; size: bits of a counter;
    top: the lowest bit of a word's last counter, which in the last word is that of the whole
    pattern; full: the bits of all counters of a word. The pattern's counters come last; those
    before them count nothing.
    """

    table: NDArray[np.uint64]
    words: int
    size: np.uint64
    top: np.uint64
    full: np.uint64


def shift_add_table(pattern: Bytes, words: int | None = None) -> ShiftAdd:
    """The ShiftAdd of a pattern, masks as uint8[m]; words: at least as many as it needs."""
    size = counter_size(len(pattern))
    counters = 64 // size
    words = words or -(-len(pattern) // counters)
    differs = np.zeros((ROWS, words * counters), np.uint64)
    letters = np.arange(ROWS, dtype=np.uint8)[:, None]
    differs[:, words * counters - len(pattern) :] = letters & pattern == 0
    shifts = (size * np.arange(counters)).astype(np.uint64)
    table = np.bitwise_or.reduce(differs.reshape(ROWS, words, counters) << shifts, axis=2)
    full = (1 << size * counters) - 1
    return ShiftAdd(table.reshape(-1), words, np.uint64(size), shifts[-1], np.uint64(full))


def words_needed(m: int, bits: int) -> int:
    """Words of `bits` bits that hold a counter for each of m letters."""
    return -(-m // (bits // counter_size(m)))
