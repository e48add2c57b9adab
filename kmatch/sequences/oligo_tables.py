"""Tables of oligos as people keep them: the separator of cells, and the contents of columns."""

import csv
import re
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import NamedTuple

from kmatch.errors import InputError, counted, listed, shown, warn
from kmatch.sequences.files import is_comment
from kmatch.sequences.labels import SHORTEST, is_oligo
from kmatch.sequences.patterns import is_bed

COLUMNS = (
    "write NAME, FORWARD, REVERSE and PROBE, or name the columns in a header line, or give FASTA, "
    "or BED with the sequence in column 7"
)
_BY_PAIR = ("forward", "reverse", "probe")  # columns of a table that has a pair a line
_QUOTED = ' "'  # around a cell
_FIRST_LINES = 20  # which tell the delimiter
_DELIMITERS = "\t,;"
_SEQUENCE = re.compile(f"[ACGTU]{{{SHORTEST},}}", re.IGNORECASE | re.ASCII)

# Words of a header line. A filler may stand beside any of them.
_WORDS = {
    "name": ("name", "id", "assay", "target", "primer"),  # of several the first counts
    "forward": ("forward", "fwd", "f", "left", "sense"),
    "reverse": ("reverse", "rev", "r", "right", "antisense"),
    "probe": ("probe", "p", "taqman"),
}
_HOLDS = {word: what for what, words in _WORDS.items() for word in words}
_HOLDS_ALONE = {"fp": "forward", "rp": "reverse"}  # a forward primer, a reverse primer
_SEQUENCE_WORDS = ("sequence", "seq")
_FILLERS = ("primer", "oligo", *_SEQUENCE_WORDS)
_KNOWN = re.compile("|".join(sorted({*_HOLDS, *_FILLERS}, key=len, reverse=True)))
_NO_WORDS = re.compile(r"[(\[{][^)\]}]*[)\]}]?|5\W{0,5}(?:to\W{0,5})?3")  # (Sigma), 5'-3'

Columns = dict[str, int]  # number of the column that holds name, forward, reverse, probe, sequence


class Line(NamedTuple):
    """A row of a table: the number of its first line, and its cells up to the last one filled."""

    number: int
    cells: list[str]

    def cell(self, column: int | None) -> str:
        """Return a cell, empty where the row is shorter; None is a column that is not there."""
        if column is None or column >= len(self.cells):
            return ""
        return self.cells[column]


class Table(NamedTuple):
    """The rows of a table below its header, and its columns; of BED and without rows these are
    none."""

    columns: Columns
    rows: list[Line]


def read_table(lines: list[str], label: str) -> Table:
    """Return the Table of the lines of a file.

    The header names the columns. Without a header they are NAME and SEQUENCE, or NAME, FORWARD,
    REVERSE and PROBE. A warning tells how an unclear table was read. label: of the file. Raises
    InputError, naming line and words, for columns that cannot be told.
    """
    delimiter = _delimiter_of(lines)
    rows = list(_rows_of(lines, delimiter, label))
    if not rows or is_bed(rows[0].cells):
        return Table({}, rows)
    header = _header_of(lines, delimiter, rows[0])
    if header is None:
        return Table(_columns_by_place(rows, label), rows)
    columns = _columns_by_header(header, label)
    if header is rows[0]:
        rows = rows[1:]
    _warn_of_others(header, columns, rows, label)
    return Table(columns, rows)


def _delimiter_of(lines: list[str]) -> str:
    """Return the delimiter that leaves the most cells with oligos in the first lines; of equal ones
    the one that stands there most often. Where none leaves any, blanks may do for tabs."""
    rows = (line for line in lines if not is_comment(line))
    first = list(islice(rows, _FIRST_LINES))
    counts = {}
    for delimiter in _DELIMITERS:
        delimiters = sum(line.count(delimiter) for line in first)
        counts[delimiter] = (_count_oligos(first, delimiter), delimiters)
    best = max(_DELIMITERS, key=lambda delimiter: counts[delimiter])
    oligos, _ = counts[best]
    if not oligos and _count_oligos(first, None):
        return "\t"
    return best


def _count_oligos(lines: list[str], delimiter: str | None) -> int:
    """Return how many cells of lines are oligos; delimiter: None for blanks."""
    count = 0
    for line in lines:
        for cell in line.split(delimiter):
            count += is_oligo(cell.strip(_QUOTED))
    return count


def _rows_of(lines: list[str], delimiter: str, label: str) -> Iterator[Line]:
    """Yield the rows that hold anything; blanks part the cells of a line without delimiters."""
    texts = ("\n" if is_comment(line) else f"{line}\n" for line in lines)
    reader = csv.reader(texts, delimiter=delimiter, skipinitialspace=True, strict=True)
    number = 1
    try:
        for row in reader:
            cells = [" ".join(cell.split()) for cell in row]
            if len(cells) == 1:
                cells = cells[0].split()
            while cells and not cells[-1]:
                cells.pop()
            if cells:
                yield Line(number, cells)
            number = reader.line_num + 1
    except csv.Error as error:
        raise InputError(
            f"{label}: line {number}: a cell that begins with a quote does not end with one "
            f"({error})"
        ) from error


def _header_of(lines: list[str], delimiter: str, first: Line) -> Line | None:
    """Return the header, if there is one; first: the first row.

    It is the first row where none of its cells is an oligo, otherwise the last comment above that
    names columns for both primers.
    """
    if not any(map(is_oligo, first.cells)):
        return first
    header = None
    for number, line in enumerate(lines[: first.number - 1], 1):
        if line.startswith("#"):
            cells = [cell.strip(_QUOTED) for cell in line[1:].split(delimiter)]
            held = {_held_by(cell) for cell in cells}
            if "forward" in held and "reverse" in held:
                header = Line(number, cells)
    return header


def _columns_by_place(rows: list[Line], label: str) -> Columns:
    """Return the columns of a table without a header, all of whose rows are alike."""
    is_by_name = len(rows[0].cells) == 2
    counts = (2,) if is_by_name else (3, 4)
    for number, cells in rows:
        if len(cells) not in counts:
            raise InputError(
                f"{label}: line {number} has {counted(len(cells), 'column')}; {COLUMNS}"
            )
        if _SEQUENCE.fullmatch(cells[0]):
            raise InputError(
                f"{label}: line {number}: '{shown(cells[0])}' stands where the name is expected; "
                f"{COLUMNS}"
            )
    if is_by_name:
        return {"name": 0, "sequence": 1}
    return {"name": 0, "forward": 1, "reverse": 2, "probe": 3}


def _columns_by_header(header: Line, label: str) -> Columns:
    """Return the columns that a header names; warn where their order is not the usual one."""
    found: dict[str, list[int]] = {}
    for column, cell in enumerate(header.cells):
        found.setdefault(_held_by(cell), []).append(column)
    is_by_name = "sequence" in found and not any(what in found for what in _BY_PAIR)
    columns = _name_column(header, found)
    for what in ("sequence",) if is_by_name else _BY_PAIR:
        candidates = found.get(what, [])
        if len(candidates) > 1:
            words = [header.cells[column] for column in candidates]
            raise InputError(
                f"{label}: line {header.number} names more than one column {what}: "
                f"{listed(words)}; leave one of them"
            )
        if candidates:
            columns[what] = candidates[0]
    needed = ("name", "sequence") if is_by_name else ("forward", "reverse")
    missing = [f"no column {what}" for what in needed if what not in columns]
    if missing:
        raise InputError(
            f"{label}: line {header.number} has no cell of {SHORTEST} or more bases, and as a "
            f"header names {' and '.join(missing)}: {listed(header.cells, 10)}; {COLUMNS}"
        )
    order = list(columns.values())
    if order != sorted(order) or "name" not in found:
        _warn_of_columns(header, columns, label)
    return columns


def _name_column(header: Line, found: Mapping[str, list[int]]) -> Columns:
    """Return the column of names, by the first of the words for it; otherwise the first column,
    unless a word says that it holds something else; otherwise none."""
    for word in _WORDS["name"]:
        for column in found.get("name", []):
            if word in _words_of(header.cells[column]):
                return {"name": column}
    if 0 in found.get("", []):
        return {"name": 0}
    return {}


def _warn_of_columns(header: Line, columns: Columns, label: str) -> None:
    """Warn which words of a header were taken for which columns."""
    told = []
    for what, column in columns.items():
        word = shown(header.cells[column])
        told.append(f"{what} is '{word}'")
    choice = ", ".join(told)
    warn(f"{label}: columns by line {header.number}: {choice}")


def _held_by(cell: str) -> str:
    """Return the contents of a column, by its cell in the header; empty for unknown contents."""
    words = _words_of(cell)
    if len(words) == 1 and words[0] in _HOLDS_ALONE:
        return _HOLDS_ALONE[words[0]]
    holds = set()
    for word in words:
        if word not in _FILLERS:
            holds.add(_HOLDS.get(word, ""))
    if len(holds) == 1 and "" not in holds:
        return holds.pop()
    has_role = any(holds)
    is_sequence = any(word in words for word in _SEQUENCE_WORDS)
    if is_sequence and not has_role:
        return "sequence"
    if words == ["primer"]:
        return "name"
    return ""


def _words_of(cell: str) -> list[str]:
    """Return the words of a cell of a header, as of `Forward primer (5'-3')` or `FORWARD_PRIMER`.

    Where a cell has known words alone, anything may stand between them.
    """
    text = _NO_WORDS.sub(" ", cell)
    words = re.findall(r"[^\W_]+", text.lower())
    glued = "".join(words)
    known = _KNOWN.findall(glued)
    if "".join(known) == glued and glued not in _HOLDS_ALONE:
        return known
    return [word.removesuffix("s") for word in words]


def _warn_of_others(header: Line, columns: Columns, rows: list[Line], label: str) -> None:
    """Warn of columns that hold oligos too, and that are left alone."""
    others = set()
    for line in rows:
        for column, cell in enumerate(line.cells):
            if column not in columns.values() and column not in others and is_oligo(cell):
                others.add(column)
    if others:
        words = [header.cell(column) or f"column {column + 1}" for column in sorted(others)]
        warn(f"{label}: columns of sequences that are left alone: {listed(words)}")
