"""Filter or full scan: an estimate of both, and a filter that gives up when too much survives."""

import numpy as np
from numba import prange

from kmatch.engine.cpu.blocks import profiles
from kmatch.engine.cpu.edit_tile import groups
from kmatch.engine.cpu.pieces import HASTE, cut, filter_stretch
from kmatch.jit import kernel, parallel_kernel

# Nanoseconds of one core, from measurements; only their ratios matter.
CELL = 0.0019  # a cell of the bit-sliced recurrence
COUNT = 0.0065  # counters and border, a text position
DEEPER = 6  # rows beyond the first group that are read in effect
AND = 0.0006  # a letter of a piece, a text position
LOOK = 0.003  # a piece, a text position
WINDOW = 60.0  # a window, apart from its columns
COLUMN = 11.0  # a column of a window, apart from its blocks
BLOCK = 2.0  # a block of 64 pattern letters of a column

SAMPLES = 64  # rows of a chunk from which the letters' frequencies are taken
STRETCH = 1 << 14  # words of a plane that all queries go over before the next: the L2 cache
FIRST_ROOM = 256  # keys a task has room for at first


@kernel
def _ones(word):
    word = word - ((word >> np.uint64(1)) & np.uint64(0x5555555555555555))
    pairs = np.uint64(0x3333333333333333)
    word = (word & pairs) + ((word >> np.uint64(2)) & pairs)
    word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int64((word * np.uint64(0x0101010101010101)) >> np.uint64(56))


@kernel
def frequencies(planes, words, plane_words, count):
    """Share of the chunk's positions in each of its first `count` planes, float64."""
    rows = plane_words // words
    every = max(1, rows // SAMPLES)
    looked = (rows + every - 1) // every
    shares = np.zeros(count)
    for plane in range(count):
        for row in range(0, rows, every):
            for word in range(words):
                shares[plane] += _ones(planes[plane * plane_words + row * words + word])
    return shares / (64 * words * looked)


@kernel
def estimate(letters, k, shares, rows):
    """Nanoseconds a position that a query takes, as (scan, pieces, survivors), and a survivor's."""
    m = letters.size
    depth = min(m, groups(m, k)[0] + DEEPER)
    warm = 1.0 + (m + k) / rows
    bounds = cut(m, k)
    survivors = ands = 0.0
    for piece in range(k + 1):
        chance = 1.0
        for i in range(bounds[piece], bounds[piece + 1]):
            chance *= shares[letters[i]]
        survivors += chance
        ands += min(bounds[piece + 1] - bounds[piece], HASTE + 1)
    window = WINDOW + (m + 3 * k) * (COLUMN + BLOCK * ((m + 63) // 64))
    scan = (depth * CELL + COUNT) * warm
    return scan, (ands * AND + (k + 1) * LOOK) * warm, survivors * window, window


@kernel
def choose(planes, words, rows, plane_words, letters, begins, limits, count, always):
    """How many survivors the filter is worth to each query, int64[Q]; 0 where the scan is faster.

    count: planes in use; always: filter whatever it costs.
    """
    shares = frequencies(planes, words, plane_words, count)
    budgets = np.zeros(len(limits), np.int64)
    for q in range(len(limits)):
        pattern = letters[begins[q] : begins[q + 1]]
        scan, pieces, survivors, window = estimate(pattern, limits[q], shares, rows)
        if always:
            budgets[q] = 1 << 40
        elif pieces + survivors < scan:
            budgets[q] = 64 + np.int64(64 * words * rows * scan / window)
    return budgets


@parallel_kernel
def filter_tasks(
    planes,
    words,
    rows,
    plane_words,
    letters,
    begins,
    backward,
    limits,
    k,
    profile,
    tasks,
    rooms,
    keys,
    found,
):
    """Filter stretches of queries in parallel.

    tasks: int64[T, 4], a task's query, its first word and the one behind its last among the own
    rows, and the survivors it may have; rooms: int64[T+1], task i may write to keys[rooms[i]] …
    keys[rooms[i+1]−1]; found: int64[T], the ends of a task, those without room among them, or −1
    where too much survived. Other arguments as for `scan_edit`; profile: see `profiles`.
    """
    table, tables = profile
    for i in prange(len(tasks)):
        query = tasks[i, 0]
        found[i] = filter_stretch(
            planes,
            (plane_words // words, words, rows),
            letters[begins[query] : begins[query + 1]],
            limits[query],
            -1 if backward[query] else 1,
            (table, tables[query]),
            (len(limits), query, k + 1),
            tasks[i, 1],
            tasks[i, 2],
            np.empty(tasks[i, 3], np.int64),
            keys[rooms[i] : rooms[i + 1]],
        )


def filter_edit(
    planes, words, rows, plane_words, letters, begins, backward, bases, limits, k, always, parts
):
    """The ends of those queries for which a filter is faster than a scan.

    bases: uint8, the bases of each plane; always: filter all queries; parts: tasks to make of a
    query. Other arguments as for `scan_edit`. Returns (keys, rest): keys, int64, sorted, as
    `scan_edit` gives them, and rest, int64, the queries that are left to scan, among them those of
    which too much survived.
    """
    count = len(bases)
    budgets = choose(planes, words, rows, plane_words, letters, begins, limits, count, always)
    chosen = np.flatnonzero(budgets)
    if not len(chosen):
        return np.zeros(0, np.int64), np.arange(len(limits))
    tasks = _tasks(chosen, budgets, words, rows, parts)
    profile = profiles(letters, begins, bases)
    kept, failed = [], []
    rooms = np.arange(len(tasks) + 1) * FIRST_ROOM
    while len(tasks):
        found = np.zeros(len(tasks), np.int64)
        keys = np.empty(rooms[-1], np.int64)
        filter_tasks(
            planes,
            words,
            rows,
            plane_words,
            letters,
            begins,
            backward,
            limits,
            k,
            profile,
            tasks,
            rooms,
            keys,
            found,
        )
        failed.append(tasks[found < 0, 0])
        again = found > np.diff(rooms)
        whole = np.flatnonzero(~again & (found > 0))
        kept += [keys[rooms[i] : rooms[i] + found[i]] for i in whole]
        tasks, rooms = tasks[again], np.concatenate([[0], np.cumsum(found[again])])
    # Stretches next to each other may both have given an end.
    keys = np.unique(np.concatenate([np.zeros(0, np.int64), *kept]))
    failed = np.unique(np.concatenate(failed))
    if len(failed):
        keys = keys[~np.isin(keys // (k + 1) % len(limits), failed)]
    return keys, np.union1d(np.flatnonzero(budgets == 0), failed)


def _tasks(chosen, budgets, words, rows, parts):
    """Stretches of the rows, each for one query after the other, so that it stays in the cache."""
    parts = max(parts, -(-rows * words // STRETCH))
    cuts = np.unique(np.arange(parts + 1) * rows // parts) * words
    first, last = np.repeat(cuts[:-1], len(chosen)), np.repeat(cuts[1:], len(chosen))
    query = np.tile(chosen, len(cuts) - 1)
    survivors = np.minimum(budgets[query], 4 * 64 * words * rows) * (last - first) // cuts[-1]
    return np.stack([query, first, last, survivors + 64], axis=1)
