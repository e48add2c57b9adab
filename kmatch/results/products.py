"""Products of primers as tables of columns."""

from collections.abc import Iterable
from functools import cached_property
from typing import Any, NamedTuple, Self

import numpy as np

from kmatch.arrays import Longs, Objects, Strings
from kmatch.errors import InputError
from kmatch.results.batches import ProductBatch, taken
from kmatch.results.columns import cigars, words
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
        parts = []
        for batch in self.batches:
            names, which = batch.record_names()
            parts.append(_objects(names)[which])
        return np.concatenate([np.zeros(0, object), *parts])

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
        return self._cigars("forward")

    @cached_property
    def cigar_reverse(self) -> Objects:
        """Alignments of the reverse primers, from the first letter on."""
        return self._cigars("reverse")

    @cached_property
    def sequence(self) -> Objects:
        """The products from the forward primer on: A, C, G, T or N a base.

        Raises InputError where they were not asked for.
        """
        texts = [batch.text for batch in self.batches]
        if None in texts:
            raise InputError("the products have no text; ask for it with sequence=True")
        return _objects(word for text in texts if text for word in words(text))

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

    def _cigars(self, side: str) -> Objects:
        columns = [getattr(batch, side).columns for batch in self.batches]
        return _objects(word for each in columns for word in cigars(each))

    def _taken(self, rows: Longs) -> Self:
        batches = [taken(self.batches, part) for part in self._by_genome(rows)]
        return type(self)(batches, self.pairs, self._has_text, self.named)

    def _writer(self, form: str, handle: Any) -> Any:
        from kmatch.results.tables import ProductWriter

        return ProductWriter(handle, form, self.pairs, self._has_text, self.named)


def _objects(words: Iterable[str]) -> Objects:
    return np.array([*words, None], object)[:-1]
