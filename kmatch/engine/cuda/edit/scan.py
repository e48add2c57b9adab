"""k differences over striped text: every anchored end within k, or the smallest distance.

A thread takes one word of lanes along a stretch of text rows. The whole column of a pattern of up
to 32 letters is in registers; see `strips` for longer ones.
"""

from functools import cache
from typing import Any, NamedTuple

from numba import int64, uint32, uint64

from kmatch.arrays import Longs
from kmatch.engine.cuda.bits.buffer import Coding, HitBuffer, reserve
from kmatch.engine.cuda.bits.distances import (
    Ends,
    add,
    counter_bits,
    put_number,
    smallest,
    write,
)
from kmatch.engine.cuda.bits.words import ALL_ONES, NONE
from kmatch.engine.cuda.edit import strips
from kmatch.engine.cuda.edit.recurrence import COLUMNS, THREADS, State, Tile, Way, advance, stage
from kmatch.engine.cuda.edit.stretches import SearchPlan, Shape, divide, plan_searches
from kmatch.engine.cuda.gpu.driver import DeviceArray, Stream, cuda, on_device
from kmatch.engine.geometry import Text, halo_of
from kmatch.engine.queries import ReadingArrays


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


class Planned(NamedTuple):
    """A SearchPlan with its arrays on the GPU; bits: of the counters."""

    plan: SearchPlan
    bits: int
    letters: DeviceArray
    searches: DeviceArray


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
        self.stream, self.lowering = stream, lowering
        self._coding = (len(limits), k + 1)
        self._planned = []
        # Memory of strips and the blocks that it is for; one search follows the other.
        self._kept: dict[tuple[int, ...], tuple[int, strips.Kept]] = {}
        for plan in plan_searches(halo, reading, limits, chosen):
            least, most = plan.searches[:, 4].min(), plan.searches[:, 4].max()
            # The smallest distances lower a limit to 0 while they are sought.
            bits = counter_bits(plan.rows * plan.strips, 0 if lowering else int(least), int(most))
            arrays = on_device(plan.letters, stream), on_device(plan.searches, stream)
            self._planned.append(Planned(plan, bits, *arrays))

    def run(self, text: Text, buffer: HitBuffer) -> None:
        """Start all searches; text: a chunk whose planes are on the GPU."""
        size = text.plane_words, text.words, text.rows, halo_of(text)
        for plan, bits, letters, searches in self._planned:
            stretch, blocks = divide(text, plan)
            shape = Shape(*size, plan.planes, stretch, *self._coding)
            arguments = (text.planes, shape, letters, searches, *buffer)
            if plan.strips == 1:
                grid = (blocks, len(plan.searches))
                kernel = make_scan(plan.rows, bits, self.lowering)
                kernel[grid, THREADS, self.stream, plan.shared_bytes](*arguments)
            else:
                units = blocks * len(plan.searches)
                kernel = strips.make_scan(plan.rows, bits, self.lowering)
                kept = self._memory(plan, bits, units)
                strips.launch_strips(plan, units, kernel, arguments, kept, self.stream)

    def _memory(self, plan: SearchPlan, bits: int, units: int) -> strips.Kept:
        """Memory for strips, kept for later runs; units: blocks of all queries."""
        kind = plan.rows, plan.strips, bits
        most, kept = self._kept.get(kind, (0, None))
        if kept is None or units > most:
            kept = strips.memory_for_deltas(plan, bits, units, self.stream)
            self._kept[kind] = units, kept
        return kept


def scan_edit(text: Text, searches: Searches, buffer: HitBuffer) -> None:
    """Find every anchored end of the searches' queries within their limits.

    text: a chunk whose planes are on the GPU; buffer: receives the codes. See `Engine.start_edit`
    for the positions that a query owns.
    """
    searches.run(text, buffer)


def smallest_edit(text: Text, searches: Searches, buffer: HitBuffer) -> None:
    """Lower the counts of a buffer, int64[Q], to the smallest distances of the searches' queries.

    A distance above a query's limit is not found. The codes are not used. text: as for `scan_edit`.
    """
    searches.run(text, buffer)
