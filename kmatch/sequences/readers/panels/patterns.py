"""Files of patterns: FASTA, text with one pattern a line, or a table, read within limits."""

import io
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import chain
from typing import NamedTuple

from kmatch.errors import InputError
from kmatch.sequences.names import first_word, shown
from kmatch.sequences.readers.files import Source, StrPath, open_source, reading
from kmatch.sequences.readers.formats import refuse_others
from kmatch.sequences.readers.panels.tables import (
    Row,
    bed_rows,
    column_rows,
    is_bed,
    is_bed_header,
)

LONGEST = 1 << 24  # characters of a line, and letters of a pattern
MOST_CHARACTERS = 1 << 28  # of a file; all are kept in memory
MOST_PATTERNS = 1 << 22


class Pairs(NamedTuple):
    """What a file of patterns holds: names, some of them empty, and sequences.

    where(number): the file and line of a pattern, with which messages begin.
    """

    names: list[str]
    sequences: list[str]
    where: Callable[[int], str] | None


def read_pairs(path: StrPath, column: str | None = None) -> Pairs:
    """The Pairs of a FASTA or text file, of BED with sequences, or of standard input (`-`).

    column: the name of one, if the file is CSV or TSV with a header line. Raises
    InputError for a file without patterns, or beyond the limits of this module.
    """
    with open_source(path) as source, reading(source.label):
        refuse_others(source, "patterns")
        if column is None:
            pairs = _parse(text_lines(source), source.label)
        else:
            pairs = _table(column_rows(text_lines(source), source.label, column), source.label)
    if not pairs.sequences:
        raise InputError(f"{source.label}: no patterns; write one a line, or give FASTA")
    return pairs


def text_lines(source: Source) -> Iterator[str]:
    """Yield the lines of a file with their line breaks; LF, CRLF or CR ends a line."""
    if b"\0" in source.handle.peek():
        raise _binary(source.label)
    text = io.TextIOWrapper(source.handle, "utf-8", "surrogateescape")
    left = MOST_CHARACTERS
    for number, line in enumerate(iter(partial(text.readline, LONGEST + 1), ""), 1):
        if "\0" in line:
            raise _binary(source.label)
        left -= len(line)
        if len(line) > LONGEST:
            raise InputError(
                f"{source.label}: line {number} has more than {LONGEST:,} characters; is this "
                "a file of patterns?"
            )
        if left < 0:
            raise _too_large(source.label, f"{MOST_CHARACTERS:,} characters")
        yield line


def _binary(label: str) -> InputError:
    return InputError(f"{label}: a binary file, not a list of patterns")


def _too_large(label: str, limit: str) -> InputError:
    return InputError(f"{label}: more than {limit} of patterns; search a part of them at a time")


def _parse(lines: Iterator[str], label: str) -> Pairs:
    above = []  # blank lines and comments; FASTA may have them above the first header too
    for line in lines:
        above.append(line)
        if is_bed(line):
            return _table(bed_rows(chain(above, lines), label), label)
        if line.strip() and not is_bed_header(line):
            if line.startswith(">"):
                return fasta_pairs(chain([line], lines), label, len(above))
            return _plain(chain(above, lines), label)
    return Pairs([], [], None)


def fasta_pairs(lines: Iterable[str], label: str, first: int = 1) -> Pairs:
    """The Pairs of FASTA; first: the number of its first line."""
    from kmatch.sequences.readers.seqio.FastaIO import SimpleFastaParser

    names: list[str] = []
    sequences: list[str] = []
    headers: list[int] = []  # the numbers of their lines
    for title, sequence in SimpleFastaParser(_marked(lines, first, headers)):
        names.append(title[:-1])
        sequences.append(sequence)
        if not sequence:
            where = f"{label}: line {headers[len(names) - 1]}"
            raise InputError(
                f"{where}: pattern '{shown(names[-1])}' is empty; give its letters"
                if names[-1]
                else f"{where}: pattern {len(names)} has neither a name nor letters"
            )
        if len(sequence) > LONGEST:
            raise InputError(
                f"{label}: pattern '{shown(names[-1])}' has more than {LONGEST:,} letters; "
                "is this a file of patterns?"
            )
        if len(names) > MOST_PATTERNS:
            raise _too_large(label, f"{MOST_PATTERNS:,}")
    return Pairs(names, sequences, lambda number: f"{label}: ")


def _marked(lines: Iterable[str], first: int, headers: list[int]) -> Iterator[str]:
    """Lines as Biopython's parser needs them, without blank ones, of which it would fail.

    A mark ends each name: the parser strips blanks that may be part of it. first: the number of the
    first line; headers: filled with those of headers.
    """
    for number, line in enumerate(lines, first):
        if line[0] == ">":
            headers.append(number)
            yield f">{first_word(line[1:])}|"
        elif line.strip():
            yield line


def _table(rows: Iterable[Row], label: str) -> Pairs:
    names, sequences, numbers = [], [], []
    for name, sequence, number in rows:
        names.append(name)
        sequences.append(sequence)
        numbers.append(number)
        if len(numbers) > MOST_PATTERNS:
            raise _too_large(label, f"{MOST_PATTERNS:,}")
    return Pairs(names, sequences, lambda number: f"{label}: line {numbers[number]}: ")


def _plain(lines: Iterable[str], label: str) -> Pairs:
    return _table(_plain_rows(lines, label), label)


def _plain_rows(lines: Iterable[str], label: str) -> Iterator[Row]:
    for number, line in enumerate(lines, 1):
        line = line.strip(" \r\n")
        if not line or line[0] == "#" or line.isspace():
            continue
        name, _, sequence = line.rpartition("\t")
        if more := name.count("\t"):
            raise InputError(
                f"{label}: line {number} has {more + 2} columns; "
                "write SEQUENCE, or NAME, a tab and SEQUENCE, or name a column by --column"
            )
        yield Row(name.strip(), sequence.strip(), number)
