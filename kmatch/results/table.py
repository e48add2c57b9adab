"""Rows of batches as a table in Python: columns, rows, selections, files."""

import os
from collections.abc import Iterable, Iterator, Sequence
from html import escape
from typing import Any, Generic, Self, TypeVar, overload

import numpy as np

from kmatch.arrays import Longs, bounds_of
from kmatch.errors import OutputError

SHOWN = 6  # rows of a repr
PAGE = 10  # rows in a notebook
CELL = 24  # characters of a name there

Batch = TypeVar("Batch")
Row = TypeVar("Row")


class Table(Generic[Batch, Row]):
    """Rows of batches; a subclass defines their columns and writers.

    It has columns by the names in `_columns`, of which rows, as `_row`, and reprs show `_shown`;
    those in `_lazy` are computed when first used, and selections take over what is computed.
    """

    _row: Any
    _shown: Sequence[str]
    _columns: Sequence[str]
    _lazy: Sequence[str]
    _noun: str

    def __init__(self, batches: Iterable[Batch]) -> None:
        self.batches = list(batches)
        every: list[Any] = self.batches
        self._bounds = bounds_of([len(batch) for batch in every])  # rows of the batches

    def _add_genomes(self, named: bool, row: Any) -> None:
        """Have `genome` and `genome_number` too, and such rows, where `named` is set."""
        self.named = named
        if named:
            sizes = np.diff(self._bounds)
            self.genome_number = np.repeat(self._numbers(), sizes)
            names = [origin.name for origin in self._origins()]
            self.genome = np.repeat(np.array([*names, None], object)[:-1], sizes)
            self._row, self._shown = row, row._fields
            self._columns = ("genome", *self._columns)

    def _origins(self) -> list[Any]:
        batches: Any = self.batches
        return [batch.origin for batch in batches]

    def _numbers(self) -> Longs:
        """The genome of each batch."""
        return np.array([origin.number for origin in self._origins()], np.int64)

    def _batch_of(self, rows: Any) -> Any:
        return np.searchsorted(self._bounds, rows, side="right") - 1

    def _origin(self, row: Any) -> Any:
        """The Origin of a row."""
        batches: Any = self.batches
        return batches[self._batch_of(row)].origin

    def _by_genome(self, rows: Longs) -> list[Longs]:
        """Rows by number, int64[n], cut where they go from one genome to another."""
        if not len(rows):
            return []
        return np.split(rows, np.flatnonzero(np.diff(self._numbers()[self._batch_of(rows)])) + 1)

    def __len__(self) -> int:
        return int(self._bounds[-1])

    def __iter__(self) -> Iterator[Row]:
        columns = [getattr(self, name).tolist() for name in self._shown]
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
                getattr(self, name)[number : number + 1].tolist()[0] for name in self._shown
            )
        if not isinstance(rows, slice):
            rows = np.asarray(rows)
            rows = rows if rows.size else rows.astype(np.int64)
        numbers = np.arange(len(self))[rows]
        if numbers.ndim != 1:
            raise IndexError("rows are chosen by a slice, a mask or one list of numbers")
        return self._selected(numbers)

    def __repr__(self) -> str:
        size = self._size()
        if not len(self):
            return f"<{type(self).__name__}: {size}>"
        rows: Any = self[:SHOWN]
        lines = [list(self._shown), *([_cell(value) for value in row] for row in rows)]
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        shown = ["  ".join(map(str.ljust, line, widths)).rstrip() for line in lines]
        if len(self) > SHOWN:
            shown.append("…")
        return "\n  ".join([f"<{type(self).__name__}: {size}", *shown]) + ">"

    def _repr_html_(self) -> str:
        """What a notebook shows: the first rows as a table."""
        rows: Any = self[:PAGE]
        cells = ([_cell(value) for value in row] for row in rows)
        return html_table(self._size(), self._shown, cells, max(0, len(self) - PAGE))

    def _size(self) -> str:
        return f"{len(self):,} {self._noun}{'' if len(self) == 1 else 's'}"

    def to_bed(self, target: Any) -> None:
        """Write BED lines to a path or to a text or binary handle.

        A file is whole or absent; `.gz` in its name compresses, and `-` is standard output. Raises
        OutputError where it cannot be written.
        """
        self._write("bed", target)

    def to_tsv(self, target: Any) -> None:
        """Write a header line and TSV lines to a path or to a handle, as `to_bed` does."""
        self._write("tsv", target)

    def to_dataframe(self) -> Any:
        """The columns as a pandas.DataFrame. Raises OutputError where pandas is not installed."""
        try:
            from pandas import DataFrame
        except ImportError as error:
            raise OutputError(
                "to_dataframe() needs pandas; install it with: pip install pandas"
            ) from error
        return DataFrame({name: getattr(self, name) for name in self._columns})

    def _write(self, form: str, target: Any) -> None:
        self._write_to(target, lambda handle: self._writer(form, handle), self.batches)

    def _write_to(self, target: Any, make_writer: Any, batches: Iterable[Batch]) -> None:
        if isinstance(target, str | os.PathLike):
            from kmatch.results.output import open_output

            with open_output(target) as handle:
                self._write_to(handle, make_writer, batches)
            return
        if not hasattr(target, "write"):
            raise OutputError(f"cannot write to {target!r}; give a path or an open handle")
        writer = make_writer(target)
        for batch in batches:
            writer.write(batch)
        writer.finish()

    def _selected(self, rows: Longs) -> Self:
        found = self._taken(rows)
        known = vars(self).keys() & set(self._lazy)
        vars(found).update({name: vars(self)[name][rows] for name in known})
        return found

    def _column(self, name: str, kind: Any) -> Any:
        parts = [getattr(batch, name) for batch in self.batches]
        return np.concatenate(parts) if parts else np.zeros(0, kind)

    def _taken(self, rows: Longs) -> Self:
        raise NotImplementedError

    def _writer(self, form: str, handle: Any) -> Any:
        raise NotImplementedError


def _cell(value: Any) -> str:
    text = f"{value:.3f}".rstrip("0").rstrip(".") if isinstance(value, float) else str(value)
    return text if len(text) <= CELL else text[: CELL - 1] + "…"


def html_table(title: str, columns: Sequence[str], rows: Iterable[Sequence[str]], more: int) -> str:
    """A table of cells that may hold anything; more: how many rows there are besides these."""
    lines = [f"<p>{escape(title)}</p>", "<table>", _line("th", columns)]
    lines += [_line("td", row) for row in rows]
    lines.append("</table>")
    if more:
        lines.append(f"<p>… and {more:,} more</p>")
    return "\n".join(lines)


def _line(tag: str, cells: Sequence[str]) -> str:
    return f"<tr>{''.join(f'<{tag}>{escape(cell)}</{tag}>' for cell in cells)}</tr>"
