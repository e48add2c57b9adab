"""k mismatches over striped bit planes.

A block of threads copies its tile of text, and the rows below it into which windows reach, to
shared memory and runs all queries over it, or a part of them where the text has few tiles. A thread
has one word and `depth` rows of the tile and counts in registers; as many loads share the addresses
of a letter. Letters that are not in the tile, those far from the window's start and rare IUPAC
letters, are read from device memory for the windows that are still within k.
"""

from functools import cache
from typing import Any, NamedTuple

from numba import int64, uint64

from kmatch.engine.cuda.bits.buffer import Coding, HitBuffer, encode, reserve
from kmatch.engine.cuda.bits.counters import add_four, begin, mismatches
from kmatch.engine.cuda.bits.words import ALL_ONES, NONE, ONE, any_live, lowest
from kmatch.engine.cuda.gpu.driver import (
    DeviceArray,
    Stream,
    background_grain,
    cuda,
    multiprocessors,
    on_device,
)
from kmatch.engine.cuda.hamming.queries import ALWAYS, THREADS, QueryPlan, plan_queries
from kmatch.engine.cuda.text.tiles import Part, Size, copy_tile, finish_copies
from kmatch.engine.geometry import Text
from kmatch.engine.queries import QueryArrays

CODE = uint64(0xFFFF)
BLOCKS = 24  # for every multiprocessor, where there are queries enough: four times as many as fit
FEWEST_QUERIES = 32  # of a block


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


class Tile(NamedTuple):
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
def make_scan(bits: int, tile_words: int, depth: int, grain: int) -> Any:
    """The kernel for counters of `bits` bits and a Tile; grain: see `copy_tile`."""
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
        copy_tile(grain, text, part, size, thread, THREADS, shared, shape.ones)
        finish_copies(grain)
        cuda.syncthreads()
        row += thread // tile_words
        if word >= shape.words or row >= shape.rows:
            return
        tile, lanes = Tile(shared, uint64(thread)), Lanes(row, apart, word)
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
    kernel = make_scan(plan.bits, plan.tile.words, plan.tile.depth, background_grain(words))
    blocks = -(-words // plan.tile.words) * -(-rows // plan.tile.rows)
    parts = query_parts(blocks, len(plan.steps))
    plane_rows = plane_words // words
    shape = Shape(words, rows, plane_rows, plan.planes, plan.tile_rows, plan.ones, queries.k)
    launch = kernel[(blocks, parts), THREADS, stream, plan.shared_bytes]
    launch(planes, shape, *queries.arrays, *buffer)
