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
from kmatch.variants.alleles import Block, Change, RecordPart
from kmatch.variants.hits import PatternEnds
from kmatch.variants.joining import last_start_of, leftmost


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

    # Those of them that reach into it.
    begins_before = block.alleles.start[row] < end[hit]
    ends_behind = block.alleles.end[row] > start[hit]
    is_alternative = ~block.is_reference[row]
    is_under = begins_before & ends_behind & is_alternative
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
    """The letters of a hit without differences, on the record's forward strand.

    pattern: sets of bases, uint8[m]; pams: the sets of each PAM beside it; is_last: whether PAMs
    stand behind the pattern; boundary: the position where the two meet.
    """

    pattern: Bytes
    pams: list[Bytes]
    is_last: bool
    boundary: int

    def stands_at(self, letters: Bytes, boundary: int) -> bool:
        """Return whether letters, as sets of bases, have it, with its PAM from a boundary on."""
        pattern_start = boundary
        if self.is_last:
            pattern_start = boundary - len(self.pattern)
        if not matches(letters, pattern_start, self.pattern):
            return False
        for pam in self.pams:
            pam_start = boundary if self.is_last else boundary - len(pam)
            if matches(letters, pam_start, pam):
                return True
        return False


def matches(letters: Bytes, start: int, wanted: Bytes) -> bool:
    """Return whether each of some letters is in the set of bases that is wanted there."""
    end = start + len(wanted)
    if start < 0 or end > len(letters):
        return False
    part = letters[start:end]
    is_known = part > 0
    is_wanted = part & ~wanted == 0
    return bool(np.all(is_known & is_wanted))


class LossFinder:
    """Finds the alleles that undo hits without differences.

    query, ends: of these hits.
    """

    def __init__(self, query: Query, ends: PatternEnds) -> None:
        rules = rules_of(query)
        self._ends = ends
        self._patterns = query.patterns
        self._pams = [pam.masks for pam in rules.pams]
        if not self._pams:
            self._pams = [np.zeros(0, np.uint8)]
        self._reach = int(query.patterns.lengths.max()) + rules.reach

    def losses(self, block: Block, hits: HitBatch) -> Objects:
        """Return the Losses of each hit of the reference without differences, as objects[n].

        They are None for other hits, and for hits that no allele undoes.
        """
        assert hits.variants is not None
        is_perfect = (hits.distance == 0) & (hits.variants == "")
        perfect_rows = np.flatnonzero(is_perfect)
        found = np.full(len(hits), None)
        losses_of_each = self._losses_of(block, hits.picked(perfect_rows))
        for hit_row, losses in zip(perfect_rows.tolist(), losses_of_each, strict=True):
            found[hit_row] = losses or None
        return found

    def _losses_of(self, block: Block, perfect: HitBatch) -> list[list[Loss]]:
        """Return the Losses of each hit of the reference without differences."""
        wanted = [self._wanted(perfect, number) for number in range(len(perfect))]
        hit, row = alleles_under(block, perfect.start, perfect.end)
        names = block.names(row)
        losses: list[list[Loss]] = [[] for _ in wanted]
        for number, allele in zip(hit.tolist(), row.tolist(), strict=True):
            if self._is_lost(block, allele, wanted[number]):
                frequency = float(block.frequencies[allele])
                losses[number].append(Loss(names[allele], frequency))
        return losses

    def _wanted(self, hits: HitBatch, number: int) -> Wanted:
        """Return the letters of a hit."""
        one = hits.picked(slice(number, number + 1))
        is_last = bool(self._ends.is_last(one.minus)[0])
        last_read = int(self._ends.positions(one)[0])

        # Its letters, as the record's forward strand has them.
        pattern_number = int(one.pattern[0])
        bounds = self._patterns.begins
        first = bounds[pattern_number]
        stop = bounds[pattern_number + 1]
        pattern = self._patterns.masks[first:stop]
        pams = self._pams
        if one.minus[0]:
            pattern = complement(pattern[::-1])
            pams = [complement(pam[::-1]) for pam in pams]
        return Wanted(
            pattern=pattern,
            pams=pams,
            is_last=is_last,
            boundary=last_read + 1 if is_last else last_read,
        )

    def _is_lost(self, block: Block, row: int, wanted: Wanted) -> bool:
        """Return whether a copy with an allele alone no longer has a hit."""
        change = change_in(block, row)

        # The copy's letters around the hit.
        part = block.part
        first = min(change.start, wanted.boundary) - self._reach
        first = max(first, part.record_start)
        last = max(change.end, wanted.boundary) + self._reach
        before = part.between(first, change.start)
        behind = part.between(change.end, last)
        copy = np.concatenate([before, change.letters, behind])

        # Whether the hit is at any place where it may be.
        masks = encode_text(copy)
        for form in forms_of(part, change, wanted.boundary):
            for boundary in boundaries_in_copy(wanted.boundary, form):
                if wanted.stands_at(masks, boundary - first):
                    return False
        return True


class ChangeInRecord(NamedTuple):
    """What an allele changes in its record: letters take the place of those from start to end."""

    start: int
    end: int
    letters: Bytes


def change_in(block: Block, row: int) -> ChangeInRecord:
    """Return what an allele of a block changes, by row."""
    bounds, letters = block.letters
    return ChangeInRecord(
        start=int(block.alleles.start[row]),
        end=int(block.alleles.end[row]),
        letters=letters[bounds[row] : bounds[row + 1]],
    )


def forms_of(part: RecordPart, change: ChangeInRecord, boundary: int) -> list[ChangeInRecord]:
    """Return a change as it may also be written: where it begins first, last, and at a boundary.

    part: of the record. Letters are those of the change, which come round where it moves.

        record      A C G G|G T         boundary 5
        insertion   A C g G G|G T       G at 2, 3, 4 or 5
    """
    if len(change.letters) and change.start < change.end:
        return [change]
    in_part = Change(
        start=change.start - part.record_start,
        end=change.end - part.record_start,
        letters=change.letters.tobytes(),
    )
    first_form = leftmost(part.letters, in_part)
    first_start = first_form.start + part.record_start
    last_start = last_start_of(part.letters, first_form) + part.record_start
    nearest_start = min(max(boundary, first_start), last_start)
    replaced = change.end - change.start
    starts = sorted({first_start, nearest_start, last_start})
    return [ChangeInRecord(start, start + replaced, change.letters) for start in starts]


def boundaries_in_copy(boundary: int, change: ChangeInRecord) -> range:
    """Return where a boundary between letters of the record may be in a copy with an allele.

    record      A C|G T A           boundary 2
    insertion   A C t t G T A       TT at 2: there are the boundaries 2, 3 and 4
    deletion    A G T A             of C: boundary 1
    """
    size = len(change.letters)
    growth = size - (change.end - change.start)
    if change.start == change.end == boundary:
        return range(boundary, boundary + size + 1)
    if boundary <= change.start:
        return range(boundary, boundary + 1)
    if boundary >= change.end:
        return range(boundary + growth, boundary + growth + 1)

    # Between letters that take one another's place.
    if growth == 0:
        return range(boundary, boundary + 1)
    return range(0)
