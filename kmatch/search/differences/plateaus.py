"""Minima of D[m, ·] among the ends of a search, found as the text is read."""

from typing import NamedTuple

import numpy as np

from kmatch.arrays import Bytes, Longs
from kmatch.engine.host.sharing import fetch_add, next_item, slabs
from kmatch.engine.host.workers import Workers
from kmatch.jit import kernel

FOREVER = np.iinfo(np.int64).max
NOWHERE = -1  # before every place
NO_PLATEAU = -1  # in place of a distance
STAGED = 256  # minima that a thread puts at a time
SLABS = 16  # of ends for which a further thread pays, as each looks at all of them
AT_LEFT, AT_RIGHT = 1, 2  # the borders of a shard that a plateau touches, as bits


class State(NamedTuple):
    """The plateau of each query, [Q] each.

    backward: uint8; is_open: uint8, whether there is one; fell: uint8, whether D was higher before;
    first, last, height: int64, its ends and its D; touched: uint8, the borders of a shard that it
    touches.
    borders: int64[2], the first place of a shard and the one behind its last, or NOWHERE and
    FOREVER; edges: int64[3, Q], D of the plateaus at either, NO_PLATEAU where there is none, and
    whether D was higher before the latter, 2 where that begins at the former.
    """

    backward: np.ndarray
    is_open: np.ndarray
    fell: np.ndarray
    first: np.ndarray
    last: np.ndarray
    height: np.ndarray
    touched: np.ndarray
    borders: np.ndarray
    edges: np.ndarray


class Plateaus:
    """The plateau of D[m, ·] that each query is on.

    A plateau is a run of neighbouring ends of one distance. It is a minimum when D is higher, or
    not within k, on both of its sides; its last end in reading direction stands for it, which is
    the first in the text for a query that reads backward.
    """

    def __init__(self, backward: Bytes, workers: Workers) -> None:
        self._workers = workers
        queries = len(backward)
        flags, numbers = np.zeros((3, queries), np.uint8), np.zeros((3, queries), np.int64)
        borders = np.array([NOWHERE, FOREVER], np.int64)
        self.edges = np.full((3, queries), NO_PLATEAU, np.int64)
        is_open, fell, touched = flags
        first, last, height = numbers
        plateaus = (first, last, height, touched, borders, self.edges)
        self._state = State(backward, is_open, fell, *plateaus)

    def lie_between(self, left: int, right: int) -> None:
        """Take note of the borders of a shard: places, or NOWHERE and FOREVER."""
        self._state.borders[:] = left, right

    def feed(
        self,
        query: Longs,
        coordinate: Longs,
        distance: Longs,
        forward_end: int = FOREVER,
        backward_end: int = FOREVER,
    ) -> Longs:
        """Take ends, sorted by coordinate; give the minima now certain, in the same form and in any
        order, and the borders that their plateaus touch, which only another shard makes certain.

        query, coordinate, distance: int64[n]; all ends before forward_end, or backward_end for a
        query that reads backward, have then been seen.
        """
        state = self._state
        out = np.empty((4, len(query) + len(state.backward)), np.int64)
        count = np.zeros(1, np.int64)
        if len(query):
            groups = min(self._workers.threads, 1 + slabs(len(query)) // SLABS)
            self._workers.run(_feed, groups, state, query, coordinate, distance, out, count)
        _close(state, forward_end, backward_end, out, count)
        return out[:, : count[0]]

    def undecided(self) -> tuple[Longs, Longs, Longs]:
        """Backward queries on a plateau that may be a minimum, as (query, coordinate, distance)."""
        state = self._state
        queries = np.flatnonzero(state.is_open & state.fell & state.backward)
        return queries, state.first[queries], state.height[queries]


@kernel
def _stage(staged, filled, out, count, state, q):
    """Stage a minimum behind `filled` others; returns how many are staged then."""
    if filled == STAGED:
        _put(staged, filled, out, count)
        filled = 0
    staged[0, filled] = q
    staged[1, filled] = state.first[q] if state.backward[q] else state.last[q]
    staged[2, filled], staged[3, filled] = state.height[q], state.touched[q]
    return filled + 1


@kernel
def _put(staged, filled, out, count):
    """Put minima in `out`, which has count[0]: many at once, as all threads count there."""
    at = fetch_add(count, 0, filled)
    for i in range(4):
        for j in range(filled):
            out[i, at + j] = staged[i, j]


@kernel
def _feed(work, state, query, coordinate, distance, out, count):
    """Take ends; each item of work takes those of as many queries, which no other item looks at."""
    groups, queries = work[1], len(state.is_open)
    while True:
        group = next_item(work)
        if group < 0:
            return
        begin, end = group * queries // groups, (group + 1) * queries // groups
        _feed_some(begin, end, state, query, coordinate, distance, out, count)


@kernel
def _feed_some(begin, end, state, query, coordinate, distance, out, count):
    """Take the ends of the queries begin … end−1."""
    _, is_open, fell, first, last, height, touched, borders, edges = state
    staged, filled = np.empty((4, STAGED), np.int64), 0
    for i in range(len(query)):
        q, at, d = query[i], coordinate[i], distance[i]
        if q < begin or q >= end:
            continue
        beside = is_open[q] and last[q] + 1 == at
        if beside and d == height[q]:
            last[q] = at
            continue
        if is_open[q] and fell[q] and not (beside and d < height[q]):
            filled = _stage(staged, filled, out, count, state, q)
        fell[q] = not (beside and d > height[q])
        is_open[q], first[q], last[q], height[q] = 1, at, at, d
        touched[q] = 0
        if at == borders[0]:
            touched[q], edges[0, q] = AT_LEFT, d
    _put(staged, filled, out, count)


@kernel
def _close(state, forward_end, backward_end, out, count):
    """Close the plateaus that no further end can touch."""
    backward, is_open, fell, _, last, height, touched, borders, edges = state
    staged, filled = np.empty((4, STAGED), np.int64), 0
    for q in range(len(is_open)):
        if is_open[q] and last[q] + 1 < (backward_end if backward[q] else forward_end):
            is_open[q] = 0
            if last[q] + 1 == borders[1]:
                edges[1, q], edges[2, q] = height[q], 2 if touched[q] else fell[q]
                touched[q] |= AT_RIGHT
            if fell[q]:
                filled = _stage(staged, filled, out, count, state, q)
    _put(staged, filled, out, count)


class Chains(NamedTuple):
    """n chains of hits, int64[n] each, sorted by query and first.

    query; first, reach: where a chain begins and ends; start, end, distance: the hit that stands
    for it: the one of the smallest distance, then of the smallest start, then of the smallest end,
    or for a query that reads backward of the largest end, then of the largest start.
    """

    query: np.ndarray
    first: np.ndarray
    reach: np.ndarray
    start: np.ndarray
    end: np.ndarray
    distance: np.ndarray


@kernel
def _stands_before(backward, chains, i, j):
    start, end, distance = chains.start, chains.end, chains.distance
    if distance[i] != distance[j]:
        return distance[i] < distance[j]
    if backward:
        return end[i] > end[j] or (end[i] == end[j] and start[i] > start[j])
    return start[i] < start[j] or (start[i] == start[j] and end[i] < end[j])


@kernel
def join_chains(backward, chains, standing):
    """Join chains of overlapping hits of a query.

    backward: uint8[Q]; chains: Chains; standing: bool[n], receives which hit stands for a chain.
    Where chains overlap, first and reach of that hit receive those of the joint chain.
    """
    query, first, reach = chains.query, chains.first, chains.reach
    begin = 0
    while begin < len(query):
        best, furthest, stop = begin, reach[begin], begin + 1
        while stop < len(query) and query[stop] == query[begin] and first[stop] < furthest:
            furthest = max(furthest, reach[stop])
            if _stands_before(backward[query[begin]], chains, stop, best):
                best = stop
            stop += 1
        standing[begin:stop] = False
        standing[best] = True
        first[best], reach[best] = first[begin], furthest
        begin = stop
