"""Feuser, Moreano 2018: the k-difference primer problem, on the CPU.

Parallel solutions to the k-difference primer problem, ICCS 2018. α is the target and β the
background. For each letter r of α the algorithms find the longest prefix from r on, of c letters,
that has k − 1 differences from some substring of β; with one letter more it is the primer. Once
there is none, later letters have none either (Fig. 1). The paper asks for c ≠ 0, but c = 0 has to
count: with k = 1 a letter that β lacks is a primer by itself. Letters are sets of bases here.
"""

import numpy as np

from kmatch.arrays import Bytes, Ints
from kmatch.engine.cpu.hits import next_item
from kmatch.engine.workers import Workers
from kmatch.jit.entries import hosted
from kmatch.jit.kernels import kernel
from kmatch.published.cpu.nakano2012 import fill_diagonally

STRIP = 64  # rows of D held at a time
NONE = -1


def conventional(target: Bytes, background: Bytes, k: int, table: Ints, workers: Workers) -> None:
    """Matrix D row by row, up to the first row that is k or more throughout (optimization 1).

    Coarse-grained: a matrix a thread.
    """
    table[:] = NONE
    workers.run(_each_start, len(target), target, background, k, False, table)


def alternative(target: Bytes, background: Bytes, k: int, table: Ints, workers: Workers) -> None:
    """Matrix L column by column, up to the first cell at the end of α (optimization 2).

    Coarse-grained: a matrix a thread.
    """
    table[:] = NONE
    workers.run(_each_start, len(target), target, background, k, True, table)


@hosted
@kernel
def _each_start(work, target, background, k, by_diagonals, table):
    """Fig. 4(a): starts are shared out to the threads, until one has no primer."""
    n = len(target)
    while True:
        r = next_item(work)
        if r < 0:
            return
        if by_diagonals:
            c = _alternative_prefix(target[r:], background, k)
        else:
            c = _conventional_prefix(target[r:], background, k)
        if c < n - r:
            table[r] = c + 1
        else:
            work[0] = work[1]


@kernel
def _conventional_prefix(letters, background, k):
    """Fig. 2(a); all letters where a prefix of k − 1 differences has them all."""
    row = np.zeros(len(background) + 1, np.int32)
    for i in range(1, len(letters) + 1):
        corner = row[0]
        left = np.int32(i)
        row[0] = left
        least = left
        for j in range(1, len(row)):
            above = row[j]
            differs = 0 if letters[i - 1] & background[j - 1] else 1
            left = min(np.int32(min(left, above) + 1), np.int32(corner + differs))
            row[j] = left
            corner = above
            least = min(least, left)
        if least >= k:
            return i - 1
    return len(letters)


@kernel
def _alternative_prefix(letters, background, k):
    """Fig. 2(b): L[d, e] is the last row of diagonal d that e differences reach."""
    n = len(background)
    columns = np.full((2, n + k + 2), -1, np.int32)
    c = 0
    for e in range(k):
        c = _column(letters, background, k, -e, n, columns[e % 2], columns[(e + 1) % 2])
        if c == len(letters):
            break
    return c


@kernel
def _column(letters, background, k, first, last, before, here):
    """L[first … last−1, e] from L[·, e−1], both at d + k; returns the largest.

    It ends with a diagonal that has all the letters (optimization 2).
    """
    m = len(letters)
    n = len(background)
    largest = 0
    for d in range(first, last):
        row = min(max(before[d + k - 1], before[d + k] + 1, before[d + k + 1] + 1), m)
        while row < m and row + d < n and letters[row] & background[row + d]:
            row += 1
        here[d + k] = row
        largest = max(largest, row)
        if row == m:
            break
    return largest


def conventional_fine(target: Bytes, background: Bytes, k: int, table: Ints) -> None:
    """Matrix D by anti-diagonals, whose cells do not wait for one another.

    Strips of rows make it possible to stop at a row that is k or more throughout (optimization 4 by
    way of 1). Their anti-diagonals are too short to be worth more than one thread.
    """
    rows = np.empty((STRIP + 1, len(background) + 1), np.int32)
    table[:] = NONE
    for r in range(len(target)):
        rows[0] = 0
        for at in range(r, len(target), STRIP):
            letters = target[at : at + STRIP]
            strip = rows[: len(letters) + 1]
            strip[:, 0] = np.arange(at - r, at - r + len(strip))
            fill_diagonally(background, letters, strip)
            far = np.flatnonzero(strip[1:].min(axis=1) >= k)
            if len(far):
                table[r] = strip[1 + far[0], 0]
                break
            rows[0] = strip[-1]
        else:
            return


def alternative_fine(
    target: Bytes, background: Bytes, k: int, table: Ints, workers: Workers
) -> None:
    """Matrix L by columns, whose cells are shared out to the threads (Fig. 4(b)).

    Every thread keeps the largest row that it finds, and the largest of these is c (optimization
    3).
    """
    parts = workers.threads
    columns = np.empty((2, len(background) + k + 2), np.int32)
    table[:] = NONE
    for r in range(len(target)):
        letters = target[r:]
        largest = np.zeros(parts, np.int64)
        columns[:] = -1
        for e in range(k):
            workers.run(_parts_of_column, parts, letters, background, k, e, columns, largest)
            if largest.max() == len(letters):  # optimization 2
                return
        table[r] = largest.max() + 1


@hosted
@kernel
def _parts_of_column(work, letters, background, k, e, columns, largest):
    n = len(background)
    parts = len(largest)
    while True:
        part = next_item(work)
        if part < 0:
            return
        first = -e + (n + e) * part // parts
        last = -e + (n + e) * (part + 1) // parts
        before = columns[e % 2]
        here = columns[(e + 1) % 2]
        largest[part] = _column(letters, background, k, first, last, before, here)
