"""Alleles of a record: the letters that each replaces, its spelling, and the copies that may have
it.

A Block has sites that are near one another, and the part of the record around them. Its alleles are
rows, site after site, the reference first. All positions are the record's.

    position    0         10
    record      ACGTACGTTTGACCAGG…

    site        0: POS 6, REF G, ALT T and GAA      1: POS 10, REF GAC, ALT G
    row         0       1       2                   3       4
    spelled     G       T       GAA                 GAC     G
    start       6       6       7                   10      11
    end         6       7       7                   10      13
    letters     -       T       AA                  -       -

Letters that an allele shares with REF are not replaced. The reference replaces nothing, and neither
does an insertion.
"""

from collections.abc import Iterable, Iterator
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
    """The change of an allele: `letters` take the place of REF from start to end, counted in
    REF."""

    start: int
    end: int
    letters: bytes


@lru_cache(1 << 12)
def change_of(ref: bytes, alt: bytes) -> Change:
    """Return the Change of an allele, without the letters that it has in common with REF.

    Common letters at the end are left out first, then common letters at the beginning.

        REF         GACT    GCC     ACAC
        ALT         GT      GTC     ACACAC
        start       1       1       0
        end         3       2       0
        letters     -       T       AC
    """
    common = min(len(ref), len(alt))
    same_end = 0
    while same_end < common:
        if ref[-1 - same_end] != alt[-1 - same_end]:
            break
        same_end += 1
    same_start = 0
    while same_start < common - same_end:
        if ref[same_start] != alt[same_start]:
            break
        same_start += 1
    letters = alt[same_start : len(alt) - same_end]
    return Change(same_start, len(ref) - same_end, letters)


class Alleles(NamedTuple):
    """Alleles in columns of one shape, such as int64[R].

    site: the number of the site of each; start, end: the letters that it replaces in the record;
    size: the number of letters that take their place.
    """

    site: Longs
    start: Longs
    end: Longs
    size: Longs

    def take(self, rows: Longs) -> "Alleles":
        """Return the alleles of some rows, in their shape."""
        return Alleles(
            site=self.site[rows],
            start=self.start[rows],
            end=self.end[rows],
            size=self.size[rows],
        )

    @property
    def growth(self) -> Longs:
        """By how many letters each makes a copy longer; negative where it makes it shorter."""
        replaced = self.end - self.start
        return self.size - replaced

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
    """S sites of a record in order, in columns of S + 1. The last row stands behind all sites.

    start: where REF begins; end: where the last letter ends that one of its alleles replaces;
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

    def between(self, start: int, end: int) -> Bytes:
        """Return the letters of the record from one position to another, as far as they go."""
        return self.letters[start - self.record_start : end - self.record_start]

    def gather(self, record_starts: Longs, bounds: Longs) -> Bytes:
        """Return stretches of the record side by side, uint8[bounds[-1]].

        record_starts: int64[n], where each begins; bounds: int64[n+1], theirs among the letters
        that are returned.
        """
        return gather(self.letters, record_starts - self.record_start, bounds)


class Block(NamedTuple):
    """Sites of one record, far from those of other blocks, with R alleles.

    record: its name; part: its letters around the sites; spelled: REF and ALT of the alleles as
    names have them, R; letters: these take the place of the replaced ones; frequencies: float64[R],
    NaN where it is unknown; copies: uint64[R, W], a bit for each copy that may have it.
    """

    record: str
    part: RecordPart
    sites: Sites
    alleles: Alleles
    spelled: list[str]
    letters: Texts
    frequencies: Floats
    copies: Words

    @property
    def is_reference(self) -> Bools:
        """Which rows are the reference's, bool[R]."""
        flags = np.zeros(len(self.spelled), np.bool_)
        flags[self.sites.first_row[:-1]] = True
        return flags

    def names(self, rows: Longs) -> dict[int, str]:
        """Return the names of alleles, `chrom:pos:ref:alt`, by row."""
        sites = self.alleles.site[rows]
        starts = self.sites.start[sites].tolist()
        names: dict[int, str] = {}
        for row, start in zip(rows.tolist(), starts, strict=True):
            names[row] = f"{self.record}:{start + 1}:{self.spelled[row]}"
        return names


class SiteGroup(NamedTuple):
    """The sites of one block.

    start, end: of the record, between which there are no others.

        ──[ a ]──────[ b ]──[ c ]────────[ d ]──
               └────────────────────────┘              of the group of b and c
    """

    sites: list[Site]
    start: int
    end: int


def site_groups(sites: Iterable[Site], gap: int) -> Iterator[SiteGroup]:
    """Yield the sites of one block after another, each of one record.

    gap: letters that are at least between the REF of sites of two blocks of a record.
    """
    group: list[Site] = []
    group_end = 0
    end_before = 0
    for site in sites:
        start = site.record_start
        if group and site.record != group[0].record:
            yield SiteGroup(group, end_before, FOREVER)
            group = []
            group_end = 0
            end_before = 0
        elif group and start - group_end >= gap and is_full(group, start):
            yield SiteGroup(group, end_before, start)
            group = []
            end_before = group_end
        group.append(site)
        group_end = max(group_end, site.record_end)
    if group:
        yield SiteGroup(group, end_before, FOREVER)


def is_full(group: list[Site], start: int) -> bool:
    """Return whether the sites of a block are enough for it to end before a position."""
    copies_bytes = group[0].copies[0].nbytes
    most = min(BLOCK_BYTES // (2 * copies_bytes), MOST_SITES)
    span = start - group[0].record_start
    return len(group) >= most or span >= SPAN


def part_around(group: list[Site], letters: Letters, margin: int) -> RecordPart:
    """Return the part of a record with sites, and `margin` letters before and behind them.

    letters: all of the record, where so many are left.
    """
    start = max(group[0].record_start - margin, 0)
    end = max(site.record_end for site in group) + margin
    return RecordPart(start, letters[start:end])


def check_reference(group: list[Site], part: RecordPart, label: str) -> None:
    """Raise InputError where the genome has other letters than REF of a site.

    part: of the sites' record; label: of the VCF.
    """
    # REF of all sites side by side, and what the genome has there.
    refs = [site.alleles[0] for site in group]
    ref_masks = encode_text(np.frombuffer(b"".join(refs), np.uint8))
    bounds = bounds_of([len(ref) for ref in refs])
    site_start = np.array([site.record_start for site in group])
    genome_masks = encode_text(part.gather(site_start, bounds))

    # A genome may hide letters.
    is_stated = (ref_masks > 0) & (genome_masks > 0)
    wrong = np.flatnonzero(is_stated & (genome_masks != ref_masks))
    if len(wrong):
        number = int(np.searchsorted(bounds, wrong[0], side="right")) - 1
        raise other_reference(group[number], part, label)


def other_reference(site: Site, part: RecordPart, label: str) -> InputError:
    """Return the InputError for a site where the genome has other letters than REF."""
    letters = part.between(site.record_start, site.record_end)
    of_genome = text_of(letters.tobytes()).upper()
    ref = text_of(site.alleles[0])
    line = f"line {site.line_number:,}: " if site.line_number else ""
    return InputError(
        f"{label}: {line}REF of {site.record}:{site.record_start + 1:,} is {shown(ref)}, and the "
        f"genome has {shown(of_genome)} there; is the file of another assembly?"
    )


def block_of(group: list[Site], part: RecordPart) -> Block:
    """Return the Block of sites of one record, which are in a part of it."""
    # The alleles of all sites, what each replaces, and where.
    spelled: list[str] = []
    frequencies: list[float] = []
    for site in group:
        spelled += site.spelled
        frequencies += site.frequencies
    changes = changes_of(group)
    letters = [change.letters for change in changes]
    first_row = bounds_of([len(site.alleles) for site in group])
    site_start = np.array([site.record_start for site in group])
    alleles = alleles_of(changes, site_start, first_row)
    sites = sites_of(alleles, site_start, first_row)

    # The copies that may have each.
    copies = np.concatenate([site.copies for site in group])
    allow_reference(sites, alleles, copies)
    return Block(
        record=group[0].record,
        part=part,
        sites=sites,
        alleles=alleles,
        spelled=spelled,
        letters=Texts(bounds_of(alleles.size), np.frombuffer(b"".join(letters), np.uint8)),
        frequencies=np.array(frequencies),
        copies=copies,
    )


def changes_of(group: list[Site]) -> list[Change]:
    """Return the Change of each allele of sites, site after site."""
    changes: list[Change] = []
    for site in group:
        ref = site.alleles[0]
        changes += [change_of(ref, allele) for allele in site.alleles]
    return changes


def alleles_of(changes: list[Change], site_start: Longs, first_row: Longs) -> Alleles:
    """Return the Alleles of sites out of the R changes that they make.

    site_start: int64[S], of the record; first_row: int64[S+1], the row of each site's reference,
    and R.
    """
    start, end, letters = zip(*changes, strict=True)
    allele_counts = np.diff(first_row)
    site = np.repeat(np.arange(len(site_start)), allele_counts)
    ref_start = site_start[site]
    return Alleles(
        site=site,
        start=ref_start + np.array(start),
        end=ref_start + np.array(end),
        size=np.array([len(each) for each in letters]),
    )


def sites_of(alleles: Alleles, site_start: Longs, first_row: Longs) -> Sites:
    """Return the Sites of a block's Alleles; site_start, first_row: as `alleles_of` takes them."""
    site_end = np.maximum.reduceat(alleles.end, first_row[:-1])
    end = np.append(site_end, FOREVER)
    return Sites(
        start=np.append(site_start, FOREVER),
        end=end,
        furthest_end=np.maximum.accumulate(end),
        first_row=first_row,
    )


def allow_reference(sites: Sites, alleles: Alleles, copies: Words) -> None:
    """Let a copy have the reference in place of alleles that it cannot have together.

    copies: uint64[R, W], the copies of each allele. A reference gains copies.

        ──[ GTT → G ]──     site 0, where a copy has this allele by its genotype,
        ────[ T → A ]──     site 1, and this one too: it may have either, with REF at the other site
    """
    row_count = len(alleles.site)
    reference_row = sites.first_row[alleles.site]
    is_alt = np.arange(row_count) > reference_row

    # From which row on alleles of earlier sites may end where a site begins, or behind.
    site_start = sites.start[:-1]
    first_site = np.searchsorted(sites.furthest_end, site_start)
    first_met = sites.first_row[first_site][alleles.site]
    meets_some = is_alt & (first_met < reference_row)

    for row in np.flatnonzero(meets_some).tolist():
        met = np.arange(first_met[row], reference_row[row])
        met = met[is_alt[met]]
        overlapping = met[alleles.overlap(row, met)]
        for other in overlapping.tolist():
            both = copies[row] & copies[other]
            copies[reference_row[row]] |= both
            copies[reference_row[other]] |= both
