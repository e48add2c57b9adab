"""How a search for k differences is cut into the work of blocks of threads."""

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


def shape(length):
    """(rows of a strip, strips) for a pattern."""
    if length <= SHORT:
        return -(-length // STEP) * STEP, 1
    # Fewest rows in all; of these the widest strips.
    return min(((rows, -(-length // rows)) for rows in reversed(STRIP_ROWS)), key=_all_rows)


def _all_rows(shape):
    rows, strips = shape
    return rows * strips


def plan_searches(words, lane_rows, halo, letters, begins, backward, limits, chosen):
    """The SearchPlans for the chosen queries of ReadingArrays, each within its limit."""
    shapes = {}
    for query in chosen.tolist():
        shapes.setdefault(shape(int(begins[query + 1] - begins[query])), []).append(query)
    for (rows, strips), queries in shapes.items():
        for first in range(0, len(queries), MOST_QUERIES):
            part = queries[first : first + MOST_QUERIES]
            reading = _reading(rows * strips, part, halo, letters, begins, backward, limits)
            yield _plan(rows, strips, words, lane_rows, *reading)


def _reading(rows, queries, halo, letters, begins, backward, limits):
    """Text planes that are read, the letters filled up to `rows`, and the searches."""
    planes = max(int(letters.max()) + 1, 4)
    filled = np.full((len(queries), rows), planes, np.int64)
    searches = np.zeros((len(queries), 5), np.int32)
    for i, query in enumerate(queries):
        length, limit = int(begins[query + 1] - begins[query]), int(limits[query])
        filled[i, rows - length :] = letters[begins[query] : begins[query + 1]]
        searches[i] = query, length, backward[query], min(halo, length + limit), limit
    return planes, filled, searches


def _plan(rows, strips, words, lane_rows, planes, letters, searches):
    across = -(-words // THREADS)
    busy = BUSY if strips == 1 else BUSY_STRIPS
    stretch = _stretch(across * len(searches), lane_rows, int(searches[:, 3].max()), busy)
    return SearchPlan(
        rows,
        strips,
        planes,
        (letters * COLUMNS * THREADS).astype(np.uint32),
        searches,
        stretch,
        across * -(-lane_rows // stretch),
        8 * ((planes + 1) * COLUMNS * THREADS + rows),
    )


def _stretch(blocks, lane_rows, warm, busy):
    """Rows of a stretch: short ones share out the work well, long ones warm up less often.

    A multiprocessor with fewer than `busy` blocks is done no sooner a block, and the last of many
    to be done keeps the others waiting for the time of about one.
    """
    processors = multiprocessors()
    stretches = np.arange(1, min(max(MOST * processors // blocks, 1), lane_rows) + 1)
    rows = -(-lane_rows // stretches)
    load = -(-blocks * -(-lane_rows // rows) // processors)
    return int(rows[np.argmin((np.maximum(load, busy) + 1) * (rows + warm))])
