"""Tables for pictures, found by Python or read from a file, of a few kinds."""

import csv
import json
import os
import re
import sys
from array import array
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from importlib import import_module
from math import inf, isfinite, nan
from typing import Any, NamedTuple

import numpy as np

from kmatch.arguments import MOST, Gaps, checked_count
from kmatch.arrays import Bools, Floats, Longs, order_of, ranked
from kmatch.errors import InputError, counted, shown
from kmatch.pictures import STYLE, Size, load_figure, nothing
from kmatch.results.lines import heading_of
from kmatch.results.scores import SCORES
from kmatch.sequences.files import StrPath, open_source

_PLACE = ("sequence", "start", "end")
_STRANDED = (*_PLACE, "strand")
# BED of primers, hits and products, of which those of several genomes have one more.
_BED = (
    (*_PLACE, "name", "score", "strand"),
    (*_PLACE, "pattern", "score", "strand", "distance"),
    (*_PLACE, "name", "score", "strand", "distance_forward", "distance_reverse"),
)
_OF_BED = ("primer", "hit", "product")  # what its rows are
_WORDS = {"genome", "sequence", "pattern", "name", "guide", "strand", "cigar"}
_WORDS |= {"assay", "amplifies", "oligo", "position", "letter"}
UNDECIDED = inf  # in a matrix; NaN where there is no product
_MISSING = {"": nan, "NA": nan}
_VERDICTS = {**_MISSING, "no": nan, "unknown": UNDECIDED}
_WHOLE = re.compile(r"start|end|distance(_forward|_reverse)?|d\d+|match|differ")
_SCORES = "|".join(SCORES)
DECIMALS = 6  # of a specificity and of a share of GC, as tables have them
_SHOWN = 40  # characters of a wrong cell
_HEADERS = ("#", "track", "browser")
_WANTED = "write the hits as TSV (--format tsv) or BED, and plot these"


class Kind(NamedTuple):
    """A kind of table.

    noun: the word for a row; needed: the columns by which it is known; others: an expression of
    other columns that are drawn; draw: the function of `kmatch.pictures` that draws a Table of it;
    chosen_by: the column by which its rows are chosen, if any; verdicts: words that stand for
    numbers.
    """

    noun: str
    needed: tuple[str, ...]
    others: str
    draw: str
    chosen_by: str = ""
    verdicts: Mapping[str, float] = _MISSING

    def shows(self, column: str) -> bool:
        """Return whether a column is drawn."""
        return column in self.needed or bool(re.fullmatch(self.others, column))


KINDS = (
    Kind(
        noun="guide",
        needed=(*_PLACE, "guide", "d0"),
        others=rf"strand|gc|specificity(_({_SCORES}))?|d\d+",
        draw="along.draw_guides",
        chosen_by="guide",
    ),
    Kind(
        noun="hit",
        needed=(*_STRANDED, "pattern", "distance"),
        others=f"genome|cigar|{_SCORES}",
        draw="hits.draw_hits",
        chosen_by="pattern",
    ),
    Kind(
        noun="product",
        needed=(*_STRANDED, "name", "distance_forward", "distance_reverse"),
        others="genome",
        draw="hits.draw_hits",
        chosen_by="name",
    ),
    Kind(
        noun="primer",
        needed=(*_PLACE, "gc", "tm"),
        others="strand",
        draw="along.draw_primers",
    ),
    Kind(
        noun="row",
        needed=("genome", "assay", "amplifies"),
        others="forward|reverse|probe",
        draw="assays.draw_assays",
        chosen_by="assay",
    ),
    Kind(
        noun="letter",
        needed=("oligo", "position", "letter", "match", "differ"),
        others="",
        draw="assays.draw_positions",
        chosen_by="oligo",
    ),
    Kind(  # and a column a genome
        noun="assay",
        needed=("assay",),
        others=".*",
        draw="assays.draw_matrix",
        chosen_by="assay",
        verdicts=_VERDICTS,
    ),
)


def _kind_of(noun: str) -> Kind:
    return next(kind for kind in KINDS if kind.noun == noun)


class Words(NamedTuple):
    """A column of words.

    words: each that there is, in the order of the table; which: int64[n], the number of each row's.
    """

    words: Sequence[str]
    which: Longs

    @classmethod
    def of(cls, column: Iterable[Any]) -> "Words":
        """Return the Words of a column."""
        numbers: dict[Any, int] = {}
        which = [numbers.setdefault(word, len(numbers)) for word in column]
        return cls(list(map(str, numbers)), np.array(which, np.int64))

    def with_first(self, names: Iterable[str]) -> "Words":
        """Return the same column, with these words before its others, whether rows have them."""
        words = list(dict.fromkeys([*names, *self.words]))
        numbers = {word: number for number, word in enumerate(words)}
        renumbered = np.array([numbers[word] for word in self.words], np.int64)
        return Words(words, renumbered[self.which])


class Places(NamedTuple):
    """The places of the rows that are drawn.

    rows: int64[n], their numbers in the table; record, start, end, minus: of each row, records by
    number among the drawn records; names, lengths: of these records; others: how many records have
    rows that are not drawn; guessed: how many of these records end with their last row, as their
    length is not known.
    """

    rows: Longs
    record: Longs
    start: Longs
    end: Longs
    minus: Bools
    names: list[str]
    lengths: Longs
    others: int
    guessed: int

    @property
    def doubt(self) -> str:
        """Return the note on an axis where lengths are not known."""
        if not self.guessed:
            return ""
        if self.guessed == len(self.names):
            return "; lengths are not known: records are drawn up to their last row"
        return f"; {counted(self.guessed, 'record')} of unknown length drawn up to the last row"


@dataclass(frozen=True)
class Table:
    """The rows of a table; columns: by the name that TSV has for them, arrays of numbers, or Words;
    lengths: of records, by name, as far as they are known; size: of the picture, None for one that
    fits; heading: above it, empty for one that says how many rows there are."""

    kind: Kind
    columns: dict[str, Any]
    lengths: dict[str, int] = field(default_factory=dict)
    size: Size | None = None
    heading: str = ""

    def __len__(self) -> int:
        """Return the number of rows."""
        column = self.columns[self.kind.needed[0]]
        return len(column.which if isinstance(column, Words) else column)

    def get(self, name: str) -> Any:
        """Return a column, NaN in all rows where there is none."""
        return self.columns.get(name, np.full(len(self), nan))

    def draw(self, records: int | None = None) -> Any:
        """Return a Figure; records: the number of records, with the most rows, that are drawn."""
        load_figure()
        from matplotlib import rc_context

        module, name = self.kind.draw.split(".")
        with rc_context(STYLE):
            if not len(self):
                return nothing(f"no {self.kind.noun}s")
            return getattr(import_module(f"kmatch.pictures.{module}"), name)(self, records)

    def places(self, most: int) -> Places:
        """Return the Places of the rows in the `most` records with the most of them.

        A record ends where its length is known to, or else with its last row. Of these records the
        2 with the most rows are a and c, and there is 1 other:

        a  |  [hit]    [hit]  [hit]     |  length 31
        b  |     [hit]                     length 9
        c  |[hit]      [hit]               length 15
        """
        most = checked_count("records", most, 1)
        names, record = self._records()
        start = self.columns["start"]
        end = self.columns["end"]
        lengths = np.array([self.lengths.get(name, 0) for name in names], np.int64)
        is_guessed = lengths == 0
        last_end = np.zeros(len(names), np.int64)
        np.maximum.at(last_end, record, end)
        lengths[is_guessed] = last_end[is_guessed]
        # The records with the most rows, the first of equal ones, in the order of the table.
        counts = np.bincount(record)
        shown = np.sort(np.argsort(-counts, kind="stable")[:most])
        rows = np.flatnonzero(np.isin(record, shown))
        return Places(
            rows,
            np.searchsorted(shown, record[rows]),
            start[rows],
            end[rows],
            self._minus()[rows],
            [names[number] for number in shown.tolist()],
            lengths[shown],
            others=len(names) - len(shown),
            guessed=int(is_guessed[shown].sum()),
        )

    def _records(self) -> tuple[list[str], Longs]:
        """Return the names of records, and which of them each row is in, int64[n].

        Records of several genomes have the genome's path before their name, without the folders
        that all paths begin with.
        """
        records = self.columns["sequence"]
        names = list(records.words)
        genomes = self.columns.get("genome")
        if genomes is None:
            return names, records.which
        pairs, which = ranked(genomes.which * len(names) + records.which)
        prefix = os.path.commonprefix(list(genomes.words))  # noqa: RUF071, cut at a slash
        folders = prefix.rfind("/") + 1
        listed = []
        for pair in pairs.tolist():
            genome, record = divmod(pair, len(names))
            path = genomes.words[genome][folders:]
            listed.append(f"{path} {names[record]}")
        return listed, which

    def _minus(self) -> Bools:
        """Return which rows are on the strand -, bool[n]."""
        strand = self.columns.get("strand")
        if strand is None or "-" not in strand.words:
            return np.zeros(len(self), np.bool_)
        return np.asarray(strand.which == strand.words.index("-"))

    def title(self, places: Places) -> str:
        """Return the title of a picture: how many rows there are, and which are drawn."""
        if self.heading:
            return self.heading
        title = counted(len(self), self.kind.noun)
        if self.kind.draw == "hits.draw_hits":
            chosen = self.columns[self.kind.chosen_by].words
            noun = "pair" if self.kind.chosen_by == "name" else "pattern"
            title += f" of {counted(len(chosen), noun)}"
        title += f" in {counted(len(places.names) + places.others, 'record')}"
        if places.others:
            title += f", of which the {len(places.names)} with the most {self.kind.noun}s are drawn"
        return title


def rank_of_guides(specificity: Floats, sites: Longs, gc: Floats) -> Longs:
    """Return the order of guides from the best to the worst, int64[n], as `guides --best` has it.

    specificity, gc: float64[n]; sites: int64[n, k + 1], by distance.
    """
    by_specificity = -np.nan_to_num(specificity, nan=-1.0).round(DECIMALS)
    imbalance = np.abs(np.nan_to_num(gc) - 0.5).round(DECIMALS)
    return order_of(by_specificity, *sites.T, imbalance)


def table_of(found: Any, lengths: dict[str, int] | None = None) -> Table:
    """Return the Table of hits or other rows in Python.

    lengths: of records, by name; None where they are to be looked up.
    """
    kind = _kind_of(found.noun)
    columns = {}
    for heading in filter(kind.shows, map(heading_of, found.columns)):
        column = found.column(heading)
        columns[heading] = Words.of(column) if heading in _WORDS else column
    if found.noun == "hit":
        columns["pattern"] = Words(found.patterns.names, found.pattern_number)
    if found.noun == "product":
        columns["name"] = columns["name"].with_first(found.pairs.names)
    return Table(kind, columns, _lengths_of(found, columns) if lengths is None else lengths)


def _lengths_of(found: Any, columns: Mapping[str, Any]) -> dict[str, int]:
    """Return the letters of records, by name, as far as they are known."""
    lengths: dict[str, int] = {}
    if found.noun == "hit" and found.searched is not None and "genome" not in columns:
        return _sizes(found.searched.genome(0)) if found.searched.can_reread else lengths
    if found.noun == "primer":
        for batch in found.batches:
            lengths |= dict.fromkeys(batch.names.values(), len(batch.codes))
    return lengths


def _sizes(genome: Any) -> dict[str, int]:
    """Return the letters of records by name. Of records that share a name the longest counts."""
    sizes: dict[str, int] = {}
    for name, length in zip(*genome.sizes, strict=True):
        sizes[name] = max(int(length), sizes.get(name, 0))
    return sizes


def read_table(
    path: StrPath,
    genome: StrPath | None = None,
    pattern: str | None = None,
    report: StrPath | None = None,
    gaps: Gaps | None = None,
) -> Table:
    """Return the Table of a file that kmatch wrote; `-` is standard input.

    genome: where the lengths of the records are, if they are known; pattern: the only one whose
    rows are wanted; report: the file that the search wrote by --json, with the lengths of records
    and the patterns or pairs without a row; gaps: of the genome, as Genome takes it. Raises
    InputError, naming file and line, for anything else.
    """
    reader = _Reader(pattern)
    with open_source(path) as source:
        for number, line in enumerate(source.handle, 1):
            text = line.decode("utf-8", "surrogateescape").rstrip("\r\n")
            if not text.strip() or text.startswith(_HEADERS):
                continue
            try:
                reader.read(text)
            except ValueError as error:
                raise InputError(f"{source.label}: line {number}: {error}") from None
        label = source.label
    table = reader.table()
    if pattern is not None and not len(table):
        by = table.kind.chosen_by or "pattern"
        raise InputError(f"{label}: no row has '{shown(pattern)}' as its {by}")
    if report is not None:
        facts = _facts_of(report)
        table.lengths.update(facts.get("lengths", {}))
        if pattern is None:
            _add_names(table, facts)
    if genome is not None:
        from kmatch.genome import Genome

        table.lengths.update(_sizes(Genome(genome, keep=False, gaps=gaps)))
    _check_lengths(table, label)
    return table


def _facts_of(path: StrPath) -> dict[str, Any]:
    """Return the report of a search. Raises InputError for anything else."""
    with open_source(path) as source:
        text = b"".join(source.handle)
        label = source.label
    try:
        facts = json.loads(text)
    except ValueError as error:
        raise InputError(f"{label}: no report of --json: {error}") from None
    if not isinstance(facts, dict) or "schema_version" not in facts:
        raise InputError(f"{label}: no report of --json; give the one that the search wrote")
    return facts


def _add_names(table: Table, facts: Mapping[str, Any]) -> None:
    """Have the patterns or pairs of a report in a table, also those without a row."""
    by = {"hit": "pattern", "product": "pair"}.get(table.kind.noun, "")
    names = [row[by] for row in facts.get(f"{by}s", ())]
    if names:
        column = table.columns[table.kind.chosen_by]
        table.columns[table.kind.chosen_by] = column.with_first(names)


def _check_lengths(table: Table, label: str) -> None:
    """Raise InputError for rows that begin behind the end of their record."""
    if not table.lengths or "sequence" not in table.columns:
        return
    record = table.columns["sequence"]
    lengths = np.array([table.lengths.get(name, MOST * MOST) for name in record.words])
    beyond = np.flatnonzero(table.columns["start"] >= lengths[record.which])
    if len(beyond):
        name = record.words[record.which[beyond[0]]]
        raise InputError(
            f"{label}: rows lie beyond the {table.lengths[name]:,} letters of '{shown(name)}'; is "
            "this the genome that was searched?"
        )


class _Reader:
    """Makes a Table of lines of TSV and CSV below their headings, or of BED."""

    def __init__(self, pattern: str | None) -> None:
        """pattern: the only one whose rows are wanted, if there is one."""
        self._pattern = pattern
        self._names: list[str] = []  # of all columns, once a line has told them
        self._have(_kind_of("hit"), _kind_of("hit").needed)  # as an empty file does

    def _have(self, kind: Kind, names: Iterable[str]) -> None:
        self._kind = kind
        self._columns = {name: _column(name) for name in names}

    def read(self, text: str) -> None:
        """Take a line. Raises ValueError for one that does not fit."""
        commas = "," in text and "\t" not in text
        cells = next(csv.reader([text])) if commas else text.split("\t")
        if not self._names:
            kind, self._names, is_header = _kind_and_names(cells)
            self._have(kind, filter(kind.shows, self._names))
            if is_header:
                return
        if len(cells) < len(self._names):
            raise ValueError(
                f"{len(cells)} of the table's {len(self._names)} columns; complete the line, or "
                "write the table again"
            )
        row = dict(zip(self._names, cells, strict=False))
        if self._pattern is not None and row.get(self._kind.chosen_by) != self._pattern:
            return
        for name, column in self._columns.items():
            column.append(_value(name, row[name], self._kind.verdicts))
        if "start" in self._columns and self._columns["start"][-1] >= self._columns["end"][-1]:
            raise ValueError(f"starts at {row['start']} and ends before, at {row['end']}")

    def table(self) -> Table:
        """Return the Table of the lines so far."""
        columns = {
            name: Words.of(column) if name in _WORDS else np.array(column)
            for name, column in self._columns.items()
        }
        return Table(self._kind, columns)


def _column(name: str) -> Any:
    """Return an empty column as it is read: words, whole numbers or others."""
    if name in _WORDS:
        return []
    return array("q") if _WHOLE.fullmatch(name) else array("d")


def _value(name: str, cell: str, verdicts: Mapping[str, float]) -> str | float:
    """Return a cell as a column has it, NaN where there is none; ValueError where it does not fit.

    verdicts: words that stand for numbers.
    """
    if name == "strand" and cell not in ("+", "-"):
        raise ValueError(f"'{shown(cell, _SHOWN)}' is no strand; + and - are")
    if name in _WORDS:
        return sys.intern(cell)
    with suppress(ValueError):
        if _WHOLE.fullmatch(name):
            if cell.isdigit() and int(cell[:20]) <= MOST * MOST:
                return int(cell)
        elif cell in verdicts:
            return verdicts[cell]
        elif isfinite(float(cell)):
            return float(cell)
    raise ValueError(f"'{shown(cell, _SHOWN)}' is no number for the column {shown(name)}")


def _kind_and_names(cells: list[str]) -> tuple[Kind, list[str], bool]:
    """Return the kind of a table and its columns, by a header or by the first line of BED, and
    whether it is a header."""
    for kind in KINDS:
        if {*kind.needed} <= {*cells}:
            return kind, _told_apart(cells), True
    # BED of kmatch's has distances behind its strand, or names of primers.
    distances = sum(cell.isdigit() for cell in cells[6:8])
    more = len(cells) - len(_BED[0]) - distances
    is_kmatchs = distances > 0 or "".join(cells[3:4]).startswith("primer_")
    if not is_kmatchs or more not in (0, 1) or not (cells[1].isdigit() and cells[2].isdigit()):
        raise ValueError(f"neither a header nor BED of kmatch's; {_WANTED}")
    names = [*_BED[distances]]
    if more:
        names.append("genome")
    return _kind_of(_OF_BED[distances]), names, False


def _told_apart(names: list[str]) -> list[str]:
    """Return names of columns, those that repeat with a number: `g1`, `g1 (2)`."""
    counts: Counter[str] = Counter()
    found = []
    for name in names:
        counts[name] += 1
        found.append(f"{name} ({counts[name]})" if counts[name] > 1 else name)
    return found
