"""Nakano 2012: the closest substring of a text, on CUDA devices.

See `kmatch.published.cpu.nakano2012` for the paper and its matrices. A block of threads is a memory
machine: its shared memory is a DMM's, and global memory is a UMM's.
"""

from typing import Any, NamedTuple

import numpy as np
from numba import int32

from kmatch.arrays import Bytes
from kmatch.engine.cuda.driver import DeviceArray, cuda, kept
from kmatch.engine.cuda.words import smaller
from kmatch.published.cuda import DeviceText

TOO_FAR = -1
WARP = 32
MOST_THREADS = 1024
SHARED_CELLS = 48 * 1024 // 4  # int32 that a block may have in shared memory
WINDOW_THREADS = 256  # of a block, where windows are short


def diagonal(text: DeviceText, pattern: Bytes, k: int, table: DeviceArray) -> None:
    """The parallel algorithm of section V by one block, with d in shared memory as on a DMM.

    m threads take an anti-diagonal. Rows of d are a multiple of the banks long, so neighbours on an
    anti-diagonal are in neighbouring banks (Lemma 2). d is held a panel of columns at a time, of
    which the last is the next one's first. Shared memory holds m + 1 rows of at least twice the
    banks for m ≤ 191.
    """
    m = len(pattern)
    width = SHARED_CELLS // (m + 1) // WARP * WARP
    arguments = text.masks, text.put(pattern), k, width, table
    text.launch(_diagonals, 1, _threads(m), *arguments, shared=4 * width * (m + 1))


def slid(text: DeviceText, pattern: Bytes, k: int, table: DeviceArray) -> None:
    """The algorithm of Theorem 5 by one block, with three rows of s in global memory as on a UMM.

    Neighbouring threads have neighbouring columns, modulo m.
    """
    m = len(pattern)
    rows = text.empty(3 * m, np.int32)
    text.launch(_slide, 1, _threads(m), text.masks, text.put(pattern), k, rows, table)


def partition(text: DeviceText, pattern: Bytes, k: int, table: DeviceArray) -> None:
    """The improved algorithm of section VII, Theorem 6: n threads, m for a window of 3m letters.

    Blocks take whole windows, and keep their part of the combined s' of 3n in shared memory, which
    holds 3m cells for m ≤ 4096.
    """
    m = len(pattern)
    windows = max(-(-len(text) // m) - 2, 1)
    together = max(WINDOW_THREADS // m, 1)
    blocks = -(-windows // together)
    threads = min(m, MOST_THREADS), together
    arguments = text.masks, text.put(pattern), k, windows, table
    text.launch(_windows, blocks, threads, *arguments, shared=4 * 3 * m * together)


def _threads(m: int) -> int:
    return min(-(-m // WARP) * WARP, MOST_THREADS)


@kept()
def _diagonals(text, pattern, k, width, table):
    d = cuda.shared.array(0, int32)
    thread, threads = cuda.threadIdx.x, cuda.blockDim.x
    n, m = len(text), len(pattern)
    for j in range(thread, width, threads):
        d[j] = 0
    for i in range(thread, m + 1, threads):
        d[i * width] = i
    for first in range(0, n, width - 1):
        columns = smaller(width - 1, n - first)
        cuda.syncthreads()
        for step in range(1, columns + m):
            for i in range(thread + 1, m + 1, threads):
                j = step - i + 1
                if 0 < j <= columns:
                    at = i * width + j
                    differs = 0 if pattern[i - 1] & text[first + j - 1] else 1
                    beside = smaller(d[at - 1], d[at - width])
                    d[at] = smaller(beside + 1, d[at - width - 1] + differs)
            cuda.syncthreads()
        for j in range(thread + 1, columns + 1, threads):
            distance = d[m * width + j]
            table[first + j - 1] = distance if distance <= k else TOO_FAR
        for i in range(thread + 1, m + 1, threads):
            d[i * width] = d[i * width + columns]


class Window(NamedTuple):
    """A window of the text.

    first: letters before it; last: the number of its last letter; wanted: the column behind which
    distances are; rows: of s', row r at r·stride + offset.
    """

    first: int
    last: int
    wanted: int
    rows: Any
    offset: int
    stride: int


@cuda.jit(device=True)
def _slide_window(text, pattern, k, letters, window, table):
    """Step after step of a window of so many letters at most; columns of s' run along x, and
    distances of the last row go to the table.

    s[step+1][j] by formulas (3) to (5) from s[step][j−1], s[step][j] and s[step−1][j−1]; s[j][j] is
    0 and s[i][0] is i, neither of which is kept.
    """
    first, last, wanted, rows, offset, stride = window
    m, turn = len(pattern), 0  # turn: step mod m
    for step in range(1, letters + m):
        turn = turn + 1 if turn + 1 < m else 0
        here, before, twice = (step + 1) % 3 * stride, step % 3 * stride, (step - 1) % 3 * stride
        for at in range(cuda.threadIdx.x, m, cuda.blockDim.x):
            j = step - turn + at - (m if at > turn else 0)
            if j < 1 or first + j > last:
                continue
            i, column, edge = step - j + 1, offset + at, offset + (at - 1 if at else m - 1)
            left = rows[before + edge] if j > 1 else i
            above = rows[before + column] if i > 1 else 0
            corner = 0 if i == 1 else rows[twice + edge] if j > 1 else i - 1
            differs = 0 if pattern[i - 1] & text[first + j - 1] else 1
            distance = smaller(smaller(left, above) + 1, corner + differs)
            rows[here + column] = distance
            if i == m and j > wanted:
                table[first + j - 1] = distance if distance <= k else TOO_FAR
        cuda.syncthreads()


@kept()
def _slide(text, pattern, k, rows, table):
    """The whole text as one window."""
    n, m = len(text), len(pattern)
    _slide_window(text, pattern, k, n, Window(0, n, 0, rows, 0, m), table)


@kept()
def _windows(text, pattern, k, windows, table):
    """Windows of 3m letters, a block's along y."""
    rows = cuda.shared.array(0, int32)
    m = len(pattern)
    number = cuda.blockIdx.x * cuda.blockDim.y + cuda.threadIdx.y
    offset, stride = cuda.threadIdx.y * m, cuda.blockDim.y * m
    last = smaller((number + 3) * m, len(text)) if number < windows else 0
    window = Window(number * m, last, 2 * m if number else 0, rows, offset, stride)
    _slide_window(text, pattern, k, 3 * m, window, table)
