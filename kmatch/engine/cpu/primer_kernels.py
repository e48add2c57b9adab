"""One tile of starts under a stretch of background: bounds of the lengths, raised until they hold.

A tile is 64·WORDS starts of the target, one a lane. Roles are swapped: row i of a lane is the i-th
letter of its primer; a column is a letter of the background, the same for all lanes, and selects
one of the row's planes. Columns are taken in blocks, rows in strips. In a strip a lane has one row
of interest: its bound, or the lowest row if the bound is deeper. A lane whose bound is above the
strip has passed; one whose bound exceeds its limit is lost. A block is given up below the strip in
which no lane is below k at its row of interest. A lane below k at its bound gets a higher one,
found by taking the strip again, row by row.

A strip without a value below k at its top or left is skipped, as in Ukkonen's cut-off. Between
blocks values above k become k: values below k stay exact, others stay at least k, and a left column
that was dropped is known to be all k. Bounds only grow, and the values of a lane at all rows from
its bound on were at least k, so a lane never needs a row again that it has passed.
"""

from typing import NamedTuple

import numpy as np

from kmatch.engine.cpu.distances import add, copy, counter_bits, follow, put_number
from kmatch.engine.cpu.recurrence import (
    PAIR,
    advance,
    cell,
    load_four,
    load_pair,
    store_four,
    store_pair,
)
from kmatch.engine.cpu.vectors import (
    NONE,
    ONE,
    aligned,
    fill,
    load,
    lowest,
    nonzero,
    pointer,
    store,
)
from kmatch.engine.geometry import LANES, WORDS
from kmatch.engine.types import FRESH
from kmatch.jit.kernels import inlined, kernel

COUNTER = 33 * WORDS  # the most words of a counter
# The state begins with four counters; then come a copy of a strip's deltas, three borders, and the
# strips, one after another. These are NumPy's numbers, because a kernel is compiled anew for each
# literal that it is called with.
RUN, COUNT, LEFT, LAST, SAVED = COUNTER * np.arange(5)
# Of a strip: counters of the left column at the row above it and at its lowest row, lanes with a
# row of interest, those of them whose bound is inside, then for each row the lanes that it
# interests, the deltas, and the planes of A, C, G, T and of no letter.
CORNER = 0
FOOT = COUNTER
WANTED = 2 * COUNTER
INSIDE = WANTED + WORDS
MASKS = WANTED + PAIR
ROW = 5 * WORDS  # planes of one row
FIRST_ROW = np.int64(0)  # of a strip
GROUP = 4  # rows that are taken together, with or without rows of interest
FIRST_STRIPS = 8  # that the state has space for
DROPPED = -1  # a strip without a left column

OPEN, VERSION, DEEPEST, READ = range(4)  # marks, see `extend_tile`

# Flags that `_take` returns.
ALIVE = 1
RAISED = 2
SWAPPED = 4


class Strip(NamedTuple):
    """A strip: the indices of its state, masks, deltas and planes, the row above it, how
    many it has, and the bits of a counter."""

    at: int
    masks: int
    deltas: int
    planes: int
    top: int
    height: int
    bits: int


@inlined
def _strip_size(height):
    return MASKS + height * (WORDS + PAIR + ROW)


@kernel
def _any_lane(state, address, vectors):
    """Return whether a bit is set in any of some vectors."""
    every = fill(NONE)
    for i in range(address, address + WORDS * vectors, WORDS):
        every = every | load(state, i)
    return nonzero(every) != 0


@kernel
def _clear(state, address, vectors):
    for i in range(address, address + WORDS * vectors, WORDS):
        store(state, i, fill(NONE))


@kernel
def _aim(state, strip, tile):
    """Set a strip's masks: a lane's row of interest is its bound or the lowest row."""
    _clear(state, strip.at + WANTED, 2 + strip.height)
    for lane in range(LANES):
        bound = tile.bounds[lane]
        if strip.top < bound <= tile.limits[lane]:
            word = lane >> 6
            bit = ONE << np.uint64(lane & 63)
            row = min(bound - strip.top, strip.height) - 1
            state[strip.masks + WORDS * row + word] |= bit
            state[strip.at + WANTED + word] |= bit
            if bound <= strip.top + strip.height:
                state[strip.at + INSIDE + word] |= bit


@kernel
def _read_rows(tile, strip, state):
    """Write a strip's planes: in row i the letters i of all lanes' primers."""
    target = tile.target
    for row in range(strip.height):
        planes = strip.planes + ROW * row
        _clear(state, planes, 4)
        store(state, planes + 4 * WORDS, fill(NONE))
        for lane in range(LANES):
            position = tile.positions[lane] + strip.top + row
            if position < len(target):
                word = planes + (lane >> 6)
                place = np.uint64(lane & 63)
                bases = np.uint64(target[position])
                for base in range(4):
                    bit = bases >> np.uint64(base) & ONE
                    state[word + WORDS * base] |= bit << place


@kernel
def _widen(state, counter, bits, more):
    """Give a counter more bits."""
    for i in range(bits, more):
        store(state, counter + i * WORDS, load(state, counter + (bits - 1) * WORDS))


@kernel
def _enter(state, strip, tile, bits_above):
    """Begin a strip whose left column was dropped: it grows by one a row up to k.

    LEFT is the counter at the lowest row of the strip above.
    """
    corner = strip.at + CORNER
    foot = strip.at + FOOT
    bits = strip.bits
    if strip.top == 0:
        put_number(state, corner, bits, -tile.k)
    else:
        copy(state, LEFT, corner, bits_above)
        _widen(state, corner, bits_above, bits)
    copy(state, corner, foot, bits)
    for row in range(strip.height):
        under = load(state, foot + (bits - 1) * WORDS)
        store_pair(state, strip.deltas + PAIR * row, ~under, fill(NONE))
        add(state, foot, bits, under, fill(NONE))


@kernel
def _gather4(planes, state, top, deltas, masks, source, target, found, offsets):
    """Take four rows over the columns, and gather the deltas at the rows of interest to `found`."""
    nv0, mv0, nv1, mv1, nv2, mv2, nv3, mv3 = load_four(state, deltas)
    at0, at1 = load_pair(state, masks)
    at2, at3 = load_pair(state, masks + PAIR)
    for e in offsets:
        e += ROW * top
        ph, mh = load_pair(state, source)
        plus, minus = load_pair(state, found)
        ph, mh, nv0, mv0 = cell(load(planes, e), ph, mh, nv0, mv0)
        plus = plus | (ph & at0)
        minus = minus | (mh & at0)
        ph, mh, nv1, mv1 = cell(load(planes, e + ROW), ph, mh, nv1, mv1)
        plus = plus | (ph & at1)
        minus = minus | (mh & at1)
        ph, mh, nv2, mv2 = cell(load(planes, e + 2 * ROW), ph, mh, nv2, mv2)
        plus = plus | (ph & at2)
        minus = minus | (mh & at2)
        ph, mh, nv3, mv3 = cell(load(planes, e + 3 * ROW), ph, mh, nv3, mv3)
        store_pair(state, target, ph, mh)
        store_pair(state, found, plus | (ph & at3), minus | (mh & at3))
        source += PAIR
        target += PAIR
        found += PAIR
    store_four(state, deltas, (nv0, mv0, nv1, mv1, nv2, mv2, nv3, mv3))


@kernel
def _start_counters(state, strip):
    """Set COUNT to the left column's values, each lane at its row of interest, else to 0."""
    copy(state, strip.at + CORNER, RUN, strip.bits)
    _clear(state, COUNT, strip.bits)
    for row in range(strip.height):
        nv, mv = load_pair(state, strip.deltas + PAIR * row)
        add(state, RUN, strip.bits, ~nv, mv)
        lanes = load(state, strip.masks + WORDS * row)
        if nonzero(lanes) != 0:
            for i in range(0, strip.bits * WORDS, WORDS):
                kept = load(state, COUNT + i)
                store(state, COUNT + i, kept | (load(state, RUN + i) & lanes))


@kernel
def _sweep(state, strip, rows, top, bottom, source, target, offsets):
    """Take some rows of a strip over the columns; rows: see `extend_tile`."""
    planes = pointer(state, strip.planes)
    deltas = strip.deltas + PAIR * top
    advance(planes, state, rows, top, bottom, deltas, source, target, offsets, len(offsets))


@kernel
def _gather(state, strip, rows, borders, offsets):
    """Take a strip over the columns; writes the lanes below k at their rows to `found`.

    borders: the indices of pairs of deltas, one a column: deltas that enter a strip at its top,
    that leave it, and that are gathered at the rows of interest, (source, target, found).
    """
    source, target, found = borders
    _start_counters(state, strip)
    _clear(state, found, 2 * len(offsets))
    planes = pointer(state, strip.planes)
    row = 0
    while row < strip.height:
        # Rows of no interest, as many as there are, or four rows of which one is of interest.
        end = row
        while end < strip.height and not _any_lane(state, strip.masks + WORDS * end, GROUP):
            end += GROUP
        if end > row:
            _sweep(state, strip, rows, row, end, source, target, offsets)
        else:
            end = row + GROUP
            deltas = strip.deltas + PAIR * row
            masks = strip.masks + WORDS * row
            _gather4(planes, state, row, deltas, masks, source, target, found, offsets)
        source = target
        row = end
    follow(state, COUNT, strip.bits, found, found, len(offsets))


@kernel
def _raise(state, strip, rows, borders, offsets, tile, place):
    """Take a strip again, and raise the bounds of the lanes in `found`, which are below k at them.

    A new bound is the first row that is not below k, or the one after the strip or the limit;
    place: the first column, which is kept.
    """
    source, target, found = borders
    wanted = load(state, found) & load(state, strip.at + INSIDE)
    active = fill(NONE)
    copy(state, SAVED, strip.deltas, 2 * strip.height)
    copy(state, strip.at + CORNER, RUN, strip.bits)
    for row in range(strip.height):
        nv, mv = load_pair(state, strip.deltas + PAIR * row)
        add(state, RUN, strip.bits, ~nv, mv)
        _sweep(state, strip, rows, row, row + 1, source, target, offsets)
        source = target
        active = active | (load(state, strip.masks + WORDS * row) & wanted)
        if nonzero(active) != 0:
            copy(state, RUN, COUNT, strip.bits)
            follow(state, COUNT, strip.bits, target, found, len(offsets))
            active = active & load(state, found)
            store(state, found, active)
            for word in range(WORDS):
                left = state[found + word]
                while left != 0:
                    lane = 64 * word + lowest(left)
                    left &= left - ONE
                    tile.bounds[lane] = min(strip.top + row + 1, tile.limits[lane]) + 1
                    tile.places[lane] = place


@inlined
def _take(state, strip, rows, borders, offsets, tile, place):
    """Take a strip over a block of columns; returns ALIVE, RAISED and SWAPPED as they apply.

    ALIVE: a lane is below k in its lowest row; RAISED: bounds were raised; SWAPPED: the border is
    at `target` now.
    """
    source, _, found = borders
    bottom = strip.top + strip.height
    bits = strip.bits
    wanted, inside = load_pair(state, strip.at + WANTED)
    if bottom < tile.k or nonzero(inside) == 0:
        alive = bottom < tile.k
        if not alive:
            alive = nonzero(load(state, strip.at + FOOT + WORDS * (bits - 1)) & wanted) != 0
        _sweep(state, strip, rows, FIRST_ROW, strip.height, source, source, offsets)
        if not alive:
            copy(state, strip.at + FOOT, COUNT, bits)
            follow(state, COUNT, bits, source, found, len(offsets))
            alive = nonzero(load(state, found) & wanted) != 0
        return ALIVE if alive else 0
    copy(state, strip.deltas, SAVED, 2 * strip.height)
    _gather(state, strip, rows, borders, offsets)
    low = load(state, found)
    alive = nonzero(low & ~inside) != 0
    if nonzero(low & inside) == 0:
        return (ALIVE if alive else 0) | SWAPPED
    _raise(state, strip, rows, borders, offsets, tile, place)
    if not alive:
        for lane in range(LANES):  # raised beyond the strip, so that they are below k at its end
            alive |= bottom < tile.bounds[lane] <= tile.limits[lane]
    return (ALIVE if alive else 0) | RAISED | SWAPPED


@kernel
def _cap(state, source, target, bits):
    """Copy a counter, with values above k lowered to k."""
    under = load(state, source + (bits - 1) * WORDS)
    for i in range(0, bits * WORDS, WORDS):
        store(state, target + i, load(state, source + i) & under)


@kernel
def _leave(state, strip, bits_above, joined):
    """Make the last column of a block the left one of the next, its values above k lowered to k;
    returns whether a lane is below k there, down to its row of interest.

    LAST is its counter at the lowest row of the strip above, if that was taken (`joined`), and
    becomes the one at the lowest row of this strip.
    """
    bits = strip.bits
    if joined:
        _widen(state, LAST, bits_above, bits)
    else:
        copy(state, strip.at + CORNER, LAST, bits)
    _cap(state, LAST, strip.at + CORNER, bits)
    low = fill(NONE)
    lanes = load(state, strip.at + WANTED)
    before = load(state, LAST + (bits - 1) * WORDS)
    for row in range(strip.height):
        at = strip.deltas + PAIR * row
        nv, mv = load_pair(state, at)
        under = add(state, LAST, bits, ~nv, mv)
        store_pair(state, at, nv | ~(before | under), mv & (before | under))
        low = low | (under & lanes)
        lanes = lanes & ~load(state, strip.masks + WORDS * row)
        before = under
    _cap(state, LAST, strip.at + FOOT, bits)
    return nonzero(low) != 0


@inlined
def _counter_bits(row, tile):
    """Bits of a counter at a row."""
    return counter_bits(min(row, tile.k + tile.block), tile.k - 1)


@kernel
def _deepest(bounds, limits):
    """Return the largest bound of the lanes that are not lost; 0 where all are."""
    deepest = 0
    for lane in range(LANES):
        if bounds[lane] <= limits[lane]:
            deepest = max(deepest, bounds[lane])
    return deepest


@kernel
def _grown(state):
    """Return the state with twice the space."""
    more = aligned(2 * state.size)
    for i in range(state.size):  # slices would take seconds to compile
        more[i] = state[i]
    return more


@inlined
def _strip_of(number, first, tile):
    """Return a Strip by its number; first: where the strips begin in the state."""
    top = number * tile.height
    at = first + _strip_size(tile.height) * number
    masks = at + MASKS
    deltas = masks + tile.height * WORDS
    planes = deltas + tile.height * PAIR
    bits = _counter_bits(top + tile.height, tile)
    return Strip(at, masks, deltas, planes, top, tile.height, bits)


@inlined
def _descend(state, aimed, marks, rows, offsets, tile, watch, place):
    """Take a block of columns down the strips; returns the state, which may have grown.

    place: the first of the columns.

              block 0   block 1   block 2
    strip 0   ─────────────────────────────
    strip 1   ─────────           ─────────    where a lane is below k above it
    strip 2   ─────────
    """
    source = SAVED + tile.height * PAIR
    target = source + tile.block * PAIR
    found = target + tile.block * PAIR
    strips = found + tile.block * PAIR
    alive = True
    joined = False
    number = kept = 0
    _clear(pointer(state, 0), source, 2 * len(offsets))
    while number < len(aimed) and (alive or number < marks[OPEN]):
        strip = _strip_of(number, strips, tile)
        is_fresh = aimed[number] == DROPPED
        if strip.top >= marks[DEEPEST] or (is_fresh and not alive):
            aimed[number] = DROPPED
            alive = False
            joined = False
            number += 1
            continue
        bits_above = _counter_bits(strip.top, tile)
        if strip.at + _strip_size(tile.height) > len(state):
            state = _grown(state)
        cells = pointer(state, 0)
        if number == marks[READ]:
            _read_rows(tile, strip, cells)
            marks[READ] += 1
        if is_fresh:
            _enter(cells, strip, tile, bits_above)
        if aimed[number] != marks[VERSION]:
            _aim(cells, strip, tile)
            aimed[number] = marks[VERSION]
        if number and not joined:
            _clear(cells, source, 2 * len(offsets))
        copy(cells, strip.at + FOOT, LEFT, strip.bits)
        flags = _take(cells, strip, rows, (source, target, found), offsets, tile, place)
        watch[2] += LANES * tile.height * len(offsets)
        if flags & SWAPPED:
            source, target = target, source
        if flags & RAISED:
            watch[2] += LANES * tile.height * len(offsets)
            marks[VERSION] += 1
            marks[DEEPEST] = _deepest(tile.bounds, tile.limits)
            _aim(cells, strip, tile)
            aimed[number] = marks[VERSION]
        if _leave(cells, strip, bits_above, joined) or strip.top + tile.height < tile.k:
            kept = number + 1
        else:
            aimed[number] = DROPPED
        alive = flags & ALIVE != 0
        joined = True
        number += 1
    marks[OPEN] = kept
    return state


@kernel
def _drop_all(aimed, marks):
    """Drop the left columns of all strips."""
    for number in range(marks[OPEN]):
        aimed[number] = DROPPED
    marks[OPEN] = 0


@kernel
def extend_tile(tile, columns, windows, watch):
    """Raise the bounds of a StartTile's lanes by windows of a background.

    columns: uint8, letters 0 to 3, UNKNOWN, and FRESH before a record; windows: int64[w, 2], the
    first column of each and the one behind it; watch: int64[3], the columns done, written here,
    whether to stop, read here, and the cells computed, added here.
    """
    height = tile.height
    block = tile.block
    state = aligned(SAVED + (height + 3 * block) * PAIR + FIRST_STRIPS * _strip_size(height))
    rows = ROW * np.arange(height)
    offsets = np.empty(block, np.int64)
    most = 0
    for lane in range(LANES):
        most = max(most, tile.limits[lane])
    aimed = np.full(most // height + 1, DROPPED)  # the version of bounds that masks are of
    # A strip from which on none has a left column, the version of the bounds, the deepest of them,
    # and how many strips have planes.
    marks = np.array([0, 0, _deepest(tile.bounds, tile.limits), 0])
    for window in range(len(windows)):
        _drop_all(aimed, marks)
        begin = windows[window, 0]
        end = windows[window, 1]
        while begin < end and marks[DEEPEST] and not watch[1]:
            if columns[begin] == FRESH:
                _drop_all(aimed, marks)
                begin += 1
                watch[0] += 1
                continue
            many = 0
            while many < min(block, end - begin) and columns[begin + many] != FRESH:
                offsets[many] = WORDS * np.int64(columns[begin + many])
                many += 1
            state = _descend(state, aimed, marks, rows, offsets[:many], tile, watch, begin)
            begin += many
            watch[0] += many
