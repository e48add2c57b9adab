"""Nakano 2012: the closest substring of a text, on the CPU.

Efficient implementations of the approximate string matching on the memory machine models, ICNC
2012. X is the pattern, of m letters, and Y the text, of n; d[i][j] is the smallest distance of the
first i letters of X to a substring that ends at letter j of Y, by formulas (1) to (5). Step k
computes the anti-diagonal of the cells with i + j = k + 1. Letters are sets of bases here, and x_i
≠ y_j where they share none.
"""

import numpy as np

from kmatch.arrays import Bytes, Ints
from kmatch.engine.cpu.hits import next_item
from kmatch.engine.workers import Workers
from kmatch.jit.entries import Entry, hosted
from kmatch.jit.kernels import kernel

WIDTH = 4096  # columns of d held at a time
TOO_FAR = -1

_slide_all = Entry(__name__, "_slide")


def diagonal(text: Bytes, pattern: Bytes, k: int, table: Ints) -> None:
    """The parallel algorithm of section V, for the DMM: d itself, an anti-diagonal at a time.

    d is held a panel of columns at a time; the last column of a panel is the first of the next. One
    thread computes all cells of a step, which do not wait for one another.
    """
    columns = min(WIDTH, len(text) + 1)
    d = np.empty((len(pattern) + 1, columns), np.int32)
    d[0] = 0
    d[:, 0] = np.arange(len(d))
    for first in range(0, len(text), WIDTH - 1):
        letters = text[first : first + WIDTH - 1]
        fill_diagonally(letters, pattern, d)
        count = len(letters)
        last = d[-1, 1 : count + 1]
        table[first : first + count] = np.where(last <= k, last, TOO_FAR)
        d[:, 0] = d[:, count]


@hosted
@kernel
def fill_diagonally(text, pattern, d):
    """Fill d, int32[m+1, ≥ n+1], whose row 0 and column 0 are given."""
    n = len(text)
    m = len(pattern)
    for step in range(1, n + m):
        for i in range(max(1, step - n + 1), min(m, step) + 1):
            j = step - i + 1
            differs = 0 if pattern[i - 1] & text[j - 1] else 1
            d[i, j] = min(d[i, j - 1] + 1, d[i - 1, j] + 1, d[i - 1, j - 1] + differs)


def slid(text: Bytes, pattern: Bytes, k: int, table: Ints) -> None:
    """The algorithm of Theorem 5, for the UMM: the slid matrix s, s[i+j][j] = d[i][j], with
    three rows kept, on one thread."""
    _slide_all(text, pattern, k, 0, table)


@kernel
def _slide(text, pattern, k, first, table):
    """Fill table, int32[n], from `first` on, by three rows of the array s', where column j of s is
    column j mod m.

    s[step+1][j] by formulas (3) to (5) from s[step][j−1], s[step][j] and s[step−1][j−1]; s[j][j] is
    0 and s[i][0] is i, neither of which is kept.

        columns of s'           j−1    j
        twice    s[step−1]     corner            d[i−1][j−1]
        before   s[step]       left   above      d[i][j−1], d[i−1][j]
        here     s[step+1]             ·         d[i][j]
    """
    n = len(text)
    m = len(pattern)
    rows = np.empty((3, m), np.int32)
    for step in range(1, n + m):
        here = rows[(step + 1) % 3]
        before = rows[step % 3]
        twice = rows[(step - 1) % 3]
        least = max(1, step - m + 1)
        column = least % m
        column_before = column - 1 if column else m - 1
        for j in range(least, min(n, step) + 1):
            i = step - j + 1
            left = before[column_before] if j > 1 else i
            above = before[column] if i > 1 else 0
            if i == 1:
                corner = 0
            elif j > 1:
                corner = twice[column_before]
            else:
                corner = i - 1
            differs = 0 if pattern[i - 1] & text[j - 1] else 1
            here[column] = min(left + 1, above + 1, corner + differs)
            column_before = column
            column = column + 1 if column + 1 < m else 0
        j = step - m + 1
        if j > first:
            distance = here[j % m]
            table[j - 1] = distance if distance <= k else TOO_FAR


def partition(text: Bytes, pattern: Bytes, k: int, table: Ints, workers: Workers) -> None:
    """The improved algorithm of section VII, Theorem 6: a window of 3m letters for every m letters,
    each on its own by the slid matrix.

    An occurrence no farther than m is at most 2m letters long, so a window has all occurrences that
    end in its last third; the first window has all that end anywhere in it.
    """
    windows = max(-(-len(text) // len(pattern)) - 2, 1)
    workers.run(_slide_windows, windows, text, pattern, k, table)


@hosted
@kernel
def _slide_windows(work, text, pattern, k, table):
    """Take windows of 3m letters, m letters apart; of all but the first the last third counts."""
    m = len(pattern)
    while True:
        window = next_item(work)
        if window < 0:
            return
        begin = window * m
        end = min((window + 3) * m, len(text))
        _slide(text[begin:end], pattern, k, 2 * m if window else 0, table[begin:end])
