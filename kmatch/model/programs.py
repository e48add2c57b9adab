"""The programs of Nakano 2012 on a memory machine: each returns its time units and its result.

X has m letters and Y has n, uint8. x, y and the matrices follow each other in memory, each at a
multiple of w. `counts`, int64[2], receives the warps dispatched and their pipeline stages.
"""

from typing import NamedTuple

import numpy as np

from kmatch.jit import kernel
from kmatch.model.machine import read_alone, run_body, sweep

D, SLID, THREE_ROWS = 0, 1, 2  # the matrices d, s and s'
ACCESSES = 6  # of a thread for a cell: x, y, three cells read and one written


class Layout(NamedTuple):
    """Of the memory. matrix: d, s or s'; row: its length; y, cells: addresses at which Y and the
    matrix begin."""

    matrix: int
    row: int
    y: int
    cells: int


@kernel
def contiguous(n, threads, machine, counts):
    """Contiguous memory access (section III, Lemma 1)."""
    return sweep(np.arange(n), threads, machine, counts)


@kernel
def contiguous_bank(n, threads, machine, counts):
    """Contiguous bank access (Lemma 2): a warp accesses w banks, each in another address group."""
    groups = -(-n // machine.width)
    i = np.arange(n)
    bank, turn = i % machine.width, i // machine.width
    return sweep((turn + bank) % groups * machine.width + bank, threads, machine, counts)


@kernel
def _aligned(size, width):
    return -(-size // width) * width


@kernel
def _index(layout, i, j, m):
    """The index of d[i][j] in a matrix; −1 for what s' does not keep."""
    if layout.matrix == D:
        return i * layout.row + j
    if layout.matrix == SLID:
        return (i + j) * layout.row + j
    if i == 0 or j == 0:
        return -1
    return (i + j) % 3 * m + j % m


@kernel
def _distance(layout, i, j, m, cells):
    """d[i][j] by formulas (1) and (2), or as stored.

    Only three anti-diagonals are ever read, so `cells` holds three rows of s, in rotation.
    """
    if i == 0:
        return 0
    if j == 0:
        return i
    return cells[_index(layout, i, j, m) % len(cells)]


@kernel
def diagonals(x, y, matrix, machine, counts):
    """The parallel algorithm on d (section V), s or s' (section VI), with m threads.

    Returns (time units, ASM). On d and s a single thread looks for the smallest distance at the
    end; s' has lost the last row by then, so thread m keeps it.
    """
    m, n, width = len(x), len(y), machine.width
    row = _aligned(n + 1, width) if matrix == D else n + 1
    at_y = _aligned(m, width)
    at = at_y + _aligned(n, width)
    layout = Layout(matrix, row, at_y, at)
    cells = np.empty(((m + 1) * row, 3 * row, 3 * m)[matrix], np.int32)
    time = 0
    if matrix != THREE_ROWS:
        top = np.array([at + _index(layout, 0, j, m) for j in range(1, n + 1)])
        left = np.array([at + _index(layout, i, 0, m) for i in range(m + 1)])
        time += sweep(top, m, machine, counts) + sweep(left, m, machine, counts)
    smallest = m
    requests = np.empty((ACCESSES, m), np.int64)
    for step in range(1, n + m):
        requests[:] = -1
        for i in range(max(1, step - n + 1), min(m, step) + 1):
            distance = _cell(x, y, step, i, layout, cells, requests)
            if i == m:
                smallest = min(smallest, distance)
        time += run_body(requests, machine, counts)
    if matrix != THREE_ROWS:
        last = np.array([at + _index(layout, m, j, m) for j in range(n + 1)])
        time += read_alone(last, machine, counts)
    return time, smallest


@kernel
def _cell(x, y, step, i, layout, cells, requests):
    """Compute and store the cell of a step in row i, and note the requests of its thread."""
    m, thread, j = len(x), i - 1, step - i + 1
    requests[0, thread] = i - 1
    requests[1, thread] = layout.y + j - 1
    accessed = ((i, j - 1), (i - 1, j), (i - 1, j - 1), (i, j))
    for number, (row, column) in enumerate(accessed):
        index = _index(layout, row, column, m)
        requests[2 + number, thread] = layout.cells + index if index >= 0 else -1
    left = _distance(layout, i, j - 1, m, cells)
    above = _distance(layout, i - 1, j, m, cells)
    corner = _distance(layout, i - 1, j - 1, m, cells)
    differs = 0 if x[i - 1] == y[j - 1] else 1
    distance = min(left + 1, above + 1, corner + differs)
    cells[_index(layout, i, j, m) % len(cells)] = distance
    return distance


@kernel
def partition(x, y, machine, counts):
    """The improved algorithm of section VII, with m threads for each window of 3m letters.

    The matrices s' of the windows are side by side in one of 3n cells. Returns (time units, ASM).
    """
    m, n, width = len(x), len(y), machine.width
    windows = max(-(-n // m) - 2, 1)
    row = windows * m
    at_y = _aligned(m, width)
    at = at_y + _aligned(n, width)
    layout = Layout(THREE_ROWS, row, at_y, at)
    cells = np.empty(3 * row, np.int32)
    smallest = np.full(windows, m)
    requests = np.empty((ACCESSES, row), np.int64)
    time = 0
    for step in range(1, 4 * m):
        requests[:] = -1
        for window in range(windows):
            letters = min(3 * m, n - window * m)
            for i in range(max(1, step - letters + 1), min(m, step) + 1):
                distance = _window_cell(x, y, step, i, window, layout, cells, requests)
                if i == m:
                    smallest[window] = min(smallest[window], distance)
        time += run_body(requests, machine, counts)
    return time + _find_smallest(smallest, m, at + 3 * row, machine, counts), smallest.min()


@kernel
def _window_cell(x, y, step, i, window, layout, cells, requests):
    """Compute and store a window's cell of a step in row i; note the requests of its thread."""
    m, row, at = len(x), layout.row, layout.cells
    j = step - i + 1
    first = window * m
    thread = first + i - 1
    column, before = first + j % m, first + (j - 1) % m
    here, once, twice = (step + 1) % 3 * row, step % 3 * row, (step - 1) % 3 * row
    requests[0, thread] = i - 1
    requests[1, thread] = layout.y + first + j - 1
    left = above = corner = 0
    if j > 1:
        left = cells[once + before]
        requests[2, thread] = at + once + before
    else:
        left, corner = i, i - 1
    if i > 1:
        above = cells[once + column]
        requests[3, thread] = at + once + column
    if i > 1 and j > 1:
        corner = cells[twice + before]
        requests[4, thread] = at + twice + before
    requests[5, thread] = at + here + column
    differs = 0 if x[i - 1] == y[first + j - 1] else 1
    distance = min(left + 1, above + 1, corner + differs)
    cells[here + column] = distance
    return distance


@kernel
def _find_smallest(numbers, m, at, machine, counts):
    """The time units to find the smallest of numbers up to m with an array of m + 1 flags.

    All threads set the flags of their numbers, then one thread looks for the first that is set.
    """
    time = sweep(at + np.arange(m + 1), len(numbers), machine, counts)
    time += sweep(at + numbers, len(numbers), machine, counts)
    return time + read_alone(at + np.arange(numbers.min() + 1), machine, counts)
