"""Panels of patterns: from Python, from the command line, and from files, read within limits."""

import csv
import io
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain
from typing import Any, NamedTuple, overload

import numpy as np

from kmatch.arrays import Bytes, Ints, Longs, bounds_of, gather
from kmatch.errors import InputError, OnWarning, listed, shown, warn
from kmatch.sequences.alphabet import letter_masks, odd_letter
from kmatch.sequences.files import Source, open_source, refuse_others
from kmatch.sequences.records import clean_names, first_word

LONGEST = 1 << 24  # characters of a line, and letters of a pattern
MOST_CHARACTERS = 1 << 28  # of a file; all are kept in memory
MOST_PATTERNS = 1 << 22
NAMES = ("name", "id")  # headers of a column of names, in any case
BED_NAME, _BED_STRAND, BED_SEQUENCE = 3, 5, 6  # columns, counted from 0
_BED_HEADERS = ("#", "track ", "browser ")
Patterns = str | os.PathLike[str] | Mapping[str, str] | Iterable[str]  # see load_patterns


class Pattern:
    """A named pattern; masks: uint8[m], the set of bases that each letter stands for."""

    __slots__ = ("masks", "name", "sequence")

    def __init__(self, name: str, sequence: str, masks: Bytes) -> None:
        self.name, self.sequence, self.masks = name, sequence, masks

    def __len__(self) -> int:
        return len(self.masks)

    def __repr__(self) -> str:
        return f"Pattern({shown(self.name)!r}, {shown(self.sequence)!r})"


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


def load_patterns(patterns: Patterns | PatternSet, on_warning: OnWarning = warn) -> PatternSet:
    """The PatternSet of patterns as a user gives them.

    patterns: a list of sequences; a dict name → sequence; a path, of which `-` is standard input;
    or one sequence. A str is a path where a file of that name exists, and otherwise a sequence
    where it has IUPAC letters only. A pattern without a name is named by its sequence.
    on_warning(message) is called for names that had to be changed; the default is a UserWarning.
    Raises InputError where there are no patterns, or where a letter is outside IUPAC.
    """
    if isinstance(patterns, PatternSet):
        return patterns
    if isinstance(patterns, os.PathLike):
        return read_patterns(patterns, on_warning)
    if isinstance(patterns, str):
        return _of_text(patterns, on_warning)
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
        names = [None] * len(sequences)
    if not sequences:
        raise InputError("no patterns were given")
    for number, pair in enumerate(zip(names, sequences, strict=True), 1):
        if not (isinstance(pair[1], str) and isinstance(pair[0], str | None)):
            odd = pair[0] if isinstance(pair[1], str) else pair[1]
            raise InputError(f"pattern {number} is {odd!r}; sequences and names are str")
    return checked_patterns(names, sequences, on_warning)


def _of_text(text: str, on_warning: OnWarning) -> PatternSet:
    """The PatternSet of a str that is a path, or a sequence."""
    if text == "-" or os.path.exists(text):
        return read_patterns(text, on_warning)
    if letter_masks([text]).all():
        return checked_patterns([None], [text], on_warning)
    try:
        return read_patterns(text, on_warning)
    except InputError as error:
        raise InputError(f"{error}; a sequence would have IUPAC letters only") from error


def read_patterns(
    path: str | os.PathLike[str], on_warning: OnWarning = warn, column: str | None = None
) -> PatternSet:
    """The PatternSet of a file, or of standard input (`-`), in its order.

    The file is FASTA, text with one pattern a line, BED with the sequence in column 7, or, where
    `column` names the column of sequences, CSV or TSV with a header line.
    """
    names, sequences, numbers = [], [], []
    with open_source(path) as source:
        label = source.label
        refuse_others(source, "patterns")
        lines = text_lines(source)
        rows = _rows(lines, label) if column is None else _column_rows(lines, label, column)
        for name, sequence, number in rows:
            names.append(name)
            sequences.append(sequence)
            numbers.append(number)
            if len(numbers) > MOST_PATTERNS:
                raise _too_large(label, f"{MOST_PATTERNS:,}")
    if not sequences:
        raise InputError(f"{label}: no patterns; write one a line, or give FASTA")

    def where(number: int) -> str:
        return f"{label}: line {numbers[number]}: " if numbers[number] else f"{label}: "

    return checked_patterns(names, sequences, on_warning, where)


def repeated_names(panel: Iterable[Pattern]) -> list[str]:
    """Names that several patterns share, in the panel's order."""
    names = pattern_set(panel).names
    if len(set(names)) == len(names):
        return []
    return [name for name, count in Counter(names).items() if count > 1]


def checked_patterns(
    given: Sequence[str | None],
    sequences: list[str],
    on_warning: OnWarning,
    where: Callable[[int], str] | None = None,
    in_columns: bool = True,
) -> PatternSet:
    """The PatternSet of sequences and their given names, each of which may be missing.

    where(number): the file and line of a pattern, with which messages begin; in_columns: whether
    --column can name those of their file.
    """
    names = [name or sequence for name, sequence in zip(given, sequences, strict=True)]
    begins = bounds_of(np.fromiter(map(len, sequences), np.int64, len(sequences)))
    masks = letter_masks(sequences)
    if not masks.all() or not np.diff(begins).all():
        raise InputError(_fault(PatternSet(names, sequences, masks, begins), where, in_columns))
    if _are_exchanged(names, sequences):
        start = where(0) if where else ""
        on_warning(
            f"{start}names are letters of bases and longer than the sequences; are the columns "
            "exchanged? The name comes first"
        )
    names, control = clean_names(names)
    if control is not None:
        start = where(control) if where else ""
        on_warning(
            f"{start}the name of pattern {control + 1} holds control characters; '_' stands for "
            "each, there and in other patterns' names"
        )
    return PatternSet(names, sequences, masks, begins)


def _are_exchanged(names: list[str], sequences: list[str]) -> bool:
    """Whether each name reads like a sequence, and a longer one than its own."""
    pairs = zip(names, sequences, strict=True)
    return all(len(name) > max(5, len(letters)) for name, letters in pairs) and bool(
        letter_masks([name.removesuffix("_F").removesuffix("_R") for name in names]).all()
    )


def _fault(patterns: PatternSet, where: Callable[[int], str] | None, in_columns: bool) -> str:
    """The message for the first pattern that cannot be searched."""
    odd = np.flatnonzero(patterns.masks == 0)
    bad = patterns.lengths == 0
    bad[np.searchsorted(patterns.begins, odd, side="right") - 1] = True
    number = int(np.argmax(bad))
    name, sequence = patterns.names[number], patterns.sequences[number]
    start = f"{where(number) if where else ''}pattern '{shown(name)}'"
    if not sequence:
        return f"{start} is empty; give its letters"
    advice = odd_letter(sequence, int(np.argmin(patterns[number].masks)))
    if name != sequence and len(name) > 3 and letter_masks([name]).all():
        advice += "; or are its columns exchanged? The name comes first"
    elif where and ": line 1: " in where(number) and advice.endswith(("or N", "RNA")):
        advice += "; a line that is no pattern starts with '#'"
        if name != sequence and in_columns:
            advice += ", and --column names the sequences of a table that has a header"
    return f"{start}: {advice}"


class Row(NamedTuple):
    """A pattern of a file, and the number of its line; 0 where messages leave it out."""

    name: str
    sequence: str
    line: int = 0


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


def _rows(lines: Iterator[str], label: str) -> Iterator[Row]:
    above = []  # blank lines and comments; FASTA may have them above the first header too
    for line in lines:
        above.append(line)
        if is_bed(line):
            return _bed_rows(chain(above, lines), label)
        if line.strip() and not is_bed_header(line):
            if line.startswith(">"):
                return fasta_rows(chain([line], lines), label, len(above))
            return _plain_rows(chain(above, lines), label)
    return iter(())


def fasta_rows(lines: Iterable[str], label: str, first: int = 1) -> Iterator[Row]:
    """Yield the Rows of FASTA; first: the number of its first line."""
    name, number, parts, letters, count = "", 0, [""], 0, 0
    for at, line in enumerate(chain(lines, [">"]), first):
        if line[0] != ">":
            parts.append(line.rstrip().replace(" ", ""))
            letters += len(parts[-1])
            if letters > LONGEST:
                raise InputError(
                    f"{label}: pattern '{shown(name)}' has more than {LONGEST:,} letters; "
                    "is this a file of patterns?"
                )
            continue
        if number and not letters:
            where = f"{label}: line {number}: pattern"
            raise InputError(
                f"{where} '{shown(name)}' is empty; give its letters"
                if name
                else f"{where} {count} has neither a name nor letters"
            )
        if number:
            yield Row(name, "".join(parts))
        name, number, parts, letters, count = first_word(line[1:]), at, [], 0, count + 1


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


def _bed_rows(lines: Iterable[str], label: str) -> Iterator[Row]:
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


def _column_rows(lines: Iterable[str], label: str, column: str) -> Iterator[Row]:
    """Yield the Rows of CSV or TSV with a header line; column: of the sequences.

    Names are in a column `name` or `id`, otherwise in the first, unless it holds the sequences.
    """
    lines = iter(lines)
    above, delimiter, named, wanted = _find_header(lines, label, column)
    reader = csv.reader(lines, delimiter=delimiter)
    try:
        for cells in reader:
            number = above + reader.line_num
            if not "".join(cells).strip():
                continue
            if len(cells) <= max(wanted, named or 0):
                raise InputError(
                    f"{label}: line {number} has {len(cells)} of the header's columns; "
                    f"complete it up to '{shown(column)}'"
                )
            name = "" if named is None else cells[named].strip()
            yield Row(name, cells[wanted].strip(), number)
    except csv.Error as error:
        raise InputError(f"{label}: line {above + reader.line_num}: {error}") from error


def _find_header(lines: Iterator[str], label: str, column: str) -> tuple[int, str, int | None, int]:
    """The number of the header's line, what parts columns, and which of them hold names, None for
    none, and sequences.

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
        return number, delimiter, name, sequence
    raise InputError(f"{label}: no header line; name the columns in the first line")


def _index(cells: list[str], is_wanted: Callable[[str], bool]) -> int | None:
    return next((i for i, cell in enumerate(cells) if is_wanted(cell)), None)
