"""Minima of D[m, ·] among ends, and rows of hits that wait, in compiled code."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kmatch.arrays import Bytes, Longs
from kmatch.engine.types import Traced
from kmatch.engine.workers import Workers, fetch_add, next_item, slabs
from kmatch.jit import kernel
from kmatch.search.codes import last_at, next_at

# A hit: its coordinates, those of the chain of minima that it stands for, that of its anchored end,
# its number of columns, and the number of its chunk.
_FIELDS = "start end first reach query distance anchor size source"
ROW = np.dtype([(name, np.int64) for name in _FIELDS.split()])
RowArray = NDArray[Any]  # of ROW
NO_ROWS: RowArray = np.zeros(0, ROW)
KEY_BITS = 62
FOREVER = np.iinfo(np.int64).max
STAGED = 256  # minima that a thread puts at a time
SLABS = 16  # of ends for which a further thread pays, as each looks at all of them


# 32 bytes: threads that take neighbouring queries write to one cache line at the most.
PLATEAU = np.dtype(
    {
        "names": ["first", "last", "height", "is_open", "fell"],
        "formats": [np.int64, np.int64, np.int64, np.uint8, np.uint8],
        "itemsize": 32,
    }
)


def make_rows(number: int, base: int, ends: tuple[Longs, Longs, Longs], traced: Traced) -> RowArray:
    """Rows, ROW[n], of the ends in chunk `number`, whose first letter has the coordinate `base`.

    ends: (position, query, distance), int64[n] each, anchored ends; traced: their Traced.
    """
    rows = np.empty(len(traced.other), ROW)
    _fill_rows(rows, number, base, ends, traced)
    return rows


@kernel
def _fill_rows(rows, number, base, ends, traced):
    position, query, distance = ends
    other, size = traced
    for i in range(len(rows)):
        row = rows[i]
        row["start"] = row["first"] = base + min(position[i], other[i])
        row["end"] = row["reach"] = base + max(position[i], other[i]) + 1
        row["query"], row["distance"] = query[i], distance[i]
        row["anchor"], row["size"], row["source"] = base + position[i], size[i], number


def join_rows(*parts: RowArray) -> RowArray:
    """The rows of all parts; the only one that has any is returned itself."""
    filled = [rows for rows in parts if len(rows)]
    if len(filled) > 1:  # as numbers: NumPy copies records field by field
        return np.concatenate([rows.view(np.int64) for rows in filled]).view(ROW)
    return filled[0] if filled else NO_ROWS


def split_rows(rows: RowArray, coordinate: int) -> tuple[RowArray, RowArray]:
    """(rows that start before a coordinate, those that do not), in their order."""
    before, behind = np.empty(len(rows), ROW), np.empty(len(rows), ROW)
    count = _split_rows(rows, coordinate, before, behind)
    return before[:count], behind[: len(rows) - count]


@kernel
def _split_rows(rows, coordinate, before, behind):
    count = 0
    for i in range(len(rows)):
        if rows[i]["start"] < coordinate:
            before[count] = rows[i]
            count += 1
        else:
            behind[i - count] = rows[i]
    return count


def in_order(rows: RowArray, queries: int) -> RowArray:
    """The rows sorted by start, end and query, equal ones as they come; queries: how many there
    are."""
    if not len(rows):
        return rows
    start, length = rows["start"], rows["end"] - rows["start"]
    first, longest = int(start.min()), int(length.max()) + 1
    if (int(start.max()) - first + 1) * longest * queries >= 1 << KEY_BITS:
        return rows[np.lexsort((rows["query"], rows["end"], rows["start"]))]
    keys = ((start - first) * longest + length) * queries + rows["query"]
    return rows[np.argsort(keys, kind="stable")]


def by_source(rows: RowArray) -> list[RowArray]:
    """The rows in stretches, each of one chunk."""
    if not len(rows):
        return []
    source = rows["source"]
    cuts = np.flatnonzero(source[1:] != source[:-1]) + 1
    return np.split(rows, cuts)


@kernel
def fill_columns(rows, base, spans, panel, intervals, kinds):
    """Columns of hits from rows of one chunk, whose first letter has the coordinate `base`.

    spans: (begins, lengths) of its records; panel: (pattern int32, minus uint8), by query;
    intervals: (record, start, end), int64[n], and kinds: (pattern int32, distance int32, minus
    uint8), [n] each, filled here. `record` counts from the first of the spans.
    """
    begins = spans[0]
    record, start, end = intervals
    pattern, distance, minus = kinds
    span = last_at(begins, rows[0]["anchor"] - base)
    for i in range(len(rows)):
        row = rows[i]
        position = row["anchor"] - base
        span = next_at(begins, position, span)
        while begins[span] > position:
            span -= 1
        record[i] = span
        start[i] = row["start"] - base - begins[span]
        end[i] = row["end"] - base - begins[span]
        pattern[i], minus[i] = panel[0][row["query"]], panel[1][row["query"]]
        distance[i] = row["distance"]


class State(NamedTuple):
    """The plateau of each query.

    backward: uint8[Q]; plateaus: PLATEAU[Q]: `first`, `last` and `height`, its ends and its D;
    `is_open`, whether there is one; `fell`, whether D was higher before.
    """

    backward: np.ndarray
    plateaus: np.ndarray


class Plateaus:
    """The plateau of D[m, ·] that each query is on.

    A plateau is a run of neighbouring ends of one distance. It is a minimum when D is higher, or
    not within k, on both of its sides; its last end in reading direction stands for it, which is
    the first in the text for a query that reads backward.
    """

    def __init__(self, backward: Bytes, workers: Workers) -> None:
        self._workers = workers
        self._state = State(backward, np.zeros(len(backward), PLATEAU))

    def feed(
        self,
        query: Longs,
        coordinate: Longs,
        distance: Longs,
        forward_end: int = FOREVER,
        backward_end: int = FOREVER,
    ) -> Longs:
        """Take ends, sorted by coordinate; give the minima now certain, in the same form and in any
        order.

        query, coordinate, distance: int64[n]; all ends before forward_end, or backward_end for a
        query that reads backward, have then been seen.
        """
        state = self._state
        out = np.empty((3, len(query) + len(state.backward)), np.int64)
        count = np.zeros(1, np.int64)
        if len(query):
            groups = min(self._workers.threads, 1 + slabs(len(query)) // SLABS)
            self._workers.run(_feed, groups, state, query, coordinate, distance, out, count)
        _close(state, forward_end, backward_end, out, count)
        return out[:, : count[0]]

    def undecided(self) -> tuple[Longs, Longs, Longs]:
        """Backward queries on a plateau that may be a minimum, as (query, coordinate, distance)."""
        backward, plateaus = self._state
        queries = np.flatnonzero(plateaus["is_open"] & plateaus["fell"] & backward)
        return queries, plateaus["first"][queries], plateaus["height"][queries]


@kernel
def _stage(staged, filled, out, count, state, q):
    """Stage a minimum behind `filled` others; returns how many are staged then."""
    if filled == STAGED:
        _put(staged, filled, out, count)
        filled = 0
    plateau = state.plateaus[q]
    staged[0, filled] = q
    staged[1, filled] = plateau.first if state.backward[q] else plateau.last
    staged[2, filled] = plateau.height
    return filled + 1


@kernel
def _put(staged, filled, out, count):
    """Put minima in `out`, which has count[0]: many at once, as all threads count there."""
    at = fetch_add(count, 0, filled)
    for i in range(3):
        for j in range(filled):
            out[i, at + j] = staged[i, j]


@kernel
def _feed(work, state, query, coordinate, distance, out, count):
    """Take ends; each item of work takes those of as many queries, which no other item looks at."""
    groups, queries = work[1], len(state.plateaus)
    while True:
        group = next_item(work)
        if group < 0:
            return
        begin, end = group * queries // groups, (group + 1) * queries // groups
        _feed_some(begin, end, state, query, coordinate, distance, out, count)


@kernel
def _feed_some(begin, end, state, query, coordinate, distance, out, count):
    """Take the ends of the queries begin … end−1."""
    staged, filled = np.empty((3, STAGED), np.int64), 0
    for i in range(len(query)):
        q = query[i]
        if q < begin or q >= end:
            continue
        at, d, plateau = coordinate[i], distance[i], state.plateaus[q]
        beside = plateau.is_open and plateau.last + 1 == at
        if beside and d == plateau.height:
            plateau.last = at
            continue
        if plateau.is_open and plateau.fell and not (beside and d < plateau.height):
            filled = _stage(staged, filled, out, count, state, q)
        plateau.fell = not (beside and d > plateau.height)
        plateau.is_open, plateau.first, plateau.last, plateau.height = 1, at, at, d
    _put(staged, filled, out, count)


@kernel
def _close(state, forward_end, backward_end, out, count):
    """Close the plateaus that no further end can touch."""
    staged, filled = np.empty((3, STAGED), np.int64), 0
    for q in range(len(state.plateaus)):
        plateau = state.plateaus[q]
        behind = plateau.last + 1
        if plateau.is_open and behind < (backward_end if state.backward[q] else forward_end):
            plateau.is_open = 0
            if plateau.fell:
                filled = _stage(staged, filled, out, count, state, q)
    _put(staged, filled, out, count)


class Chains(NamedTuple):
    """n chains of hits, int64[n] each, sorted by query and first.

    query; first, reach: where a chain begins and ends; start, end, distance, anchor: the hit that
    stands for it: of the smallest distance, then of the smallest start, end and anchor, in this
    order, on the strand `-` of the largest end, start and anchor. Beside PAMs of several lengths
    hits may have both ends in common, never their anchors.
    """

    query: np.ndarray
    first: np.ndarray
    reach: np.ndarray
    start: np.ndarray
    end: np.ndarray
    distance: np.ndarray
    anchor: np.ndarray


@kernel
def _stands_before(minus, chains, i, j):
    start, end, distance = chains.start, chains.end, chains.distance
    if distance[i] != distance[j]:
        return distance[i] < distance[j]
    if minus:
        i, j, start, end = j, i, end, start
    if start[i] != start[j]:
        return start[i] < start[j]
    if end[i] != end[j]:
        return end[i] < end[j]
    return chains.anchor[i] < chains.anchor[j]


@kernel
def join_chains(minus, chains, standing):
    """Join chains of overlapping hits of a query.

    minus: uint8[Q], whether a query is on the strand `-`; chains: Chains; standing: bool[n],
    receives which hit stands for a chain. Where chains overlap, first and reach of that hit receive
    those of the joint chain.
    """
    query, first, reach = chains.query, chains.first, chains.reach
    begin = 0
    while begin < len(query):
        best, furthest, stop = begin, reach[begin], begin + 1
        while stop < len(query) and query[stop] == query[begin] and first[stop] < furthest:
            furthest = max(furthest, reach[stop])
            if _stands_before(minus[query[begin]], chains, stop, best):
                best = stop
            stop += 1
        standing[begin:stop] = False
        standing[best] = True
        first[best], reach[best] = first[begin], furthest
        begin = stop
