"""Hits, products and primers in Python: tables of columns, their rows, selections and files."""

import os
from collections import namedtuple
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import replace
from html import escape
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, Self, TypeVar, overload

import numpy as np

from kmatch.arrays import Floats, Ints, Longs, Objects, Strings, bounds_of
from kmatch.errors import InputError, OutputError
from kmatch.genome import Genome, Genomes, as_genomes
from kmatch.results.batches import (
    GuideBatch,
    HitBatch,
    PrimerBatch,
    ProductBatch,
    SomeBatch,
    taken,
)
from kmatch.results.columns import (
    HEADINGS,
    VARIANTS,
    GuideRows,
    HitRows,
    Letters,
    PrimerRows,
    ProductRows,
    RegionRows,
    Rows,
)
from kmatch.sequences.patterns import Pattern, pattern_set
from kmatch.sequences.primer_pairs import PrimerPairs

if TYPE_CHECKING:
    from kmatch.results.annotation import Annotation
    from kmatch.results.scores import Scorer

SHOWN = 6  # rows of a repr
PAGE = 10  # rows in a notebook
CELL = 24  # characters of a name there

Row = TypeVar("Row")


class Table(Generic[SomeBatch, Row]):
    """Rows of batches. Columns, by the names that `rows` has, are made when first used.

    Rows are `_row`s, those of several genomes `_listed`; of their columns and those of TSV a data
    frame is made.
    """

    _row: Any
    _listed: Any = None
    noun: str

    def __init__(self, batches: Iterable[SomeBatch], rows: Rows) -> None:
        self._rows = rows
        self._take(batches)
        if "genome" not in rows.without:
            self._row = self._listed

    def _take(self, batches: Iterable[SomeBatch]) -> None:
        self.batches = list(batches)
        self._bounds = bounds_of([len(batch) for batch in self.batches])  # rows of the batches

    def __getattr__(self, name: str) -> Any:
        """A column, from its first use on an attribute."""
        rows = None if name.startswith("_") else self._rows
        if rows is None or name not in rows.columns or name in rows.without:
            raise AttributeError(f"{type(self).__name__} has no column {name!r}")
        column = rows.columns[name]
        parts = [column.values(batch, rows) for batch in self.batches if len(batch)]
        values = np.concatenate([np.zeros(0, column.kind), *parts])
        rows.check()
        vars(self)[name] = values
        return values

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *self._rows.columns} - {*self._rows.without})

    def __len__(self) -> int:
        return int(self._bounds[-1])

    def __iter__(self) -> Iterator[Row]:
        columns = [getattr(self, name).tolist() for name in self._row._fields]
        return map(self._row._make, zip(*columns, strict=True))

    @overload
    def __getitem__(self, rows: int | np.integer[Any]) -> Row: ...
    @overload
    def __getitem__(self, rows: Any) -> Self: ...
    def __getitem__(self, rows: Any) -> Any:
        """A row by its number; the rows of a slice, of a mask, bool[n], or of numbers, int[m]."""
        if not isinstance(rows, slice) and not len(np.shape(rows)):
            if not -len(self) <= rows < len(self):
                raise IndexError(f"there is no row {rows}: {self._size()}")
            number = range(len(self))[rows]
            return self._row._make(
                getattr(self, name)[number : number + 1].tolist()[0] for name in self._row._fields
            )
        if not isinstance(rows, slice):
            rows = np.asarray(rows)
            rows = rows if rows.size else rows.astype(np.int64)
        numbers = np.arange(len(self))[rows]
        if numbers.ndim != 1:
            raise IndexError("rows are chosen by a slice, a mask or one list of numbers")
        return self._selected(numbers)

    def _selected(self, rows: Longs) -> Self:
        """The table of some rows, with those of the columns that are made."""
        which = np.searchsorted(self._bounds, rows, side="right") - 1
        of = np.array([self._whole(batch) for batch in self.batches], np.int64)[which]
        parts = np.split(rows, np.flatnonzero(np.diff(of)) + 1) if len(rows) else ()
        found = self._like([taken(self.batches, part) for part in parts])
        made = vars(self).keys() & self._rows.columns.keys()
        vars(found).update({name: vars(self)[name][rows] for name in made})
        return found

    @staticmethod
    def _whole(batch: SomeBatch) -> int:
        """What a batch is part of, by number: those of one genome can be joined."""
        return batch.origin.number

    def _like(self, batches: Iterable[SomeBatch]) -> Self:
        """A table of the same search with other batches, of which no column is made yet."""
        found = object.__new__(type(self))
        made = self._rows.columns.keys()
        vars(found).update({name: each for name, each in vars(self).items() if name not in made})
        found._take(batches)
        return found

    def __repr__(self) -> str:
        size = self._size()
        if not len(self):
            return f"<{type(self).__name__}: {size}>"
        rows: Any = self[:SHOWN]
        lines = [list(self._row._fields), *([_cell(value) for value in row] for row in rows)]
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        shown = ["  ".join(map(str.ljust, line, widths)).rstrip() for line in lines]
        if len(self) > SHOWN:
            shown.append("…")
        return "\n  ".join([f"<{type(self).__name__}: {size}", *shown]) + ">"

    def _repr_html_(self) -> str:
        """What a notebook shows: the first rows as a table."""
        rows: Any = self[:PAGE]
        lines = [f"<p>{self._size()}</p>", "<table>"]
        for tag, row in (("th", self._row._fields), *(("td", row) for row in rows)):
            cells = (f"<{tag}>{escape(_cell(value))}</{tag}>" for value in row)
            lines.append(f"<tr>{''.join(cells)}</tr>")
        lines.append("</table>")
        if len(self) > PAGE:
            lines.append(f"<p>… and {len(self) - PAGE:,} more</p>")
        return "\n".join(lines)

    def _size(self) -> str:
        return f"{len(self):,} {self.noun}{'' if len(self) == 1 else 's'}"

    def to_bed(self, target: Any) -> None:
        """Write BED lines to a path or to a text or binary handle.

        A file is whole or absent; `.gz` in its name compresses, and `-` is standard output. Raises
        OutputError where it cannot be written.
        """
        self._write("bed", target)

    def to_tsv(self, target: Any) -> None:
        """Write a header line and TSV lines to a path or to a handle, as `to_bed` does."""
        self._write("tsv", target)

    def plot(self, *, records: int | None = None) -> Any:
        """A Matplotlib Figure: hits and products along their records by strand and distance, and
        their numbers by pattern or pair and distance, of hits by score and bulges too; primers and
        guides by what they are like along the target.

        records: how many, those with the most rows, are drawn by themselves; 24 by default, of
        primers and guides 12. Raises OutputError where Matplotlib is not installed.
        """
        from kmatch.pictures.tables import table_of

        headings = {HEADINGS.get(name, name): name for name in ("strand", *self._rows.tsv)}
        return table_of(self, headings).draw(records)

    def to_csv(self, target: Any) -> None:
        """Write the columns of TSV with commas to a path or to a handle, as `to_bed` does."""
        self._write("csv", target)

    def to_dataframe(self) -> Any:
        """The columns as a pandas.DataFrame. Raises OutputError where pandas is not installed."""
        return _imported("pandas", "to_dataframe()").DataFrame(self._series())

    def to_polars(self) -> Any:
        """The columns as a polars.DataFrame. Raises OutputError where polars is not installed."""
        return _imported("polars", "to_polars()").DataFrame(self._series(as_lists="OU"))

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """The columns as a stream of Arrow, which Polars, DuckDB and others read.

        Raises OutputError where neither pyarrow nor nanoarrow is installed.
        """
        columns = self._series(as_lists="OU")
        if find_spec("pyarrow"):
            table = import_module("pyarrow").table(columns)
            return table.__arrow_c_stream__(requested_schema)
        arrow = _imported("nanoarrow", "a stream of Arrow")
        kinds = {
            name: getattr(arrow, "string" if isinstance(values, list) else values.dtype.name)()
            for name, values in columns.items()
        }
        parts = [arrow.c_array(values, kinds[name]) for name, values in columns.items()]
        schema = arrow.struct(kinds)
        table = arrow.c_array_from_buffers(schema, len(self), [None], children=parts)
        return arrow.c_array_stream(table).__arrow_c_stream__(requested_schema)

    def column(self, name: str) -> Any:
        """A column by its name, of TSV or of an attribute. Raises InputError for another name."""
        return getattr(self, self._rows.known(name))

    def _series(self, as_lists: str = "") -> dict[str, Any]:
        """The columns of a data frame; as_lists: the kinds of dtypes that become lists."""
        names = dict.fromkeys((*self._row._fields, *self._rows.tsv))
        columns = {name: getattr(self, name) for name in names}
        return {
            name: each.tolist() if each.dtype.kind in as_lists else each
            for name, each in columns.items()
        }

    def _write(self, form: str, target: Any) -> None:
        _write(target, form, self._rows, self.batches)


class Hit(NamedTuple):
    """A row of Hits; start and end are 0-based and half-open on the forward strand."""

    record: str
    start: int
    end: int
    pattern: str
    distance: int
    strand: str


named_row: Any = namedtuple  # of fields that no type checker can know
ListedHit = named_row("ListedHit", ("genome", *Hit._fields))
Align = Callable[[Sequence[HitBatch]], Iterable[HitBatch]]


class Hits(Table[HitBatch, Hit]):
    """The hits of a search, in order of record, start, end, strand and pattern.

    Columns are NumPy arrays of one length: `record` and `pattern` hold names (object), `start` and
    `end` int64, 0-based and half-open on the forward strand, `distance` int32, `strand` `+` or `-`;
    `cigar` and `match`, the text as the pattern reads it, hold str (object). Columns are made when
    first used. `record_number` and `pattern_number` count from 0 in the order of the genome and of
    the patterns, as names may repeat. Of several genomes there are also `genome`, names (object),
    and `genome_number`. `patterns` are those of the search, `searched` are its Genomes, and
    `pam_first` says whether a PAM stands before the patterns. Where k was a share of a pattern's
    letters, `k` (int64) is what it came to. `cfd` and `mit` (float64), `gene`, `region`,
    `variants` and `samples` (str), `af` and `reference_distance` (float64)
    are there where they were asked for; by `column` there are those of `--columns`.

    Iteration gives rows, `hits[3]` a row, as a Hit; `hits[:10]`, `hits[hits.distance == 0]` and
    `hits[numbers]` give Hits.
    """

    _row, _listed, noun = Hit, ListedHit, "hit"
    record: Objects
    start: Longs
    end: Longs
    pattern: Objects
    distance: Ints
    strand: Strings
    cigar: Objects
    match: Objects
    record_number: Longs
    pattern_number: Ints
    genome: Objects
    genome_number: Longs
    k: Longs
    cfd: Floats
    mit: Floats
    gene: Objects
    region: Objects
    variants: Objects
    af: Floats
    samples: Objects
    reference_distance: Floats

    def __init__(
        self,
        batches: Iterable[HitBatch],
        patterns: Sequence[Pattern],
        searched: Genome | Genomes | None = None,
        pam_first: bool = False,
        k_each: Longs | None = None,
        align: Align | None = None,
    ) -> None:
        """k_each: int64[P], the k of each pattern, where that is a column; align: gives batches
        their alignments, of a search without them."""
        self.searched = None if searched is None else as_genomes(searched)
        self.patterns, self.pam_first, self._align = patterns, pam_first, align
        self._of = HitRows(patterns, self.searched, pam_first, k_each)
        super().__init__(batches, self._of)

    def to_sam(self, target: Any) -> None:
        """Write SAM with a header to a path or to a handle, as `to_bed` does.

        Raises InputError for a genome whose records SAM cannot name, and for one that cannot be
        read again for their lengths.
        """
        records, starts = np.diff(self.record_number), np.diff(self.start)
        self._of.ordered = bool(((records > 0) | ((records == 0) & (starts >= 0))).all())
        self._write("sam", target)

    def to_gff3(self, target: Any) -> None:
        """Write GFF3 to a path or to a handle, as `to_bed` does."""
        self._write("gff3", target)

    def __getattr__(self, name: str) -> Any:
        column = HitRows.columns.get(name)
        if column and column.aligned:
            self._make_alignments()
        return super().__getattr__(name)

    def __add__(self, other: "Hits") -> "Hits":
        """The hits of both, one behind the other, of searches of the same genomes.

        Patterns that differ come one behind the other too. Raises InputError for other genomes.
        """
        labels = [hits.searched and hits.searched.label for hits in (self, other)]
        alike = (labels[0], self.pam_first, "variants" in self._of.tsv)
        if alike != (labels[1], other.pam_first, "variants" in other._of.tsv):
            raise InputError(
                "the hits are of searches of different genomes, of PAMs on different sides or with "
                "variants and without; search both genomes at once: give a list"
            )
        for hits in (self, other):
            hits._make_alignments()
        mine, others = pattern_set(self.patterns), pattern_set(other.patterns)
        if (mine.names, mine.sequences) == (others.names, others.sequences):
            return self._like([*self.batches, *other.batches])
        shares = None
        if self._of.k is not None and other._of.k is not None:
            shares = np.concatenate([self._of.k, other._of.k])
        more = [replace(batch, pattern=batch.pattern + len(mine)) for batch in other.batches]
        patterns = pattern_set([*mine, *others])
        return Hits([*self.batches, *more], patterns, self.searched, self.pam_first, shares)

    def __getstate__(self) -> dict[str, Any]:
        """What another process needs: it has the alignments, and maybe not the genome."""
        self._make_alignments()
        return vars(self)

    def _make_alignments(self) -> None:
        if self._align:
            self.batches, self._align = list(self._align(self.batches)), None

    def _write(self, form: str, target: Any) -> None:
        if form != "bed":
            self._make_alignments()
        super()._write(form, target)

    def dress(
        self,
        letters: Letters | None,
        scorer: "Scorer | None",
        scores: Sequence[str],
        annotation: "Annotation | None",
        varied: bool,
    ) -> Self:
        """The same hits, with the columns of scores, of an annotation and of variants; letters: see
        HitRows."""
        self._of.letters = letters
        if scorer:
            self._of.score(scorer, scores)
        if annotation:
            self._of.annotate(annotation)
        if varied:
            self._of.add(VARIANTS)
        return self


class Product(NamedTuple):
    """A row of Products; start and end are 0-based and half-open on the forward strand."""

    record: str
    start: int
    end: int
    name: str
    strand: str
    distance_forward: int
    distance_reverse: int


ListedProduct = named_row("ListedProduct", ("genome", *Product._fields))


class Products(Table[ProductBatch, Product]):
    """The products of pairs of primers, in order of record, start, end, strand and primers.

    Columns are NumPy arrays of one length: `record`, `name`, `forward` and `reverse` hold names
    (object), of the record, the pair and the primers; a product of primers that are no partners is
    named by both. `start`, `end` and `length` are int64, 0-based and half-open on the forward
    strand, primers included. `strand` is `+` where the forward primer is the site on `+`.
    `forward_start`, `forward_end`, `distance_forward` (int32) and `cigar_forward` (object) describe
    the forward primer's site, `match_forward` (object) its text, and likewise those of the reverse
    one. `probe` (float64) is the differences of the pair's probe. `sequence` holds the products
    from the forward primer on, where they were asked for. `record_number` counts from 0. Of several
    genomes there are also `genome`, names (object), and `genome_number`.

    Iteration gives rows, `products[3]` a row, as a Product; `products[:10]`,
    `products[products.length < 400]` and `products[numbers]` give Products.
    """

    _row, _listed, noun = Product, ListedProduct, "product"
    record: Objects
    start: Longs
    end: Longs
    length: Longs
    name: Objects
    strand: Strings
    forward: Objects
    reverse: Objects
    forward_number: Ints
    reverse_number: Ints
    forward_start: Longs
    reverse_start: Longs
    forward_end: Longs
    reverse_end: Longs
    distance_forward: Ints
    distance_reverse: Ints
    cigar_forward: Objects
    cigar_reverse: Objects
    match_forward: Objects
    match_reverse: Objects
    probe: Floats
    sequence: Objects
    record_number: Longs
    genome: Objects
    genome_number: Longs

    def __init__(
        self,
        batches: Iterable[ProductBatch],
        pairs: PrimerPairs,
        has_text: bool = False,
        named: bool = False,
    ) -> None:
        """has_text: whether products come with their text, even where there are none; named:
        whether they come from several genomes."""
        self.pairs, self.named = pairs, named
        super().__init__(batches, ProductRows(pairs, has_text, named))


class Primer(NamedTuple):
    """A row of Primers; start and end are 0-based and half-open on the forward strand."""

    record: str
    start: int
    end: int
    length: int
    strand: str
    gc: float
    tm: float


class Primers(Table[PrimerBatch, Primer]):
    """The primers of a search, in order of target record, start, end and strand.

    Columns are NumPy arrays of one length: `record` holds names (object), `start`, `end` and
    `length` int64, `strand` `+` or `-`, `gc` shares and `tm` °C as float64, NaN with an N.
    `record_number` counts from 0.

    Iteration gives rows, `primers[3]` a row, as a Primer; `primers[:10]`,
    `primers[primers.tm > 60]` and `primers[numbers]` give Primers.
    """

    _row, noun = Primer, "primer"
    record: Objects
    start: Longs
    end: Longs
    length: Longs
    strand: Strings
    gc: Floats
    tm: Floats
    record_number: Longs

    def __init__(self, batches: Iterable[PrimerBatch], k: int, both_strands: bool = False) -> None:
        self.k, self.both_strands = k, both_strands
        super().__init__(batches, PrimerRows(k, both_strands))
        self._searched = self.batches  # whose regions are reported, whatever rows are selected

    def regions_to_bed(self, target: Any) -> None:
        """Write the stretches in which every position has a primer as BED, as `to_bed` does.

        They are those of the whole search, whichever of its rows are here.
        """
        regions = (batch.in_regions() for batch in self._searched)
        _write(target, "bed", RegionRows(self.both_strands), regions)

    @staticmethod
    def _whole(batch: PrimerBatch) -> int:
        return next(iter(batch.names))


class Guides(Table[GuideBatch, Any]):
    """The guides of a target, in its order, or the best first.

    Columns are NumPy arrays of one length: `record` holds names (object), `start` and `end` int64,
    of guide and PAM, 0-based and half-open on the forward strand, `guide` and `pam` str (object) as
    the guide's strand reads them, `strand` `+` or `-`, `gc` the share of G and C, `d0`, `d1` …
    sites in the genome by distance (int64), `specificity` by CFD (float64), NaN where it is
    undefined.

    Iteration gives rows; `guides[:10]`, `guides[guides.specificity > 0.5]` and `guides[numbers]`
    give Guides.
    """

    noun = "guide"
    record: Objects
    start: Longs
    end: Longs
    guide: Objects
    pam: Objects
    strand: Strings
    gc: Floats
    specificity: Floats
    specificity_mit: Floats

    def __init__(self, batches: Iterable[GuideBatch], rows: GuideRows) -> None:
        self._row = named_row("Guide", rows.tsv)
        super().__init__(batches, rows)


def opened(target: Any) -> Any:
    """A context that gives the handle of a path, or a handle as it is."""
    from kmatch.results.output import open_output

    return open_output(target) if isinstance(target, str | os.PathLike) else nullcontext(target)


def _write(target: Any, form: str, rows: Rows, batches: Iterable[Any]) -> None:
    """Write batches to a path or to a handle."""
    if isinstance(target, str | os.PathLike):
        from kmatch.results.output import open_output

        with open_output(target) as handle:
            _write(handle, form, rows, batches)
        return
    if not hasattr(target, "write"):
        raise OutputError(f"cannot write to {target!r}; give a path or an open handle")
    from kmatch.results.formats import FORMATS

    FORMATS[form](target, rows).write_all(batches)


def _imported(package: str, wanted: str) -> Any:
    """A package that only one output needs."""
    try:
        return import_module(package)
    except ImportError as error:
        raise OutputError(
            f"{wanted} needs {package}; install it with: pip install {package}"
        ) from error


def _cell(value: Any) -> str:
    text = f"{value:.3f}".rstrip("0").rstrip(".") if isinstance(value, float) else str(value)
    return text if len(text) <= CELL else text[: CELL - 1] + "…"
