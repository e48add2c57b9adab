"""Hits that wait until no later one can come before them."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from kmatch.arrays import Longs, order_of
from kmatch.results.batches import HitBatch, joined, no_hits
from kmatch.search.plateaus import NO_PLACES, Places, loci_of


class PlacedHits(NamedTuple):
    """n hits, and the Places of each."""

    hits: HitBatch
    places: Places

    def take(self, rows: Longs | slice) -> "PlacedHits":
        """Return some of the hits: numbers, int64[m], or a slice."""
        return PlacedHits(self.hits.picked(rows), self.places.take(rows))

    def followed_by(self, others: "PlacedHits") -> "PlacedHits":
        """Return the hits, and behind them others."""
        places = self.places.followed_by(others.places)
        return PlacedHits(joined([self.hits, others.hits]), places)

    def in_order(self) -> "PlacedHits":
        """Return the same hits, sorted."""
        start = self.places.start
        length = self.places.end - start
        return self.take(order_of(start, length, self.hits.minus, self.hits.pattern))

    def count_before(self, coordinate: int) -> int:
        """Return how many of these hits, which are sorted, start before a coordinate."""
        return int(np.searchsorted(self.places.start, coordinate))

    def loci(self) -> "PlacedHits":
        """Return the hits that stand for chains of these, sorted."""
        if not len(self.hits):
            return self
        hits = self.hits
        query = 2 * hits.pattern.astype(np.int64) + hits.minus
        rows, places = loci_of(query, hits.minus != 0, hits.distance, self.places)
        return PlacedHits(hits.picked(rows), places).in_order()


NONE = PlacedHits(no_hits(), NO_PLACES)


class WaitingHits:
    """Hits that were traced, in order to be released sorted.

    are_loci: whether only those are released that stand for a chain of overlapping hits.

        coordinate                        c      later hits start here or behind
        hits that wait    [-----]   [---] |
                              [---]    [--|--]
                                          |  [----]
        released          the four that start before c
        of loci           that of the first chain: a later hit may join the second one
    """

    def __init__(self, are_loci: bool) -> None:
        self._are_loci = are_loci
        self._waiting = NONE

    def released(self, hits: PlacedHits, coordinate: int) -> Iterator[HitBatch]:
        """Have more hits wait; yield, sorted, those that no later hit precedes or joins.

        hits: sorted; coordinate: where later ones start at the earliest. Most hits of a batch come
        behind all that wait, and are not sorted or copied again:

            waiting      [---]  [-----]
            hits             [----]  [--]    [-----]   [-----]   [------]
            among these  |----------------| alone     |-----------------|
        """
        if not len(hits.hits) and not len(self._waiting.hits):
            return
        among = hits
        alone = NONE
        if not self._are_loci:
            last_start = int(self._waiting.places.start.max(initial=-1))
            count = hits.count_before(last_start + 1)
            among = hits.take(slice(count))
            alone = hits.take(slice(count, None))
        if len(self._waiting.hits):
            among = self._waiting.followed_by(among).in_order()

        # Of loci only those in front of all chains that a later hit may join.
        if self._are_loci:
            among = among.loci()
            is_open = among.places.chain_end > coordinate
            coordinate = int(among.places.chain_start[is_open].min(initial=coordinate))

        self._waiting = NONE
        for part in (among, alone):
            count = part.count_before(coordinate)
            yield part.hits.picked(slice(count))
            self._waiting = self._waiting.followed_by(part.take(slice(count, None)))
