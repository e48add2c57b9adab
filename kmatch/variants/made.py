"""The hits that haplotypes make, in windows around their anchors.

A minimum is lower than what comes before its plateau. Ends in the first letters of a window lack
letters before them, so that it does not show this of a plateau that goes on there:

    D of a haplotype        1 2 2 2 2 2 2 2 2 2 3       no minimum of 2
    its window                  [----------------
    D in the window             4 3 2 2 2 2 2 2 3       a minimum of 2
    letters before              0 1 2 3 4 5 6 7 8       as many as a hit may have from 2 on

Windows with twice the letters around an anchor are searched then, until they show where each
plateau begins, or go to the end of the record or to the alleles of another block.
"""

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from kmatch.arrays import Bools, Longs, Table, bounds_of, distinct, first_of_each, gather, order_of
from kmatch.results.batches import HitBatch
from kmatch.search.ends import AnchoredEnds
from kmatch.search.plateaus import Plateaus
from kmatch.sequences.records import Letters
from kmatch.variants.alleles import Block, RecordPart
from kmatch.variants.genotypes import COPIES
from kmatch.variants.haplotypes import Haplotypes
from kmatch.variants.hits import Extents, PatternEnds, TextSearch
from kmatch.variants.lifting import (
    MadeHits,
    Samples,
    batch_of,
    carried,
    each_once,
    made_hits,
    over_anchors_first,
    window_hits,
)
from kmatch.variants.reference import ReferenceDistances
from kmatch.variants.vcf import Variants
from kmatch.variants.windows import Sources, Windows, sources_of


class Alone(NamedTuple):
    """The part of a record in which a block has the only alleles.

    start, end: of the record; record_letters: of all of it.
    """

    start: int
    end: int
    record_letters: Letters

    def beyond(self, part: RecordPart, more: int) -> RecordPart:
        """Return a part of the record with more letters on either side, as far as this one goes."""
        start = max(part.record_start - more, self.start)
        end = min(part.record_end + more, self.end)
        return RecordPart(start, self.record_letters[start:end])


class PlacedBlock(NamedTuple):
    """A Block in a genome.

    record_number: of its record; alone: where no other block has alleles; samples: that are chosen.
    """

    block: Block
    record_number: int
    alone: Alone
    samples: Samples


class MadeHitFinder:
    """Finds the hits that haplotypes of a block make.

    placed: the block; search: of the query; extents, ends: of its hits; given: the variants;
    distances: of the reference's hits.
    """

    def __init__(
        self,
        placed: PlacedBlock,
        search: TextSearch,
        extents: Extents,
        ends: PatternEnds,
        given: Variants,
        distances: ReferenceDistances,
    ) -> None:
        self._placed = placed
        self._search = search
        self._extents = extents
        self._ends = ends
        self._given = given
        self._distances = distances

    def haplotypes(self, flank: int) -> Haplotypes:
        """Return the Haplotypes of the block; flank: letters of windows beside their anchors."""
        most = self._given.max_haplotypes + COPIES * len(self._placed.samples.numbers)
        return Haplotypes(self._placed.block, flank, self._extents.has_gaps, most)

    def _wider_sources(self, flank: int) -> Sources:
        """Return the letters of windows that are wider than extents say.

        flank: their letters beside their anchors.
        """
        block = self._placed.block
        part = self._placed.alone.beyond(block.part, flank - self._extents.flank)
        return sources_of(block, part)

    def find(self, table: Table, sources: Sources, flank: int) -> list[MadeHits]:
        """Return the hits that haplotypes make and that count.

        table: int64[n, D], of haplotypes; sources: of their windows; flank: letters of these beside
        their anchors.
        """
        placed = self._placed
        windows = Windows(placed.block, sources, table, flank)
        hits = self._search.hits(windows.letters, windows.bounds)
        found = window_hits(windows, hits, self._distances, self._given.every)
        found = over_anchors_first(windows, found)
        found = each_once(windows, found)
        found, copies = carried(placed.block, found)

        made: list[MadeHits] = []
        if self._extents.has_minima:
            rows, made = self._minima(windows, found.hits, sources, flank)
            found = found.take(rows)
            copies = copies[rows]
        hits = batch_of(placed.block, placed.record_number, found, copies, placed.samples)
        return [made_hits(windows, found, hits), *made]

    def _minima(
        self, windows: Windows, hits: HitBatch, sources: Sources, flank: int
    ) -> tuple[Longs, list[MadeHits]]:
        """Return the hits in windows that count, int64[m], and those found in wider windows.

        Around an anchor that has too many haplotypes in wider windows all hits count.
        """
        is_minimum = self._are_minima(windows, hits, sources)
        anchors = windows.anchors[hits.record]
        wide_anchors = distinct(anchors[~is_minimum])
        made: list[MadeHits] = []
        if len(wide_anchors):
            flank = 2 * flank
            sources = self._wider_sources(flank)
            haplotypes = self.haplotypes(flank)
            for table in haplotypes.around(wide_anchors):
                is_dense = haplotypes.is_dense[table[:, 0]]
                made += self.find(table[~is_dense], sources, flank)
            is_minimum |= haplotypes.is_dense[anchors]
        return np.flatnonzero(is_minimum), made

    def _are_minima(self, windows: Windows, hits: HitBatch, sources: Sources) -> Bools:
        """Return which minima of windows are minima whatever comes before these, bool[n].

        A window that begins with its sources cannot be wider, and all of its minima count.
        """
        begins_first = windows.record_starts[hits.record] == sources.record_start
        ends_last = windows.record_ends[hits.record] == sources.record_end
        cannot_widen = np.where(self._ends.is_last(hits.minus), begins_first, ends_last)
        numbers = distinct(hits.record[~cannot_widen])
        if not len(numbers):
            return cannot_widen

        # Minima among the ends that lack no letters. The mark of the first tells that D may have
        # risen to its plateau.
        mark = self._extents.greatest_distance + 1
        ends = self._whole_ends(windows, numbers, mark)
        forward = np.zeros(1, np.uint8)
        minima = Plateaus(forward, mark).feed(ends)
        return cannot_widen | np.isin(self._end_numbers(windows, hits), minima.coordinate)

    def _whole_ends(self, windows: Windows, numbers: Longs, mark: int) -> AnchoredEnds:
        """Return the ends in some windows that have as many letters before them as a hit may have.

        numbers: int64[m], of the windows; mark: is added to the distance of the first end of each.
        """
        # Every end in the windows.
        size = np.diff(windows.bounds)
        bounds = bounds_of(size[numbers])
        letters = gather(windows.letters, windows.bounds[numbers], bounds)
        found = self._search.every_end(letters, bounds)
        found = replace(found, record=numbers[found.record])

        # The ends that lack no letters, with the mark on the first.
        letters_before = self._letters_before(windows, found)
        most_before = self._extents.longest - 1
        whole_rows = np.flatnonzero(letters_before >= most_before)
        found = found.picked(whole_rows)
        is_first = letters_before[whole_rows] == most_before
        distance = found.distance + np.where(is_first, mark, 0)

        # Each once, in the order of their numbers.
        number = self._end_numbers(windows, found)
        rows = first_of_each(order_of(number), number)
        query = np.zeros(len(rows), np.int64)
        return AnchoredEnds(number[rows], query, distance[rows].astype(np.int64))

    def _letters_before(self, windows: Windows, hits: HitBatch) -> Longs:
        """Return how many letters of its window are read before the last one of each hit,
        int64[n]."""
        position = self._ends.positions(hits)
        size = np.diff(windows.bounds)[hits.record]
        return np.where(self._ends.is_last(hits.minus), position, size - 1 - position)

    def _end_numbers(self, windows: Windows, hits: HitBatch) -> Longs:
        """Return a number for the end of each hit, int64[n].

        Ends of one window, pattern and strand have numbers that follow one another as the ends are
        read. No others follow one another.
        """
        line_length = int(np.diff(windows.bounds).max()) + 1
        line = self._ends.numbers(hits, hits.record)
        return line * line_length + self._letters_before(windows, hits)
