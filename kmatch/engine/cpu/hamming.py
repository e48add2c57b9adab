"""k mismatches over striped bit planes."""

import numpy as np
from numba import njit, prange

from kmatch.engine.cpu.bits import trailing_zeros
from kmatch.engine.cpu.counters import (
    clear,
    first_sixteen,
    mismatches,
    new_state,
    next_four,
    next_sixteen,
    require,
)
from kmatch.engine.geometry import TILE
from kmatch.engine.queries import ALWAYS


@njit(cache=True, nogil=True)
def _match(text, words, plane_words, tile, letters, shifts, bounds, bits, first_count, at, state):
    """Run one query over one tile; False when no lane is within k."""
    counted, exact, end = bounds
    ones = len(text) - TILE
    i, live = counted, True
    if exact - counted < 16:
        clear(state, bits, first_count)
    while i < end:
        count = 16 if exact - i >= 16 else 4
        for j in range(count):
            plane = letters[i + j]
            at[j] = ones if plane == ALWAYS else plane * plane_words + tile + shifts[i + j] * words
        if i >= exact:
            live = require(text, at, state)
        elif count == 4:
            live = next_four(text, at, state, bits)
        elif i == counted:
            live = first_sixteen(text, at, state, bits, first_count)
        else:
            live = next_sixteen(text, at, state, bits)
        if not live:
            return False
        i += count
    return live


@njit(cache=True, nogil=True)
def _collect(state, bits, first_count, tile, words, rows, lanes, rank, ranks, span, found, keys):
    """Append the tile's hits to `keys`; count on where it is full. Returns the new count."""
    for w in range(min(TILE, rows * words - tile)):
        word = (tile + w) % words
        live = state[w] & lanes[word]
        while live:
            bit = trailing_zeros(live)
            live &= live - np.uint64(1)
            if found < len(keys):
                position = (64 * word + bit) * rows + (tile + w) // words
                distance = mismatches(state, bits, first_count, w, bit)
                keys[found] = (position * ranks + rank) * span + distance
            found += 1
    return found


@njit(cache=True, nogil=True)
def _scan_tiles(
    text, words, rows, plane_words, letters, shifts, bounds, k, lanes, first, last, keys
):
    bits = 1
    while (1 << bits) < k + 1:
        bits += 1
    first_count = (1 << bits) - (k + 1)
    state = new_state(bits)
    at = np.empty(16, np.int64)
    ranks = len(bounds)
    found = 0
    for tile in range(first, last, TILE):
        for q in range(ranks):
            query = (bounds[q, 0], bounds[q, 1], bounds[q, 2])
            if _match(
                text, words, plane_words, tile, letters, shifts, query, bits, first_count, at, state
            ):
                found = _collect(
                    state, bits, first_count, tile, words, rows, lanes, q, ranks, k + 1, found, keys
                )
    return found


@njit(cache=True, nogil=True, parallel=True)
def scan(text, words, rows, plane_words, letters, shifts, bounds, k, lanes, keys, counts):
    """Find every window within k mismatches of each query.

    text: uint64, the planes of a chunk as `kmatch.engine.geometry` lays them out;
    letters, shifts, bounds: QueryArrays; k: int, every counted letter of more than k mismatching
    ends a window; lanes: uint64[words], the lanes whose windows are wanted;
    keys: int64[T, c], task i writes its hits to keys[i], each as
    (position·Q + query)·(k+1) + distance; counts: int64[T], the hits a task found, which may be
    more than the c that found room: then nothing is lost, the caller comes again with more.
    """
    tasks = len(counts)
    tiles = -(-rows * words // TILE)
    for task in prange(tasks):
        first = tiles * task // tasks * TILE
        last = tiles * (task + 1) // tasks * TILE
        counts[task] = _scan_tiles(
            text,
            words,
            rows,
            plane_words,
            letters,
            shifts,
            bounds,
            k,
            lanes,
            first,
            last,
            keys[task],
        )
