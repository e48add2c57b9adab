"""Panels of patterns: from Python, from the command line, and from files, read within limits."""

import csv
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, overload

import numpy as np

from kmatch.arrays import Bytes, Ints, Longs, bounds_of, gather
from kmatch.errors import InputError, listed, shown, warn
from kmatch.sequences.alphabet import letter_masks, odd_letter
from kmatch.sequences.files import StrPath, label_of, read_lines
from kmatch.sequences.records import clean_names, first_word

LONGEST = 1 << 24  # letters of a pattern
NAMES = ("name", "id")  # headers of a column of names, in any case
COMMENTS = ("#", "track ", "browser ")  # what begins lines above the rows of BED, or between them
_BED_NAME, _BED_STRAND, BED_SEQUENCE = 3, 5, 6  # columns, counted from 0
Patterns = str | os.PathLike[str] | Mapping[str, str] | Iterable[str]  # see load_patterns


@dataclass(slots=True, eq=False)
class Pattern:
    """A named pattern; masks: uint8[m], the set of bases that each letter stands for."""

    name: str
    sequence: str
    masks: Bytes = field(repr=False)

    def __len__(self) -> int:
        return len(self.masks)


class PatternSet(Sequence[Pattern]):
    """A sequence of Patterns, kept in a few arrays, so that hundreds of thousands take little time.

    masks: those of all letters; begins: int64[P+1], where the letters of each pattern begin;
    lengths: int64[P].
    """

    def __init__(self, names: list[str], sequences: list[str], masks: Bytes, begins: Longs) -> None:
        self.names, self.sequences, self.masks, self.begins = names, sequences, masks, begins
        self.lengths = np.diff(begins)

    def __len__(self) -> int:
        return len(self.names)

    def __iter__(self) -> Iterator[Pattern]:
        bounds = self.begins.tolist()
        rows = zip(self.names, self.sequences, bounds, bounds[1:], strict=False)
        for name, sequence, begin, end in rows:
            yield Pattern(name, sequence, self.masks[begin:end])

    @overload
    def __getitem__(self, index: int) -> Pattern: ...

    @overload
    def __getitem__(self, index: slice) -> "PatternSet": ...

    def __getitem__(self, index: int | slice) -> "Pattern | PatternSet":
        if isinstance(index, slice):
            return self.take(np.arange(len(self))[index])
        number = range(len(self))[index]
        masks = self.masks[self.begins[number] : self.begins[number + 1]]
        return Pattern(self.names[number], self.sequences[number], masks)

    def take(self, numbers: Longs | Ints) -> "PatternSet":
        """The PatternSet of the patterns with these numbers, int[n]; itself where these are all."""
        if np.array_equal(numbers, np.arange(len(self))):
            return self
        begins = bounds_of(self.lengths[numbers])
        masks = gather(self.masks, self.begins[numbers], begins)
        names = [self.names[number] for number in numbers]
        return PatternSet(names, [self.sequences[number] for number in numbers], masks, begins)


def pattern_set(patterns: Iterable[Pattern]) -> PatternSet:
    """A PatternSet as it is, or the PatternSet of Patterns."""
    if isinstance(patterns, PatternSet):
        return patterns
    patterns = list(patterns)
    return PatternSet(
        [pattern.name for pattern in patterns],
        [pattern.sequence for pattern in patterns],
        np.concatenate([np.zeros(0, np.uint8), *(pattern.masks for pattern in patterns)]),
        bounds_of([len(pattern) for pattern in patterns]),
    )


def load_patterns(patterns: Patterns | PatternSet) -> PatternSet:
    """The PatternSet of patterns as a user gives them.

    patterns: a list of sequences; a dict name → sequence; a path, of which `-` is standard input;
    or one sequence. A str is a path where a file of that name exists, and otherwise a sequence
    where it has IUPAC letters only. A pattern without a name is named by its sequence. Names that
    have to be changed give a warning. Raises InputError where there are no patterns, or where a
    letter is outside IUPAC.
    """
    if isinstance(patterns, PatternSet):
        return patterns
    if isinstance(patterns, os.PathLike):
        return read_patterns(patterns)
    if isinstance(patterns, str):
        return _of_text(patterns)
    names: list[Any]
    if isinstance(patterns, Mapping):
        names, sequences = list(patterns), list(patterns.values())
    else:
        try:
            sequences = list(patterns)
        except TypeError:
            raise InputError(
                f"patterns are {patterns!r}; give a sequence, a list, a dict or a path"
            ) from None
        names = [""] * len(sequences)
    if not sequences:
        raise InputError("no patterns were given")
    for number, (name, sequence) in enumerate(zip(names, sequences, strict=True), 1):
        if not (isinstance(name, str) and isinstance(sequence, str)):
            odd = name if isinstance(sequence, str) else sequence
            raise InputError(f"pattern {number} is {odd!r}; sequences and names are str")
    return checked_patterns(names, sequences)


def _of_text(text: str) -> PatternSet:
    """The PatternSet of a str that is a path, or a sequence."""
    if text != "-" and not os.path.exists(text) and letter_masks([text]).all():
        return checked_patterns([""], [text])
    try:
        return read_patterns(text)
    except InputError as error:
        if text == "-" or os.path.exists(text):
            raise
        raise InputError(f"{error}; a sequence would have IUPAC letters only") from error


def read_patterns(path: StrPath, column: str | None = None) -> PatternSet:
    """The PatternSet of a file, or of standard input (`-`), in its order.

    The file is FASTA, text with one pattern a line, BED with the sequence in column 7, or, where
    `column` names the column of sequences, CSV or TSV with a header line.
    """
    lines, label = read_lines(path, "patterns"), label_of(path)
    rows = list(rows_of(lines, label) if column is None else _column_rows(lines, label, column))
    if not rows:
        raise InputError(f"{label}: no patterns; write one a line, or give FASTA")

    def where(number: int) -> str:
        line = rows[number].line
        return f"{label}: line {line}: " if line else f"{label}: "

    return checked_patterns([row.name for row in rows], [row.sequence for row in rows], where)


def repeated_names(panel: PatternSet) -> list[str]:
    """Names that several patterns share, in the panel's order."""
    if len(set(panel.names)) == len(panel):
        return []
    return [name for name, count in Counter(panel.names).items() if count > 1]


def checked_patterns(
    given: list[str],
    sequences: list[str],
    where: Callable[[int], str] = lambda number: "",
    in_columns: bool = True,
) -> PatternSet:
    """The PatternSet of sequences and their given names, each of which may be empty.

    where(number): the file and line of a pattern, with which messages begin; in_columns: whether
    --column can name those of their file.
    """
    names = [name or sequence for name, sequence in zip(given, sequences, strict=True)]
    begins = bounds_of(np.fromiter(map(len, sequences), np.int64, len(sequences)))
    panel = PatternSet(names, sequences, letter_masks(sequences), begins)
    if not panel.masks.all() or not panel.lengths.all():
        raise InputError(_fault(panel, where, in_columns))
    if (longest := int(np.argmax(panel.lengths))) and panel.lengths[longest] > LONGEST:
        raise InputError(
            f"{where(longest)}pattern '{shown(names[longest])}' has more than {LONGEST:,} letters; "
            "is this a file of patterns?"
        )
    panel.names, control = clean_names(names)
    if control is not None:
        warn(
            f"{where(control)}the name of pattern {control + 1} holds control characters; '_' "
            "stands for each, there and in other patterns' names"
        )
    return panel


def _fault(patterns: PatternSet, where: Callable[[int], str], in_columns: bool) -> str:
    """The message for the first pattern that cannot be searched."""
    odd = np.flatnonzero(patterns.masks == 0)
    bad = patterns.lengths == 0
    bad[np.searchsorted(patterns.begins, odd, side="right") - 1] = True
    number = int(np.argmax(bad))
    name, sequence = patterns.names[number], patterns.sequences[number]
    start = f"{where(number)}pattern '{shown(name)}'"
    if not sequence:
        return f"{start} is empty; give its letters"
    advice = odd_letter(sequence, int(np.argmin(patterns[number].masks)))
    if name != sequence and len(name) > 3 and letter_masks([name]).all():
        advice += "; or are its columns exchanged? The name comes first"
    elif ": line 1: " in where(number) and advice.endswith(("or N", "RNA")):
        advice += "; a line that is no pattern starts with '#'"
        if name != sequence and in_columns:
            advice += ", and --column names the sequences of a table that has a header"
    return f"{start}: {advice}"


class Row(NamedTuple):
    """A pattern of a file, and the number of its line; 0 where messages leave it out."""

    name: str
    sequence: str
    line: int = 0


def cells_of(lines: Iterable[str]) -> Iterator[tuple[int, list[str]]]:
    """Yield the number and the cells of each line that is neither blank nor a comment."""
    for number, line in enumerate(lines, 1):
        if line.strip() and not line.startswith(COMMENTS):
            yield number, [cell.strip() for cell in line.split("\t")]


def rows_of(lines: list[str], label: str) -> Iterator[Row]:
    """The Rows of FASTA, of BED with sequences, or of text with a pattern a line."""
    for first, cells in cells_of(lines):
        if cells[0].startswith(">"):
            return _fasta_rows(lines[first - 1 :], label, first)
        return (_bed_rows if is_bed(cells) else _plain_rows)(lines, label)
    return iter(())


def _fasta_rows(lines: list[str], label: str, first: int) -> Iterator[Row]:
    """first: the number of the first line, a header."""
    headers = [at for at, line in enumerate(lines) if line.startswith(">")]
    for count, (at, end) in enumerate(zip(headers, [*headers[1:], len(lines)], strict=True), 1):
        name = first_word(lines[at][1:])
        sequence = "".join(map(str.rstrip, lines[at + 1 : end])).replace(" ", "")
        if not sequence:
            raise InputError(
                f"{label}: line {at + first}: pattern "
                + (f"'{shown(name)}' is empty; give its letters" if name else "")
                + (f"{count} has neither a name nor letters" if not name else "")
            )
        yield Row(name, sequence)


def _plain_rows(lines: list[str], label: str) -> Iterator[Row]:
    for number, cells in cells_of(lines):
        if len(cells) > 2:
            raise InputError(
                f"{label}: line {number} has {len(cells)} columns; "
                "write SEQUENCE, or NAME, a tab and SEQUENCE, or name a column by --column"
            )
        yield Row(cells[0] if len(cells) > 1 else "", cells[-1], number)


def is_bed(cells: list[str]) -> bool:
    """Whether a line is BED with a sequence in its seventh column, as primer schemes have it."""
    return (
        len(cells) > BED_SEQUENCE
        and all(cell.isdecimal() for cell in cells[1:3])
        and cells[_BED_STRAND] in ("+", "-", ".")
    )


def _bed_rows(lines: list[str], label: str) -> Iterator[Row]:
    """The name is the fourth column, the sequence the seventh."""
    for number, cells in cells_of(lines):
        if not is_bed(cells):
            raise InputError(
                f"{label}: line {number} is not like the lines before it: BED with a sequence in "
                "column 7; complete the line, or leave it out"
            )
        yield Row(cells[_BED_NAME], cells[BED_SEQUENCE], number)


def _column_rows(lines: list[str], label: str, column: str) -> Iterator[Row]:
    """Yield the Rows of CSV or TSV below a header, the first line that is not blank or a comment,
    or a comment that has the column; column: of the sequences.

    Names are in a column `name` or `id`, otherwise in the first, unless it holds the sequences.
    """
    above, cells, delimiter = 0, [""], ","
    for line in lines:
        above += 1
        text = line.lstrip("#")
        delimiter = "\t" if "\t" in text else max(",;", key=text.count)
        cells = [cell.strip() for cell in next(csv.reader([text], delimiter=delimiter), [""])]
        if column in cells or (any(cells) and not line.startswith("#")):
            break
    known = [cell.lower() for cell in cells]
    if column.lower() not in known:
        raise InputError(
            f"{label}: no column '{shown(column)}' in the header, line {above}, which has "
            f"{listed([*filter(None, cells)]) or 'no names'}"
        )
    wanted = cells.index(column) if column in cells else known.index(column.lower())
    named = next((at for at, cell in enumerate(known) if cell in NAMES and at != wanted), 0)
    reader = csv.reader(lines[above:], delimiter=delimiter)
    try:
        for cells in reader:
            number = above + reader.line_num
            if not "".join(cells).strip():
                continue
            if len(cells) <= max(wanted, named):
                raise InputError(
                    f"{label}: line {number} has {len(cells)} of the header's columns; "
                    f"complete it up to '{shown(column)}'"
                )
            sequence = cells[wanted].strip()
            yield Row("" if named == wanted else cells[named].strip(), sequence, number)
    except csv.Error as error:
        raise InputError(f"{label}: line {above + reader.line_num}: {error}") from error
