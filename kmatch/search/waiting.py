"""Hits that wait until no later one can come before them."""

import numpy as np

from kmatch.arrays import order_of
from kmatch.results.batches import HitBatch, joined, no_hits
from kmatch.search.plateaus import NO_PLACES, Places, joined_places, loci_of


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
        self._hits = no_hits()
        self._places = NO_PLACES

    def add(self, hits: HitBatch, places: Places) -> None:
        """Have hits wait; places: where each is, and where its chain would be."""
        self._hits = joined([self._hits, hits])
        self._places = joined_places(self._places, places)

    def released(self, coordinate: int) -> HitBatch:
        """Return the hits that no later hit precedes or joins, sorted; they wait no more.

        coordinate: where later hits start at the earliest.
        """
        if not len(self._hits):
            return self._hits
        if self._are_loci:
            self._join_chains()

        # Of loci only those in front of all chains that a later hit may join.
        places = self._places
        is_ready = places.start < coordinate
        if self._are_loci:
            is_open = places.chain_end > coordinate
            first_open = places.chain_start[is_open].min(initial=coordinate)
            is_ready = ~is_open & (places.start < first_open)

        hits = self._hits
        ready = np.flatnonzero(is_ready)
        rest = np.flatnonzero(~is_ready)
        self._hits = hits.picked(rest)
        self._places = places.take(rest)

        start = places.start[ready]
        length = places.end[ready] - start
        order = order_of(start, length, hits.minus[ready], hits.pattern[ready])
        return hits.picked(ready[order])

    def _join_chains(self) -> None:
        """Leave of each chain so far the hit that stands for it."""
        hits = self._hits
        query = 2 * hits.pattern.astype(np.int64) + hits.minus
        rows, self._places = loci_of(query, hits.minus != 0, hits.distance, self._places)
        self._hits = hits.picked(rows)
