"""Ranges of a genome's letters that are searched apart, each with some letters around it."""

from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from kmatch.arrays import Bytes, Longs, bounds_of
from kmatch.errors import warn
from kmatch.genome import Genome
from kmatch.packed.part import PackedPart, PartRecords
from kmatch.sequences.chunks import Spans
from kmatch.sequences.records import MOST, SHORT, Stretch


class Extent(NamedTuple):
    """Where a shard lies in its genome, and what it shows beside the letters that it owns.

    first: the number of the first record shown; offset: letters of it before those shown; names,
    lengths: of the records shown, and the letters of each that are; before, behind: letters shown
    before the first and behind the last that are owned, of the same records as these. None are at
    the border of a record, where nothing goes on. circular: whether the records are, all of which
    are whole then.
    """

    first: int
    offset: int
    names: list[str]
    lengths: Longs
    before: int
    behind: int
    circular: bool = False

    @property
    def letters(self) -> int:
        """How many letters are shown."""
        return int(self.lengths.sum())

    @property
    def end(self) -> tuple[int, int]:
        """(record, offset) in the genome of the letter behind the last that is owned."""
        last = len(self.names) - 1
        begin = 0 if last else self.offset
        return self.first + last, begin + int(self.lengths[last]) - self.behind

    def spans(self) -> Spans:
        """The records with their letters so far, without where they lie in a chunk."""
        lengths = self.lengths.copy()
        lengths[0] += self.offset
        return Spans(self.first, self.names, np.zeros(len(lengths), np.int64), lengths)


class ShardGenome(Genome):
    """The letters of an Extent as a Genome, whose searches give what the extent owns.

    label: of the whole genome; content: the letters, or their PackedPart. Records count from the
    extent's first, and positions from the first letter shown. One of circular records has no
    borders.
    """

    def __init__(self, label: str, extent: Extent, content: Bytes | PackedPart) -> None:
        self._begin(label, False, warn)
        self.extent = None if extent.circular else extent
        if isinstance(content, PackedPart):
            vars(self)["file"] = PartRecords(label, extent.names, extent.lengths, content)
        else:
            self._kept = list(stretches_of(extent, content))


def stretches_of(extent: Extent, letters: Bytes) -> Iterator[Stretch]:
    """Yield Stretches of an Extent's letters: long records alone, short ones together."""
    names, lengths = extent.names, extent.lengths
    bounds = bounds_of(lengths)
    long = np.flatnonzero(lengths > SHORT)
    cuts = np.unique([0, *range(MOST, len(names), MOST), *long, *(long + 1), len(names)])
    for first, last in pairwise(cuts.tolist()):
        part = letters[bounds[first] : bounds[last]]
        yield Stretch(names[first:last], lengths[first:last], part)


class Cutter:
    """Cuts a genome into Extents while its records come.

    letters: that the next extent owns, 1 or more; context: letters that it shows on either side;
    first: the number of the first record that comes.
    """

    def __init__(self, letters: int, context: int, first: int = 0) -> None:
        self.letters, self._context = letters, context
        self._first, self._offset = first, 0
        self.before = 0  # letters that the next Extent shows before those it owns
        self._names: list[str] = []
        self._lengths = np.zeros(0, np.int64)

    def add(self, names: list[str], lengths: Longs, goes_on: bool = False) -> Iterator[Extent]:
        """Take records, of which the first may continue the last; yield the Extents complete."""
        if goes_on:
            self._lengths[-1] += lengths[0]
        self._names += names[goes_on:]
        self._lengths = np.concatenate([self._lengths, lengths[goes_on:]])
        # One letter more tells that the record goes on behind the context.
        while self._lengths.sum() > self.before + self.letters + self._context:
            yield self._cut()

    def finish(self) -> Iterator[Extent]:
        """Yield the Extent of what is left, if anything is."""
        if self._names:
            yield self._extent(self._names, self._lengths, 0)

    def _cut(self) -> Extent:
        own = self.before + self.letters
        ends = np.cumsum(self._lengths)
        record = int(np.searchsorted(ends, own, side="right"))
        begin = int(ends[record] - self._lengths[record])
        inside = own - begin  # letters of the record before the border
        behind = min(self._context, int(ends[record]) - own) if inside else 0
        shown = record + (inside > 0)
        names, lengths = self._names[:shown], self._lengths[:shown].copy()
        if inside:
            lengths[-1] = inside + behind
        extent = self._extent(names, lengths, behind)
        self.before = min(self._context, inside)
        self._offset = (0 if record else self._offset) + inside - self.before
        self._first += record
        self._names, self._lengths = self._names[record:], self._lengths[record:].copy()
        self._lengths[0] -= inside - self.before
        return extent

    def _extent(self, names: list[str], lengths: Longs, behind: int) -> Extent:
        return Extent(self._first, self._offset, names, lengths, self.before, behind)
