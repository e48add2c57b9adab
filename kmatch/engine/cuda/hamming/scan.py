"""k mismatches over striped bit planes.

A block of threads copies its tile of text and what its windows need below to shared memory and
runs all queries over it. A thread has one word and `depth` rows of the tile, so that what a letter
costs in addresses is shared by as many loads, and counts in registers. What does not fit the tile,
letters far from the window's start and planes of rare IUPAC letters, is read from device memory for
the windows that are still within k.
"""

from functools import cache
from typing import NamedTuple

from numba import uint64

from kmatch.engine.cuda.bits.buffer import reserve
from kmatch.engine.cuda.bits.counters import clear, count_four, mismatches
from kmatch.engine.cuda.bits.words import ALL, NONE, ONE, any_live, lowest
from kmatch.engine.cuda.gpu.driver import background_grain, cuda, on_device
from kmatch.engine.cuda.hamming.queries import ALWAYS, THREADS, QueryPlan, plan_queries
from kmatch.engine.cuda.text.tiles import copy_tile, finish_copies

CODE = uint64(0xFFFF)


@cuda.jit(device=True)
def _count_staged(bits, depth, tile, thread, code, live, counters):
    w = (code & CODE) + thread
    x = ((code >> uint64(16)) & CODE) + thread
    y = ((code >> uint64(32)) & CODE) + thread
    z = (code >> uint64(48)) + thread
    for i in range(depth):
        s = uint64(i * THREADS)
        count_four(bits, live, counters, i, tile[w + s], tile[x + s], tile[y + s], tile[z + s])


@cuda.jit(device=True)
def _require_staged(depth, tile, thread, code, live):
    for j in range(4):
        at = ((code >> uint64(16 * j)) & CODE) + thread
        for i in range(depth):
            live[i] &= tile[at + uint64(i * THREADS)]


@cuda.jit(device=True)
def _far(text, plane_words, words, letters, shifts, i, row, word):
    """The lanes in which letter i of the windows at a row matches, from device memory."""
    if letters[i] == ALWAYS:
        return ALL
    return text[letters[i] * plane_words + (row + shifts[i]) * words + word]


@cuda.jit(device=True)
def _count_far(bits, depth, text, place, queries, first, live, counters):
    plane_words, words, rows, row, apart, word = place
    letters, shifts = queries
    for i in range(depth):
        at = row + i * apart
        if live[i] and at < rows:
            w = _far(text, plane_words, words, letters, shifts, first, at, word)
            x = _far(text, plane_words, words, letters, shifts, first + 1, at, word)
            y = _far(text, plane_words, words, letters, shifts, first + 2, at, word)
            z = _far(text, plane_words, words, letters, shifts, first + 3, at, word)
            count_four(bits, live, counters, i, w, x, y, z)


@cuda.jit(device=True)
def _require_far(depth, text, place, queries, letter, live):
    plane_words, words, rows, row, apart, word = place
    letters, shifts = queries
    for i in range(depth):
        at = row + i * apart
        if live[i] and at < rows:
            live[i] &= _far(text, plane_words, words, letters, shifts, letter, at, word)


@cuda.jit(device=True)
def _search(bits, depth, text, place, tile, thread, queries, codes, step, live, counters):
    """Count one query; `live` is then where it is within k and its exact letters match."""
    begin, unseen, counted, exact, required, end = step
    for g in range(begin, unseen):
        _count_staged(bits, depth, tile, thread, codes[g], live, counters)
    g = unseen
    while g < counted and any_live(depth, live):
        _count_staged(bits, depth, tile, thread, codes[g], live, counters)
        g += 1
    while g < exact and any_live(depth, live):
        _count_far(bits, depth, text, place, queries, 4 * g, live, counters)
        g += 1
    g = exact
    while g < required and any_live(depth, live):
        _require_staged(depth, tile, thread, codes[g], live)
        g += 1
    letter = 4 * required
    while letter < 4 * end and any_live(depth, live):
        _require_far(depth, text, place, queries, letter, live)
        letter += 1


@cuda.jit(device=True)
def _collect(bits, depth, place, live, counters, first_count, rank, ranks, k, codes, found):
    """Append the codes of live lanes to `codes`; count on where it is full."""
    _, _, rows, row, apart, word = place
    many = 0
    for i in range(depth):
        live[i] = live[i] if row + i * apart < rows else NONE
        many += int(cuda.popc(live[i]))
    if many:
        to = reserve(found, 0, many)
        factor = ranks * (k + 1)
        for i in range(depth):
            left = live[i]
            code = (64 * word * rows + row + i * apart) * factor + rank * (k + 1)
            while left:
                bit = lowest(left)
                left &= left - ONE
                if to < len(codes):
                    distance = mismatches(bits, counters, i, bit, first_count)
                    codes[to] = code + bit * rows * factor + distance
                to += 1


@cache
def make_scan(bits, tile_words, depth, grain):
    """The kernel for counters of `bits` bits and a Tile; grain: see `copy_tile`."""
    counter_words = depth * bits
    apart = THREADS // tile_words  # rows between two rows of a thread
    block_rows = apart * depth

    @cuda.jit(cache=True)
    def kernel(text, shape, letters, shifts, groups, steps, k, codes, found):
        words, rows, plane_rows, planes, tile_rows, ones = shape
        plane_words = plane_rows * words
        tile = cuda.shared.array(0, uint64)
        live = cuda.local.array(depth, uint64)
        counters = cuda.local.array(counter_words, uint64)
        across = (words + tile_words - 1) // tile_words
        thread = cuda.threadIdx.x
        band = cuda.blockIdx.x // across
        left = (cuda.blockIdx.x - band * across) * tile_words
        word = left + thread % tile_words
        row = band * block_rows
        for i in range(thread, ones, THREADS):
            tile[uint64(i)] = ALL
        text_place = (plane_words, words, row, plane_rows, left)
        size = (planes, tile_rows, tile_words)
        copy_tile(grain, text, text_place, size, thread, THREADS, tile, ones)
        finish_copies(grain)
        cuda.syncthreads()
        row += thread // tile_words
        if word >= words or row >= rows:
            return
        place = (plane_words, words, rows, row, apart, word)
        first_count = (1 << bits) - (k + 1)
        for q in range(len(steps)):
            for i in range(depth):
                clear(bits, live, counters, i, first_count)
            s = steps[q]
            step = (s[0], s[1], s[2], s[3], s[4], s[5])
            queries = (letters, shifts)
            _search(
                bits, depth, text, place, tile, uint64(thread), queries, groups, step, live,
                counters,
            )  # fmt: skip
            if any_live(depth, live):
                _collect(
                    bits, depth, place, live, counters, first_count, q, len(steps), k, codes, found,
                )  # fmt: skip

    return kernel


class Queries(NamedTuple):
    """Queries on the GPU: their plan, and its arrays there."""

    plan: QueryPlan
    k: int
    arrays: tuple


def upload(letters, shifts, bounds, k, stream):
    """The Queries for QueryArrays, to be searched within k."""
    plan = plan_queries(letters, shifts, bounds, k)
    arrays = (plan.letters, plan.shifts, plan.codes, plan.steps)
    return Queries(plan, k, tuple(on_device(array, stream) for array in arrays))


def scan(text, words, rows, plane_words, queries, codes, found, stream):
    """Find every window within k mismatches of each query.

    text: uint64, the planes of a chunk as `kmatch.engine.geometry` lays them out; queries: Queries;
    codes: int64[c], receives hit codes in any order; found: int64[1], 0 before, counts the hits,
    which may be more than the c that found room. All arrays are on the GPU.
    """
    plan = queries.plan
    kernel = make_scan(plan.bits, plan.tile.words, plan.tile.depth, background_grain(words))
    blocks = -(-words // plan.tile.words) * -(-rows // plan.tile.rows)
    shape = (words, rows, plane_words // words, plan.planes, plan.tile_rows, plan.ones)
    launch = kernel[blocks, THREADS, stream, plan.shared_bytes]
    launch(text, shape, *queries.arrays, queries.k, codes, found)
