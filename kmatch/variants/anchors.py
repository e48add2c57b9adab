"""Anchors: the alleles around which haplotypes are searched.

An allele is an anchor if some haplotype may have a hit over it that is closer than the reference's
hits at the same pattern end. That is found by a search of a superset, in which a letter stands for
all that alleles put in its place:

    record        A C G T A C G T T G
    alleles           T       A           of single letters
    superset      A C K T A C R T T G     K is G or T, R is G or A
    a hit           └───────────┘         has each hit of a haplotype there, at its distance or less
    interval      └───────────────┘       alleles in here may be in these: they are anchors

Hits of the haplotypes that end where it ends may begin elsewhere, hence the interval. Alleles of
several letters, insertions and deletions have windows of their own in the superset, one by one and
in twos. Where a hit may have three of these, all alleles are anchors.
"""

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from kmatch.arrays import Bools, Bytes, Longs
from kmatch.engine.types import LETTERS
from kmatch.results.batches import HitBatch
from kmatch.sequences.alphabet import encode_text
from kmatch.variants.alleles import NONE, Block, RecordPart
from kmatch.variants.hits import Extents, PatternEnds, TextSearch
from kmatch.variants.reference import ReferenceDistances
from kmatch.variants.windows import Segments, Windows, merged, sources_of


class Superset(NamedTuple):
    """Texts side by side that have all hits of haplotypes over alleles.

    letters: uint8, some of which stand for several; bounds: int64[n+1], of the texts; segments: of
    the letters.
    """

    letters: Bytes
    bounds: Longs
    segments: Segments


class Candidates(NamedTuple):
    """Hits of a superset, n rows.

    hits: in the coordinates of the record; start, end: int64[n], the interval of the record in
    which alleles of hits at the same pattern end may be.
    """

    hits: HitBatch
    start: Longs
    end: Longs

    def take(self, is_taken: Bools) -> "Candidates":
        """Return some of the hits."""
        hits = self.hits.picked(np.flatnonzero(is_taken))
        return Candidates(hits, self.start[is_taken], self.end[is_taken])


class LongAlleles(NamedTuple):
    """The alleles of a block that are no single letters, n of them in order.

    rows: int64[n]; start, end: int64[n], between which a hit is that may have it, of the record;
    is_near: bool[n-1], whether one hit may have an allele and the next one.
    """

    rows: Longs
    start: Longs
    end: Longs
    is_near: Bools


class AnchorFinder:
    """Finds the anchors of blocks.

    search: of the query; extents, ends: of its hits.
    """

    def __init__(self, search: TextSearch, extents: Extents, ends: PatternEnds) -> None:
        self._search = search
        self._extents = extents
        self._ends = ends

    def find(
        self, block: Block, part: RecordPart, reference: ReferenceDistances
    ) -> tuple[Longs, ReferenceDistances]:
        """Return the anchors of a block, int64[n], and the reference's distances.

        part: of the record, with the letters of the block; reference: distances of the hits that
        are reported. If these are minima, others are added where candidates are.
        """
        longest = self._extents.longest
        long_alleles = long_alleles_of(block, longest)
        superset = superset_of(block, part, long_alleles, longest)
        hits = self._search.every_end(superset.letters, superset.bounds[[0, -1]], united=True)
        candidates = candidates_of(hits, superset, self._ends, self._extents.spread)

        is_closer = candidates.hits.distance < reference.at(candidates.hits)
        # Of hits that differ in their PAM alone a text may have another one.
        candidates = candidates.take(is_closer | self._extents.has_unequal_pams)
        if self._extents.has_minima:
            every_end = self._ends_near(candidates.hits, part)
            reference = reference.with_hits([every_end])
            is_closer = candidates.hits.distance < reference.at(candidates.hits)
            candidates = candidates.take(is_closer)

        crowded_start, crowded_end = crowded_intervals(long_alleles)
        start = np.append(candidates.start, crowded_start)
        end = np.append(candidates.end, crowded_end)
        return rows_within(block, start, end), reference

    def _ends_near(self, hits: HitBatch, part: RecordPart) -> HitBatch:
        """Return hits of the reference at every end, minima or not, near other hits."""
        longest = self._extents.longest
        start = np.minimum(hits.start, hits.end - longest)
        end = np.maximum(hits.end, hits.start + longest)
        stretches = merged(start, end, part)
        letters = part.gather(stretches.start, stretches.bounds)
        found = self._search.every_end(letters, stretches.bounds)
        record_start = stretches.start[found.record]
        return replace(found, start=found.start + record_start, end=found.end + record_start)


def long_alleles_of(block: Block, longest: int) -> LongAlleles:
    """Return the alleles of a block that are no single letters; longest: letters of a hit."""
    alleles = block.alleles
    is_long = ~is_single(block) & ~block.is_reference
    rows = np.flatnonzero(is_long)
    site = alleles.site[rows]
    site_start = block.sites.start[site]
    furthest_end = block.sites.furthest_end[site]
    is_near = site_start[1:] - longest < furthest_end[:-1]
    return LongAlleles(rows, site_start - longest, furthest_end + longest, is_near)


def is_single(block: Block) -> Bools:
    """Return which alleles put one letter in place of one, bool[R]."""
    alleles = block.alleles
    is_one_letter = alleles.size == 1
    replaces_one = alleles.end - alleles.start == 1
    return is_one_letter & replaces_one


def superset_of(
    block: Block, part: RecordPart, long_alleles: LongAlleles, longest: int
) -> Superset:
    """Return the superset of a block, whose letters are in a part of the record.

    longest: letters of a hit.
    """
    # The record around single letters.
    part = united(block, part)
    start = block.alleles.start[is_single(block)]
    stretches = merged(start - longest, start + longest, part)
    letters = part.gather(stretches.start, stretches.bounds)

    # Windows of other alleles, alone and with the next one.
    first = long_alleles.rows[:-1]
    second = long_alleles.rows[1:]
    is_pair = long_alleles.is_near & ~block.alleles.overlap(first, second)
    alone = np.full(len(long_alleles.rows), NONE)
    anchors = np.append(long_alleles.rows, first[is_pair])
    beside = np.append(alone, second[is_pair])
    haplotypes = np.stack([anchors, beside], axis=1)
    windows = Windows(block, sources_of(block, part), haplotypes, longest - 1)

    window_bounds = stretches.bounds[-1] + windows.bounds
    return Superset(
        letters=np.append(letters, windows.letters),
        bounds=np.append(stretches.bounds, window_bounds[1:]),
        segments=stretches.joined(windows.segments),
    )


def united(block: Block, part: RecordPart) -> RecordPart:
    """Return a part of the record, whose letters stand for those of alleles too.

    Letters of single-letter alleles are added, of all others none.
    """
    rows = np.flatnonzero(is_single(block))
    allele_letters = block.letters.letters[block.letters.bounds[rows]]
    offset = block.alleles.start[rows] - part.record_start
    masks = np.zeros(len(part.letters), np.uint8)
    np.bitwise_or.at(masks, offset, encode_text(allele_letters))
    letters = part.letters.copy()
    masks[offset] |= encode_text(letters[offset])
    letters[offset] = LETTERS[masks[offset]]
    return RecordPart(part.record_start, letters)


def candidates_of(hits: HitBatch, superset: Superset, ends: PatternEnds, spread: int) -> Candidates:
    """Return hits in the letters of a superset, from one end to the other, as Candidates.

    spread: letters between hits that end in one place. A hit across the borders of texts is taken
    for the part of it that is beside its pattern end, which does no harm.
    """
    text = np.searchsorted(superset.bounds, ends.positions(hits), side="right") - 1
    text_start = superset.bounds[text]
    text_end = superset.bounds[text + 1]
    lifted = superset.segments.lift(
        np.clip(hits.start, text_start, text_end),
        np.clip(hits.end, text_start, text_end),
    )
    widened = superset.segments.lift(
        np.clip(hits.start - spread, text_start, text_end),
        np.clip(hits.end + spread, text_start, text_end),
    )
    hits = replace(hits, start=lifted.start, end=lifted.end)
    return Candidates(hits, widened.exact_start, widened.exact_end)


def crowded_intervals(long_alleles: LongAlleles) -> tuple[Longs, Longs]:
    """Return intervals of the record in which a hit may have three long alleles or more.

    They begin and end at int64[n] each.

        ──[ 1 ]──[ 2 ]──────[ 3 ]─────         1 is near 2, and 2 is near 3
        └──────────────────────────────┘       from a hit over 1 to a hit over 3
    """
    is_near = long_alleles.is_near
    first = np.flatnonzero(is_near[:-1] & is_near[1:])
    return long_alleles.start[first], long_alleles.end[first + 2]


def rows_within(block: Block, start: Longs, end: Longs) -> Longs:
    """Return the rows of the alleles that are in intervals of the record, int64[n].

    start, end: int64[m]. A site counts whole, and so does one that touches an interval.
    """
    # How many intervals begin at each site, less how many have ended before it.
    sites = block.sites
    count = len(sites.start)
    first_site = np.searchsorted(sites.furthest_end, start)
    stop_site = np.searchsorted(sites.start, end, side="right")
    change = np.bincount(first_site, minlength=count) - np.bincount(stop_site, minlength=count)
    is_within = np.cumsum(change) > 0
    return np.flatnonzero(is_within[block.alleles.site] & ~block.is_reference)
