"""Myers' recurrence in Hyyrö's form, bit-sliced: one bit of a word is one lane.

A row of the matrix is a pattern letter, a column a text position. A thread keeps the vertical
deltas pv, mv (+1, −1) of its rows in registers and takes COLUMNS columns at a time down the rows,
so that what a row costs in addresses is shared by them; ph, mh are the horizontal deltas of these
columns. A cell's diagonal delta is 0 where d = eq | mv | mh, which leaves five three-input
operations a cell.

Nothing here uses `cuda` beyond its decorator: the simulator wants that beside the kernels.
"""

from typing import Any, NamedTuple

from numba import uint64

from kmatch.engine.cuda.bits.logic import any_of, or_neither
from kmatch.engine.cuda.gpu.driver import cuda

THREADS = 64
COLUMNS = 4


class State(NamedTuple):
    """What a thread keeps in registers: vertical deltas of its rows, horizontal ones of COLUMNS
    columns, and a counter of distances in the last row (see `bits.distances`)."""

    pv: Any
    mv: Any
    ph: Any
    mh: Any
    counter: Any


class Way(NamedTuple):
    """How a thread goes through the text.

    text, planes: its planes and how many of them are read; plane_words: words of one; at: the
    thread's word of the row that comes first; step: words to the next row, negative where the text
    is read downwards.
    """

    text: Any
    planes: int
    plane_words: int
    at: int
    step: int


class Tile(NamedTuple):
    """Shared memory as a thread sees it.

    words: COLUMNS columns of the text planes, plane p, column c at (p·COLUMNS + c)·THREADS;
    letters: where there the plane of each row's letter begins.
    """

    words: Any
    letters: Any
    thread: int


@cuda.jit(device=True)
def stage(way, t, left, tile):
    """Copy COLUMNS rows of the text, from step t on, to a tile; left: rows that there are, of which
    the last one is copied again."""
    at = way.at + way.step * t
    for c in range(COLUMNS):
        for p in range(4):
            to = uint64(tile.thread) + uint64((p * COLUMNS + c) * THREADS)
            tile.words[to] = way.text[uint64(at + p * way.plane_words)]
        for p in range(4, way.planes):
            to = uint64(tile.thread) + uint64((p * COLUMNS + c) * THREADS)
            tile.words[to] = way.text[uint64(at + p * way.plane_words)]
        at += way.step if c + 1 < left else 0


@cuda.jit(device=True)
def cell(eq, i, c, state):
    """Take column c down row i; eq: the lanes in which pattern and text letter are the same."""
    pv, mv, ph, mh = state.pv, state.mv, state.ph, state.mh
    d = any_of(eq, mv[i], mh[c])
    up = or_neither(mv[i], d, pv[i])
    down = pv[i] & d
    pv[i] = or_neither(mh[c], d, ph[c])
    mv[i] = ph[c] & d
    ph[c] = up
    mh[c] = down


@cuda.jit(device=True)
def _row(tile, i, state):
    at = uint64(tile.letters[i] + tile.thread)
    for c in range(COLUMNS):
        cell(tile.words[at + uint64(c * THREADS)], i, c, state)


@cuda.jit(device=True)
def _rows_2(tile, i, state):
    _row(tile, i, state)
    _row(tile, i + 1, state)


@cuda.jit(device=True)
def _rows_4(tile, i, state):
    _rows_2(tile, i, state)
    _rows_2(tile, i + 2, state)


@cuda.jit(device=True)
def _rows_8(tile, i, state):
    _rows_4(tile, i, state)
    _rows_4(tile, i + 4, state)


@cuda.jit(device=True)
def _rows_16(tile, i, state):
    _rows_8(tile, i, state)
    _rows_8(tile, i + 8, state)


@cuda.jit(device=True)
def advance(rows, tile, state):
    """Take COLUMNS columns down `rows` rows, a constant of the kernel, at most 32.

    The rows are written out by halves: the compiler gives up unrolling a loop of so many, and
    deltas that are reached by an index it does not know leave the registers.
    """
    i = 0
    if rows & 32:
        _rows_16(tile, 0, state)
        _rows_16(tile, 16, state)
        i += 32
    if rows & 16:
        _rows_16(tile, i, state)
        i += 16
    if rows & 8:
        _rows_8(tile, i, state)
        i += 8
    if rows & 4:
        _rows_4(tile, i, state)
        i += 4
    if rows & 2:
        _rows_2(tile, i, state)
        i += 2
    if rows & 1:
        _row(tile, i, state)
