"""What pictures are made of: tables, found by Python or read from a file, of a few kinds."""

import csv
import os
import re
from array import array
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from importlib import import_module
from math import isfinite, nan
from typing import Any, NamedTuple

import numpy as np

from kmatch.arrays import Bools, Longs, ranked
from kmatch.errors import MOST, InputError, checked_count, shown
from kmatch.sequences.files import StrPath, open_source

_PLACE = ("sequence", "start", "end")
_BED = (  # of primers, hits and products, of which those of several genomes have one more
    (*_PLACE, "name", "score", "strand"),
    (*_PLACE, "pattern", "score", "strand", "distance"),
    (*_PLACE, "name", "score", "strand", "distance_forward", "distance_reverse"),
)
# Columns that pictures show: of words, of whole numbers, of other numbers.
_WORDS = ("genome", "sequence", "pattern", "name", "guide", "strand", "cigar")
_WHOLE, _REAL = r"start|end|distance(_forward|_reverse)?|d\d+", r"gc|tm|cfd|mit|specificity(_mit)?"
_HEADERS = ("#", "track", "browser")
_SHOWN_COLUMNS = re.compile("|".join((*_WORDS, _WHOLE, _REAL)))
_SHOWN = 40  # characters of a wrong cell
_OTHERS = {  # how what is no table begins
    "@HD": "SAM",
    "@SQ": "SAM",
    "##gff": "GFF3",
    ">": "FASTA",
    "pattern\td": "a summary, which has no positions",
}
_WANTED = "write the hits as TSV (--format tsv) or BED, and plot these"


class Kind(NamedTuple):
    """A kind of table: what its rows are, the columns by which it is known, that by which its rows
    are chosen, if any, and the function of `kmatch.pictures` that draws a Table of it."""

    noun: str
    needed: tuple[str, ...]
    chosen_by: str
    draw: str


KINDS = (
    Kind("guide", (*_PLACE, "guide", "d0"), "guide", "along.draw_guides"),
    Kind("hit", (*_PLACE, "pattern", "distance", "strand"), "pattern", "hits.draw_hits"),
    Kind(
        "product",
        (*_PLACE, "name", "distance_forward", "distance_reverse", "strand"),
        "name",
        "hits.draw_hits",
    ),
    Kind("primer", (*_PLACE, "gc", "tm"), "", "along.draw_primers"),
)


class Words(NamedTuple):
    """A column of words: each that there is, in the order of the table, and which[i], int64, of the
    word of row i."""

    words: Sequence[str]
    which: Longs


@dataclass(frozen=True)
class Table:
    """The rows of a table; columns: by the name that TSV has for them, arrays of numbers, or Words;
    lengths: of records, by name, as far as they are known."""

    kind: Kind
    columns: dict[str, Any]
    lengths: dict[str, int] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.columns["start"])

    def get(self, name: str) -> Any:
        """A column, NaN in all rows where there is none."""
        return self.columns.get(name, np.full(len(self), nan))

    def draw(self, records: int | None = None) -> Any:
        """A Figure; records: how many, those with the most rows, are drawn by themselves."""
        module, name = self.kind.draw.split(".")
        return getattr(import_module(f"kmatch.pictures.{module}"), name)(self, records)


def table_of(found: Any, headings: Mapping[str, str]) -> Table:
    """The Table of Hits, Products, Primers or Guides; headings: their columns, by those of TSV."""
    columns, lengths = {}, {}
    for heading, name in headings.items():
        if _SHOWN_COLUMNS.fullmatch(heading):
            column = found.column(name)
            columns[heading] = words_of(column) if heading in _WORDS else column
    if found.noun == "hit":
        patterns = [pattern.name for pattern in found.patterns]
        columns["pattern"] = Words(patterns, found.pattern_number)
        if found.searched is not None and "genome" not in columns and found.searched.can_reread:
            lengths = _sizes(found.searched.genome(0))
    if found.noun == "primer":
        lengths = {name: len(each.codes) for each in found.batches for name in each.names.values()}
    return Table(next(kind for kind in KINDS if kind.noun == found.noun), columns, lengths)


def words_of(column: Iterable[Any]) -> Words:
    """The Words of a column."""
    known: dict[Any, int] = {}
    which = np.array([known.setdefault(word, len(known)) for word in column], np.int64)
    return Words(list(map(str, known)), which)


def _sizes(genome: Any) -> dict[str, int]:
    """The letters of records by name, of those that share one those of the first."""
    names, lengths = genome.sizes()
    return dict(zip(reversed(names), reversed(lengths.tolist()), strict=True))


def read_table(path: StrPath, genome: StrPath | None = None, pattern: str | None = None) -> Table:
    """A table that kmatch wrote; `-` is standard input.

    genome: where the lengths of the records are, if they are known; pattern: the only one whose
    rows are wanted. Raises InputError, naming file and line, for anything else.
    """
    reader = _Reader(pattern)
    with open_source(path) as source:
        for number, line in enumerate(source.handle, 1):
            try:
                reader.add(line.decode("utf-8", "surrogateescape").rstrip("\r\n"))
            except ValueError as error:
                raise InputError(f"{source.label}: line {number}: {error}") from None
        table = reader.table()
        if pattern is not None and not len(table):
            column = table.kind.chosen_by or "pattern"
            raise InputError(f"{source.label}: no row has '{shown(pattern)}' as its {column}")
    if genome is not None:
        from kmatch.genome import Genome

        table.lengths.update(_sizes(Genome(genome, keep=False)))
    return table


class _Column(NamedTuple):
    """The values of a column so far, what makes one of a cell, and its words by number."""

    values: Any
    convert: Callable[[str], float]
    words: dict[str, int]


class _Reader:
    """The rows of a table, added line by line; ValueError says what is wrong with one."""

    def __init__(self, pattern: str | None) -> None:
        self._pattern = pattern
        self._kind: Kind | None = None
        self._split: Callable[[str], list[str]] = lambda line: line.split("\t")
        self._names: list[str] = []  # of the table's columns
        self._columns: dict[str, _Column] = {}  # those that pictures show

    def add(self, line: str) -> None:
        if self._kind is None and (what := [_OTHERS[x] for x in _OTHERS if line.startswith(x)]):
            raise ValueError(f"this is {what[0]}; {_WANTED}")
        if not line.strip() or line.startswith(_HEADERS):
            return
        if self._kind is None and self._begin(line):
            return
        cells = self._split(line)
        if len(cells) < len(self._names):
            raise ValueError(
                f"{len(cells)} of the table's {len(self._names)} columns; complete the line, "
                "or write the table again"
            )
        row = dict(zip(self._names, cells, strict=False))
        if self._kind and self._pattern not in (None, row.get(self._kind.chosen_by)):
            return
        for name, column in self._columns.items():
            column.values.append(column.convert(row[name]))
        start, end = (self._columns[name].values[-1] for name in ("start", "end"))
        if start >= end:
            raise ValueError(f"starts at {start} and ends before, at {end}")

    def _begin(self, line: str) -> bool:
        """Take kind and columns from the first line; whether it is a header."""
        if "\t" not in line and "," in line:
            self._split = lambda line: next(csv.reader([line]))
        cells = self._names = self._split(line)
        self._kind = next((kind for kind in KINDS if {*kind.needed} <= {*cells}), None)
        is_header = self._kind is not None
        if not is_header:  # BED as kmatch writes it
            counts = sum(cell.isdigit() for cell in cells[6:8])
            more = len(cells) - len(_BED[0]) - counts
            kmatchs = counts or "".join(cells[3:4]).startswith("primer_")
            if not kmatchs or more not in (0, 1) or not (cells[1].isdigit() and cells[2].isdigit()):
                raise ValueError(f"neither a header nor BED of kmatch's; {_WANTED}")
            noun = ("primer", "hit", "product")[counts]
            self._kind = next(kind for kind in KINDS if kind.noun == noun)
            self._names = [*_BED[counts], *("genome",) * more]
        for name in filter(_SHOWN_COLUMNS.fullmatch, self._names):
            words: dict[str, int] = {}
            is_real = bool(re.fullmatch(_REAL, name))
            convert: Callable[[str], float] = partial(_number, name, is_real)
            if name in _WORDS:
                convert = partial(_word, name, words)
            self._columns[name] = _Column(array("d" if is_real else "q"), convert, words)
        return is_header

    def table(self) -> Table:
        if self._kind is None:
            self._begin("\t".join(next(kind.needed for kind in KINDS if kind.noun == "hit")))
        assert self._kind is not None
        columns: dict[str, Any] = {}
        for name, (values, _, words) in self._columns.items():
            columns[name] = np.array(values, np.float64 if values.typecode == "d" else np.int64)
            if name in _WORDS:
                columns[name] = Words(list(words), columns[name])
        return Table(self._kind, columns)


def _word(name: str, known: dict[str, int], cell: str) -> int:
    if name == "strand" and cell not in ("+", "-"):
        raise ValueError(f"'{_cell(cell)}' is no strand; + and - are")
    return known.setdefault(cell, len(known))


def _number(name: str, is_real: bool, cell: str) -> float:
    """A whole number or, where a column may have any, another, NaN where there is none."""
    with suppress(ValueError):
        if not is_real:
            if cell.isdigit() and int(cell[:20]) <= MOST * MOST:
                return int(cell)
        elif cell in ("", "NA") or isfinite(float(cell)):
            return float(cell.replace("NA", "") or nan)
    raise ValueError(f"'{_cell(cell)}' is no number for the column {name}")


def _cell(cell: str) -> str:
    return shown(cell.encode("utf-8", "replace").decode(), _SHOWN)


class Places(NamedTuple):
    """Where n rows are: the names of the records that have any and their lengths, of which one that
    is unknown ends with its last row; and by row its record, start, end and strand."""

    names: list[str]
    lengths: Longs
    record: Longs
    start: Longs
    end: Longs
    minus: Bools


def places_of(table: Table) -> Places:
    """The Places of the rows of a Table."""
    start, end, records = table.columns["start"], table.columns["end"], table.columns["sequence"]
    if genomes := table.columns.get("genome"):
        both, record = ranked(genomes.which * len(records.words) + records.which)
        paths = _within_folder(genomes.words)
        pairs = [divmod(number, len(records.words)) for number in both.tolist()]
        names = [f"{paths[genome]} {records.words[number]}" for genome, number in pairs]
    else:
        names, record = records.words, records.which
    lengths = np.array([table.lengths.get(name, 0) for name in names], np.int64)
    np.maximum.at(lengths, record, end)
    strand, minus = table.columns.get("strand"), np.zeros(len(table), np.bool_)
    if strand is not None and "-" in strand.words:
        minus = strand.which == strand.words.index("-")
    return Places(list(names), lengths, record, start, end, minus)


def _within_folder(paths: Sequence[str]) -> list[str]:
    """Names of genomes without the folder that all are in."""
    prefix = os.path.commonprefix(list(paths))  # noqa: RUF071, cut at a slash
    return [path[prefix.rfind("/") + 1 :] for path in paths]


class Lines(NamedTuple):
    """Which line of a picture each row is on, int64[n], and where: its offset on that line.

    shown: the records of the first lines, in order; others: how many more share a last line, one
    behind another, and how many letters these have. The scale of a line is that of the longest
    record shown, and on the line of the others as many letters as they have.
    """

    line: Longs
    offset: Longs
    shown: Longs
    others: int
    letters: int

    @property
    def size(self) -> int:
        return len(self.shown) + (self.others > 0)


def lines_of(places: Places, most: int) -> Lines:
    """Lines for the records, the `most` with the most rows by themselves."""
    most = checked_count("records", most, 1)
    counts = np.bincount(places.record, minlength=len(places.names))
    chosen = np.sort(np.argsort(-counts, kind="stable")[:most])
    lines = np.full(len(counts), len(chosen), np.int64)
    lines[chosen] = np.arange(len(chosen))
    lengths = np.where(lines == len(chosen), places.lengths, 0)
    offsets = np.where(lengths > 0, np.cumsum(lengths) - lengths, 0)
    others, record = len(counts) - len(chosen), places.record
    return Lines(lines[record], offsets[record], chosen, others, int(lengths.sum()))
