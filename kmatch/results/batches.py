"""Batches of hits, primers and products, as columns of one length: plain data."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cache, cached_property
from typing import Any, NamedTuple, Self, TypeVar

import numpy as np

from kmatch.arrays import (
    Bytes,
    Floats,
    Ints,
    Longs,
    Objects,
    bounds_of,
    gather,
    order_of,
    ranked,
    run_starts,
)
from kmatch.engine.types import Columns, Texts
from kmatch.sequences.chunks import Spans

# At a letter of an oligo: a base, an unknown letter (N), none, or more behind it.
SEEN = "ACGTN-+"
# Whether an assay amplifies a genome; unknown where letters are missing that would tell.
NO = 0
YES = 1
UNKNOWN = 2
# Why it does not, in bits: the oligos that have no site, by role, or what the sites lack.
ROLE_BITS = np.array([1, 2, 4])
LENGTH = 8  # they face each other, at another length
FACING = 16  # none face each other
_WORDS = {1: "forward", 2: "reverse", 4: "probe", LENGTH: "length", FACING: "facing"}
REASONS = [
    ",".join(word for bit, word in _WORDS.items() if reason & bit) for reason in range(2 * FACING)
]
RECORD = 1 << 32  # more than a position in a record: a row's record and position in one number
ENDLESS = 1 << 62  # letters of a linear record, as far as its origin goes
# Fields of batches that all rows have in common.
WHOLE = ("names", "origin", "codes", "regions", "units", "positions")


class Origin(NamedTuple):
    """The genome that hits are in.

    number: its number among the searched genomes; name: its name, None where there is but one;
    circles: the letters of its circular records by number, None where there is none.
    """

    number: int = 0
    name: str | None = None
    circles: dict[int, int] | None = None


ALONE = Origin()


@dataclass(frozen=True, eq=False, repr=False)
class Batch:
    """n rows in records of a genome.

    record: int64[n], the record's number in the genome.
    start, end: int64[n], 0-based and half-open on the record's forward strand.
    names: of the records, by number.
    origin: the Origin of all.
    """

    record: Longs
    start: Longs
    end: Longs
    names: dict[int, str]
    origin: Origin = field(default=ALONE, kw_only=True)

    def __len__(self) -> int:
        return len(self.start)

    def record_names(self) -> tuple[list[str], Longs]:
        """Return the names of the records that rows are in, and which each row is in, int64[n].

        There may be a hundred thousand records, and rows in few.
        """
        numbers, which = ranked(self.record)
        return [self.names[number] for number in numbers.tolist()], which

    def picked(self, rows: Longs | slice) -> Self:
        """Return the batch of some rows: numbers, int64[m], or a slice."""
        columns = {name: take_rows(getattr(self, name), rows) for name in row_fields(self)}
        return replace(self, **columns)


SomeBatch = TypeVar("SomeBatch", bound=Batch)


@dataclass(frozen=True, eq=False, repr=False)
class HitBatch(Batch):
    """Hits, n rows, sorted by record, start, end, strand and pattern. Hits that share all of these,
    as beside PAMs of several lengths, are sorted by their anchors.

    pattern: int32[n], the pattern's number.
    distance: int32[n].
    minus: uint8[n], 1 for the strand `-`.

    The others are None where nobody asked for them:

    columns: the alignments.
    edits: int64[n], the same as numbers (see KINDS), of searches that make no columns where they
        fit.
    gaps: int32[n], the letters that alignments beside a PAM insert and delete.
    scores: float64[n] by name, NaN where undefined.
    site_scores: float64[n] by name, the greatest score that a hit's site has, NaN where it is
        undefined and of hits that are no sites; None where each hit is a site of its own.
    variants: the alleles that make a hit, `chrom:pos:ref:alt`, comma separated, empty for hits of
        the reference.
    af: float64[n], the smallest of their frequencies.
    samples: Carriers of these, None for hits of the reference.
    reference_distance: float64[n], of the reference's hit there, NaN where it is more than k.
    alleles: all alleles of files under a hit, comma separated.
    losses: the alleles that undo a hit of the reference without differences, a list of Loss, or
        None.
    anchors: int64[n], in the record the letter of each hit that is read last, which its start and
        its end do not tell where alleles lie between.
    """

    pattern: Ints
    distance: Ints
    minus: Bytes
    columns: Columns | None = None
    edits: Longs | None = None
    gaps: Ints | None = None
    scores: dict[str, Floats] | None = None
    site_scores: dict[str, Floats] | None = None
    variants: Objects | None = None
    af: Floats | None = None
    samples: Objects | None = None
    reference_distance: Floats | None = None
    alleles: Objects | None = None
    losses: Objects | None = None
    anchors: Longs | None = None

    @property
    def aligned(self) -> Columns:
        """The alignments, of a search that was asked for them."""
        assert self.columns is not None
        return self.columns

    def in_order(self) -> Self:
        """Return the same hits, sorted."""
        size = self.end - self.start
        order = order_of(self.record, self.start, size, self.minus, self.pattern)
        return self.picked(order)


@dataclass(frozen=True, eq=False, repr=False)
class GuideBatch(Batch):
    """Guides of a target beside their PAMs, n rows.

    minus: uint8[n]; guide, pam: as the guide's strand reads them; counts: int64[n, k+1], sites in
    the genome by distance; specificities: float64[n], NaN for none, by the names of scores; number:
    int64[n], counts the guides of a gene, or else of a record, from 1 in the target's order.

    With variants, otherwise None: variant_sites, int64[n], places that alleles make or bring
    closer; specificity_variants, float64[n], by CFD with these; target_variants, the alleles that
    undo a guide's target, comma separated; target_af, float64[n], the greatest of their
    frequencies, NaN where none is known.
    """

    minus: Bytes
    guide: Texts
    pam: Texts
    counts: Longs
    specificities: dict[str, Floats]
    number: Longs
    variant_sites: Longs | None = None
    specificity_variants: Floats | None = None
    target_variants: Objects | None = None
    target_af: Floats | None = None

    @property
    def strong(self) -> Longs:
        """How many letters G and C each guide has, int64[n]."""
        return self.guide.counted("G") + self.guide.counted("C")

    @property
    def length(self) -> Longs:
        """How many letters each guide has, int64[n]."""
        return np.diff(self.guide.bounds)

    @property
    def gc(self) -> Floats:
        """Share of G and C in each guide, float64[n]."""
        return self.strong / self.length

    def specificity_by(self, score: str) -> Floats:
        """Return the specificity by a score, float64[n], NaN where it has none."""
        return self.specificities.get(score, np.full(len(self), np.nan))

    @property
    def specificity(self) -> Floats:
        """The specificity by CFD."""
        return self.specificity_by("cfd")


def letters_beside(columns: Columns, lengths: Longs) -> Longs:
    """Return the letters of the PAM in each of n alignments, int64[n]; lengths: of the patterns.

    pattern and PAM   A C G T - N G G     8 columns − 1 D − 4 letters of the pattern = 3
    columns           = = X = D = = =
    """
    column_counts = np.diff(columns.ops.bounds)
    return column_counts - columns.ops.counted("D") - lengths


@dataclass(frozen=True, eq=False, repr=False)
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


@dataclass(frozen=True, eq=False, repr=False)
class AssayBatch(Batch):
    """Assays in genomes, n rows, by genome; record, start and end are -1 where there is no product.

    units: names of the genomes; genome, assay: int64[n], their numbers, of genomes among these;
    answer: int64[n], NO, YES or UNKNOWN; reason: int64[n], why not YES, in bits (see REASONS), and
    of UNKNOWN the oligos that are masked; distance, distance_3p: int64[n, 3], the differences of
    the forward primer, of the reverse one and of the probe, in all and in their last letters, -1
    where there is none; tm: float64[n, 3], °C, NaN where it is unknown; positions: int64[L, 7], at
    each letter of the oligos, how many genomes have each of SEEN there.
    """

    units: list[str]
    genome: Longs
    assay: Longs
    answer: Longs
    reason: Longs
    distance: Longs
    distance_3p: Longs
    tm: Floats
    positions: Longs


@dataclass(frozen=True, eq=False, repr=False)
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
        from kmatch.results.melting import gc_fractions

        return gc_fractions(self.codes, self.start, self.end)

    @cached_property
    def tm(self) -> Floats:
        """Melting temperatures in °C, float64[n]; see `melting_temperatures`."""
        from kmatch.results.melting import melting_temperatures

        return melting_temperatures(self.codes, self.codes, self.start, self.end)


def hit_batch(
    spans: Spans,
    intervals: Any,
    kinds: Any,
    columns: Columns | None,
    edits: Longs | None = None,
    gaps: Ints | None = None,
) -> HitBatch:
    """Return a HitBatch of hits in a chunk, whose records count from the first of its Spans.

    intervals: (record, start, end), kinds: (pattern, distance, minus), as HitBatch has them.
    """
    record, start, end = intervals
    pattern, distance, minus = kinds
    numbers = record[run_starts(record)].tolist()
    names = {spans.first + number: spans.names[number] for number in numbers}
    return HitBatch(
        spans.first + record, start, end, names, pattern, distance, minus, columns, edits, gaps
    )


def no_hits() -> HitBatch:
    """Return a HitBatch without rows, which tells that a search goes on."""
    places = np.zeros(0, np.int64)
    kinds = np.zeros(0, np.int32)
    return HitBatch(places, places, places, {}, kinds, kinds, np.zeros(0, np.uint8))


def sizes_of(record: Longs, lengths: dict[int, int]) -> Longs:
    """Return the letters of the circular records that hits are in, int64[n]; ENDLESS of others."""
    numbers, which = ranked(record)
    sizes = [lengths.get(number, ENDLESS) for number in numbers.tolist()]
    return np.array(sizes, np.int64)[which]


def joined(batches: Sequence[SomeBatch]) -> SomeBatch:
    """Return the rows of batches of one genome, one behind the other, as one batch."""
    filled = [batch for batch in batches if len(batch)] or batches[:1]
    first = filled[0]
    if len(filled) == 1:
        return first
    made = {
        name: join_rows([getattr(batch, name) for batch in filled]) for name in row_fields(first)
    }
    # Names of the records that there are rows in.
    names: dict[int, str] = {}
    for batch in filled:
        names |= batch.names
    numbers, _ = ranked(made["record"])
    made["names"] = {number: names[number] for number in numbers.tolist()}
    # Circles, where batches know of different ones.
    circles = [batch.origin.circles for batch in filled]
    if any(each and each is not first.origin.circles for each in circles):
        made["origin"] = first.origin._replace(circles=_all_circles(circles))
    return replace(first, **made)


def _all_circles(circles: Iterable[dict[int, int] | None]) -> dict[int, int]:
    found: dict[int, int] = {}
    for each in circles:
        found |= each or {}
    return found


def taken(batches: Sequence[SomeBatch], rows: Longs) -> SomeBatch:
    """Return some rows of batches of one genome, by number, int64[n], counted over all of them.

    rows of batches    0 1 2 | 3 4 | 5 6 7        asked for: 6 0 7
    joined             0 1 2         3 4 5        of these:  4 0 5
    """
    bounds = bounds_of([len(batch) for batch in batches])
    source = np.searchsorted(bounds, rows, side="right") - 1
    numbers, which = ranked(source)
    used = [batches[number] for number in numbers.tolist()]
    starts = bounds_of([len(batch) for batch in used])
    rows_of_batches = rows - bounds[source]
    return joined(used).picked(starts[which] + rows_of_batches)


def cut_at_origin(batch: SomeBatch) -> SomeBatch:
    """Return the batch with two rows for each that runs over its record's origin: up to it, and
    from it on.

    record              0 |------------ … ------------| 100
    a hit, 97 to 104                                |===|====|
    its rows              |====| 0 to 4             |===| 97 to 100
    """
    if batch.origin.circles is None:
        return batch
    size = sizes_of(batch.record, batch.origin.circles)
    is_over = batch.end > size
    row_counts = np.where(is_over, 2, 1)
    cut = batch.picked(np.repeat(np.arange(len(batch)), row_counts))
    start = cut.start.copy()
    end = cut.end.copy()
    second_rows = np.cumsum(row_counts)[is_over] - 1
    end[second_rows - 1] = size[is_over]
    start[second_rows] = 0
    end[second_rows] -= size[is_over]
    return replace(cut, start=start, end=end)


def take_texts(texts: Texts, rows: Longs | slice) -> Texts:
    """Return the Texts of some rows: numbers, int64[n], or a slice of rows side by side."""
    if isinstance(rows, slice):
        first, last, _ = rows.indices(len(texts.bounds) - 1)
        bounds = texts.bounds[first : max(first, last) + 1]
        letters = texts.letters[bounds[0] : bounds[-1]]
        return Texts(bounds - bounds[0] if first else bounds, letters)
    sizes = np.diff(texts.bounds)[rows]
    bounds = bounds_of(sizes)
    return Texts(bounds, gather(texts.letters, texts.bounds[rows], bounds))


def row_fields(batch: Batch) -> list[str]:
    """Return the names of the fields that each row has a part of."""
    kind: Any = type(batch)
    return _row_fields(kind)


@cache
def _row_fields(kind: type[Batch]) -> list[str]:
    return [each.name for each in fields(kind) if each.name not in WHOLE]


def take_rows(value: Any, rows: Longs | slice) -> Any:
    """Return rows of a column of any kind."""
    if isinstance(value, np.ndarray):
        return value[rows]
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
    """Return columns of one kind, one behind the other."""
    first = values[0]
    if any(value is None for value in values):
        return None
    if isinstance(first, Texts):
        sizes = np.concatenate([np.diff(each.bounds) for each in values])
        letters = np.concatenate([each.letters for each in values])
        return Texts(bounds_of(sizes), letters)
    if isinstance(first, Batch):
        return joined(values)
    if isinstance(first, Columns):
        return Columns(*map(join_rows, zip(*values, strict=True)))
    if isinstance(first, dict):
        common = [name for name in first if all(name in each for each in values)]
        return {name: join_rows([each[name] for each in values]) for name in common}
    return np.concatenate(values)
