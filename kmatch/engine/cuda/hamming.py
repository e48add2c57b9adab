"""k mismatches over striped bit planes.

A block of threads copies its tile, rows of text and the rows below into which windows reach, to
shared memory and runs all queries over it, or a part of them where the text has few tiles. A thread
has one word and `depth` rows of the tile and counts in registers; as many loads share the addresses
of a letter. Groups that are not in the tile, groups far from the window's start and rare IUPAC
letters, and the letters that have to match are read from device memory for the windows that are
still within k.

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

from kmatch.arrays import Bools, Ints, Longs, Planes, Table, bounds_of, offsets_in_rows
from kmatch.engine.cuda import driver
from kmatch.engine.cuda.device import Gpu
from kmatch.engine.cuda.driver import DeviceArray, cuda, kept
from kmatch.engine.cuda.text import Size, copy_tile, wait_for_copies
from kmatch.engine.cuda.words import (
    ALL_ONES,
    NONE,
    ONE,
    HitBuffer,
    all_of,
    any_live,
    encode,
    lowest,
    majority,
    parity,
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


# The fastest depth for queries that are decided after a few letters: with no more rows than these
# need, six blocks fit a multiprocessor of an H200, and some copy while others count.
TALL = 13
FLAT = 8  # leaves room to reach further, and registers for wider counters
TALL_BITS = 2  # of counters, the most for a tall tile
BITS = (1, 2, 3, 4, 5, 6, 8, 10, 12, 24)  # the first that suffices: few kernels serve all


class Groups(NamedTuple):
    """The letters of queries in groups of four, on the GPU.

    planes, shifts: int8[4·G] and int32[4·G], plane numbers or ALWAYS, and offsets from the window's
    start; codes: uint64[G], four letters each, 16 bits a letter: the index of its word in shared
    memory, less the thread's number.
    """

    planes: DeviceArray
    shifts: DeviceArray
    codes: DeviceArray


class WindowScan:
    """Queries within k on a GPU, for texts of so many words in a row."""

    def __init__(self, query: QueryArrays, k: int, words: int, gpu: Gpu) -> None:
        bits = next(bits for bits in BITS if k < 1 << bits)
        depth, planes, reach = _tile(query, _needed(query), bits, words)
        self._rows = THREADS // words * depth  # whose windows a block searches
        size = Size(planes, (self._rows + reach) * words)
        letters, shifts, groups = _in_groups(query)
        # Words before the tile that match everywhere, one for each that a thread reads.
        ones = 0 if len(letters) == len(query.planes) else THREADS * depth

        # Where each letter's word is in shared memory, which means nothing for one that is not in
        # the tile.
        indices = letters.astype(np.int32) * size.words + shifts * words + ones
        codes = indices.astype(np.uint16)
        codes[letters == ALWAYS] = 0

        is_near = ((letters < planes) & (shifts <= reach)).view(np.uint32) == ALL_OF_GROUP
        steps = _steps(query, groups, is_near)
        tables = letters, shifts, codes.view(np.uint64), steps
        self._tables = [driver.cuda.to_device(table, gpu.stream) for table in tables]
        self._kernel = make_scan(bits, words, depth, driver.copies_in_background())
        self._fixed = size, ones, k
        self._queries = len(steps)
        self._stream = gpu.stream

    def run(self, text: Text, buffer: HitBuffer) -> None:
        """Start to find every window within k mismatches of each query.

        text: a chunk whose planes are on the GPU.
        """
        size, ones, _ = self._fixed
        tiles = -(-text.rows // self._rows)
        grid = tiles, query_parts(tiles, self._queries)
        shape = WindowShape(text.rows, text.plane_words, *self._fixed)
        kernel = self._kernel[grid, THREADS, self._stream, 8 * (ones + size.planes * size.words)]
        kernel(text.planes, shape, *self._tables, *buffer)


def _needed(query: QueryArrays) -> int:
    """Return the largest offset of the letters that are counted before a look pays."""
    # Counted letters come first, in the order of their offsets.
    last_unseen = query.bounds[:, 3] - 1
    is_any = last_unseen >= query.bounds[:, 0]
    return int(query.shifts[last_unseen[is_any]].max(initial=0))


def _steps(query: QueryArrays, groups: tuple[Longs, Longs, Longs], is_near: Bools) -> Table:
    """Return the steps of each query's search, int32[Q, 5]; see `_search`.

    groups: see `_in_groups`; is_near: bool[G], the groups that are in the tile.
    """
    begin, exact, end = groups
    counted = np.minimum(_first_far(is_near, begin), exact)
    looks = (query.bounds[:, 3] - query.bounds[:, 0]) // GROUP
    unseen = np.minimum(begin + looks, counted)
    steps: Table = np.stack([begin, unseen, counted, exact, end], axis=1).astype(np.int32)
    return steps


def _tile(query: QueryArrays, needed: int, bits: int, words: int) -> tuple[int, int, int]:
    """Of a tile for some queries: rows of a thread, planes, and its reach, the largest offset of a
    letter from its window's start, which is at least `needed` if it can."""
    planes = max(int(query.planes.max(initial=0)) + 1, 4)
    if planes == 4 and bits <= TALL_BITS and needed <= _reach(TALL, planes, words):
        return TALL, planes, needed
    furthest = min(int(query.shifts.max(initial=0)), needed + BEYOND_LOOK)
    if _reach(FLAT, planes, words) < min(furthest, NEAREST):
        planes = 4
    return FLAT, planes, min(furthest, _reach(FLAT, planes, words))


def _reach(depth: int, planes: int, words: int) -> int:
    """Return the largest reach that a tile has room for."""
    rows = (SHARED_BYTES // 8 - THREADS * depth) // words
    return rows // planes - THREADS // words * depth - 1


def _in_groups(query: QueryArrays) -> tuple[Planes, Ints, tuple[Longs, Longs, Longs]]:
    """Return planes and shifts in whole groups, and where the groups of each query begin.

    These are the first counted ones, the first exact ones, and the ends. With 5 counted letters c
    and 2 exact ones e:

        letters   c c c c   c . . .   e e . .
    """
    sizes = np.diff(query.bounds[:, :3], axis=1).reshape(-1)
    groups = bounds_of(-(-sizes // GROUP))
    sizes_of_letters = np.repeat(sizes, GROUP * np.diff(groups))
    is_letter = offsets_in_rows(GROUP * groups) < sizes_of_letters
    planes = np.full(len(is_letter), ALWAYS, np.int8)
    planes[is_letter] = query.planes
    shifts = np.zeros(len(is_letter), np.int32)
    shifts[is_letter] = query.shifts
    return planes, shifts, (groups[:-1:2], groups[1::2], groups[2::2])


def _first_far(is_near: Bools, begin: Longs) -> Longs:
    """Return the first group from `begin` on that is not in the tile, int64[Q]."""
    far = np.append(np.flatnonzero(~is_near), len(is_near))
    return far[np.searchsorted(far, begin)]


@cuda.jit(device=True)
def begin(state, bits, row, first_count):
    """Begin a row: every lane is live, every counter at its start."""
    state.live[row] = ALL_ONES
    for b in range(bits):
        state.counters[row * bits + b] = NONE if (first_count >> b) & 1 else ALL_ONES


@cuda.jit(device=True)
def add_four(state, bits, row, a, b, c, d):
    """Count the mismatches of four letters."""
    live, counters, at = state.live, state.counters, row * bits
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
    """Return the count of a live lane."""
    count = 0
    for b in range(bits):
        complemented = (counters[row * bits + b] >> uint64(bit)) & ONE
        count += (1 - int(complemented)) << b
    return count - first_count


class Lanes(NamedTuple):
    """The lanes of a thread: the lanes of one word, in every `apart`-th row from `row` on; tile:
    words in shared memory; thread: the number of this one."""

    tile: DeviceArray
    thread: int
    row: int
    apart: int
    word: int


class State(NamedTuple):
    """The registers of a thread: the live lanes of each row, and their counters."""

    live: DeviceArray
    counters: DeviceArray


@cuda.jit(device=True)
def _count_staged(state, bits, depth, lanes, code):
    tile = lanes.tile
    w = (code & CODE) + lanes.thread
    x = ((code >> uint64(16)) & CODE) + lanes.thread
    y = ((code >> uint64(32)) & CODE) + lanes.thread
    z = (code >> uint64(48)) + lanes.thread
    for i in range(depth):
        s = uint64(i * THREADS)
        add_four(state, bits, i, tile[w + s], tile[x + s], tile[y + s], tile[z + s])


@cuda.jit(device=True)
def _far(text, letters, i, row, word):
    """Return the lanes in which letter i of the windows at a row matches, from device memory."""
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
            add_four(state, bits, i, w, x, y, z)


@cuda.jit(device=True)
def _require_far(live, depth, text, lanes, letters, letter):
    for i in range(depth):
        row = lanes.row + i * lanes.apart
        if live[i] and row < text.rows:
            live[i] &= _far(text, letters, letter, row, lanes.word)


@cuda.jit(device=True)
def _search(state, bits, depth, text, lanes, letters, step):
    """Count the mismatches of one query; leaves the lanes where it matches in `live`.

    step: the first group of its letters, and the ends of the groups counted without a look, counted
    in the tile, counted at all, and of all groups.
    """
    g, counted, exact, end = step[1], step[2], step[3], step[4]
    for each in range(step[0], g):
        _count_staged(state, bits, depth, lanes, letters.codes[each])
    while g < counted and any_live(depth, state.live):
        _count_staged(state, bits, depth, lanes, letters.codes[g])
        g += 1
    while g < exact and any_live(depth, state.live):
        _count_far(state, bits, depth, text, lanes, letters, 4 * g)
        g += 1
    letter = 4 * exact
    while letter < 4 * end and any_live(depth, state.live):
        _require_far(state.live, depth, text, lanes, letters, letter)
        letter += 1


@cuda.jit(device=True)
def _collect(state, bits, depth, text, lanes, query, buffer):
    """Append the codes of live lanes to the buffer; where it is full, only count them.

    query: its number, of how many, and its k.
    """
    number, queries, k = query
    first_count = (1 << bits) - (k + 1)
    for i in range(depth):
        row = lanes.row + i * lanes.apart
        left = state.live[i] if row < text.rows else NONE
        if left:
            to = cuda.atomic.add(buffer.count, 0, int64(cuda.popc(left)))
            while left:
                bit = lowest(left)
                left &= left - ONE
                if to < len(buffer.codes):
                    position = (64 * lanes.word + bit) * text.rows + row
                    distance = mismatches(state.counters, bits, i, bit, first_count)
                    buffer.codes[uint64(to)] = encode(position, number, distance, queries, k + 1)
                to += 1


class WindowShape(NamedTuple):
    """A chunk and a tile as the kernel takes them; arrays that it took inside of tuples would cost
    a twelfth of the speed of many patterns.

    rows, plane_words: see Text; size: of the tile; ones: words before it that match everywhere, 0
    unless a letter is ALWAYS.
    """

    rows: int
    plane_words: int
    size: Size
    ones: int
    k: int


@cache
def make_scan(bits: int, words: int, depth: int, pairs: bool) -> Any:
    """Return the kernel for counters of `bits` bits, rows of `words` words and `depth` rows a
    thread.

    pairs: see `copy_tile`.
    """
    counter_words = depth * bits
    apart = THREADS // words  # rows between two rows of a thread
    block_rows = apart * depth

    @kept()
    def kernel(planes, shape, letter_planes, shifts, groups, steps, hit_codes, count):
        text = Text(planes, words, shape.rows, shape.plane_words)
        letters, buffer = Groups(letter_planes, shifts, groups), HitBuffer(hit_codes, count)
        ones, k = shape.ones, shape.k
        shared = cuda.shared.array(0, uint64)
        state = State(cuda.local.array(depth, uint64), cuda.local.array(counter_words, uint64))
        thread = cuda.threadIdx.x
        row = cuda.blockIdx.x * block_rows
        for i in range(thread, ones, THREADS):
            shared[uint64(i)] = ALL_ONES
        copy_tile(pairs, text, row, shape.size, thread, THREADS, shared, ones)
        if pairs:
            wait_for_copies()
        cuda.syncthreads()
        row += thread // words
        if row >= text.rows:
            return
        lanes = Lanes(shared, uint64(thread), row, apart, thread % words)
        first_count = (1 << bits) - (k + 1)
        for q in range(cuda.blockIdx.y, len(steps), cuda.gridDim.y):
            for i in range(depth):
                begin(state, bits, i, first_count)
            _search(state, bits, depth, text, lanes, letters, steps[q])
            if any_live(depth, state.live):
                _collect(state, bits, depth, text, lanes, (q, len(steps), k), buffer)

    return kernel


def query_parts(tiles: int, queries: int) -> int:
    """Parts of the queries, a block for each tile and part: enough blocks to keep the GPU busy to
    the end, but queries enough for a block to be worth the copy of its tile."""
    wanted = -(-BLOCKS * driver.multiprocessors() // tiles)
    return max(min(wanted, queries // FEWEST_QUERIES), 1)
