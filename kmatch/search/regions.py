"""Hits inside regions: the hits of a search of the whole genome that are inside one of them."""

import os
from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from typing import NamedTuple

import numpy as np

from kmatch.arguments import MOST, checked_count
from kmatch.arrays import Bools, Longs
from kmatch.errors import InputError, listed, shown, warn
from kmatch.results.batches import RECORD, SomeBatch
from kmatch.sequences.files import StrPath, is_comment, label_of, read_lines
from kmatch.sequences.records import RecordNames, Stretch

# A path of BED, `-` for standard input, or rows (name of the record, start, end).
RegionsGiven = str | os.PathLike[str] | Iterable[tuple[str, int, int]]
COMMENT = "#"  # begins a line of BED


class Region(NamedTuple):
    """A part of a record, 0-based and half-open; where: its line, with which messages begin."""

    record: str
    start: int
    end: int
    where: str


class Regions:
    """Regions, by the names of records; they may overlap, and adjacent ones stay apart."""

    def __init__(self, regions: list[Region]) -> None:
        ordered = sorted(regions, key=lambda region: (region.record, region.start))
        self._furthest: dict[str, Region] = {}  # of each record, the region that ends last
        for name, group in groupby(ordered, key=lambda region: region.record):
            self._furthest[name] = max(group, key=lambda region: region.end)
        self.lengths: dict[str, int] = {}  # of the records of them that were read
        self._last = 0  # the same of the last one
        self._numbers = {name: number for number, name in enumerate(self._furthest)}
        rows = [(self._numbers[name], start, end) for name, start, end, _ in ordered]
        record, start, end = np.array(rows, np.int64).reshape(-1, 3).T
        self._starts = record * RECORD + start
        # How far the regions reach that do not begin later; those of a later record reach further.
        self._reach = np.maximum.accumulate(record * RECORD + end)

    def __contains__(self, name: object) -> bool:
        return name in self._numbers

    def hold(self, names: list[str], which: Longs, start: Longs, end: Longs) -> Bools:
        """Which rows are inside a region, bool[n]; names: of records, which: int64[n], of them."""
        number = np.array([self._numbers.get(name, -1) for name in names], np.int64)[which]
        first = number * RECORD + start
        region = np.searchsorted(self._starts, first, side="right") - 1
        held: Bools = (number >= 0) & (region >= 0) & (self._reach[region] >= first + end - start)
        return held

    def inside(self, batch: SomeBatch) -> SomeBatch:
        """The rows of a batch that are inside a region."""
        kept = self.hold(*batch.record_names(), batch.start, batch.end)
        return batch if kept.all() else batch.picked(np.flatnonzero(kept))

    def narrowed(self, part: Stretch) -> Stretch:
        """A Stretch without the letters of records that no region names; these stay as empty."""
        named = self._named(part.names)
        if named.all():
            return part
        letters = np.zeros(0, np.uint8)
        if named.any():
            letters = np.asarray(part.letters)[np.repeat(named, part.lengths)]
        return part._replace(lengths=np.where(named, part.lengths, 0), letters=letters)

    def meet(self, names: RecordNames, lengths: Longs, goes_on: bool = False) -> Bools:
        """Take records with so many letters, or more letters of the last one; returns which of them
        regions name."""
        named = self._named(names)
        for number in np.flatnonzero(named).tolist():
            self._last = int(lengths[number]) + goes_on * self._last
            self.join({names[number]: self._last})
        return named

    def _named(self, names: RecordNames) -> Bools:
        return np.fromiter(map(self._numbers.__contains__, names), np.bool_, len(names))

    def join(self, lengths: Mapping[str, int]) -> None:
        """Take the letters of records, or of what was searched of them."""
        for name, letters in lengths.items():
            self.lengths[name] = max(letters, self.lengths.get(name, 0))

    def check(self, label: str) -> None:
        """Compare the regions with the records that there were.

        Raises InputError for regions beyond the end of a record and where the genomes, of which
        `label` is the name, have none of the records named; warns of those they have not.
        """
        for name, letters in self.lengths.items():
            region = self._furthest[name]
            if region.end > letters:
                raise InputError(
                    f"{region.where}the region ends at {region.end:,}, and '{shown(name)}' of "
                    f"{label} has {letters:,} letters; are the regions those of another genome?"
                )
        missing = [name for name in self._furthest if name not in self.lengths]
        if not self.lengths:
            raise InputError(
                f"{self._furthest[missing[0]].where}{label} has no record {listed(missing)}; name "
                "records in the regions as the genome does"
            )
        # Those of lines that begin so are comments where no record is named like them.
        missing = [name for name in missing if not name.startswith(COMMENT)]
        if missing:
            warn(f"{label} has no record {listed(missing)}, which regions name")


def load_regions(regions: "RegionsGiven | Regions | None") -> Regions | None:
    """The Regions of what a user gives; None stays None. Raises InputError for what are none."""
    if regions is None or isinstance(regions, Regions):
        return regions
    if isinstance(regions, str | os.PathLike):
        return Regions(read_regions(regions))
    found = []
    try:
        for number, (name, start, end) in enumerate(regions, 1):
            where = f"region {number}: "
            start, end = checked_count("start", start), checked_count("end", end)
            if start > end or not isinstance(name, str):
                raise InputError(f"{where}{(name, start, end)!r}; give (name, start, end)")
            found.append(Region(name, start, end, where))
    except (TypeError, ValueError):
        raise InputError(
            f"regions are {regions!r}; give a path of BED, or rows (name, start, end)"
        ) from None
    if not found:
        raise InputError("no regions were given")
    return Regions(found)


def read_regions(path: StrPath) -> list[Region]:
    """The Regions of a BED file, or of standard input (`-`), of which three columns are read.

    A line that begins with `#` and has two positions behind its first tab is one too: a genome may
    have a record of that name. Where it has none, the line is a comment (see `Regions`).

    Raises InputError for a file without regions, and for lines that are no BED.
    """
    label = label_of(path)
    regions = list(_regions(read_lines(path, "regions"), label))
    if not regions:
        raise InputError(
            f"{label}: no regions; write BED: a record's name, a tab, start, a tab and end"
        )
    return regions


def _regions(lines: list[str], label: str) -> Iterator[Region]:
    for number, line in enumerate(lines, 1):
        name, *cells = line.split("\t") if "\t" in line else line.split() or [""]
        sound = len(cells) > 1 and all(map(_is_position, cells[:2]))
        if is_comment(line) and not (line.startswith(COMMENT) and "\t" in line and sound):
            continue
        where = f"{label}: line {number}: "
        if not sound:
            raise InputError(
                f"{where}no region: write a record's name, a tab, start, counted from 0, a tab and "
                "end; a line that is no region starts with '#'"
            )
        start, end = map(int, cells[:2])
        if start > end:
            raise InputError(f"{where}the region begins at {start} and ends before, at {end}")
        yield Region(name, start, end, where)


def _is_position(cell: str) -> bool:
    digits = cell.strip()
    return digits.isdecimal() and len(digits) < 20 and int(digits) <= MOST
