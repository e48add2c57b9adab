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

from kmatch.arrays import Bools, Bytes, Longs, Table
from kmatch.engine.types import LETTERS
from kmatch.results.batches import HitBatch
from kmatch.sequences.alphabet import encode_text
from kmatch.variants.alleles import NONE, Block, RecordPart
from kmatch.variants.hits import Extents, PatternEnds, Spans, TextSearch
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

    hits: of which pattern, strand and distance are told; position: int64[n], of their pattern ends
    in the record; start, end: int64[n], the interval of the record in which alleles of hits at the
    same pattern end may be.
    """

    hits: HitBatch
    position: Longs
    start: Longs
    end: Longs

    def take(self, is_taken: Bools) -> "Candidates":
        """Return some of the hits."""
        rows = np.flatnonzero(is_taken)
        return Candidates(
            hits=self.hits.picked(rows),
            position=self.position[rows],
            start=self.start[rows],
            end=self.end[rows],
        )


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

    search: of the query; extents, ends: of its hits; every: whether hits count that are no closer
    than the reference's.
    """

    def __init__(
        self, search: TextSearch, extents: Extents, ends: PatternEnds, every: bool = False
    ) -> None:
        self._search = search
        self._extents = extents
        self._ends = ends
        self._every = every

    def find(self, block: Block, reference: ReferenceDistances) -> tuple[Longs, ReferenceDistances]:
        """Return the anchors of a block, int64[n], and the reference's distances.

        reference: distances of the hits that are reported. If these are minima, those of other ends
        are added where candidates are.
        """
        extents = self._extents
        long_alleles = long_alleles_of(block, extents.longest)
        superset = superset_of(block, long_alleles, extents.longest)
        one_record = superset.bounds[[0, -1]]
        hits = self._search.every_end(superset.letters, one_record, united=True)
        candidates = candidates_of(hits, superset, self._ends, extents.spread)
        if not self._every:
            candidates = closer_candidates(candidates, reference)
        crowds = crowds_of(long_alleles)
        if extents.has_minima:
            every_end = self._ends_near(candidates, crowds, block.part)
            reference = reference.with_hits([every_end])
            if not self._every:
                candidates = closer_candidates(candidates, reference)

        start = np.append(candidates.start, crowds.start)
        end = np.append(candidates.end, crowds.end)
        return rows_within(block, start, end), reference

    def _ends_near(self, candidates: Candidates, crowds: Spans, part: RecordPart) -> HitBatch:
        """Return hits of the reference at every end, minima or not, near candidates and crowds."""
        longest = self._extents.longest
        start = np.append(candidates.position, crowds.start) - longest
        end = np.append(candidates.position + 1, crowds.end) + longest
        stretches = merged(start, end, part)
        letters = part.gather(stretches.start, stretches.bounds)
        found = self._search.every_end(letters, stretches.bounds)
        stretch_start = stretches.start[found.record]
        return replace(
            found,
            start=found.start + stretch_start,
            end=found.end + stretch_start,
        )


def long_alleles_of(block: Block, longest: int) -> LongAlleles:
    """Return the alleles of a block that are no single letters; longest: letters of a hit."""
    is_long = ~is_single(block) & ~block.is_reference
    rows = np.flatnonzero(is_long)
    site = block.alleles.site[rows]
    start = block.sites.start[site] - longest
    furthest_end = block.sites.furthest_end[site]
    is_near = start[1:] < furthest_end[:-1]
    return LongAlleles(
        rows=rows,
        start=start,
        end=furthest_end + longest,
        is_near=is_near,
    )


def is_single(block: Block) -> Bools:
    """Return which alleles put one letter in place of one, bool[R]."""
    alleles = block.alleles
    is_one_letter = alleles.size == 1
    replaces_one = alleles.end - alleles.start == 1
    return is_one_letter & replaces_one


def superset_of(block: Block, long_alleles: LongAlleles, longest: int) -> Superset:
    """Return the superset of a block; longest: letters of a hit."""
    # The record around single letters.
    part = united_part(block)
    start = block.alleles.start[is_single(block)]
    stretches = merged(start - longest, start + longest, part)
    letters = part.gather(stretches.start, stretches.bounds)

    # Windows of other alleles.
    haplotypes = alone_and_in_twos(block, long_alleles)
    windows = Windows(block, sources_of(block, part), haplotypes, longest - 1)
    window_bounds = stretches.bounds[-1] + windows.bounds
    return Superset(
        letters=np.append(letters, windows.letters),
        bounds=np.append(stretches.bounds, window_bounds[1:]),
        segments=stretches.joined(windows.segments),
    )


def alone_and_in_twos(block: Block, long_alleles: LongAlleles) -> Table:
    """Return a haplotype for each allele, and one for it and the next one that is near."""
    rows = long_alleles.rows
    alone = np.full(len(rows), NONE)
    first = rows[:-1]
    second = rows[1:]
    overlaps = block.alleles.overlap(first, second)
    is_pair = long_alleles.is_near & ~overlaps
    anchors = np.append(rows, first[is_pair])
    beside = np.append(alone, second[is_pair])
    return np.stack([anchors, beside], axis=1)


def united_part(block: Block) -> RecordPart:
    """Return a block's part of the record, whose letters stand for single-letter alleles too."""
    part = block.part
    rows = np.flatnonzero(is_single(block))
    offset = block.alleles.start[rows] - part.record_start
    allele_bounds, allele_letters = block.letters
    allele_masks = encode_text(allele_letters[allele_bounds[rows]])

    masks = np.zeros(len(part.letters), np.uint8)
    masks[offset] = encode_text(part.letters[offset])
    np.bitwise_or.at(masks, offset, allele_masks)
    letters = part.letters.copy()
    letters[offset] = LETTERS[masks[offset]]
    return RecordPart(part.record_start, letters)


def candidates_of(hits: HitBatch, superset: Superset, ends: PatternEnds, spread: int) -> Candidates:
    """Return hits in the letters of a superset, from one end to the other, as Candidates.

    spread: letters between hits that end in one place. A hit across the borders of texts is taken
    for the part of it that is beside its pattern end, which does no harm.
    """
    span = ends.spans(hits)
    position = ends.choose(hits.minus, *span)
    next_text = np.searchsorted(superset.bounds, position, side="right")
    text_start = superset.bounds[next_text - 1]
    text_end = superset.bounds[next_text]
    lifted = superset.segments.lift(
        np.clip(span.start, text_start, text_end),
        np.clip(span.end, text_start, text_end),
    )
    widened = superset.segments.lift(
        np.clip(hits.start - spread, text_start, text_end),
        np.clip(hits.end + spread, text_start, text_end),
    )
    position = ends.choose(hits.minus, lifted.start, lifted.end)
    return Candidates(hits, position, widened.exact_start, widened.exact_end)


def closer_candidates(candidates: Candidates, reference: ReferenceDistances) -> Candidates:
    """Return the candidates that are closer than the reference's hits at their pattern ends."""
    reference_distance = reference.nearest(candidates.hits, candidates.position)
    return candidates.take(candidates.hits.distance < reference_distance)


def crowds_of(long_alleles: LongAlleles) -> Spans:
    """Return where a hit may have three long alleles or more.

    Of these the second is near the first, and the third near the second.

        ────[ 1 ]──[ 2 ]────[ 3 ]────
        └───────────────────────────┘       from a hit over 1 to a hit over 3
    """
    is_near = long_alleles.is_near
    are_three_near = is_near[:-1] & is_near[1:]
    first = np.flatnonzero(are_three_near)
    third = first + 2
    return Spans(long_alleles.start[first], long_alleles.end[third])


def rows_within(block: Block, start: Longs, end: Longs) -> Longs:
    """Return the rows of the alleles that are in intervals of the record, int64[n].

    start, end: int64[m]. A site counts whole, and so does one that touches an interval.
    """
    # How many intervals begin at each site, less how many have ended before it.
    sites = block.sites
    count = len(sites.start)
    first_site = np.searchsorted(sites.furthest_end, start)
    stop_site = np.searchsorted(sites.start, end, side="right")
    begun = np.bincount(first_site, minlength=count)
    ended = np.bincount(stop_site, minlength=count)
    is_site_within = np.cumsum(begun - ended) > 0
    is_within = is_site_within[block.alleles.site]
    return np.flatnonzero(is_within & ~block.is_reference)
