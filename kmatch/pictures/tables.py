"""What pictures are made of: tables, found by Python or read from a file, of a few kinds."""

import csv
import os
import re
import sys
from array import array
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from importlib import import_module
from math import isfinite, nan
from typing import Any, NamedTuple

import numpy as np

from kmatch.arguments import MOST, checked_count
from kmatch.arrays import Bools, Longs, ranked
from kmatch.errors import InputError, counted, shown
from kmatch.pictures import STYLE, load_figure, nothing
from kmatch.results.lines import heading_of
from kmatch.results.scores import SCORES
from kmatch.sequences.files import StrPath, open_source

_PLACE = ("sequence", "start", "end")
_STRANDED = (*_PLACE, "strand")
_BED = (  # of primers, hits and products, of which those of several genomes have one more
    (*_PLACE, "name", "score", "strand"),
    (*_PLACE, "pattern", "score", "strand", "distance"),
    (*_PLACE, "name", "score", "strand", "distance_forward", "distance_reverse"),
)
_WORDS = {*("genome", "sequence", "pattern", "name", "guide", "strand", "cigar")}
_WORDS |= {*("assay", "amplifies", "oligo", "position", "letter")}
_WHOLE = re.compile(r"start|end|distance(_forward|_reverse)?|d\d+|match|differ")
_SCORES = "|".join(SCORES)
_SHOWN = 40  # characters of a wrong cell
_HEADERS = ("#", "track", "browser")
_WANTED = "write the hits as TSV (--format tsv) or BED, and plot these"


class Kind(NamedTuple):
    """A kind of table: what its rows are, the columns by which it is known, others that are drawn,
    the function of `kmatch.pictures` that draws a Table of it, and the column by which its rows are
    chosen, if any."""

    noun: str
    needed: tuple[str, ...]
    others: str
    draw: str
    chosen_by: str = ""

    def shows(self, column: str) -> bool:
        """Whether a column is drawn."""
        return column in self.needed or bool(re.fullmatch(self.others, column))


KINDS = (
    Kind(
        *("guide", (*_PLACE, "guide", "d0"), rf"strand|gc|specificity(_({_SCORES}))?|d\d+"),
        *("along.draw_guides", "guide"),
    ),
    Kind(
        *("hit", (*_STRANDED, "pattern", "distance"), f"genome|cigar|{_SCORES}", "hits.draw_hits"),
        "pattern",
    ),
    Kind(
        *("product", (*_STRANDED, "name", "distance_forward", "distance_reverse"), "genome"),
        *("hits.draw_hits", "name"),
    ),
    Kind("primer", (*_PLACE, "gc", "tm"), "strand", "along.draw_primers"),
    Kind(
        *("row", ("genome", "assay", "amplifies"), "forward|reverse|probe", "cells.draw_assays"),
        "assay",
    ),
    Kind(
        *("letter", ("oligo", "position", "letter", "match", "differ"), ""),
        *("cells.draw_positions", "oligo"),
    ),
    Kind("assay", ("assay",), ".*", "cells.draw_matrix", "assay"),  # and a column a genome
)


def _kind_of(noun: str) -> Kind:
    return next(kind for kind in KINDS if kind.noun == noun)


class Words(NamedTuple):
    """A column of words: each that there is, in the order of the table, and which[i], int64, of the
    word of row i."""

    words: Sequence[str]
    which: Longs

    @classmethod
    def of(cls, column: Iterable[Any]) -> "Words":
        """The Words of a column."""
        known: dict[Any, int] = {}
        which = np.array([known.setdefault(word, len(known)) for word in column], np.int64)
        return cls(list(map(str, known)), which)


class Places(NamedTuple):
    """Where the rows are that are drawn: their numbers, int64[n], and by row record, start, end and
    strand; the names of the records and their lengths, of which one that is unknown ends with its
    last row; and how many have rows that are not drawn."""

    rows: Longs
    record: Longs
    start: Longs
    end: Longs
    minus: Bools
    names: list[str]
    lengths: Longs
    others: int


@dataclass(frozen=True)
class Table:
    """The rows of a table; columns: by the name that TSV has for them, arrays of numbers, or Words;
    lengths: of records, by name, as far as they are known."""

    kind: Kind
    columns: dict[str, Any]
    lengths: dict[str, int] = field(default_factory=dict)

    def __len__(self) -> int:
        column = self.columns[self.kind.needed[0]]
        return len(column.which if isinstance(column, Words) else column)

    def get(self, name: str) -> Any:
        """A column, NaN in all rows where there is none."""
        return self.columns.get(name, np.full(len(self), nan))

    def draw(self, records: int | None = None) -> Any:
        """A Figure; records: how many are drawn, those with the most rows."""
        load_figure()
        from matplotlib import rc_context

        module, name = self.kind.draw.split(".")
        with rc_context(STYLE):
            if not len(self):
                return nothing(f"no {self.kind.noun}s")
            return getattr(import_module(f"kmatch.pictures.{module}"), name)(self, records)

    def places(self, most: int) -> Places:
        """The Places of the rows in the `most` records with the most of them."""
        most = checked_count("records", most, 1)
        start, end, records = (self.columns[name] for name in ("start", "end", "sequence"))
        names, record = list(records.words), records.which
        if genomes := self.columns.get("genome"):
            both, record = ranked(genomes.which * len(names) + record)
            prefix = os.path.commonprefix(list(genomes.words))  # noqa: RUF071, cut at a slash
            paths = [path[prefix.rfind("/") + 1 :] for path in genomes.words]
            pairs = [divmod(number, len(names)) for number in both.tolist()]
            names = [f"{paths[genome]} {names[number]}" for genome, number in pairs]
        lengths = np.array([self.lengths.get(name, 0) for name in names], np.int64)
        np.maximum.at(lengths, record, end)
        strand, minus = self.columns.get("strand"), np.zeros(len(self), np.bool_)
        if strand is not None and "-" in strand.words:
            minus = strand.which == strand.words.index("-")
        shown = np.sort(np.argsort(-np.bincount(record), kind="stable")[:most])
        rows = np.flatnonzero(np.isin(record, shown))
        columns = np.searchsorted(shown, record[rows]), start[rows], end[rows], minus[rows]
        chosen = [names[number] for number in shown.tolist()]
        return Places(rows, *columns, chosen, lengths[shown], len(names) - len(shown))

    def title(self, places: Places) -> str:
        """How many rows there are, and which of them are drawn."""
        title = counted(len(self), self.kind.noun)
        if self.kind.draw == "hits.draw_hits":
            by = {"pattern": "pattern", "name": "pair"}[self.kind.chosen_by]
            title += f" of {counted(len(self.columns[self.kind.chosen_by].words), by)}"
        title += f" in {counted(len(places.names) + places.others, 'record')}"
        if places.others:
            title += f", of which the {len(places.names)} with the most {self.kind.noun}s are drawn"
        return title


def table_of(found: Any) -> Table:
    """The Table of what Python has found."""
    kind, columns, lengths = _kind_of(found.noun), {}, {}
    headings = map(heading_of, ("strand", *found.tsv))
    for heading in filter(kind.shows, headings):
        column = found.column(heading)
        columns[heading] = Words.of(column) if heading in _WORDS else column
    if found.noun == "hit":
        columns["pattern"] = Words(found.patterns.names, found.pattern_number)
        if found.searched is not None and "genome" not in columns and found.searched.can_reread:
            lengths = _sizes(found.searched.genome(0))
    if found.noun == "primer":
        lengths = {name: len(each.codes) for each in found.batches for name in each.names.values()}
    return Table(kind, columns, lengths)


def _sizes(genome: Any) -> dict[str, int]:
    """The letters of records by name, of those that share one those of the first."""
    names, lengths = genome.sizes
    return dict(zip(reversed(names), reversed(lengths.tolist()), strict=True))


def read_table(path: StrPath, genome: StrPath | None = None, pattern: str | None = None) -> Table:
    """A table that kmatch wrote; `-` is standard input.

    genome: where the lengths of the records are, if they are known; pattern: the only one whose
    rows are wanted. Raises InputError, naming file and line, for anything else.
    """
    kind, names = _kind_of("hit"), list[str]()
    columns = {name: _column(name) for name in kind.needed}  # which an empty file has
    with open_source(path) as source:
        for number, line in enumerate(source.handle, 1):
            text = line.decode("utf-8", "surrogateescape").rstrip("\r\n")
            if not text.strip() or text.startswith(_HEADERS):
                continue
            commas = "," in text and "\t" not in text
            cells = next(csv.reader([text])) if commas else text.split("\t")
            try:
                if not names:
                    kind, names = _kind_and_names(cells)
                    columns = {name: _column(name) for name in filter(kind.shows, names)}
                    if names == cells:
                        continue
                if len(cells) < len(names):
                    raise ValueError(
                        f"{len(cells)} of the table's {len(names)} columns; complete the line, or "
                        "write the table again"
                    )
                row = dict(zip(names, cells, strict=False))
                if pattern not in (None, row.get(kind.chosen_by)):
                    continue
                for name, column in columns.items():
                    column.append(_value(name, row[name]))
                if "start" in columns and columns["start"][-1] >= columns["end"][-1]:
                    raise ValueError(f"starts at {row['start']} and ends before, at {row['end']}")
            except ValueError as error:
                raise InputError(f"{source.label}: line {number}: {error}") from None
    table = Table(
        kind,
        {name: Words.of(x) if name in _WORDS else np.array(x) for name, x in columns.items()},
    )
    if pattern is not None and not len(table):
        by = table.kind.chosen_by or "pattern"
        raise InputError(f"{source.label}: no row has '{shown(pattern)}' as its {by}")
    if genome is not None:
        from kmatch.genome import Genome

        table.lengths.update(_sizes(Genome(genome, keep=False)))
    return table


def _column(name: str) -> Any:
    """An empty column as it is read: words, whole numbers or others."""
    return [] if name in _WORDS else array("q" if _WHOLE.fullmatch(name) else "d")


def _value(name: str, cell: str) -> str | float:
    """A cell as a column has it, NaN where there is none; ValueError where it does not fit."""
    if name == "strand" and cell not in ("+", "-"):
        raise ValueError(f"'{shown(cell, _SHOWN)}' is no strand; + and - are")
    if name in _WORDS:
        return sys.intern(cell)
    with suppress(ValueError):
        if _WHOLE.fullmatch(name):
            if cell.isdigit() and int(cell[:20]) <= MOST * MOST:
                return int(cell)
        elif cell in ("", "NA") or isfinite(float(cell)):
            return float(cell.replace("NA", "") or nan)
    raise ValueError(f"'{shown(cell, _SHOWN)}' is no number for the column {shown(name)}")


def _kind_and_names(cells: list[str]) -> tuple[Kind, list[str]]:
    """The kind of a table and its columns, by a header or by the first line of BED."""
    for kind in KINDS:
        if {*kind.needed} <= {*cells}:
            return kind, cells
    counts = sum(cell.isdigit() for cell in cells[6:8])
    more = len(cells) - len(_BED[0]) - counts
    kmatchs = counts or "".join(cells[3:4]).startswith("primer_")
    if not kmatchs or more not in (0, 1) or not (cells[1].isdigit() and cells[2].isdigit()):
        raise ValueError(f"neither a header nor BED of kmatch's; {_WANTED}")
    return _kind_of(("primer", "hit", "product")[counts]), [*_BED[counts], *("genome",) * more]
