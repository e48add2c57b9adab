"""k differences over striped text: every anchored end within k, or the smallest distance.

One thread takes one word of lanes along a stretch of text rows. Patterns of up to 32 letters keep
their whole column in registers; see `strips` for longer ones.
"""

from functools import cache

from numba import int64, uint32, uint64

from kmatch.engine.cuda.bits.buffer import reserve
from kmatch.engine.cuda.bits.words import ALL, NONE
from kmatch.engine.cuda.edit.recurrence import (
    COLUMNS,
    THREADS,
    add,
    advance,
    counter_bits,
    least,
    put,
    stage,
    write,
)
from kmatch.engine.cuda.edit.stretches import plan_searches
from kmatch.engine.cuda.edit.strips import launch_strips, room_for_deltas
from kmatch.engine.cuda.gpu.driver import cuda, on_device


@cuda.jit(device=True)
def _begin(bits, rows, length, limit, pv, mv, counter):
    """A column that grows by one a row; rows that fill up the pattern match everywhere."""
    for i in range(rows):
        pv[i] = NONE if i < rows - length else ALL
        mv[i] = NONE
    put(bits, counter, length - limit - 1)


@cuda.jit(device=True)
def _go_back(bits, ph, mh, counter):
    """Take the last COLUMNS columns back out of a counter."""
    for c in range(COLUMNS):
        add(bits, counter, mh[c], ph[c])


@cuda.jit(device=True)
def _report(bits, smallest, columns, ph, mh, counter, at, place, limit, codes, found):
    """Append the codes of ends in the last COLUMNS columns, or lower the smallest distance.

    The counter goes back and over them once more, first to count the ends: what each column has
    would take registers that the search needs. columns: the first and the end of those that count;
    at: (position of the first lane in the first column, step to the next column, lane_rows).
    """
    begin, end = columns
    first, step, lane_rows = at
    to = 0
    _go_back(bits, ph, mh, counter)
    if not smallest:
        many = 0
        for c in range(COLUMNS):
            left = add(bits, counter, ph[c], mh[c])
            if begin <= c and c < end:
                many += int(cuda.popc(left))
        to = reserve(found, 0, many)
        _go_back(bits, ph, mh, counter)
    for c in range(COLUMNS):
        left = add(bits, counter, ph[c], mh[c])
        if left and begin <= c and c < end:
            if smallest:
                cuda.atomic.min(found, place[1], least(bits, left, counter) + limit + 1)
            else:
                write(bits, left, counter, first + step * c, lane_rows, place, limit, codes, to)
                to += int(cuda.popc(left))


@cache
def make_scan(rows, bits, smallest):
    """The kernel for patterns of up to `rows` letters and counters of `bits` bits."""

    @cuda.jit(cache=True)
    def kernel(text, shape, letters, searches, keying, codes, found):
        plane_words, words, lane_rows, halo, planes, stretch = shape
        tile = cuda.shared.array(0, uint64)
        places = cuda.shared.array(rows, uint32)
        pv = cuda.local.array(rows, uint64)
        mv = cuda.local.array(rows, uint64)
        ph = cuda.local.array(COLUMNS, uint64)
        mh = cuda.local.array(COLUMNS, uint64)
        counter = cuda.local.array(bits, uint64)
        thread = cuda.threadIdx.x
        across = (words + THREADS - 1) // THREADS
        word = cuda.blockIdx.x % across * THREADS + thread
        begin = cuda.blockIdx.x // across * stretch
        end = begin + stretch if begin + stretch < lane_rows else lane_rows
        search = searches[cuda.blockIdx.y]
        rank, length, backward, warm = search[0], search[1], search[2], search[3]
        limit = int64(search[4])
        if thread < rows:
            places[thread] = letters[cuda.blockIdx.y, thread]
        for c in range(COLUMNS):
            tile[(planes * COLUMNS + c) * THREADS + thread] = ALL
        cuda.syncthreads()
        if word >= words:
            return
        if smallest:
            # A distance that is known already need not be found again.
            known = found[rank]
            limit = known - 1 if known <= limit else limit
        _begin(bits, rows, length, limit, pv, mv, counter)
        place = (keying[0], rank, keying[1])
        row = end - 1 + warm if backward else begin + halo - warm
        step = -1 if backward else 1
        columns = warm + end - begin
        for t in range(0, columns, COLUMNS):
            stage(
                text,
                plane_words,
                planes,
                row * words + word,
                step * words,
                columns - t,
                tile,
                thread,
            )
            for c in range(COLUMNS):
                ph[c] = NONE
                mh[c] = NONE
            advance(rows, tile, places, uint32(thread), pv, mv, ph, mh)
            low = NONE
            for c in range(COLUMNS):
                low |= add(bits, counter, ph[c], mh[c])
            if low and warm < t + COLUMNS:
                at = (64 * word * lane_rows + row, step, lane_rows)
                _report(
                    bits, smallest, (warm - t, columns - t), ph, mh, counter, at, place,
                    limit, codes, found,
                )  # fmt: skip
            row += step * COLUMNS

    return kernel


class Searches:
    """The searches of a chunk's lanes on the GPU, planned once for all chunks of the same layout.

    shape: (words, rows, plane_words) of the chunks; reading: letters, begins and backward of
    ReadingArrays; limits: int64[Q], the k of each query; chosen: int64, queries to search; k: the
    largest limit; smallest: whether smallest distances are sought in place of all ends.
    """

    def __init__(self, shape, reading, limits, chosen, k, stream, smallest=False):
        words, rows, plane_words = shape
        self.stream, self.smallest = stream, smallest
        self.keying = (len(limits), k + 1)
        halo = plane_words // words - rows
        self._plans = []
        for plan in plan_searches(words, rows, halo, *reading, limits, chosen):
            bits = counter_bits(plan.rows * plan.strips, int(plan.searches[:, 4].max()))
            sizes = (plane_words, words, rows, halo, plan.planes, plan.stretch)
            arrays = (on_device(plan.letters, stream), on_device(plan.searches, stream))
            deltas = room_for_deltas(plan, bits, stream) if plan.strips > 1 else None
            self._plans.append((plan, bits, sizes, arrays, deltas))

    def run(self, text, codes, found):
        """Start all searches; text: uint64, a chunk's planes on the GPU."""
        for plan, bits, sizes, arrays, deltas in self._plans:
            arguments = (text, sizes, *arrays, self.keying, codes, found)
            if plan.strips == 1:
                grid = (plan.blocks, len(plan.searches))
                kernel = make_scan(plan.rows, bits, self.smallest)
                kernel[grid, THREADS, self.stream, plan.shared_bytes](*arguments)
            else:
                launch_strips(plan, bits, self.smallest, arguments, deltas, self.stream)


def scan_edit(text, searches, codes, found):
    """Find every anchored end of the searches' queries within their limits.

    text: uint64, the planes of a chunk; searches: Searches; codes: int64[c], receives hit codes in
    any order, position being that of the letter read last; found: int64[1], 0 before, counts them,
    and may exceed the c that found room. All arrays are on the GPU.

    A query read upwards owns the positions halo … halo + 64·words·rows − 1, one read downwards
    0 … 64·words·rows − 1. The halo is at least m + k of every query.
    """
    searches.run(text, codes, found)


def smallest_edit(text, searches, codes, lowest):
    """Lower `lowest`, int64[Q] on the GPU, to the smallest distances of the searches' queries.

    A distance above a query's limit is not found. codes: int64[0]; other arguments as for
    `scan_edit`.
    """
    searches.run(text, codes, lowest)
