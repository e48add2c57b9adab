"""Ho et al. 2017a, PMASM: k mismatches of patterns of one length, and the paper's baselines.

The CPU's algorithms run on one thread, as the paper's do.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray

from kmatch.arrays import Bytes, Ints
from kmatch.jit.entries import hosted
from kmatch.jit.kernels import kernel

ROWS = 9  # of a look-up table: 1, 2, 4 and 8 are the masks of the bases, 0 is no base


class LookUp(NamedTuple):
    """The look-up memory of PMASM for r patterns of m letters (Fig. 2).

    table: the words of all fb_vectors, of letter t at level j at (j·ROWS + t)·words; words: of
    a bit_vector; size: bits of a counter; counters: of a word, the first in its highest bits.
    """

    table: NDArray[np.unsignedinteger[Any]]
    words: int
    size: int
    counters: int


def _counter_size(m: int) -> int:
    """b = ⌈log2(m + 1)⌉ bits, which hold any distance (Eq. 2)."""
    return m.bit_length()


def _words(many: int, counters: int) -> int:
    """Words for so many counters, a power of two, as CUDA has a kernel for each number of them."""
    return 1 << (-(-many // counters) - 1).bit_length()


def look_up_memory(patterns: Bytes, dtype: DTypeLike) -> LookUp:
    """Return the LookUp for patterns, masks as uint8[r, m], in words of an unsigned dtype.

    fb_lvl_j_t says for each pattern whether it differs from t at level j. Counters do not cross the
    border of a word. A bit_vector has as many words as r patterns need (Eq. 3), or a few more.
    """
    r, m = patterns.shape
    size = _counter_size(m)
    counters = 8 * np.dtype(dtype).itemsize // size
    words = _words(r, counters)

    # By level, letter t and pattern, whether they differ.
    differs = np.zeros((m, ROWS, words * counters), dtype)
    letters = np.arange(ROWS, dtype=np.uint8)[None, :, None]
    differs[:, :, :r] = patterns.T[:, None, :] & letters == 0

    # A counter of each pattern, the first in a word's highest bits.
    shifts = (size * np.arange(counters)[::-1]).astype(dtype)
    vectors = differs.reshape(m, ROWS, words, counters) << shifts
    table = np.bitwise_or.reduce(vectors, axis=3).reshape(-1)
    return LookUp(table, words, size, counters)


class ShiftAdd(NamedTuple):
    """The table of shift-add for a pattern of m letters: a counter for each of its prefixes.

    table: uint64[ROWS·words], the words for letter t begin at t·words; size: bits of a counter;
    top: the lowest bit of a word's last counter, which in the last word counts the whole
    pattern; full: the bits of all counters of a word. The pattern's counters come last; counters
    before them count nothing.
    """

    table: NDArray[np.uint64]
    words: int
    size: np.uint64
    top: np.uint64
    full: np.uint64


def shift_add_table(pattern: Bytes) -> ShiftAdd:
    """Return the ShiftAdd of a pattern, masks as uint8[m]."""
    m = len(pattern)
    size = _counter_size(m)
    counters = 64 // size
    words = _words(m, counters)

    # By letter and prefix, the longest last, whether the prefix's last letter differs.
    differs = np.zeros((ROWS, words * counters), np.uint64)
    letters = np.arange(ROWS, dtype=np.uint8)[:, None]
    differs[:, words * counters - m :] = letters & pattern == 0

    shifts = (size * np.arange(counters)).astype(np.uint64)
    vectors = differs.reshape(ROWS, words, counters) << shifts
    table = np.bitwise_or.reduce(vectors, axis=2)
    full = (1 << size * counters) - 1
    return ShiftAdd(table.reshape(-1), words, np.uint64(size), shifts[-1], np.uint64(full))


@hosted
@kernel
def naive(text, patterns, k, result):
    """The naive algorithm of Table 3: Eq. 1 position by position, pattern by pattern."""
    r, m = patterns.shape
    for i in range(result.shape[1]):
        for q in range(r):
            mismatches = 0
            for j in range(m):
                mismatches += (text[i + j] & patterns[q, j]) == 0
            result[q, i] = mismatches if mismatches <= k else -1


@hosted
@kernel
def _shift_add(text, memory, m, k, result):
    table, words, size, top, full = memory
    state = np.zeros(words, np.uint64)
    for i in range(len(text)):
        row = words * np.int64(text[i])
        carry = np.uint64(0)
        for w in range(words):
            word = state[w]
            moved = word << size & full | carry
            state[w] = moved + table[row + w]
            carry = word >> top
        if i + 1 >= m:
            mismatches = np.int64(state[words - 1] >> top)
            result[i + 1 - m] = mismatches if mismatches <= k else -1


def shift_add(text: Bytes, pattern: Bytes, k: int, result: Ints) -> None:
    """The shift-add algorithm of Baeza-Yates and Gonnet, the paper's [8].

    A counter of b bits (Eq. 2) for every prefix of the pattern: a letter shifts the state by
    one counter and adds its table entry; the last counter is then the distance of the pattern.
    """
    _shift_add(text, shift_add_table(pattern), len(pattern), k, result)


@hosted
@kernel
def _pmasm(text, table, size, counters, k, result):
    words, m, _ = table.shape
    r, positions = result.shape
    mask = (np.uint64(1) << np.uint64(size)) - np.uint64(1)
    for i in range(positions):
        for w in range(words):
            bit_vector = np.uint64(0)
            for j in range(m):
                bit_vector += table[w, j, np.uint64(text[i + j])]
            first = w * counters
            last = first + counters - 1
            for q in range(first, min(r, last + 1)):
                shift = np.uint64(size * (last - q))
                mismatches = np.int64(bit_vector >> shift & mask)
                result[q, i] = mismatches if mismatches <= k else -1


def pmasm(text: Bytes, patterns: Bytes, k: int, result: Ints) -> None:
    """PMASM on one CPU thread: section 5.3.1 with a loop instead of threads, 64-bit words."""
    memory = look_up_memory(patterns, np.uint64)
    by_level = memory.table.reshape(patterns.shape[1], ROWS, memory.words)
    by_word = np.ascontiguousarray(by_level.transpose(2, 0, 1))
    _pmasm(text, by_word, memory.size, memory.counters, k, result)
