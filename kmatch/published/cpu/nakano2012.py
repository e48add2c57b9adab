"""Nakano 2012: the closest substring of a text, on the CPU.

Efficient implementations of the approximate string matching on the memory machine models, ICNC
2012. X is the pattern, of m letters, and Y the text, of n; d[i][j] is the smallest distance of the
first i letters of X to a substring that ends at letter j of Y, by formulas (1) to (5). Step k
computes the anti-diagonal of the cells with i + j = k + 1. Letters are sets of bases here, and x_i
≠ y_j where they share none.
"""

import numba
import numpy as np
from numba import prange

from kmatch.arrays import Bytes, Ints
from kmatch.jit import kernel, parallel_kernel
from kmatch.published.cpu.text import HostText

WIDTH = 4096  # columns of d held at a time
GRAIN = 1024  # cells of an anti-diagonal worth a thread of their own
TOO_FAR = -1


def diagonal(text: HostText, pattern: Bytes, k: int) -> Ints:
    """The parallel algorithm of section V, for the DMM: d itself, an anti-diagonal at a time.

    d is held a panel of columns at a time, of which the last is the next one's first. See
    `kmatch.published`.
    """
    n = len(text.masks)
    d = text.empty((len(pattern) + 1, min(WIDTH, n + 1)), np.int32)
    table = text.table(n)
    parts = _parts(len(pattern))
    with text.timed():
        d[0], d[:, 0] = 0, np.arange(len(d))
        for first in range(0, n, WIDTH - 1):
            letters = text.masks[first : first + WIDTH - 1]
            fill = _fill_together if parts > 1 else fill_diagonally
            fill(letters, pattern, parts, d)
            last = d[-1, 1 : len(letters) + 1]
            table[first : first + len(letters)] = np.where(last <= k, last, TOO_FAR)
            d[:, 0] = d[:, len(letters)]
    return table


def _parts(m: int) -> int:
    return max(min(m // GRAIN, numba.get_num_threads()), 1)


@kernel
def fill_diagonally(text, pattern, parts, d):
    """Fill d, int32[m+1, ≥ n+1], whose row 0 and column 0 are given, on one thread."""
    for step in range(1, len(text) + len(pattern)):
        _fill_part(text, pattern, step, 1, len(pattern) + 1, d)


@parallel_kernel
def _fill_together(text, pattern, parts, d):
    """`fill_diagonally` on as many threads as there are parts."""
    m = len(pattern)
    for step in range(1, len(text) + m):
        for part in prange(parts):
            _fill_part(text, pattern, step, m * part // parts + 1, m * (part + 1) // parts + 1, d)


@kernel
def _fill_part(text, pattern, step, first, last, d):
    """The cells of a step in rows first … last−1."""
    for i in range(max(first, step - len(text) + 1), min(last, step + 1)):
        j = step - i + 1
        differs = 0 if pattern[i - 1] & text[j - 1] else 1
        d[i, j] = min(d[i, j - 1] + 1, d[i - 1, j] + 1, d[i - 1, j - 1] + differs)


def slid(text: HostText, pattern: Bytes, k: int) -> Ints:
    """The algorithm of Theorem 5, for the UMM: the slid matrix s, s[i+j][j] = d[i][j], of which
    three rows are kept. See `kmatch.published`."""
    n, m = len(text.masks), len(pattern)
    rows, table = text.empty(3 * m, np.int32), text.table(n)
    parts = _parts(m)
    with text.timed():
        if parts > 1:
            _slide_together(text.masks, pattern, k, parts, rows, table)
        else:
            _slide(text.masks, pattern, k, 0, rows, table)
    return table


@kernel
def _slide(text, pattern, k, first, rows, table):
    """Fill table, int32[n], from `first` on, on one thread; rows: int32[3·m], the array s'."""
    m = len(pattern)
    for step in range(1, len(text) + m):
        _slide_step(text, pattern, step, 0, m, rows)
        _report(step, m, k, first, rows, table)


@parallel_kernel
def _slide_together(text, pattern, k, parts, rows, table):
    """`_slide` on as many threads as there are parts."""
    m = len(pattern)
    for step in range(1, len(text) + m):
        for part in prange(parts):
            _slide_step(text, pattern, step, m * part // parts, m * (part + 1) // parts, rows)
        _report(step, m, k, 0, rows, table)


@kernel
def _report(step, m, k, first, rows, table):
    """Write d[m][step−m+1] to the table."""
    j = step - m + 1
    if j > first:
        distance = rows[(step + 1) % 3 * m + j % m]
        table[j - 1] = distance if distance <= k else TOO_FAR


@kernel
def _slide_step(text, pattern, step, first, last, rows):
    """The cells of a step in columns first … last−1 of s', where column j of s is column j mod m.

    The columns of a step are neighbours in s': those from the last multiple of m on come first,
    those before it behind them.
    """
    m = len(pattern)
    turn = step - step % m
    _slide_run(text, pattern, step, turn, first, min(last, step - turn + 1), rows)
    _slide_run(text, pattern, step, turn - m, max(first, step - turn + 1), last, rows)


@kernel
def _slide_run(text, pattern, step, turn, first, last, rows):
    """Cells of columns turn + first … turn + last − 1 of s."""
    m = len(pattern)
    first, last = max(first, 1 - turn), min(last, len(text) + 1 - turn)
    if first >= last:
        return
    here, before, twice = (step + 1) % 3 * m, step % 3 * m, (step - 1) % 3 * m
    inner, edge = max(first, 1, 2 - turn), min(last, step - turn)
    if first < inner:
        rows[here + first] = _edge_cell(text, pattern, step, turn, first, before, twice, rows)
    if inner < edge:
        _inner_cells(text, pattern, step, turn, (inner, edge), (here, before, twice), rows)
    if max(inner, edge) < last:
        rows[here + last - 1] = _edge_cell(text, pattern, step, turn, last - 1, before, twice, rows)


@kernel
def _edge_cell(text, pattern, step, turn, at, before, twice, rows):
    """s[k+1][j] where j = 1, where i = 1, or where column j − 1 is at the other end of s'.

    s[j][j] is 0 and s[i][0] is i; neither is kept.
    """
    j = turn + at
    i = step - j + 1
    edge = at - 1 if at else len(pattern) - 1
    left = rows[before + edge] if j > 1 else np.int32(i)
    above = rows[before + at] if i > 1 else np.int32(0)
    corner = (rows[twice + edge] if j > 1 else np.int32(i - 1)) if i > 1 else np.int32(0)
    differs = 0 if pattern[i - 1] & text[j - 1] else 1
    return min(left + 1, above + 1, corner + differs)


@kernel
def _inner_cells(text, pattern, step, turn, columns, starts, rows):
    """s[k+1][j] by formulas (3) to (5) from s[k][j−1], s[k][j] and s[k−1][j−1], for neighbours j.

    columns: (first, last + 1); starts: of the rows of this step, the one before and that before it.
    Indices are unsigned, as the loop is vectorised only where none can count from an array's end.
    """
    first, last = columns
    here, before, twice = starts
    one, next_one = np.int32(1), np.uint64(1)
    letter, other = np.uint64(turn + first - 1), np.uint64(step - turn - first)
    here, before, twice = (
        np.uint64(here + first),
        np.uint64(before + first),
        np.uint64(twice + first),
    )
    for at in range(np.uint64(last - first)):
        differs = np.int32(text[letter + at] & pattern[other - at] == 0)
        beside = min(rows[before + at - next_one], rows[before + at])
        rows[here + at] = min(beside + one, rows[twice + at - next_one] + differs)


def partition(text: HostText, pattern: Bytes, k: int) -> Ints:
    """The improved algorithm of section VII, Theorem 6: a window of 3m letters for every m letters,
    each on its own by the slid matrix. See `kmatch.published`.

    An occurrence no farther than m is at most 2m letters long, so a window has all those that end
    in its last third; the first one has those in all of it.
    """
    n, m = len(text.masks), len(pattern)
    table = text.table(n)
    with text.timed():
        _windows(text.masks, pattern, k, count_windows(n, m), table)
    return table


def count_windows(n: int, m: int) -> int:
    """Windows of 3m letters, each m letters after the one before, that n letters need."""
    return max(-(-n // m) - 2, 1)


@parallel_kernel
def _windows(text, pattern, k, windows, table):
    m = len(pattern)
    for window in prange(windows):
        first, last = window * m, min((window + 3) * m, len(text))
        rows = np.empty(3 * m, np.int32)
        _slide(text[first:last], pattern, k, 2 * m if window else 0, rows, table[first:last])
