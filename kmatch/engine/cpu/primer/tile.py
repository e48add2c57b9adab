"""One tile of starts under a stretch of background: bounds of the lengths, raised until they hold.

A tile is 64·WORDS neighbouring starts of the target, one a lane. Columns go in blocks, rows in
strips. In a strip a lane has one row of interest: its bound, or the lowest row if the bound lies
deeper; a lane whose bound lies above has passed, one whose bound is past its limit is lost. A block
is given up below the strip in which no lane is under K at its row of interest. A lane under K at
its bound gets a higher one, found by taking the strip again with other rows of interest.

A strip in which nothing is under K, neither at its top nor at its left, is left out, as in
Ukkonen's cut-off. Between blocks values above K become K: values under K stay exact, others stay at
least K, and a left column that was forgotten is known, all of it being K. Bounds only grow, and all
values of a lane at rows from its bound on were at least K: what a lane has passed is never asked
for again.
"""

import numpy as np

from kmatch.engine.columns import FRESH
from kmatch.engine.cpu.bits.distances import copy, follow, put, width
from kmatch.engine.cpu.bits.vectors import WORDS, aligned, load, lowest, nonzero
from kmatch.engine.cpu.edit.recurrence import PAIR
from kmatch.engine.cpu.primer.strips import (
    ONE,
    ROW,
    any_lane,
    begin_rows,
    cap,
    clear,
    read_rows,
    settle,
    start_counters,
    sweep,
    sweep_gathering,
    widen,
)
from kmatch.jit import inlined, kernel

LANES = 64 * WORDS
COUNTER = 33 * WORDS  # room for the bits of a counter
FIRST_SLOTS = 8

# The working memory begins with four counters; then come masks and deltas for sweeps that probe.
RUN, COUNT, LEFT, LAST, PROBE = 0, COUNTER, 2 * COUNTER, 3 * COUNTER, 4 * COUNTER
# A slot holds the state of a strip: counters of the left column at the row above the strip and at
# its lowest row, lanes with a row of interest, those of them whose bound is inside, then for each
# row the lanes that it interests, the deltas, and the planes.
CORNER, FOOT, WANTED, INSIDE, MASKS = (
    0,
    COUNTER,
    2 * COUNTER,
    2 * COUNTER + WORDS,
    2 * COUNTER + PAIR,
)
ALIVE, RAISED, SWAPPED = 1, 2, 4  # what `_take` says of a strip


@inlined
def _deltas(slot, height):
    return slot + MASKS + height * WORDS


@inlined
def _planes(slot, height):
    return _deltas(slot, height) + height * PAIR


@kernel
def climb(bounds, limits, opens, first, last):
    """Let r + bounds[r] never fall within a record, from start `first` to `last` and while it did.

    bounds, limits: int64; opens: bool, whether a record begins at a start.
    """
    for r in range(max(first, 1), bounds.size):
        least = min(bounds[r - 1] - 1, limits[r] + 1)
        if not opens[r] and bounds[r] < least:
            bounds[r] = least
        elif r >= last:
            return


@kernel
def _aim(state, slot, height, top, bounds, limits):
    """Set a strip's masks: a lane's row of interest is its bound or the lowest row."""
    clear(state, slot + WANTED, 2 + height)
    for lane in range(LANES):
        bound = bounds[lane]
        if top < bound <= limits[lane]:
            word, bit = lane >> 6, ONE << np.uint64(lane & 63)
            state[slot + MASKS + WORDS * (min(bound - top, height) - 1) + word] |= bit
            state[slot + WANTED + word] |= bit
            if bound <= top + height:
                state[slot + INSIDE + word] |= bit


@kernel
def _enter(state, slot, height, top, k, bits, bits_above, text):
    """Begin a strip whose left column was forgotten: it grows by one a row up to K.

    LEFT is the counter at the lowest row of the strip above.
    """
    planes, first = text
    read_rows(planes, first + top, height, state, _planes(slot, height))
    if top == 0:
        put(state, slot + CORNER, bits, -k)
    else:
        copy(state, LEFT, slot + CORNER, bits_above)
        widen(state, slot + CORNER, bits_above, bits)
    deltas = _deltas(slot, height)
    begin_rows(state, slot + CORNER, deltas, height, bits, slot + FOOT)


@kernel
def _gather(state, slot, masks, height, bits, columns, source, target, found):
    """Take a strip over the columns and leave at `found` the lanes under K at their rows."""
    deltas = _deltas(slot, height)
    start_counters(state, slot + CORNER, deltas, masks, height, bits, RUN, COUNT)
    planes = _planes(slot, height)
    sweep_gathering(state, planes, deltas, masks, height, columns, source, target, found)
    return follow(state, COUNT, bits, found, found, columns.size)


@inlined
def _next_row(low, high, end, step, first):
    """The row at which a lane is tried next: under K at `low`, not at `high` or not at all allowed.

    end: `high` before any try; step: twice as long each time; first: the strip's first row.
    """
    if high < end:
        row = (low + high) >> 1
    elif step == 1 and low == first:
        row = end - 1  # it came from above under K, and is likely to go on through the strip
    else:
        row = min(low + step, end - 1)
    return row


@kernel
def _raise(state, slot, height, top, bits, columns, borders, saved, bounds, limits):
    """Raise the bounds of the lanes at `borders[2]`, which are under K there, within a strip.

    A new bound is the first row that is not under K, or the one below the strip or the limit.
    saved: where the deltas at the left are. All lanes are tried at once, each at a row of its own.
    Returns how many sweeps it took.
    """
    source, target, found = borders
    rows = np.zeros((4, LANES), np.int64)
    low, high, end, tried = rows[0], rows[1], rows[2], rows[3]
    for word in range(WORDS):
        left = state[found + word] & state[slot + INSIDE + word]
        while left != 0:
            lane = 64 * word + lowest(left)
            left &= left - ONE
            low[lane] = bounds[lane]
            high[lane] = end[lane] = min(top + height, limits[lane]) + 1
    step, sweeps = 1, 0
    while (high > low + 1).any():
        clear(state, PROBE, height)
        tried[:] = 0
        for lane in np.flatnonzero(high > low + 1):
            row = _next_row(low[lane], high[lane], end[lane], step, top + 1)
            state[PROBE + WORDS * (row - top - 1) + (lane >> 6)] |= ONE << np.uint64(lane & 63)
            tried[lane] = row
        copy(state, saved, _deltas(slot, height), 2 * height)
        _gather(state, slot, PROBE, height, bits, columns, source, target, found)
        for lane in np.flatnonzero(tried):
            if (state[found + (lane >> 6)] >> np.uint64(lane & 63)) & ONE:
                low[lane] = tried[lane]
            else:
                high[lane] = tried[lane]
        step, sweeps = 2 * step, sweeps + 1
    for lane in np.flatnonzero(high):
        bounds[lane] = high[lane]
    return sweeps


@kernel
def _take(state, slot, height, top, k, bits, columns, borders, saved, tile, tally):
    """Take a strip over a block of columns; returns ALIVE, RAISED and SWAPPED as they apply.

    ALIVE: a lane is under K in its lowest row; RAISED: bounds have been; SWAPPED: the border is at
    borders[1] now.
    """
    bounds, limits, opens = tile
    source, target, found = borders
    planes, deltas = _planes(slot, height), _deltas(slot, height)
    cells = LANES * height * columns.size
    tally[0] += cells
    if top + height < k:
        sweep(state, planes, deltas, height, columns, source, source)
        return ALIVE
    sign = load(state, slot + FOOT + WORDS * (bits - 1))
    if not any_lane(state, slot + INSIDE, 1):
        alive = nonzero(sign & load(state, slot + WANTED)) != 0
        sweep(state, planes, deltas, height, columns, source, source)
        if not alive:
            copy(state, slot + FOOT, COUNT, bits)
            follow(state, COUNT, bits, source, found, columns.size)
            alive = nonzero(load(state, found) & load(state, slot + WANTED)) != 0
        return ALIVE if alive else 0
    copy(state, deltas, saved, 2 * height)
    _gather(state, slot, slot + MASKS, height, bits, columns, source, target, found)
    low, inside = load(state, found), load(state, slot + INSIDE)
    alive = nonzero(low & ~inside) != 0
    if nonzero(low & inside) == 0:
        return (ALIVE if alive else 0) | SWAPPED
    tally[0] += cells * _raise(
        state, slot, height, top, bits, columns, borders, saved, bounds, limits
    )
    climb(bounds, limits, opens, 1, LANES)
    if not alive:
        # Lanes that the law has raised may be dead below: that shows in the next strip.
        for lane in range(LANES):
            alive |= top + height < bounds[lane] <= limits[lane]
    return (ALIVE if alive else 0) | RAISED | SWAPPED


@kernel
def _deepest_rows(bounds, limits):
    """The largest bound and the largest limit of the lanes that are not lost; 0 where all are."""
    bound = limit = 0
    for lane in range(LANES):
        if bounds[lane] <= limits[lane]:
            bound, limit = max(bound, bounds[lane]), max(limit, limits[lane])
    return bound, limit


@kernel
def _grown(state, versions, free, size):
    """Twice the slots: (state, versions, free), when no slot is free."""
    slots = versions.size
    more = aligned(state.size + slots * size)
    wider, room = np.empty(2 * slots, np.int64), np.empty(2 * slots, np.int64)
    for i in range(state.size):  # not by slices, which take seconds to compile
        more[i] = state[i]
    for i in range(slots):
        wider[i], room[i] = versions[i], slots + i
    return more, wider, room


@kernel
def _leave(state, slot, height, bits, bits_above, joined):
    """Make the last column of a block the left one of the next; returns whether it is under K.

    LAST is the counter there at the lowest row of the strip above, if that was `joined`, and then
    at that of this strip.
    """
    if joined:
        widen(state, LAST, bits_above, bits)
    else:
        copy(state, slot + CORNER, LAST, bits)
    masks, wanted = slot + MASKS, slot + WANTED
    cap(state, LAST, slot + CORNER, bits)
    under = settle(state, LAST, _deltas(slot, height), masks, wanted, height, bits)
    cap(state, LAST, slot + FOOT, bits)
    return under


@kernel
def _release(where, free, marks, strip):
    """Forget a strip's left column."""
    free[marks[0]] = where[strip]
    marks[0] += 1
    where[strip] = -1


@kernel
def _descend(state, versions, free, where, marks, text, columns, k, height, block, tile, tally):
    """Take a block of columns down the strips; returns (state, versions, free), perhaps grown.

    where: int64, the slot of each strip that has a left column, else -1; marks: int64[5], how many
    slots are free, a strip below which none has a left column, the version of the bounds, and what
    `_deepest_rows` says.
    """
    bounds, limits, _ = tile
    saved = PROBE + height * WORDS
    source = saved + height * PAIR
    target, found = source + block * PAIR, source + 2 * block * PAIR
    base, size = source + 3 * block * PAIR, MASKS + height * (WORDS + PAIR + ROW)
    alive, joined, strip, kept, row = True, False, 0, 0, 0
    clear(state, source, 2 * columns.size)
    while strip < where.size and (alive or strip < marks[1]):
        top, number = strip * height, where[strip]
        if top >= marks[3] or not (alive or number >= 0):
            if number >= 0:
                _release(where, free, marks, strip)
            alive, joined, strip = False, False, strip + 1
            continue
        row = top + height
        bits_above, bits = width(min(top, k + block), k - 1), width(min(row, k + block), k - 1)
        if number < 0:
            if marks[0] == 0:
                marks[0] = versions.size
                state, versions, free = _grown(state, versions, free, size)
            marks[0] -= 1
            number = where[strip] = free[marks[0]]
            versions[number] = -1
            _enter(state, base + size * number, height, top, k, bits, bits_above, text)
        slot = base + size * number
        if versions[number] != marks[2]:
            _aim(state, slot, height, top, bounds, limits)
            versions[number] = marks[2]
        if strip and not joined:
            clear(state, source, 2 * columns.size)
        copy(state, slot + FOOT, LEFT, bits)
        borders = (source, target, found)
        said = _take(state, slot, height, top, k, bits, columns, borders, saved, tile, tally)
        if said & SWAPPED:
            source, target = target, source
        if said & RAISED:
            marks[2] += 1
            marks[3:] = _deepest_rows(bounds, limits)
            _aim(state, slot, height, top, bounds, limits)
            versions[number] = marks[2]
        if _leave(state, slot, height, bits, bits_above, joined) or row < k:
            kept = strip + 1
        else:
            _release(where, free, marks, strip)
        alive, joined, strip = said & ALIVE != 0, True, strip + 1
    marks[1] = kept
    tally[1] += 1
    tally[2] += row < marks[4]
    return state, versions, free


@kernel
def _block_end(columns, begin, block):
    """Where a block ends: after so many columns, or before the next record."""
    end = begin
    while end < min(begin + block, columns.size) and columns[end] != FRESH:
        end += 1
    return end


@kernel
def extend_tile(text, columns, bounds, limits, opens, k, height, block, watch, tally):
    """Raise the bounds of a tile's lanes by a stretch of background.

    text: the target's planes, uint64[4, w] with zeros at their end, and the tile's first start;
    columns: uint8, letters 0 to 3, 4 for none, FRESH before a record; bounds, limits: int64[LANES],
    as for `extend_primers`, limits 0 in lanes without a start; opens: bool[LANES], see `climb`;
    height: rows of a strip, a multiple of GROUP; block: columns of a block; watch: int64[2], set to
    the columns done, and read for the wish to stop; tally: int64[3], adds cells computed, blocks,
    and blocks given up while a lane had rows left.
    """
    size = MASKS + height * (WORDS + PAIR + ROW)
    state = aligned(PROBE + height * (WORDS + PAIR) + 3 * block * PAIR + FIRST_SLOTS * size)
    versions, free = np.arange(FIRST_SLOTS), np.arange(FIRST_SLOTS)
    deepest, rows = _deepest_rows(bounds, limits)
    where = np.full(rows // height + 1, -1)
    marks = np.array([FIRST_SLOTS, 0, 0, deepest, rows])
    begin, tile = 0, (bounds, limits, opens)
    while begin < columns.size and marks[3] and not watch[1]:
        if columns[begin] == FRESH:
            for strip in range(marks[1]):
                if where[strip] >= 0:
                    _release(where, free, marks, strip)
            marks[1] = 0
            begin += 1
            continue
        end = _block_end(columns, begin, block)
        state, versions, free = _descend(
            state,
            versions,
            free,
            where,
            marks,
            text,
            columns[begin:end],
            k,
            height,
            block,
            tile,
            tally,
        )
        begin = watch[0] = end
