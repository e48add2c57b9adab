"""Batches of hits, primers and products, as columns of one length."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from kmatch.arrays import Bytes, Floats, Ints, Longs, bounds_of, gather
from kmatch.engine.alignments import Columns
from kmatch.errors import InputError
from kmatch.results.alignments import NONE, joined, take_rows
from kmatch.results.melting import gc_fractions, melting_temperatures
from kmatch.sequences.chunks import Spans

ENDLESS = 1 << 62  # letters of a linear record, as far as its origin goes


class Origin(NamedTuple):
    """The genome that hits are in: its number among those searched, its name, None where there is
    but one, and the letters of its circular records by number, None where there is none."""

    number: int = 0
    name: str | None = None
    circles: dict[int, int] | None = None


ALONE = Origin()


@dataclass(frozen=True)
class HitBatch:
    """Hits of one chunk, n rows, sorted by record, start, end, strand and pattern; those that have
    these in common, as beside PAMs of several lengths, by their anchors.

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
        numbers, which = numbers_of(self.record[rows])
        names: Any = self.spans.names
        return [names[number] for number in (numbers - self.spans.first).tolist()], which

    def __reduce__(self) -> Any:
        """Pickled with the alignments of all rows, in place of what makes them."""
        spans, align = spans_and_align([self], np.arange(len(self)))
        fields = (self.record, self.start, self.end, self.pattern, self.distance, self.minus)
        again = partial(take_rows, align(slice(None)))
        return HitBatch, (*fields, spans, again, self.origin)

    def picked(self, rows: Longs) -> "HitBatch":
        """The HitBatch of some rows, by number, int64[n]."""

        def align(part: Any) -> Columns:
            return self.align(rows[part])

        names = ("record", "start", "end", "pattern", "distance", "minus")
        return replace(self, **{name: getattr(self, name)[rows] for name in names}, align=align)


def hit_batch(
    spans: Spans, intervals: Any, kinds: Any, align: Callable[[Any], Columns]
) -> HitBatch:
    """A HitBatch of hits in a chunk; spans: its Spans, and records count from the first of them.

    intervals: (record, start, end), kinds: (pattern, distance, minus), as HitBatch has them.
    """
    (record, start, end), (pattern, distance, minus) = intervals, kinds
    record = spans.first + record if spans.first else record
    return HitBatch(record, start, end, pattern, distance, minus, spans, align)


def numbers_of(records: Longs) -> tuple[Longs, Longs]:
    """The numbers of records, sorted, and which of them each row has; quick if all have one."""
    if len(records) and (records == records[0]).all():
        return records[:1], np.zeros(len(records), np.int64)
    numbers, which = np.unique(records, return_inverse=True)
    return numbers, which


def aligned_anew(batches: list[HitBatch], source: Longs, local: Longs) -> Columns:
    """The Columns of rows `local` of the batches `source`, in this order."""
    if not len(source):
        return NONE
    order = np.argsort(source, kind="stable")
    numbers, counts = np.unique(source, return_counts=True)
    groups = np.split(local[order], np.cumsum(counts)[:-1])
    parts = [
        batches[number].align(rows) for number, rows in zip(numbers.tolist(), groups, strict=True)
    ]
    return take_rows(joined(parts), np.argsort(order, kind="stable"))


def spans_and_align(batches: list[HitBatch], rows: Longs) -> tuple[Spans, Callable[[Any], Columns]]:
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


def sizes_of(record: Longs, lengths: dict[int, int]) -> Longs:
    """Letters of the circular records that hits are in, int64[n]; ENDLESS for a linear one."""
    numbers, which = np.unique(record, return_inverse=True)
    sizes = [lengths.get(number, ENDLESS) for number in numbers.tolist()]
    return np.array(sizes, np.int64)[which]


@dataclass(frozen=True)
class PrimerBatch:
    """Primers of one target record, n rows, sorted by start, end and strand.

    record: the record's number; name; start, end: int64[n], 0-based and half-open on the forward
    strand; minus: uint8[n], 1 for the strand `-`; codes: uint8, the record's letters, 0 to 3 and 4
    for any other; regions: int64[r, 3], stretches (start, end, minus) in which every position has a
    primer within the length limits, sorted.
    """

    record: int
    name: str
    start: Longs
    end: Longs
    minus: Bytes
    codes: Bytes
    regions: Longs

    def __len__(self) -> int:
        return len(self.start)

    @cached_property
    def first(self) -> Longs:
        """Where the first letter of each primer is, int64[n]."""
        return np.where(self.minus, self.end - 1, self.start)

    @cached_property
    def gc(self) -> Floats:
        """Share of G and C, float64[n]; see `gc_fractions`."""
        return gc_fractions(self.codes, self.start, self.end)

    @cached_property
    def tm(self) -> Floats:
        """Melting temperatures in °C, float64[n]; see `melting_temperatures`."""
        return melting_temperatures(self.codes, self.start, self.end)


class PrimerSites(NamedTuple):
    """The sites of one primer of each of n products.

    primer: int32, the primer's number; start, end: int64; distance: int32. `align(rows)` gives the
    Columns of a slice of rows, or of rows by number, int64.
    """

    primer: Ints
    start: Longs
    end: Longs
    distance: Ints
    align: Callable[[Any], Columns]

    def __reduce__(self) -> Any:
        align = partial(take_rows, self.align(slice(None)))
        return PrimerSites, (self.primer, self.start, self.end, self.distance, align)

    def picked(self, rows: Longs) -> "PrimerSites":
        """Those of some rows, by number, int64[n]."""
        chosen = (self.primer[rows], self.start[rows], self.end[rows], self.distance[rows])
        return PrimerSites(*chosen, lambda part: self.align(rows[part]))


@dataclass(frozen=True)
class ProductBatch:
    """Products, n rows, sorted by record, start, end, strand, forward and reverse primer.

    record: int64, the record's number in the genome; start, end: int64, 0-based and half-open on
    the record's forward strand; minus: uint8, 1 where the forward primer is the site on `-`; names:
    of the records, a str a row; text: the products from the forward primer on, (bounds, letters),
    or None where it was not asked for; origin: the Origin of all.
    """

    record: Longs
    start: Longs
    end: Longs
    minus: Bytes
    forward: PrimerSites
    reverse: PrimerSites
    names: list[str]
    text: tuple[Longs, Bytes] | None
    origin: Origin = ALONE

    def __len__(self) -> int:
        return len(self.start)

    def record_names(self) -> tuple[list[str], Longs]:
        """Names of the records, and which of them each row is in, int64[n]."""
        _, first, which = np.unique(self.record, return_index=True, return_inverse=True)
        return [self.names[row] for row in first.tolist()], which

    def picked(self, rows: Longs) -> "ProductBatch":
        """The ProductBatch of some rows, by number, int64[n]."""
        text = self.text
        if text is not None:
            bounds = bounds_of(np.diff(text[0])[rows])
            text = bounds, gather(text[1], text[0][rows], bounds)
        chosen: dict[str, Any] = {
            name: getattr(self, name)[rows] for name in ("record", "start", "end", "minus")
        }
        chosen |= {side: getattr(self, side).picked(rows) for side in ("forward", "reverse")}
        names = [self.names[row] for row in rows.tolist()]
        return replace(self, **chosen, names=names, text=text)

    def texts(self, rows: slice = slice(None)) -> list[str]:
        """The text of products, each a str."""
        if self.text is None:
            raise InputError("the products have no text; ask for it with sequence=True")
        bounds, letters = self.text
        first, last, _ = rows.indices(len(self))
        return [bytes(letters[a:b]).decode() for a, b in pairwise(bounds[first : last + 1])]
