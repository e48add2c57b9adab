"""The kernel for k-difference primers: tiles of starts, strip by strip down their rows.

A tile is WIDTH words of neighbouring starts, one word a thread, and a block takes STRETCHES
stretches of the background past one tile. A stretch begins with a warm-up, whose first column is
D[i] = i: an alignment of i letters within k spans fewer than i + k columns, so values below k come
out exact, and others not too low. The warm-up of a strip is the shorter the further down it is, as
alignments cross its top so many columns later.

A lane that is alive at its bound (see `kmatch.engine.cuda.primer_strips`) gets a larger one by
sweeps of the same strip at rows further down. A stretch is given up where no lane is alive at the
strip's last row.
"""

from functools import cache
from typing import Any, NamedTuple

from numba import int32, int64, uint8, uint64

from kmatch.engine.cuda.driver import SIMULATED, cuda, kept
from kmatch.engine.cuda.primer_strips import (
    Borders,
    PrimerState,
    PrimerTile,
    Stretch,
    carry_down,
    sweep,
)
from kmatch.engine.cuda.recurrence import COLUMNS
from kmatch.engine.cuda.words import (
    NONE,
    ONE,
    any_of_warp,
    larger,
    lowest,
    smaller,
)
from kmatch.engine.types import UNKNOWN

WIDTH = 32  # words of a tile: the threads of a stretch are a warp
STRETCHES = 2  # of a block
# Registers of a thread: six blocks fit a multiprocessor, for a few words that are spilled.
LIMIT = {} if SIMULATED else {"max_registers": 168}
NOWHERE = 255  # for a lane without a row of interest
TAKEN, CELLS = range(2)  # what `tally` counts


@cuda.jit(device=True)
def stage(rows, text, plane_words, word, top, threads, tile):
    """Copy the planes of a strip to a tile, each row shifted by its number.

    word: the tile's first; top: the strip's first row; threads: the number of this one, and of all.
    """
    width = tile.width
    planes = tile.planes
    for to in range(threads[0], 4 * rows * width, threads[1]):
        row = top + to // width % rows
        source = to // (rows * width) * plane_words + word + to % width + row // 64
        shift = uint64(row % 64)
        bits = text[source] >> shift
        if shift:
            bits |= text[source + 1] << (uint64(64) - shift)
        planes[to] = bits


class PrimerShape(NamedTuple):
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

    passed: see PrimerShape.
    """
    width = tile.width
    word = tile.word
    masks = tile.masks
    for i in range(rows):
        masks[i * width + word] = NONE
    below = NONE
    passing = NONE
    within = 0
    for bit in range(64):
        bound = int64(tile.bounds[tile.first + bit])
        limit = int64(tile.limits[tile.first + bit])
        row = NOWHERE
        if bound <= limit and bound > passed and bound > top:
            lane = ONE << uint64(bit)
            row = smaller(bound - top, rows)
            aimed = row
            # A lane that was alive down to the strip above is looked for at its last row first.
            if bound == top + 1 and tile.passing[word] & lane:
                row = 0
                aimed = smaller(limit - top, rows)
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
    width = tile.width
    word = tile.word
    masks = tile.masks
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
    """Raise the bounds of lanes that are alive at their rows of interest; note lanes passing."""
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


class Strip(NamedTuple):
    """A strip of rows on its way: constants of the kernel, its top row, and whether it is the last.

    bits: of a counter; trials: see `_raise_bounds`.
    """

    rows: int
    bits: int
    trials: int
    top: int
    ending: bool


@cuda.jit(device=True)
def _next_unit(tally, ticket, thread):
    """Return the number of the next unit of work, the same in all threads of a block."""
    cuda.syncthreads()
    if thread == 0:
        ticket[0] = cuda.atomic.add(tally, TAKEN, 1)
    cuda.syncthreads()
    return ticket[0]


@cuda.jit(device=True)
def _stretch_in(unit, columns, number, shape):
    """Return a stretch of a unit by its number, before it has entered a strip.

    unit: a tile, and the first of its columns and one past the last; shape: PrimerShape. A stretch
    behind the last of the columns has none.
    """
    columns_each = _stretch_of(unit[2] - unit[1])
    first = unit[1] + number * columns_each
    end = smaller(first + columns_each, unit[2])
    origin = larger(first - shape.warm, 0)
    return Stretch(columns, first, origin, end, -shape.k, origin)


@cuda.jit(device=True)
def _enter(state, strip, tile, before, borders, shape):
    """Enter a strip with a stretch, as it was in the strip before; returns the Stretch in this one.

    Its warm-up is shorter by the rows above the strip.
    """
    begin = larger(before.first - shape.warm + strip.top, 0)
    base = strip.top - shape.k
    stretch = Stretch(before.columns, before.first, begin, before.end, base, before.origin)
    carry_down(state, strip.rows, strip.bits, tile, stretch, borders, before.begin)
    return stretch


@cuda.jit(device=True)
def _borders_of(deltas, shape, number, tile, strip_number):
    """Return the Borders of a strip, and of a stretch, by their numbers.

    A thread has two borders in `deltas`, which change places from strip to strip: the border below
    one strip is above the next.
    """
    size = (shape.stretch + shape.warm) * 2 * tile.width
    first = (int64(cuda.blockIdx.x) * STRETCHES + number) * 2 * size + tile.word
    above = first + (strip_number + 1) % 2 * size if strip_number else -1
    below = first + strip_number % 2 * size if strip_number + 1 < shape.strips else -1
    return Borders(deltas, above, below)


@cuda.jit(device=True)
def _rows_further(trial, trials):
    """Return how many rows further down a trial looks, 0 for the last row."""
    return 1 << (trials - trial - 1) if trial > 0 else 0


@cuda.jit(device=True)
def _next_trial(trial, strip, tile, rising, leads):
    """Return the next trial in which a lane has a row of interest, aimed at; their number for none.

    rising, leads: see `_raise_bounds`; the same trial in all threads of a block.
    """
    while trial < strip.trials:
        trial += 1
        aimed = NONE
        if leads and trial < strip.trials:
            lanes = rising if trial else rising & ~tile.passing[tile.word]
            further = _rows_further(trial, strip.trials)
            aimed = _aim_further(strip.rows, strip.top, further, lanes, tile)
        if cuda.syncthreads_or(int32(aimed != NONE)):
            break
    return trial


@cuda.jit(device=True)
def _raise_bounds(state, strip, tile, stretch, borders, going, thread, tally):
    """Sweep a strip until the bounds in it hold; returns the lanes that are alive at its last row.

    A lane that is alive at the row of its bound rises: its bound becomes the row behind the last
    one at which it is alive. Its last row is tried first, then rows by halves. Of 16 rows, a lane
    that is alive down to row 10, with its bound in row 5:

        row          5   6   7   8   9  10  11  12  13  14  15  16
        trial −1   alive                                              the bound
        trial 0                                                not    the last row
        trial 1                                    not                8 rows further
        trial 2                    alive                              4
        trial 3                            not                        2
        trial 4                        alive                          1: the bound is row 11 now

    All threads of a block take part in all trials. going: whether the thread's stretch goes through
    the strip, which it does until none of its lanes waits for a trial.
    """
    last = (strip.rows - 1) * tile.width + tile.word
    leads = thread < tile.width  # does what is done once for all stretches
    sweeping = going
    rising = NONE
    left = NONE
    trial = -1
    while trial < strip.trials:
        alive = NONE
        if sweeping:
            alive = sweep(state, strip.rows, strip.bits, True, tile, stretch, borders, strip.ending)
        borders = Borders(borders.deltas, borders.source, -1)  # the first sweep wrote the border
        tile.alive[thread] = alive
        left |= alive & tile.masks[last]
        if trial < 0:
            waits = (alive & ~tile.masks[last]) | (tile.passing[tile.word] & ~alive)
            sweeping = any_of_warp(waits if going else NONE)
        cuda.syncthreads()
        if leads:
            together = NONE
            for number in range(STRETCHES):
                together |= tile.alive[number * tile.width + tile.word]
            if trial < 0:
                rising = together | tile.passing[tile.word]
                together &= tile.passing[tile.word]
            _move(strip.rows, strip.top, _rows_further(trial, strip.trials), together, tile)
        trial = _next_trial(trial, strip, tile, rising, leads)
        if sweeping and tile.word == 0 and trial < strip.trials:
            cuda.atomic.add(tally, CELLS, stretch.end - stretch.begin)
    if leads:
        _raise(strip.rows, strip.top, rising, tile)
    return left


@cache
def make_extend(rows: int, bits: int, width: int) -> Any:
    """Return the kernel for strips of `rows` rows and counters of `bits` bits.

    rows: a multiple of 4 up to 28; width: words of a tile. The kernel's arguments are on the GPU:

    text: uint64, the target's planes, a bit a letter, long enough for rows beyond its end;
    columns: uint32, four letters each, the first one lowest;
    limits, bounds: int32 of each start, for whole tiles;
    units: int64[n, 3], a tile, the first of its columns, and the one behind the last;
    shape: PrimerShape;
    deltas: uint64, `border_words` for each block;
    reach: int64[n, 2], of each unit the first column in which it is alive below all strips, and the
    end of the last, to begin with more and less than all;
    tally: int64[2], 0 before: units taken, and columns swept in all strips.
    """
    threads = STRETCHES * width
    size = rows * width  # words of a plane of a tile, and of its masks
    plane_size = (UNKNOWN + 1) * size
    tile_lanes = 64 * width
    carried_size = threads * bits
    trials = (rows - 1).bit_length() + 1

    @kept(**LIMIT)
    def kernel(text, columns, limits, bounds, units, shape, deltas, reach, tally):
        # What a block shares, and a thread has.
        planes = cuda.shared.array(plane_size, uint64)
        masks = cuda.shared.array(size, uint64)
        deeper = cuda.shared.array(width, uint64)
        passing = cuda.shared.array(width, uint64)
        alive_words = cuda.shared.array(threads, uint64)
        interest = cuda.shared.array(tile_lanes, uint8)
        carried = cuda.shared.array(carried_size, uint64)
        ticket = cuda.shared.array(1, int64)
        state = PrimerState(
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
        # Threads of a stretch are a warp, and have a word of the tile each.
        thread = int64(cuda.threadIdx.x)
        word = thread % width
        number = thread // width
        for i in range(thread, size, threads):
            planes[UNKNOWN * size + i] = NONE
        while True:
            unit = _next_unit(tally, ticket, thread)
            if unit >= len(units):
                break

            # A tile of starts, and the stretch of the unit's columns that is this thread's.
            first_word = units[unit, 0] * width
            tile = PrimerTile(
                limits,
                bounds,
                (first_word + word) * 64,
                width,
                word,
                planes,
                masks,
                interest,
                deeper,
                passing,
                alive_words,
                carried[thread * bits :],
            )
            stretch = _stretch_in(units[unit], columns, number, shape)
            going = stretch.first < units[unit, 2]
            state.seen[0] = units[unit, 2]
            state.seen[1] = -COLUMNS
            if number == 0:
                passing[word] = NONE

            strip_number = 0
            while True:
                # The strip's letters, and the rows of interest.
                top = strip_number * rows
                strip = Strip(rows, bits, trials, top, strip_number + 1 == shape.strips)
                cuda.syncthreads()
                stage(rows, text, shape.plane_words, first_word, top, (thread, threads), tile)
                has_bound = 0
                if number == 0:
                    has_bound = _aim(rows, top, shape.passed, tile)
                has_bound = cuda.syncthreads_or(int32(has_bound))

                # The stretch is swept, and goes on below if a lane that needs that is alive there.
                borders = _borders_of(deltas, shape, number, tile, strip_number)
                if going:
                    stretch = _enter(state, strip, tile, stretch, borders, shape)
                    if word == 0:
                        cuda.atomic.add(tally, CELLS, stretch.end - stretch.begin)
                left = NONE
                if has_bound:
                    left = _raise_bounds(state, strip, tile, stretch, borders, going, thread, tally)
                elif going:
                    left = sweep(state, rows, bits, False, tile, stretch, borders, strip.ending)
                    left &= masks[(rows - 1) * width + word]
                going = any_of_warp(left & deeper[word])
                strip_number += 1
                goes_on = cuda.syncthreads_or(int32(going))
                if strip.ending:
                    cuda.atomic.min(reach, (unit, 0), state.seen[0])
                    cuda.atomic.max(reach, (unit, 1), state.seen[1] + COLUMNS)
                if strip.ending or not goes_on:
                    break

    return kernel


def border_words(stretch: int, warm: int, width: int) -> int:
    """Words of device memory for the horizontal deltas of a block: above a strip, and below."""
    return STRETCHES * 2 * (stretch + warm) * 2 * width
