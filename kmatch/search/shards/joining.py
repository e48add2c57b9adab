"""The hits of shards, which come in order, joined to those of the whole genome."""

from collections.abc import Iterator

import numpy as np

from kmatch.results.batches import HitBatch
from kmatch.search.differences.plateaus import FOREVER, Chains, join_chains
from kmatch.search.shards.edges import Edges, OpenPlateaus
from kmatch.search.shards.extents import Extent
from kmatch.search.shards.rows import NO_HITS, RECORD, in_order, picked, places, settled, together

ROWS = 1 << 16  # handed on at a time


class ShardJoiner:
    """Puts the hits of shards in order, and decides what only two of them can tell together.

    context: letters that a hit and what decides about it may lie apart; patterns: how many there
    are, where minima are to be joined to loci, otherwise None.
    """

    def __init__(self, context: int, patterns: int | None = None) -> None:
        self._context = context
        self._plateaus = OpenPlateaus()
        self._waiting: list[HitBatch] = []  # rows before which another may still come
        self._loci = None if patterns is None else _Loci(patterns)

    def take(self, batch: HitBatch, edges: Edges | None, extent: Extent) -> Iterator[HitBatch]:
        """Take the next shard: its sorted hits and its Edges; yield the hits that are certain."""
        decided = list(self._plateaus.join(edges)) if edges else []
        if not extent.behind:
            decided += self._plateaus.close()
        frontier = self._frontier(extent)
        mixed = [*self._waiting, *(picked(hits, np.array([row])) for hits, row in decided)]
        mixed = [each for each in mixed if len(each)]
        rows = places(batch)
        if mixed:
            last = max(int(places(each).max()) for each in mixed)
            cut = int(np.searchsorted(rows, last, side="right"))
            head = in_order(together([*mixed, picked(batch, slice(cut))]))
            parts = [head, picked(batch, slice(cut, None))]
        else:
            parts = [batch]
        self._waiting, certain = [], []
        for part in parts:
            cut = int(np.searchsorted(places(part), frontier))
            certain.append(picked(part, slice(cut)))
            if cut < len(part):
                self._waiting.append(settled(picked(part, slice(cut, None))))
        if self._loci:
            certain = [self._loci.take(together(certain), frontier)]
        for part in certain:
            yield from in_parts(part)

    def finish(self) -> Iterator[HitBatch]:
        """Yield the hits that wait, where no shard is to come."""
        if self._loci:
            yield from in_parts(self._loci.finish())

    def _frontier(self, extent: Extent) -> int:
        """The place before which no hit is to come."""
        if not extent.behind:
            return (extent.first + len(extent.names)) * RECORD
        record, offset = extent.end
        frontier = record * RECORD + max(offset - self._context, 0)
        return min(
            [frontier, *(record * RECORD + start for record, start in self._plateaus.starts())]
        )


def in_parts(batch: HitBatch) -> Iterator[HitBatch]:
    """Yield the rows of a HitBatch, not too many at a time."""
    if 0 < len(batch) <= ROWS:
        yield batch
        return
    for first in range(0, len(batch), ROWS):
        yield picked(batch, slice(first, first + ROWS))


class _Loci:
    """Chains of overlapping minima that come in order; the best of a chain stands for it."""

    def __init__(self, patterns: int) -> None:
        self._minus = np.tile(np.array([0, 1], np.uint8), patterns)
        self._rows: HitBatch | None = None  # those that stand for chains, so far
        self._first = self._reach = np.zeros(0, np.int64)  # places where these begin and end

    def finish(self) -> HitBatch:
        """The rows that wait."""
        if self._rows is None:
            return NO_HITS
        return self.take(picked(self._rows, slice(0)), FOREVER)

    def take(self, batch: HitBatch, frontier: int) -> HitBatch:
        """The rows of chains that no hit from `frontier` on can touch or stand before."""
        rows = batch if self._rows is None else together([self._rows, batch])
        first = np.concatenate([self._first, places(batch)])
        reach = np.concatenate([self._reach, batch.record * RECORD + batch.end])
        query = 2 * rows.pattern.astype(np.int64) + rows.minus
        order = np.lexsort((first, query))
        rows, base = picked(rows, order), rows.record[order] * RECORD
        chains = Chains(
            query[order],
            first[order],
            reach[order],
            base + rows.start,
            base + rows.end,
            rows.distance.astype(np.int64),
            anchor=order,  # hits with both ends in common come by their anchors
        )
        standing = np.empty(len(rows), np.bool_)
        join_chains(self._minus, chains, standing)
        is_open = standing & (chains.reach > frontier)
        begin = chains.first[is_open].min(initial=frontier)
        ready = standing & ~is_open & (chains.start < begin)
        kept = np.flatnonzero(standing & ~ready)
        self._rows = settled(picked(rows, kept))
        self._first, self._reach = chains.first[kept], chains.reach[kept]
        return in_order(picked(rows, np.flatnonzero(ready)))
