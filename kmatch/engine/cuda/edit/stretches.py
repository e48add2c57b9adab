"""How a search for k differences is divided among blocks of threads."""

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from kmatch.arrays import Ints, Longs, Planes, bounds_of, gather
from kmatch.engine.cuda.edit.recurrence import COLUMNS, THREADS
from kmatch.engine.cuda.gpu.driver import multiprocessors
from kmatch.engine.geometry import Text
from kmatch.engine.queries import ReadingArrays

SHORT = 32  # letters of a pattern whose column stays in registers
STEP = 4  # the rows of short patterns are rounded up to a multiple of this
STRIP_ROWS = (24, 26, 28)  # rows of a strip of a longer pattern
BUSY = 6  # blocks that keep a multiprocessor busy, when short patterns are searched
BUSY_STRIPS = 4  # and when longer ones are
MOST = 24  # blocks of a multiprocessor at the most
MOST_QUERIES = 1 << 15  # of a launch: the second dimension of a grid ends at 65535


class Shape(NamedTuple):
    """A chunk and the work in it, as a kernel takes them.

    plane_words, words, rows: of a Text; halo: rows of the next lane that a lane repeats; planes:
    that are read; stretch: rows of a lane that a thread owns; queries, factor: see `Coding`.
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
    """Queries of the same number of rows, for texts of any length.

    rows: of a strip; strips: of a pattern; planes: of the text that are read; letters: int8[n,
    strips·rows], the plane of each letter, at the front letters that match everywhere and fill a
    pattern up; searches: int32[n, 5], the rank of a query, its length, whether the text is read
    downwards, its warm-up in columns and its limit; shared_bytes: of a block.
    """

    rows: int
    strips: int
    planes: int
    letters: Planes
    searches: Ints
    shared_bytes: int


class Division(NamedTuple):
    """How a text is divided for a SearchPlan.

    stretch: rows of a lane that a thread owns; blocks: of a query.
    """

    stretch: int
    blocks: int


def strips_of(length: int) -> tuple[int, int]:
    """(rows of a strip, strips) of a pattern."""
    if length <= SHORT:
        return -(-length // STEP) * STEP, 1
    # The fewest rows in all, and among equals the tallest strips.
    return min(((rows, -(-length // rows)) for rows in reversed(STRIP_ROWS)), key=math.prod)


def plan_searches(
    halo: int, reading: ReadingArrays, limits: Longs, chosen: Longs
) -> Iterator[SearchPlan]:
    """Yield the SearchPlans of the chosen queries, each within its limit; halo: of the texts."""
    planes = max(int(reading.letters.max()) + 1, 4)
    lengths, kind = np.unique(np.diff(reading.begins)[chosen], return_inverse=True)
    alike: dict[tuple[int, int], list[int]] = {}
    for number, length in enumerate(lengths.tolist()):
        alike.setdefault(strips_of(length), []).append(number)
    for (rows, strips), numbers in alike.items():
        queries = chosen[np.isin(kind, numbers)]
        for first in range(0, len(queries), MOST_QUERIES):
            part = queries[first : first + MOST_QUERIES]
            letters = _letters(rows * strips, planes, part, reading)
            searches = _searches(part, halo, reading, limits)
            shared_bytes = 8 * ((planes + 1) * COLUMNS * THREADS + rows)
            yield SearchPlan(rows, strips, planes, letters, searches, shared_bytes)


def _letters(rows: int, planes: int, queries: Longs, reading: ReadingArrays) -> Planes:
    """The plane of each letter, int8[n, rows]; in front the plane behind all others fills up."""
    lengths = np.diff(reading.begins)[queries]
    letters = gather(reading.letters, reading.begins[queries], bounds_of(lengths))
    filled = np.full((len(queries), rows), planes, np.int8)
    if (lengths == lengths[0]).all():
        filled[:, rows - lengths[0] :] = letters.reshape(len(queries), -1)
    else:
        filled[np.arange(rows) >= rows - lengths[:, None]] = letters
    return filled


def _searches(queries: Longs, halo: int, reading: ReadingArrays, limits: Longs) -> Ints:
    """See SearchPlan."""
    lengths, limits = np.diff(reading.begins)[queries], limits[queries]
    warm = np.minimum(halo, lengths + limits)
    columns = (queries, lengths, reading.backward[queries], warm, limits)
    return np.stack(columns, axis=1).astype(np.int32)


def divide(text: Text, plan: SearchPlan) -> Division:
    """The Division of a text for a SearchPlan."""
    across, warm = -(-text.words // THREADS), int(plan.searches[:, 3].max())
    stretch = _stretch(across * len(plan.searches), text.rows, warm, plan.strips)
    return Division(stretch, across * -(-text.rows // stretch))


def _stretch(blocks: int, lane_rows: int, warm: int, strips: int) -> int:
    """Rows of a stretch: short ones balance the work, long ones warm up less often.

    A multiprocessor with fewer than `busy` blocks finishes none of them sooner, and all wait for
    the last block for about the time that one takes.
    """
    processors, busy = multiprocessors(), BUSY if strips == 1 else BUSY_STRIPS
    stretches = np.arange(1, min(max(MOST * processors // blocks, 1), lane_rows) + 1)
    rows = -(-lane_rows // stretches)
    load = -(-blocks * -(-lane_rows // rows) // processors)
    return int(rows[np.argmin((np.maximum(load, busy) + 1) * (rows + warm))])
