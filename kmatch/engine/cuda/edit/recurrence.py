"""Myers' recurrence in Hyyrö's form, bit-sliced: one bit of a word is one lane.

A row of the matrix is a pattern letter, a column a text position. A thread keeps the vertical
deltas pv, mv (+1, −1) of its rows in registers and takes COLUMNS columns at a time down the rows,
which share the addresses of a row; ph, mh are the horizontal deltas of these columns. A cell's
diagonal delta is 0 where d = eq | mv | mh, which leaves five three-input operations a cell.

Functions here use `cuda` only as their decorator: the simulator needs any other use in the modules
of the kernels.
"""

from typing import NamedTuple

from numba import uint64

from kmatch.engine.cuda.bits.logic import any_of, or_neither
from kmatch.engine.cuda.gpu.driver import DeviceArray, cuda

THREADS = 64
COLUMNS = 4


class State(NamedTuple):
    """What a thread keeps in registers: vertical deltas of its rows, horizontal ones of COLUMNS
    columns, and a counter of distances in the last row (see `bits.distances`)."""

    pv: DeviceArray
    mv: DeviceArray
    ph: DeviceArray
    mh: DeviceArray
    counter: DeviceArray


class Way(NamedTuple):
    """How a thread goes through the text.

    text: its planes; planes: the number of them that are read; plane_words: of one; at: the index
    of the thread's word in the first row; step: words to the next row, negative where the text is
    read downwards.
    """

    text: DeviceArray
    planes: int
    plane_words: int
    at: int
    step: int


class Tile(NamedTuple):
    """Shared memory as a thread sees it.

    words: COLUMNS columns of the text planes, plane p, column c at (p·COLUMNS + c)·THREADS;
    letters: for each row the index in `words` of its letter's plane; thread: its number.
    """

    words: DeviceArray
    letters: DeviceArray
    thread: int


@cuda.jit(device=True)
def stage(way, t, left, tile):
    """Copy COLUMNS rows of the text, from step t on, to a tile.

    left: rows that there are; with fewer than COLUMNS the last one is copied again.
    """
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
def cell(state, eq, i, c):
    """Take column c down row i; eq: the lanes whose letters match."""
    pv, mv, ph, mh = state.pv, state.mv, state.ph, state.mh
    d = any_of(eq, mv[i], mh[c])
    up = or_neither(mv[i], d, pv[i])
    down = pv[i] & d
    pv[i] = or_neither(mh[c], d, ph[c])
    mv[i] = ph[c] & d
    ph[c] = up
    mh[c] = down


@cuda.jit(device=True)
def _row(state, tile, i):
    at = uint64(tile.letters[i] + tile.thread)
    for c in range(COLUMNS):
        cell(state, tile.words[at + uint64(c * THREADS)], i, c)


@cuda.jit(device=True)
def _rows_2(state, tile, i):
    _row(state, tile, i)
    _row(state, tile, i + 1)


@cuda.jit(device=True)
def _rows_4(state, tile, i):
    _rows_2(state, tile, i)
    _rows_2(state, tile, i + 2)


@cuda.jit(device=True)
def _rows_8(state, tile, i):
    _rows_4(state, tile, i)
    _rows_4(state, tile, i + 4)


@cuda.jit(device=True)
def _rows_16(state, tile, i):
    _rows_8(state, tile, i)
    _rows_8(state, tile, i + 8)


@cuda.jit(device=True)
def advance(state, rows, tile):
    """Take COLUMNS columns down `rows` rows, a constant of the kernel, at most 32.

    The rows are written out by halves: the compiler does not unroll a loop of so many, and deltas
    with an index that it does not know cannot be in registers.
    """
    i = 0
    if rows & 32:
        _rows_16(state, tile, 0)
        _rows_16(state, tile, 16)
        i += 32
    if rows & 16:
        _rows_16(state, tile, i)
        i += 16
    if rows & 8:
        _rows_8(state, tile, i)
        i += 8
    if rows & 4:
        _rows_4(state, tile, i)
        i += 4
    if rows & 2:
        _rows_2(state, tile, i)
        i += 2
    if rows & 1:
        _row(state, tile, i)
