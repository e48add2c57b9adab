"""k differences for patterns whose column does not fit the registers: rows go in strips.

A thread takes SPAN columns at a time through one strip after the other. Device memory keeps the
horizontal deltas at a strip's lower border, and the vertical deltas of its rows between two spans,
those of neighbouring threads in neighbouring words. A strip without a value within k, below one
that stays above k, is skipped as in Ukkonen's cut-off: values within k enter it over its upper
border only, and upper bounds are enough to start it again. All threads of a block take the same
strips.
"""

from functools import cache
from typing import Any, NamedTuple

from numba import int32, int64, uint64

from kmatch.engine.cuda.driver import DeviceArray, cuda
from kmatch.engine.cuda.recurrence import (
    COLUMNS,
    THREADS,
    Ends,
    State,
    Tile,
    Way,
    add,
    advance,
    put_number,
    smallest,
    stage,
    write,
)
from kmatch.engine.cuda.words import ALL_ONES, NONE, Coding, HitBuffer, reserve, smaller

SPAN = 128  # columns of a strip before the next; a multiple of COLUMNS


class Kept(NamedTuple):
    """What device memory keeps between strips, uint64 each.

    deltas: vertical ones of all rows; borders: horizontal deltas at the last lower border; totals:
    counters at the upper border of every strip.
    """

    deltas: DeviceArray
    borders: DeviceArray
    totals: DeviceArray


class Own(NamedTuple):
    """A thread's own part of Kept: the words from `at` on, each `apart` words from the next."""

    deltas: DeviceArray
    borders: DeviceArray
    totals: DeviceArray
    at: int
    apart: int


@cuda.jit(device=True)
def _load(state, rows, own, strip, fresh, missing):
    """Load a strip's vertical deltas; a fresh strip has a column that grows by one a row."""
    if fresh:
        for i in range(rows):
            state.pv[i] = NONE if strip * rows + i < missing else ALL_ONES
            state.mv[i] = NONE
    else:
        here = own.at + 2 * strip * rows * own.apart
        for i in range(rows):
            state.pv[i] = own.deltas[uint64(here)]
            state.mv[i] = own.deltas[uint64(here + own.apart)]
            here += 2 * own.apart


@cuda.jit(device=True)
def _save(state, rows, own, strip):
    here = own.at + 2 * strip * rows * own.apart
    for i in range(rows):
        own.deltas[uint64(here)] = state.pv[i]
        own.deltas[uint64(here + own.apart)] = state.mv[i]
        here += 2 * own.apart


@cuda.jit(device=True)
def _load_counter(counter, bits, own, strip):
    for b in range(bits):
        counter[b] = own.totals[uint64(own.at + (strip * bits + b) * own.apart)]


@cuda.jit(device=True)
def _save_counter(counter, bits, own, strip, number):
    """Store the counter plus a number."""
    carry = NONE
    for b in range(bits):
        old = counter[b]
        bit = ALL_ONES if (number >> b) & 1 else NONE
        own.totals[uint64(own.at + (strip * bits + b) * own.apart)] = old ^ bit ^ carry
        carry = (old & bit) | (carry & (old | bit))


@cuda.jit(device=True)
def _holds(counter, rows, bits, own, strip):
    """Whether a value of a strip's rows in the last column is within k in any lane."""
    _load_counter(counter, bits, own, strip - 1)
    low = NONE
    here = own.at + 2 * strip * rows * own.apart
    end = here + 2 * rows * own.apart
    while here < end:
        low |= add(counter, bits, own.deltas[uint64(here)], own.deltas[uint64(here + own.apart)])
        here += 2 * own.apart
    return low != NONE


@cuda.jit(device=True)
def _cross(state, rows, bits, strip, span, way, own, tile):
    """Take a span's columns through one strip; returns the lanes within k at its lower border."""
    low = NONE
    for t in range(0, span, COLUMNS):
        stage(way, t, span - t, tile)
        for c in range(COLUMNS):
            here = own.at + 2 * (t + c) * own.apart
            state.ph[c] = own.borders[uint64(here)] if strip else NONE
            state.mh[c] = own.borders[uint64(here + own.apart)] if strip else NONE
        advance(state, rows, tile)
        for c in range(COLUMNS):
            low |= add(state.counter, bits, state.ph[c], state.mh[c])
            here = own.at + 2 * (t + c) * own.apart
            own.borders[uint64(here)] = state.ph[c]
            own.borders[uint64(here + own.apart)] = state.mh[c]
    return low


@cuda.jit(device=True)
def _report(counter, bits, lowering, columns, own, ends, coding, buffer):
    """Go over the last border of a span once more, to find the ends within k.

    columns: of the warm-up, and of the span; ends: Ends of the span's first column.
    """
    warm, span = columns
    for t in range(span):
        here = own.at + 2 * t * own.apart
        plus, minus = own.borders[uint64(here)], own.borders[uint64(here + own.apart)]
        left = add(counter, bits, plus, minus) & ends.owned
        if left and warm <= t:
            if lowering:
                distance = smallest(counter, bits, left) + coding.limit + 1
                cuda.atomic.min(buffer.count, coding.query, distance)
            else:
                to = reserve(buffer.count, 0, int(cuda.popc(left)))
                write(counter, bits, left, ends, t, coding, buffer, to)


@cuda.jit(device=True)
def _limit(lowering, limit, query, count, shared):
    """The limit of a block: only smaller distances than the known one are of interest."""
    if not lowering:
        return limit
    if cuda.threadIdx.x == 0:
        known = count[query]
        shared[0] = known - 1 if known <= limit else limit
    cuda.syncthreads()
    return shared[0]


@cache
def make_scan(rows: int, bits: int, lowering: bool) -> Any:
    """The kernel for strips of `rows` rows and counters of `bits` bits."""
    top = bits - 1

    @cuda.jit(cache=True)
    def kernel(text, shape, letters, searches, codes, count, first_unit, kept):
        shared = cuda.shared.array(0, uint64)
        staged = shared[(shape.planes + 1) * COLUMNS * THREADS :]
        known = cuda.shared.array(1, int64)
        state = State(
            cuda.local.array(rows, uint64),
            cuda.local.array(rows, uint64),
            cuda.local.array(COLUMNS, uint64),
            cuda.local.array(COLUMNS, uint64),
            cuda.local.array(bits, uint64),
        )
        counter = state.counter
        buffer = HitBuffer(codes, count)
        thread = cuda.threadIdx.x
        tile = Tile(shared, staged, uint64(thread))
        me = cuda.blockIdx.x * THREADS + thread
        own = Own(kept.deltas, kept.borders, kept.totals, me, cuda.gridDim.x * THREADS)
        across = (shape.words + THREADS - 1) // THREADS
        blocks = (shape.rows + shape.stretch - 1) // shape.stretch * across
        search = (first_unit + cuda.blockIdx.x) // blocks
        unit = (first_unit + cuda.blockIdx.x) % blocks
        word = unit % across * THREADS + thread
        begin = unit // across * shape.stretch
        end = begin + shape.stretch if begin + shape.stretch < shape.rows else shape.rows
        owned = ALL_ONES if word < shape.words else NONE
        word = word if word < shape.words else shape.words - 1
        query, length, backward, warm = (
            searches[search, 0],
            searches[search, 1],
            searches[search, 2],
            searches[search, 3],
        )
        limit = _limit(lowering, int64(searches[search, 4]), query, count, known)
        if limit < 0:
            return
        coding = Coding(shape.queries, query, shape.factor, limit)
        for c in range(COLUMNS):
            shared[(shape.planes * COLUMNS + c) * THREADS + thread] = ALL_ONES
        row = end - 1 + warm if backward else begin + shape.halo - warm
        step = -1 if backward else 1
        columns = warm + end - begin
        strips = letters.shape[1] // rows
        missing = strips * rows - length
        put_number(counter, bits, rows - missing - limit - 1)
        _save_counter(counter, bits, own, 0, 0)
        last = 0  # the lowest strip that takes part
        fresh = 0  # the strip that starts anew
        for base in range(0, columns, SPAN):
            span = smaller(SPAN, columns - base)
            at = row * shape.words + word
            way = Way(text, shape.planes, shape.plane_words, at, step * shape.words)
            strip = 0
            while strip <= last:
                cuda.syncthreads()
                if thread < rows:
                    plane = letters[search, strip * rows + thread]
                    staged[thread] = uint64(plane) * uint64(COLUMNS * THREADS)
                cuda.syncthreads()
                _load(state, rows, own, strip, strip == fresh, missing)
                if strip == fresh:
                    fresh = -1
                _load_counter(counter, bits, own, strip)
                low = counter[top]
                if strip == last and strip + 1 < strips:
                    _save_counter(counter, bits, own, strip + 1, rows)
                low |= _cross(state, rows, bits, strip, span, way, own, tile)
                _save(state, rows, own, strip)
                if strip + 1 == strips and low & owned:
                    _load_counter(counter, bits, own, strip)
                    ends = Ends(64 * word * shape.rows + row, step, shape.rows, owned)
                    _report(counter, bits, lowering, (warm - base, span), own, ends, coding, buffer)
                _save_counter(counter, bits, own, strip, 0)
                if strip == last:
                    if strip + 1 < strips and cuda.syncthreads_or(int32(low != NONE)):
                        last += 1
                        fresh = last
                    else:
                        # The strip's deltas are in memory: is any value in it still within k?
                        if strip and not cuda.syncthreads_or(
                            int32(_holds(counter, rows, bits, own, strip))
                        ):
                            last -= 1
                        break
                strip += 1
            row += step * span

    return kernel
