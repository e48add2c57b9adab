"""The recurrence for k-difference primers: a stretch of background through a strip of rows.

Roles are swapped (see `kmatch.engine.cuda.recurrence`): a lane is a start in the target and row i
of the matrix its letter i; a column is a letter of the background, the same for all lanes, which
selects one of the row's planes in shared memory.

    strip 0   rows 1 … 16        ─ columns of the background →
    ───────────────────────────  deltas below it are kept in device memory, for
    strip 1   rows 17 … 32       ─ columns, of which the first ones warm up

In a strip every lane has one row of interest: the row of its bound, or the strip's last where the
bound is below. The horizontal deltas there are gathered on the way down, and a counter follows
D − k from column to column: its sign means that the lane is alive: D < k.
"""

from typing import NamedTuple

from numba import uint64

from kmatch.engine.cuda.driver import DeviceArray, cuda
from kmatch.engine.cuda.recurrence import COLUMNS, add_four, advance_by, cell, put_number
from kmatch.engine.cuda.words import ALL_ONES, NONE, any_of_warp, larger, or_both, smaller
from kmatch.engine.types import FRESH


class PrimerState(NamedTuple):
    """The registers of a thread: vertical deltas of its rows, horizontal deltas of COLUMNS columns,
    of the columns that follow, on their way from memory, and at each lane's row of interest, where
    the columns' planes are in shared memory, a counter of D − k at the rows of interest, and the
    first and the last group of columns in which a lane is alive below all strips.
    """

    pv: DeviceArray
    mv: DeviceArray
    ph: DeviceArray
    mh: DeviceArray
    next_ph: DeviceArray
    next_mh: DeviceArray
    rose: DeviceArray
    fell: DeviceArray
    planes: DeviceArray
    counter: DeviceArray
    seen: DeviceArray


class PrimerTile(NamedTuple):
    """A tile of starts, and a strip of its rows, as a thread sees them.

    limits, bounds: of all starts; first: of the 64 starts that are the thread's word; width: words
    of a tile; word: the thread's; the rest is in shared memory: planes: letter p of row i at
    (p·rows + i)·width; masks: the lanes whose row of interest is row i, at i·width; interest:
    uint8, these rows, of lane i at i·width, counted from 1, with 0 for the last row of the strip
    above; deeper: the lanes whose limits are below the strip; passing: lanes that were alive down
    to the strip's top, which are looked for at its last row first; alive: for each thread the lanes
    that its sweep left alive; carried: the bits of D − k above the strip before its first column.
    """

    limits: DeviceArray
    bounds: DeviceArray
    first: int
    width: int
    word: int
    planes: DeviceArray
    masks: DeviceArray
    interest: DeviceArray
    deeper: DeviceArray
    passing: DeviceArray
    alive: DeviceArray
    carried: DeviceArray


class Stretch(NamedTuple):
    """A stretch of the background on its way through a strip.

    columns: four letters a number; first: the first one behind the warm-up; begin, end: of the
    columns that are taken; base: the strip's top row − k; origin: the column that the first deltas
    in device memory belong to.
    """

    columns: DeviceArray
    first: int
    begin: int
    end: int
    base: int
    origin: int


class Borders(NamedTuple):
    """Horizontal deltas in device memory: the indices of the deltas above a strip and below it, −1
    for none."""

    deltas: DeviceArray
    source: int
    target: int


@cuda.jit(device=True)
def _row(state, source, i):
    tile, gather = source
    wanted = tile.masks[uint64(tile.word) + uint64(i * tile.width)] if gather else NONE
    for c in range(COLUMNS):
        cell(state, tile.planes[state.planes[c] + uint64(i * tile.width)], i, c)
        if gather:
            state.rose[c] = or_both(state.rose[c], state.ph[c], wanted)
            state.fell[c] = or_both(state.fell[c], state.mh[c], wanted)


_advance = advance_by(_row)


@cuda.jit(device=True)
def begin_rows(state, rows, bits, gather, tile, base, fresh):
    """Begin a column that grows by one a row, and counters at the rows of interest.

    fresh: whether a record begins, so that D − k above the strip is `base`.
    """
    for i in range(rows):
        state.pv[i] = ALL_ONES
        state.mv[i] = NONE
    counted = ALL_ONES
    if gather:
        counted = NONE
        put_number(state.counter, bits, 0)
        for i in range(rows):
            wanted = tile.masks[uint64(tile.word) + uint64(i * tile.width)]
            counted |= wanted
            for b in range(bits):
                if ((i + 1) >> b) & 1:
                    state.counter[b] |= wanted
    else:
        put_number(state.counter, bits, rows)
    _add_above(state.counter, bits, tile, base, fresh, counted)


@cuda.jit(device=True)
def _add_above(counter, bits, tile, base, fresh, counted):
    """Add D − k above the strip to a counter, in the lanes counted."""
    carry = NONE
    for b in range(bits):
        above = tile.carried[b]
        if fresh:
            above = ALL_ONES if (base >> b) & 1 else NONE
        above &= counted
        old = counter[b]
        counter[b] = old ^ above ^ carry
        carry = (old & above) | (carry & (old ^ above))


@cuda.jit(device=True)
def carry_down(state, rows, bits, tile, stretch, borders, begun):
    """Find D − k above a strip before its first column, in every lane.

    begun: the first column of the strip above, where `tile.carried` is D − k above that one.
    """
    if borders.source < 0:
        put_number(state.counter, bits, stretch.base)
    else:
        put_number(state.counter, bits, rows)
        _add_above(state.counter, bits, tile, stretch.base, False, ALL_ONES)
    for t in range(begun, stretch.begin, COLUMNS):
        letters = _load_letters(state, tile.width, stretch, borders, t)
        if letters & 7 == FRESH:
            put_number(state.counter, bits, stretch.base)
        else:
            add_four(state.counter, bits, state.next_ph, state.next_mh)
    for b in range(bits):
        tile.carried[b] = state.counter[b]


@cuda.jit(device=True)
def _load_letters(state, width, stretch, borders, t):
    """Return the letters of COLUMNS columns from t on; begins to load the deltas above them."""
    if borders.source >= 0:
        first = borders.source + (t - stretch.origin) * 2 * width
        for c in range(COLUMNS):
            at = first + 2 * c * width
            state.next_ph[c] = borders.deltas[uint64(at)]
            state.next_mh[c] = borders.deltas[uint64(at + width)]
    return stretch.columns[uint64(t) // uint64(COLUMNS)]


@cuda.jit(device=True)
def _hand_down(state, width, stretch, borders, t):
    """Store the deltas below COLUMNS columns from t on."""
    if borders.target >= 0:
        for c in range(COLUMNS):
            at = borders.target + (t - stretch.origin) * 2 * width + 2 * c * width
            borders.deltas[uint64(at)] = state.ph[c]
            borders.deltas[uint64(at + width)] = state.mh[c]


@cuda.jit(device=True)
def sweep(state, rows, bits, gather, tile, stretch, borders, ending):
    """Take a stretch through a strip; returns the lanes alive at the rows of interest.

    gather: whether these are each lane's own, or the strip's last, where all are alive above row k
    and one that has rows below is enough; ending: whether the strip is the last one, where all
    columns with such a lane are noted. A sweep that counts nothing is no kind of its own: with less
    code the kernel is faster.
    """
    t, width = stretch.begin, tile.width
    counting = gather or ending or stretch.base + rows >= 0
    alive = NONE if counting else ALL_ONES
    wanted = tile.masks[(rows - 1) * width + tile.word] & tile.deeper[tile.word]
    for c in range(COLUMNS):
        state.next_ph[c] = NONE
        state.next_mh[c] = NONE
    while t < stretch.end:
        # Records have a loop each: one loop with new rows in it would copy all of them every time.
        letters = stretch.columns[uint64(t) // uint64(COLUMNS)]
        fresh = letters & 7 == FRESH
        begin_rows(state, rows, bits, gather, tile, stretch.base, fresh)
        if fresh:
            for c in range(COLUMNS):  # the strip below loads them ahead, and looks at none
                state.ph[c] = NONE
                state.mh[c] = NONE
            _hand_down(state, width, stretch, borders, t)
            t += COLUMNS
        if t < stretch.end:
            letters = _load_letters(state, width, stretch, borders, t)
        while t < stretch.end:
            if letters & 7 == FRESH:
                break
            for c in range(COLUMNS):
                letter = (uint64(letters) >> uint64(8 * c)) & uint64(7)
                state.planes[c] = letter * uint64(rows * width) + uint64(tile.word)
                state.ph[c] = state.next_ph[c]
                state.mh[c] = state.next_mh[c]
                state.rose[c] = NONE
                state.fell[c] = NONE
            following = t + COLUMNS if t + COLUMNS < stretch.end else t
            letters = _load_letters(state, width, stretch, borders, following)
            _advance(state, rows, (tile, gather), 0)
            _hand_down(state, width, stretch, borders, t)
            if counting:
                if gather:
                    now = add_four(state.counter, bits, state.rose, state.fell)
                else:
                    now = add_four(state.counter, bits, state.ph, state.mh)
                alive |= now
                looking = ending or not gather
                if looking and any_of_warp(now & wanted):
                    if ending:
                        state.seen[0] = smaller(state.seen[0], t)
                        state.seen[1] = larger(state.seen[1], t)
                    else:
                        counting = False
            t += COLUMNS
    return alive
