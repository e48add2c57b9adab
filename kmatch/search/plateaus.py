"""Minima among ends, and the hits that stand for chains of overlapping ones.

With k = 3, the ends of a query that is read forward, where D[m, j] is the distance at position j:

    position j      2  3  4  5  6  7  8  9 10 11 12 13 14 15
    D[m, j]         3  3  3  2  1  0  1  2  3  4  3  2  2  3
    ends            3  3  3  2  1  0  1  2  3     3  2  2  3       within k
    plateaus       [3  3  3][2][1][0][1][2][3]   [3][2  2][3]      of one distance, side by side
    minima                         0                    2          lower than both neighbours
    their hits      [--------------]                               a locus: the smaller distance
                                [-----------------------]          stands for the chain of both

The last end of a plateau in reading direction stands for it.
"""

from dataclasses import dataclass, replace
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from kmatch.arrays import Bools, Bytes, Ints, Longs, Rows, Table, Triple, first_of_each, order_of
from kmatch.jit.entries import entry
from kmatch.search.ends import AnchoredEnds

FOREVER = np.iinfo(np.int64).max
# Of each query: the ends of its plateau and its D, whether there is one, and whether D was higher
# before.
PLATEAU = np.dtype(
    [
        ("first", np.int64),
        ("last", np.int64),
        ("height", np.int64),
        ("is_open", np.int64),
        ("fell", np.int64),
    ]
)

PlateauArray = Annotated[NDArray[Any], PLATEAU]
feed_plateaus = entry(
    "kmatch.engine.minima:feed_plateaus",
    tuple[Bytes, PlateauArray, int, Triple, int, Table],
)


class Plateaus:
    """The plateau of D[m, ·] that each query is on.

    A plateau is a run of neighbouring ends of one distance. It is a minimum where D is higher, or
    not within k, on both of its sides. Its last end in reading direction stands for it: the first
    one in the text for a query that is read backward.

    backward: uint8[Q], whether each query is; mark: the number added to the distance of an end on
    a plateau before which, in reading direction, D is lower (see `kmatch.engine.codes.marked`).
    """

    def __init__(self, backward: Bytes, mark: int = FOREVER) -> None:
        self._backward = backward
        self._mark = mark
        self._plateaus = np.zeros(len(backward), PLATEAU)

    def feed(self, ends: AnchoredEnds, seen: int = FOREVER) -> AnchoredEnds:
        """Take ends of each query in order; return minima that are certain then, in any order.

        seen: all ends before this coordinate have come then.
        """
        most = len(ends) + len(self._backward)
        room = np.empty((3, most), np.int64)
        columns = ends.query, ends.coordinate, ends.distance
        count = feed_plateaus(self._backward, self._plateaus, self._mark, columns, seen, room)
        query, coordinate, distance = room[:, :count]
        return AnchoredEnds(coordinate, query, distance)

    def undecided(self) -> Longs:
        """Return the coordinates where minima of queries that are read backward may end."""
        plateaus = self._plateaus
        may_be_minimum = plateaus["is_open"] & plateaus["fell"] & self._backward
        first: Longs = plateaus["first"][may_be_minimum != 0]
        return first


@dataclass(frozen=True, eq=False, repr=False)
class Places(Rows):
    """The coordinates of n hits.

    start, end: int64[n], of each hit; anchor: int64[n], of its anchored end; chain_start,
    chain_end: int64[n], of the chain that it stands for, at first its own.
    """

    start: Longs
    end: Longs
    anchor: Longs
    chain_start: Longs
    chain_end: Longs


def places_of(start: Longs, end: Longs, anchor: Longs) -> Places:
    """Return the Places of hits that stand for none but themselves."""
    return Places(start, end, anchor, chain_start=start, chain_end=end)


_NONE = np.zeros(0, np.int64)
NO_PLACES = places_of(_NONE, _NONE, _NONE)


def loci_of(
    query: Longs, is_minus: Bools, distance: Ints | Longs, places: Places
) -> tuple[Longs, Places]:
    """Return the hits that stand for chains of overlapping hits of one query, and their Places.

    query, distance: of n > 0 hits, which may stand for chains already; is_minus: bool[n], which
    are on the strand `-`. Returns (rows, places), int64[chains] and the Places of these.

    The smallest distance stands for a chain. Of several hits it is the one with the smallest start,
    then end, then anchor, on the strand `-` the one with the largest end, then start, then anchor.
    Beside PAMs of several lengths hits may have both ends in common, never their anchors.

        hits of query 0     [-- 2 --]         [- 1 -]
                                 [--- 1 ---]
        hits of query 1          [- 0 -]
        chains              |-------------|   |-----|      and |-----| of query 1
        loci                     [--- 1 ---]  [- 1 -]      and [- 0 -]
    """
    # Hits by query, then by where their chains so far begin.
    order = order_of(query, places.chain_start)
    places = places.take(order)

    # Which chain each is in.
    is_first = _begin_chains(query[order], places)
    first_rows = np.flatnonzero(is_first)
    chain = np.cumsum(is_first) - 1

    # The hit of each chain that stands for it, and where the chain is.
    chain_start = places.chain_start[first_rows]
    chain_end = np.maximum.reduceat(places.chain_end, first_rows)
    keys = _preference_keys(is_minus[order], places, chain_start[chain])
    preferred = order_of(chain, distance[order], *keys)
    rows = first_of_each(preferred, chain)
    loci = replace(places.take(rows), chain_start=chain_start, chain_end=chain_end)
    return order[rows], loci


def _begin_chains(query: Longs, places: Places) -> Bools:
    """Return which hits begin a chain, as no hit of the query so far goes on there, bool[n].

    query: int64[n], never decreasing; places: of these hits, by where chains begin.
    """
    # Each query has a line of its own, so that no chain goes on with another query.
    line_length = places.chain_end.max() - places.chain_start.min() + 1
    line_start = query * line_length
    start = line_start + places.chain_start
    end_so_far = np.maximum.accumulate(line_start + places.chain_end)

    begins = np.ones(len(query), np.bool_)
    begins[1:] = start[1:] >= end_so_far[:-1]
    return begins


def _preference_keys(is_minus: Bools, places: Places, chain_start: Longs) -> list[Longs]:
    """Return keys that are smallest for the hit that stands for a chain, at one distance.

    chain_start: int64[n], of each hit's chain. Keys are counted from there on, and so small.
    """
    start = places.start - chain_start
    end = places.end - chain_start
    anchor = places.anchor - chain_start
    forward_keys = start, end, anchor
    turned_keys = -end, -start, -anchor
    return [
        np.where(is_minus, turned, forward)
        for forward, turned in zip(forward_keys, turned_keys, strict=True)
    ]
