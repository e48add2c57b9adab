"""Minima of D[m, ·] among ends, and rows of hits that wait, in compiled code."""

from typing import Annotated, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kmatch.arrays import Bools, Bytes, Longs, Table
from kmatch.engine.types import Ends, Traced
from kmatch.jit.entries import entry

# A hit: its coordinates, those of the chain of minima that it stands for, that of its anchored end,
# its number of columns, and the number of its chunk.
_FIELDS = "start end first reach query distance anchor size source"
ROW = np.dtype([(name, np.int64) for name in _FIELDS.split()])
RowArray = Annotated[NDArray[Any], ROW]
NO_ROWS: RowArray = np.zeros(0, ROW)
KEY_BITS = 62
FOREVER = np.iinfo(np.int64).max
PLATEAU = np.dtype([(name, np.int64) for name in ("first", "last", "height", "is_open", "fell")])


def make_rows(number: int, base: int, backward: Bools, ends: Ends, traced: Traced) -> RowArray:
    """Rows, ROW[n], of traced ends in chunk `number`, whose first letter has the coordinate `base`.

    backward: bool[Q], of the queries.
    """
    rows = np.empty(len(ends.position), ROW)
    anchor, other = base + ends.position, base + traced.other
    before = np.where(backward[ends.query], traced.beside, 0)
    rows["start"] = rows["first"] = np.minimum(anchor, other) - before
    rows["end"] = rows["reach"] = np.maximum(anchor, other) + 1 + traced.beside - before
    rows["query"], rows["distance"], rows["anchor"] = ends.query, ends.distance, anchor
    rows["size"], rows["source"] = traced.size, number
    return rows


def join_rows(*parts: RowArray) -> RowArray:
    """The rows of all parts; the only one that has any is returned itself."""
    filled = [rows for rows in parts if len(rows)]
    if len(filled) > 1:  # as numbers: NumPy copies records field by field
        return np.concatenate([rows.view(np.int64) for rows in filled]).view(ROW)
    return filled[0] if filled else NO_ROWS


def join_chains(rows: RowArray, minus: Bytes) -> RowArray:
    """The rows that stand for chains of overlapping hits of a query, with their first and reach.

    rows: sorted by query and first; minus: uint8[Q], whether a query is on the strand `-`. The
    smallest distance stands for a chain, then the smallest start, end and anchor, in this order, on
    the strand `-` the largest end, start and anchor. Beside PAMs of several lengths hits may have
    both ends in common, never their anchors.
    """
    if not len(rows):
        return rows
    query, first, reach = rows["query"], rows["first"], rows["reach"]
    apart = query * (int(reach.max()) - int(first.min()) + 1)  # a line of its own for each query
    begins = first[1:] + apart[1:] >= np.maximum.accumulate(reach + apart)[:-1]
    at, chain = np.flatnonzero(np.append(True, begins)), np.append(0, np.cumsum(begins))
    start, end, anchor = rows["start"], rows["end"], rows["anchor"]
    turned, best = minus[query] != 0, np.ones(len(rows), np.bool_)
    pairs = (start, -end), (end, -start), (anchor, -anchor)
    for key in (rows["distance"], *(np.where(turned, back, ahead) for ahead, back in pairs)):
        key = np.where(best, key, FOREVER)
        best = key == np.minimum.reduceat(key, at)[chain]
    standing = rows.compress(best)
    standing["first"], standing["reach"] = first[at], np.maximum.reduceat(reach, at)
    return standing


def in_order(rows: RowArray, queries: int) -> RowArray:
    """The rows sorted by start, end and query, equal ones as they come; queries: how many there
    are."""
    if not len(rows):
        return rows
    start, length = rows["start"], rows["end"] - rows["start"]
    first, longest = int(start.min()), int(length.max()) + 1
    bits = len(rows).bit_length()
    if ((int(start.max()) - first + 1) * longest * queries) << bits >= 1 << KEY_BITS:
        return rows.take(np.lexsort((rows["query"], rows["end"], rows["start"])))
    keys = ((start - first) * longest + length) * queries + rows["query"]
    keys = keys << bits | np.arange(len(rows))  # NumPy sorts numbers faster than it ranks them
    keys.sort()
    return rows.take(keys & ((1 << bits) - 1))


def by_source(rows: RowArray) -> list[RowArray]:
    """The rows in stretches, each of one chunk."""
    if not len(rows):
        return []
    source = rows["source"]
    cuts = np.flatnonzero(source[1:] != source[:-1]) + 1
    return np.split(rows, cuts)


class State(NamedTuple):
    """The plateau of each query.

    backward: uint8[Q]; plateaus: PLATEAU[Q]: `first`, `last` and `height`, its ends and its D;
    `is_open`, whether there is one; `fell`, whether D was higher before.
    """

    backward: Bytes
    plateaus: Annotated[NDArray[Any], PLATEAU]


feed_plateaus = entry(
    "kmatch.search.kernels:feed_plateaus",
    tuple[State, tuple[Longs, Longs, Longs], tuple[int, int], Table],
)


class Plateaus:
    """The plateau of D[m, ·] that each query is on.

    A plateau is a run of neighbouring ends of one distance. It is a minimum when D is higher, or
    not within k, on both of its sides; its last end in reading direction stands for it, which is
    the first in the text for a query that reads backward.
    """

    def __init__(self, backward: Bytes) -> None:
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
        found = np.empty((3, len(query) + len(self._state.backward)), np.int64)
        ends, stops = (query, coordinate, distance), (forward_end, backward_end)
        return found[:, : feed_plateaus(self._state, ends, stops, found)]

    def undecided(self) -> Longs:
        """Where the ends are of plateaus that may be minima of backward queries, coordinates."""
        backward, plateaus = self._state
        first: Longs = plateaus["first"][plateaus["is_open"] & plateaus["fell"] & backward != 0]
        return first
