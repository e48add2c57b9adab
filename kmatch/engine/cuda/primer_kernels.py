"""The kernel for k-difference primers: tiles of starts, strip by strip down their rows.

Roles are swapped (see `kmatch.engine.cuda.recurrence`): a lane is a start in the target and row i
of the matrix its letter i; a column is a letter of the background, the same for all lanes, which
selects one of the row's planes in shared memory. A tile is WIDTH words of neighbouring starts, one
word a thread, and a block takes STRETCHES stretches of the background past one tile. A stretch
begins with a warm-up, whose first column is D[i] = i: an alignment of i letters within k spans
fewer than i + k columns, so values below k come out exact, and others not too low. The warm-up of a
strip is the shorter the further down it is, as alignments cross its top so many columns later.

In a strip every lane has one row of interest: the row of its bound, or the strip's last where the
bound is below. The horizontal deltas there are gathered on the way down, and a counter follows
D − k from column to column: its sign means that the lane is alive: D < k. A lane that is alive at
its bound gets a larger one by sweeps of the same strip at rows further down. A stretch is given up
where no lane is alive at the strip's last row.
"""

from functools import cache
from typing import Any, NamedTuple

from numba import int32, int64, uint8, uint64

from kmatch.engine.cuda.driver import SIMULATED, DeviceArray, cuda, kept
from kmatch.engine.cuda.recurrence import COLUMNS, add_four, advance_by, cell, put_number
from kmatch.engine.cuda.words import (
    ALL_ONES,
    NONE,
    ONE,
    any_of_warp,
    larger,
    lowest,
    or_both,
    smaller,
)
from kmatch.engine.types import FRESH, UNKNOWN

WIDTH = 32  # words of a tile: the threads of a stretch are a warp
STRETCHES = 2  # of a block
# Registers of a thread: six blocks fit a multiprocessor, for a few words that are spilled.
LIMIT = {} if SIMULATED else {"max_registers": 168}
NOWHERE = 255  # for a lane without a row of interest
TAKEN, CELLS = range(2)  # what `tally` counts


class State(NamedTuple):
    """What a thread keeps in registers: vertical deltas of its rows, horizontal ones of COLUMNS
    columns, those above the columns that follow, on their way from memory, those at each lane's row
    of interest, where the columns' planes are in shared memory, a counter of D − k at the rows of
    interest, and the first and the last group of columns in which a lane is alive below all strips.
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


class Tile(NamedTuple):
    """A tile of starts, and a strip of its rows, as a thread sees them.

    limits, bounds: of all starts; first: of the 64 starts that are the thread's word; width: words
    of a tile; word: the thread's; the rest is in shared memory: planes: letter p of row i at
    (p·rows + i)·width; masks: the lanes of which row i is the row of interest, at i·width;
    interest: uint8, these rows, of lane i at i·width, counted from 1, with 0 for the last row of
    the strip above; deeper: the lanes whose limits are below the strip; passing: those that were
    alive down to the strip's top, which are looked for at its last row first; carried: the bits of
    D − k above the strip before its first column.
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
    carried: DeviceArray


class Stretch(NamedTuple):
    """A stretch of the background on its way through a strip.

    columns: four letters a number; begin, end: those that are taken; base: the strip's top row − k;
    origin: the column that the first deltas in device memory belong to.
    """

    columns: DeviceArray
    begin: int
    end: int
    base: int
    origin: int


class Borders(NamedTuple):
    """Horizontal deltas in device memory: the indices of those above a strip and of those below it,
    −1 for none."""

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
    """The letters of COLUMNS columns from t on; begins to load the deltas above them."""
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


@cuda.jit(device=True)
def stage(rows, text, plane_words, word, top, threads, tile):
    """Copy the planes of a strip to a tile, each row shifted by its number.

    word: the tile's first; top: the strip's first row; threads: the number of this one, and of all.
    """
    width, planes = tile.width, tile.planes
    for to in range(threads[0], 4 * rows * width, threads[1]):
        row = top + to // width % rows
        source = to // (rows * width) * plane_words + word + to % width + row // 64
        shift = uint64(row % 64)
        bits = text[source] >> shift
        if shift:
            bits |= text[source + 1] << (uint64(64) - shift)
        planes[to] = bits


class Shape(NamedTuple):
    """The target and the work as the kernel takes them.

    plane_words: of the target's planes; stretch: the most columns of a stretch; warm: columns of
    the first strip's warm-up; both are multiples of COLUMNS; strips: to take; passed: the largest
    bound that is already done.
    """

    plane_words: int
    stretch: int
    warm: int
    k: int
    strips: int
    passed: int


@cuda.jit(device=True)
def _aim(rows, top, passed, tile):
    """Find the rows of interest of a word's lanes; returns whether one is the row of a bound.

    passed: see Shape.
    """
    width, word, masks = tile.width, tile.word, tile.masks
    for i in range(rows):
        masks[i * width + word] = NONE
    below, within, passing = NONE, 0, NONE
    for bit in range(64):
        bound = int64(tile.bounds[tile.first + bit])
        limit = int64(tile.limits[tile.first + bit])
        row = NOWHERE
        if bound <= limit and bound > passed and bound > top:
            lane = ONE << uint64(bit)
            row = smaller(bound - top, rows)
            aimed = row
            if bound == top + 1 and tile.passing[word] & lane:
                row, aimed = 0, smaller(limit - top, rows)
                passing |= lane
            masks[(aimed - 1) * width + word] |= lane
            if limit > top + rows:
                below |= lane
            if bound <= top + rows:
                within = 1
        tile.interest[bit * width + word] = row
    tile.deeper[word] = below
    tile.passing[word] = passing
    return within


@cuda.jit(device=True)
def _aim_further(rows, top, step, rising, tile):
    """Move the rows of interest of lanes `step` rows down, or to the last row for step 0.

    Returns the lanes that have such a row.
    """
    width, word, masks = tile.width, tile.word, tile.masks
    for i in range(rows):
        masks[i * width + word] = NONE
    aimed = NONE
    while rising:
        bit = lowest(rising)
        rising &= rising - ONE
        row = int64(tile.interest[bit * width + word])
        last = smaller(int64(tile.limits[tile.first + bit]) - top, rows)
        further = row + step if step else last
        if row < further and further <= last:
            masks[(further - 1) * width + word] |= ONE << uint64(bit)
            aimed |= ONE << uint64(bit)
    return aimed


@cuda.jit(device=True)
def _move(rows, top, step, moved, tile):
    """Keep the rows of interest of lanes where `_aim_further` moved them."""
    while moved:
        bit = lowest(moved)
        moved &= moved - ONE
        at = bit * tile.width + tile.word
        last = smaller(int64(tile.limits[tile.first + bit]) - top, rows)
        tile.interest[at] = int64(tile.interest[at]) + step if step else last


@cuda.jit(device=True)
def _raise(rows, top, risen, tile):
    """Raise the bounds of lanes that are alive at their rows of interest; note those passing."""
    passing = NONE
    while risen:
        bit = lowest(risen)
        risen &= risen - ONE
        row = int64(tile.interest[bit * tile.width + tile.word])
        bound = top + row + 1
        if row == rows:
            passing |= ONE << uint64(bit)
        if tile.bounds[tile.first + bit] < bound:
            cuda.atomic.max(tile.bounds, tile.first + bit, int32(bound))
    tile.passing[tile.word] = passing


def stretch_of(columns: int) -> int:
    """Columns of each stretch of a unit of `columns` columns."""
    return -(-columns // (STRETCHES * COLUMNS)) * COLUMNS


_stretch_of = cuda.jit(device=True)(stretch_of)


@cache
def make_extend(rows: int, bits: int, width: int) -> Any:
    """The kernel for strips of `rows` rows, a multiple of 4 up to 28, and counters of `bits` bits.

    It takes, all on the GPU: text, uint64, the target's planes, a bit a letter, long enough for the
    rows read past the end; columns, uint32, four letters each, the first one lowest; limits and
    bounds, int32, of every start, for whole tiles; units, int64[n, 3], tiles and the columns, first
    and one past the last, of STRETCHES stretches; shape, a Shape; deltas, uint64, `border_words`
    for every block; reach, int64[n, 2], the first column in which each unit is alive below all
    strips and the end of the last, to begin with more and less than all; and tally, int64[2], 0
    before: units taken, and columns swept in all strips.
    """
    threads, size, tile_lanes = STRETCHES * width, rows * width, 64 * width
    plane_size, carried_size = (UNKNOWN + 1) * size, threads * bits
    trials = (rows - 1).bit_length() + 1

    @kept(**LIMIT)
    def kernel(text, columns, limits, bounds, units, shape, deltas, reach, tally):
        plane_words, stretch, warm, k, strips, passed = shape
        planes = cuda.shared.array(plane_size, uint64)
        masks = cuda.shared.array(size, uint64)
        deeper = cuda.shared.array(width, uint64)
        passing = cuda.shared.array(width, uint64)
        alive_words = cuda.shared.array(threads, uint64)
        interest = cuda.shared.array(tile_lanes, uint8)
        carried = cuda.shared.array(carried_size, uint64)
        ticket = cuda.shared.array(1, int64)
        state = State(
            cuda.local.array(rows, uint64),
            cuda.local.array(rows, uint64),
            cuda.local.array(COLUMNS, uint64),
            cuda.local.array(COLUMNS, uint64),
            cuda.local.array(COLUMNS, uint64),
            cuda.local.array(COLUMNS, uint64),
            cuda.local.array(COLUMNS, uint64),
            cuda.local.array(COLUMNS, uint64),
            cuda.local.array(COLUMNS, uint64),
            cuda.local.array(bits, uint64),
            cuda.local.array(2, int64),
        )
        seen = state.seen
        thread = int64(cuda.threadIdx.x)
        word = thread % width
        mine = thread // width  # the stretch
        border_size = (stretch + warm) * 2 * width
        border = (int64(cuda.blockIdx.x) * STRETCHES + mine) * 2 * border_size + word
        for i in range(thread, size, threads):
            planes[UNKNOWN * size + i] = NONE
        while True:
            cuda.syncthreads()
            if thread == 0:
                ticket[0] = cuda.atomic.add(tally, TAKEN, 1)
            cuda.syncthreads()
            unit = ticket[0]
            if unit >= len(units):
                break
            number, first, stop = units[unit, 0], units[unit, 1], units[unit, 2]
            starts, own = (number * width + word) * 64, carried[thread * bits :]
            tile = Tile(
                limits, bounds, starts, width, word, planes, masks, interest, deeper, passing, own
            )
            begin = first + mine * _stretch_of(stop - first)
            end = smaller(begin + _stretch_of(stop - first), stop)
            origin = larger(begin - warm, 0)
            going = begin < stop
            span = Stretch(columns, origin, end, -k, origin)
            seen[0], seen[1] = stop, -COLUMNS
            if mine == 0:
                passing[word] = NONE
            strip = 0
            while True:
                top = strip * rows
                ending = strip + 1 == strips
                last = (rows - 1) * width + word
                cuda.syncthreads()
                stage(rows, text, plane_words, number * width, top, (thread, threads), tile)
                within = 0
                if mine == 0:
                    within = _aim(rows, top, passed, tile)
                within = cuda.syncthreads_or(int32(within))
                above = border + (strip + 1) % 2 * border_size if strip else -1
                below = border + strip % 2 * border_size if strip + 1 < strips else -1
                borders = Borders(deltas, above, below)
                if going:
                    begun = span.begin
                    span = Stretch(columns, larger(begin - warm + top, 0), end, top - k, origin)
                    carry_down(state, rows, bits, tile, span, borders, begun)
                    if word == 0:
                        cuda.atomic.add(tally, CELLS, end - span.begin)
                left = NONE  # lanes that need the strips below
                if not within:
                    if going:
                        alive = sweep(state, rows, bits, False, tile, span, borders, ending)
                        left = alive & masks[last]
                else:
                    sweeping = going
                    rising = NONE
                    trial, step = -1, 0
                    while trial < trials:
                        alive = NONE
                        if sweeping:
                            borders = Borders(deltas, above, below)
                            alive = sweep(state, rows, bits, True, tile, span, borders, ending)
                        below = -1  # the first sweep wrote the border
                        alive_words[thread] = alive
                        left |= alive & masks[last]
                        if trial < 0:
                            waits = (alive & ~masks[last]) | (passing[word] & ~alive)
                            sweeping = any_of_warp(waits if going else NONE)
                        cuda.syncthreads()
                        if mine == 0:
                            together = NONE
                            for each in range(STRETCHES):
                                together |= alive_words[each * width + word]
                            if trial < 0:
                                rising = together | passing[word]
                                together &= passing[word]
                            _move(rows, top, step, together, tile)
                        while trial < trials:
                            # The last row first, then further and further by halves.
                            trial += 1
                            step = (1 << (trials - trial)) >> 1 if trial else 0
                            aimed = NONE
                            if mine == 0 and trial < trials:
                                lanes = rising & ~passing[word] if step == 0 else rising
                                aimed = _aim_further(rows, top, step, lanes, tile)
                            if cuda.syncthreads_or(int32(aimed != NONE)):
                                break
                        if sweeping and word == 0 and trial < trials:
                            cuda.atomic.add(tally, CELLS, end - span.begin)
                    if mine == 0:
                        _raise(rows, top, rising, tile)
                going = any_of_warp(left & deeper[word])
                strip += 1
                going_on = cuda.syncthreads_or(int32(going))
                if strip == strips:
                    cuda.atomic.min(reach, (unit, 0), seen[0])
                    cuda.atomic.max(reach, (unit, 1), seen[1] + COLUMNS)
                if not going_on or strip == strips:
                    break

    return kernel


def border_words(stretch: int, warm: int, width: int) -> int:
    """Words of device memory for the horizontal deltas of a block: above a strip, and below."""
    return STRETCHES * 2 * (stretch + warm) * 2 * width
