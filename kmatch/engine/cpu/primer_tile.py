"""One tile of starts under a stretch of background: bounds of the lengths, raised until they hold.

A tile is 64·WORDS neighbouring starts of the target, one a lane. Columns are taken in blocks, rows
in strips. In a strip a lane has one row of interest: its bound, or the lowest row if the bound is
deeper. A lane whose bound is above the strip has passed; one whose bound exceeds its limit is lost.
A block is given up below the strip in which no lane is below k at its row of interest. A lane below
k at its bound gets a higher one, found by taking the strip again with other rows of interest.

A strip without a value below k at its top or left is skipped, as in Ukkonen's cut-off. Between
blocks values above k become k: values below k stay exact, others stay at least k, and a left column
that was dropped is known to be all k. Bounds only grow, and the values of a lane at all rows from
its bound on were at least k, so a lane never needs again what it has passed.
"""

from typing import NamedTuple

import numpy as np

from kmatch.engine.cpu.distances import copy, counter_bits, follow, put_number
from kmatch.engine.cpu.items import LANES, WORDS
from kmatch.engine.cpu.primer_strips import (
    ROW,
    Borders,
    Memory,
    Rows,
    Strips,
    any_lane,
    begin_rows,
    cap,
    clear,
    grown,
    read_rows,
    release,
    settle,
    start_counters,
    sweep,
    sweep_gathering,
    widen,
)
from kmatch.engine.cpu.recurrence import PAIR
from kmatch.engine.cpu.vectors import ONE, aligned, load, lowest, nonzero
from kmatch.engine.trace import largest
from kmatch.engine.types import FRESH
from kmatch.jit.kernels import inlined, kernel

COUNTER = 33 * WORDS  # the most words of a counter

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

ALIVE, RAISED, SWAPPED = 1, 2, 4  # flags that `_take` returns


class Strip(NamedTuple):
    """A strip that has a slot: the slot's index, the row above the strip, the bits of a counter and
    the rows."""

    slot: int
    top: int
    bits: int
    rows: Rows


@inlined
def _rows(slot, height):
    deltas = slot + MASKS + height * WORDS
    return Rows(deltas + height * PAIR, deltas, slot + MASKS, height)


@kernel
def climb(bounds, limits, opens, first, last):
    """Raise bounds so that r + bounds[r] never decreases within a record.

    From start `first` to `last`, and beyond as long as it did decrease. bounds, limits: int64;
    opens: bool, whether a record begins at a start.
    """
    for r in range(max(first, 1), bounds.size):
        least = min(bounds[r - 1] - 1, limits[r] + 1)
        if not opens[r] and bounds[r] < least:
            bounds[r] = least
        elif r >= last:
            return


@kernel
def _aim(state, strip, tile):
    """Set a strip's masks: a lane's row of interest is its bound or the lowest row."""
    slot, top, _, rows = strip
    clear(state, slot + WANTED, 2 + rows.height)
    for lane in range(LANES):
        bound = tile.bounds[lane]
        if top < bound <= tile.limits[lane]:
            word, bit = lane >> 6, ONE << np.uint64(lane & 63)
            state[slot + MASKS + WORDS * (min(bound - top, rows.height) - 1) + word] |= bit
            state[slot + WANTED + word] |= bit
            if bound <= top + rows.height:
                state[slot + INSIDE + word] |= bit


@kernel
def _enter(state, strip, tile, bits_above):
    """Begin a strip whose left column was dropped: it grows by one a row up to k.

    LEFT is the counter at the lowest row of the strip above.
    """
    slot, top, bits, rows = strip
    read_rows(tile.planes, tile.first + top, rows.height, state, rows.planes)
    if top == 0:
        put_number(state, slot + CORNER, bits, -tile.k)
    else:
        copy(state, LEFT, slot + CORNER, bits_above)
        widen(state, slot + CORNER, bits_above, bits)
    begin_rows(state, slot + CORNER, rows, bits, slot + FOOT)


@kernel
def _gather(state, strip, masks, columns, borders):
    """Take a strip over the columns; writes the lanes below k at their rows to `found`."""
    rows = Rows(strip.rows.planes, strip.rows.deltas, masks, strip.rows.height)
    start_counters(state, strip.slot + CORNER, rows, strip.bits, RUN, COUNT)
    sweep_gathering(state, rows, columns, borders)
    return follow(state, COUNT, strip.bits, borders.found, borders.found, columns.size)


@inlined
def _next_row(low, high, end, step, first):
    """The row at which a lane is tried next: it is below k at `low`, and not at `high`.

    end: `high` before any try; step: doubles with every try; first: the strip's first row.
    """
    if high < end:
        row = (low + high) >> 1
    elif step == 1 and low == first:
        row = end - 1  # below k at the top, it is likely to be so down to the strip's end
    else:
        row = min(low + step, end - 1)
    return row


@kernel
def _raise(state, strip, columns, borders, tile):
    """Raise the bounds of the lanes in `found`, which are below k at them, within a strip.

    A new bound is the first row that is not below k, or the one after the strip or the limit. All
    lanes are tried at once, each at a row of its own. Returns the number of sweeps.
    """
    slot, top, _, strip_rows = strip
    bounds, height, found = tile.bounds, strip_rows.height, borders.found
    rows = np.zeros((4, LANES), np.int64)
    low, high, end, tried = rows[0], rows[1], rows[2], rows[3]
    for word in range(WORDS):
        left = state[found + word] & state[slot + INSIDE + word]
        while left != 0:
            lane = 64 * word + lowest(left)
            left &= left - ONE
            low[lane] = bounds[lane]
            high[lane] = end[lane] = min(top + height, tile.limits[lane]) + 1
    step, sweeps = 1, 0
    while largest(high - low) > 1:
        clear(state, PROBE, height)
        for lane in range(LANES):
            tried[lane] = 0
            if high[lane] > low[lane] + 1:
                row = _next_row(low[lane], high[lane], end[lane], step, top + 1)
                state[PROBE + WORDS * (row - top - 1) + (lane >> 6)] |= ONE << np.uint64(lane & 63)
                tried[lane] = row
        copy(state, _saved(height), strip_rows.deltas, 2 * height)
        _gather(state, strip, PROBE, columns, borders)
        for lane in range(LANES):
            if tried[lane] == 0:
                continue
            if (state[found + (lane >> 6)] >> np.uint64(lane & 63)) & ONE:
                low[lane] = tried[lane]
            else:
                high[lane] = tried[lane]
        step, sweeps = 2 * step, sweeps + 1
    for lane in range(LANES):
        if high[lane]:
            bounds[lane] = high[lane]
    return sweeps


@inlined
def _saved(height):
    """The index of a copy of the deltas at the left of a strip that is taken several times."""
    return PROBE + height * WORDS


@kernel
def _take(state, strip, columns, borders, tile, tally):
    """Take a strip over a block of columns; returns ALIVE, RAISED and SWAPPED as they apply.

    ALIVE: a lane is below k in its lowest row; RAISED: bounds were raised; SWAPPED: the border is
    at `target` now.
    """
    slot, top, bits, rows = strip
    source, _, found = borders
    height = rows.height
    cells = LANES * height * columns.size
    tally[0] += cells
    if top + height < tile.k:
        sweep(state, rows, columns, source, source)
        return ALIVE
    sign = load(state, slot + FOOT + WORDS * (bits - 1))
    if not any_lane(state, slot + INSIDE, 1):
        alive = nonzero(sign & load(state, slot + WANTED)) != 0
        sweep(state, rows, columns, source, source)
        if not alive:
            copy(state, slot + FOOT, COUNT, bits)
            follow(state, COUNT, bits, source, found, columns.size)
            alive = nonzero(load(state, found) & load(state, slot + WANTED)) != 0
        return ALIVE if alive else 0
    copy(state, rows.deltas, _saved(height), 2 * height)
    _gather(state, strip, rows.masks, columns, borders)
    low, inside = load(state, found), load(state, slot + INSIDE)
    alive = nonzero(low & ~inside) != 0
    if nonzero(low & inside) == 0:
        return (ALIVE if alive else 0) | SWAPPED
    tally[0] += cells * _raise(state, strip, columns, borders, tile)
    climb(tile.bounds, tile.limits, tile.opens, 1, LANES)
    if not alive:
        # Lanes that `climb` raised may not be alive below; the next strip shows it.
        for lane in range(LANES):
            alive |= top + height < tile.bounds[lane] <= tile.limits[lane]
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
def _leave(state, strip, bits_above, joined):
    """Make the last column of a block the left one of the next; returns whether it is below k.

    LAST is its counter at the lowest row of the strip above, if that was taken (`joined`), and
    becomes the one at the lowest row of this strip.
    """
    slot, _, bits, rows = strip
    if joined:
        widen(state, LAST, bits_above, bits)
    else:
        copy(state, slot + CORNER, LAST, bits)
    cap(state, LAST, slot + CORNER, bits)
    under = settle(state, LAST, rows, slot + WANTED, bits)
    cap(state, LAST, slot + FOOT, bits)
    return under


@inlined
def _slot_size(height):
    return MASKS + height * (WORDS + PAIR + ROW)


@inlined
def _counter_bits(row, tile):
    """Bits of a counter at a row."""
    return counter_bits(min(row, tile.k + tile.block), tile.k - 1)


@kernel
def _descend(memory, strips, columns, tile, tally):
    """Take a block of columns down the strips; returns the Memory, which may have grown."""
    slots, marks = strips
    height, block = tile.height, tile.block
    source = _saved(height) + height * PAIR
    target, found = source + block * PAIR, source + 2 * block * PAIR
    base, size = source + 3 * block * PAIR, _slot_size(height)
    alive, joined, number, kept, row = True, False, 0, 0, 0
    clear(memory.state, source, 2 * columns.size)
    while number < slots.size and (alive or number < marks[1]):
        top, held = number * height, slots[number]
        if top >= marks[3] or not (alive or held >= 0):
            if held >= 0:
                release(strips, memory.free, number)
            alive, joined, number = False, False, number + 1
            continue
        row = top + height
        bits_above = _counter_bits(top, tile)
        fresh = held < 0
        if fresh:
            if marks[0] == 0:
                marks[0] = memory.versions.size
                memory = grown(memory, size)
            marks[0] -= 1
            held = slots[number] = memory.free[marks[0]]
            memory.versions[held] = -1
        state, slot = memory.state, base + size * held
        strip = Strip(slot, top, _counter_bits(row, tile), _rows(slot, height))
        if fresh:
            _enter(state, strip, tile, bits_above)
        if memory.versions[held] != marks[2]:
            _aim(state, strip, tile)
            memory.versions[held] = marks[2]
        if number and not joined:
            clear(state, source, 2 * columns.size)
        copy(state, slot + FOOT, LEFT, strip.bits)
        flags = _take(state, strip, columns, Borders(source, target, found), tile, tally)
        if flags & SWAPPED:
            source, target = target, source
        if flags & RAISED:
            marks[2] += 1
            marks[3], marks[4] = _deepest_rows(tile.bounds, tile.limits)
            _aim(state, strip, tile)
            memory.versions[held] = marks[2]
        if _leave(state, strip, bits_above, joined) or row < tile.k:
            kept = number + 1
        else:
            release(strips, memory.free, number)
        alive, joined, number = flags & ALIVE != 0, True, number + 1
    marks[1] = kept
    tally[1] += 1
    tally[2] += row < marks[4]
    return memory


@kernel
def _block_end(columns, begin, block):
    """The end of a block: after `block` columns, or before the next record."""
    end = begin
    while end < min(begin + block, columns.size) and columns[end] != FRESH:
        end += 1
    return end


@kernel
def extend_tile(tile, columns, watch, tally):
    """Raise the bounds of a Tile's lanes by a stretch of background.

    columns: uint8, letters 0 to 3, UNKNOWN, and FRESH before a record; watch: int64[2], the
    columns done, written here, and whether to stop, read here; tally: int64[3], to which cells
    computed, blocks, and blocks given up while a lane had rows left are added.
    """
    height, block = tile.height, tile.block
    fixed = _saved(height) + height * PAIR + 3 * block * PAIR
    state = aligned(fixed + FIRST_SLOTS * _slot_size(height))
    memory = Memory(state, np.arange(FIRST_SLOTS), np.arange(FIRST_SLOTS))
    deepest, rows = _deepest_rows(tile.bounds, tile.limits)
    marks = np.array([FIRST_SLOTS, 0, 0, deepest, rows])
    strips = Strips(np.full(rows // height + 1, -1), marks)
    begin = 0
    while begin < columns.size and marks[3] and not watch[1]:
        if columns[begin] == FRESH:
            for strip in range(marks[1]):
                if strips.slots[strip] >= 0:
                    release(strips, memory.free, strip)
            marks[1] = 0
            begin += 1
            continue
        end = _block_end(columns, begin, block)
        memory = _descend(memory, strips, columns[begin:end], tile, tally)
        begin = watch[0] = end
