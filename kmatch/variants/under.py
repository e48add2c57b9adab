"""Alleles of the files under hits of the reference: which there are, and which undo a hit.

record         A C G T A C G T A G G
alleles              A       C   A
a hit            [C G T A C G T]A G G      ACGTACGT beside NGG: all three are under it
                     x           x         these undo it, and C, which stands for N, does not
"""

from typing import NamedTuple

import numpy as np

from kmatch.arrays import Bytes, Longs, Objects, range_join
from kmatch.results.batches import HitBatch
from kmatch.search.query import Query
from kmatch.search.rules import rules_of
from kmatch.sequences.alphabet import complement, encode_text
from kmatch.variants.alleles import Block
from kmatch.variants.hits import PatternEnds


class Loss(NamedTuple):
    """An allele with which a copy no longer has a hit: its name, and its frequency or NaN."""

    name: str
    frequency: float


def alleles_under(block: Block, start: Longs, end: Longs) -> tuple[Longs, Longs]:
    """Return every pair of a hit and an allele under it, (int64[pairs], int64[pairs]), in order.

    start, end: int64[n], of hits in the record. An insertion is under a hit on both sides of it.
    """
    # The alleles of the sites that a hit may have.
    sites = block.sites
    first_site = np.searchsorted(sites.furthest_end, start, side="right")
    stop_site = np.searchsorted(sites.start, end)
    hit, row = range_join(sites.first_row[first_site], sites.first_row[stop_site])

    begins_before = block.alleles.start[row] < end[hit]
    ends_behind = block.alleles.end[row] > start[hit]
    is_under = begins_before & ends_behind & ~block.is_reference[row]
    return hit[is_under], row[is_under]


def names_under(block: Block, hits: HitBatch) -> Objects:
    """Return the names of the alleles under each hit, comma separated, as objects[n]."""
    hit, row = alleles_under(block, hits.start, hits.end)
    names = block.names(row)
    words: list[list[str]] = [[] for _ in range(len(hits))]
    for hit_number, row_number in zip(hit.tolist(), row.tolist(), strict=True):
        words[hit_number].append(names[row_number])
    return np.array([",".join(each) for each in words], object)


class Wanted(NamedTuple):
    """What a hit without differences has, on the record's forward strand.

    pattern: sets of bases, uint8[m]; pams: those of each PAM beside it; is_last: whether PAMs stand
    behind the pattern; boundary: the position where the two meet.
    """

    pattern: Bytes
    pams: list[Bytes]
    is_last: bool
    boundary: int

    def stands_at(self, letters: Bytes, boundary: int) -> bool:
        """Return whether letters, as sets of bases, have it, with its PAM from a boundary on."""
        size = len(self.pattern)
        pattern_start = boundary - size if self.is_last else boundary
        if not matches(letters, pattern_start, self.pattern):
            return False
        pam_starts = [boundary if self.is_last else boundary - len(pam) for pam in self.pams]
        return any(map(matches, [letters] * len(self.pams), pam_starts, self.pams))


def matches(letters: Bytes, start: int, wanted: Bytes) -> bool:
    """Return whether each of some letters is in the set of bases that is wanted there."""
    end = start + len(wanted)
    if start < 0 or end > len(letters):
        return False
    part = letters[start:end]
    return bool(((part > 0) & (part & ~wanted == 0)).all())


class LossFinder:
    """Finds the alleles that undo hits without differences.

    query, ends: of these hits.
    """

    def __init__(self, query: Query, ends: PatternEnds) -> None:
        rules = rules_of(query)
        self._ends = ends
        self._patterns = query.patterns
        self._pams = [pam.masks for pam in rules.pams] or [np.zeros(0, np.uint8)]
        self._reach = int(query.patterns.lengths.max()) + rules.reach

    def losses(self, block: Block, hits: HitBatch) -> Objects:
        """Return the Losses of each hit of the reference without differences, as objects[n].

        They are None of other hits, and of those that no allele undoes.
        """
        found = np.full(len(hits), None)
        assert hits.variants is not None
        perfect = np.flatnonzero((hits.distance == 0) & (hits.variants == ""))
        hit, row = alleles_under(block, hits.start[perfect], hits.end[perfect])
        names = block.names(row)
        wanted = [self._wanted(hits, number) for number in perfect.tolist()]
        for number, allele in zip(hit.tolist(), row.tolist(), strict=True):
            if self._is_lost(block, allele, wanted[number]):
                loss = Loss(names[allele], float(block.frequencies[allele]))
                found[perfect[number]] = [*(found[perfect[number]] or ()), loss]
        return found

    def _wanted(self, hits: HitBatch, number: int) -> Wanted:
        """Return what a hit has."""
        one = hits.picked(slice(number, number + 1))
        begins = self._patterns.begins
        pattern = int(one.pattern[0])
        masks = [self._patterns.masks[begins[pattern] : begins[pattern + 1]], *self._pams]
        if one.minus[0]:
            masks = [complement(each[::-1]) for each in masks]
        is_last = bool(self._ends.is_last(one.minus)[0])
        boundary = int(self._ends.positions(one)[0]) + is_last
        return Wanted(masks[0], masks[1:], is_last, boundary)

    def _is_lost(self, block: Block, row: int, wanted: Wanted) -> bool:
        """Return whether a copy with an allele alone no longer has a hit."""
        alleles = block.alleles
        start = int(alleles.start[row])
        end = int(alleles.end[row])
        size = int(alleles.size[row])

        # The copy's letters around the hit.
        part = block.part
        first = max(min(start, wanted.boundary) - self._reach, part.record_start)
        last = min(max(end, wanted.boundary) + self._reach, part.record_end)
        bounds, letters = block.letters
        copy = np.concatenate(
            [
                part.letters[first - part.record_start : start - part.record_start],
                letters[bounds[row] : bounds[row + 1]],
                part.letters[end - part.record_start : last - part.record_start],
            ]
        )
        masks = encode_text(copy)
        boundaries = boundaries_in_copy(wanted.boundary, start, end, size)
        return not any(wanted.stands_at(masks, each - first) for each in boundaries)


def boundaries_in_copy(boundary: int, start: int, end: int, size: int) -> range:
    """Return where a boundary between letters of the record may be in a copy with an allele.

    start, end: of what the allele replaces; size: letters that take its place.

        record      A C|G T A           boundary 2
        insertion   A C t t G T A       TT at 2: there are the boundaries 2, 3 and 4
        deletion    A G T A             of C: boundary 1
    """
    growth = size - (end - start)
    if start == end == boundary:
        return range(boundary, boundary + size + 1)
    if boundary <= start:
        return range(boundary, boundary + 1)
    if boundary >= end:
        return range(boundary + growth, boundary + growth + 1)
    return range(boundary, boundary + 1) if growth == 0 else range(0)
