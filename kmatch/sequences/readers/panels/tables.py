"""Patterns out of tables: BED with sequences, and a column of a CSV or TSV file."""

import csv
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from kmatch.errors import InputError
from kmatch.sequences.names import listed, shown

NAMES = ("name", "id")  # headers of a column of names, in any case
BED_NAME, _BED_STRAND, BED_SEQUENCE = 3, 5, 6  # columns, counted from 0
_BED_HEADERS = ("#", "track ", "browser ")


class Row(NamedTuple):
    """A pattern of a table, and the number of its line."""

    name: str
    sequence: str
    line: int


class _Columns(NamedTuple):
    """Which column holds the names, None for none, and which the sequences."""

    name: int | None
    sequence: int


def is_bed(line: str) -> bool:
    """Whether a line is BED with a sequence in its seventh column, as primer schemes have it."""
    cells = line.rstrip("\r\n").split("\t")
    return (
        len(cells) > BED_SEQUENCE
        and all(cell.isdecimal() for cell in cells[1:3])
        and cells[_BED_STRAND] in ("+", "-", ".")
    )


def is_bed_header(line: str) -> bool:
    """Whether a line may stand above the rows of BED."""
    return line.startswith(_BED_HEADERS)


def bed_rows(lines: Iterable[str], label: str) -> Iterator[Row]:
    """Yield the Rows of BED lines: the name is the fourth column, the sequence the seventh."""
    for number, line in enumerate(lines, 1):
        if is_bed_header(line) or not line.strip():
            continue
        if not is_bed(line):
            raise InputError(
                f"{label}: line {number} is not like the lines before it: BED with a sequence in "
                "column 7; complete the line, or leave it out"
            )
        cells = line.rstrip("\r\n").split("\t")
        yield Row(cells[BED_NAME].strip(), cells[BED_SEQUENCE].strip(), number)


def column_rows(lines: Iterable[str], label: str, column: str) -> Iterator[Row]:
    """Yield the Rows of CSV or TSV with a header line; column: of the sequences.

    Names are in a column `name` or `id`, otherwise in the first, unless it holds the sequences.
    """
    lines = iter(lines)
    above, delimiter, columns = _find_header(lines, label, column)
    reader = csv.reader(lines, delimiter=delimiter)
    try:
        for cells in reader:
            number = above + reader.line_num
            if not "".join(cells).strip():
                continue
            if len(cells) <= max(columns.sequence, columns.name or 0):
                raise InputError(
                    f"{label}: line {number} has {len(cells)} of the header's columns; "
                    f"complete it up to '{shown(column)}'"
                )
            name = "" if columns.name is None else cells[columns.name].strip()
            yield Row(name, cells[columns.sequence].strip(), number)
    except csv.Error as error:
        raise InputError(f"{label}: line {above + reader.line_num}: {error}") from error


def _find_header(lines: Iterator[str], label: str, column: str) -> tuple[int, str, _Columns]:
    """The number of the header's line, what parts columns, and the _Columns.

    Above it may be blank lines and comments; the header itself may begin with `#` too.
    """
    for number, line in enumerate(lines, 1):
        if line.startswith(">"):
            raise InputError(f"{label}: FASTA has no columns; leave --column out")
        text = line.lstrip("#").strip("\r\n")
        delimiter = "\t" if "\t" in text else max(",;", key=text.count)
        cells = [cell.strip() for cell in next(csv.reader([text], delimiter=delimiter), [])]
        sequence = _index(cells, lambda cell: cell == column)
        if not any(cells) or (line.startswith("#") and sequence is None):
            continue
        if sequence is None:
            sequence = _index(cells, lambda cell: cell.lower() == column.lower())
        if sequence is None:
            raise InputError(
                f"{label}: no column '{shown(column)}' in the header, line {number}, which has "
                f"{listed(cells)}"
            )
        name = _index(cells, lambda cell: cell.lower() in NAMES)
        if name in (None, sequence):
            name = 0 if sequence else None
        return number, delimiter, _Columns(name, sequence)
    raise InputError(f"{label}: no header line; name the columns in the first line")


def _index(cells: list[str], is_wanted: Callable[[str], bool]) -> int | None:
    return next((i for i, cell in enumerate(cells) if is_wanted(cell)), None)
