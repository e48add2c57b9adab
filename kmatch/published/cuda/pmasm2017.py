"""Ho et al. 2017a, PMASM: k mismatches of patterns of one length on CUDA, and its rivals there.

`result` has a row for each pattern; it holds distances where the paper's holds positions,
which are its indices. A bit_vector has up to MOST_WORDS words of 32 bits (the paper's int); larger
panels take several launches. Indices are unsigned and inner loops `while`, as in `liu2012`.
"""

from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np
from numba import int32, uint8, uint32, uint64

from kmatch.arrays import Bytes
from kmatch.engine.cuda.driver import DeviceArray, cuda, kept
from kmatch.engine.cuda.words import smaller
from kmatch.published.cpu.pmasm2017 import ROWS, LookUp, look_up_memory, shift_add_table
from kmatch.published.cuda import DeviceText
from kmatch.published.cuda.liu2012 import thread

THREADS = 256
MOST_WORDS = 8
SHORTEST_STRETCH = 32
LETTERS = uint64(ROWS)
ZERO, ONE = uint64(0), uint64(1)


def naive(text: DeviceText, patterns: Bytes, k: int, result: DeviceArray) -> None:
    """The naive algorithm of Table 3 on CUDA: a thread per position, pattern by pattern."""
    for row, pattern in enumerate(patterns):
        thread(text, pattern, k, result[row])


@cache
def make_shift_add(words: int) -> Any:
    """Return the kernel for states of `words` words of 64 bits; shape: bits of a counter, where the
    last one begins, the mask that keeps counters in their word, letters of the pattern, k, and
    positions of a thread."""

    @kept()
    def kernel(text, table, shape, result):
        size, top, full, m, k, stretch = shape
        state = cuda.local.array(words, uint64)
        first, before = uint64(cuda.grid(1)) * uint64(stretch), uint64(m) - ONE
        end = smaller(first + uint64(stretch) + before, uint64(len(text)))
        for w in range(words):
            state[w] = ZERO
        for at in range(first, end):
            row, carry = uint64(text[at]) * uint64(words), ZERO
            for w in range(words):
                word = state[w]
                state[w] = ((word << size) & full | carry) + table[row + uint64(w)]
                carry = word >> top
            if at >= first + before:
                mismatches = state[words - 1] >> top
                result[at - before] = int32(mismatches) if mismatches <= uint64(k) else int32(-1)

    return kernel


def shift_add(text: DeviceText, pattern: Bytes, k: int, result: DeviceArray) -> None:
    """Shift-add, the paper's [8], on CUDA: a thread per stretch of positions, after m − 1 letters.

    The paper does not say how its own shift-add was made parallel.
    """
    m = len(pattern)
    memory = shift_add_table(pattern)
    stretch = max(SHORTEST_STRETCH, 2 * m)
    blocks = -(-len(result) // (stretch * THREADS))
    shape = memory.size, memory.top, memory.full, m, k, stretch
    arguments = text.masks, text.put(memory.table), shape, result
    text.launch(make_shift_add(memory.words), blocks, THREADS, *arguments)


def _passes(
    text: DeviceText, patterns: Bytes, result: DeviceArray
) -> Iterator[tuple[DeviceArray, LookUp, DeviceArray]]:
    """Yield (look-up memory on the GPU, LookUp, rows of result) for as many patterns as fit."""
    r, m = patterns.shape
    fitting = MOST_WORDS * (32 // m.bit_length())
    for first in range(0, r, fitting):
        memory = look_up_memory(patterns[first : first + fitting], np.uint32)
        yield text.put(memory.table), memory, result[first : first + fitting]


@cuda.jit(device=True)
def _split(vector, word, size, counters, k, result, i):
    """Split a word of the bit_vector into distances and compare them with k."""
    mask = (uint32(1) << uint32(size)) - uint32(1)
    q, shift = uint64(word) * uint64(counters), uint32(size) * uint32(counters)
    end = smaller(q + uint64(counters), uint64(result.shape[0]))
    while q < end:
        shift -= uint32(size)
        mismatches = int32((vector >> shift) & mask)
        result[q, i] = mismatches if mismatches <= k else int32(-1)
        q += ONE


@cache
def make_thread(words: int, shared: bool) -> Any:
    """Return the kernel of the thread PMASM method, or of the shared-mem one, for bit_vectors of
    `words` words."""

    @kept()
    def kernel(text, table, m, size, counters, k, result):
        bit_vector = cuda.local.array(words, uint32)
        thread, q = uint64(cuda.threadIdx.x), uint64(cuda.blockDim.x)
        i = uint64(cuda.grid(1))
        if shared:
            chunk = cuda.shared.array(0, uint8)
            first, at = i - thread, thread
            while at < q + uint64(m) - ONE:
                if first + at < uint64(len(text)):
                    chunk[at] = text[first + at]
                at += q
            cuda.syncthreads()
        if i < uint64(result.shape[1]):
            for w in range(words):
                bit_vector[w] = uint32(0)
            j = ZERO
            while j < uint64(m):
                letter = chunk[thread + j] if shared else text[i + j]
                at = (j * LETTERS + uint64(letter)) * uint64(words)
                for w in range(words):
                    bit_vector[w] += table[at + uint64(w)]
                j += ONE
            for w in range(words):
                _split(bit_vector[w], w, size, counters, k, result, i)

    return kernel


def pmasm_thread(text: DeviceText, patterns: Bytes, k: int, result: DeviceArray) -> None:
    """Thread PMASM (5.3.1, Fig. 3): thread i adds the fb_vectors of its m letters and levels."""
    _by_threads(text, patterns, k, result, False)


def pmasm_shared(text: DeviceText, patterns: Bytes, k: int, result: DeviceArray) -> None:
    """Shared-mem PMASM (5.3.3): as thread PMASM, from the block's q + m − 1 letters in shared
    memory."""
    _by_threads(text, patterns, k, result, True)


def _by_threads(
    text: DeviceText, patterns: Bytes, k: int, result: DeviceArray, shared: bool
) -> None:
    m = patterns.shape[1]
    blocks = -(-result.shape[1] // THREADS)
    letters = THREADS + m - 1 if shared else 0
    for table, memory, rows in _passes(text, patterns, result):
        kernel = make_thread(memory.words, shared)
        arguments = text.masks, table, m, memory.size, memory.counters, k, rows
        text.launch(kernel, blocks, THREADS, *arguments, shared=letters)


@kept()
def _block_thread(text, table, words, size, counters, k, result):
    fb_vec_rlt = cuda.shared.array(0, uint32)
    i, j = uint64(cuda.blockIdx.x), uint64(cuda.threadIdx.x)
    m, words = uint64(cuda.blockDim.x), uint64(words)
    at = (j * LETTERS + uint64(text[i + j])) * words
    w = ZERO
    while w < words:
        fb_vec_rlt[j * words + w] = table[at + w]
        w += ONE
    cuda.syncthreads()
    w = j
    while w < words:
        bit_vector, level = uint32(0), ZERO
        while level < m:
            bit_vector += fb_vec_rlt[level * words + w]
            level += ONE
        _split(bit_vector, w, size, counters, k, result, i)
        w += m


def pmasm_block_thread(text: DeviceText, patterns: Bytes, k: int, result: DeviceArray) -> None:
    """Block-thread PMASM (5.3.2, Fig. 4): thread j of block i looks the fb_vector of level j up.

    One thread sums the fb_vectors in shared memory; where a bit_vector has several words, one a
    word. m is at most the threads of a block, 1024.
    """
    m = patterns.shape[1]
    positions = result.shape[1]
    for table, memory, rows in _passes(text, patterns, result):
        arguments = text.masks, table, *memory[1:], k, rows
        text.launch(_block_thread, positions, m, *arguments, shared=4 * m * memory.words)
