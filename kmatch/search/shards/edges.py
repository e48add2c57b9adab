"""Plateaus that touch the borders of shards, and what becomes of them once both sides are known."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from kmatch.arrays import Bools, Bytes, Longs
from kmatch.results.batches import HitBatch
from kmatch.search.differences.plateaus import AT_LEFT, AT_RIGHT, NO_PLATEAU


class Edges(NamedTuple):
    """The plateaus of a shard that touch its borders, by query.

    backward: uint8[Q], queries that read backward; left, right: int64[Q], the distances of the
    plateaus at the first and at the last position owned, NO_PLATEAU where there is none; fell:
    uint8[Q], whether D is higher before the one at the right: 0 or 1, or 2 if it touches the left
    too, where only the shard before tells. hits: of those that may be minima; query: int64[n], the
    query of each; touched: uint8[n], the borders that its plateau touches.
    """

    backward: Bytes
    left: Longs
    right: Longs
    fell: Bytes
    hits: HitBatch
    query: Longs
    touched: Bytes


class _Hit(NamedTuple):
    """A row of the HitBatch of some Edges."""

    batch: HitBatch
    row: int


class OpenPlateaus:
    """The plateaus at the right border of the shards seen so far, which the next one decides."""

    def __init__(self) -> None:
        self._height: Any = None  # int64[Q], NO_PLATEAU where there is none
        self._fell: Any = None  # bool[Q], whether D is higher before
        self._hits: dict[int, _Hit] = {}  # by query, those of which D is higher before

    def starts(self) -> list[tuple[int, int]]:
        """(record, start) of the hits that wait."""
        found = self._hits.values()
        return [(int(hit.batch.record[hit.row]), int(hit.batch.start[hit.row])) for hit in found]

    def close(self) -> Iterator[tuple[HitBatch, int]]:
        """Yield the hits, (batch, row), that are minima where nothing follows."""
        yield from self._hits.values()
        self._height, self._fell, self._hits = None, None, {}

    def join(self, edges: Edges) -> Iterator[tuple[HitBatch, int]]:
        """Go on to the next shard; yield the hits, (batch, row), now known to be minima."""
        backward, left, right = edges.backward, edges.left, edges.right
        if self._height is None:
            self._height, self._fell = np.full(len(left), NO_PLATEAU), np.zeros(len(left), bool)
        height, before = self._height, self._hits
        continued = (left != NO_PLATEAU) & (left == height)
        # Whether D is higher before the plateau at the left.
        fell: Bools = np.where(continued, self._fell, (height == NO_PLATEAU) | (height > left))
        ended = (height != NO_PLATEAU) & ((left == NO_PLATEAU) | (left > height))
        yield from (hit for query, hit in before.items() if ended[query])
        held: dict[int, _Hit] = {}
        rows = zip(edges.query.tolist(), edges.touched.tolist(), strict=True)
        for row, (query, touched) in enumerate(rows):
            hit = _Hit(edges.hits, row)
            if touched & AT_LEFT:
                if not fell[query]:
                    continue
                if continued[query] and backward[query]:
                    hit = before[query]
            if touched & AT_RIGHT:
                held[query] = hit
            else:
                yield hit
        self._height, self._hits = right, held
        self._fell = np.where(edges.fell == 2, fell, edges.fell == 1)
