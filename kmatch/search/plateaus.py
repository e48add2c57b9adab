"""Minima of D[m, ·] among ends, and the hits that stand for chains of overlapping ones."""

from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from kmatch.arrays import Bytes, Longs, Table, Triple
from kmatch.jit.entries import entry
from kmatch.results.batches import HitBatch

FOREVER = np.iinfo(np.int64).max
# Of each query: the ends of its plateau and its D, whether there is one, and whether D was higher
# before.
PLATEAU = np.dtype([(name, np.int64) for name in ("first", "last", "height", "is_open", "fell")])


def chains(hits: HitBatch, place: Table) -> tuple[Longs, Table]:
    """The hits that stand for chains of overlapping ones of a pattern and strand, by number, and
    their coordinates.

    place: int64[4, n], where each hit starts, where the chain that it stands for begins and ends,
    and its anchored end. The smallest distance stands for a chain, then the smallest start, end and
    anchor, in this order, on the strand `-` the largest end, start and anchor. Beside PAMs of
    several lengths hits may have both ends in common, never their anchors.
    """
    query = 2 * hits.pattern.astype(np.int64) + hits.minus
    rows = np.lexsort((place[1], query))
    query, turned, distance = query[rows], hits.minus[rows] != 0, hits.distance[rows]
    place = place[:, rows]
    start, first, reach, anchor = place
    apart = query * (int(reach.max()) - int(first.min()) + 1)  # a line of its own for each query
    begins = first[1:] + apart[1:] >= np.maximum.accumulate(reach + apart)[:-1]
    at, chain = np.flatnonzero(np.append(True, begins)), np.append(0, np.cumsum(begins))
    end, best = start + (hits.end - hits.start)[rows], np.ones(len(rows), np.bool_)
    pairs = (start, -end), (end, -start), (anchor, -anchor)
    for key in (distance, *(np.where(turned, back, ahead) for ahead, back in pairs)):
        key = np.where(best, key, np.int64(FOREVER))
        best = key == np.minimum.reduceat(key, at)[chain]
    place = place[:, best]
    place[1:3] = first[at], np.maximum.reduceat(reach, at)
    return rows[best], place


PlateauArray = Annotated[NDArray[Any], PLATEAU]
feed_plateaus = entry(
    "kmatch.search.kernels:feed_plateaus",
    tuple[Bytes, PlateauArray, Triple, tuple[int, int], Table],
)


class Plateaus:
    """The plateau of D[m, ·] that each query is on.

    A plateau is a run of neighbouring ends of one distance. It is a minimum when D is higher, or
    not within k, on both of its sides; its last end in reading direction stands for it, which is
    the first in the text for a query that reads backward.
    """

    def __init__(self, backward: Bytes) -> None:
        self._backward, self._plateaus = backward, np.zeros(len(backward), PLATEAU)

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
        found = np.empty((3, len(query) + len(self._backward)), np.int64)
        search, ends = (self._backward, self._plateaus), (query, coordinate, distance)
        stops = forward_end, backward_end
        return found[:, : feed_plateaus(*search, ends, stops, found)]

    def undecided(self) -> Longs:
        """Where the ends are of plateaus that may be minima of backward queries, coordinates."""
        plateaus = self._plateaus
        may = plateaus["is_open"] & plateaus["fell"] & self._backward
        first: Longs = plateaus["first"][may != 0]
        return first
