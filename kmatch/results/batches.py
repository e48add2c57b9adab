"""Batches of what a search finds, as columns of one length: what searches give and writers take."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from kmatch.arrays import Bytes, Floats, Ints, Longs
from kmatch.engine.alignments import Columns
from kmatch.errors import InputError
from kmatch.results.alignments import NONE, joined, take_rows
from kmatch.results.melting import gc_fractions, melting_temperatures
from kmatch.sequences.chunks import Spans


@dataclass(frozen=True)
class HitBatch:
    """Hits of one chunk, n rows, sorted by record, start, end, strand and pattern.

    record: int64, the record's number in the genome; start, end: int64, 0-based and half-open on
    the record's forward strand; pattern: int32, the pattern's number; distance: int32; minus:
    uint8, 1 for the strand `-`. `spans` names the records; `align(rows)` gives the Columns of a
    slice of rows, or of rows by number, int64.
    """

    record: Longs
    start: Longs
    end: Longs
    pattern: Ints
    distance: Ints
    minus: Bytes
    spans: Spans
    align: Callable[[Any], Columns]

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


@dataclass(frozen=True)
class ProductBatch:
    """Products, n rows, sorted by record, start, end, strand, forward and reverse primer.

    record: int64, the record's number in the genome; start, end: int64, 0-based and half-open on
    the record's forward strand; minus: uint8, 1 where the forward primer is the site on `-`; names:
    of the records, a str a row; text: the products from the forward primer on, (bounds, letters),
    or None where it was not asked for.
    """

    record: Longs
    start: Longs
    end: Longs
    minus: Bytes
    forward: PrimerSites
    reverse: PrimerSites
    names: list[str]
    text: tuple[Longs, Bytes] | None

    def __len__(self) -> int:
        return len(self.start)

    def texts(self, rows: slice = slice(None)) -> list[str]:
        """The text of products, each a str."""
        if self.text is None:
            raise InputError("the products have no text; ask for it with sequence=True")
        bounds, letters = self.text
        first, last, _ = rows.indices(len(self))
        return [bytes(letters[a:b]).decode() for a, b in pairwise(bounds[first : last + 1])]
