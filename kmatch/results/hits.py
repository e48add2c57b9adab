"""Hits as tables of columns."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, Self

import numpy as np

from kmatch.arrays import Bytes, Ints, Longs, Objects, Strings, bounds_of
from kmatch.engine.alignments import Columns
from kmatch.results.alignments import NONE, cigars, joined, matches, take_rows
from kmatch.results.table import Table
from kmatch.sequences.chunks import Spans
from kmatch.sequences.patterns import Pattern

ROWS = 1 << 15  # aligned at a time
ENDLESS = 1 << 62  # letters of a linear record, as far as its origin goes
SIGNS = np.array(["+", "-"])


class Origin(NamedTuple):
    """The genome that hits are in: its number among those searched, its name, None where there is
    but one, and the letters of its circular records by number, None where there is none."""

    number: int = 0
    name: str | None = None
    circles: dict[int, int] | None = None


ALONE = Origin()


@dataclass(frozen=True)
class HitBatch:
    """Hits of one chunk, n rows, sorted by record, start, end, strand and pattern.

    record: int64, the record's number in the genome; start, end: int64, 0-based and half-open on
    the record's forward strand; pattern: int32, the pattern's number; distance: int32; minus:
    uint8, 1 for the strand `-`. `spans` names the records; `align(rows)` gives the Columns of a
    slice of rows, or of rows by number, int64. `origin` is the Origin of all.
    """

    record: Longs
    start: Longs
    end: Longs
    pattern: Ints
    distance: Ints
    minus: Bytes
    spans: Spans
    align: Callable[[Any], Columns]
    origin: Origin = ALONE

    def __len__(self) -> int:
        return len(self.start)

    def record_names(self, rows: slice = slice(None)) -> tuple[list[str], Longs]:
        """Names of the records that rows are in, and which of them each row is in, int64[n].

        A chunk may show a hundred thousand records, and have hits in few.
        """
        numbers, which = np.unique(self.record[rows], return_inverse=True)
        names: Any = self.spans.names
        return [names[number] for number in (numbers - self.spans.first).tolist()], which


def hit_batch(spans: Spans, places: Any, kinds: Any, align: Callable[[Any], Columns]) -> HitBatch:
    """A HitBatch of hits in a chunk; spans: its Spans, from whose first the records count.

    places: (record, start, end), kinds: (pattern, distance, minus), as HitBatch has them.
    """
    (record, start, end), (pattern, distance, minus) = places, kinds
    return HitBatch(spans.first + record, start, end, pattern, distance, minus, spans, align)


class Hit(NamedTuple):
    """A row of Hits; start and end are 0-based and half-open on the forward strand."""

    record: str
    start: int
    end: int
    pattern: str
    distance: int
    strand: str


class ListedHit(NamedTuple):
    """A row of the Hits of several genomes."""

    genome: str
    record: str
    start: int
    end: int
    pattern: str
    distance: int
    strand: str


class Hits(Table[HitBatch, Hit]):
    """The hits of a search, in order of record, start, end, strand and pattern.

    Columns are NumPy arrays of one length: `record` and `pattern` hold names (object), `start` and
    `end` int64, 0-based and half-open on the forward strand, `distance` int32, `strand` `+` or `-`;
    `cigar` and `match`, the text as the pattern reads it, hold str (object) and are computed when
    first used. `record_number` and `pattern_number` count from 0 in the order of the genome and of
    the patterns, as names may repeat. `patterns` are those of the search.
    Of several genomes there are also `genome`, names (object), and `genome_number`.

    Iteration gives rows, `hits[3]` a row, as a Hit; `hits[:10]`, `hits[hits.distance == 0]` and
    `hits[numbers]` give Hits.
    """

    _row = Hit
    _shown = ("record", "start", "end", "pattern", "distance", "strand")
    _columns = (*_shown, "cigar", "match")
    _lazy = ("record", "pattern", "cigar", "match")
    _noun = "hit"

    def __init__(
        self, batches: Iterable[HitBatch], patterns: Sequence[Pattern], named: bool = False
    ) -> None:
        super().__init__(batches)
        self._add_genomes(named, ListedHit)
        self.patterns = patterns
        self.record_number: Longs = self._column("record", np.int64)
        self.start: Longs = self._column("start", np.int64)
        self.end: Longs = self._column("end", np.int64)
        self.pattern_number: Ints = self._column("pattern", np.int32)
        self.distance: Ints = self._column("distance", np.int32)
        self.strand: Strings = SIGNS[self._column("minus", np.uint8)]

    @cached_property
    def record(self) -> Objects:
        """Names of the records."""
        parts = []
        for batch in self.batches:
            names, which = batch.record_names()
            parts.append(np.array(names, object)[which])
        return np.concatenate([np.zeros(0, object), *parts])

    @cached_property
    def pattern(self) -> Objects:
        """Names of the patterns."""
        return np.array([pattern.name for pattern in self.patterns], object)[self.pattern_number]

    @cached_property
    def cigar(self) -> Objects:
        """Alignments from the pattern's first letter on: `=`, `X`, `I` and `D`."""
        return self._aligned(cigars)

    @cached_property
    def match(self) -> Objects:
        """The text of each hit in the direction of the pattern: A, C, G, T or N a base."""
        return self._aligned(matches)

    def _aligned(self, words: Callable[[Columns], list[str]]) -> Objects:
        found: list[str] = []
        for batch in self.batches:
            for first in range(0, len(batch), ROWS):
                found += words(batch.align(slice(first, first + ROWS)))
        return np.array(found, object)

    def _taken(self, rows: Longs) -> Self:
        batches = [self._batch(part) for part in self._by_genome(rows)]
        return type(self)(batches, self.patterns, self.named)

    def _batch(self, rows: Longs) -> HitBatch:
        """The HitBatch of rows that are in one genome."""
        spans, align = origins(self.batches, rows)
        return HitBatch(
            self.record_number[rows],
            self.start[rows],
            self.end[rows],
            self.pattern_number[rows],
            self.distance[rows],
            (self.strand[rows] == "-").astype(np.uint8),
            spans,
            align,
            self._origin(rows[0]),
        )

    def _writer(self, form: str, handle: Any) -> Any:
        from kmatch.results.tables import TableWriter

        return TableWriter(handle, form, self.patterns, self.named)


def origins(batches: list[HitBatch], rows: Longs) -> tuple[Spans, Callable[[Any], Columns]]:
    """Spans that name the records of rows, counted over several HitBatches, and their `align`."""
    bounds = bounds_of([len(batch) for batch in batches])
    source = np.searchsorted(bounds, rows, side="right") - 1
    local = rows - bounds[source]
    names: Any = {}  # by number
    for number in np.unique(source).tolist():
        batch, mine = batches[number], local[source == number]
        for record in np.unique(batch.record[mine]).tolist():
            names[record] = batch.spans.names[record - batch.spans.first]

    def align(part: Any) -> Columns:
        return aligned_anew(batches, source[part], local[part])

    none = np.zeros(0, np.int64)
    return Spans(0, names, none, none), align


def aligned_anew(batches: list[HitBatch], source: Longs, local: Longs) -> Columns:
    """The Columns of rows `local` of the batches `source`, in this order."""
    order = np.argsort(source, kind="stable")
    numbers, counts = np.unique(source, return_counts=True)
    groups = np.split(local[order], np.cumsum(counts)[:-1])
    parts = [
        batches[number].align(rows) for number, rows in zip(numbers.tolist(), groups, strict=True)
    ]
    if not parts:
        return NONE
    return take_rows(joined(parts), np.argsort(order, kind="stable"))


def sizes_of(record: Longs, lengths: dict[int, int]) -> Longs:
    """Letters of the circular records that hits are in, int64[n]; ENDLESS for a linear one."""
    numbers, which = np.unique(record, return_inverse=True)
    sizes = [lengths.get(number, ENDLESS) for number in numbers.tolist()]
    return np.array(sizes, np.int64)[which]
