"""Ho et al. 2017a, PMASM: k mismatches of patterns of one length, and the paper's baselines.

The CPU's algorithms run on one thread, as the paper's do.
"""

import numpy as np

from kmatch.arrays import Bytes, Ints
from kmatch.jit import kernel
from kmatch.published.counters import ROWS, look_up_memory, shift_add_table
from kmatch.published.cpu.text import HostText


@kernel
def _naive(text, patterns, k, result):
    r, m = patterns.shape
    for i in range(result.shape[1]):
        for q in range(r):
            mismatches = 0
            for j in range(m):
                mismatches += (text[i + j] & patterns[q, j]) == 0
            result[q, i] = mismatches if mismatches <= k else -1


def naive(text: HostText, patterns: Bytes, k: int) -> Ints:
    """The naive algorithm of Table 3: Eq. 1 position by position, pattern by pattern."""
    r, m = patterns.shape
    result = text.table((r, len(text.masks) - m + 1))
    with text.timed():
        _naive(text.masks, patterns, k, result)
    return result


@kernel
def _shift_add_word(text, memory, m, k, result):
    table, _, size, top, full = memory
    state = np.uint64(0)
    for i in range(len(text)):
        state = ((state << size) & full) + table[text[i]]
        if i + 1 >= m:
            mismatches = np.int64(state >> top)
            result[i + 1 - m] = mismatches if mismatches <= k else -1


@kernel
def _shift_add_words(text, memory, m, k, result):
    table, words, size, top, full = memory
    state = np.zeros(words, np.uint64)
    for i in range(len(text)):
        row, carry = words * np.int64(text[i]), np.uint64(0)
        for w in range(words):
            word = state[w]
            state[w] = ((word << size) & full | carry) + table[row + w]
            carry = word >> top
        if i + 1 >= m:
            mismatches = np.int64(state[words - 1] >> top)
            result[i + 1 - m] = mismatches if mismatches <= k else -1


def shift_add(text: HostText, pattern: Bytes, k: int) -> Ints:
    """The shift-add algorithm of Baeza-Yates and Gonnet, the paper's [8].

    A counter of b bits (Eq. 2) for every prefix of the pattern: a letter shifts the state by
    one counter and adds its table entry; the last counter is then the distance of the pattern.
    """
    m = len(pattern)
    memory = shift_add_table(pattern)
    search = _shift_add_word if memory.words == 1 else _shift_add_words
    result = text.table(len(text.masks) - m + 1)
    with text.timed():
        search(text.masks, memory, m, k, result)
    return result


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
            for q in range(first, min(r, first + counters)):
                shift = np.uint64(size * (first + counters - 1 - q))
                mismatches = np.int64((bit_vector >> shift) & mask)
                result[q, i] = mismatches if mismatches <= k else -1


def pmasm(text: HostText, patterns: Bytes, k: int) -> Ints:
    """PMASM on one CPU thread: section 5.3.1 with a loop instead of threads, 64-bit words."""
    r, m = patterns.shape
    memory = look_up_memory(patterns, np.uint64)
    by_word = memory.table.reshape(m, ROWS, memory.words).transpose(2, 0, 1)
    result = text.table((r, len(text.masks) - m + 1))
    with text.timed():
        table = np.ascontiguousarray(by_word)
        _pmasm(text.masks, table, memory.size, memory.counters, np.int64(k), result)
    return result
