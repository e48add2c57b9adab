"""Strips of rows of k-difference primers, and the sweep of a stretch of the background through one.

Roles are swapped (see `kmatch.engine.cuda.recurrence`): a lane is a start in the target and
row i of the matrix its letter i; a column is a letter of the background, the same for all lanes,
which selects one of the row's planes in shared memory.

In a strip every lane has one row of interest: the row of its bound, or the strip's last where the
bound is below. The horizontal deltas there are gathered on the way down, and a counter follows
D − k from column to column: its sign means that the lane is alive: D < k.
"""

from typing import Any, NamedTuple

from numba import uint64

from kmatch.engine.cuda.driver import cuda
from kmatch.engine.cuda.recurrence import COLUMNS, add_four, cell, put_number
from kmatch.engine.cuda.words import ALL_ONES, NONE, any_of_warp, or_both
from kmatch.engine.types import FRESH

LAST, GATHERED = range(2)  # rows that a sweep counts: the last, or each lane's own


class State(NamedTuple):
    """What a thread keeps in registers: vertical deltas of its rows, horizontal ones of COLUMNS
    columns, those above the columns that follow, on their way from memory, those at each lane's row
    of interest, where the columns' planes are in shared memory, and a counter of D − k at the rows
    of interest."""

    pv: Any
    mv: Any
    ph: Any
    mh: Any
    next_ph: Any
    next_mh: Any
    rose: Any
    fell: Any
    planes: Any
    counter: Any


class Strip(NamedTuple):
    """A strip in shared memory as a thread sees it.

    width: words of a tile; planes: letter p of row i at (p·rows + i)·width; masks: the lanes of
    which row i is the row of interest, at i·width; lane: the thread's word; base: top row − k;
    carried: D − k above the strip before its first column, bit b of it at `at` + b.
    """

    width: int
    planes: Any
    masks: Any
    lane: int
    base: int
    carried: Any
    at: int


class Stretch(NamedTuple):
    """Columns of the background, four letters a number, and which of them, first and end.

    origin: the column that the first deltas in device memory belong to.
    """

    columns: Any
    origin: int
    begin: int
    end: int


class Watch(NamedTuple):
    """Lanes to look for at a strip's last row.

    wanted: these; counting: whether the row is so far down that a lane may not be alive; noting:
    whether all columns in which one is alive count, not only whether there is one; seen: receives
    the first and the last group of such columns.
    """

    wanted: int
    counting: bool
    noting: bool
    seen: Any


class Borders(NamedTuple):
    """Horizontal deltas in device memory: the indices of those above a strip and of those below it,
    −1 for none."""

    deltas: Any
    source: int
    target: int


@cuda.jit(device=True)
def _row(state, gather, strip, i):
    wanted = strip.masks[strip.lane + uint64(i * strip.width)] if gather else NONE
    for c in range(COLUMNS):
        cell(state, strip.planes[state.planes[c] + uint64(i * strip.width)], i, c)
        if gather:
            state.rose[c] = or_both(state.rose[c], state.ph[c], wanted)
            state.fell[c] = or_both(state.fell[c], state.mh[c], wanted)


@cuda.jit(device=True)
def _rows_4(state, gather, strip, i):
    _row(state, gather, strip, i)
    _row(state, gather, strip, i + 1)
    _row(state, gather, strip, i + 2)
    _row(state, gather, strip, i + 3)


@cuda.jit(device=True)
def _rows_8(state, gather, strip, i):
    _rows_4(state, gather, strip, i)
    _rows_4(state, gather, strip, i + 4)


@cuda.jit(device=True)
def _advance(state, rows, gather, strip):
    """Take COLUMNS columns down the rows of a strip, a multiple of 4 up to 28; see `advance`."""
    i = 0
    if rows & 16:
        _rows_8(state, gather, strip, 0)
        _rows_8(state, gather, strip, 8)
        i += 16
    if rows & 8:
        _rows_8(state, gather, strip, i)
        i += 8
    if rows & 4:
        _rows_4(state, gather, strip, i)


@cuda.jit(device=True)
def begin_rows(state, rows, bits, kind, strip, fresh):
    """Begin a column that grows by one a row, and counters at the rows of interest.

    fresh: whether a record begins, so that the column's number at the top is the top row.
    """
    for i in range(rows):
        state.pv[i] = ALL_ONES
        state.mv[i] = NONE
    counted = ALL_ONES
    if kind == LAST:
        put_number(state.counter, bits, rows)
    if kind == GATHERED:
        counted = NONE
        put_number(state.counter, bits, 0)
        for i in range(rows):
            wanted = strip.masks[strip.lane + uint64(i * strip.width)]
            counted |= wanted
            for b in range(bits):
                if ((i + 1) >> b) & 1:
                    state.counter[b] |= wanted
    _add_above(state.counter, bits, strip, fresh, counted)


@cuda.jit(device=True)
def _add_above(counter, bits, strip, fresh, counted):
    """Add D − k above the strip to a counter, in the lanes counted."""
    carry = NONE
    for b in range(bits):
        above = strip.carried[strip.at + b]
        if fresh:
            above = ALL_ONES if (strip.base >> b) & 1 else NONE
        above &= counted
        old = counter[b]
        counter[b] = old ^ above ^ carry
        carry = (old & above) | (carry & (old ^ above))


@cuda.jit(device=True)
def carry_down(state, rows, bits, strip, stretch, borders, begun):
    """Find D − k above a strip before its first column, in every lane.

    begun: the first column of the strip above, where `strip.carried` is D − k above that one.
    """
    if borders.source < 0:
        put_number(state.counter, bits, strip.base)
    else:
        put_number(state.counter, bits, rows)
        _add_above(state.counter, bits, strip, False, ALL_ONES)
    t = begun
    while t < stretch.begin:
        letters = _load_letters(state, strip, stretch, borders, t)
        if letters & 7 == FRESH:
            put_number(state.counter, bits, strip.base)
        else:
            add_four(state.counter, bits, state.next_ph, state.next_mh)
        t += COLUMNS
    for b in range(bits):
        strip.carried[strip.at + b] = state.counter[b]


@cuda.jit(device=True)
def _load_letters(state, strip, stretch, borders, t):
    """The letters of COLUMNS columns from t on; begins to load the deltas above them."""
    if borders.source >= 0:
        first = borders.source + (t - stretch.origin) * 2 * strip.width
        for c in range(COLUMNS):
            at = first + 2 * c * strip.width
            state.next_ph[c] = borders.deltas[uint64(at)]
            state.next_mh[c] = borders.deltas[uint64(at + strip.width)]
    return stretch.columns[uint64(t) // uint64(COLUMNS)]


@cuda.jit(device=True)
def _begin_columns(state, rows, strip, letters):
    """Begin COLUMNS columns, of which letters and deltas were loaded, at the strip's top."""
    for c in range(COLUMNS):
        letter = (uint64(letters) >> uint64(8 * c)) & uint64(7)
        state.planes[c] = letter * uint64(rows * strip.width) + strip.lane
        state.ph[c] = state.next_ph[c]
        state.mh[c] = state.next_mh[c]
        state.rose[c] = NONE
        state.fell[c] = NONE


@cuda.jit(device=True)
def _hand_down(state, width, borders, here):
    """Store the deltas below COLUMNS columns."""
    if borders.target >= 0:
        for c in range(COLUMNS):
            at = borders.target + here + 2 * c * width
            borders.deltas[uint64(at)] = state.ph[c]
            borders.deltas[uint64(at + width)] = state.mh[c]


@cuda.jit(device=True)
def _count(state, bits, kind):
    """Count the deltas of COLUMNS columns; returns the lanes alive there."""
    if kind == LAST:
        return add_four(state.counter, bits, state.ph, state.mh)
    return add_four(state.counter, bits, state.rose, state.fell)


@cuda.jit(device=True)
def sweep(state, rows, bits, kind, strip, stretch, borders, watch):
    """Take a stretch through a strip; returns the lanes alive at the rows of interest.

    kind: LAST or GATHERED. One lane of `watch` is enough for LAST, unless all columns count. A
    sweep that counts nothing is no kind of its own: with less code the kernel is faster.
    """
    alive, t = NONE, stretch.begin
    counting = kind == GATHERED or watch.counting
    for c in range(COLUMNS):
        state.next_ph[c] = NONE
        state.next_mh[c] = NONE
    while t < stretch.end:
        # Records have a loop each: one loop with new rows in it would copy all of them every time.
        letters = stretch.columns[uint64(t) // uint64(COLUMNS)]
        fresh = letters & 7 == FRESH
        begin_rows(state, rows, bits, kind, strip, fresh)
        if fresh:
            for c in range(COLUMNS):  # the strip below loads them ahead, and looks at none
                state.ph[c] = NONE
                state.mh[c] = NONE
            _hand_down(state, strip.width, borders, (t - stretch.origin) * 2 * strip.width)
            t += COLUMNS
        if t < stretch.end:
            letters = _load_letters(state, strip, stretch, borders, t)
        while t < stretch.end:
            if letters & 7 == FRESH:
                break
            here = (t - stretch.origin) * 2 * strip.width
            _begin_columns(state, rows, strip, letters)
            following = t + COLUMNS if t + COLUMNS < stretch.end else t
            letters = _load_letters(state, strip, stretch, borders, following)
            _advance(state, rows, kind == GATHERED, strip)
            _hand_down(state, strip.width, borders, here)
            if counting:
                now = _count(state, bits, kind)
                alive |= now
                looking = kind == LAST or watch.noting
                if looking and any_of_warp(strip.width, now & watch.wanted):
                    if watch.noting:
                        note(watch.seen, t)
                    else:
                        counting = False
            t += COLUMNS
    return alive


@cuda.jit(device=True)
def note(seen, t):
    """Note group t; sweeps follow one another."""
    if seen[1] < 0 or t < seen[0]:
        seen[0] = t
    if t > seen[1]:
        seen[1] = t


@cuda.jit(device=True)
def stage(rows, width, text, plane_words, word, top, threads, planes):
    """Copy the planes of a strip, see Strip, each row shifted by its number.

    word: the tile's first; top: the strip's first row; threads: the number of this one, and of all.
    """
    for to in range(threads[0], 4 * rows * width, threads[1]):
        row = top + to // width % rows
        source = to // (rows * width) * plane_words + word + to % width + row // 64
        shift = uint64(row % 64)
        bits = text[source] >> shift
        if shift:
            bits |= text[source + 1] << (uint64(64) - shift)
        planes[to] = bits
