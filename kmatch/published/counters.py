"""Packed counters of mismatches, as Ho et al. 2017a and shift-add keep them in machine words."""

from typing import NamedTuple

import numpy as np

ROWS = 9  # of a look-up table: one for each base by its mask 1, 2, 4 or 8, and 0 for no base


class LookUp(NamedTuple):
    """The look-up memory of PMASM for r patterns of m letters (Fig. 2).

    table: words of fb_vectors, flat, that of letter t at level j at (j·ROWS + t)·words; words: of a
    bit_vector; size: bits of a counter; counters: in a word, the first one in its highest bits.
    """

    table: np.ndarray
    words: int
    size: int
    counters: int


def counter_size(m):
    """b = ⌈log2(m + 1)⌉ bits, which hold any distance (Eq. 2)."""
    return m.bit_length()


def look_up_memory(patterns, dtype, words=None):
    """The LookUp for patterns, masks as uint8[r, m], in words of an unsigned dtype.

    fb_lvl_j_t holds for each pattern whether it differs from t at level j. A word holds as many
    counters as fit it whole; words: of a bit_vector, at least as many as r patterns need (Eq. 3).
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
    """The table of shift-add for a pattern of m letters: a counter for each of its beginnings.

    table: uint64[ROWS·words], the words for letter t begin at t·words; size: bits of a counter;
    top: where a word's last counter begins, that of the whole pattern in the last word; full: the
    bits that all counters of a word take. The pattern's counters come last: those before them
    count nothing.
    """

    table: np.ndarray
    words: int
    size: np.uint64
    top: np.uint64
    full: np.uint64


def shift_add_table(pattern, words=None):
    """The ShiftAdd of a pattern, masks as uint8[m], in at least as many words as it needs."""
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


def words_needed(m, bits):
    """Words of so many bits for a counter for each of m letters."""
    return -(-m // (bits // counter_size(m)))
