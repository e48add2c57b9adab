"""Alleles of a record: what each replaces, how it is spelled, and the copies that may have it.

A Block has the sites of a part of a record. Its alleles are rows, site after site, the reference
first. All positions are the record's.

    position    0         10
    record      ACGTACGTTTGACCAGG…

    site        0: POS 6, REF G, ALT T and GAA      1: POS 10, REF GAC, ALT G
    row         0       1       2                   3       4
    spelled     G       T       GAA                 GAC     G
    start       6       6       7                   10      11
    end         6       7       7                   10      13
    letters     -       T       AA                  -       -

The reference replaces nothing, an insertion nothing by letters, a deletion letters by nothing.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from kmatch.arrays import Bools, Bytes, Floats, Longs, Words, bounds_of, gather
from kmatch.engine.types import Texts
from kmatch.errors import InputError, shown
from kmatch.sequences.alphabet import encode_text
from kmatch.sequences.records import Letters
from kmatch.variants.genotypes import text_of
from kmatch.variants.vcf import Site

BLOCK_BYTES = 1 << 27  # of the copies of a block's alleles, about
MOST_SITES = 1 << 17  # of a block, about
SPAN = 1 << 22  # letters from a block's first site to its last, about
FOREVER = 1 << 62  # behind all positions, and all rows
NONE = -1  # in place of a row: no allele


class Change(NamedTuple):
    """What an allele changes: `letters` take the place of REF from start to end, counted in REF."""

    start: int
    end: int
    letters: bytes


@lru_cache(1 << 12)
def change_of(ref: bytes, alt: bytes) -> Change:
    """Return the Change of an allele, without the letters that it has in common with REF.

    Those at the end go first.

        REF  GACT      GCC      ACAC
        ALT  GT        GTC      ACACAC
              ^^        ^       ^
              start 1   start 1  start 0
              end 3     end 2    end 0
              -         T        AC
    """
    common = min(len(ref), len(alt))
    same_end = 0
    while same_end < common and ref[-1 - same_end] == alt[-1 - same_end]:
        same_end += 1
    same_start = 0
    while same_start < common - same_end and ref[same_start] == alt[same_start]:
        same_start += 1
    letters = alt[same_start : len(alt) - same_end]
    return Change(same_start, len(ref) - same_end, letters)


class Alleles(NamedTuple):
    """Alleles in columns of one shape, such as int64[R].

    site: the number of the site of each; start, end: what it replaces in the record; size: how many
    letters take its place.
    """

    site: Longs
    start: Longs
    end: Longs
    size: Longs

    def take(self, rows: Longs) -> "Alleles":
        """Return the alleles of some rows, in their shape."""
        return Alleles(*(column[rows] for column in self))

    @property
    def growth(self) -> Longs:
        """By how many letters each makes a copy longer; negative where it makes it shorter."""
        return self.size - (self.end - self.start)

    def overlap(self, rows: Any, others: Any) -> Any:
        """Return whether a copy cannot have two alleles at once.

        rows, others: int or int64[n], the rows of the two.

            ──[ row ]──────      ───[ row ]───      ─────|row─────
            ─────[ other ]─      ──[ other ]──      ─────|other───     they overlap

            ──[ row ]──────      ──[ row ]────
            ───────[ other ]      ─|other─────                         they do not
        """
        is_same_start = self.start[rows] == self.start[others]
        is_same_end = self.end[rows] == self.end[others]
        begins_before = self.start[rows] < self.end[others]
        ends_behind = self.start[others] < self.end[rows]
        return (is_same_start & is_same_end) | (begins_before & ends_behind)


class Sites(NamedTuple):
    """S sites of a record in order, in columns of S + 1, the last of which stands behind all.

    start: where REF begins; end: where the last letter ends that an allele of it replaces;
    furthest_end: the greatest end up to and with this site; first_row: of its reference.
    """

    start: Longs
    end: Longs
    furthest_end: Longs
    first_row: Longs

    @property
    def last_end(self) -> int:
        """Where the last letter ends that any allele replaces."""
        return int(self.furthest_end[-2])


class RecordPart(NamedTuple):
    """The letters of a record from a position on."""

    record_start: int
    letters: Bytes

    @property
    def record_end(self) -> int:
        """Where the letters end in the record."""
        return self.record_start + len(self.letters)

    def gather(self, record_starts: Longs, bounds: Longs) -> Bytes:
        """Return stretches of the record side by side, uint8[bounds[-1]].

        record_starts: int64[n], where each begins; bounds: int64[n+1], theirs among the letters
        that are returned.
        """
        return gather(self.letters, record_starts - self.record_start, bounds)


@dataclass(frozen=True)
class Block:
    """Sites of one record, far from those of other blocks, with R alleles.

    record: its name; line_numbers: of the file, a site each; spelled: the alleles as the file has
    them, R; letters: what takes the place of what each replaces; frequencies: float64[R], NaN where
    it is unknown; copies: uint64[R, W], a bit for each copy that may have it. part_start, part_end:
    the part of the record whose letters are needed.
    """

    record: str
    line_numbers: list[int]
    sites: Sites
    alleles: Alleles
    spelled: list[bytes]
    letters: Texts
    frequencies: Floats
    copies: Words
    part_start: int
    part_end: int

    @property
    def is_reference(self) -> Bools:
        """Which rows are the reference's, bool[R]."""
        flags = np.zeros(len(self.spelled), np.bool_)
        flags[self.sites.first_row[:-1]] = True
        return flags

    def part_of(self, letters: Letters) -> RecordPart:
        """Return the part of the record that is needed, out of the record's letters."""
        return RecordPart(self.part_start, letters[self.part_start : self.part_end])

    def names(self, rows: Longs) -> dict[int, str]:
        """Return the names of alleles, `chrom:pos:ref:alt`, by row."""
        sites = self.alleles.site[rows]
        positions = (self.sites.start[sites] + 1).tolist()
        first_rows = self.sites.first_row[sites].tolist()
        names: dict[int, str] = {}
        for row, first_row, position in zip(rows.tolist(), first_rows, positions, strict=True):
            ref = text_of(self.spelled[first_row])
            alt = text_of(self.spelled[row])
            names[row] = f"{self.record}:{position}:{ref}:{alt}"
        return names


def site_groups(sites: Iterable[Site], gap: int) -> Iterator[list[Site]]:
    """Yield the sites of one block after another, each of one record.

    gap: letters that are at least between the REF of sites of two blocks of a record.
    """
    group: list[Site] = []
    group_end = 0
    most = 0
    for site in sites:
        if group:
            span = site.record_start - group[0].record_start
            is_full = len(group) >= most or span >= SPAN
            is_far = site.record_start - group_end >= gap
            is_other_record = site.record != group[0].record
            if is_other_record or (is_full and is_far):
                yield group
                group = []
        if not group:
            group_end = 0
            most = min(BLOCK_BYTES // (2 * site.copies[0].nbytes), MOST_SITES)
        group.append(site)
        group_end = max(group_end, site.record_end)
    if group:
        yield group


def block_of(group: list[Site], margin: int) -> Block:
    """Return the Block of sites of one record.

    margin: letters of the record that are needed before them and behind them.
    """
    # The alleles of all sites, and what each replaces.
    spelled: list[bytes] = []
    frequencies: list[float] = []
    changes: list[Change] = []
    for site in group:
        ref = site.alleles[0]
        spelled += site.alleles
        frequencies += site.frequencies
        changes += [change_of(ref, allele) for allele in site.alleles]
    first_row = bounds_of([len(site.alleles) for site in group])
    site_start = np.array([site.record_start for site in group])
    alleles = alleles_of(site_start, first_row, changes)
    letters = [change.letters for change in changes]

    copies = np.concatenate([site.copies for site in group])
    sites = sites_of(site_start, first_row, alleles)
    allow_reference(sites, alleles, copies)
    return Block(
        record=group[0].record,
        line_numbers=[site.line_number for site in group],
        sites=sites,
        alleles=alleles,
        spelled=spelled,
        letters=Texts(bounds_of(alleles.size), np.frombuffer(b"".join(letters), np.uint8)),
        frequencies=np.array(frequencies),
        copies=copies,
        part_start=max(group[0].record_start - margin, 0),
        part_end=max(site.record_end for site in group) + margin,
    )


def alleles_of(site_start: Longs, first_row: Longs, changes: list[Change]) -> Alleles:
    """Return the Alleles of sites, which begin in the record at site_start, int64[S].

    first_row: int64[S+1], the row of each site's reference, and R; changes: R.
    """
    start, end, letters = zip(*changes, strict=True)
    numbers = np.arange(len(site_start))
    site = np.repeat(numbers, np.diff(first_row))
    ref_start = site_start[site]
    size = np.array([len(each) for each in letters])
    return Alleles(site, ref_start + np.array(start), ref_start + np.array(end), size)


def sites_of(site_start: Longs, first_row: Longs, alleles: Alleles) -> Sites:
    """Return the Sites of a block's Alleles; site_start, first_row: as `alleles_of` takes them."""
    ends = np.maximum.reduceat(alleles.end, first_row[:-1])
    start = np.append(site_start, FOREVER)
    end = np.append(ends, FOREVER)
    return Sites(start, end, np.maximum.accumulate(end), first_row)


def allow_reference(sites: Sites, alleles: Alleles, copies: Words) -> None:
    """Let a copy have the reference in place of alleles that it cannot have together.

    copies: uint64[R, W], of each allele, which gains copies where it is a reference.

        ──[ GTT → G ]──     site 0, a copy of which has this allele by its genotype,
        ────[ T → A ]──     site 1, and this one too: it may have either, with REF at the other site
    """
    row_count = len(alleles.site)
    reference_row = sites.first_row[alleles.site]
    is_alt = np.arange(row_count) > reference_row
    # The first row of each site whose alleles may end in or behind the beginning of another.
    first_site = np.searchsorted(sites.furthest_end, sites.start[:-1])
    first_met = sites.first_row[first_site][alleles.site]
    for row in np.flatnonzero(is_alt & (first_met < reference_row)).tolist():
        met = np.arange(first_met[row], reference_row[row])
        met = met[is_alt[met]]
        for other in met[alleles.overlap(row, met)].tolist():
            both = copies[row] & copies[other]
            copies[reference_row[row]] |= both
            copies[reference_row[other]] |= both


def check_reference(block: Block, part: RecordPart, label: str) -> None:
    """Raise InputError where the genome has other letters than REF of a site.

    part: of the record; label: of the VCF.
    """
    refs = [block.spelled[row] for row in block.sites.first_row[:-1].tolist()]
    bounds = bounds_of([len(ref) for ref in refs])
    genome_letters = part.gather(block.sites.start[:-1], bounds)
    genome_masks = encode_text(genome_letters)
    ref_masks = encode_text(np.frombuffer(b"".join(refs), np.uint8))
    # A genome may hide letters.
    is_wrong = (genome_masks != ref_masks) & (genome_masks > 0) & (ref_masks > 0)
    if not is_wrong.any():
        return
    site = int(np.searchsorted(bounds, np.argmax(is_wrong), side="right")) - 1
    found = genome_letters[bounds[site] : bounds[site + 1]].tobytes()
    raise InputError(
        f"{label}: line {block.line_numbers[site]:,}: REF of {block.record}:"
        f"{block.sites.start[site] + 1:,} is {shown(text_of(refs[site]))}, and the genome has "
        f"{shown(text_of(found).upper())} there; is the file of another assembly?"
    )
