"""k mismatches over striped bit planes.

A block of threads copies its tile of text, and the rows below it into which windows reach, to
shared memory and runs all queries over it, or a part of them where the text has few tiles. A thread
has one word and `depth` rows of the tile and counts in registers; as many loads share the addresses
of a letter. Letters that are not in the tile, those far from the window's start and rare IUPAC
letters, are read from device memory for the windows that are still within k.

Mismatch counters are bit-sliced and kept complemented, as on the CPU: text planes say where a
letter *matches*, and both outputs of a full adder complement when all its inputs do. A counter
starts at 2^bits − (k + 1); a lane whose counter overflows is no longer live. `bits` is a constant
of the calling kernel: once the functions here are inlined, their loops unroll and the counters stay
in registers.
"""

from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numba import int64, uint64

from kmatch.arrays import Bools, Ints, Longs, Planes, Words
from kmatch.engine.cuda.driver import (
    DeviceArray,
    Stream,
    copies_in_background,
    cuda,
    multiprocessors,
    on_device,
)
from kmatch.engine.cuda.text import Part, Size, copy_tile, finish_copies, tile_indices
from kmatch.engine.cuda.words import (
    ALL_ONES,
    NONE,
    ONE,
    Coding,
    HitBuffer,
    all_of,
    any_live,
    encode,
    lowest,
    majority,
    parity,
    reserve,
)
from kmatch.engine.geometry import Text
from kmatch.engine.queries import QueryArrays

THREADS = 64
GROUP = 4  # letters are counted in fours
SHARED_BYTES = 48 * 1024  # of shared memory, which a block may have without asking the driver
NEAREST = 16  # letters that a tile has to reach for its planes to pay
BEYOND_LOOK = 16  # letters that a tile holds beyond the one at which a look pays
ALL_OF_GROUP = np.uint32(0x01010101)  # four bools that are true
ALWAYS = -1  # plane number of letters that fill a group up and match everywhere
CODE = uint64(0xFFFF)
BLOCKS = 24  # for every multiprocessor, where there are queries enough: four times as many as fit
FEWEST_QUERIES = 32  # of a block


class Tile(NamedTuple):
    """The part of the text that a block of threads keeps: words of a row, and rows a thread has."""

    words: int
    depth: int

    @property
    def rows(self) -> int:
        """Rows whose windows the block searches."""
        return THREADS // self.words * self.depth

    @property
    def ones(self) -> int:
        """Words before the tile that match everywhere, one for each that a thread reads."""
        return THREADS * self.depth

    def reach(self, planes: int) -> int:
        """The largest offset of a letter from its window's start in a tile of `planes` planes."""
        rows = (SHARED_BYTES // 8 - self.ones) // self.words
        return rows // planes - self.rows - 1


# The fastest for queries that are decided after a few letters: with no more rows than these need,
# six blocks fit a multiprocessor of an H200, and some copy while others count.
BROAD = Tile(16, 14)
DEEP = Tile(8, 8)  # reaches further, and leaves registers for wider counters


class QueryPlan(NamedTuple):
    """Queries over a tile of `planes` planes and `tile_rows` rows.

    bits: of a counter; ones: words before the tile that match everywhere, 0 unless a letter is
    ALWAYS; letters, shifts: int8[4·G] and int32[4·G], plane numbers or ALWAYS, and offsets from the
    window's start; codes: uint64[G], four letters each, 16 bits a letter: the index of its word in
    shared memory, less the thread's number; steps: int32[Q, 6], groups of four letters: the first,
    and the ends of those counted without a look, of those counted in the tile, of all counted, of
    those required in the tile, and of all; shared_bytes: of a block.
    """

    tile: Tile
    bits: int
    planes: int
    tile_rows: int
    ones: int
    letters: Planes
    shifts: Ints
    codes: Words
    steps: Ints
    shared_bytes: int


def plan_queries(query: QueryArrays, k: int) -> QueryPlan:
    """The QueryPlan of queries that are searched within k."""
    bounds, bits = query.bounds, max(int(k).bit_length(), 1)
    last_unseen = bounds[:, 3] - 1  # counted letters come first, in the order of their offsets
    needed = int(query.shifts[last_unseen[last_unseen >= bounds[:, 0]]].max(initial=0))
    tile, planes, reach = _tile(query, needed, bits)
    tile_rows = tile.rows + reach
    letters, shifts, (begin, exact, end) = _in_groups(query)
    ones = 0 if len(letters) == len(query.planes) else tile.ones
    near = ((letters < planes) & (shifts <= reach)).view(np.uint32) == ALL_OF_GROUP
    at = tile_indices(letters, shifts, tile_rows, tile.words) + np.uint16(ones)
    at[letters == ALWAYS] = 0
    codes = at.view(np.uint64)
    codes[~near] = 0
    counted = np.minimum(_first_far(near, begin), exact)
    required = np.minimum(_first_far(near, exact), end)
    unseen = np.minimum(begin + (bounds[:, 3] - bounds[:, 0]) // GROUP, counted)
    steps = np.stack([begin, unseen, counted, exact, required, end], axis=1).astype(np.int32)
    shared = 8 * (ones + planes * tile_rows * tile.words)
    return QueryPlan(tile, bits, planes, tile_rows, ones, letters, shifts, codes, steps, shared)


def _tile(query: QueryArrays, needed: int, bits: int) -> tuple[Tile, int, int]:
    """The tile for some queries, its planes and its reach, which is at least `needed` if it can."""
    planes = max(int(query.planes.max(initial=0)) + 1, 4)
    furthest = int(query.shifts.max(initial=0))
    if planes == 4 and bits <= 2 and needed <= BROAD.reach(planes):
        return BROAD, planes, needed
    furthest = min(furthest, needed + BEYOND_LOOK)
    if DEEP.reach(planes) < min(furthest, NEAREST):
        planes = 4
    return DEEP, planes, min(furthest, DEEP.reach(planes))


def _in_groups(query: QueryArrays) -> tuple[Planes, Ints, tuple[Longs, Longs, Longs]]:
    """Letters and shifts in whole groups, and where the groups of each query begin.

    These are the first counted ones, the first exact ones, and the ends.
    """
    sizes = np.diff(query.bounds[:, :3], axis=1).reshape(-1)
    ends = np.cumsum(-(-sizes // GROUP))
    begins = ends - -(-sizes // GROUP)
    groups = begins[0::2], begins[1::2], ends[1::2]
    own = np.ones(GROUP * int(ends[-1]), bool)
    for many in range(1, GROUP):  # letters that fill the last group up
        own[GROUP * ends[-sizes % GROUP >= many] - many] = False
    if len(own) == len(query.planes):
        return query.planes, query.shifts, groups
    filled, moved = np.full(len(own), ALWAYS, np.int8), np.zeros(len(own), np.int32)
    filled[own], moved[own] = query.planes, query.shifts
    return filled, moved, groups


def _first_far(near: Bools, begin: Longs) -> Longs:
    """The first group from `begin` on that is not in the tile."""
    far = np.append(np.flatnonzero(~near), len(near))
    return far[np.searchsorted(far, begin)]


class Shape(NamedTuple):
    """A chunk and a QueryPlan as the kernel takes them.

    rows: that a lane owns; plane_rows: with those of the halo; others: see Text and QueryPlan.
    """

    words: int
    rows: int
    plane_rows: int
    planes: int
    tile_rows: int
    ones: int
    k: int


@cuda.jit(device=True)
def begin(live, counters, bits, row, first_count):
    """Begin a row: every lane is live, every counter at its start."""
    live[row] = ALL_ONES
    for b in range(bits):
        counters[row * bits + b] = NONE if (first_count >> b) & 1 else ALL_ONES


@cuda.jit(device=True)
def add_four(live, counters, bits, row, a, b, c, d):
    """Count the mismatches of four letters."""
    at = row * bits
    ones = counters[at]
    first = majority(ones, a, b)
    ones = parity(ones, a, b)
    second = majority(ones, c, d)
    counters[at] = parity(ones, c, d)
    if bits == 1:
        live[row] = all_of(live[row], first, second)
    else:
        twos = counters[at + 1]
        carry = majority(twos, first, second)
        counters[at + 1] = parity(twos, first, second)
        # Half adders, complemented: the sum is an XNOR, the carry an OR.
        for i in range(2, bits):
            count = counters[at + i]
            counters[at + i] = ~(count ^ carry)
            carry = count | carry
        live[row] &= carry


@cuda.jit(device=True)
def mismatches(counters, bits, row, bit, first_count):
    """The count of a live lane."""
    count = 0
    for b in range(bits):
        complemented = (counters[row * bits + b] >> uint64(bit)) & ONE
        count += (1 - int(complemented)) << b
    return count - first_count


class Planned(NamedTuple):
    """Letters of all queries: a QueryPlan's arrays on the GPU."""

    planes: DeviceArray
    shifts: DeviceArray
    codes: DeviceArray


class Lanes(NamedTuple):
    """The lanes of a thread: those of one word, in every `apart`-th row from `row` on."""

    row: int
    apart: int
    word: int


class Shared(NamedTuple):
    """Shared memory, and the number of the thread that reads it."""

    words: DeviceArray
    thread: int


class State(NamedTuple):
    """What a thread keeps in registers: the live lanes of each row, and their counters."""

    live: DeviceArray
    counters: DeviceArray


class Step(NamedTuple):
    """The groups of a query's letters, see QueryPlan."""

    begin: int
    unseen: int
    counted: int
    exact: int
    required: int
    end: int


@cuda.jit(device=True)
def _count_staged(state, bits, depth, tile, code):
    w = (code & CODE) + tile.thread
    x = ((code >> uint64(16)) & CODE) + tile.thread
    y = ((code >> uint64(32)) & CODE) + tile.thread
    z = (code >> uint64(48)) + tile.thread
    for i in range(depth):
        s = uint64(i * THREADS)
        a, b, c, d = tile.words[w + s], tile.words[x + s], tile.words[y + s], tile.words[z + s]
        add_four(state.live, state.counters, bits, i, a, b, c, d)


@cuda.jit(device=True)
def _require_staged(depth, tile, code, live):
    for j in range(4):
        at = ((code >> uint64(16 * j)) & CODE) + tile.thread
        for i in range(depth):
            live[i] &= tile.words[at + uint64(i * THREADS)]


@cuda.jit(device=True)
def _far(text, letters, i, row, word):
    """The lanes in which letter i of the windows at a row matches, from device memory."""
    plane = int64(letters.planes[i])
    if plane == ALWAYS:
        return ALL_ONES
    at = plane * text.plane_words + (row + letters.shifts[i]) * text.words + word
    return text.planes[uint64(at)]


@cuda.jit(device=True)
def _count_far(state, bits, depth, text, lanes, letters, first):
    for i in range(depth):
        row = lanes.row + i * lanes.apart
        if state.live[i] and row < text.rows:
            w = _far(text, letters, first, row, lanes.word)
            x = _far(text, letters, first + 1, row, lanes.word)
            y = _far(text, letters, first + 2, row, lanes.word)
            z = _far(text, letters, first + 3, row, lanes.word)
            add_four(state.live, state.counters, bits, i, w, x, y, z)


@cuda.jit(device=True)
def _require_far(depth, text, lanes, letters, letter, live):
    for i in range(depth):
        row = lanes.row + i * lanes.apart
        if live[i] and row < text.rows:
            live[i] &= _far(text, letters, letter, row, lanes.word)


@cuda.jit(device=True)
def _search(state, bits, depth, text, lanes, tile, letters, step):
    """Count the mismatches of one query; leaves the lanes where it matches in `live`."""
    live, codes = state.live, letters.codes
    for g in range(step.begin, step.unseen):
        _count_staged(state, bits, depth, tile, codes[g])
    g = step.unseen
    while g < step.counted and any_live(depth, live):
        _count_staged(state, bits, depth, tile, codes[g])
        g += 1
    while g < step.exact and any_live(depth, live):
        _count_far(state, bits, depth, text, lanes, letters, 4 * g)
        g += 1
    g = step.exact
    while g < step.required and any_live(depth, live):
        _require_staged(depth, tile, codes[g], live)
        g += 1
    letter = 4 * step.required
    while letter < 4 * step.end and any_live(depth, live):
        _require_far(depth, text, lanes, letters, letter, live)
        letter += 1


@cuda.jit(device=True)
def _collect(state, bits, depth, text, lanes, coding, buffer):
    """Append the codes of live lanes to the buffer; where it is full, only count them."""
    live, rows = state.live, text.rows
    many = 0
    for i in range(depth):
        live[i] = live[i] if lanes.row + i * lanes.apart < rows else NONE
        many += int(cuda.popc(live[i]))
    if many:
        to = reserve(buffer.count, 0, many)
        first_count = (1 << bits) - coding.factor
        for i in range(depth):
            left = live[i]
            first = 64 * lanes.word * rows + lanes.row + i * lanes.apart
            while left:
                bit = lowest(left)
                left &= left - ONE
                if to < len(buffer.codes):
                    distance = mismatches(state.counters, bits, i, bit, first_count)
                    buffer.codes[to] = encode(first + bit * rows, distance, coding)
                to += 1


@cache
def make_scan(bits: int, tile_words: int, depth: int, pairs: bool) -> Any:
    """The kernel for counters of `bits` bits and a Tile; pairs: see `copy_tile`."""
    counter_words = depth * bits
    apart = THREADS // tile_words  # rows between two rows of a thread
    block_rows = apart * depth

    @cuda.jit(cache=True)
    def kernel(planes, shape, letter_planes, shifts, groups, steps, codes, count):
        text = Text(planes, shape.words, shape.rows, shape.plane_rows * shape.words)
        letters, buffer = Planned(letter_planes, shifts, groups), HitBuffer(codes, count)
        shared = cuda.shared.array(0, uint64)
        state = State(cuda.local.array(depth, uint64), cuda.local.array(counter_words, uint64))
        across = (shape.words + tile_words - 1) // tile_words
        thread = cuda.threadIdx.x
        band = cuda.blockIdx.x // across
        left = (cuda.blockIdx.x - band * across) * tile_words
        word = left + thread % tile_words
        row = band * block_rows
        for i in range(thread, shape.ones, THREADS):
            shared[uint64(i)] = ALL_ONES
        part = Part(row, left, shape.plane_rows)
        size = Size(shape.planes, shape.tile_rows, tile_words)
        copy_tile(pairs, text, part, size, thread, THREADS, shared, shape.ones)
        finish_copies(pairs)
        cuda.syncthreads()
        row += thread // tile_words
        if word >= shape.words or row >= shape.rows:
            return
        tile, lanes = Shared(shared, uint64(thread)), Lanes(row, apart, word)
        first_count = (1 << bits) - (shape.k + 1)
        for q in range(cuda.blockIdx.y, len(steps), cuda.gridDim.y):
            for i in range(depth):
                begin(state.live, state.counters, bits, i, first_count)
            s = steps[q]
            step = Step(s[0], s[1], s[2], s[3], s[4], s[5])
            _search(state, bits, depth, text, lanes, tile, letters, step)
            if any_live(depth, state.live):
                coding = Coding(len(steps), q, shape.k + 1, shape.k)
                _collect(state, bits, depth, text, lanes, coding, buffer)

    return kernel


class Queries(NamedTuple):
    """Queries on the GPU: their plan, k, and the plan's arrays there."""

    plan: QueryPlan
    k: int
    arrays: tuple[DeviceArray, ...]


def upload(query: QueryArrays, k: int, stream: Stream) -> Queries:
    """Plan queries that are searched within k, and copy the plan to the GPU."""
    plan = plan_queries(query, k)
    arrays = (plan.letters, plan.shifts, plan.codes, plan.steps)
    return Queries(plan, k, tuple(on_device(array, stream) for array in arrays))


def query_parts(tiles: int, queries: int) -> int:
    """Parts of the queries, a block for each tile and part: enough blocks to keep the GPU busy to
    the end, but queries enough for a block to be worth the copy of its tile."""
    wanted = -(-BLOCKS * multiprocessors() // tiles)
    return max(min(wanted, queries // FEWEST_QUERIES), 1)


def scan(text: Text, queries: Queries, buffer: HitBuffer, stream: Stream) -> None:
    """Find every window within k mismatches of each query.

    text: a chunk whose planes are on the GPU.
    """
    plan, (planes, words, rows, plane_words) = queries.plan, text
    pairs = words % 2 == 0 and copies_in_background()
    kernel = make_scan(plan.bits, plan.tile.words, plan.tile.depth, pairs)
    blocks = -(-words // plan.tile.words) * -(-rows // plan.tile.rows)
    parts = query_parts(blocks, len(plan.steps))
    plane_rows = plane_words // words
    shape = Shape(words, rows, plane_rows, plan.planes, plan.tile_rows, plan.ones, queries.k)
    launch = kernel[(blocks, parts), THREADS, stream, plan.shared_bytes]
    launch(planes, shape, *queries.arrays, *buffer)
