"""Minima of D[m, ·] among ends, and the hits that stand for chains of overlapping ones: in records
and on circles, of which each is looked at as three turns in a row."""

from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from kmatch.arrays import Bools, Bytes, Ints, Longs, Table, Triple
from kmatch.jit.entries import entry

FOREVER = np.iinfo(np.int64).max
# Of each query: the ends of its plateau and its D, whether there is one, and whether D was higher
# before.
PLATEAU = np.dtype([(name, np.int64) for name in ("first", "last", "height", "is_open", "fell")])
_TURNS = np.arange(3)[:, None]  # of a circle: around the middle one is what lies around it

PlateauArray = Annotated[NDArray[Any], PLATEAU]
feed_plateaus = entry(
    "kmatch.engine.minima:feed_plateaus",
    tuple[Bytes, PlateauArray, int, Triple, int, Table],
)


class Plateaus:
    """The plateau of D[m, ·] that each query is on.

    A plateau is a run of neighbouring ends of one distance. It is a minimum when D is higher, or
    not within k, on both of its sides; its last end in reading direction stands for it, which is
    the first in the text for a query that reads backward. An end whose distance is `apart` too
    large is on a plateau before which, in reading direction, D is lower.
    """

    def __init__(self, backward: Bytes, apart: int = FOREVER) -> None:
        self._backward, self._plateaus = backward, np.zeros(len(backward), PLATEAU)
        self._apart = apart

    def feed(self, query: Longs, coordinate: Longs, distance: Longs, seen: int = FOREVER) -> Longs:
        """Take ends, sorted by coordinate; give the minima now certain, in the same form and in any
        order.

        query, coordinate, distance: int64[n]; all ends before `seen` have come then.
        """
        found = np.empty((3, len(query) + len(self._backward)), np.int64)
        search, ends = (self._backward, self._plateaus, self._apart), (query, coordinate, distance)
        return found[:, : feed_plateaus(*search, ends, seen, found)]

    def undecided(self) -> Longs:
        """Where the ends are of plateaus that may be minima of backward queries, coordinates."""
        plateaus = self._plateaus
        may = plateaus["is_open"] & plateaus["fell"] & self._backward
        first: Longs = plateaus["first"][may != 0]
        return first


def chains(
    query: Longs, turned: Bools, distance: Ints | Longs, place: Table
) -> tuple[Longs, Table]:
    """The hits that stand for chains of overlapping ones of a query, by number, and their
    coordinates.

    turned: bool[n], whether a hit is on the strand `-`; place: int64[5, n], where each hit starts
    and ends, its anchored end, and where the chain that it stands for begins and ends. The smallest
    distance stands for a chain, then the smallest start, end and anchor, in this order, on the
    strand `-` the largest end, start and anchor. Beside PAMs of several lengths hits may have both
    ends in common, never their anchors.
    """
    rows = np.lexsort((place[3], query))
    query, turned, distance, place = query[rows], turned[rows], distance[rows], place[:, rows]
    start, end, anchor, first, reach = place
    apart = query * (int(reach.max()) - int(first.min()) + 1)  # a line of its own for each query
    begins = first[1:] + apart[1:] >= np.maximum.accumulate(reach + apart)[:-1]
    at, chain = np.flatnonzero(np.append(True, begins)), np.append(0, np.cumsum(begins))
    best = np.ones(len(rows), np.bool_)
    pairs = (start, -end), (end, -start), (anchor, -anchor)
    for key in (distance, *(np.where(turned, back, ahead) for ahead, back in pairs)):
        key = np.where(best, key, np.int64(FOREVER))
        best = key == np.minimum.reduceat(key, at)[chain]
    place = place[:, best]
    place[3:] = first[at], np.maximum.reduceat(reach, at)
    return rows[best], place


def lowest_on_circles(group: Longs, place: Longs, distance: Longs, size: Longs) -> Bools:
    """Which ends stand for minima, bool[n].

    group, place: of each end, sorted, place being that on its circle of `size` letters in reading
    direction. A plateau all round the circle ends with the record.
    """
    turns = place + size * _TURNS
    thrice = np.tile(group, 3), turns.reshape(-1), np.tile(distance, 3)
    query, at, _ = Plateaus(np.zeros(group[-1] + 1, np.uint8)).feed(*thrice)
    across = 3 * int(size.max())
    low = np.isin(across * group + turns[1], across * query + at)
    return low | (place == size - 1) & ~np.isin(group, group[low])


def loci_on_circles(group: Longs, arcs: Table, distance: Longs, size: Longs) -> Longs:
    """The rows that stand for sets of overlapping hits of a group, as those of chains do.

    arcs: int64[3, n], where each hit begins on its circle of `size` letters, in reading direction,
    its letters, and those before its anchor. A set begins where no arc goes on; all round the
    circle it begins at the origin.
    """
    begin, length, before = arcs
    start, end, anchor = (
        (begin + more + size * _TURNS).reshape(-1) for more in (0, length, before)
    )
    place = np.stack([start, end, anchor, start, end])
    forward = np.zeros(len(start), np.bool_)
    rows, place = chains(np.tile(group, 3), forward, np.tile(distance, 3), place)
    rows %= len(group)
    own = place[3] // size[rows] == 1  # a set of the middle turn, of which no arc is left out
    whole = rows[~np.isin(group[rows], group[rows[own]])]  # in pieces, as the first turn has begun
    whole = whole[np.lexsort(np.stack([before, length, begin, distance, group])[:, whole])]
    return np.append(rows[own], whole[np.diff(group[whole], prepend=-1) > 0])
