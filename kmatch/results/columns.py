"""Columns, tables of columns, and rows in Python."""

import io
import os
from collections import namedtuple
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from importlib.util import find_spec
from math import inf
from threading import get_ident
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Generic, Self, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

from kmatch.arrays import Longs, bounds_of, ranked, run_starts
from kmatch.engine.workers import cores, pool
from kmatch.errors import InputError, OutputError, counted, needed, shown
from kmatch.results.batches import Batch, SomeBatch, taken
from kmatch.results.formats import FORMATS
from kmatch.results.lines import (
    Cells,
    Edits,
    Named,
    Names,
    TextCells,
    heading_of,
    number_word,
    words_in,
)
from kmatch.results.output import open_output

if TYPE_CHECKING:
    from kmatch.results.annotation import Annotation
    from kmatch.sequences.files import StrPath

SHOWN = 6  # rows of a repr
PAGE = 10  # rows in a notebook
CELL = 24  # characters of a name there

Row = TypeVar("Row")
Kind = TypeVar("Kind", bound=np.generic)
named_row: Any = cache(namedtuple)  # of fields that no type checker can know


class Column(Generic[Kind]):
    """A column of the tables of a class, whose attribute of this name is an array of its values.

    kind: of these; cells(batch, table): makes its Cells; form: how numbers are written that are no
    whole ones; missing: how NaN is; aligned: whether it is made of alignments; in_turn: whether
    cells are made in the order of rows, as they read genomes.
    """

    name = ""

    def __init__(
        self,
        kind: type[Kind],
        cells: Callable[[Any, Any], Cells],
        form: str = "",
        missing: str = "",
        *,
        aligned: bool = False,
        in_turn: bool = False,
    ) -> None:
        self.kind = kind
        self.cells = cells
        self.form = form
        self.missing = missing
        self.aligned = aligned
        self.in_turn = in_turn

    def __set_name__(self, owner: Any, name: str) -> None:
        self.name = name

    @overload
    def __get__(self, table: None, owner: Any) -> Self: ...
    @overload
    def __get__(self, table: object, owner: Any) -> NDArray[Kind]: ...
    def __get__(self, table: Any, owner: Any) -> Any:
        if table is None:
            return self
        if self.name not in table.columns:
            raise AttributeError(f"{type(table).__name__} has no column {self.name!r}")
        if self.aligned:
            table.align(self.name)
        values = self.values(table.batches, table)
        vars(table)[self.name] = values  # which is found first from now on
        table.check()
        return values

    def values(self, batches: Iterable[Batch], table: Any) -> NDArray[Any]:
        """Return its values in the rows of batches."""
        cells = [self.cells(batch, table) for batch in batches if len(batch)]
        texts = [each for each in cells if isinstance(each, TextCells | Edits)]
        if texts:
            threads = pool(table.threads or cores(), "kmatch lines")
            return np.concatenate(list(threads.map(words_in, texts)))
        parts: list[Any] = [np.zeros(0, self.kind)]
        for each in cells:
            if isinstance(each, Named):
                words = np.array(each.names.words, self.kind)
                parts.append(words[each.which])
            else:
                parts.append(each)
        return np.concatenate(parts)


class Table(Generic[SomeBatch, Row]):
    """A table: rows of batches, in columns that are made when first used.

    Formats write batches by the columns of a table without rows. Threads ask it for the cells of
    several batches side by side.

    noun: the word for a row. bed, tsv: the names of the columns that are written. optional: the
    columns that rows have only where TSV has them; with `x` goes `x_number`. annotated: the columns
    that rows have with an annotation alone. joins: whether batches of one genome can be joined.
    threads: that may format lines, None for one a core. warns: whether it warns of an annotation
    that knows none of its records.
    """

    _declared: dict[str, Column[Any]]
    _row: Any  # the class of the named tuples that rows are
    noun: str
    optional: tuple[str, ...] = ()
    annotated: tuple[str, ...] = ()
    bed: tuple[str, ...] = ()
    tsv: tuple[str, ...] = ()
    joins = True
    threads: int | None = None
    warns = True
    annotation: "Annotation | None" = None
    _made: dict[int, tuple[Any, Any, Any]]  # see `once`

    def __init_subclass__(cls, **more: Any) -> None:
        super().__init_subclass__(**more)
        cls._declared = {}
        for kind in reversed(cls.__mro__):
            for name, each in vars(kind).items():
                if isinstance(each, Column):
                    cls._declared[name] = each

    def __init__(self, batches: Iterable[SomeBatch]) -> None:
        self.take(batches)

    def take(self, batches: Iterable[SomeBatch]) -> None:
        """Have the rows of batches, before any column is made."""
        self._made = {}
        self.batches = list(batches)
        self._bounds = bounds_of([len(batch) for batch in self.batches])  # rows of the batches

    @property
    def columns(self) -> dict[str, Column[Any]]:
        """The columns that rows have, by name."""
        lacking = {name for name in self.optional if name.removesuffix("_number") not in self.tsv}
        if self.annotation is None:
            lacking.update(self.annotated)
        return {name: each for name, each in self._declared.items() if name not in lacking}

    def cells(self, name: str, batch: Batch) -> Cells:
        """Return the Cells of a column as lines have them: words or whole numbers."""
        column = self.columns[name]
        cells = column.cells(batch, self)
        if not column.form or not isinstance(cells, np.ndarray):
            return cells
        numbers, which = ranked(np.where(np.isnan(cells), -inf, cells))
        words = [number_word(each, column.form, column.missing) for each in numbers.tolist()]
        return Named(Names(words), which)

    def once(self, make: Callable[[Any, Any], Any], batch: Batch) -> Any:
        """Return the result of a function of a batch and its table, made once for several
        columns."""
        thread = get_ident()
        last_make, last_batch, made = self._made.get(thread, (None, None, None))
        if last_make is not make or last_batch is not batch:
            made = make(batch, self)
            self._made[thread] = (make, batch, made)
        return made

    def add(self, names: Sequence[str]) -> None:
        """Give rows columns that they lack, in TSV behind its others."""
        self.tsv = (*self.tsv, *names)

    def annotate(self, paths: "StrPath | Sequence[StrPath]") -> None:
        """Give rows the columns `gene` and `region`, by the features of files."""
        from kmatch.results.annotation import Annotation

        if isinstance(paths, str | os.PathLike):
            paths = [paths]
        self.annotation = Annotation(paths)
        self.add(("gene", "region"))

    def annotate_as(self, table: "Table[Any, Any]") -> None:
        """Give rows the columns of another table's annotation, if it has one.

        The other table, which is written behind this one, warns where it knows no record of both.
        """
        if table.annotation is not None:
            self.annotation = table.annotation
            self.add(("gene", "region"))
            self.warns = False

    def known(self, name: str) -> str:
        """Return the name of a column by that or by its heading. Raises InputError where there is
        none."""
        names = {name: name for name in self.columns}
        names |= {heading_of(name): name for name in names}
        if name not in names:
            raise InputError(f"there is no column '{shown(name)}'; give {', '.join(names)}")
        return names[name]

    @property
    def aligned(self) -> bool:
        """Whether TSV has columns that are made of alignments."""
        columns = self.columns
        return any(columns[name].aligned for name in self.tsv)

    def align(self, column: str = "") -> None:
        """Have the alignments of rows made, for a column if that needs them."""

    def check(self) -> None:
        """Warn, behind the last row, of an annotation that knows none of the records."""
        if self.annotation and self.warns:
            self.annotation.check()

    if not TYPE_CHECKING:  # a type checker sees the columns that a class declares, and no others

        def __getattr__(self, name: str) -> Any:
            """Return a column that not all tables of a class have."""
            if name.startswith("_") or name not in self.columns:
                raise AttributeError(self._advice(name))
            return self.columns[name].__get__(self, type(self))

    def _advice(self, name: str) -> str:
        """Return what is said of an attribute that is none, and the one that may be meant."""
        from difflib import get_close_matches

        advice = f"{type(self).__name__} has no column {name!r}"
        near = [] if name.startswith("_") else get_close_matches(name, dir(self), 1)
        return f"{advice}; did you mean {near[0]!r}?" if near else advice

    def __dir__(self) -> list[str]:
        columns = self.columns
        lacking = self._declared.keys() - columns.keys()
        return sorted({*super().__dir__(), *columns} - lacking)

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
        """Return a row by its number; the rows of a slice, of a mask, bool[n], or of numbers,
        int[m]."""
        if not isinstance(rows, slice) and not np.ndim(rows):
            return self._one_row(rows)
        if not isinstance(rows, slice):
            rows = np.asarray(rows, None if np.size(rows) else np.int64)
        numbers = np.arange(len(self))[rows]
        if numbers.ndim != 1:
            raise IndexError("rows are chosen by a slice, a mask or one list of numbers")
        return self._selected(numbers)

    def _one_row(self, number: Any) -> Row:
        if not -len(self) <= number < len(self):
            raise IndexError(f"there is no row {number}: {self._size()}")
        row = slice(number, number + 1 or None)
        values = [getattr(self, name)[row].tolist() for name in self._row._fields]
        return self._row._make(value for (value,) in values)

    def _selected(self, rows: Longs) -> Self:
        """Return the table of some rows, with the columns that are made already.

        Rows side by side of one genome become a batch, if batches can be joined.
        """
        which = np.searchsorted(self._bounds, rows, side="right") - 1
        numbers = [each.origin.number if self.joins else id(each) for each in self.batches]
        keys = np.array(numbers, np.int64)[which]
        parts = np.split(rows, run_starts(keys)[1:]) if len(rows) else []
        found = object.__new__(type(self))
        columns = self.columns
        for name, each in vars(self).items():
            vars(found)[name] = each[rows] if name in columns else each
        found.take([taken(self.batches, part) for part in parts])
        return found

    def __repr__(self) -> str:
        size = f"<{type(self).__name__}: {self._size()}"
        if not len(self):
            return f"{size}>"
        lines = list(self._shown(SHOWN))
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        shown = ["  ".join(map(str.ljust, line, widths)).rstrip() for line in lines]
        if len(self) > SHOWN:
            shown.append("…")
        return "\n  ".join([size, *shown]) + ">"

    def _repr_html_(self) -> str:
        """Return the first rows as a table, for notebooks."""
        from html import escape

        lines = [f"<p>{self._size()}</p>", "<table>"]
        for number, row in enumerate(self._shown(PAGE)):
            tag = "td" if number else "th"
            cells = [f"<{tag}>{escape(cell)}</{tag}>" for cell in row]
            lines.append(f"<tr>{''.join(cells)}</tr>")
        lines.append("</table>")
        if len(self) > PAGE:
            lines.append(f"<p>… and {len(self) - PAGE:,} more</p>")
        return "\n".join(lines)

    def _shown(self, most: int) -> Iterator[list[str]]:
        """Yield the names of the columns of rows, and the cells of the first rows."""
        rows: Any = self[:most]
        yield list(self._row._fields)
        for row in rows:
            yield [_cell(value) for value in row]

    def _size(self) -> str:
        return counted(len(self), self.noun)

    def to_bed(self, target: Any) -> None:
        """Write BED lines to a path or to a text or binary handle.

        A file is whole or absent; `.gz` in its name compresses, and `-` is standard output. Raises
        OutputError where it cannot be written.
        """
        self._write("bed", target)

    def to_tsv(self, target: Any) -> None:
        """Write a header line and TSV lines to a path or to a handle, as `to_bed` does."""
        self._write("tsv", target)

    def to_csv(self, target: Any) -> None:
        """Write the columns of TSV with commas to a path or to a handle, as `to_bed` does."""
        self._write("csv", target)

    def _write(self, form: str, target: Any) -> None:
        if form != "bed":
            self.align()
        with opened(target) as handle:
            FORMATS[form](handle, self).write_all(self.batches)

    def to_html(self, target: Any) -> None:
        """Write a page for browsers to a path or to a handle, as `to_bed` does: counts, a picture,
        and the closest 10,000 rows, to be sorted and searched.

        Raises OutputError where Jinja2 or Matplotlib is not installed.
        """
        from kmatch.pictures.report import write_page

        self.align()
        with opened(target) as handle:
            write_page(handle, self)

    def plot(self, *, records: int | None = None) -> Any:
        """Return a Matplotlib Figure of the rows.

        Hits and products are drawn along their records, by strand and distance, and counted by
        pattern or pair and distance; hits also by score and by bulges. Primers and guides are drawn
        along the target, with their properties. Assays are drawn by their differences in each
        genome.

        records: int, the records with the most rows that are drawn; 24 by default, for primers and
        guides 12. Raises OutputError where Matplotlib is not installed.
        """
        from kmatch.pictures.tables import table_of

        return table_of(self).draw(records)

    def to_dataframe(self, columns: Sequence[str] | None = None) -> Any:
        """Return the columns as a pandas.DataFrame.

        columns: their names, None for those of a row and of TSV. Raises InputError for a name that
        is none, and OutputError where pandas is not installed.
        """
        return needed("pandas", "to_dataframe()").DataFrame(self._series(columns))

    def to_polars(self, columns: Sequence[str] | None = None) -> Any:
        """Return the columns as a polars.DataFrame.

        columns: their names, None for those of a row and of TSV. Raises InputError for a name that
        is none, and OutputError where polars is not installed.
        """
        return needed("polars", "to_polars()").DataFrame(self._series(columns, as_lists="OU"))

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """Return the columns as a stream of Arrow, which Polars, DuckDB and others read.

        Raises OutputError where neither pyarrow nor nanoarrow is installed.
        """
        columns = self._series(as_lists="OU")
        if find_spec("pyarrow"):
            table = needed("pyarrow", "a stream of Arrow").table(columns)
            return table.__arrow_c_stream__(requested_schema)
        arrow = needed("nanoarrow", "a stream of Arrow")
        kinds = {}
        for name, values in columns.items():
            kind = "string" if isinstance(values, list) else values.dtype.name
            kinds[name] = getattr(arrow, kind)()
        parts = [arrow.c_array(values, kinds[name]) for name, values in columns.items()]
        schema = arrow.struct(kinds)
        table = arrow.c_array_from_buffers(schema, len(self), [None], children=parts)
        return arrow.c_array_stream(table).__arrow_c_stream__(requested_schema)

    def column(self, name: str) -> Any:
        """Return a column by its name, of TSV or of an attribute. Raises InputError for another
        name."""
        return getattr(self, self.known(name))

    def _series(self, names: Sequence[str] | None = None, as_lists: str = "") -> dict[str, Any]:
        """Return the columns of a data frame.

        names: of the columns, None for those of a row and of TSV; as_lists: the kinds of dtypes
        that become lists.
        """
        columns = {}
        for name in (*self._row._fields, *self.tsv) if names is None else names:
            values = self.column(name)
            columns[name] = values.tolist() if values.dtype.kind in as_lists else values
        return columns


@contextmanager
def opened(target: Any) -> Iterator[Any]:
    """Give a handle that takes bytes, for a path or for a text or binary handle.

    Raises OutputError for anything else.
    """
    if isinstance(target, str | os.PathLike):
        with open_output(target) as handle:
            yield handle
    elif isinstance(target, io.TextIOBase):
        yield SimpleNamespace(
            write=lambda data: target.write(str(data, "utf-8", "surrogateescape"))
        )
    elif hasattr(target, "write"):
        yield target
    else:
        raise OutputError(f"cannot write to {target!r}; give a path or an open handle")


def write_line(handle: Any, cells: Iterable[Any]) -> None:
    """Write one line of TSV to a binary handle."""
    line = "\t".join(map(str, cells)) + "\n"
    handle.write(line.encode("utf-8", "surrogateescape"))


def _cell(value: Any) -> str:
    text = str(value)
    if isinstance(value, float):
        text = f"{value:.3f}".rstrip("0").rstrip(".")
    return text if len(text) <= CELL else text[: CELL - 1] + "…"
