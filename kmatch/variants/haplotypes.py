"""Haplotypes: alleles that a copy may have together around one of them, the anchor.

A haplotype is a row of a table: the row of its anchor among the alleles of the block, then the rows
of the alleles beside it, and NONE where it has the reference.

    site        4       5       6
    alleles     T       A       C or GG
    rows        8       10      12, 13

    around 10   10  ·  ·        with the reference at the sites 4 and 6
                10  8  ·
                10  ·  12
                10  8  12
                10  ·  13
                10  8  13

Only haplotypes that some copy may have, by its genotypes, are in the table.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from kmatch.arrays import Bools, Longs, Rows, Table, Words, range_join
from kmatch.variants.alleles import NONE, Block

TOGETHER = 1 << 13  # anchors whose haplotypes are made together
LARGE = 1 << 22  # bytes of copies that are looked at together
NO_COPY = np.uint64(0)  # words of copies
EVERY_COPY = ~NO_COPY


@dataclass(frozen=True, eq=False, repr=False)
class Growing(Rows):
    """Haplotypes that are being made, n rows.

    rows: int64[n, D], so far; next_site: int64[n], the one whose allele is taken next; start, end:
    int64[n], the part of the record that their windows may show; copies: uint64[n, W], which may
    have these alleles, and the reference at the other sites so far; spent: uint64[n, W], the copies
    that have had their one free allele, where haplotypes are restricted, otherwise uint64[n, 0].
    """

    rows: Table
    next_site: Longs
    start: Longs
    end: Longs
    copies: Words
    spent: Words

    @property
    def anchors(self) -> Longs:
        """The row of the anchor of each, int64[n]."""
        return self.rows[:, 0]

    @property
    def is_large(self) -> bool:
        """Whether they are too many to be looked at together."""
        byte_count = self.copies.nbytes + self.spent.nbytes
        return byte_count > LARGE and len(self.rows) > 1

    def halves(self) -> list["Growing"]:
        """Return the haplotypes in two parts."""
        middle = len(self.rows) // 2
        lower = self.take(slice(middle))
        upper = self.take(slice(middle, None))
        return [lower, upper]


class Choices(NamedTuple):
    """The alleles that haplotypes may have at their next sites, n choices.

    parent: int64[n], which haplotype chooses; row: int64[n], the allele, or the reference; taken:
    int64[n], the allele, or NONE; reference_row: int64[n], of the site; is_shown: bool[n], whether
    the window shows any of the site.
    """

    parent: Longs
    row: Longs
    taken: Longs
    reference_row: Longs
    is_shown: Bools


class Haplotypes:
    """The haplotypes around anchors of a block.

    flank: letters of a window on either side of its anchor; has_before: whether alleles before the
    anchor matter; most: haplotypes of an anchor, beyond which it is dense. Around an anchor that is
    dense haplotypes are restricted: of the alleles that a copy may be without, its free ones, they
    have one at the most.

    is_dense: bool[R], which anchors have been found to be dense so far.
    """

    def __init__(self, block: Block, flank: int, has_before: bool, most: int) -> None:
        self._sites = block.sites
        self._alleles = block.alleles
        self._copies = block.copies
        self._deleted = np.maximum(-block.alleles.growth, 0)
        self._flank = flank
        self._first_step = -1 if has_before else 1
        self._most = most
        self.is_dense = np.zeros(len(block.spelled), np.bool_)

    def around(self, anchors: Longs) -> Iterator[Table]:
        """Yield the haplotypes around alleles, of several alleles together, int64[n, D].

        anchors: int64[n], rows in ascending order.
        """
        for first in range(0, len(anchors), TOGETHER):
            together = anchors[first : first + TOGETHER]
            grown = list(self._grown(together))
            tables: list[Table] = []
            for table in grown:
                is_dense = self.is_dense[table[:, 0]]
                tables.append(table[~is_dense])
            dense_anchors = together[self.is_dense[together]]
            tables += self._grown(dense_anchors, is_restricted=True)
            yield one_below_another(tables)

    def _grown(self, anchors: Longs, is_restricted: bool = False) -> Iterator[Table]:
        """Yield the haplotypes around anchors, int64[n, D].

        Each branches at one site after another. Where haplotypes are not restricted, anchors that
        have too many are given up, and noted as dense.

            start                  anchor           end      the letters that a window may show
              |   2       1          ║       3       |
            ──|──site────site───────site────site─────|──     the order of sites
        """
        waiting = [self._begun(anchors, is_restricted)]
        while waiting:
            growing = waiting.pop()
            if growing.is_large:
                waiting += growing.halves()
                continue
            growing = self._turned(growing)
            is_open = self._is_open(growing)
            yield growing.rows[~is_open]
            if not is_restricted:
                self._note_dense(growing)
                is_open &= ~self.is_dense[growing.anchors]
            if is_open.any():
                growing = growing.take(is_open)
                waiting.append(self._branched(growing))

    def _begun(self, anchors: Longs, is_restricted: bool) -> Growing:
        """Return the haplotypes that have their anchors alone, int64[n]."""
        copies = self._copies[anchors]
        spent = np.zeros_like(copies)
        if not is_restricted:
            spent = spent[:, :0]
        return Growing(
            rows=anchors[:, None],
            next_site=self._alleles.site[anchors] + self._first_step,
            start=self._alleles.start[anchors] - self._flank,
            end=self._alleles.end[anchors] + self._flank,
            copies=copies,
            spent=spent,
        )

    def _is_below(self, growing: Growing) -> Bools:
        """Return which haplotypes go down from their anchors, bool[n]."""
        anchor_site = self._alleles.site[growing.anchors]
        return growing.next_site < anchor_site

    def _turned(self, growing: Growing) -> Growing:
        """Return haplotypes, which go up from their anchors once nothing below is shown."""
        anchor_site = self._alleles.site[growing.anchors]
        next_site = growing.next_site
        furthest_end = self._sites.furthest_end[next_site]
        is_done = (furthest_end <= growing.start) | (next_site < 0)
        is_turned = self._is_below(growing) & is_done
        next_site = np.where(is_turned, anchor_site + 1, next_site)
        return replace(growing, next_site=next_site)

    def _is_open(self, growing: Growing) -> Bools:
        """Return which haplotypes have a next site that their windows may show, bool[n]."""
        site_start = self._sites.start[growing.next_site]
        is_shown = site_start < growing.end
        return self._is_below(growing) | is_shown

    def _note_dense(self, growing: Growing) -> None:
        """Take note of the anchors that have more haplotypes than allowed."""
        anchors = growing.anchors
        lowest = anchors.min()
        counts = np.bincount(anchors - lowest)
        too_many = np.flatnonzero(counts > self._most)
        self.is_dense[lowest + too_many] = True

    def _branched(self, growing: Growing) -> Growing:
        """Return haplotypes with each allele that they may have at their next sites."""
        choices = self._choices(growing)
        is_below = self._is_below(growing)[choices.parent]
        branched = growing.take(choices.parent)

        # What is shown grows by what an allele deletes, on its side of the anchor.
        deleted = self._deleted[choices.row]
        branched = replace(
            branched,
            next_site=branched.next_site + np.where(is_below, -1, 1),
            start=branched.start - np.where(is_below, deleted, 0),
            end=branched.end + np.where(is_below, 0, deleted),
        )

        # What no copy may have is left out.
        branched = self._with_copies(branched, choices)
        fits = branched.copies.any(axis=1)
        fits &= ~self._overlaps(branched.rows, choices.taken)
        if (choices.taken != NONE).any():
            rows = np.column_stack([branched.rows, choices.taken])
            branched = replace(branched, rows=rows)
        return branched.take(fits)

    def _choices(self, growing: Growing) -> Choices:
        """Return the alleles and the reference of the haplotypes' next sites.

        Where the window does not show a site the reference stands for all.
        """
        next_site = growing.next_site
        site_end = self._sites.end[next_site]
        is_above = ~self._is_below(growing)
        is_shown = is_above | (site_end > growing.start)
        first_row = self._sites.first_row[next_site]
        next_row = self._sites.first_row[next_site + 1]
        stop_row = np.where(is_shown, next_row, first_row + 1)
        parent, row = range_join(first_row, stop_row)
        reference_row = first_row[parent]
        is_allele = row > reference_row
        return Choices(
            parent=parent,
            row=row,
            taken=np.where(is_allele, row, NONE),
            reference_row=reference_row,
            is_shown=is_shown[parent],
        )

    def _with_copies(self, branched: Growing, choices: Choices) -> Growing:
        """Return haplotypes with the copies alone that may also have their choices."""
        # A site that is not shown does not matter.
        may_have = self._copies[choices.row]
        may_have[~choices.is_shown] = EVERY_COPY
        copies = branched.copies & may_have
        spent = branched.spent
        if spent.shape[1]:
            # A copy has one free allele at the most.
            free = self._copies[choices.reference_row]
            free[choices.taken == NONE] = NO_COPY
            copies &= ~(free & spent)
            spent = spent | (free & copies)
        return replace(branched, copies=copies, spent=spent)

    def _overlaps(self, rows: Table, taken: Longs) -> Bools:
        """Return which haplotypes, int64[n, D], cannot take an allele or NONE, int64[n]."""
        overlaps = np.zeros(len(taken), np.bool_)
        for column in rows.T:
            both_taken = (taken != NONE) & (column != NONE)
            overlaps |= both_taken & self._alleles.overlap(taken, column)
        return overlaps


def one_below_another(tables: list[Table]) -> Table:
    """Return tables of haplotypes as one, with NONE behind the alleles where a haplotype has
    fewer."""
    width = max(table.shape[1] for table in tables)
    height = sum(len(table) for table in tables)
    joined = np.full((height, width), NONE)
    row = 0
    for table in tables:
        stop_row = row + len(table)
        joined[row:stop_row, : table.shape[1]] = table
        row = stop_row
    return joined


def carriers(block: Block, rows: Table, start: Longs, end: Longs) -> Words:
    """Return the copies that may have some alleles and no others between two positions.

    rows: int64[n, D], the alleles, or NONE; start, end: int64[n], of the record. It is
    uint64[n, W].

                       start              end
        site 0  ──[ A ]──|─────────────────|──
        site 1       ──[ C ]──             |
        site 2           |      ──[ B ]──  |

        The carriers of B have B at site 2, the reference at site 1, and anything at site 0.
    """
    sites = block.sites
    shape = (len(rows), block.copies.shape[1])
    copies = np.full(shape, EVERY_COPY)
    for column in rows.T:
        has_allele = np.flatnonzero(column != NONE)
        copies[has_allele] &= block.copies[column[has_allele]]

    # Sites between the positions, the first one of all rows, then the second one, and so on.
    allele_sites = block.alleles.site[rows]
    allele_sites[rows == NONE] = NONE
    site = np.searchsorted(sites.furthest_end, start, side="right")
    stop_site = np.searchsorted(sites.start, end)
    while (is_between := site < stop_site).any():
        has_allele = (allele_sites == site[:, None]).any(axis=1)
        numbers = np.flatnonzero(is_between & ~has_allele)
        may_have = copies_without(block, site[numbers], start[numbers], end[numbers])
        copies[numbers] &= may_have
        site += 1
    return copies


def copies_without(block: Block, site: Longs, start: Longs, end: Longs) -> Words:
    """Return the copies that may have no allele of a site between two positions, uint64[n, W].

    site, start, end: int64[n]. They have the reference, or an allele that is elsewhere.
    """
    alleles = block.alleles
    first_row = block.sites.first_row[site]
    next_row = block.sites.first_row[site + 1]
    last_row = next_row - 1
    alt_count = last_row - first_row
    copies = block.copies[first_row]
    for number in range(1, alt_count.max(initial=0) + 1):
        row = np.minimum(first_row + number, last_row)
        begins_before = alleles.start[row] < end
        ends_behind = alleles.end[row] > start
        may_have = block.copies[row]
        may_have[begins_before & ends_behind] = NO_COPY
        copies |= may_have
    return copies
