"""Myers' recurrence in Hyyrö's form, bit-sliced: one bit of a word is one lane. And its counters.

A row of the matrix is a pattern letter, a column a text position. A thread keeps the vertical
deltas pv, mv (+1, −1) of its rows in registers and takes COLUMNS columns at a time down the rows,
which share the addresses of a row; ph, mh are the horizontal deltas of these columns. A cell's
diagonal delta is 0 where d = eq | mv | mh, which leaves five three-input operations a cell.

Counters are bit-sliced too: D − (k + 1) in two's complement, so that the sign bit means at most k.
Their `bits` are a constant of the calling kernel.

Functions here use `cuda` only as their decorator: the simulator needs any other use in the modules
of the kernels.
"""

from collections.abc import Sequence
from typing import NamedTuple

from numba import uint64

from kmatch.engine.cuda.driver import DeviceArray, cuda
from kmatch.engine.cuda.words import (
    ALL_ONES,
    NONE,
    ONE,
    and_alike,
    any_of,
    or_both,
    or_neither,
)

THREADS = 64
COLUMNS = 4
LOW = 3  # bits of a counter that `add_four` counts in before it carries


class State(NamedTuple):
    """The registers of a thread: vertical deltas of its rows, horizontal deltas of COLUMNS
    columns, and a counter of distances in the last row."""

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


def _twice(step, size):
    """Return a step of twice as many rows as step(state, source, i), which takes `size` rows."""

    @cuda.jit(device=True)
    def steps(state, source, i):
        step(state, source, i)
        step(state, source, i + size)

    return steps


def _if_set(step, size, rest):
    """Return a step of `size` rows if that bit of their number is set, with `rest` for others."""

    @cuda.jit(device=True)
    def advance(state, rows, source, i):
        if rows & size:
            step(state, source, i)
            i += size
        rest(state, rows, source, i)

    return advance


@cuda.jit(device=True)
def _none(state, rows, source, i):
    """Take no row."""


def advance_by(row):
    """Return a step of COLUMNS columns down `rows` rows from row i on, each by row(state, source,
    i).

    rows: a constant of the kernel below 64.

    They are written out by halves: the compiler does not unroll a loop of so many, and deltas with
    an index that it does not know cannot be in registers.
    """
    step, advance = row, _none
    for size in (1, 2, 4, 8, 16, 32):
        advance = _if_set(step, size, advance)
        step = _twice(step, size)
    return advance


advance = advance_by(_row)


def counter_bits(sizes: Sequence[int], length: int, least: int, most: int) -> int:
    """Bits of a counter that holds every D − (k + 1) of `length` rows, least ≤ k ≤ most.

    The first of `sizes` that suffices, if one does: a few kernels for all lengths can be compiled
    ahead, and a bit more is an operation a column.
    """
    needed = max(most + 1, length - least).bit_length() + 1
    return next((bits for bits in sizes if bits >= needed), needed)


@cuda.jit(device=True)
def put_number(counter, bits, number):
    """Set a counter of `bits` bits to a number in every lane."""
    for b in range(bits):
        counter[b] = ALL_ONES if (number >> b) & 1 else NONE


@cuda.jit(device=True)
def add(counter, bits, plus, minus):
    """Add 1 in the lanes of plus, −1 in the lanes of minus; returns the sign plane."""
    flip = plus | minus
    for b in range(bits - 1):
        old = counter[b]
        counter[b] = old ^ flip
        flip = and_alike(flip, old, plus)
    counter[bits - 1] ^= flip
    return counter[bits - 1]


@cuda.jit(device=True)
def add_four(counter, bits, plus, minus):
    """As `add` four times, of plus[c] and minus[c]; returns the lanes whose number was negative at
    any time, before that too.

    The lowest bits count by themselves, from −4 to 11 in four bits, where 10xx are 8 and more.
    The excess over 0 … 7 goes to the other bits once.
    """
    outside, below = NONE, NONE
    for c in range(4):
        flip = plus[c] | minus[c]
        for b in range(LOW):
            old = counter[b]
            counter[b] = old ^ flip
            flip = and_alike(flip, old, plus[c])
        outside ^= flip
        below = or_both(below, outside, counter[LOW - 1])
    some, before = NONE, counter[bits - 1]
    for b in range(LOW, bits):
        some |= counter[b]
    flip, up = outside, outside & ~counter[LOW - 1]
    for b in range(LOW, bits - 1):
        old = counter[b]
        counter[b] = old ^ flip
        flip = and_alike(flip, old, up)
    counter[bits - 1] ^= flip
    return any_of(before, counter[bits - 1], below & ~some)


@cuda.jit(device=True)
def read(counter, bits, bit):
    """Return the number in a lane, whose sign is set."""
    number = 0
    for b in range(bits - 1):
        number += int((counter[b] >> uint64(bit)) & ONE) << b
    return number - (1 << (bits - 1))
