"""k differences over striped text: every anchored end within k.

A thread takes one word of lanes along a stretch of text rows, beside threads that take other words
or stretches. The whole column of a pattern of up to 32 letters is in registers. The rows of a
longer one go in strips: a thread takes SPAN columns at a time through one strip after the other.
Device memory keeps the horizontal deltas at a strip's lower border, and the vertical deltas of its
rows between two spans, with neighbouring threads in neighbouring words. A strip without a value
within k, below one that stays above k, is skipped as in Ukkonen's cut-off: values within k enter it
over its upper border only, and upper bounds are enough to start it again. All threads of a block
take the same strips.
"""

import math
from collections.abc import Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numba import int32, int64, uint32, uint64

from kmatch.arrays import Longs, Planes, bounds_of, gather
from kmatch.engine.codes import marked
from kmatch.engine.cuda import driver
from kmatch.engine.cuda.device import Gpu
from kmatch.engine.cuda.driver import DeviceArray, cuda, kept
from kmatch.engine.cuda.recurrence import (
    COLUMNS,
    THREADS,
    State,
    Tile,
    Way,
    add,
    advance,
    counter_bits,
    put_number,
    read,
    stage,
)
from kmatch.engine.cuda.words import (
    ALL_ONES,
    NONE,
    ONE,
    HitBuffer,
    encode,
    lowest,
    smaller,
    step_of,
)
from kmatch.engine.geometry import Text, halo_of
from kmatch.engine.queries import DifferenceQuery, ReadingArrays

SHORT = 32  # letters of a pattern whose column stays in registers
STEP = 4  # the rows of short patterns are rounded up to a multiple of this
STRIP_ROWS = (28, 26, 24)  # rows of a strip of a longer pattern
SHORT_BITS = 6  # of the counter of a short pattern, which holds −32 … 31
STRIP_BITS = (8, 12, 16)  # of a longer one, the first of these that suffices
SPAN = 128  # columns of a strip before the next; a multiple of COLUMNS
BUSY = 6  # blocks that keep a multiprocessor busy, when short patterns are searched
BUSY_STRIPS = 4  # and when longer ones are
MOST = 24  # blocks of a multiprocessor at the most
MEMORY_SHARE = 0.5  # of the free device memory that deltas of strips may take
TOGETHER = 8  # blocks of a launch for every multiprocessor, where there are strips


class EditShape(NamedTuple):
    """A chunk and the work in it, as a kernel takes them.

    halo: rows of the next lane that a lane repeats; planes: that are read; stretch: rows of a lane
    that a thread owns; queries, factor: of hit codes; others: see Text.
    """

    words: int
    rows: int
    plane_words: int
    halo: int
    planes: int
    stretch: int
    queries: int
    factor: int


@cache
def strips_of(length: int) -> tuple[int, int]:
    """Return (rows of a strip, strips) of a pattern."""
    if length <= SHORT:
        return -(-length // STEP) * STEP, 1
    # The fewest rows in all, and among equals the tallest strips.
    return min(((rows, -(-length // rows)) for rows in STRIP_ROWS), key=math.prod)


class EditScan:
    """Queries of the same number of rows, for texts of any length, on a GPU.

    numbers: which of the query's they are.
    """

    def __init__(self, query: DifferenceQuery, numbers: list[int], gpu: Gpu) -> None:
        reading = query.reading
        ranks = np.array(numbers)
        lengths = np.diff(reading.begins)[ranks]
        limits = query.limits[ranks]
        warm = lengths + limits
        self._gpu = gpu
        self._coding = len(query.limits), marked(query.k) + 1
        self._queries = len(ranks)
        self._warm = int(warm.max())
        self._rows, self._strips = strips_of(int(lengths[0]))  # of a strip, and of a pattern
        rows = self._rows * self._strips
        self._bits = SHORT_BITS
        if self._strips > 1:
            self._bits = counter_bits(STRIP_BITS, rows, int(limits.min()), int(limits.max()))
        self._planes = max(int(reading.letters.max()) + 1, 4)  # of the text that are read

        letters = _in_rows(reading, ranks, rows, self._planes)
        searches = np.stack((ranks, lengths, reading.backward[ranks], warm, limits), axis=1)
        self._tables = [
            driver.cuda.to_device(table, gpu.stream)
            for table in (letters, searches.astype(np.int32))
        ]
        # Memory of strips, for so many units.
        self._most = 0
        self._kept: list[DeviceArray] = []

    def run(self, text: Text, pam_words: DeviceArray, buffer: HitBuffer) -> None:
        """Start to find the ends of these queries; see `scan`."""
        stretch, blocks = self._divide(text)
        shape = EditShape(*text[1:], halo_of(text), self._planes, stretch, *self._coding)
        arguments = (text.planes, shape, pam_words, *self._tables, *buffer)
        shared_bytes = 8 * ((self._planes + 1) * COLUMNS * THREADS + self._rows)
        launch = (THREADS, self._gpu.stream, shared_bytes)
        units = blocks * self._queries
        if self._strips == 1:
            make_scan(self._rows, self._bits)[units, *launch](*arguments)
            return
        kept = self._memory(units)
        together = len(kept[1]) // (2 * SPAN * THREADS)
        for first in range(0, units, together):
            kernel = make_strips(self._rows, self._bits)[min(together, units - first), *launch]
            kernel(*arguments, first, *kept)

    def _memory(self, units: int) -> list[DeviceArray]:
        """Return the arrays of `StripMemory` for all blocks started together, fewer where memory is
        short.

        They are kept for later runs. units: blocks of all queries.
        """
        if units > self._most:
            rows = 2 * self._strips * self._rows, 2 * SPAN, self._strips * self._bits
            fitting = int(driver.memory()[0] * MEMORY_SHARE) // (8 * sum(rows) * THREADS)
            blocks = max(min(units, fitting, TOGETHER * driver.multiprocessors()), 1)
            self._kept = [self._gpu.array(many * blocks * THREADS) for many in rows]
            self._most = units
        return self._kept

    def _divide(self, text: Text) -> tuple[int, int]:
        """Return how a text is divided: rows of a lane that a thread owns, and blocks of a query.

        Short stretches balance the work, long ones warm up less often. A multiprocessor with fewer
        than `busy` blocks finishes none of them sooner, and all wait for the last block for about
        the time that one takes.
        """
        processors = driver.multiprocessors()
        busy = BUSY if self._strips == 1 else BUSY_STRIPS
        # Stretches of a lane for so many blocks, and the rows and blocks that they come to.
        wanted = np.arange(1, max(MOST * processors // self._queries, 1) + 1)
        stretches = np.clip(THREADS * wanted // text.words, 1, text.rows)
        rows = -(-text.rows // stretches)
        blocks = -(-text.words * -(-text.rows // rows) // THREADS)
        load = -(-self._queries * blocks // processors)
        best = np.argmin((np.maximum(load, busy) + 1) * (rows + self._warm))
        return int(rows[best]), int(blocks[best])


def _in_rows(reading: ReadingArrays, ranks: Longs, rows: int, filling: int) -> Planes:
    """Return the plane of each letter of queries by rank, int8[n, rows].

    In front of shorter ones the plane `filling` fills up, in which everything matches.
    """
    lengths = np.diff(reading.begins)[ranks]
    letters = np.full((len(ranks), rows), filling, np.int8)
    is_letter = np.arange(rows) >= rows - lengths[:, None]
    letters[is_letter] = gather(reading.letters, reading.begins[ranks], bounds_of(lengths))
    return letters


def upload(query: DifferenceQuery, gpu: Gpu) -> list[EditScan]:
    """Return an EditScan for the queries of as many rows each."""
    alike: dict[tuple[int, int], list[int]] = {}
    for number, length in enumerate(np.diff(query.reading.begins).tolist()):
        alike.setdefault(strips_of(length), []).append(number)
    return [EditScan(query, numbers, gpu) for numbers in alike.values()]


def scan(
    text: Text, pam_words: DeviceArray, searches: Sequence[EditScan], buffer: HitBuffer
) -> None:
    """Find every anchored end within its query's limit, or those beside a PAM.

    text: a chunk whose planes are on the GPU; pam_words: uint64[2·plane_words] on the GPU, where
    PAMs stand beside the ends of queries that are read upwards, then of those read downwards, or
    nothing where none has to; see `Engine.start_edit` for the positions that a query owns.
    """
    for search in searches:
        search.run(text, pam_words, buffer)


class Ends(NamedTuple):
    """The ends of a word's lanes, as hit codes for one difference more than the query's limit.

    first: in the first lane and column 0; step: to that in the next column; lane: to that in the
    next lane; owned: the lanes whose ends are reported.
    """

    first: int
    step: int
    lane: int
    owned: int


class Task(NamedTuple):
    """The work of a thread: one search, in one word of lanes, along a stretch of their rows.

    search: its number; length, limit: letters of its pattern, and its k; warm: columns of the
    warm-up; columns: all that the thread takes, warm-up first; at: the index of its word in the
    first of them; step: to the next; ends: Ends.
    """

    search: int
    length: int
    limit: int
    warm: int
    columns: int
    at: int
    step: int
    ends: Ends


@cuda.jit(device=True)
def _share_of(shape, unit, thread):
    """Return the search whose share a thread takes, the share, and how many shares there are.

    A unit is a block of one of the searches. Shares are words of a row, then words of the stretch
    below. With 3 words, 2 stretches and 4 threads a block:

        stretch 0   share 0  1  2       unit 0   shares 0 … 3 of search 0
        stretch 1   share 3  4  5       unit 1   shares 4, 5 and none, none
                                        unit 2   shares 0 … 3 of search 1
    """
    stretches = (shape.rows + shape.stretch - 1) // shape.stretch
    shares = stretches * shape.words
    blocks = (shares + THREADS - 1) // THREADS
    search = unit // blocks
    share = unit % blocks * THREADS + thread
    return search, share, shares


@cuda.jit(device=True)
def _task(shape, searches, unit, thread):
    """Return the Task of a thread of a unit.

    shape: EditShape; searches: int32[n, 5], of each its query's rank and length, whether the text
    is read downwards, the warm-up in columns and the limit. All threads read as many rows: the last
    stretch of a lane begins in the one before, and ends in both come twice. A lane of 10 rows with
    a halo of 3, in stretches of 4, with a warm-up of 3:

        rows                   0  1  2  3  4  5  6  7  8  9 │10 11 12
        upwards    stretch 0   w  w  w  ─  ─  ─  ─
                   stretch 1               w  w  w  ─  ─  ─  ─
                   stretch 2                     w  w  w  ─  ─  ─  ─
        downwards  stretch 0   ─  ─  ─  ─  w  w  w
                   stretch 1               ─  ─  ─  ─  w  w  w
                   stretch 2                     ─  ─  ─  ─  w  w  w
    """
    number, share, shares = _share_of(shape, unit, thread)
    owned = ALL_ONES if share < shares else NONE
    begin = smaller(share // shape.words * shape.stretch, shape.rows - shape.stretch)
    search = searches[number]
    query = search[0]
    length = search[1]
    backward = search[2]
    warm = search[3]
    limit = int64(search[4])

    # The rows that are read, and the text's words in them.
    step = step_of(backward)
    row = begin + shape.halo - warm
    if backward:
        row = begin + shape.stretch - 1 + warm
    word = share % shape.words
    at = row * shape.words + word
    columns = warm + shape.stretch

    # The codes of ends there, whose distances are yet to be added.
    apart = shape.queries * shape.factor
    first = encode(64 * word * shape.rows + row, query, limit + 1, shape.queries, shape.factor)
    ends = Ends(first, step * apart, shape.rows * apart, owned)
    return Task(number, length, limit, warm, columns, at, step * shape.words, ends)


@cuda.jit(device=True)
def _append(counter, bits, left, task, pam_words, column, buffer):
    """Append the codes of the lanes set in left, if a PAM stands beside them, to the buffer; where
    it is full, only count them.

    The number in a counter is the distance less the query's limit + 1.
    """
    if len(pam_words) > 0:
        place = task.at + task.step * column
        if task.step < 0:  # the text is read downwards
            place += len(pam_words) // 2
        left &= pam_words[uint64(place)]
        if not left:
            return
    to = cuda.atomic.add(buffer.count, 0, int64(cuda.popc(left)))
    ends = task.ends
    first = ends.first + ends.step * column
    while left:
        bit = lowest(left)
        left &= left - ONE
        if to < len(buffer.codes):
            buffer.codes[uint64(to)] = first + bit * ends.lane + read(counter, bits, bit)
        to += 1


@cache
def make_scan(rows: int, bits: int) -> Any:
    """Return the kernel for patterns of up to `rows` letters and counters of `bits` bits."""

    @kept()
    def kernel(text, shape, pam_words, letters, searches, hit_codes, count):
        buffer = HitBuffer(hit_codes, count)
        shared = cuda.shared.array(0, uint64)
        staged = cuda.shared.array(rows, uint32)
        state = State(
            cuda.local.array(rows, uint64),
            cuda.local.array(rows, uint64),
            cuda.local.array(COLUMNS, uint64),
            cuda.local.array(COLUMNS, uint64),
            cuda.local.array(bits, uint64),
        )
        thread = cuda.threadIdx.x
        tile = Tile(shared, staged, uint32(thread))
        task = _task(shape, searches, cuda.blockIdx.x, thread)
        if thread < rows:
            staged[thread] = uint32(letters[task.search, thread]) * uint32(COLUMNS * THREADS)
        for c in range(COLUMNS):
            shared[(shape.planes * COLUMNS + c) * THREADS + thread] = ALL_ONES
        cuda.syncthreads()
        if not task.ends.owned:
            return
        for i in range(rows):  # a column that grows by one a row; what fills up matches everywhere
            state.pv[i] = NONE if i < rows - task.length else ALL_ONES
            state.mv[i] = NONE
        put_number(state.counter, bits, task.length - task.limit - 1)
        way = Way(text, shape.planes, shape.plane_words, task.at, task.step)
        for t in range(0, task.columns, COLUMNS):
            stage(way, t, task.columns - t, tile)
            for c in range(COLUMNS):
                state.ph[c] = NONE
                state.mh[c] = NONE
            advance(state, rows, tile, 0)
            for c in range(COLUMNS):
                left = add(state.counter, bits, state.ph[c], state.mh[c])
                if left and task.warm <= t + c and t + c < task.columns:
                    _append(state.counter, bits, left, task, pam_words, t + c, buffer)

    return kernel


class StripMemory(NamedTuple):
    """Device memory for a pattern whose rows go in strips, uint64 each: a thread's own words
    begin at `at`, each `apart` words from the next.

    deltas: vertical ones of all rows; borders: horizontal deltas at the last lower border; totals:
    counters at the upper border of every strip.
    """

    deltas: DeviceArray
    borders: DeviceArray
    totals: DeviceArray
    at: int
    apart: int


@cuda.jit(device=True)
def _load_strip(state, rows, own, strip, fresh, missing):
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
def _save_strip(state, rows, own, strip):
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
    """Return whether a value of a strip's rows in the last column is within k in any lane."""
    _load_counter(counter, bits, own, strip - 1)
    low = NONE
    here = own.at + 2 * strip * rows * own.apart
    end = here + 2 * rows * own.apart
    while here < end:
        low |= add(counter, bits, own.deltas[uint64(here)], own.deltas[uint64(here + own.apart)])
        here += 2 * own.apart
    return low != NONE


@cuda.jit(device=True)
def _cross(state, rows, bits, strip, columns, way, own, tile, task, pam_words, buffer):
    """Take a span's columns through one strip; returns the lanes within k at its lower border.

    columns: of the part before the span, of the warm-up, which are all above the last strip, and
    of the span.
    """
    base, warm, span = columns
    low = NONE
    for t in range(0, span, COLUMNS):
        stage(way, t, span - t, tile)
        for c in range(COLUMNS):
            here = own.at + 2 * (t + c) * own.apart
            state.ph[c] = own.borders[uint64(here)] if strip else NONE
            state.mh[c] = own.borders[uint64(here + own.apart)] if strip else NONE
        advance(state, rows, tile, 0)
        for c in range(COLUMNS):
            left = add(state.counter, bits, state.ph[c], state.mh[c])
            low |= left
            here = own.at + 2 * (t + c) * own.apart
            own.borders[uint64(here)] = state.ph[c]
            own.borders[uint64(here + own.apart)] = state.mh[c]
            left &= task.ends.owned
            if left and warm <= base + t + c and t + c < span:
                _append(state.counter, bits, left, task, pam_words, base + t + c, buffer)
    return low


@cache
def make_strips(rows: int, bits: int) -> Any:
    """Return the kernel for strips of `rows` rows and counters of `bits` bits."""
    top = bits - 1

    @kept()
    def kernel(
        text,
        shape,
        pam_words,
        letters,
        searches,
        hit_codes,
        count,
        first_unit,
        deltas,
        borders,
        totals,
    ):
        buffer = HitBuffer(hit_codes, count)
        shared = cuda.shared.array(0, uint64)
        staged = shared[(shape.planes + 1) * COLUMNS * THREADS :]
        state = State(
            cuda.local.array(rows, uint64),
            cuda.local.array(rows, uint64),
            cuda.local.array(COLUMNS, uint64),
            cuda.local.array(COLUMNS, uint64),
            cuda.local.array(bits, uint64),
        )
        counter = state.counter
        thread = cuda.threadIdx.x
        tile = Tile(shared, staged, uint64(thread))
        me = cuda.blockIdx.x * THREADS + thread
        own = StripMemory(deltas, borders, totals, me, cuda.gridDim.x * THREADS)
        task = _task(shape, searches, first_unit + cuda.blockIdx.x, thread)
        for c in range(COLUMNS):
            shared[(shape.planes * COLUMNS + c) * THREADS + thread] = ALL_ONES
        strips = letters.shape[1] // rows
        missing = strips * rows - task.length
        put_number(counter, bits, rows - missing - task.limit - 1)
        _save_counter(counter, bits, own, 0, 0)
        last = 0  # the lowest strip that takes part
        fresh = 0  # the strip that starts anew
        for base in range(0, task.columns, SPAN):
            span = smaller(SPAN, task.columns - base)
            way = Way(text, shape.planes, shape.plane_words, task.at + task.step * base, task.step)
            strip = 0
            while strip <= last:
                cuda.syncthreads()
                if thread < rows:
                    plane = letters[task.search, strip * rows + thread]
                    staged[thread] = uint64(plane) * uint64(COLUMNS * THREADS)
                cuda.syncthreads()
                _load_strip(state, rows, own, strip, strip == fresh, missing)
                if strip == fresh:
                    fresh = -1
                _load_counter(counter, bits, own, strip)
                low = counter[top]
                if strip == last and strip + 1 < strips:
                    _save_counter(counter, bits, own, strip + 1, rows)
                counted = base, task.warm if strip + 1 == strips else task.columns, span
                low |= _cross(
                    state,
                    rows,
                    bits,
                    strip,
                    counted,
                    way,
                    own,
                    tile,
                    task,
                    pam_words,
                    buffer,
                )
                _save_strip(state, rows, own, strip)
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

    return kernel
