"""The kernel for k-difference primers: starts of a target, strip by strip down their rows.

Roles are swapped (see `kmatch.engine.cuda.edit.recurrence`): a lane is a start in the target and
row i of the matrix its letter i; a column is a letter of the background, the same for all lanes,
which selects one of the row's planes in shared memory. A tile is WIDTH words of neighbouring
starts, one word a thread, and a block takes STRETCHES stretches of the background past one tile. A
stretch is read from some columns before it, with a fresh start (D[i] = i): an alignment of i
letters within k spans fewer than i + k columns, so values below k come out exact, and any other is
too high at most.

In a strip every lane has one row of interest: the row of its bound, or the strip's last where the
bound lies below. The horizontal deltas there are gathered on the way down, and one counter a column
follows D − k: its sign says that the lane is alive, its start is still within k of the background.
A lane alive at its bound gets a larger one, by sweeps of the same strip at rows further down. A
stretch without a lane alive at the strip's last row is given up.
"""

from functools import cache

from numba import int32, int64, uint8, uint64

from kmatch.engine.columns import FRESH, UNKNOWN
from kmatch.engine.cuda.bits.logic import or_both
from kmatch.engine.cuda.bits.words import ALL, NONE, ONE, lowest, smaller
from kmatch.engine.cuda.edit.recurrence import COLUMNS, add, cell, put
from kmatch.engine.cuda.gpu.driver import cuda

WIDTH = 32  # words of a tile
STRETCHES = 2  # of a block
NOWHERE = 255  # a lane without a row of interest
PLAIN, LAST, GATHERED = range(3)  # which rows of a sweep are counted: none, the last, each lane's
WAITING, TAKEN, GIVEN_UP, SWEPT, AGAIN = range(5)  # what `tally` counts


@cuda.jit(device=True)
def _row(gather, width, planes, masks, lane, at, i, pv, mv, ph, mh, rose, fell):
    wanted = masks[lane + uint64(i * width)] if gather else NONE
    for c in range(COLUMNS):
        cell(planes[at[c] + uint64(i * width)], i, c, pv, mv, ph, mh)
        if gather:
            rose[c] = or_both(rose[c], ph[c], wanted)
            fell[c] = or_both(fell[c], mh[c], wanted)


@cuda.jit(device=True)
def _rows_4(gather, width, planes, masks, lane, at, i, pv, mv, ph, mh, rose, fell):
    _row(gather, width, planes, masks, lane, at, i, pv, mv, ph, mh, rose, fell)
    _row(gather, width, planes, masks, lane, at, i + 1, pv, mv, ph, mh, rose, fell)
    _row(gather, width, planes, masks, lane, at, i + 2, pv, mv, ph, mh, rose, fell)
    _row(gather, width, planes, masks, lane, at, i + 3, pv, mv, ph, mh, rose, fell)


@cuda.jit(device=True)
def _rows_8(gather, width, planes, masks, lane, at, i, pv, mv, ph, mh, rose, fell):
    _rows_4(gather, width, planes, masks, lane, at, i, pv, mv, ph, mh, rose, fell)
    _rows_4(gather, width, planes, masks, lane, at, i + 4, pv, mv, ph, mh, rose, fell)


@cuda.jit(device=True)
def _advance(rows, gather, width, planes, masks, lane, at, pv, mv, ph, mh, rose, fell):
    """Take COLUMNS columns down the rows of a strip, a multiple of 4 up to 28; see `advance`."""
    i = 0
    if rows & 16:
        _rows_8(gather, width, planes, masks, lane, at, 0, pv, mv, ph, mh, rose, fell)
        _rows_8(gather, width, planes, masks, lane, at, 8, pv, mv, ph, mh, rose, fell)
        i += 16
    if rows & 8:
        _rows_8(gather, width, planes, masks, lane, at, i, pv, mv, ph, mh, rose, fell)
        i += 8
    if rows & 4:
        _rows_4(gather, width, planes, masks, lane, at, i, pv, mv, ph, mh, rose, fell)


@cuda.jit(device=True)
def _fresh(rows, bits, kind, width, masks, lane, base, pv, mv, counter):
    """A column that grows by one a row; counters at the rows of interest; base: top row − k."""
    for i in range(rows):
        pv[i] = ALL
        mv[i] = NONE
    if kind == LAST:
        put(bits, counter, base + rows)
    if kind == GATHERED:
        put(bits, counter, 0)
        for i in range(rows):
            wanted = masks[lane + uint64(i * width)]
            for b in range(bits):
                if ((base + i + 1) >> b) & 1:
                    counter[b] |= wanted


@cuda.jit(device=True)
def _sweep(
    rows, bits, kind, width, columns, span, base, borders, planes, masks, lane,
    at, pv, mv, ph, mh, rose, fell, counter,
):  # fmt: skip
    """Take the columns of a span through a strip; returns the lanes alive at the rows of interest.

    span: first column, and the one past the last; borders: uint64, and where in it the horizontal
    deltas above the strip are, −1 for none, and where those below it go.
    """
    deltas, above, below = borders
    _fresh(rows, bits, kind, width, masks, lane, base, pv, mv, counter)
    alive = NONE
    for t in range(span[0], span[1], COLUMNS):
        letters = columns[t // COLUMNS]
        if letters & 7 == FRESH:
            _fresh(rows, bits, kind, width, masks, lane, base, pv, mv, counter)
            continue
        here = (t - span[0]) * 2 * width
        for c in range(COLUMNS):
            letter = (uint64(letters) >> uint64(8 * c)) & uint64(7)
            at[c] = letter * uint64(rows * width) + lane
            ph[c] = NONE
            mh[c] = NONE
            rose[c] = NONE
            fell[c] = NONE
        if above >= 0:
            for c in range(COLUMNS):
                ph[c] = deltas[uint64(above + here + 2 * c * width)]
                mh[c] = deltas[uint64(above + here + (2 * c + 1) * width)]
        _advance(rows, kind == GATHERED, width, planes, masks, lane, at, pv, mv, ph, mh, rose, fell)
        for c in range(COLUMNS):
            if below >= 0:
                deltas[uint64(below + here + 2 * c * width)] = ph[c]
                deltas[uint64(below + here + (2 * c + 1) * width)] = mh[c]
            if kind == LAST:
                alive |= add(bits, counter, ph[c], mh[c])
            if kind == GATHERED:
                alive |= add(bits, counter, rose[c], fell[c])
    return alive


@cuda.jit(device=True)
def _stage(rows, width, text, plane_words, word, top, thread, threads, planes):
    """Copy the planes of a strip: letter p of row i at (p·rows + i)·width, shifted by the row."""
    for to in range(thread, 4 * rows * width, threads):
        row = top + to // width % rows
        source = to // (rows * width) * plane_words + word + to % width + row // 64
        shift = uint64(row % 64)
        bits = text[source] >> shift
        if shift:
            bits |= text[source + 1] << (uint64(64) - shift)
        planes[to] = bits


@cuda.jit(device=True)
def _aim(rows, width, top, passed, limits, bounds, word, lanes, places, masks, deeper):
    """Find the rows of interest of a word's lanes; returns whether one is the row of a bound.

    lanes: where the word's lanes begin in limits and bounds. Bounds up to `passed` are done with.
    """
    for i in range(rows):
        masks[i * width + word] = NONE
    below, within = NONE, 0
    for bit in range(64):
        bound, limit = int64(bounds[lanes + bit]), int64(limits[lanes + bit])
        place = NOWHERE
        if bound <= limit and bound > passed and bound > top:
            lane = ONE << uint64(bit)
            place = smaller(bound - top, rows) - 1
            masks[place * width + word] |= lane
            if limit > top + rows:
                below |= lane
            if bound <= top + rows:
                within = 1
        places[bit * width + word] = place
    deeper[word] = below
    return within


@cuda.jit(device=True)
def _aim_further(rows, width, top, step, rising, limits, word, lanes, places, masks):
    """Set the rows of interest of lanes `step` rows further down, or to the last row for step 0.

    Returns the lanes for which there is such a row.
    """
    for i in range(rows):
        masks[i * width + word] = NONE
    aimed = NONE
    while rising:
        bit = lowest(rising)
        rising &= rising - ONE
        place = int64(places[bit * width + word])
        last = smaller(int64(limits[lanes + bit]) - top, rows) - 1
        further = place + step if step else last
        if place < further and further <= last:
            masks[further * width + word] |= ONE << uint64(bit)
            aimed |= ONE << uint64(bit)
    return aimed


@cuda.jit(device=True)
def _move(rows, width, top, step, moved, limits, word, lanes, places):
    """Move the places of lanes as `_aim_further` had set them."""
    while moved:
        bit = lowest(moved)
        moved &= moved - ONE
        last = smaller(int64(limits[lanes + bit]) - top, rows) - 1
        places[bit * width + word] = int64(places[bit * width + word]) + step if step else last


@cuda.jit(device=True)
def _raise(width, top, risen, word, lanes, places, bounds):
    """Raise the bounds of lanes that are alive at their places."""
    while risen:
        bit = lowest(risen)
        risen &= risen - ONE
        bound = top + int64(places[bit * width + word]) + 2
        if bounds[lanes + bit] < bound:
            cuda.atomic.max(bounds, lanes + bit, int32(bound))


@cuda.jit(device=True)
def _united(width, words, word):
    together = NONE
    for stretch in range(STRETCHES):
        together |= words[stretch * width + word]
    return together


@cuda.jit(device=True)
def _any(flags, mine, lanes):
    """Whether a thread of this stretch has lanes; all threads of the block call it."""
    cuda.syncthreads()
    flags[mine] = 0
    cuda.syncthreads()
    if lanes:
        flags[mine] = 1
    cuda.syncthreads()
    return flags[mine] != 0


def stretch_of(columns):
    """Columns of each stretch of a unit of so many."""
    return -(-columns // (STRETCHES * COLUMNS)) * COLUMNS


_stretch_of = cuda.jit(device=True)(stretch_of)


@cache
def make_extend(rows, bits, width=WIDTH):
    """The kernel for strips of `rows` rows, a multiple of 4 up to 28, and counters of `bits` bits.

    It takes, all on the GPU: text, uint64, the target's linear bit planes of plane_words words
    each, with room for the rows read past the end; columns, uint32, four letters each, the first
    one lowest; limits and bounds, int32, of every start, for whole tiles; units, int64[n, 3], tiles
    and the columns, first and one past the last, of STRETCHES stretches; shape: plane_words, the
    most columns of a stretch, columns of warm-up, k, strips, and rows up to which bounds are done
    with, columns and warm-up in multiples of COLUMNS; deltas, uint64, with room for `border_words`
    a block; waiting, int32[n], which receives the units that are alive below all strips; and tally,
    int64[5], 0 before: units in waiting, units taken, those given up above the last strip, columns
    swept strip by strip, and those swept again.
    """
    threads, size, tile_lanes = STRETCHES * width, rows * width, 64 * width
    plane_size = (UNKNOWN + 1) * size
    trials = (rows - 1).bit_length() + 1

    @cuda.jit(cache=True)
    def kernel(text, columns, limits, bounds, units, shape, deltas, waiting, tally):
        plane_words, stretch, warm, k, strips, passed = shape
        planes = cuda.shared.array(plane_size, uint64)
        masks = cuda.shared.array(size, uint64)
        deeper = cuda.shared.array(width, uint64)
        alive_words = cuda.shared.array(threads, uint64)
        places = cuda.shared.array(tile_lanes, uint8)
        lives = cuda.shared.array(STRETCHES, int32)
        ticket = cuda.shared.array(1, int64)
        pv = cuda.local.array(rows, uint64)
        mv = cuda.local.array(rows, uint64)
        ph = cuda.local.array(COLUMNS, uint64)
        mh = cuda.local.array(COLUMNS, uint64)
        rose = cuda.local.array(COLUMNS, uint64)
        fell = cuda.local.array(COLUMNS, uint64)
        at = cuda.local.array(COLUMNS, uint64)
        counter = cuda.local.array(bits, uint64)
        thread = int64(cuda.threadIdx.x)
        word = thread % width
        mine = thread // width  # the stretch
        lane = uint64(word)
        room = (stretch + warm) * 2 * width
        border = (int64(cuda.blockIdx.x) * STRETCHES + mine) * 2 * room + word
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
            tile, first, stop = units[unit, 0], units[unit, 1], units[unit, 2]
            begin = first + mine * _stretch_of(stop - first)
            end = smaller(begin + _stretch_of(stop - first), stop)
            span = (begin - warm if begin > warm else 0, end)
            going = begin < stop
            lanes = (tile * width + word) * 64
            strip = 0
            while True:
                top = strip * rows
                base = top - k
                last = (rows - 1) * width + word
                cuda.syncthreads()
                _stage(rows, width, text, plane_words, tile * width, top, thread, threads, planes)
                within = 0
                if mine == 0:
                    within = _aim(
                        rows, width, top, passed, limits, bounds, word, lanes, places, masks,
                        deeper,
                    )  # fmt: skip
                within = cuda.syncthreads_or(int32(within))
                above = border + (strip + 1) % 2 * room if strip else -1
                below = border + strip % 2 * room if strip + 1 < strips else -1
                if going and word == 0:
                    cuda.atomic.add(tally, SWEPT, span[1] - span[0])
                left = NONE  # lanes that need the strips below
                if not within:
                    if going:
                        left = masks[last]
                        if base + rows < 0:
                            _sweep(
                                rows, bits, PLAIN, width, columns, span, base,
                                (deltas, above, below), planes, masks, lane,
                                at, pv, mv, ph, mh, rose, fell, counter,
                            )  # fmt: skip
                        else:
                            left &= _sweep(
                                rows, bits, LAST, width, columns, span, base,
                                (deltas, above, below), planes, masks, lane,
                                at, pv, mv, ph, mh, rose, fell, counter,
                            )  # fmt: skip
                else:
                    sweeping = going
                    rising = NONE
                    trial, step = -1, 0
                    while trial < trials:
                        alive = NONE
                        if sweeping:
                            alive = _sweep(
                                rows, bits, GATHERED, width, columns, span, base,
                                (deltas, above, below), planes, masks, lane,
                                at, pv, mv, ph, mh, rose, fell, counter,
                            )  # fmt: skip
                        below = -1  # once is enough
                        alive_words[thread] = alive
                        left |= alive & masks[last]
                        if trial < 0:
                            sweeping = _any(lives, mine, alive & ~masks[last])
                        cuda.syncthreads()
                        if mine == 0:
                            together = _united(width, alive_words, word)
                            if trial < 0:
                                rising = together
                            else:
                                _move(rows, width, top, step, together, limits, word, lanes, places)
                        while trial < trials:
                            # The last row first, then further and further by halves.
                            trial += 1
                            step = (1 << (trials - trial)) >> 1 if trial else 0
                            aimed = NONE
                            if mine == 0 and trial < trials:
                                aimed = _aim_further(
                                    rows, width, top, step, rising, limits, word, lanes, places,
                                    masks,
                                )  # fmt: skip
                            if cuda.syncthreads_or(int32(aimed != NONE)):
                                break
                        if sweeping and word == 0 and trial < trials:
                            cuda.atomic.add(tally, AGAIN, span[1] - span[0])
                    if mine == 0:
                        _raise(width, top, rising, word, lanes, places, bounds)
                going = _any(lives, mine, left & deeper[word])
                strip += 1
                going_on = cuda.syncthreads_or(int32(going))
                if thread == 0 and going_on and strip == strips:
                    waiting[cuda.atomic.add(tally, WAITING, 1)] = unit
                if thread == 0 and not going_on and strip < strips:
                    cuda.atomic.add(tally, GIVEN_UP, 1)
                if not going_on or strip == strips:
                    break

    return kernel


def border_words(stretch, warm, width=WIDTH):
    """Words of device memory for the horizontal deltas of a block: above a strip, and below."""
    return STRETCHES * 2 * (stretch + warm) * 2 * width
