"""Oligos on their sites: the differences of each, its melting temperature, and the letters of
genomes at each letter of the oligos.

A site on which every letter is the oligo's own tells all of that without an alignment. The others
are aligned.
"""

from typing import NamedTuple

import numpy as np

from kmatch.arrays import Bools, Floats, Longs, bounds_of, gather
from kmatch.engine.types import SKIP_PATTERN, SKIP_TEXT, codes_of
from kmatch.genome import Genomes
from kmatch.results.batches import SEEN, HitBatch
from kmatch.results.melting import Salts, melting_temperatures
from kmatch.results.table import Hits
from kmatch.search.alignments import with_alignments
from kmatch.search.query import Query
from kmatch.sequences.alphabet import encode_text
from kmatch.sequences.patterns import PatternSet

NO_SITE = -1  # in place of a number of differences
SKIPPED = SEEN.index("-")
COLDEST = -50.0  # °C, that a duplex may melt at
HOTTEST = 120.0
ADDED = SEEN.index("+")


class Duplexes(NamedTuple):
    """n oligos on their sites.

    distance: int64[n], the differences, NO_SITE where there is no site; distance_3p: int64[n], the
    differences in the oligo's last letters; tm: float64[n], the melting temperature in °C, NaN
    where it is unknown.
    """

    distance: Longs
    distance_3p: Longs
    tm: Floats

    def take(self, rows: Longs) -> "Duplexes":
        """Return some of the Duplexes."""
        return Duplexes(self.distance[rows], self.distance_3p[rows], self.tm[rows])

    def put(self, rows: Longs, others: "Duplexes") -> None:
        """Take other Duplexes in place of some rows, int64[m]."""
        self.distance[rows] = others.distance
        self.distance_3p[rows] = others.distance_3p
        self.tm[rows] = others.tm


def no_duplexes(count: int) -> Duplexes:
    """Return Duplexes of oligos without a site."""
    return Duplexes(
        distance=np.full(count, NO_SITE),
        distance_3p=np.full(count, NO_SITE),
        tm=np.full(count, np.nan),
    )


class ComparedSites(NamedTuple):
    """n sites of oligos, aligned where letters differ.

    sites: HitBatch; same_rows: int64[s], the sites on which every letter is the oligo's own;
    other_rows: int64[n − s], the others; others: HitBatch, of these, with their alignments.
    """

    sites: HitBatch
    same_rows: Longs
    other_rows: Longs
    others: HitBatch


class Comparer:
    """Compares oligos with their sites."""

    def __init__(self, oligos: PatternSet, salts: Salts) -> None:
        """salts: of the solution of duplexes."""
        self._oligos = oligos
        self._salts = salts
        self._table = Hits((), oligos)
        codes = codes_of(oligos.masks)
        begin = oligos.begins[:-1]
        end = oligos.begins[1:]
        self._codes = codes
        self._same_tm = melting_temperatures(codes, codes, begin, end, salts)
        # An oligo has no temperature of its own where a letter stands for several bases.
        self._is_plain = ~np.isnan(self._same_tm)

    def compare(
        self, sites: HitBatch, query: Query, genomes: Genomes, threads: int | None
    ) -> ComparedSites:
        """Return the ComparedSites of a HitBatch.

        query: of the search for the sites; genomes: with the sites. Raises InputError for a genome
        that is not the same any more.
        """
        is_plain = self._is_plain[sites.pattern]
        is_same = (sites.distance == 0) & is_plain
        same_rows = np.flatnonzero(is_same)
        other_rows = np.flatnonzero(~is_same)
        others = sites.picked(other_rows)
        if len(others):
            (others,) = with_alignments([others], query, genomes, threads)
        return ComparedSites(sites, same_rows, other_rows, others)

    def duplexes(self, compared: ComparedSites) -> Duplexes:
        """Return the Duplexes of sites, a row a site."""
        sites = compared.sites
        distance = sites.distance.astype(np.int64)
        distance_3p = np.zeros(len(sites), np.int64)
        tm = self._same_tm[sites.pattern]
        if len(compared.others):
            rows = compared.other_rows
            distance_3p[rows] = Hits.differences_3p.values([compared.others], self._table)
            tm[rows] = self._temperatures(compared.others)
        # Where entropies add up to nearly zero the sum is no temperature.
        is_temperature = (tm >= COLDEST) & (tm <= HOTTEST)
        return Duplexes(distance, distance_3p, np.where(is_temperature, tm, np.nan))

    def _temperatures(self, hits: HitBatch) -> Floats:
        """Return the melting temperatures of aligned sites, float64[n], in °C.

        They are NaN where letters were skipped. A letter of an oligo that stands for several bases
        is the one that fits.
        """
        ops, text = hits.aligned
        gap_count = ops.counted("I") + ops.counted("D")
        rows = np.flatnonzero(gap_count == 0)

        # The letters of these sites, and as many of their oligos.
        oligo = hits.pattern[rows]
        sites = text.stretches(text.bounds[rows], self._oligos.lengths[oligo])
        site_masks = encode_text(sites.letters)
        oligo_masks = gather(self._oligos.masks, self._oligos.begins[oligo], sites.bounds)
        is_match = (oligo_masks & site_masks) != 0
        oligo_masks = np.where(is_match, site_masks, oligo_masks)

        found = np.full(len(hits), np.nan)
        found[rows] = melting_temperatures(
            codes_of(oligo_masks),
            codes_of(site_masks),
            sites.bounds[:-1],
            sites.bounds[1:],
            self._salts,
        )
        return found

    def letter_counts(self, compared: ComparedSites, is_counted: Bools) -> Longs:
        """Return how many sites have each of SEEN at each letter of the oligos, int64[L, 7].

        is_counted: bool[n], which of the sites count.
        """
        letter_count = len(self._codes)
        counts = np.zeros((letter_count, len(SEEN)), np.int64)

        # Sites that are the same have each letter of their oligos.
        same_rows = compared.same_rows[is_counted[compared.same_rows]]
        oligo = compared.sites.pattern[same_rows]
        oligo_counts = np.bincount(oligo, minlength=len(self._oligos))
        same_counts = np.repeat(oligo_counts, self._oligos.lengths)
        counts[np.arange(letter_count), self._codes] = same_counts

        others = compared.others.picked(np.flatnonzero(is_counted[compared.other_rows]))
        if len(others):
            np.add.at(counts, self._letters_seen(others), 1)
        return counts

    def _letters_seen(self, hits: HitBatch) -> tuple[Longs, Longs]:
        """Return which letter of the oligos each column of alignments is at, and which of SEEN the
        site has there, int64[columns] each. Of letters added side by side the first one counts.

            oligo     A C G - T T A
            site      A C T G T - A
            columns   = = X D = I =
            letter    0 1 2 2 3 4 5        of the oligo
            seen      A C T + T - A
        """
        ops, text = hits.aligned
        is_added = ops.letters == SKIP_TEXT
        is_skipped = ops.letters == SKIP_PATTERN

        # How many letters of its oligo each column has before it.
        column_counts = np.diff(ops.bounds)
        hit = np.repeat(np.arange(len(hits)), column_counts)
        letters_before = bounds_of(~is_added)[:-1]
        hit_start = ops.bounds[hit]
        letters_before = letters_before - letters_before[hit_start]

        # What is added belongs to the letter before it.
        oligo_begin = self._oligos.begins[hits.pattern[hit]]
        letter = oligo_begin + letters_before - is_added

        # Each column but the skipped ones has a letter of the text.
        seen = np.full(len(is_added), SKIPPED)
        seen[~is_skipped] = codes_of(encode_text(text.letters))
        seen[is_added] = ADDED
        is_counted = np.ones(len(is_added), np.bool_)
        is_counted[1:] = ~(is_added[1:] & is_added[:-1])
        return letter[is_counted], seen[is_counted]
