"""Batches of hits, primers and products, as columns of one length: plain data."""

from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any, NamedTuple, Self, TypeVar

import numpy as np

from kmatch.arrays import (
    Bools,
    Bytes,
    Floats,
    Ints,
    Longs,
    Objects,
    bounds_of,
    gather,
    order_of,
    ranked,
)
from kmatch.engine.types import Columns, Texts
from kmatch.results.melting import gc_fractions, melting_temperatures
from kmatch.sequences.chunks import Spans

SEEN = "ACGTN-+"  # at a letter of an oligo: a base, another letter, none, or more behind it
RECORD = 1 << 32  # more than a position in a record: a row's record and position in one number
ENDLESS = 1 << 62  # letters of a linear record, as far as its origin goes
# Fields that rows have in common.
WHOLE = ("names", "origin", "codes", "regions", "units", "positions")


class Origin(NamedTuple):
    """The genome that hits are in: its number among those searched, its name, None where there is
    but one, and the letters of its circular records by number, None where there is none."""

    number: int = 0
    name: str | None = None
    circles: dict[int, int] | None = None


ALONE = Origin()


@dataclass(frozen=True)
class Batch:
    """n rows in records of a genome.

    record: int64[n], the record's number in the genome; start, end: int64[n], 0-based and half-open
    on the record's forward strand; names: of the records, by number; origin: the Origin of all.
    """

    record: Longs
    start: Longs
    end: Longs
    names: dict[int, str]
    origin: Origin = field(default=ALONE, kw_only=True)

    def __len__(self) -> int:
        return len(self.start)

    def record_names(self) -> tuple[list[str], Longs]:
        """Names of the records that rows are in, and which of them each row is in, int64[n].

        There may be a hundred thousand records, and rows in few.
        """
        numbers, which = ranked(self.record)
        return [self.names[number] for number in numbers.tolist()], which

    def picked(self, rows: Longs | slice) -> Self:
        """The batch of some rows: numbers, int64[m], or a slice."""
        return replace(self, **{name: take_rows(getattr(self, name), rows) for name in _own(self)})


SomeBatch = TypeVar("SomeBatch", bound=Batch)


@dataclass(frozen=True)
class HitBatch(Batch):
    """Hits, n rows, sorted by record, start, end, strand and pattern; those that have these in
    common, as beside PAMs of several lengths, by their anchors.

    pattern: int32, the pattern's number; distance: int32; minus: uint8, 1 for the strand `-`;
    columns: the alignments; edits: int64, the same as numbers (see KINDS), of searches that make no
    columns where they fit; scores: float64, NaN where undefined, by name; variants: the alleles
    that make a hit, `chrom:pos:ref:alt`, comma separated, empty for hits of the reference; af:
    float64, the smallest of their frequencies; samples: Carriers of these, None for hits of the
    reference; reference_distance: float64, the reference's there, NaN where it is more than k.
    They are None where nobody asked for them.
    """

    pattern: Ints
    distance: Ints
    minus: Bytes
    columns: Columns | None = None
    edits: Longs | None = None
    scores: dict[str, Floats] | None = None
    variants: Objects | None = None
    af: Floats | None = None
    samples: Objects | None = None
    reference_distance: Floats | None = None

    @property
    def aligned(self) -> Columns:
        """The alignments, of a search that was asked for them."""
        assert self.columns is not None
        return self.columns

    def in_order(self) -> Self:
        """The same hits, sorted."""
        size = self.end - self.start
        return self.picked(order_of(self.record, self.start, size, self.minus, self.pattern))


@dataclass(frozen=True)
class GuideBatch(Batch):
    """Guides of a target beside their PAMs, n rows.

    minus: uint8[n]; guide, pam: as the guide's strand reads them; counts: int64[n, k+1], sites in
    the genome by distance; specificities: float64[n], NaN for none, by the names of scores.
    """

    minus: Bytes
    guide: Texts
    pam: Texts
    counts: Longs
    specificities: dict[str, Floats]

    @property
    def gc(self) -> Floats:
        """Share of G and C in each guide, float64[n]."""
        return (self.guide.counted("G") + self.guide.counted("C")) / np.diff(self.guide.bounds)

    def specificity_by(self, score: str) -> Floats:
        """Return the specificity by a score, float64[n], NaN where it has none."""
        return self.specificities.get(score, np.full(len(self), np.nan))

    @property
    def specificity(self) -> Floats:
        """The specificity by CFD."""
        return self.specificity_by("cfd")


def letters_beside(columns: Columns, lengths: Longs) -> Longs:
    """Letters of the PAM in each of n alignments, int64[n]; lengths: int64[n], of the patterns."""
    return np.diff(columns.ops.bounds) - columns.ops.counted("D") - lengths


@dataclass(frozen=True)
class ProductBatch(Batch):
    """Products, n rows, sorted by record, start, end, strand, forward and reverse primer.

    minus: uint8[n], 1 where the forward primer is the site on `-`; forward, reverse: the sites of
    primers; text: the products from the forward primer on, None where it was not asked for; probe:
    the sites of probes, of pattern -1 where there is none, None where no pair has any.
    """

    minus: Bytes
    forward: HitBatch
    reverse: HitBatch
    text: Texts | None
    probe: HitBatch | None = None


@dataclass(frozen=True)
class AssayBatch(Batch):
    """Assays in genomes, n rows, by genome; record, start and end are -1 where none amplifies.

    units: names of the genomes; genome, assay: int64[n], their numbers, of genomes among these;
    amplifies: bool[n]; distance, distance_3p: int64[n, 3], the differences of the forward primer,
    of the reverse one and of the probe, in all and in their last letters, -1 where there is none;
    tm: float64[n, 3], °C, NaN where it is unknown; positions: int64[L, 7], at each letter of the
    oligos, how many products have each of SEEN there.
    """

    units: list[str]
    genome: Longs
    assay: Longs
    amplifies: Bools
    distance: Longs
    distance_3p: Longs
    tm: Floats
    positions: Longs


@dataclass(frozen=True)
class PrimerBatch(Batch):
    """Primers of one target record, n rows, sorted by start, end and strand.

    minus: uint8[n], 1 for the strand `-`; codes: uint8, the record's letters, 0 to 3 and 4 for any
    other; regions: int64[r, 3], stretches (start, end, minus) in which every position has a primer
    within the length limits, sorted.
    """

    minus: Bytes
    codes: Bytes
    regions: Longs

    @cached_property
    def gc(self) -> Floats:
        """Share of G and C, float64[n]; see `gc_fractions`."""
        return gc_fractions(self.codes, self.start, self.end)

    @cached_property
    def tm(self) -> Floats:
        """Melting temperatures in °C, float64[n]; see `melting_temperatures`."""
        return melting_temperatures(self.codes, self.codes, self.start, self.end)


def hit_batch(
    spans: Spans,
    intervals: Any,
    kinds: Any,
    columns: Columns | None,
    edits: Longs | None = None,
) -> HitBatch:
    """A HitBatch of hits in a chunk; spans: its Spans, and records count from the first of them.

    intervals: (record, start, end), kinds: (pattern, distance, minus), as HitBatch has them.
    """
    (record, start, end), (pattern, distance, minus) = intervals, kinds
    some = record[np.flatnonzero(np.diff(record, prepend=-1))].tolist()
    names = {spans.first + number: spans.names[number] for number in some}
    place = spans.first + record, start, end, names
    return HitBatch(*place, pattern, distance, minus, columns, edits)


def no_hits() -> HitBatch:
    """A HitBatch without rows, which tells that a search goes on."""
    whole, kinds = np.zeros(0, np.int64), np.zeros(0, np.int32)
    return HitBatch(whole, whole, whole, {}, kinds, kinds, np.zeros(0, np.uint8))


def sizes_of(record: Longs, lengths: dict[int, int]) -> Longs:
    """Letters of the circular records that hits are in, int64[n]; ENDLESS for a linear one."""
    numbers, which = ranked(record)
    sizes = [lengths.get(number, ENDLESS) for number in numbers.tolist()]
    return np.array(sizes, np.int64)[which]


def joined(batches: Sequence[SomeBatch]) -> SomeBatch:
    """The rows of batches of one genome, one behind the other, as one batch."""
    filled = [batch for batch in batches if len(batch)] or batches[:1]
    first = filled[0]
    if len(filled) == 1:
        return first
    own = {name: join_rows([getattr(batch, name) for batch in filled]) for name in _own(first)}
    known = {number: name for batch in filled for number, name in batch.names.items()}
    numbers, _ = ranked(own["record"])
    own["names"] = {number: known[number] for number in numbers.tolist()}
    circles = {id(each): each for batch in filled if (each := batch.origin.circles)}
    if circles.keys() - {id(first.origin.circles)}:
        every = {number: size for each in circles.values() for number, size in each.items()}
        own["origin"] = first.origin._replace(circles=every)
    return replace(first, **own)


def taken(batches: Sequence[SomeBatch], rows: Longs) -> SomeBatch:
    """Some rows of batches of one genome, by number, int64[n], counted over all of them."""
    bounds = bounds_of([len(batch) for batch in batches])
    source = np.searchsorted(bounds, rows, side="right") - 1
    used, which = ranked(source)
    begins = bounds_of([len(batches[number]) for number in used.tolist()])
    part = joined([batches[number] for number in used.tolist()])
    return part.picked(rows - bounds[source] + begins[which])


def cut_at_origin(batch: SomeBatch) -> SomeBatch:
    """The batch with two rows for each that runs over its record's origin: up to it, and from it
    on."""
    if batch.origin.circles is None:
        return batch
    size = sizes_of(batch.record, batch.origin.circles)
    over = batch.end > size
    cut = batch.picked(np.repeat(np.arange(len(batch)), 1 + over))
    start, end = cut.start.copy(), cut.end.copy()
    second = np.cumsum(1 + over)[over] - 1
    end[second - 1], start[second] = size[over], 0
    end[second] -= size[over]
    return replace(cut, start=start, end=end)


def take_texts(texts: Texts, rows: Longs | slice) -> Texts:
    """The Texts of these rows: numbers, int64[n], or a slice of rows side by side."""
    ends, letters = texts
    if isinstance(rows, slice):
        first, last, _ = rows.indices(len(ends) - 1)
        ends = ends[first : max(first, last) + 1]
        return Texts(ends - ends[0], letters[ends[0] : ends[-1]])
    bounds = bounds_of(np.diff(ends)[rows])
    return Texts(bounds, gather(letters, ends[rows], bounds))


def _own(batch: Batch) -> list[str]:
    """The fields that each row has a part of."""
    return [each.name for each in fields(batch) if each.name not in WHOLE]


def take_rows(value: Any, rows: Longs | slice) -> Any:
    """Rows of a column of any kind."""
    if isinstance(value, Texts):
        return take_texts(value, rows)
    if isinstance(value, Batch):
        return value.picked(rows)
    if isinstance(value, Columns):
        return Columns(*(take_rows(each, rows) for each in value))
    if isinstance(value, dict):
        return {name: take_rows(each, rows) for name, each in value.items()}
    return None if value is None else value[rows]


def join_rows(values: Sequence[Any]) -> Any:
    """Columns of one kind, one behind the other."""
    first = values[0]
    if any(value is None for value in values):
        return None
    if isinstance(first, Texts):
        bounds = bounds_of(np.concatenate([np.diff(each.bounds) for each in values]))
        return Texts(bounds, np.concatenate([each.letters for each in values]))
    if isinstance(first, Batch):
        return joined(values)
    if isinstance(first, Columns):
        return Columns(*map(join_rows, zip(*values, strict=True)))
    if isinstance(first, dict):
        common = [name for name in first if all(name in each for each in values)]
        return {name: join_rows([each[name] for each in values]) for name in common}
    return np.concatenate(values)
