"""Strips of rows for k-difference primers: lanes are neighbouring starts of the target.

Roles are swapped: row i of lane l is the target's letter first + l + i; a column is a letter of the
background, the same for all lanes, and selects one of the row's planes.

A strip of H rows is a part of a flat uint64 array: for each row the planes of A, C, G, T and of no
letter; for each row the vertical deltas nv and mv at the left; for each row the lanes whose row of
interest it is. Horizontal deltas go down through borders of one pair a column.
"""

from typing import NamedTuple

import numpy as np

from kmatch.arrays import Longs, Words
from kmatch.engine.cpu.distances import add, copy
from kmatch.engine.cpu.items import WORDS
from kmatch.engine.cpu.recurrence import PAIR, cell
from kmatch.engine.cpu.vectors import NONE, ONE, aligned, fill, load, nonzero, or_both, store
from kmatch.jit.kernels import kernel


class Memory(NamedTuple):
    """Working memory.

    state: uint64, with all slots; versions: int64, by slot, the version of the bounds from which
    its masks were made; free: int64, the free slots.
    """

    state: Words
    versions: Longs
    free: Longs


class Strips(NamedTuple):
    """All strips of a tile.

    slots: int64, the slot of each strip that has a left column, else −1; marks: int64[5], the
    number of free slots, a strip from which on none has a left column, the version of the bounds,
    and the largest bound and limit of the lanes.
    """

    slots: Longs
    marks: Longs


@kernel
def grown(memory, size):
    """Memory with twice the slots, when no slot is free."""
    state, versions, _ = memory
    slots = versions.size
    more = aligned(state.size + slots * size)
    wider, free = np.empty(2 * slots, np.int64), np.empty(2 * slots, np.int64)
    for i in range(state.size):  # slices would take seconds to compile
        more[i] = state[i]
    for i in range(slots):
        wider[i], free[i] = versions[i], slots + i
    return Memory(more, wider, free)


@kernel
def release(strips, free, strip):
    """Forget a strip's left column."""
    slots, marks = strips
    free[marks[0]] = slots[strip]
    marks[0] += 1
    slots[strip] = -1


ROW = 5 * WORDS  # planes of one row

GROUP = 8  # rows that a kernel keeps in registers


class Rows(NamedTuple):
    """The rows of a strip: indices of their planes, deltas and masks in the state, and how many."""

    planes: int
    deltas: int
    masks: int
    height: int


class Borders(NamedTuple):
    """The indices of pairs of deltas, one a column: those that enter a strip at its top, those that
    leave it, and those that are gathered at the rows of interest."""

    source: int
    target: int
    found: int


@kernel
def read_rows(text, first, rows, state, planes):
    """Write the planes of some rows of a tile to state[planes …].

    text: uint64[4, w], the target's planes, a bit a letter; first: the letter of the first lane in
    the first row.
    """
    for row in range(rows):
        word, shift = (first + row) >> 6, np.uint64((first + row) & 63)
        for base in range(4):
            at = planes + ROW * row + WORDS * base
            for i in range(WORDS):
                # Shifted twice, because a shift by 64 has no effect.
                high = text[base, word + i + 1] << (np.uint64(63) - shift) << ONE
                state[at + i] = (text[base, word + i] >> shift) | high
        store(state, planes + ROW * row + 4 * WORDS, fill(NONE))


@kernel
def _plain8(state, planes, deltas, columns, source, target):
    """Take eight rows over the columns; deltas enter from `source` and leave to `target`."""
    nv0, mv0 = load(state, deltas), load(state, deltas + WORDS)
    nv1, mv1 = load(state, deltas + PAIR), load(state, deltas + PAIR + WORDS)
    nv2, mv2 = load(state, deltas + 2 * PAIR), load(state, deltas + 2 * PAIR + WORDS)
    nv3, mv3 = load(state, deltas + 3 * PAIR), load(state, deltas + 3 * PAIR + WORDS)
    nv4, mv4 = load(state, deltas + 4 * PAIR), load(state, deltas + 4 * PAIR + WORDS)
    nv5, mv5 = load(state, deltas + 5 * PAIR), load(state, deltas + 5 * PAIR + WORDS)
    nv6, mv6 = load(state, deltas + 6 * PAIR), load(state, deltas + 6 * PAIR + WORDS)
    nv7, mv7 = load(state, deltas + 7 * PAIR), load(state, deltas + 7 * PAIR + WORDS)
    for letter in columns:
        e = planes + WORDS * np.int64(letter)
        ph, mh = load(state, source), load(state, source + WORDS)
        ph, mh, nv0, mv0 = cell(load(state, e), ph, mh, nv0, mv0)
        ph, mh, nv1, mv1 = cell(load(state, e + ROW), ph, mh, nv1, mv1)
        ph, mh, nv2, mv2 = cell(load(state, e + 2 * ROW), ph, mh, nv2, mv2)
        ph, mh, nv3, mv3 = cell(load(state, e + 3 * ROW), ph, mh, nv3, mv3)
        ph, mh, nv4, mv4 = cell(load(state, e + 4 * ROW), ph, mh, nv4, mv4)
        ph, mh, nv5, mv5 = cell(load(state, e + 5 * ROW), ph, mh, nv5, mv5)
        ph, mh, nv6, mv6 = cell(load(state, e + 6 * ROW), ph, mh, nv6, mv6)
        ph, mh, nv7, mv7 = cell(load(state, e + 7 * ROW), ph, mh, nv7, mv7)
        store(state, target, ph)
        store(state, target + WORDS, mh)
        source += PAIR
        target += PAIR
    _keep(state, deltas, nv0, mv0)
    _keep(state, deltas + PAIR, nv1, mv1)
    _keep(state, deltas + 2 * PAIR, nv2, mv2)
    _keep(state, deltas + 3 * PAIR, nv3, mv3)
    _keep(state, deltas + 4 * PAIR, nv4, mv4)
    _keep(state, deltas + 5 * PAIR, nv5, mv5)
    _keep(state, deltas + 6 * PAIR, nv6, mv6)
    _keep(state, deltas + 7 * PAIR, nv7, mv7)


@kernel
def _keep(state, address, nv, mv):
    store(state, address, nv)
    store(state, address + WORDS, mv)


@kernel
def _gather4(state, planes, deltas, masks, columns, source, target, found):
    """Take four rows over the columns, and gather the deltas at the rows of interest to `found`."""
    nv0, mv0 = load(state, deltas), load(state, deltas + WORDS)
    nv1, mv1 = load(state, deltas + PAIR), load(state, deltas + PAIR + WORDS)
    nv2, mv2 = load(state, deltas + 2 * PAIR), load(state, deltas + 2 * PAIR + WORDS)
    nv3, mv3 = load(state, deltas + 3 * PAIR), load(state, deltas + 3 * PAIR + WORDS)
    at0, at1 = load(state, masks), load(state, masks + WORDS)
    at2, at3 = load(state, masks + 2 * WORDS), load(state, masks + 3 * WORDS)
    for letter in columns:
        e = planes + WORDS * np.int64(letter)
        ph, mh = load(state, source), load(state, source + WORDS)
        plus, minus = load(state, found), load(state, found + WORDS)
        ph, mh, nv0, mv0 = cell(load(state, e), ph, mh, nv0, mv0)
        plus, minus = or_both(plus, ph, at0), or_both(minus, mh, at0)
        ph, mh, nv1, mv1 = cell(load(state, e + ROW), ph, mh, nv1, mv1)
        plus, minus = or_both(plus, ph, at1), or_both(minus, mh, at1)
        ph, mh, nv2, mv2 = cell(load(state, e + 2 * ROW), ph, mh, nv2, mv2)
        plus, minus = or_both(plus, ph, at2), or_both(minus, mh, at2)
        ph, mh, nv3, mv3 = cell(load(state, e + 3 * ROW), ph, mh, nv3, mv3)
        store(state, target, ph)
        store(state, target + WORDS, mh)
        store(state, found, or_both(plus, ph, at3))
        store(state, found + WORDS, or_both(minus, mh, at3))
        source += PAIR
        target += PAIR
        found += PAIR
    _keep(state, deltas, nv0, mv0)
    _keep(state, deltas + PAIR, nv1, mv1)
    _keep(state, deltas + 2 * PAIR, nv2, mv2)
    _keep(state, deltas + 3 * PAIR, nv3, mv3)


@kernel
def any_lane(state, address, vectors):
    """Whether a bit is set in any of some vectors."""
    every = fill(NONE)
    for i in range(address, address + WORDS * vectors, WORDS):
        every = every | load(state, i)
    return nonzero(every) != 0


@kernel
def clear(state, address, vectors):
    """Set vectors to zero."""
    for i in range(address, address + WORDS * vectors, WORDS):
        store(state, i, fill(NONE))


@kernel
def sweep(state, rows, columns, source, target):
    """Take a strip over the columns; borders enter from `source` and leave to `target`, maybe the
    same."""
    for row in range(0, rows.height, GROUP):
        deltas = rows.deltas + PAIR * row
        _plain8(state, rows.planes + ROW * row, deltas, columns, source, target)
        source = target


@kernel
def sweep_gathering(state, rows, columns, borders):
    """Take a strip over the columns, and gather each lane's deltas at its row of interest."""
    source, target, found = borders
    clear(state, found, 2 * columns.size)
    for row in range(0, rows.height, GROUP):
        at, kept = rows.planes + ROW * row, rows.deltas + PAIR * row
        here = rows.masks + WORDS * row
        if any_lane(state, here, GROUP):
            _gather4(state, at, kept, here, columns, source, target, found)
            at, kept, here = at + 4 * ROW, kept + 4 * PAIR, here + 4 * WORDS
            _gather4(state, at, kept, here, columns, target, target, found)
        else:
            _plain8(state, at, kept, columns, source, target)
        source = target


@kernel
def start_counters(state, corner, rows, bits, run, counter):
    """Set a counter to the left column's values, each lane at its row of interest, else to 0.

    corner: the counter of the row above the strip; run: space for one that goes down the rows.
    """
    copy(state, corner, run, bits)
    clear(state, counter, bits)
    for row in range(rows.height):
        at = rows.deltas + PAIR * row
        add(state, run, bits, ~load(state, at), load(state, at + WORDS))
        lanes = load(state, rows.masks + WORDS * row)
        if nonzero(lanes) != 0:
            for i in range(0, bits * WORDS, WORDS):
                kept = load(state, counter + i)
                store(state, counter + i, or_both(kept, load(state, run + i), lanes))


@kernel
def begin_rows(state, corner, rows, bits, foot):
    """Begin a left column that grows by one a row up to k; `foot` becomes its lowest counter."""
    copy(state, corner, foot, bits)
    for row in range(rows.height):
        under = load(state, foot + (bits - 1) * WORDS)
        _keep(state, rows.deltas + PAIR * row, ~under, fill(NONE))
        add(state, foot, bits, under, fill(NONE))


@kernel
def settle(state, run, rows, wanted, bits):
    """Lower values above k in the left column to k; run: a counter that goes down the rows.

    Returns whether a lane of `wanted`, a vector, is below k there, down to its row of interest.
    """
    low, lanes = fill(NONE), load(state, wanted)
    before = load(state, run + (bits - 1) * WORDS)
    for row in range(rows.height):
        at = rows.deltas + PAIR * row
        nv, mv = load(state, at), load(state, at + WORDS)
        under = add(state, run, bits, ~nv, mv)
        _keep(state, at, nv | ~(before | under), mv & (before | under))
        low = low | (under & lanes)
        lanes = lanes & ~load(state, rows.masks + WORDS * row)
        before = under
    return nonzero(low) != 0


@kernel
def cap(state, source, target, bits):
    """Copy a counter, with values above k lowered to k."""
    under = load(state, source + (bits - 1) * WORDS)
    for i in range(0, bits * WORDS, WORDS):
        store(state, target + i, load(state, source + i) & under)


@kernel
def widen(state, counter, bits, more):
    """Give a counter more bits."""
    for i in range(bits, more):
        store(state, counter + i * WORDS, load(state, counter + (bits - 1) * WORDS))
