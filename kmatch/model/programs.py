"""The programs of Nakano 2012 on a memory machine: each gives its time units, and what it computes.

X has m letters and Y n, uint8. x, y and the matrices lie behind one another in memory, each at a
multiple of w. `counts`, int64[2], receives the warps dispatched and their pipeline stages.
"""

from typing import NamedTuple

import numpy as np

from kmatch.jit import kernel
from kmatch.model.machine import read_alone, run_body, sweep

D, SLID, THREE_ROWS = 0, 1, 2  # the matrices d, s and s'
ACCESSES = 6  # of a thread for a cell: x, y, three cells read and one written


@kernel
def contiguous(n, threads, machine, counts):
    """Contiguous memory access (section III, Lemma 1)."""
    return sweep(np.arange(n), threads, machine, counts)


@kernel
def contiguous_bank(n, threads, machine, counts):
    """Contiguous bank access (Lemma 2): address i mod w of address groups that differ in a warp."""
    groups = -(-n // machine.width)
    i = np.arange(n)
    bank, turn = i % machine.width, i // machine.width
    return sweep((turn + bank) % groups * machine.width + bank, threads, machine, counts)


@kernel
def _aligned(size, width):
    return -(-size // width) * width


class Memory(NamedTuple):
    """Where things lie in memory, x at 0.

    at_y: y; at: the matrix, of kind `matrix`, with rows of `row` numbers; cells: int32, what is
    kept of it.
    """

    matrix: int
    row: int
    at_y: int
    at: int
    cells: np.ndarray


@kernel
def _address(memory, i, j, m):
    """Where d[i][j] lies in a matrix; −1 where s' does not keep it."""
    matrix, row = memory.matrix, memory.row
    if matrix == D:
        return i * row + j
    if matrix == SLID:
        return (i + j) * row + j
    if i == 0 or j == 0:
        return -1
    return (i + j) % 3 * m + j % m


@kernel
def _distance(memory, i, j, m):
    """d[i][j] by formulas (1) and (2), or as it was stored.

    Only three anti-diagonals are ever read, so `cells` holds three rows of s, in turn.
    """
    if i == 0:
        return 0
    if j == 0:
        return i
    return memory.cells[_address(memory, i, j, m) % len(memory.cells)]


@kernel
def diagonals(x, y, matrix, machine, counts):
    """The parallel algorithm by m threads on d (section V), s or s' (section VI).

    Returns (time units, ASM). On d and s a single thread looks for the smallest distance at the
    end; s' no longer has the last row then, so thread m keeps it.
    """
    m, n, width = len(x), len(y), machine.width
    row = _aligned(n + 1, width) if matrix == D else n + 1
    at_y = _aligned(m, width)
    at = at_y + _aligned(n, width)
    size = ((m + 1) * row, 3 * row, 3 * m)[matrix]
    memory = Memory(matrix, row, at_y, at, np.empty(size, np.int32))
    time = 0
    if matrix != THREE_ROWS:
        top = np.array([at + _address(memory, 0, j, m) for j in range(1, n + 1)])
        left = np.array([at + _address(memory, i, 0, m) for i in range(m + 1)])
        time += sweep(top, m, machine, counts) + sweep(left, m, machine, counts)
    smallest = m
    requests = np.empty((ACCESSES, m), np.int64)
    for step in range(1, n + m):
        requests[:] = -1
        for i in range(max(1, step - n + 1), min(m, step) + 1):
            distance = _cell(x, y, step, i, memory, requests)
            if i == m:
                smallest = min(smallest, distance)
        time += run_body(requests, machine, counts)
    if matrix != THREE_ROWS:
        last = np.array([at + _address(memory, m, j, m) for j in range(n + 1)])
        time += read_alone(last, machine, counts)
    return time, smallest


@kernel
def _cell(x, y, step, i, memory, requests):
    """The cell of a step in row i, stored, with the requests of its thread."""
    m, thread, j = len(x), i - 1, step - i + 1
    requests[0, thread] = i - 1
    requests[1, thread] = memory.at_y + j - 1
    places = ((i, j - 1), (i - 1, j), (i - 1, j - 1), (i, j))
    for number, (row_number, column) in enumerate(places):
        address = _address(memory, row_number, column, m)
        requests[2 + number, thread] = memory.at + address if address >= 0 else -1
    left = _distance(memory, i, j - 1, m)
    above = _distance(memory, i - 1, j, m)
    corner = _distance(memory, i - 1, j - 1, m)
    differs = 0 if x[i - 1] == y[j - 1] else 1
    distance = min(left + 1, above + 1, corner + differs)
    memory.cells[_address(memory, i, j, m) % len(memory.cells)] = distance
    return distance


@kernel
def partition(x, y, machine, counts):
    """The improved algorithm of section VII, m threads for each window of 3m letters.

    The windows' matrices s' lie side by side in one of 3n. Returns (time units, ASM).
    """
    m, n, width = len(x), len(y), machine.width
    windows = max(-(-n // m) - 2, 1)
    row = windows * m
    at_y = _aligned(m, width)
    at = at_y + _aligned(n, width)
    memory = Memory(THREE_ROWS, row, at_y, at, np.empty(3 * row, np.int32))
    smallest = np.full(windows, m)
    requests = np.empty((ACCESSES, row), np.int64)
    time = 0
    for step in range(1, 4 * m):
        requests[:] = -1
        for window in range(windows):
            letters = min(3 * m, n - window * m)
            for i in range(max(1, step - letters + 1), min(m, step) + 1):
                distance = _window_cell(x, y, step, i, window, memory, requests)
                if i == m:
                    smallest[window] = min(smallest[window], distance)
        time += run_body(requests, machine, counts)
    return time + _find_smallest(smallest, m, at + 3 * row, machine, counts), smallest.min()


@kernel
def _window_cell(x, y, step, i, window, memory, requests):
    """The cell of a step in row i of a window, stored, with the requests of its thread."""
    _, row, at_y, at, cells = memory
    m = len(x)
    j = step - i + 1
    first = window * m
    thread = first + i - 1
    column, before = first + j % m, first + (j - 1) % m
    here, once, twice = (step + 1) % 3 * row, step % 3 * row, (step - 1) % 3 * row
    requests[0, thread] = i - 1
    requests[1, thread] = at_y + first + j - 1
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
    """Time units to find the smallest of numbers up to m, by an array v of m + 1 flags.

    All threads set v[number], then one of them looks for the first that is set.
    """
    time = sweep(at + np.arange(m + 1), len(numbers), machine, counts)
    time += sweep(at + numbers, len(numbers), machine, counts)
    return time + read_alone(at + np.arange(numbers.min() + 1), machine, counts)
