"""Sites in blocks."""

from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import chain
from typing import Any

import numpy as np

from kmatch.arrays import Bytes, Longs, bounds_of, gather
from kmatch.errors import InputError, shown
from kmatch.sequences.alphabet import encode_text
from kmatch.variants.genotypes import text_of
from kmatch.variants.vcf import Site

BLOCK_BYTES = 1 << 27  # of the copies of a block's alleles, about
MOST_SITES = 1 << 17  # of a block, about
SPAN = 1 << 22  # letters from a block's first site to its last, about
FOREVER = 1 << 62


def site_groups(sites: Iterable[Site], gap: int) -> Iterator[list[Site]]:
    """Yield the sites of one block after another.

    gap: letters that are at least between what REF of the sites of two blocks stands for.
    """
    group: list[Site] = []
    group_end = 0
    most = 0
    for site in sites:
        if group:
            span = site.record_start - group[0].record_start
            is_full = len(group) >= most or span >= SPAN
            is_apart = site.record_start - group_end >= gap
            if site.record != group[0].record or (is_full and is_apart):
                yield group
                group = []
        if not group:
            group_end = 0
            most = min(BLOCK_BYTES // (2 * site.copies[0].nbytes), MOST_SITES)
        group.append(site)
        group_end = max(group_end, site.record_end)
    if group:
        yield group


class Block:
    """Sites of one record, far from those of other blocks, with R alleles: the reference is the
    first of each site.

    part: of the record, with `around` letters before and behind the sites, in which all places are
    counted. lines: of the file; alleles: of all sites; refs: letters of the references, of which
    those of each site are between bounds, int64[S+1]. place: int64[S+1], POS; behind: int64[S+1],
    where what its alleles replace ends, and reach: with that of all before; these go on with
    FOREVER. first: int64[S+1], the reference's row. site: int64[R]; start, end: int64[R], what an
    allele replaces, without letters in common; size: int64[R], the letters in its place; af:
    float64[R]; copies: uint64[R, W], a bit for each that may have it.
    """

    def __init__(self, record: str, sites: list[Site], around: int) -> None:
        _, place, self.lines, alleles, af, copies = zip(*sites, strict=True)
        refs, self.alleles = [ref for ref, *_ in alleles], [*chain.from_iterable(alleles)]
        self.refs, self.bounds = b"".join(refs), bounds_of([*map(len, refs)])
        base, stop = max(place[0] - around, 0), int((place + np.diff(self.bounds)).max())
        self.record, self.part = record, slice(base, stop + around)
        self.place = np.array([*place, FOREVER]) - base
        self.first = bounds_of([*map(len, alleles)])
        self.site = np.repeat(np.arange(len(sites)), np.diff(self.first))
        self.af = np.array([*chain.from_iterable(af)])
        self.copies = np.concatenate(copies)
        trimmed = [_trimmed(some[0], each) for some in alleles for each in some]
        start, end, letters = zip(*trimmed, strict=True)
        self.start, self.end = self.place[self.site] + np.array([start, end])
        self.size, self.letters = np.array([*map(len, letters)]), b"".join(letters)
        self.behind = np.append(np.maximum.reduceat(self.end, self.first[:-1]), FOREVER)
        self.reach = np.maximum.accumulate(self.behind)
        self._part_alleles()

    def _part_alleles(self) -> None:
        """Let copies whose alleles overlap have the reference in place of either."""
        first = self.first[self.site]
        met = self.first[np.searchsorted(self.reach, self.place[:-1])][self.site]
        some = np.arange(len(first)) > first  # but the reference
        for row in np.flatnonzero(some & (met < first)).tolist():  # it may touch those from met on
            others = np.flatnonzero(some[met[row] : first[row]]) + met[row]
            for other in others[self.overlap(row, others)].tolist():
                self.copies[first[[row, other]]] |= self.copies[row] & self.copies[other]

    def overlap(self, one: Any, other: Any) -> Any:
        """Whether a copy cannot have both alleles: rows, or int64[n] of them."""
        start, end = self.start, self.end
        same = (start[one] == start[other]) & (end[one] == end[other])
        return same | (start[one] < end[other]) & (start[other] < end[one])

    def names(self, rows: Longs) -> dict[int, str]:
        """Alleles, by row, as `chrom:pos:ref:alt`."""
        places = self.part.start + self.place[self.site[rows]] + 1
        each = rows.tolist(), self.first[self.site[rows]].tolist(), places.tolist()
        return {
            row: f"{self.record}:{place}:" + text_of(self.alleles[first] + b":" + self.alleles[row])
            for row, first, place in zip(*each, strict=True)
        }


@lru_cache(1 << 12)
def _trimmed(ref: bytes, alt: bytes) -> tuple[int, int, bytes]:
    """Start, end and letters of an allele without what it shares with the reference."""
    shorter, end, begin = min(len(ref), len(alt)), 0, 0
    while end < shorter and ref[-1 - end] == alt[-1 - end]:
        end += 1
    while begin < shorter - end and ref[begin] == alt[begin]:
        begin += 1
    return begin, len(ref) - end, alt[begin : len(alt) - end]


def check_reference(block: Block, letters: Bytes, label: str) -> None:
    """Raise InputError where a record, letters in any case, has another REF than a Block."""
    there = gather(letters, block.place[:-1], block.bounds)
    has, stated = encode_text(there), encode_text(np.frombuffer(block.refs, np.uint8))
    # A genome may hide letters.
    if len(wrong := np.flatnonzero((has != stated) & (has > 0) & (stated > 0))):
        site = int(np.searchsorted(block.bounds, wrong[0], side="right")) - 1
        low, high = block.bounds[site : site + 2]
        place = block.part.start + block.place[site] + 1
        raise InputError(
            f"{label}: line {block.lines[site]:,}: REF of {block.record}:{place:,} is "
            f"{shown(text_of(block.refs[low:high]))}, and the genome has "
            f"{shown(text_of(there[low:high].tobytes()).upper())} there; is the file of another "
            "assembly?"
        )
