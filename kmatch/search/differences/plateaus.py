"""Minima of D[m, ·] among the ends of a search, told while the text goes by."""

import numpy as np

from kmatch.jit import kernel

FOREVER = np.iinfo(np.int64).max


class Plateaus:
    """The plateau of D[m, ·] that each query is on.

    A plateau is a run of neighbouring ends of one distance. It is a minimum when D is higher, or
    not within k, on both of its sides; its last end in reading direction stands for it, which is
    the first in the text for a query that reads backward.
    """

    def __init__(self, backward):
        queries = len(backward)
        self._backward = backward
        self._open = np.zeros(queries, np.uint8)
        self._fell = np.zeros(queries, np.uint8)  # D was higher before
        self._first = np.zeros(queries, np.int64)
        self._last = np.zeros(queries, np.int64)
        self._distance = np.zeros(queries, np.int64)

    def feed(self, query, place, distance, forward_end=FOREVER, backward_end=FOREVER):
        """Take ends, sorted by place; give the minima that are now certain, in the same form.

        query, place, distance: int64[n]; all ends before forward_end, or backward_end for a query
        that reads backward, have then been seen.
        """
        room = len(query) + len(self._open)
        out = np.empty((3, room), np.int64)
        state = (self._open, self._fell, self._first, self._last, self._distance)
        count = _feed(*state, self._backward, query, place, distance, out)
        count = _close(*state, self._backward, forward_end, backward_end, out, count)
        return out[:, :count]

    def undecided(self):
        """Backward queries on a plateau that may be a minimum, as (query, place, distance)."""
        queries = np.flatnonzero(self._open & self._fell & self._backward)
        return queries, self._first[queries], self._distance[queries]


@kernel
def _put(out, count, query, place, distance):
    out[0, count], out[1, count], out[2, count] = query, place, distance
    return count + 1


@kernel
def _feed(is_open, fell, first, last, height, backward, query, place, distance, out):
    count = 0
    for i in range(len(query)):
        q, at, d = query[i], place[i], distance[i]
        beside = is_open[q] and last[q] + 1 == at
        if beside and d == height[q]:
            last[q] = at
            continue
        if is_open[q] and fell[q] and not (beside and d < height[q]):
            count = _put(out, count, q, first[q] if backward[q] else last[q], height[q])
        fell[q] = not (beside and d > height[q])
        is_open[q], first[q], last[q], height[q] = 1, at, at, d
    return count


@kernel
def _close(is_open, fell, first, last, height, backward, forward_end, backward_end, out, count):
    """End the plateaus that no further end can touch."""
    for q in range(len(is_open)):
        if is_open[q] and last[q] + 1 < (backward_end if backward[q] else forward_end):
            is_open[q] = 0
            if fell[q]:
                count = _put(out, count, q, first[q] if backward[q] else last[q], height[q])
    return count


@kernel
def _stands_before(backward, distance, start, end, i, j):
    if distance[i] != distance[j]:
        return distance[i] < distance[j]
    if backward:
        return end[i] > end[j] or (end[i] == end[j] and start[i] > start[j])
    return start[i] < start[j] or (start[i] == start[j] and end[i] < end[j])


@kernel
def join_chains(backward, query, first, reach, start, end, distance, standing):
    """Join chains of overlapping hits of a query.

    backward: uint8[Q]; query, first, reach: int64[n], chains from first to reach, sorted by query
    and first; start, end, distance: int64[n], the hit that stands for each: the one of the smallest
    distance, then of the smallest start, then of the smallest end, or for a query that reads
    backward of the largest end, then of the largest start. Where chains overlap, first and reach
    receive those of the joint chain; standing: bool[n], receives which hit stands for it.
    """
    begin = 0
    while begin < len(query):
        best, furthest, stop = begin, reach[begin], begin + 1
        while stop < len(query) and query[stop] == query[begin] and first[stop] < furthest:
            furthest = max(furthest, reach[stop])
            if _stands_before(backward[query[begin]], distance, start, end, stop, best):
                best = stop
            stop += 1
        standing[begin:stop] = False
        standing[best] = True
        first[best], reach[best] = first[begin], furthest
        begin = stop
