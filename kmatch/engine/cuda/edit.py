"""k differences over striped text: every anchored end within k, or the smallest distance.

A thread takes one word of lanes along a stretch of text rows. The whole column of a pattern of up
to 32 letters is in registers; see `strips` for longer ones.
"""

import math
from collections.abc import Iterator
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numba import int64, uint32, uint64

from kmatch.arrays import Ints, Longs, Planes, bounds_of, gather
from kmatch.engine.cuda import strips
from kmatch.engine.cuda.driver import (
    DeviceArray,
    Stream,
    cuda,
    empty,
    memory,
    multiprocessors,
    on_device,
)
from kmatch.engine.cuda.recurrence import (
    COLUMNS,
    THREADS,
    Ends,
    State,
    Tile,
    Way,
    add,
    advance,
    counter_bits,
    put_number,
    smallest,
    stage,
    write,
)
from kmatch.engine.cuda.words import ALL_ONES, NONE, Coding, HitBuffer, reserve
from kmatch.engine.geometry import Text, halo_of
from kmatch.engine.queries import ReadingArrays

SHORT = 32  # letters of a pattern whose column stays in registers
STEP = 4  # the rows of short patterns are rounded up to a multiple of this
STRIP_ROWS = (24, 26, 28)  # rows of a strip of a longer pattern
BUSY = 6  # blocks that keep a multiprocessor busy, when short patterns are searched
BUSY_STRIPS = 4  # and when longer ones are
MOST = 24  # blocks of a multiprocessor at the most
MOST_QUERIES = 1 << 15  # of a launch: the second dimension of a grid ends at 65535
MEMORY_SHARE = 0.5  # of the free device memory that deltas of strips may take
TOGETHER = 8  # blocks of a launch for every multiprocessor, where there are strips


class Shape(NamedTuple):
    """A chunk and the work in it, as a kernel takes them.

    plane_words, words, rows: of a Text; halo: rows of the next lane that a lane repeats; planes:
    that are read; stretch: rows of a lane that a thread owns; queries, factor: see `Coding`.
    """

    plane_words: int
    words: int
    rows: int
    halo: int
    planes: int
    stretch: int
    queries: int
    factor: int


class SearchPlan(NamedTuple):
    """Queries of the same number of rows, for texts of any length.

    rows: of a strip; strips: of a pattern; planes: of the text that are read; letters: int8[n,
    strips·rows], the plane of each letter, at the front letters that match everywhere and fill a
    pattern up; searches: int32[n, 5], the rank of a query, its length, whether the text is read
    downwards, its warm-up in columns and its limit; shared_bytes: of a block.
    """

    rows: int
    strips: int
    planes: int
    letters: Planes
    searches: Ints
    shared_bytes: int


def strips_of(length: int) -> tuple[int, int]:
    """(rows of a strip, strips) of a pattern."""
    if length <= SHORT:
        return -(-length // STEP) * STEP, 1
    # The fewest rows in all, and among equals the tallest strips.
    return min(((rows, -(-length // rows)) for rows in reversed(STRIP_ROWS)), key=math.prod)


def plan_searches(
    halo: int, reading: ReadingArrays, limits: Longs, chosen: Longs
) -> Iterator[SearchPlan]:
    """Yield the SearchPlans of the chosen queries, each within its limit; halo: of the texts."""
    planes = max(int(reading.letters.max()) + 1, 4)
    lengths, kind = np.unique(np.diff(reading.begins)[chosen], return_inverse=True)
    alike: dict[tuple[int, int], list[int]] = {}
    for number, length in enumerate(lengths.tolist()):
        alike.setdefault(strips_of(length), []).append(number)
    for (rows, many), numbers in alike.items():
        queries = chosen[np.isin(kind, numbers)]
        for first in range(0, len(queries), MOST_QUERIES):
            part = queries[first : first + MOST_QUERIES]
            letters = _letters(rows * many, planes, part, reading)
            searches = _searches(part, halo, reading, limits)
            shared_bytes = 8 * ((planes + 1) * COLUMNS * THREADS + rows)
            yield SearchPlan(rows, many, planes, letters, searches, shared_bytes)


def _letters(rows: int, planes: int, queries: Longs, reading: ReadingArrays) -> Planes:
    """The plane of each letter, int8[n, rows]; in front the plane behind all others fills up."""
    lengths = np.diff(reading.begins)[queries]
    letters = gather(reading.letters, reading.begins[queries], bounds_of(lengths))
    filled = np.full((len(queries), rows), planes, np.int8)
    if (lengths == lengths[0]).all():
        filled[:, rows - lengths[0] :] = letters.reshape(len(queries), -1)
    else:
        filled[np.arange(rows) >= rows - lengths[:, None]] = letters
    return filled


def _searches(queries: Longs, halo: int, reading: ReadingArrays, limits: Longs) -> Ints:
    """See SearchPlan."""
    lengths, limits = np.diff(reading.begins)[queries], limits[queries]
    warm = np.minimum(halo, lengths + limits)
    columns = (queries, lengths, reading.backward[queries], warm, limits)
    return np.stack(columns, axis=1).astype(np.int32)


def divide(text: Text, plan: SearchPlan) -> tuple[int, int]:
    """How a text is divided: rows of a lane that a thread owns, and blocks of a query."""
    across, warm = -(-text.words // THREADS), int(plan.searches[:, 3].max())
    stretch = _stretch(across * len(plan.searches), text.rows, warm, plan.strips)
    return stretch, across * -(-text.rows // stretch)


def _stretch(blocks: int, lane_rows: int, warm: int, strips: int) -> int:
    """Rows of a stretch: short ones balance the work, long ones warm up less often.

    A multiprocessor with fewer than `busy` blocks finishes none of them sooner, and all wait for
    the last block for about the time that one takes.
    """
    processors, busy = multiprocessors(), BUSY if strips == 1 else BUSY_STRIPS
    stretches = np.arange(1, min(max(MOST * processors // blocks, 1), lane_rows) + 1)
    rows = -(-lane_rows // stretches)
    load = -(-blocks * -(-lane_rows // rows) // processors)
    return int(rows[np.argmin((np.maximum(load, busy) + 1) * (rows + warm))])


@cuda.jit(device=True)
def _begin(state, rows, bits, length, limit):
    """Begin a column that grows by one a row; rows that fill the pattern up match everywhere."""
    for i in range(rows):
        state.pv[i] = NONE if i < rows - length else ALL_ONES
        state.mv[i] = NONE
    put_number(state.counter, bits, length - limit - 1)


@cuda.jit(device=True)
def _go_back(state, bits):
    """Take the last COLUMNS columns back out of a counter."""
    for c in range(COLUMNS):
        add(state.counter, bits, state.mh[c], state.ph[c])


@cuda.jit(device=True)
def _report(state, bits, lowering, columns, ends, coding, buffer):
    """Append the codes of ends in the last COLUMNS columns, or lower the smallest distance.

    The counter goes back and takes these columns again, first to count the ends: to keep them for
    each column would take registers that the search needs. columns: the first and the end of those
    that count; ends: Ends of the first of the COLUMNS.
    """
    begin, end = columns
    to = 0
    _go_back(state, bits)
    if not lowering:
        many = 0
        for c in range(COLUMNS):
            left = add(state.counter, bits, state.ph[c], state.mh[c])
            if begin <= c and c < end:
                many += int(cuda.popc(left))
        to = reserve(buffer.count, 0, many)
        _go_back(state, bits)
    for c in range(COLUMNS):
        left = add(state.counter, bits, state.ph[c], state.mh[c])
        if left and begin <= c and c < end:
            if lowering:
                distance = smallest(state.counter, bits, left) + coding.limit + 1
                cuda.atomic.min(buffer.count, coding.query, distance)
            else:
                write(state.counter, bits, left, ends, c, coding, buffer, to)
                to += int(cuda.popc(left))


@cache
def make_scan(rows: int, bits: int, lowering: bool) -> Any:
    """The kernel for patterns of up to `rows` letters and counters of `bits` bits."""

    @cuda.jit(cache=True)
    def kernel(text, shape, letters, searches, codes, count):
        shared = cuda.shared.array(0, uint64)
        staged = cuda.shared.array(rows, uint32)
        state = State(
            cuda.local.array(rows, uint64),
            cuda.local.array(rows, uint64),
            cuda.local.array(COLUMNS, uint64),
            cuda.local.array(COLUMNS, uint64),
            cuda.local.array(bits, uint64),
        )
        buffer = HitBuffer(codes, count)
        thread = cuda.threadIdx.x
        tile = Tile(shared, staged, uint32(thread))
        across = (shape.words + THREADS - 1) // THREADS
        word = cuda.blockIdx.x % across * THREADS + thread
        begin = cuda.blockIdx.x // across * shape.stretch
        end = begin + shape.stretch if begin + shape.stretch < shape.rows else shape.rows
        search = searches[cuda.blockIdx.y]
        query, length, backward, warm = search[0], search[1], search[2], search[3]
        limit = int64(search[4])
        if thread < rows:
            staged[thread] = uint32(letters[cuda.blockIdx.y, thread]) * uint32(COLUMNS * THREADS)
        for c in range(COLUMNS):
            shared[(shape.planes * COLUMNS + c) * THREADS + thread] = ALL_ONES
        cuda.syncthreads()
        if word >= shape.words:
            return
        if lowering:
            # Only a smaller distance than the known one is of interest.
            known = count[query]
            limit = known - 1 if known <= limit else limit
            if limit < 0:
                return
        _begin(state, rows, bits, length, limit)
        coding = Coding(shape.queries, query, shape.factor, limit)
        row = end - 1 + warm if backward else begin + shape.halo - warm
        step = -1 if backward else 1
        columns = warm + end - begin
        at = row * shape.words + word
        way = Way(text, shape.planes, shape.plane_words, at, step * shape.words)
        for t in range(0, columns, COLUMNS):
            stage(way, t, columns - t, tile)
            for c in range(COLUMNS):
                state.ph[c] = NONE
                state.mh[c] = NONE
            advance(state, rows, tile)
            low = NONE
            for c in range(COLUMNS):
                low |= add(state.counter, bits, state.ph[c], state.mh[c])
            if low and warm < t + COLUMNS:
                ends = Ends(64 * word * shape.rows + row, step, shape.rows, ALL_ONES)
                _report(
                    state, bits, lowering, (warm - t, columns - t), ends, coding, buffer,
                )  # fmt: skip
            row += step * COLUMNS

    return kernel


class Searches:
    """Searches on the GPU, planned once for texts of any length.

    halo: of the texts; limits: int64[Q], the k of each query; chosen: int64, the queries to search;
    k: the largest limit; stream: in which they run; lowering: whether to find smallest distances
    instead of all ends.
    """

    def __init__(
        self,
        halo: int,
        reading: ReadingArrays,
        limits: Longs,
        chosen: Longs,
        k: int,
        stream: Stream,
        lowering: bool = False,
    ) -> None:
        self._stream, self._lowering, self._coding = stream, lowering, (len(limits), k + 1)
        # Each plan with the bits of its counters, and its letters and searches on the GPU.
        self._planned: list[tuple[SearchPlan, int, DeviceArray, DeviceArray]] = []
        # Memory of strips and the blocks that it is for; one search follows the other.
        self._kept: dict[tuple[int, ...], tuple[int, strips.Kept]] = {}
        for plan in plan_searches(halo, reading, limits, chosen):
            least, most = plan.searches[:, 4].min(), plan.searches[:, 4].max()
            # The smallest distances lower a limit to 0 while they are sought.
            bits = counter_bits(plan.rows * plan.strips, 0 if lowering else int(least), int(most))
            arrays = on_device(plan.letters, stream), on_device(plan.searches, stream)
            self._planned.append((plan, bits, *arrays))

    def run(self, text: Text, buffer: HitBuffer) -> None:
        """Start to find every anchored end within its query's limit.

        text: a chunk whose planes are on the GPU; buffer: receives the codes; see
        `Engine.start_edit` for the positions that a query owns. When lowering, the codes are not
        used, and the counts, int64[Q], become the smallest distances if these are smaller.
        """
        size = text.plane_words, text.words, text.rows, halo_of(text)
        for plan, bits, letters, searches in self._planned:
            stretch, blocks = divide(text, plan)
            shape = Shape(*size, plan.planes, stretch, *self._coding)
            arguments = (text.planes, shape, letters, searches, *buffer)
            launch = (THREADS, self._stream, plan.shared_bytes)
            if plan.strips == 1:
                kernel = make_scan(plan.rows, bits, self._lowering)
                kernel[(blocks, len(plan.searches)), *launch](*arguments)
                continue
            kernel = strips.make_scan(plan.rows, bits, self._lowering)
            units = blocks * len(plan.searches)
            kept = self._memory(plan, bits, units)
            together = len(kept.borders) // (2 * strips.SPAN * THREADS)
            for first in range(0, units, together):
                kernel[min(together, units - first), *launch](*arguments, first, kept)

    def _memory(self, plan: SearchPlan, bits: int, units: int) -> strips.Kept:
        """Memory for the strips of all blocks that are started together, fewer where it is short.

        It is kept for later runs. units: blocks of all queries.
        """
        kind = plan.rows, plan.strips, bits
        most, kept = self._kept.get(kind, (0, None))
        if kept is None or units > most:
            words = plan.strips * (2 * plan.rows + bits) + 2 * strips.SPAN  # a thread
            fitting = int(memory()[0] * MEMORY_SHARE) // (8 * words * THREADS)
            blocks = max(min(units, fitting, TOGETHER * multiprocessors()), 1)
            rows = 2 * plan.strips * plan.rows, 2 * strips.SPAN, plan.strips * bits
            kept = strips.Kept(
                *(empty(many * blocks * THREADS, np.uint64, self._stream) for many in rows)
            )
            self._kept[kind] = units, kept
        return kept
