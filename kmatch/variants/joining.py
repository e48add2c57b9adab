"""One allele is one allele however it is written: alleles of several lines that are equal.

Two alleles are equal if they are so once both are moved to the left as far as the reference allows:

    record        G C T T T T A
    C to CT         C T+              T comes in behind C
    T to TT                 T T+      T comes in behind the last T: moved left, behind C too

Of equal ones the first line keeps its allele, and the copies of the others have this one.
"""

import math
from collections import deque
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np

from kmatch.arrays import Bytes, Words
from kmatch.sequences.records import Letters
from kmatch.variants.alleles import Change, change_of
from kmatch.variants.vcf import Site

FARTHEST = 10_000  # letters by which an allele is moved at the most
FIRST_LOOK = 16  # letters before an allele that are compared at first


def leftmost(letters: Letters, change: Change) -> Change:
    """Return an insertion or a deletion, moved to the left as far as the record's letters allow.

    letters: of the record, in any case.

        record    G C T T T T A       start 6, end 6, letters T   ->   2, 2, T
    """
    start, end, inserted = change
    unit = inserted or upper(letters[start:end])
    size = len(unit)
    moved = 0
    look = FIRST_LOOK
    while moved < min(start, FARTHEST):
        # The letters before, and those that come round as the change moves over them.
        stop = min(moved + look, start, FARTHEST)
        before = upper(letters[start - stop : start - moved])
        for letter in reversed(before):
            if letter != unit[-1 - moved % size]:
                break
            moved += 1
        if moved < stop:
            break
        look *= 4
    turns = moved % size
    if inserted:
        inserted = unit[size - turns :] + unit[: size - turns]
    return Change(start - moved, end - moved, inserted)


def last_start_of(letters: Letters, change: Change) -> int:
    """Return where an equal change begins at the last, if one moves to the right.

    letters: of the record; change: moved to the left.

        record    G C T T T T A       start 2, end 2, letters T   ->   6
    """
    start, end, inserted = change
    if inserted and start < end:
        return start
    unit = inserted or upper(letters[start:end])
    size = len(unit)
    moved = 0
    look = FIRST_LOOK
    while moved < FARTHEST:
        stop = min(moved + look, FARTHEST)
        behind = upper(letters[end + moved : end + stop])
        for letter in behind:
            if letter != unit[moved % size]:
                return start + moved
            moved += 1
        if moved < stop:
            break  # the record ends
        look *= 4
    return start + moved


def upper(letters: Bytes) -> bytes:
    """Return letters in upper case, with T for U."""
    return letters.tobytes().upper().replace(b"U", b"T")


class Waiting(NamedTuple):
    """A site that a later line may have an allele of.

    changes: of its alleles, moved to the left; last_start: where a line with such an allele begins
    at the last.
    """

    site: Site
    changes: list[Change]
    last_start: int


class Counted(NamedTuple):
    """The copies in the file by which the frequency of an allele of several lines is counted.

    having: uint64[V], those that have it; told: uint64[V], those of which its first line tells an
    allele, and another of its lines that they have this one or the reference.
    """

    having: Words
    told: Words

    @property
    def frequency(self) -> float:
        """The share of the copies that have it, NaN where nothing is told."""
        told_count = int(np.bitwise_count(self.told).sum())
        having_count = int(np.bitwise_count(self.having).sum())
        return having_count / told_count if told_count else math.nan


class Joiner:
    """Joins the equal alleles of a record's lines, which come in order.

    letters: of the record. waiting: sites that later lines may have alleles of, in order.
    """

    def __init__(self, letters: Letters) -> None:
        self.waiting: deque[Waiting] = deque()
        self._letters = letters
        # Of each allele the site and the row there of the first line that has it.
        self._known: dict[Change, tuple[Site, int]] = {}
        self._counted: dict[Change, Counted] = {}  # of alleles of several lines

    def add(self, site: Site) -> None:
        """Take the next site, without what earlier lines have."""
        changes = self._changes_of(site)
        rows = self._own_rows(site, changes) if len(changes) > 2 else [1]
        kept = [0]
        for row in rows:
            if changes[row] in self._known:
                first_site, first_row = self._known[changes[row]]
                give(site, row, first_site, first_row)
                self._count(changes[row], site.called, row)
            else:
                kept.append(row)
        if len(kept) == 1:
            return
        if len(kept) < len(site.alleles):
            site = site.keep(kept)
            changes = [changes[row] for row in kept]
        for row in range(1, len(kept)):
            self._known[changes[row]] = (site, row)
        last_start = max(last_start_of(self._letters, change) for change in changes[1:])
        self.waiting.append(Waiting(site, changes, last_start))

    def released(self, start: float) -> list[Site]:
        """Return the sites that no line from a position on has alleles of, and forget them."""
        waiting = self.waiting
        sites: list[Site] = []
        while waiting and waiting[0].last_start < start:
            site, changes, _ = waiting.popleft()
            sites.append(site)
            for row, change in enumerate(changes[1:], 1):
                del self._known[change]
                counted = self._counted.pop(change, None)
                if counted is not None and math.isnan(site.frequencies[row]):
                    site.frequencies[row] = counted.frequency
        return sites

    def _count(self, change: Change, called: Words, row: int) -> None:
        """Count an allele in one more line; called: uint64[alleles, V], of this; row: there."""
        first_site, first_row = self._known[change]
        first_called = first_site.called
        if called.shape[1] != first_called.shape[1]:
            return
        if change not in self._counted:
            told = np.bitwise_or.reduce(first_called)
            self._counted[change] = Counted(first_called[first_row].copy(), told)
        having, told = self._counted[change]
        having |= called[row]
        told |= called[0] | called[row]

    def _changes_of(self, site: Site) -> list[Change]:
        """Return what each allele of a site changes in the record, moved to the left."""
        ref = site.alleles[0]
        changes = [Change(0, 0, b"")]
        for alt in site.alleles[1:]:
            start, end, letters = change_of(ref, alt)
            change = Change(site.record_start + start, site.record_start + end, letters)
            if not letters or start == end:
                change = leftmost(self._letters, change)
            changes.append(change)
        return changes

    def _own_rows(self, site: Site, changes: list[Change]) -> list[int]:
        """Return the rows of the alleles of a line that differ; equal ones are joined."""
        first_row: dict[Change, int] = {}
        for row in range(1, len(changes)):
            first = first_row.setdefault(changes[row], row)
            if first != row:
                give(site, row, site, first)
        return list(first_row.values())


def is_single_letter(site: Site) -> bool:
    """Return whether a site has one allele of one letter beside REF of one letter."""
    alleles = site.alleles
    return len(alleles) == 2 and len(alleles[0]) == 1 and len(alleles[1]) == 1


def give(site: Site, row: int, first_site: Site, first_row: int) -> None:
    """Give the copies and the frequency of an allele to the equal one that a line had before.

    A copy that cannot but have it has the reference there no longer.

        line        C to CT     T to TT
        copy 0      0|·         1|·         has the allele of the first line, and not C
        copy 1      0/1         0/1         may have it
    """
    if site is not first_site:
        others = np.delete(site.copies, row, axis=0)
        is_certain = site.copies[row] & ~np.bitwise_or.reduce(others)
        first_site.copies[0] &= ~is_certain
    first_site.copies[first_row] |= site.copies[row]
    frequencies = first_site.frequencies
    frequencies[first_row] = greater(frequencies[first_row], site.frequencies[row])

    # Of one line with an allele twice.
    if site is first_site:
        site.called[first_row] |= site.called[row]
        site.copies[row] = 0
        site.called[row] = 0


def greater(frequency: float, other: float) -> float:
    """Return the greater of two frequencies, of which each may be NaN."""
    return other if math.isnan(frequency) or other > frequency else frequency


def joined_alleles(sites: Iterable[Site], letters: Letters) -> Iterator[Site]:
    """Yield the sites of a record in order, where each allele is at the first of its lines.

    letters: of the record.

    Most lines put one letter in place of one where nothing waits and no other line begins: their
    alleles are like no others, and are not compared.

        line        A to G      C to T  C to CT
        record      A           C                T
                    alone       both are compared
    """
    joiner = Joiner(letters)
    single: Site | None = None  # the last site, if it is alone so far
    for site in sites:
        start = site.record_start
        if single is not None:
            if single.record_start == start:
                joiner.add(single)
            else:
                yield single
            single = None
        if joiner.waiting:
            yield from joiner.released(start)
        if not joiner.waiting and is_single_letter(site):
            single = site
        else:
            joiner.add(site)
    if single is not None:
        yield single
    yield from joiner.released(math.inf)
