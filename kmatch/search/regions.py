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
from kmatch.sequences.selection import Selection

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
        self._of_record: dict[str, list[Region]] = {}
        for name, group in groupby(ordered, key=lambda region: region.record):
            self._of_record[name] = list(group)
            self._furthest[name] = max(self._of_record[name], key=lambda region: region.end)
        self.lengths: dict[str, int] = {}  # of the records of them that were read
        self._numbers: dict[str, int] = {}
        for number, name in enumerate(self._furthest):
            self._numbers[name] = number

        # Where regions begin on one line of all records, and how far those so far go there.
        #     regions          [-----------]   [-----]        of a later record  [---]
        #                         [---]
        #     furthest end     ............|...|.....|                           ....|
        line_starts: list[int] = []
        line_ends: list[int] = []
        for region in ordered:
            record_start = self._numbers[region.record] * RECORD
            line_starts.append(record_start + region.start)
            line_ends.append(record_start + region.end)
        self._starts = np.array(line_starts, np.int64)
        ends = np.array(line_ends, np.int64)
        self._furthest_ends = np.maximum.accumulate(ends)

    def __contains__(self, name: object) -> bool:
        return name in self._numbers

    def hold(self, names: list[str], which: Longs, start: Longs, end: Longs) -> Bools:
        """Return which rows are inside a region, bool[n].

        names: of records; which: int64[n], which of these each row is in; start, end: int64[n].
        """
        numbers = [self._numbers.get(name, -1) for name in names]
        number = np.array(numbers, np.int64)[which]
        record_start = number * RECORD
        line_start = record_start + start
        line_end = record_start + end

        # The last region that does not begin behind a row, or one before it, goes on to its end.
        region = np.searchsorted(self._starts, line_start, side="right") - 1
        is_covered: Bools = self._furthest_ends[region] >= line_end
        return is_covered & (number >= 0) & (region >= 0)

    def inside(self, batch: SomeBatch) -> SomeBatch:
        """Return the rows of a batch that are inside a region."""
        names, which = batch.record_names()
        is_inside = self.hold(names, which, batch.start, batch.end)
        if is_inside.all():
            return batch
        return batch.picked(np.flatnonzero(is_inside))

    def letters_left(self, name: str, length: int, minus: int) -> Longs:
        """Return how many letters a region has from each position of a record on, int64[length].

        length: letters of the record; minus: 1 for the positions of its reverse complement. Of
        several regions the one that goes furthest counts:

            regions       [---------]
                                [-----]
            position    0 1 2 3 4 5 6 7
            letters     0 4 3 4 3 2 1 0
        """
        furthest_end = np.zeros(length, np.int64)
        for region in self._of_record.get(name, ()):
            start = length - region.end if minus else region.start
            end = length - region.start if minus else region.end
            if start < end:
                furthest_end[start] = max(furthest_end[start], end)
        furthest_end = np.maximum.accumulate(furthest_end)
        return np.maximum(furthest_end - np.arange(length), 0)

    def narrowed(self, part: Stretch) -> Stretch:
        """Return a Stretch without the letters of records that no region names.

        These records stay, and are empty.
        """
        is_named = self.are_named(part.names)
        if is_named.all():
            return part
        letters = np.zeros(0, np.uint8)
        if is_named.any():
            is_wanted = np.repeat(is_named, part.lengths)
            letters = np.asarray(part.letters)[is_wanted]
        lengths = np.where(is_named, part.lengths, 0)
        return part._replace(lengths=lengths, letters=letters)

    def meet(self, names: RecordNames, lengths: Longs) -> Bools:
        """Take records, or the parts of records so far, with so many letters, int64[r].

        Returns which of them regions name, bool[r].
        """
        is_named = self.are_named(names)
        for number in np.flatnonzero(is_named).tolist():
            self.join({names[number]: int(lengths[number])})
        return is_named

    def are_named(self, names: Iterable[str]) -> Bools:
        """Return which records regions name, bool[r]."""
        are_named = [name in self._numbers for name in names]
        return np.array(are_named, np.bool_)

    def join(self, lengths: Mapping[str, int]) -> None:
        """Take the letters of records, or of the parts of records that were searched."""
        for name, letters in lengths.items():
            before = self.lengths.get(name, 0)
            self.lengths[name] = max(letters, before)

    def check(self, label: str, selection: Selection | None = None) -> None:
        """Compare the regions with the records that there were.

        selection: takes these, if not all are searched. Raises InputError for regions beyond the
        end of a record and where the genomes, of which `label` is the name, have none of the
        records named; warns of those they have not.
        """
        for name, letters in self.lengths.items():
            region = self._furthest[name]
            if region.end > letters:
                where = f"{region.where}the region ends at {region.end:,}"
                raise InputError(
                    f"{where}, and '{shown(name)}' of {label} has {letters:,} letters; "
                    "are the regions those of another genome?"
                )

        missing: list[str] = []
        for name in self._furthest:
            is_skipped = selection is not None and not selection.takes(name)
            if name not in self.lengths and not is_skipped:
                missing.append(name)
        if not self.lengths:
            if not missing:
                raise InputError(f"{label}: no region is in a record that is searched")
            where = self._furthest[missing[0]].where
            raise InputError(
                f"{where}{label} has no record {listed(missing)}; name "
                "records in the regions as the genome does"
            )

        # Lines that begin so are comments where no record has their name.
        missing = [name for name in missing if not name.startswith(COMMENT)]
        if missing:
            warn(f"{label} has no record {listed(missing)}, which regions name")


def load_regions(regions: "RegionsGiven | Regions | None") -> Regions | None:
    """Return the Regions that a user gives; None stays None.

    Raises InputError for anything but regions.
    """
    if regions is None or isinstance(regions, Regions):
        return regions
    if isinstance(regions, str | os.PathLike):
        return Regions(read_regions(regions))

    found: list[Region] = []
    try:
        for number, (name, start, end) in enumerate(regions, 1):
            where = f"region {number}: "
            start = checked_count("start", start)
            end = checked_count("end", end)
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
    """Return the Regions of a BED file, or of standard input (`-`); three columns are read.

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
    """Yield the Region of each line that is no comment."""
    for number, line in enumerate(lines, 1):
        separator = "\t" if "\t" in line else None
        cells = line.split(separator)
        has_positions = len(cells) > 2 and _is_position(cells[1]) and _is_position(cells[2])

        # A record may have a name that begins as comments do.
        may_be_region = line.startswith(COMMENT) and separator and has_positions
        if is_comment(line) and not may_be_region:
            continue

        where = f"{label}: line {number}: "
        if not has_positions:
            raise InputError(
                f"{where}no region: write a record's name, a tab, start, counted from 0, a tab and "
                "end; a line that is no region starts with '#'"
            )
        start = int(cells[1])
        end = int(cells[2])
        if start > end:
            raise InputError(f"{where}the region begins at {start} and ends before, at {end}")
        yield Region(cells[0], start, end, where)


def _is_position(cell: str) -> bool:
    """Return whether a cell is a position that a record may have."""
    digits = cell.strip()
    is_short_number = digits.isdecimal() and len(digits) < 20
    return is_short_number and int(digits) <= MOST
