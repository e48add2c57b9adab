"""The hits of a query: how far they extend, by which end they are compared, and their search."""

from typing import Any, NamedTuple

import numpy as np

from kmatch.arrays import Bools, Bytes, Longs
from kmatch.genome import Genome, Genomes
from kmatch.results.batches import HitBatch, joined, letters_beside, no_hits
from kmatch.search.begin import begin_here
from kmatch.search.panel import pattern_distances
from kmatch.search.query import Query, Run
from kmatch.search.rules import rules_of
from kmatch.sequences.records import RecordNames, Stretch


class Extents(NamedTuple):
    """How far hits extend, and alleles matter to them.

    greatest_distance: of a hit; longest: letters of a hit, its PAM included; flank: letters on
    either side of an allele that decide about hits over it, but for minima on long plateaus (see
    made.py); spread: so far from one another hits may begin that end in one place; has_gaps:
    whether letters may be inserted and deleted; has_minima: whether those ends alone are hits that
    are lower than what is around them.

                  allele
        |<-flank->|====|<-flank->|
            |-- longest --|                a hit over the allele
    |-- longest --|                        with minima: an end beside it may be lower
    """

    greatest_distance: int
    longest: int
    flank: int
    spread: int
    has_gaps: bool
    has_minima: bool

    @property
    def block_gap(self) -> int:
        """Letters that are at least between blocks, so that no hit and no window has two."""
        return self.flank + 2 + self.spread

    @property
    def block_margin(self) -> int:
        """Letters around the sites of a block that its windows and the hits near it may have."""
        return self.flank + 2 * self.longest


def extents_of(query: Query) -> Extents:
    """Return the Extents of the hits of a Query."""
    rules = rules_of(query)
    has_gaps = query.problem == "edit"
    has_minima = has_gaps and query.reported == "minima"
    distances = pattern_distances(query.patterns, query.k)
    greatest_distance = int(distances.max())
    lengths = query.patterns.lengths
    if has_gaps:
        lengths = lengths + distances
    longest = int(lengths.max()) + rules.reach
    spread = 2 * greatest_distance if has_gaps else 0
    if rules.unequal:
        spread += rules.reach
    lengths_around = 2 if has_minima else 1
    flank = lengths_around * longest - 1
    return Extents(
        greatest_distance=greatest_distance,
        longest=longest,
        flank=flank,
        spread=spread,
        has_gaps=has_gaps,
        has_minima=has_minima,
    )


class Spans(NamedTuple):
    """Parts of a text or of a record; start, end: int64[n]."""

    start: Longs
    end: Longs


class PatternEnds(NamedTuple):
    """The end by which hits are compared: the pattern's 3′ end, or where a PAM stands before the
    pattern its 5′ end. The PAM does not count.

    pam_leads: whether a PAM stands before the pattern; pam_length: its letters, None where PAMs
    have several lengths, and all hits are aligned; pattern_lengths: int64[P].

                    PAM behind             PAM before
        strand +    5′ ─────── 3′ NGG      TTTV 5′ ─────── 3′
                               ^                 ^
        strand -    CCN 3′ ─────── 5′      3′ ─────── 5′ BAAA
                        ^                           ^
    """

    pam_leads: bool
    pam_length: int | None
    pattern_lengths: Longs

    def is_last(self, minus: Bytes) -> Bools:
        """Return whether the last letter of a pattern is at its end, and its PAM behind, bool[n].

        minus: uint8[n], 1 for the strand `-`.
        """
        return minus == self.pam_leads

    def choose(self, minus: Bytes, start: Longs, end: Longs) -> Longs:
        """Return the position of the letter at the pattern end, int64[n].

        start, end: int64[n], of patterns without their PAMs.
        """
        return np.where(self.is_last(minus), end - 1, start)

    def spans(self, hits: HitBatch) -> Spans:
        """Return where the patterns of hits are without their PAMs."""
        pam_length: Any = self.pam_length or 0
        if self.pam_length is None and len(hits):
            pam_length = letters_beside(hits.aligned, self.pattern_lengths[hits.pattern])
        is_behind = self.is_last(hits.minus)
        return Spans(
            start=hits.start + np.where(is_behind, 0, pam_length),
            end=hits.end - np.where(is_behind, pam_length, 0),
        )

    def positions(self, hits: HitBatch) -> Longs:
        """Return where the letter is at the pattern end of each hit, int64[n]."""
        return self.choose(hits.minus, *self.spans(hits))

    def numbers(self, hits: HitBatch, positions: Longs) -> Longs:
        """Return a number for the position, the pattern and the strand of each hit, int64[n].

        positions: int64[n], of the pattern ends.
        """
        kind_count = 2 * len(self.pattern_lengths)
        kind = 2 * hits.pattern.astype(np.int64) + hits.minus
        return positions * kind_count + kind


def pattern_ends_of(query: Query) -> PatternEnds:
    """Return the PatternEnds of a Query's hits."""
    rules = rules_of(query)
    pam_length = None if rules.unequal else rules.reach
    return PatternEnds(rules.leads, pam_length, query.patterns.lengths)


class TextSearch:
    """The search of a Query in texts that are made on the way, such as windows."""

    def __init__(self, query: Query, run: Run) -> None:
        self._query = query
        self._run = run
        self._search: Any = None

    def hits(self, letters: Bytes, bounds: Longs) -> HitBatch:
        """Return the hits that the query asks for in records side by side; bounds: int64[n+1]."""
        return self._hits_in(letters, bounds, self._query.reported, self._run.aligned, False)

    def every_end(self, letters: Bytes, bounds: Longs, united: bool = False) -> HitBatch:
        """Return hits at every end, whatever the query's report, without alignments.

        united: whether letters may stand for several bases.
        """
        return self._hits_in(letters, bounds, "ends", False, united)

    def _hits_in(
        self, letters: Bytes, bounds: Longs, report: str, aligned: bool, united: bool
    ) -> HitBatch:
        lengths = np.diff(bounds)
        if not len(lengths):
            return no_hits()
        stretch = Stretch(RecordNames.of([""] * len(lengths)), lengths, letters)
        genome = Genome.of_stretches("windows of variants", [stretch])
        if self._search is None:
            self._search = begin_here(self._query, Genomes(genome), self._run)
        batches = self._search.hits_in(genome, report, aligned, united)
        return joined([no_hits(), *batches])
