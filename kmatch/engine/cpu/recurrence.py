"""Myers' recurrence in Hyyrö's form, bit-sliced: one bit of a word is one lane.

A row of the matrix keeps its vertical deltas from column to column, as nv (not +1) and mv (−1). The
horizontal deltas ph, mh (+1, −1) go down the rows and, between strips of rows, through a border of
one pair a column. Five three-input operations compute 512 cells; two-input operations would be
eight, as nv is kept instead of pv.

`state` is one flat uint64 array for a tile of WORDS words: nv, mv of row i at `deltas` + PAIR·i,
and a border's ph, mh of column c at its index + PAIR·c.
"""

from kmatch.engine.cpu.vectors import load, store
from kmatch.engine.geometry import WORDS
from kmatch.jit.kernels import inlined, kernel

PAIR = 2 * WORDS  # a pair of vectors: nv and mv, or ph and mh


@inlined
def cell(eq, ph, mh, nv, mv):
    """Return (ph, mh, nv, mv) behind one row of one column; eq: the lanes whose letters match.

          ph, mh
            ↓
    nv, mv → → nv, mv
            ↓
          ph, mh
    """
    # Hyyrö's eq|mv and eq|mh may be one: where the other delta is −1, the result is the same.
    zero = eq | mv | mh
    return mv | (~zero & nv), ~nv & zero, ~mh & (zero | ph), ph & zero


@inlined
def load_pair(state, at):
    """Return the two vectors at an index."""
    return load(state, at), load(state, at + WORDS)


@inlined
def store_pair(state, at, one, two):
    """Write two vectors."""
    store(state, at, one)
    store(state, at + WORDS, two)


@inlined
def load_four(state, at):
    """Return the deltas of four rows: nv and mv of the first, then of the next."""
    nv0, mv0 = load_pair(state, at)
    nv1, mv1 = load_pair(state, at + PAIR)
    nv2, mv2 = load_pair(state, at + 2 * PAIR)
    nv3, mv3 = load_pair(state, at + 3 * PAIR)
    return nv0, mv0, nv1, mv1, nv2, mv2, nv3, mv3


@inlined
def store_four(state, at, four):
    """Write the deltas of four rows."""
    nv0, mv0, nv1, mv1, nv2, mv2, nv3, mv3 = four
    store_pair(state, at, nv0, mv0)
    store_pair(state, at + PAIR, nv1, mv1)
    store_pair(state, at + 2 * PAIR, nv2, mv2)
    store_pair(state, at + 3 * PAIR, nv3, mv3)


@inlined
def _four(planes, rows, at, ph, mh, four):
    """Four rows of one column; rows: the index in `planes` that each adds to `at`."""
    nv0, mv0, nv1, mv1, nv2, mv2, nv3, mv3 = four
    ph, mh, nv0, mv0 = cell(load(planes, rows[0] + at), ph, mh, nv0, mv0)
    ph, mh, nv1, mv1 = cell(load(planes, rows[1] + at), ph, mh, nv1, mv1)
    ph, mh, nv2, mv2 = cell(load(planes, rows[2] + at), ph, mh, nv2, mv2)
    ph, mh, nv3, mv3 = cell(load(planes, rows[3] + at), ph, mh, nv3, mv3)
    return ph, mh, (nv0, mv0, nv1, mv1, nv2, mv2, nv3, mv3)


@inlined
def _rows_at(rows, top):
    return rows[top], rows[top + 1], rows[top + 2], rows[top + 3]


@kernel
def _fours(planes, state, rows, top, deltas, source, target, offsets, columns, two):
    """Take four rows, or two times four."""
    upper_rows = _rows_at(rows, top)
    upper = load_four(state, deltas)
    lower_rows = upper_rows
    lower = upper
    if two:
        lower_rows = _rows_at(rows, top + 4)
        lower = load_four(state, deltas + 4 * PAIR)
    for c in range(columns):
        at = offsets[c]
        ph, mh = load_pair(state, source)
        ph, mh, upper = _four(planes, upper_rows, at, ph, mh, upper)
        if two:
            ph, mh, lower = _four(planes, lower_rows, at, ph, mh, lower)
        store_pair(state, target, ph, mh)
        source += PAIR
        target += PAIR
    store_four(state, deltas, upper)
    if two:
        store_four(state, deltas + 4 * PAIR, lower)


@kernel
def _one(planes, state, rows, top, deltas, source, target, offsets, columns):
    nv, mv = load_pair(state, deltas)
    for c in range(columns):
        at = offsets[c]
        ph, mh = load_pair(state, source)
        ph, mh, nv, mv = cell(load(planes, rows[top] + at), ph, mh, nv, mv)
        store_pair(state, target, ph, mh)
        source += PAIR
        target += PAIR
    store_pair(state, deltas, nv, mv)


@kernel
def advance(planes, state, rows, top, bottom, deltas, source, target, offsets, columns):
    """Take the rows top … bottom − 1 of a tile over some columns.

    planes: uint64, flat; rows: int64, the index that each row adds to a column's offset, int64, for
    the vector of the lanes whose letters match; deltas: of the first of these rows; source, target:
    of the border that enters them and of the one that leaves them, which may be the same; columns:
    how many. Pointers may take the place of the arrays.
    """
    while top < bottom:
        if bottom - top >= 4:
            taken = 8 if bottom - top >= 8 else 4
            _fours(planes, state, rows, top, deltas, source, target, offsets, columns, taken == 8)
        else:
            taken = 1
            _one(planes, state, rows, top, deltas, source, target, offsets, columns)
        source = target
        top += taken
        deltas += PAIR * taken
