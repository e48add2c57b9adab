"""How a search for k differences is cut into the work of blocks of threads."""

import math
from typing import NamedTuple

import numpy as np

from kmatch.engine.cuda.edit.recurrence import COLUMNS, THREADS
from kmatch.engine.cuda.gpu.driver import multiprocessors

SHORT = 32  # letters of a pattern whose column stays in registers
STEP = 4  # short patterns' rows are rounded up to a multiple of this
STRIP_ROWS = (24, 26, 28)  # rows of a strip of a longer pattern
BUSY = 6  # blocks that keep a multiprocessor busy, when short patterns are searched
BUSY_STRIPS = 4  # and when longer ones are
MOST = 24  # blocks that it is given at the most
MOST_QUERIES = 1 << 15  # of a launch: the second dimension of a grid ends at 65535


class Shape(NamedTuple):
    """What a search's kernel is told of a chunk and of the work.

    plane_words, words, rows: of a Text; halo: rows that a lane repeats of the next one; planes:
    those that are read; stretch: rows of a lane that a thread owns; queries, factor: see `Coding`.
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
    """Queries of the same number of rows, cut alike.

    rows: of a strip; strips: how many; planes: text planes that are read; letters: uint32[n,
    strips·rows], where a letter's plane is in shared memory, the first rows filled up with letters
    that match everywhere; searches: int32[n, 5], a query's rank, its length, whether the text is
    read downwards, its warm-up in columns and its limit; stretch: rows of a lane that a thread
    owns; blocks: for a query; shared_bytes: of a block.
    """

    rows: int
    strips: int
    planes: int
    letters: np.ndarray
    searches: np.ndarray
    stretch: int
    blocks: int
    shared_bytes: int


def _strips_of(length):
    """(rows of a strip, strips) for a pattern."""
    if length <= SHORT:
        return -(-length // STEP) * STEP, 1
    # Fewest rows in all; of these the widest strips.
    return min(((rows, -(-length // rows)) for rows in reversed(STRIP_ROWS)), key=math.prod)


def plan_searches(text, reading, limits, chosen):
    """The SearchPlans for the chosen queries of ReadingArrays, each within its limit.

    text: a Text of the chunks' layout.
    """
    halo = text.plane_words // text.words - text.rows
    planes = max(int(reading.letters.max()) + 1, 4)
    lengths, alike = np.diff(reading.begins), {}
    for query in chosen.tolist():
        alike.setdefault(_strips_of(int(lengths[query])), []).append(query)
    for (rows, strips), queries in alike.items():
        for first in range(0, len(queries), MOST_QUERIES):
            part = queries[first : first + MOST_QUERIES]
            letters = _letters(rows * strips, planes, part, reading)
            searches = _searches(part, halo, reading, limits)
            yield _plan(rows, strips, text, planes, letters, searches)


def _letters(rows, planes, queries, reading):
    """The planes of the queries' letters, int64[n, rows], filled up at the front with the plane
    behind all others."""
    letters = np.full((len(queries), rows), planes, np.int64)
    for i, query in enumerate(queries):
        own = reading.letters[reading.begins[query] : reading.begins[query + 1]]
        letters[i, rows - len(own) :] = own
    return letters


def _searches(queries, halo, reading, limits):
    """See SearchPlan."""
    lengths, limits = np.diff(reading.begins)[queries], limits[queries]
    warm = np.minimum(halo, lengths + limits)
    columns = (queries, lengths, reading.backward[queries], warm, limits)
    return np.stack(columns, axis=1).astype(np.int32)


def _plan(rows, strips, text, planes, letters, searches):
    across = -(-text.words // THREADS)
    busy = BUSY if strips == 1 else BUSY_STRIPS
    stretch = _stretch(across * len(searches), text.rows, int(searches[:, 3].max()), busy)
    return SearchPlan(
        rows,
        strips,
        planes,
        (letters * COLUMNS * THREADS).astype(np.uint32),
        searches,
        stretch,
        across * -(-text.rows // stretch),
        8 * ((planes + 1) * COLUMNS * THREADS + rows),
    )


def _stretch(blocks, lane_rows, warm, busy):
    """Rows of a stretch: short ones share out the work well, long ones warm up less often.

    With fewer than `busy` blocks a multiprocessor finishes none of them sooner, and the last of
    many blocks keeps all waiting for about the time of one.
    """
    processors = multiprocessors()
    stretches = np.arange(1, min(max(MOST * processors // blocks, 1), lane_rows) + 1)
    rows = -(-lane_rows // stretches)
    load = -(-blocks * -(-lane_rows // rows) // processors)
    return int(rows[np.argmin((np.maximum(load, busy) + 1) * (rows + warm))])
