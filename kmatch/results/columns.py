"""The columns of hits, products and primers: what each is called, made of and written as."""

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from math import isnan
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kmatch.arrays import Bytes, Longs, bounds_of
from kmatch.errors import InputError
from kmatch.genome import Genomes
from kmatch.results.batches import Batch, PrimerBatch, PrimerSites, ProductBatch, Texts
from kmatch.sequences.patterns import Pattern, pattern_set
from kmatch.sequences.primer_pairs import PrimerPairs

HEADINGS = {"record": "sequence", "sequence": "product"}  # of TSV, where not the column's name


class Names:
    """Words that many rows share, by number; kind: of their array."""

    def __init__(self, words: Iterable[str], kind: Any = object) -> None:
        self.words, self.kind = list(words), kind

    @cached_property
    def texts(self) -> Texts:
        """The words side by side."""
        encoded = [word.encode("utf-8", "surrogateescape") for word in self.words]
        return Texts(bounds_of(list(map(len, encoded))), np.frombuffer(b"".join(encoded), np.uint8))

    @cached_property
    def array(self) -> NDArray[Any]:
        """The words as an array."""
        return np.array([*self.words, ""], self.kind)[:-1]


class Named(NamedTuple):
    """Cells that are among Names; which: int[n], by number."""

    names: Names
    which: Any


class Spelt(NamedTuple):
    """Cells with a text each; runs: whether its letters are alignment columns, for a CIGAR."""

    texts: Texts
    runs: bool = False


Cells = Named | Spelt | NDArray[Any]  # an array of numbers


class Column(NamedTuple):
    """A column of a table.

    kind: of its values in Python; cells(batch, rows): makes its Cells, rows being what the batch's
    rows are of; digits: decimals of its numbers, where these are no whole ones, and NaN is NA.
    """

    kind: Any
    cells: Callable[[Any, Any], Cells]
    digits: int | None = None

    def values(self, batch: Batch, rows: Any) -> NDArray[Any]:
        """Its values in Python."""
        cells = self.cells(batch, rows)
        if isinstance(cells, Named):
            return cells.names.array[cells.which]
        if isinstance(cells, Spelt):
            return Names(cells.texts.cigars() if cells.runs else cells.texts.words()).array
        return cells

    def written(self, batch: Batch, rows: Any) -> Cells:
        """Its Cells as lines have them: words or whole numbers."""
        cells = self.cells(batch, rows)
        if self.digits is None or not isinstance(cells, np.ndarray):
            return cells
        return listed("NA" if isnan(x) else f"{x:.{self.digits}f}" for x in cells.tolist())


def listed(words: Iterable[str]) -> Named:
    """Cells out of their words."""
    names = Names(words)
    return Named(names, np.arange(len(names.words)))


def same(word: str, batch: Batch) -> Named:
    """Cells that hold one word."""
    return Named(Names([word]), np.zeros(len(batch), np.int64))


def record_cells(batch: Batch, name: Callable[[str], str] = str) -> Named:
    """The names of records, as `name` writes them."""
    names, which = batch.record_names()
    return Named(Names(map(name, names)), which)


def cigar_cells(columns: Any) -> Spelt:
    """The CIGARs of alignments."""
    return Spelt(Texts(columns.op_ends, columns.ops), runs=True)


def scores(distance: Any, letters: Any) -> Longs:
    """Scores of BED, int64[n]: 1000 without differences, 0 with as many as letters."""
    return np.rint(1000 * (1 - distance / letters)).astype(np.int64)


def _product_scores(batch: ProductBatch, rows: "ProductRows") -> Longs:
    lengths, (one, other) = rows.pairs.primers.lengths, (batch.forward, batch.reverse)
    return scores(one.distance + other.distance, lengths[one.primer] + lengths[other.primer])


def _product_texts(batch: ProductBatch, rows: "ProductRows") -> Spelt:
    if batch.text is None:
        raise InputError("the products have no text; ask for it with sequence=True")
    return Spelt(batch.text)


def _primer_names(batch: PrimerBatch, rows: "PrimerRows") -> Named:
    first = np.where(batch.minus, batch.end - 1, batch.start)
    return listed(f"primer_{position}" for position in first.tolist())


def _primer_scores(batch: PrimerBatch, rows: "PrimerRows") -> Longs:
    return np.rint(1000 * np.minimum(1, rows.k / (batch.end - batch.start))).astype(np.int64)


def _site_columns(side: str) -> dict[str, Column]:
    """The columns of the sites of one primer of products, in the order of TSV."""

    def of(batch: ProductBatch) -> PrimerSites:
        return batch.forward if side == "forward" else batch.reverse

    return {
        side: Column(object, lambda batch, rows: Named(rows.labels, of(batch).primer)),
        f"{side}_start": Column(np.int64, lambda batch, _: of(batch).start),
        f"{side}_end": Column(np.int64, lambda batch, _: of(batch).end),
        f"distance_{side}": Column(np.int32, lambda batch, _: of(batch).distance),
        f"cigar_{side}": Column(object, lambda batch, _: cigar_cells(of(batch).columns)),
    }


_STRANDS = Names("+-", "U1")
_GENOME = ("genome", "genome_number")  # which only rows of several genomes have
_PLACE = {
    "genome": Column(object, lambda batch, _: same(batch.origin.name, batch)),
    "genome_number": Column(np.int64, lambda batch, _: np.full(len(batch), batch.origin.number)),
    "record": Column(object, lambda batch, _: record_cells(batch)),
    "record_number": Column(np.int64, lambda batch, _: batch.record),
    "start": Column(np.int64, lambda batch, _: batch.start),
    "end": Column(np.int64, lambda batch, _: batch.end),
    "length": Column(np.int64, lambda batch, _: batch.end - batch.start),
    "strand": Column("U1", lambda batch, _: Named(_STRANDS, batch.minus)),
}
_HITS = _PLACE | {
    "pattern": Column(object, lambda batch, rows: Named(rows.labels, batch.pattern)),
    "pattern_number": Column(np.int32, lambda batch, _: batch.pattern),
    "score": Column(
        np.int64, lambda batch, rows: scores(batch.distance, rows.panel.lengths[batch.pattern])
    ),
    "distance": Column(np.int32, lambda batch, _: batch.distance),
    "cigar": Column(object, lambda batch, _: cigar_cells(batch.aligned)),
    "match": Column(object, lambda batch, _: Spelt(Texts(*batch.aligned[2:]))),
    "k": Column(np.int64, lambda batch, rows: rows.k[batch.pattern]),
}
_FORWARD, _REVERSE = _site_columns("forward"), _site_columns("reverse")
SITES = (*_FORWARD, *_REVERSE)
_PRODUCTS = _PLACE | {
    "name": Column(
        object,
        lambda batch, rows: listed(
            rows.pairs.product_names(batch.forward.primer, batch.reverse.primer)
        ),
    ),
    "score": Column(np.int64, _product_scores),
    **_FORWARD,
    **_REVERSE,
    "forward_number": Column(np.int32, lambda batch, _: batch.forward.primer),
    "reverse_number": Column(np.int32, lambda batch, _: batch.reverse.primer),
    "sequence": Column(object, _product_texts),
}
_PRIMERS = _PLACE | {
    "name": Column(object, _primer_names),
    "score": Column(np.int64, _primer_scores),
    "gc": Column(np.float64, lambda batch, _: batch.gc, 3),
    "tm": Column(np.float64, lambda batch, _: batch.tm, 1),
}
_REGIONS = _PLACE | {
    "name": Column(object, lambda batch, _: same(".", batch)),
    "score": Column(np.int64, lambda batch, _: np.zeros(len(batch), np.int64)),
}


class Rows:
    """What the rows of a table are of: what the cells of its columns are made with.

    columns: by name; without: the names of those that these rows lack; bed, tsv: of those that are
    written; threads: that may format lines, None for one a core.
    """

    columns: ClassVar[dict[str, Column]]
    without: tuple[str, ...] = ()
    bed: tuple[str, ...]
    tsv: tuple[str, ...]
    threads: int | None = None

    def cells(self, name: str, batch: Batch) -> Cells:
        """The Cells of a column as lines have them."""
        return self.columns[name].written(batch, self)


class Screen(NamedTuple):
    """width: characters of a line; colour: whether differences have one."""

    width: int
    colour: bool


class HitRows(Rows):
    """Hits of patterns.

    genomes: that were searched, of which several are named in the rows; None will do for one and
    other formats than SAM. pam_first: whether a PAM stands before the patterns. k: int64[P], the
    differences of each pattern where these are a share of its letters.

    ordered: whether hits come in the genome's order; screen: what lines for eyes are made for, None
    for a file; letters(genome, record, start, end): the letters of a stretch, uint8, genome and
    record by number, called in order, None where they cannot be had.
    """

    columns = _HITS
    ordered = True
    screen: Screen | None = None
    letters: Callable[[int, int, int, int], Bytes] | None = None

    def __init__(
        self,
        patterns: Sequence[Pattern],
        genomes: Genomes | None = None,
        pam_first: bool = False,
        k: Longs | None = None,
    ) -> None:
        self.panel, self.genomes = pattern_set(patterns), genomes
        self.pam_first, self.k = pam_first, k
        self.labels = Names(self.panel.names)
        several = genomes is not None and genomes.named
        self.without = (*(() if several else _GENOME), *("k",) * (k is None))
        place, genome = ("record", "start", "end", "pattern"), ("genome",) * several
        self.bed = (*place, "score", "strand", "distance", *genome)
        shares = ("k",) * (k is not None)
        self.tsv = (*genome, *place, "distance", "strand", "cigar", "match", *shares)


class ProductRows(Rows):
    """Products of pairs of primers; has_text: whether their text is written too; named: whether
    they tell their genome, as there are several."""

    columns = _PRODUCTS

    def __init__(self, pairs: PrimerPairs, has_text: bool = False, named: bool = False) -> None:
        self.pairs, self.labels = pairs, Names(pairs.primers.names)
        self.without = () if named else _GENOME
        place, genome = ("record", "start", "end", "name"), ("genome",) * named
        distances = ("distance_forward", "distance_reverse")
        self.bed = (*place, "score", "strand", *distances, *genome)
        self.tsv = (*genome, *place, "length", "strand", *SITES, *("sequence",) * has_text)


class PrimerRows(Rows):
    """Primers with k differences; both_strands: of both strands, which TSV tells then."""

    columns, without = _PRIMERS, _GENOME
    bed = ("record", "start", "end", "name", "score", "strand")

    def __init__(self, k: int, both_strands: bool) -> None:
        self.k = k
        self.tsv = (*self.bed[:3], "length", "gc", "tm", *("strand",) * both_strands)


class RegionRows(Rows):
    """Regions of primers, as BED; both_strands: whether it tells the strand."""

    columns = _REGIONS

    def __init__(self, both_strands: bool) -> None:
        self.bed = PrimerRows.bed[: 6 if both_strands else 3]
