"""The memory machine models of Nakano 2012, simulated: how long access patterns take on them.

Section II: the memory of a Discrete or a Unified Memory Machine has w banks; address a is in bank
a mod w and in address group a // w. w threads form a warp. Warps with requests are dispatched in
turn, one request a thread; a warp that waits for its last requests sends no new ones. A warp's
requests enter a pipeline: on the DMM one to each bank at a time, on the UMM requests to one address
group at a time; requests for one address count once. A request is complete after l time units.

A program yields the bodies of its parallel loops, from one barrier to the next: int64[r, p], the r
addresses that each of p threads accesses in turn, −1 for none. It may return the distance that it
computes. X has m letters and Y has n, uint8; x, y and the matrices follow each other in memory,
each at a multiple of w.
"""

from collections.abc import Callable, Generator, Iterator
from itertools import groupby, islice
from typing import NamedTuple

import numpy as np

from kmatch.arrays import Bools, Bytes, Longs
from kmatch.errors import InputError

SEED = 2012
D, SLID, THREE_ROWS = range(3)  # the matrices d, s and s'
TOGETHER = 64  # bodies that are run at once
ACCESSES = 6  # of a thread for a cell: x, y, three cells read and one written

Program = Generator[Longs, None, int | None]
Cell = Callable[..., Longs]  # see `_cells`


class Machine(NamedTuple):
    """unified: whether this is a UMM; width: w, banks, and threads of a warp; latency: l."""

    unified: bool
    width: int
    latency: int


def run_bodies(requests: Longs, machine: Machine) -> list[int]:
    """Return the time units that bodies of parallel loops take, one after the other.

    requests: int64[b, r, p], the r addresses that each of p threads accesses in b bodies. Time
    units, warps dispatched and their pipeline stages.
    """
    stages = _stages(requests, machine)
    # A warp whose threads access nothing in a round sends its next requests in place of it.
    order = np.argsort(stages == 0, axis=1, kind="stable")
    turns = np.take_along_axis(stages, order, axis=1).swapaxes(0, 1)
    units = _time(turns, machine.latency)
    return [int(units), int(np.count_nonzero(stages)), int(stages.sum())]


def _stages(requests: Longs, machine: Machine) -> Longs:
    """Return the pipeline stages of each warp's requests, int64[b, r, warps]; see `run_bodies`."""
    bodies, rounds, threads = requests.shape
    width = machine.width
    warps = -(-threads // width)
    addresses = np.full((bodies, rounds, warps * width), -1)
    addresses[:, :, :threads] = requests
    addresses = np.sort(addresses.reshape(-1, width))
    groups = addresses // width
    if machine.unified:
        addresses = groups
    # Requests for one address, on a UMM for one address group, count once.
    is_counted = addresses >= 0
    is_counted[:, 1:] &= addresses[:, 1:] != addresses[:, :-1]
    if machine.unified:
        stages = is_counted.sum(axis=1)
    else:
        warp, column = np.nonzero(is_counted)
        banks = warp * width + addresses[warp, column] % width
        in_bank = np.bincount(banks, minlength=addresses.size)
        stages = in_bank.reshape(-1, width).max(axis=1)
    return stages.reshape(bodies, rounds, warps)


def _time(turns: Longs, latency: int) -> int:
    """Return the time units of bodies, one after the other.

    turns: int64[r, b, warps], the stages of the requests that each warp sends in turn, 0 for none.

        latency 3      time   1 2 3 4 5 6 7
        warp 0, 2 stages      s s . .          complete at 4
        warp 1, 1 stage           s . .        complete at 5
        warp 0, 1 stage               s . .    waits for its last requests: complete at 7
    """
    _, bodies, warps = turns.shape
    pipeline_free = np.zeros((bodies, 1), np.int64)  # when it takes the next warp
    complete = np.zeros((bodies, warps), np.int64)
    for stages in turns:
        passed = np.cumsum(stages, axis=1)
        waited = np.where(stages, complete - (passed - stages), 0)  # for a warp's last requests
        ends = passed + np.maximum(np.maximum.accumulate(waited, axis=1), pipeline_free)
        complete = np.where(stages, ends + latency - 1, complete)
        pipeline_free = ends[:, -1:]
    return int(complete.max(axis=1).sum())


def run(program: Program, *machines: Machine) -> tuple[int | None, list[list[int]]]:
    """Run a program on machines; returns its distance, and the times of each by `run_bodies`."""
    distance = None
    counts = np.zeros((len(machines), 3), np.int64)

    def bodies() -> Iterator[Longs]:
        nonlocal distance
        distance = yield from program

    for _, alike in groupby(bodies(), np.shape):
        while together := list(islice(alike, TOGETHER)):
            counts += [run_bodies(np.array(together), machine) for machine in machines]
    return distance, counts.tolist()


def sweep(addresses: Longs, threads: int) -> Program:
    """p threads access n addresses, p at a time, a barrier after each turn.

    Section III: thread i accesses address p·t + i in turn t. Of neighbouring addresses that is
    contiguous memory access (Lemma 1).
    """
    for first in range(0, len(addresses), threads):
        yield addresses[None, first : first + threads]
    return None


def contiguous_bank(n: int, threads: int, width: int) -> Program:
    """Contiguous bank access (Lemma 2): a warp accesses w banks, each in another address group."""
    turn, bank = np.divmod(np.arange(n), width)
    groups = -(-n // width)
    group = (turn + bank) % groups
    return sweep(group * width + bank, threads)


def _aligned(size: int, width: int) -> int:
    return -(-size // width) * width


def _cells(matrix: int, row: int, begin: int, m: int) -> Cell:
    """Return a function for the addresses of d[i][j], in rows of d, s or s' from `begin` on."""

    def cell(i: Longs, j: Longs, first: Longs | int = 0) -> Longs:
        """Return addresses, −1 for cells that s' does not keep.

        first: letters before the window, and where its columns of s' begin.
        """
        if matrix == D:
            return begin + i * row + j
        if matrix == SLID:
            return begin + (i + j) * row + j
        at = begin + (i + j) % 3 * row + first + j % m
        return np.where((i == 0) | (j == 0), -1, at)

    return cell


def diagonals(x: Bytes, y: Bytes, matrix: int, width: int) -> Program:
    """The parallel algorithm on d (section V), s or s' (section VI), with m threads.

    Returns ASM. On d and s a single thread looks for the smallest distance at the end; s' has lost
    the last row by then, so thread m keeps it.
    """
    m = len(x)
    n = len(y)
    row_size = (_aligned(n + 1, width), n + 1, m)[matrix]
    at_y = _aligned(m, width)
    cell = _cells(matrix, row_size, at_y + _aligned(n, width), m)
    columns = np.arange(n + 1)
    rows = np.arange(m + 1)
    if matrix != THREE_ROWS:
        first_row = cell(0 * columns, columns)
        first_column = cell(rows, 0 * rows)
        yield from sweep(first_row[1:], m)
        yield from sweep(first_column, m)
    smallest = yield from _windows(x, y, 1, n, at_y, cell)
    if matrix != THREE_ROWS:
        last_row = cell(0 * columns + m, columns)
        yield from sweep(last_row, 1)
    return int(smallest[0])


def partition(x: Bytes, y: Bytes, width: int) -> Program:
    """The improved algorithm of section VII, with m threads for each window of 3m letters.

    The matrices s' of the windows are side by side in one of 3n cells. Returns ASM.
    """
    m = len(x)
    n = len(y)
    windows = max(-(-n // m) - 2, 1)
    at_y = _aligned(m, width)
    begin = at_y + _aligned(n, width)
    cell = _cells(THREE_ROWS, windows * m, begin, m)
    smallest = yield from _windows(x, y, windows, 3 * m, at_y, cell)
    # The smallest of numbers up to m, with an array of m + 1 flags: all threads set the flags of
    # their numbers, then one thread looks for the first that is set.
    flags = begin + 3 * windows * m
    closest = int(smallest.min())
    yield from sweep(flags + np.arange(m + 1), windows)
    yield from sweep(flags + smallest, windows)
    yield from sweep(flags + np.arange(closest + 1), 1)
    return closest


def _windows(
    x: Bytes, y: Bytes, windows: int, letters: int, at_y: int, cell: Cell
) -> Generator[Longs, None, Longs]:
    """The anti-diagonals of all windows, m letters apart, each of m threads and so many letters.

    at_y: the address at which Y begins; cell: gives addresses of d[i][j]. Returns the smallest
    distance of the last row of each window. d[i][j] follows from formulas (1) and (2), d[0][j] is 0
    and d[i][0] is i.
    """
    m = len(x)
    n = len(y)
    first = m * np.arange(windows)[:, None]  # letters before each window
    i = np.arange(1, m + 1)
    last = np.minimum(letters, n - first)
    smallest = np.full(windows, m)
    # The last two anti-diagonals, int64[windows, m + 1], by row of d.
    before = np.zeros((windows, m + 1), np.int64)
    here = np.zeros((windows, m + 1), np.int64)
    here[:, 1] = 1
    for step in range(1, letters + m):
        twice = before
        before = here
        j = step - i + 1
        inside = (j >= 1) & (j <= last)
        letter = y[np.clip(first + j - 1, 0, n - 1)]
        here = _next_diagonal(before, twice, x != letter)
        if step < m:
            here[:, step + 1] = step + 1
        in_last_row = inside[:, -1]
        smallest[in_last_row] = np.minimum(smallest, here[:, m])[in_last_row]
        # The letters of X and Y, the cells on the left, above and between, and the cell itself.
        accessed = [i - 1, at_y + first + j - 1]
        for row, column in ((i, j - 1), (i - 1, j), (i - 1, j - 1), (i, j)):
            accessed.append(cell(row, column, first))
        requests = np.array(np.broadcast_arrays(*accessed))
        yield np.where(inside, requests, -1).reshape(ACCESSES, windows * m)
    return smallest


def _next_diagonal(before: Longs, twice: Longs, differs: Bools) -> Longs:
    """Return the anti-diagonal behind the last two, int64[windows, m + 1], by row of d.

    differs: bool[windows, m], whether the letters of each cell but the one in row 0 differ.
    """
    left = before[:, 1:]
    above = before[:, :-1]
    corner = twice[:, :-1]
    cells = np.minimum(np.minimum(left, above) + 1, corner + differs)
    return np.hstack([np.zeros((len(cells), 1), np.int64), cells])


class Simulated(NamedTuple):
    """A program on a machine.

    n, m: letters of Y and X; w, l: the machine's width and latency; time: units counted; bound:
    by the paper's `statement`, without its constant; ratio: time ÷ bound; stages: of the
    memory's pipeline, for a warp's requests on average; asm: the distance computed, or None.
    """

    program: str
    machine: str
    n: int
    m: int
    w: int
    l: int  # noqa: E741  the paper's name
    threads: int
    time: int
    bound: int
    statement: str
    ratio: float
    stages: float
    asm: int | None


def simulate(n: int, m: int, w: int, l: int, p: int) -> Iterator[Simulated]:  # noqa: E741
    """Yield all programs on both machines, with random strings X and Y.

    p: threads of the two contiguous accesses to n addresses. Raises InputError for sizes below 1 or
    m > n.
    """
    if min(n, m, w, l, p) < 1 or m > n:
        sizes = f"n = {n}, m = {m}, w = {w}, l = {l}, p = {p}"
        raise InputError(f"{sizes}: give 1 ≤ m ≤ n and 1 or more")
    both = Machine(False, w, l), Machine(True, w, l)
    cases = _cases(n, m, w, l, p)
    counted = [run(case.program, *both) for case in cases]
    for number, kind in enumerate(("DMM", "UMM")):
        for case, (asm, counts) in zip(cases, counted, strict=True):
            time, warps, stages = counts[number]
            statement, bound = case.bounds[number]
            yield Simulated(
                program=case.name,
                machine=kind,
                n=n,
                m=m,
                w=w,
                l=l,
                threads=case.threads,
                time=time,
                bound=round(bound),
                statement=statement,
                ratio=time / bound,
                stages=stages / warps,
                asm=asm,
            )


class Case(NamedTuple):
    """A program that is simulated; bounds: (statement, time units) on the DMM and on the UMM."""

    name: str
    threads: int
    program: Program
    bounds: tuple[tuple[str, float], tuple[str, float]]


def _cases(n: int, m: int, w: int, l: int, p: int) -> list[Case]:  # noqa: E741
    """Return all programs for random strings X and Y; see `simulate`."""
    letters = np.random.default_rng(SEED).integers(0, 4, n + m).astype(np.uint8)
    x = letters[:m]
    y = letters[m:]
    access = n / w + n * l / p
    cells = n * m / w + n * l
    in_windows = n * m / w + m * l
    threads = max(-(-n // m) - 2, 1) * m

    def alike(statement: str, bound: float) -> tuple[tuple[str, float], tuple[str, float]]:
        return (statement, bound), (statement, bound)

    # Two have no upper bound on the UMM; sections III and VI say what they cost.
    bank = ("Lemma 2", access), ("section III", float(n))
    on_d = ("Lemma 3", cells), ("section VI", float(n * m))
    by_three_rows = diagonals(x, y, THREE_ROWS, w)
    return [
        Case("contiguous", p, sweep(np.arange(n), p), alike("Lemma 1", access)),
        Case("contiguous bank", p, contiguous_bank(n, p, w), bank),
        Case("diagonals on d", m, diagonals(x, y, D, w), on_d),
        Case("diagonals on s", m, diagonals(x, y, SLID, w), alike("Lemma 4", cells)),
        Case("diagonals on s'", m, by_three_rows, alike("Theorem 5", cells)),
        Case("partition", threads, partition(x, y, w), alike("Theorem 6", in_windows)),
    ]
