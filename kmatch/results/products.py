"""Products of primers as tables of columns."""

from collections.abc import Iterable
from dataclasses import replace
from functools import cached_property
from typing import Any, NamedTuple, Self

import numpy as np

from kmatch.arrays import Bytes, Longs, Objects, Strings, bounds_of, gather
from kmatch.engine.alignments import Columns
from kmatch.results.alignments import NONE, cigars, joined, take_rows
from kmatch.results.batches import PrimerSites, ProductBatch
from kmatch.results.hits import SIGNS
from kmatch.results.table import Table
from kmatch.sequences.primer_pairs import PrimerPairs


class Product(NamedTuple):
    """A row of Products; start and end are 0-based and half-open on the forward strand."""

    record: str
    start: int
    end: int
    name: str
    strand: str
    distance_forward: int
    distance_reverse: int


class ListedProduct(NamedTuple):
    """A row of the Products of several genomes."""

    genome: str
    record: str
    start: int
    end: int
    name: str
    strand: str
    distance_forward: int
    distance_reverse: int


class Products(Table[ProductBatch, Product]):
    """The products of pairs of primers, in order of record, start, end, strand and primers.

    Columns are NumPy arrays of one length: `record`, `name`, `forward` and `reverse` hold names
    (object), of the record, the pair and the primers; a product of primers that are no partners is
    named by both. `start`, `end` and `length` are int64, 0-based and half-open on the forward
    strand, primers included. `strand` is `+` where the forward primer is the site on `+`.
    `forward_start`, `forward_end`, `distance_forward` (int32) and `cigar_forward` (object) describe
    the forward primer's site, and likewise those of the reverse one. `sequence` holds the products
    from the forward primer on, where they were asked for. `record_number` counts from 0. Of several
    genomes there are also `genome`, names (object), and `genome_number`.

    Iteration gives rows, `products[3]` a row, as a Product; `products[:10]`,
    `products[products.length < 400]` and `products[numbers]` give Products.
    """

    _row = Product
    _shown = Product._fields
    _sites = ("forward", "forward_start", "forward_end", "cigar_forward",
              "reverse", "reverse_start", "reverse_end", "cigar_reverse")  # fmt: skip
    _columns = (*_shown, "length", *_sites)
    _lazy = ("record", "name", "forward", "reverse", "cigar_forward", "cigar_reverse", "sequence")
    _noun = "product"

    def __init__(
        self,
        batches: Iterable[ProductBatch],
        pairs: PrimerPairs,
        has_text: bool = False,
        named: bool = False,
    ) -> None:
        """has_text: whether products come with their text, even where there are none; named:
        whether they come from several genomes."""
        super().__init__(batches)
        self._add_genomes(named, ListedProduct)
        self.pairs, self._has_text = pairs, has_text
        self.record_number: Longs = self._column("record", np.int64)
        self.start: Longs = self._column("start", np.int64)
        self.end: Longs = self._column("end", np.int64)
        self.strand: Strings = SIGNS[self._column("minus", np.uint8)]
        forward, reverse = self._primer_sites("forward"), self._primer_sites("reverse")
        self.forward_number, self.forward_start, self.forward_end, self.distance_forward = forward
        self.reverse_number, self.reverse_start, self.reverse_end, self.distance_reverse = reverse

    @property
    def length(self) -> Longs:
        """Letters of each product, primers included."""
        return self.end - self.start

    @cached_property
    def record(self) -> Objects:
        """Names of the records."""
        return _objects(name for batch in self.batches for name in batch.names)

    @cached_property
    def name(self) -> Objects:
        """Names of the pairs, or of two primers that are no partners."""
        return _objects(self.pairs.product_names(self.forward_number, self.reverse_number))

    @cached_property
    def forward(self) -> Objects:
        """Names of the forward primers."""
        return np.array(self.pairs.primers.names, object)[self.forward_number]

    @cached_property
    def reverse(self) -> Objects:
        """Names of the reverse primers."""
        return np.array(self.pairs.primers.names, object)[self.reverse_number]

    @cached_property
    def cigar_forward(self) -> Objects:
        """Alignments of the forward primers, from the first letter on."""
        return _objects(
            word for batch in self.batches for word in cigars(batch.forward.align(slice(None)))
        )

    @cached_property
    def cigar_reverse(self) -> Objects:
        """Alignments of the reverse primers, from the first letter on."""
        return _objects(
            word for batch in self.batches for word in cigars(batch.reverse.align(slice(None)))
        )

    @cached_property
    def sequence(self) -> Objects:
        """The products from the forward primer on: A, C, G, T or N a base.

        Raises InputError where they were not asked for.
        """
        return _objects(text for batch in self.batches for text in batch.texts())

    def plot(self, *, records: int | None = None) -> Any:
        """A Matplotlib Figure: products along their records by strand and by the distance of both
        primers together, and their numbers by pair and distance.

        records: how many, those with the most products, are drawn by themselves; 24 by default.
        Raises OutputError where Matplotlib is not installed.
        """
        from kmatch.pictures.columns import columns_of_products
        from kmatch.pictures.hits import draw_hits

        return draw_hits(columns_of_products(self), records)

    def _primer_sites(self, side: str) -> list[Any]:
        parts = [getattr(batch, side) for batch in self.batches]
        kinds = (np.int32, np.int64, np.int64, np.int32)
        return [
            np.concatenate([np.zeros(0, kind), *(part[column] for part in parts)])
            for column, kind in enumerate(kinds)
        ]

    def _taken(self, rows: Longs) -> Self:
        batches = [
            replace(_taken(self.batches, part), origin=self._origin(part[0]))
            for part in self._by_genome(rows)
        ]
        return type(self)(batches, self.pairs, self._has_text, self.named)

    def _writer(self, form: str, handle: Any) -> Any:
        from kmatch.results.tables.products import ProductWriter

        return ProductWriter(handle, form, self.pairs, self._has_text, self.named)


def _objects(words: Iterable[str]) -> Objects:
    return np.array([*words, None], object)[:-1]


def _taken(batches: list[ProductBatch], rows: Longs) -> ProductBatch:
    """The ProductBatch of rows, counted over several."""
    bounds = bounds_of([len(batch) for batch in batches])
    source = np.searchsorted(bounds, rows, side="right") - 1
    local = rows - bounds[source]
    names = [name for batch in batches for name in batch.names]

    def column(name: str) -> Any:
        return np.concatenate([getattr(batch, name) for batch in batches])[rows]

    def sites(side: str) -> PrimerSites:
        parts = [getattr(batch, side) for batch in batches]

        def chosen(at: int) -> Any:
            return np.concatenate([part[at] for part in parts])[rows]

        def align(wanted: Any) -> Columns:
            return _aligned(parts, source[wanted], local[wanted])

        return PrimerSites(chosen(0), chosen(1), chosen(2), chosen(3), align)

    return ProductBatch(
        column("record"),
        column("start"),
        column("end"),
        column("minus"),
        sites("forward"),
        sites("reverse"),
        [names[row] for row in rows.tolist()],
        _texts(batches, rows),
    )


def _aligned(parts: list[PrimerSites], source: Longs, local: Longs) -> Columns:
    """The Columns of rows `local` of the parts `source`, in this order."""
    numbers = np.unique(source).tolist()
    if not numbers:
        return NONE
    columns = joined([parts[number].align(local[source == number]) for number in numbers])
    return take_rows(columns, np.argsort(np.argsort(source, kind="stable"), kind="stable"))


def _texts(batches: list[ProductBatch], rows: Longs) -> tuple[Longs, Bytes] | None:
    texts = [batch.text for batch in batches if batch.text is not None]
    if not texts:
        return None
    lengths = np.concatenate([np.diff(bounds) for bounds, _ in texts])
    letters = np.concatenate([letters for _, letters in texts])
    bounds = bounds_of(lengths[rows])
    return bounds, gather(letters, bounds_of(lengths)[rows], bounds)
