"""The memory machine models of Nakano 2012, simulated: how long access patterns take on them.

Section II: the memory of a Discrete or a Unified Memory Machine has w banks; address a is in bank
a mod w and in address group a // w. w threads form a warp. Warps with requests are dispatched in
turn, one request a thread; a warp that waits for its last requests sends no new ones. A warp's
requests enter a pipeline: on the DMM one to each bank at a time, on the UMM those to one address
group at a time; requests for one address count once. A request is complete after l time units.

A program returns its time units, and the distance that it computes. X has m letters and Y has n,
uint8; x, y and the matrices follow each other in memory, each at a multiple of w. `counts`,
int64[2], receives the warps dispatched and their pipeline stages.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from kmatch.errors import InputError
from kmatch.jit.kernels import kernel

SEED = 2012
D, SLID, THREE_ROWS = 0, 1, 2  # the matrices d, s and s'
ACCESSES = 6  # of a thread for a cell: x, y, three cells read and one written


class Machine(NamedTuple):
    """unified: whether this is a UMM; width: w, banks, and threads of a warp; latency: l."""

    unified: bool
    width: int
    latency: int


@kernel
def run_body(requests, machine, counts):
    """The time units of a parallel loop's body, from one barrier to the next.

    requests: int64[r, p], the r addresses that each of p threads accesses in turn, −1 for none.
    """
    rounds, threads = requests.shape
    warps = -(-threads // machine.width)
    following = np.zeros(warps, np.int64)
    complete = np.zeros(warps, np.int64)
    free = 0  # time at which the pipeline takes the next warp
    sending = True
    while sending:
        sending = False
        for warp in range(warps):
            first = warp * machine.width
            last = min(first + machine.width, threads)
            stages = 0
            while stages == 0 and following[warp] < rounds:
                stages = _stages(requests[following[warp], first:last], machine)
                following[warp] += 1
            if stages:
                sending = True
                free = max(free, complete[warp]) + stages
                complete[warp] = free + machine.latency - 1
                counts[0] += 1
                counts[1] += stages
    return complete.max()


@kernel
def _stages(addresses, machine):
    """Pipeline stages that the requests of a warp take: on the UMM its address groups, on the DMM
    the most addresses of a bank."""
    wanted = np.sort(addresses)
    stages, before = 0, -1
    in_bank = np.zeros(machine.width, np.int64)
    for address in wanted:
        if machine.unified:
            stages += address >= 0 and (before < 0 or address // machine.width != before)
            before = address // machine.width if address >= 0 else -1
        elif address > before:
            in_bank[address % machine.width] += 1
            stages = max(stages, in_bank[address % machine.width])
            before = address
    return stages


@kernel
def sweep(addresses, threads, machine, counts):
    """The time units in which p threads access n addresses, p at a time, a barrier after each turn.

    Section III: thread i accesses address p·t + i in turn t.
    """
    time = 0
    for first in range(0, len(addresses), threads):
        turn = addresses[first : first + threads]
        time += run_body(turn.reshape((1, len(turn))), machine, counts)
    return time


@kernel
def read_alone(addresses, machine, counts):
    """The time units in which one thread accesses n addresses."""
    return run_body(addresses.reshape((len(addresses), 1)), machine, counts)


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


class Layout(NamedTuple):
    """Of the memory. matrix: d, s or s'; row: its length; y, cells: addresses at which Y and the
    matrix begin; m: letters of X."""

    matrix: int
    row: int
    y: int
    cells: int
    m: int


@kernel
def _aligned(size, width):
    return -(-size // width) * width


@kernel
def _index(layout, i, j, first):
    """The index of d[i][j] in a matrix; −1 for what s' does not keep.

    first: letters before the window, and where its columns of s' begin.
    """
    if layout.matrix == D:
        return i * layout.row + j
    if layout.matrix == SLID:
        return (i + j) * layout.row + j
    if i == 0 or j == 0:
        return -1
    return (i + j) % 3 * layout.row + first + j % layout.m


@kernel
def _distance(layout, i, j, first, cells):
    """d[i][j] by formulas (1) and (2), or as stored.

    Only three anti-diagonals are ever read, so `cells` holds three rows of s, in rotation.
    """
    if i == 0:
        return 0
    if j == 0:
        return i
    return cells[_index(layout, i, j, first) % len(cells)]


@kernel
def diagonals(x, y, matrix, machine, counts):
    """The parallel algorithm on d (section V), s or s' (section VI), with m threads.

    Returns (time units, ASM). On d and s a single thread looks for the smallest distance at the
    end; s' has lost the last row by then, so thread m keeps it.
    """
    m, n, width = len(x), len(y), machine.width
    row = (_aligned(n + 1, width), n + 1, m)[matrix]
    at_y = _aligned(m, width)
    at = at_y + _aligned(n, width)
    layout = Layout(matrix, row, at_y, at, m)
    time = 0
    if matrix != THREE_ROWS:
        top = np.array([at + _index(layout, 0, j, 0) for j in range(1, n + 1)])
        left = np.array([at + _index(layout, i, 0, 0) for i in range(m + 1)])
        time += sweep(top, m, machine, counts) + sweep(left, m, machine, counts)
    steps, smallest = _windows(x, y, 1, n, layout, machine, counts)
    time += steps
    if matrix != THREE_ROWS:
        last = np.array([at + _index(layout, m, j, 0) for j in range(n + 1)])
        time += read_alone(last, machine, counts)
    return time, smallest[0]


@kernel
def partition(x, y, machine, counts):
    """The improved algorithm of section VII, with m threads for each window of 3m letters.

    The matrices s' of the windows are side by side in one of 3n cells. Returns (time units, ASM).
    """
    m, n, width = len(x), len(y), machine.width
    windows = max(-(-n // m) - 2, 1)
    at_y = _aligned(m, width)
    at = at_y + _aligned(n, width)
    layout = Layout(THREE_ROWS, windows * m, at_y, at, m)
    time, smallest = _windows(x, y, windows, 3 * m, layout, machine, counts)
    time += _find_smallest(smallest, m, at + 3 * windows * m, machine, counts)
    return time, smallest.min()


@kernel
def _windows(x, y, windows, letters, layout, machine, counts):
    """The anti-diagonals of all windows, m letters apart, each of m threads and so many letters.

    Returns (time units, the smallest distance of the last row of each window).
    """
    m, n = len(x), len(y)
    rows = m + 1 if layout.matrix == D else 3
    cells = np.empty(rows * layout.row, np.int32)
    smallest = np.full(windows, m)
    requests = np.empty((ACCESSES, windows * m), np.int64)
    time = 0
    for step in range(1, letters + m):
        requests[:] = -1
        for window in range(windows):
            last = min(letters, n - window * m)
            for i in range(max(1, step - last + 1), min(m, step) + 1):
                distance = _cell(x, y, step, i, window * m, layout, cells, requests)
                if i == m:
                    smallest[window] = min(smallest[window], distance)
        time += run_body(requests, machine, counts)
    return time, smallest


@kernel
def _cell(x, y, step, i, first, layout, cells, requests):
    """Compute and store a window's cell of a step in row i, and note the requests of its thread."""
    thread, j = first + i - 1, step - i + 1
    requests[0, thread] = i - 1
    requests[1, thread] = layout.y + first + j - 1
    accessed = ((i, j - 1), (i - 1, j), (i - 1, j - 1), (i, j))
    for number, (row, column) in enumerate(accessed):
        index = _index(layout, row, column, first)
        requests[2 + number, thread] = layout.cells + index if index >= 0 else -1
    left = _distance(layout, i, j - 1, first, cells)
    above = _distance(layout, i - 1, j, first, cells)
    corner = _distance(layout, i - 1, j - 1, first, cells)
    differs = 0 if x[i - 1] == y[first + j - 1] else 1
    distance = min(left + 1, above + 1, corner + differs)
    cells[_index(layout, i, j, first) % len(cells)] = distance
    return distance


@kernel
def _find_smallest(numbers, m, at, machine, counts):
    """The time units to find the smallest of numbers up to m with an array of m + 1 flags.

    All threads set the flags of their numbers, then one thread looks for the first that is set.
    """
    time = sweep(at + np.arange(m + 1), len(numbers), machine, counts)
    time += sweep(at + numbers, len(numbers), machine, counts)
    return time + read_alone(at + np.arange(numbers.min() + 1), machine, counts)


class Sizes(NamedTuple):
    """n, m: letters of Y and X; w, l: a machine's width and latency; p: threads of the two
    contiguous accesses to n addresses."""

    n: int
    m: int
    w: int
    l: int  # noqa: E741  the paper's name
    p: int


class Simulated(NamedTuple):
    """A program on a machine.

    time: units counted; bound: those of the paper's `statement`, without its constant; stages: of
    the memory's pipeline, for a warp's requests on average; asm: the distance computed, or None.
    """

    program: str
    machine: str
    sizes: Sizes
    threads: int
    time: int
    statement: str
    bound: float
    stages: float
    asm: int | None

    @property
    def ratio(self) -> float:
        """Time units counted ÷ those of the bound."""
        return self.time / self.bound


def simulate(sizes: Sizes) -> Iterator[Simulated]:
    """Yield all programs on both machines, with random strings X and Y.

    Raises InputError for sizes below 1 or m > n.
    """
    n, m, w, l, p = sizes  # noqa: E741
    if min(sizes) < 1 or m > n:
        raise InputError(
            f"n = {n}, m = {m}, w = {w}, l = {l}, p = {p}: give 1 ≤ m ≤ n and 1 or more"
        )
    letters = np.random.default_rng(SEED).integers(0, 4, n + m).astype(np.uint8)
    x, y = letters[:m], letters[m:]
    access = n / w + n * l / p
    cells = n * m / w + n * l
    windows = n * m / w + m * l
    threads = max(-(-n // m) - 2, 1) * m
    for unified in (False, True):
        # The UMM has no upper bound here; sections III and VI say what it costs.
        bank = ("section III", float(n)) if unified else ("Lemma 2", access)
        on_d = ("section VI", float(n * m)) if unified else ("Lemma 3", cells)
        programs: tuple[tuple[str, int, str, float, Any, tuple[Any, ...]], ...] = (
            ("contiguous", p, "Lemma 1", access, contiguous, (n, p)),
            ("contiguous bank", p, *bank, contiguous_bank, (n, p)),
            ("diagonals on d", m, *on_d, diagonals, (x, y, D)),
            ("diagonals on s", m, "Lemma 4", cells, diagonals, (x, y, SLID)),
            ("diagonals on s'", m, "Theorem 5", cells, diagonals, (x, y, THREE_ROWS)),
            ("partition", threads, "Theorem 6", windows, partition, (x, y)),
        )
        for name, p_of, statement, bound, program, given in programs:
            counts = np.zeros(2, np.int64)
            result = program(*given, Machine(unified, w, l), counts)
            time, asm = result if isinstance(result, tuple) else (result, None)
            kind, stages = "UMM" if unified else "DMM", int(counts[1]) / int(counts[0])
            yield Simulated(name, kind, sizes, p_of, int(time), statement, bound, stages, asm)
