"""k differences for patterns whose column does not fit the registers: rows go in strips.

A thread takes SPAN columns at a time through one strip after the other. The horizontal deltas at a
strip's lower border, and the vertical deltas of its rows between two spans, wait in device memory,
a word apart for every thread. A strip below one that stays above k, without a value within k of its
own, is left alone, as in Ukkonen's cut-off: what enters it within k comes over the border above,
and upper bounds are enough to start it again. All threads of a block take part in the same strips.
"""

from functools import cache

import numpy as np
from numba import int32, int64, uint64

from kmatch.engine.cuda.bits.buffer import reserve
from kmatch.engine.cuda.bits.words import ALL, NONE, smaller
from kmatch.engine.cuda.edit.recurrence import (
    COLUMNS,
    THREADS,
    add,
    advance,
    least,
    put,
    stage,
    write,
)
from kmatch.engine.cuda.gpu.driver import cuda, empty, memory, multiprocessors

SPAN = 128  # columns of a strip before the next; a multiple of COLUMNS
MEMORY_SHARE = 0.5  # of the free device memory that deltas may take
TOGETHER = 8  # blocks of a launch for every multiprocessor


@cuda.jit(device=True)
def _load(rows, state, strip, fresh, missing, at, apart, pv, mv):
    """The strip's vertical deltas; those of a column that grows by one a row where it is fresh."""
    if fresh:
        for i in range(rows):
            pv[i] = NONE if strip * rows + i < missing else ALL
            mv[i] = NONE
    else:
        here = at + 2 * strip * rows * apart
        for i in range(rows):
            pv[i] = state[uint64(here)]
            mv[i] = state[uint64(here + apart)]
            here += 2 * apart


@cuda.jit(device=True)
def _save(rows, state, strip, at, apart, pv, mv):
    here = at + 2 * strip * rows * apart
    for i in range(rows):
        state[uint64(here)] = pv[i]
        state[uint64(here + apart)] = mv[i]
        here += 2 * apart


@cuda.jit(device=True)
def _load_counter(bits, totals, strip, at, apart, counter):
    for b in range(bits):
        counter[b] = totals[uint64(at + (strip * bits + b) * apart)]


@cuda.jit(device=True)
def _save_counter(bits, totals, strip, at, apart, counter, number):
    """Store the counter plus a number."""
    carry = NONE
    for b in range(bits):
        old = counter[b]
        bit = ALL if (number >> b) & 1 else NONE
        totals[uint64(at + (strip * bits + b) * apart)] = old ^ bit ^ carry
        carry = (old & bit) | (carry & (old | bit))


@cuda.jit(device=True)
def _holds(bits, rows, state, totals, strip, at, apart, counter):
    """Whether a value of a strip's rows in the last column is within k in any lane."""
    _load_counter(bits, totals, strip - 1, at, apart, counter)
    low = NONE
    here = at + 2 * strip * rows * apart
    end = here + 2 * rows * apart
    while here < end:
        low |= add(bits, counter, state[uint64(here)], state[uint64(here + apart)])
        here += 2 * apart
    return low != NONE


@cuda.jit(device=True)
def _cross(
    rows, bits, strip, span, text, way, me, apart, tile, places, pv, mv, ph, mh, counter, borders
):
    """Take a span's columns through one strip; returns the lanes within k at its lower border."""
    plane_words, planes, at, step = way
    thread = me % THREADS
    low = NONE
    for t in range(0, span, COLUMNS):
        stage(text, plane_words, planes, at + step * t, step, span - t, tile, thread)
        for c in range(COLUMNS):
            here = me + 2 * (t + c) * apart
            ph[c] = borders[uint64(here)] if strip else NONE
            mh[c] = borders[uint64(here + apart)] if strip else NONE
        advance(rows, tile, places, uint64(thread), pv, mv, ph, mh)
        for c in range(COLUMNS):
            low |= add(bits, counter, ph[c], mh[c])
            here = me + 2 * (t + c) * apart
            borders[uint64(here)] = ph[c]
            borders[uint64(here + apart)] = mh[c]
    return low


@cuda.jit(device=True)
def _report(
    bits,
    smallest,
    warm,
    span,
    wanted,
    me,
    apart,
    borders,
    counter,
    first,
    way,
    place,
    limit,
    codes,
    found,
):
    """Go over the last border of a span once more, to find the ends within k."""
    step, lane_rows = way
    for t in range(span):
        here = me + 2 * t * apart
        left = add(bits, counter, borders[uint64(here)], borders[uint64(here + apart)]) & wanted
        if left and warm <= t:
            if smallest:
                cuda.atomic.min(found, place[1], least(bits, left, counter) + limit + 1)
            else:
                to = reserve(found, 0, int(cuda.popc(left)))
                write(bits, left, counter, first + step * t, lane_rows, place, limit, codes, to)


@cuda.jit(device=True)
def _limit(smallest, limit, rank, found, shared):
    """The limit of a block: distances that are known already need not be found again."""
    if not smallest:
        return limit
    if cuda.threadIdx.x == 0:
        known = found[rank]
        shared[0] = known - 1 if known <= limit else limit
    cuda.syncthreads()
    return shared[0]


@cache
def make_scan(rows, bits, smallest):
    """The kernel for strips of `rows` rows and counters of `bits` bits."""
    top = bits - 1

    @cuda.jit(cache=True)
    def kernel(text, shape, letters, searches, keying, codes, found, first_unit, deltas):
        plane_words, words, lane_rows, halo, planes, stretch = shape
        state, borders, totals = deltas
        tile = cuda.shared.array(0, uint64)
        places = tile[(planes + 1) * COLUMNS * THREADS :]
        known = cuda.shared.array(1, int64)
        pv = cuda.local.array(rows, uint64)
        mv = cuda.local.array(rows, uint64)
        ph = cuda.local.array(COLUMNS, uint64)
        mh = cuda.local.array(COLUMNS, uint64)
        counter = cuda.local.array(bits, uint64)
        thread = cuda.threadIdx.x
        apart = cuda.gridDim.x * THREADS
        me = cuda.blockIdx.x * THREADS + thread
        across = (words + THREADS - 1) // THREADS
        blocks = (lane_rows + stretch - 1) // stretch * across
        search = (first_unit + cuda.blockIdx.x) // blocks
        unit = (first_unit + cuda.blockIdx.x) % blocks
        word = unit % across * THREADS + thread
        begin = unit // across * stretch
        end = begin + stretch if begin + stretch < lane_rows else lane_rows
        wanted = ALL if word < words else NONE
        word = word if word < words else words - 1
        rank, length, backward, warm = (
            searches[search, 0],
            searches[search, 1],
            searches[search, 2],
            searches[search, 3],
        )
        limit = _limit(smallest, int64(searches[search, 4]), rank, found, known)
        place = (keying[0], rank, keying[1])
        for c in range(COLUMNS):
            tile[(planes * COLUMNS + c) * THREADS + thread] = ALL
        row = end - 1 + warm if backward else begin + halo - warm
        step = -1 if backward else 1
        columns = warm + end - begin
        strips = letters.shape[1] // rows
        missing = strips * rows - length
        put(bits, counter, rows - missing - limit - 1)
        _save_counter(bits, totals, 0, me, apart, counter, 0)
        last = 0  # the lowest strip that takes part
        fresh = 0  # the strip that starts anew
        for base in range(0, columns, SPAN):
            span = smaller(SPAN, columns - base)
            way = (plane_words, planes, row * words + word, step * words)
            strip = 0
            while strip <= last:
                cuda.syncthreads()
                if thread < rows:
                    places[thread] = letters[search, strip * rows + thread]
                cuda.syncthreads()
                _load(rows, state, strip, strip == fresh, missing, me, apart, pv, mv)
                if strip == fresh:
                    fresh = -1
                _load_counter(bits, totals, strip, me, apart, counter)
                low = counter[top]
                if strip == last and strip + 1 < strips:
                    _save_counter(bits, totals, strip + 1, me, apart, counter, rows)
                low |= _cross(
                    rows, bits, strip, span, text, way, me, apart, tile, places,
                    pv, mv, ph, mh, counter, borders,
                )  # fmt: skip
                _save(rows, state, strip, me, apart, pv, mv)
                if strip + 1 == strips and low & wanted:
                    _load_counter(bits, totals, strip, me, apart, counter)
                    _report(
                        bits, smallest, warm - base, span, wanted, me, apart, borders, counter,
                        64 * word * lane_rows + row, (step, lane_rows), place, limit, codes, found,
                    )  # fmt: skip
                _save_counter(bits, totals, strip, me, apart, counter, 0)
                if strip == last:
                    if strip + 1 < strips and cuda.syncthreads_or(int32(low != NONE)):
                        last += 1
                        fresh = last
                    else:
                        # Does it still hold a value within k? The deltas are in memory again.
                        if strip and not cuda.syncthreads_or(
                            int32(_holds(bits, rows, state, totals, strip, me, apart, counter))
                        ):
                            last -= 1
                        break
                strip += 1
            row += step * span

    return kernel


def room_for_deltas(plan, bits, stream):
    """Device memory in which the threads of a SearchPlan keep their deltas.

    There is room for as many blocks as are started together, fewer where memory is short.
    """
    words = plan.strips * (2 * plan.rows + bits) + 2 * SPAN  # a thread
    room = int(memory()[0] * MEMORY_SHARE) // (8 * words * THREADS)
    blocks = min(plan.blocks * len(plan.searches), room, TOGETHER * multiprocessors())
    apart = max(blocks, 1) * THREADS
    return (
        empty(plan.strips * plan.rows * 2 * apart, np.uint64, stream),
        empty(2 * SPAN * apart, np.uint64, stream),
        empty(plan.strips * bits * apart, np.uint64, stream),
    )


def launch_strips(plan, bits, smallest, arguments, deltas, stream):
    """Start the searches of a SearchPlan of more than one strip; arguments: those of the kernel."""
    units = plan.blocks * len(plan.searches)
    together = len(deltas[1]) // (2 * SPAN * THREADS)
    kernel = make_scan(plan.rows, bits, smallest)
    for first in range(0, units, together):
        blocks = min(together, units - first)
        kernel[blocks, THREADS, stream, plan.shared_bytes](*arguments, first, deltas)
