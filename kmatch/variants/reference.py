"""The hits of the reference: given out along the genome, and their distances at pattern ends."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from kmatch.arrays import Longs
from kmatch.results.batches import RECORD, HitBatch, no_hits
from kmatch.variants.alleles import FOREVER
from kmatch.variants.hits import PatternEnds
from kmatch.variants.vcf import Variants


class ReferenceHits:
    """The hits of the reference in order, which are given out up to one place after another."""

    def __init__(self, batches: Iterable[HitBatch]) -> None:
        self._batches = iter(batches)
        self._waiting = no_hits()

    def before(self, record: int, start: int) -> Iterator[HitBatch]:
        """Yield the hits that are left and that begin before a position of a record, by number.

        There is at least one batch, which may be without hits.
        """
        place = record * RECORD + start
        while True:
            batch = self._waiting
            places = batch.record * RECORD + batch.start
            count = int(np.searchsorted(places, place))
            self._waiting = batch.picked(slice(count, None))
            yield batch.picked(slice(count))
            if len(self._waiting):
                return
            following = next(self._batches, None)
            if following is None:
                return
            self._waiting = following

    def rest(self) -> Iterator[HitBatch]:
        """Yield the hits that are left."""
        return self.before(0, FOREVER)


def with_no_alleles(batch: HitBatch, given: Variants, ends: PatternEnds) -> HitBatch:
    """Return hits that no allele makes, with the columns of variants that are asked for.

    ends: of the hits.
    """
    count = len(batch)
    return replace(
        batch,
        variants=np.full(count, "", object),
        af=np.full(count, np.nan),
        samples=np.full(count, None),
        reference_distance=batch.distance.astype(np.float64),
        alleles=np.full(count, "", object) if given.alleles else None,
        losses=np.full(count, None) if given.losses else None,
        anchors=ends.positions(batch),
    )


class ReferenceDistances(NamedTuple):
    """The smallest distance of the reference at each pattern end where it has a hit.

    ends: how hits are compared; size: more than any distance; entries: int64[n], sorted, of each
    hit the number of its pattern end, times size, and its distance; FOREVER behind them.

        size 4; hits at the ends 7, 7 and 9, with distances 3, 1 and 0
        entries                 29 31 36 FOREVER
        at the end 7            28 or more: the next one is 29, and the distance 1
        at the end 8            32 or more: the next one is 36, which is of another end
    """

    ends: PatternEnds
    size: int
    entries: Longs

    def with_hits(self, batches: Iterable[HitBatch]) -> "ReferenceDistances":
        """Return these distances and those of other hits."""
        parts = [self.entries]
        for hits in batches:
            first = self._first_entries(hits, self.ends.positions(hits))
            parts.append(first + hits.distance)
        entries = np.sort(np.concatenate(parts), kind="stable")
        return self._replace(entries=entries)

    def nearest(self, hits: HitBatch, positions: Longs) -> Longs:
        """Return the smallest distance at the pattern end of each hit, int64[n].

        positions: int64[n], of the pattern ends in the record. The distance is FOREVER where the
        reference has no hit.
        """
        first = self._first_entries(hits, positions)
        entry = self.entries[np.searchsorted(self.entries, first)]
        distance = entry - first
        return np.where(distance < self.size, distance, FOREVER)

    def _first_entries(self, hits: HitBatch, positions: Longs) -> Longs:
        """Return the least entry that there may be for the pattern end of each hit, int64[n]."""
        return self.ends.numbers(hits, positions) * self.size


def no_distances(ends: PatternEnds, greatest_distance: int) -> ReferenceDistances:
    """Return the ReferenceDistances of no hit."""
    return ReferenceDistances(ends, greatest_distance + 1, np.array([FOREVER]))
