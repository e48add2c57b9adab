"""k differences over striped bit planes: every anchored end within k, or the smallest distance."""

import numpy as np
from numba import prange

from kmatch.engine.cpu.edit_tile import search_tile
from kmatch.engine.cpu.vectors import WORDS
from kmatch.jit import kernel, parallel_kernel

WARM_SHARE = 8  # a stretch of rows is at least this many warm-ups long, where the text allows
STRETCH = 4096  # rows that all queries go over before the next: they stay in the L2 cache


@kernel
def _stretches(queries, tiles, rows, warm, tasks):
    """Parts of a tile's rows that are searched apart: short ones, and work for all tasks."""
    wanted = max(-(-tasks // max(queries * tiles, 1)), rows // STRETCH)
    return max(min(wanted, rows // (WARM_SHARE * warm)), 1)


@kernel
def _search(text, query, tile, stretch, stretches, reading, lanes, place, keys, tally, shrink):
    """Search a stretch of a tile's rows for one query; `tally` is (hits found, k)."""
    planes, words, rows, plane_words = text
    letters, begins, backward = reading
    halo = plane_words // words - rows
    first, last = rows * stretch // stretches, rows * (stretch + 1) // stretches
    pattern = letters[begins[query] : begins[query + 1]] * plane_words + tile * WORDS
    warm = min(halo, len(pattern) + tally[1])
    if backward[query]:
        row, step = last - 1 + warm, -1
    else:
        row, step = first + halo - warm, 1
    columns = warm + last - first
    search_tile(planes, words, pattern, row, step, warm, columns, place, lanes, keys, tally, shrink)


@kernel
def _scan_items(text, reading, limits, chosen, stretches, k, lanes, first, last, keys):
    rows, queries = text[2], len(limits)
    tally = np.zeros(2, np.int64)
    for item in range(first, last):
        query = chosen[item % len(chosen)]
        tile, stretch = divmod(item // len(chosen), stretches)
        place = (64 * WORDS * tile, rows, queries, query, k + 1)
        tally[1] = limits[query]
        _search(text, query, tile, stretch, stretches, reading, lanes, place, keys, tally, False)
    return tally[0]


@parallel_kernel
def scan_edit(
    planes,
    words,
    rows,
    plane_words,
    letters,
    begins,
    backward,
    limits,
    chosen,
    k,
    lanes,
    keys,
    found,
):
    """Find every anchored end of the chosen queries within their limits.

    planes, words, rows, plane_words: a chunk, words a multiple of WORDS; letters, begins, backward:
    ReadingArrays; limits: int64[Q], the k of each query, smaller than its length; chosen: int64,
    queries to search; k: the largest limit; lanes: uint64[words], the lanes whose ends are wanted;
    keys: int64[T, c], task i writes its ends to keys[i], each as
    (position·Q + query)·(k+1) + distance, position being that of the letter read last;
    found: int64[T], the ends of a task, which may be more than the c that found room.

    A query read upwards owns the positions halo … halo + 64·words·rows − 1: what lies before warms
    up the recurrence, so a genome begins with `halo` empty positions. One read downwards owns
    0 … 64·words·rows − 1. The halo is at least m + k of every query.
    """
    tasks, tiles = len(found), words // WORDS
    longest = 1
    for query in chosen:
        longest = max(longest, begins[query + 1] - begins[query] + limits[query])
    stretches = _stretches(len(chosen), tiles, rows, longest, tasks)
    items = tiles * stretches * len(chosen)
    for task in prange(tasks):
        first, last = items * task // tasks, items * (task + 1) // tasks
        found[task] = _scan_items(
            (planes, words, rows, plane_words),
            (letters, begins, backward),
            limits,
            chosen,
            stretches,
            k,
            lanes,
            first,
            last,
            keys[task],
        )


@kernel
def _lowest_of(text, reading, bounds, lanes, query, tile):
    tally = np.zeros(2, np.int64)
    tally[1] = bounds[query]
    if bounds[query] < 0:
        return bounds[query] + 1
    nowhere = np.empty(0, np.int64)
    place = (64 * WORDS * tile, text[2], len(bounds), query, 1)
    _search(text, query, tile, 0, 1, reading, lanes, place, nowhere, tally, True)
    return tally[1] if tally[0] else bounds[query] + 1


@parallel_kernel
def smallest_edit(planes, words, rows, plane_words, letters, begins, backward, bounds, lowest):
    """Find the smallest distance of each query in a chunk, where it is at most its bound.

    bounds: int64[Q], smaller than m, −1 where nothing is sought; lowest: int64[Q, words / WORDS],
    receives the smallest distance in each tile, or bound + 1. The halo is at least m + bound. Other
    arguments as for `scan_edit`.
    """
    tiles, queries = words // WORDS, len(bounds)
    lanes = np.full(words, np.uint64(0xFFFFFFFFFFFFFFFF))
    for item in prange(queries * tiles):
        query, tile = divmod(np.int64(item), tiles)
        lowest[query, tile] = _lowest_of(
            (planes, words, rows, plane_words),
            (letters, begins, backward),
            bounds,
            lanes,
            query,
            tile,
        )
