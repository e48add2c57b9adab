"""Feuser, Moreano 2018: the k-difference primer problem on CUDA devices.

See `kmatch.published.cpu.feuser2018` for the problem and its words. A block computes a matrix, its
threads the cells of an anti-diagonal or a column (both grains of parallelism), tile after tile
(optimization 4). A launch is a batch of starts.
"""

import numpy as np
from numba import int32

from kmatch.engine.cuda.driver import DeviceArray, cuda, kept
from kmatch.engine.cuda.words import larger, smaller
from kmatch.errors import InputError
from kmatch.published.cuda import DeviceText

THREADS = 256  # of a block: rows of a tile of D, diagonals of a tile of L
BATCH = 1024  # starts of a launch
ROWS_BYTES = 1 << 30  # for the rows that are kept between tiles of D
SHARED_WORDS = 48 * 1024 // 4
AHEAD = 3  # letters fetched for each difference, the paper's constant c
NONE = -1


def conventional_fine(
    target: DeviceText, background: DeviceText, k: int, table: DeviceArray
) -> None:
    """Matrix D in tiles of rows, by anti-diagonals: optimizations 1, 3, 4 and 5."""
    starts, n = len(target), len(background)
    batch = max(min(BATCH, starts, ROWS_BYTES // (4 * n + 4)), 1)
    rows = target.empty((batch, n + 1), np.int32)
    stop = target.put(np.full(1, starts))
    for first in range(0, starts, batch):
        given = target.masks, background.masks, k, first, rows, stop, table
        target.launch(_conventional, min(batch, starts - first), THREADS, *given)


@kept()
def _conventional(target, background, k, first, rows, stop, table):
    """Fig. 6(a); rows: int32[batch, n+1], the last row of a block's tile, in global memory.

    A thread has a row, with its letter and the cell to the left in registers, and finds the cells
    of the row above in shared memory, a step old.
    """
    values = cuda.shared.array((2, THREADS), int32)
    found = cuda.shared.array(2, int32)
    thread = cuda.threadIdx.x
    r = first + cuda.blockIdx.x
    m, n = len(target) - r, len(background)
    row = rows[cuda.blockIdx.x]
    for j in range(thread, n + 1, THREADS):
        row[j] = 0
    if thread == 0:
        found[0] = m + 1
        found[1] = r < stop[0]  # read once, as other blocks lower it
    cuda.syncthreads()
    top = 0
    while top < m and found[0] > m and found[1]:
        cuda.syncthreads()
        i = top + thread + 1
        letter = target[r + i - 1] if i <= m else 0
        left = least = int32(i)
        corner = row[0] if thread == 0 else int32(i - 1)
        values[0, thread] = values[1, thread] = left
        cuda.syncthreads()
        for step in range(n + THREADS - 1):
            j = step - thread + 1
            if j >= 1 and j <= n:
                above = row[j] if thread == 0 else values[(step + 1) % 2, thread - 1]
                differs = 0 if letter & background[j - 1] else 1
                left = int32(smaller(smaller(left, above) + 1, corner + differs))
                corner = above
                least = smaller(least, left)
                values[step % 2, thread] = left
                if thread == THREADS - 1:
                    row[j] = left
            cuda.syncthreads()
        if i <= m and least >= k:
            cuda.atomic.min(found, 0, i)
        if thread == THREADS - 1:
            row[0] = i
        top += THREADS
        cuda.syncthreads()
    if thread == 0:
        _conclude(r, m, found[0] - 1, stop, table)


@cuda.jit(device=True)
def _conclude(r, m, c, stop, table):
    """The length of the primer, one letter more than c, or that there is none from here on."""
    if c < m:
        table[r] = c + 1
    else:
        table[r] = NONE
        cuda.atomic.min(stop, 0, r)


def alternative_fine(
    target: DeviceText, background: DeviceText, k: int, table: DeviceArray
) -> None:
    """Matrix L in tiles of diagonals, by columns: optimizations 3, 4, 5 and 6.

    Raises InputError for a k whose cells between tiles do not fit
    shared memory.
    """
    fixed = 4 * k + 3 * THREADS + 4 + 1
    if fixed > SHARED_WORDS:
        raise InputError(
            f"k = {k} is too large for algorithm 'alternative-fine' on a GPU, whose shared memory "
            f"holds {(SHARED_WORDS - 3 * THREADS - 5) // 4}; use conventional-fine"
        )
    starts = len(target)
    stop = target.put(np.full(1, starts))
    ahead = min(-(-AHEAD * k // THREADS) * THREADS, (SHARED_WORDS - fixed) // 2)
    shared = 4 * (fixed + 2 * ahead)
    for first in range(0, starts, BATCH):
        given = target.masks, background.masks, k, first, ahead, stop, table
        target.launch(_alternative, min(BATCH, starts - first), THREADS, *given, shared=shared)


@cuda.jit(device=True)
def _letter_of_background(background, j, low, start, ring):
    """Letter j, from the ring if it was fetched (optimization 6): letter `low` is at index `start`
    there."""
    index = j - low
    if index < 0 or index >= len(ring):
        return int32(background[j])
    index += start
    return ring[index if index < len(ring) else index - len(ring)]


@kept()
def _alternative(target, background, k, first, ahead, stop, table):
    """Fig. 6(b): a tile is a parallelogram, whose diagonals move down by one a column.

    Thread t has diagonal d = begin − e + t in column e. The cells of d − 1, d and d + 1 in the
    column before belong to threads t − 2, t − 1 and t. Shared memory, int32: the largest
    row found; two columns of THREADS + 2 cells; the last two cells of each column of the tile
    before, and of this one, all that a tile leaves to the next; letters of target and background.
    """
    shared = cuda.shared.array(0, int32)
    columns, width = 1, THREADS + 2
    edges = columns + 2 * width
    letters = shared[edges + 4 * k : edges + 4 * k + ahead]
    ring = shared[edges + 4 * k + ahead : edges + 4 * k + 2 * ahead + THREADS]
    thread = cuda.threadIdx.x
    r = first + cuda.blockIdx.x
    m, n = len(target) - r, len(background)
    for e in range(thread, 2 * k, THREADS):
        shared[edges + e] = -1
    for row in range(thread, ahead, THREADS):
        letters[row] = target[r + row] if row < m else 0
    for j in range(thread, ahead, THREADS):
        ring[j] = background[j] if j < n else 0
    if thread == 0:
        shared[0] = 0 if r < stop[0] else m  # read once, as other blocks lower it
    cuda.syncthreads()
    largest = shared[0]
    side = begin = 0
    active = largest < m
    while active and begin < n + k - 1:
        j = begin + ahead + thread  # a new segment of as many letters as there are threads
        start = begin % len(ring)
        ring[j % len(ring)] = background[j] if j < n else 0
        shared[columns + width + thread + 2] = -1
        if thread < 2:
            shared[columns + width + thread] = -1
        cuda.syncthreads()
        old, new = edges + 2 * k * side, edges + 2 * k * (1 - side)
        for e in range(k):
            here, before = columns + e % 2 * width, columns + (e + 1) % 2 * width
            d = begin - e + thread
            row = -1
            if d < n:
                row = larger(shared[before + thread], shared[before + thread + 1] + 1)
                row = smaller(larger(row, shared[before + thread + 2] + 1), m)
                while row < m and row + d < n:
                    letter = letters[row] if row < ahead else int32(target[r + row])
                    if not letter & _letter_of_background(background, row + d, begin, start, ring):
                        break
                    row += 1
                if e == k - 1:
                    largest = larger(largest, row)
            shared[here + thread + 2] = row
            if thread < 2:
                shared[here + thread] = shared[old + 2 * e + thread]
            if thread >= THREADS - 2:
                shared[new + 2 * e + thread - THREADS + 2] = row
            cuda.syncthreads()
        side = 1 - side
        begin += THREADS
    cuda.atomic.max(shared, 0, int32(largest))
    cuda.syncthreads()
    if thread == 0:
        _conclude(r, m, shared[0], stop, table)
