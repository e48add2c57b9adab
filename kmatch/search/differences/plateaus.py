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


# 32 bytes: threads that take neighbouring queries write to one cache line at the most.
PLATEAU = np.dtype(
    {
        "names": ["first", "last", "height", "is_open", "fell", "touched"],
        "formats": [np.int64, np.int64, np.int64, np.uint8, np.uint8, np.uint8],
        "itemsize": 32,
    }
)


class State(NamedTuple):
    """The plateau of each query.

    backward: uint8[Q]; plateaus: PLATEAU[Q]: `first`, `last` and `height`, its ends and its D;
    `is_open`, whether there is one; `fell`, whether D was higher before; `touched`, the borders of
    a shard that it touches.
    borders: int64[2], the first place of a shard and the one behind its last, or NOWHERE and
    FOREVER; edges: int64[3, Q], D of the plateaus at either, NO_PLATEAU where there is none, and
    whether D was higher before the latter, 2 where that begins at the former.
    """

    backward: np.ndarray
    plateaus: np.ndarray
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
        borders = np.array([NOWHERE, FOREVER], np.int64)
        self.edges = np.full((3, queries), NO_PLATEAU, np.int64)
        self._state = State(backward, np.zeros(queries, PLATEAU), borders, self.edges)

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
        backward, plateaus, *_ = self._state
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
    staged[2, filled], staged[3, filled] = plateau.height, plateau.touched
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
    staged, filled = np.empty((4, STAGED), np.int64), 0
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
        plateau.touched = 0
        if at == state.borders[0]:
            plateau.touched, state.edges[0, q] = AT_LEFT, d
    _put(staged, filled, out, count)


@kernel
def _close(state, forward_end, backward_end, out, count):
    """Close the plateaus that no further end can touch."""
    staged, filled = np.empty((4, STAGED), np.int64), 0
    for q in range(len(state.plateaus)):
        plateau = state.plateaus[q]
        behind = plateau.last + 1
        if plateau.is_open and behind < (backward_end if state.backward[q] else forward_end):
            plateau.is_open = 0
            if behind == state.borders[1]:
                state.edges[1, q] = plateau.height
                state.edges[2, q] = 2 if plateau.touched else plateau.fell
                plateau.touched |= AT_RIGHT
            if plateau.fell:
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
