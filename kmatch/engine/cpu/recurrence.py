"""Myers' recurrence in Hyyrö's form, bit-sliced: one bit of a word is one lane.

A lane reads its own rows of text, a column of the matrix a text position. A row of the matrix is a
pattern letter and keeps its vertical deltas from column to column, as nv (not +1) and mv (−1). The
horizontal deltas ph, mh (+1, −1) go down the rows and, between strips of rows, through a border of
one pair a column. Five three-input operations compute 512 cells; two-input operations would be
eight, as nv is kept instead of pv.

`state` is one flat uint64 array for a tile of WORDS words: nv, mv of row i at 2·WORDS·i, and the
border's ph, mh of column c at `border` + 2·WORDS·c.
"""

from typing import NamedTuple

from kmatch.engine.cpu.items import WORDS
from kmatch.engine.cpu.vectors import any_of, load, or_without, store, without
from kmatch.jit.kernels import inlined, kernel

PAIR = 2 * WORDS  # a pair of vectors: nv and mv, or ph and mh


class TextRows(NamedTuple):
    """Text rows that are read one after the other.

    first: the index of the first in a plane, row·W; step: W, or −W to read the text downwards;
    columns: the number of rows.
    """

    first: int
    step: int
    columns: int


@inlined
def cell(eq, ph, mh, nv, mv):
    """One row of one column: the new (ph, mh, nv, mv); eq: the lanes whose letters match."""
    # Hyyrö's eq|mv and eq|mh may be one: where the other delta is −1, the result is the same.
    zero = any_of(eq, mv, mh)
    return or_without(mv, zero, nv), ~nv & zero, without(mh, zero, ph), ph & zero


@kernel
def _strip8(planes, state, rows, top, border, text_rows):
    first, step, columns = text_rows
    a = PAIR * top
    nv0, mv0, e0 = load(state, a), load(state, a + WORDS), rows[top] + first
    nv1, mv1, e1 = load(state, a + PAIR), load(state, a + PAIR + WORDS), rows[top + 1] + first
    nv2, mv2, e2 = (
        load(state, a + 2 * PAIR),
        load(state, a + 2 * PAIR + WORDS),
        rows[top + 2] + first,
    )
    nv3, mv3, e3 = (
        load(state, a + 3 * PAIR),
        load(state, a + 3 * PAIR + WORDS),
        rows[top + 3] + first,
    )
    nv4, mv4, e4 = (
        load(state, a + 4 * PAIR),
        load(state, a + 4 * PAIR + WORDS),
        rows[top + 4] + first,
    )
    nv5, mv5, e5 = (
        load(state, a + 5 * PAIR),
        load(state, a + 5 * PAIR + WORDS),
        rows[top + 5] + first,
    )
    nv6, mv6, e6 = (
        load(state, a + 6 * PAIR),
        load(state, a + 6 * PAIR + WORDS),
        rows[top + 6] + first,
    )
    nv7, mv7, e7 = (
        load(state, a + 7 * PAIR),
        load(state, a + 7 * PAIR + WORDS),
        rows[top + 7] + first,
    )
    t = 0
    for h in range(border, border + PAIR * columns, PAIR):
        ph, mh = load(state, h), load(state, h + WORDS)
        ph, mh, nv0, mv0 = cell(load(planes, e0 + t), ph, mh, nv0, mv0)
        ph, mh, nv1, mv1 = cell(load(planes, e1 + t), ph, mh, nv1, mv1)
        ph, mh, nv2, mv2 = cell(load(planes, e2 + t), ph, mh, nv2, mv2)
        ph, mh, nv3, mv3 = cell(load(planes, e3 + t), ph, mh, nv3, mv3)
        ph, mh, nv4, mv4 = cell(load(planes, e4 + t), ph, mh, nv4, mv4)
        ph, mh, nv5, mv5 = cell(load(planes, e5 + t), ph, mh, nv5, mv5)
        ph, mh, nv6, mv6 = cell(load(planes, e6 + t), ph, mh, nv6, mv6)
        ph, mh, nv7, mv7 = cell(load(planes, e7 + t), ph, mh, nv7, mv7)
        store(state, h, ph)
        store(state, h + WORDS, mh)
        t += step
    _keep(state, a, nv0, mv0)
    _keep(state, a + PAIR, nv1, mv1)
    _keep(state, a + 2 * PAIR, nv2, mv2)
    _keep(state, a + 3 * PAIR, nv3, mv3)
    _keep(state, a + 4 * PAIR, nv4, mv4)
    _keep(state, a + 5 * PAIR, nv5, mv5)
    _keep(state, a + 6 * PAIR, nv6, mv6)
    _keep(state, a + 7 * PAIR, nv7, mv7)


@kernel
def _strip4(planes, state, rows, top, border, text_rows):
    first, step, columns = text_rows
    a = PAIR * top
    nv0, mv0, e0 = load(state, a), load(state, a + WORDS), rows[top] + first
    nv1, mv1, e1 = load(state, a + PAIR), load(state, a + PAIR + WORDS), rows[top + 1] + first
    nv2, mv2, e2 = (
        load(state, a + 2 * PAIR),
        load(state, a + 2 * PAIR + WORDS),
        rows[top + 2] + first,
    )
    nv3, mv3, e3 = (
        load(state, a + 3 * PAIR),
        load(state, a + 3 * PAIR + WORDS),
        rows[top + 3] + first,
    )
    t = 0
    for h in range(border, border + PAIR * columns, PAIR):
        ph, mh = load(state, h), load(state, h + WORDS)
        ph, mh, nv0, mv0 = cell(load(planes, e0 + t), ph, mh, nv0, mv0)
        ph, mh, nv1, mv1 = cell(load(planes, e1 + t), ph, mh, nv1, mv1)
        ph, mh, nv2, mv2 = cell(load(planes, e2 + t), ph, mh, nv2, mv2)
        ph, mh, nv3, mv3 = cell(load(planes, e3 + t), ph, mh, nv3, mv3)
        store(state, h, ph)
        store(state, h + WORDS, mh)
        t += step
    _keep(state, a, nv0, mv0)
    _keep(state, a + PAIR, nv1, mv1)
    _keep(state, a + 2 * PAIR, nv2, mv2)
    _keep(state, a + 3 * PAIR, nv3, mv3)


@kernel
def _strip1(planes, state, rows, top, border, text_rows):
    first, step, columns = text_rows
    a = PAIR * top
    nv, mv, e = load(state, a), load(state, a + WORDS), rows[top] + first
    for h in range(border, border + PAIR * columns, PAIR):
        ph, mh = load(state, h), load(state, h + WORDS)
        ph, mh, nv, mv = cell(load(planes, e), ph, mh, nv, mv)
        store(state, h, ph)
        store(state, h + WORDS, mh)
        e += step
    _keep(state, a, nv, mv)


@inlined
def _keep(state, address, nv, mv):
    store(state, address, nv)
    store(state, address + WORDS, mv)


@kernel
def advance(planes, state, rows, top, bottom, border, text_rows):
    """Take the pattern rows top … bottom − 1 of a tile over some text rows.

    planes: uint64, flat; state: uint64, flat, as above; rows: int64, for each pattern letter the
    index in `planes` of its plane's row 0 at the tile's first word; text_rows: TextRows.
    """
    while bottom - top >= 8:
        _strip8(planes, state, rows, top, border, text_rows)
        top += 8
    if bottom - top >= 4:
        _strip4(planes, state, rows, top, border, text_rows)
        top += 4
    while top < bottom:
        _strip1(planes, state, rows, top, border, text_rows)
        top += 1
