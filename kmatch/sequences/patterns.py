"""Panels of patterns: from Python, from the command line, and from files, read within limits."""

import csv
import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np

from kmatch.arrays import Ints, Longs, bounds_of
from kmatch.errors import InputError, listed, shown, warn
from kmatch.sequences.alphabet import letter_masks, odd_letter
from kmatch.sequences.fasta import LONGEST_HEADER, names_of
from kmatch.sequences.files import StrPath, is_comment, label_of, read_lines
from kmatch.sequences.records import clean_names

LONGEST = 1 << 24  # letters of a pattern
NAMES = ("name", "id")  # headers of a column of names, in any case
BED_NAME = 3  # columns, counted from 0
_BED_STRAND = 5
BED_SEQUENCE = 6
_MISSING = ("NA", "NAN")  # of pandas and R
# Words above columns of sequences that have IUPAC letters alone.
_HEADER = re.compile(r"[a-z]*[dr]nas?|tags?|bc|data|strand", re.IGNORECASE)
_LIKE_A_GUIDE = re.compile(r"[ACGTU]{15,}", re.IGNORECASE)
# A base, and the next one, of RNA (r), 2'-O-methyl RNA (m) and DNA (d) as they are ordered.
_MARKED_BASES = re.compile(r"([rmd])[ACGTU]\1[ACGTU]")
_FEW = 8  # letters, fewer than an oligo has
_UNNAMED = "<unknown id>"  # the id of a SeqRecord that was given none


class SequenceRecord(Protocol):
    """A SeqRecord of Biopython's."""

    @property
    def id(self) -> Any: ...

    @property
    def seq(self) -> Any: ...


Sequenced = str | SequenceRecord
Patterns = (  # see load_patterns
    str | os.PathLike[str] | SequenceRecord | Mapping[str, Sequenced] | Iterable[Sequenced]
)


class PatternSet:
    """Patterns, by number, kept in a few arrays, so that hundreds of thousands take little time.

    masks: of all letters; begins: int64[P+1], where the letters of each pattern begin; lengths:
    int64[P].
    """

    def __init__(self, names: list[str], sequences: list[str]) -> None:
        self.names = names
        self.sequences = sequences
        self.masks = letter_masks(sequences)
        self.lengths = np.fromiter(map(len, sequences), np.int64, len(sequences))
        self.begins = bounds_of(self.lengths)

    def __len__(self) -> int:
        return len(self.names)

    def told(self, number: int) -> str:
        """Return how messages begin that name a pattern and its letters."""
        return f"pattern '{shown(self.names[number])}' has {self.lengths[number]} letters"

    def take(self, numbers: Longs | Ints) -> "PatternSet":
        """Return the PatternSet of the patterns with these numbers, int[n]; itself where these are
        all."""
        if np.array_equal(numbers, np.arange(len(self))):
            return self
        names = [self.names[number] for number in numbers]
        return PatternSet(names, [self.sequences[number] for number in numbers])

    def __add__(self, other: "PatternSet") -> "PatternSet":
        return PatternSet(self.names + other.names, self.sequences + other.sequences)


def load_patterns(patterns: Patterns | PatternSet) -> PatternSet:
    """Return the PatternSet of patterns as a user gives them.

    patterns: a list of sequences; a dict name → sequence; a path, where `-` is standard input; or
    one sequence. A SeqRecord is a sequence too, and its id is its name in a list. A str is a path
    where a file of that name exists, and otherwise a sequence where it has IUPAC letters only. A
    pattern without a name is named by its sequence. Names that have to be changed give a warning.
    Raises InputError where there are no patterns, or where a letter is outside IUPAC.
    """
    if isinstance(patterns, PatternSet):
        return patterns
    if isinstance(patterns, os.PathLike):
        return read_patterns(patterns)
    if isinstance(patterns, str):
        return _of_text(patterns)
    is_record = text_of(patterns) is not patterns  # which would iterate over its letters
    try:
        rows = list(_given_rows([patterns] if is_record else patterns))
    except TypeError:
        raise InputError(
            f"patterns are {patterns!r}; give a sequence, a list, a dict or a path"
        ) from None
    if not rows:
        raise InputError("no patterns were given")
    for number, (name, sequence, _) in enumerate(rows, 1):
        if not (isinstance(name, str) and isinstance(sequence, str)):
            odd = name if isinstance(sequence, str) else sequence
            raise InputError(f"pattern {number} is {odd!r}; sequences and names are str")
    return checked_patterns(rows)


def text_of(given: Any) -> Any:
    """Return the letters of a SeqRecord or a Seq of Biopython's as str; anything else as it is."""
    sequence = getattr(given, "seq", given)
    if hasattr(sequence, "reverse_complement"):
        return str(sequence)
    return given


def _given_rows(patterns: Any) -> Iterator["Row"]:
    """Yield the Rows of a dict name → sequence, or of sequences. Raises TypeError for others."""
    if isinstance(patterns, Mapping):
        for name, sequence in patterns.items():
            yield Row(name, text_of(sequence))
        return
    for sequence in patterns:
        name = getattr(sequence, "id", None) if hasattr(sequence, "seq") else None
        yield Row("" if name in (None, _UNNAMED) else name, text_of(sequence))


def _of_text(text: str) -> PatternSet:
    """Return the PatternSet of a str that is a path, or a sequence."""
    if text != "-" and not os.path.exists(text) and letter_masks([text]).all():
        return checked_patterns([Row("", text)])
    try:
        return read_patterns(text)
    except InputError as error:
        if text == "-" or os.path.exists(text):
            raise
        raise InputError(f"{error}; a sequence would have IUPAC letters only") from error


def read_patterns(
    path: StrPath,
    column: str | None = None,
    name_column: str | None = None,
    joins_names: bool = False,
) -> PatternSet:
    """Return the PatternSet of a file, or of standard input (`-`), in its order.

    The file is FASTA, text with one pattern a line, BED with the sequence in column 7, or, where
    `column` names the column of sequences, CSV or TSV with a header line. name_column: the column
    of names, None for `name`, `id` or the first. joins_names: whether patterns of one name are one;
    then names of the first column that repeat have to be asked for.
    """
    lines = read_lines(path, "patterns")
    label = label_of(path)
    if column is None:
        rows = list(rows_of(lines, label))
    else:
        header = _header_of(lines, column)
        rows = list(_column_rows(header, lines, label, column, name_column))
        if joins_names and name_column is None:
            _check_first_column(rows, header, label)
    if not rows:
        raise InputError(f"{label}: no patterns; write one a line, or give FASTA")
    if column is not None:
        _check_missing(rows, label)
    elif not is_fasta(lines):
        _check_missing(rows, label)
        _check_header(rows, label)
        _check_exchanged(rows, label)
    return checked_patterns(rows, label)


def _check_missing(rows: list["Row"], label: str) -> None:
    """Raise InputError for NA and NaN, which tables have where a value is missing, and whose
    letters would be N and A."""
    for row in rows:
        if row.sequence.upper() in _MISSING:
            raise InputError(
                f"{where_of(label, row)}pattern '{shown(row.name or row.sequence)}' is "
                f"'{row.sequence}', which tables have for a missing value; give its letters, or "
                "leave the line out"
            )


def _check_header(rows: list["Row"], label: str) -> None:
    """Raise InputError for a header that would be a pattern.

    name   sgRNA                    S, G, R, N and A are IUPAC letters
    p1     CTACACTGCTCACTCCAACC
    """
    first, *others = rows
    word = first.sequence
    is_shortest = all(len(row.sequence) > len(word) for row in others)
    if others and is_shortest and _HEADER.fullmatch(word):
        raise InputError(
            f"{where_of(label, first)}'{word}' looks like the header of a table; --column {word} "
            "takes the sequences below it, and a line that begins with '#' is left out (a pattern "
            "of these letters has to stand below others)"
        )


def _check_exchanged(rows: list["Row"], label: str) -> None:
    """Raise InputError for a sequence where the name is expected, and another behind it.

    CTACACTGCTCACTCCAACC    NGG                     a PAM, which would be the pattern
    GAGTTTTATCGCTTCCATGAC   AGAGAATCTCTACCATGAAC    a pair of primers
    """
    for row in rows:
        if not _LIKE_A_GUIDE.fullmatch(row.name):
            continue

        # A name may be the sequence, a part of it, or more than it.
        name = row.name.upper().replace("U", "T")
        sequence = row.sequence.upper().replace("U", "T")
        is_named_so = name in sequence or (len(sequence) >= _FEW and sequence in name)
        if not is_named_so:
            raise InputError(
                f"{where_of(label, row)}'{shown(row.name)}' is read as a name, and "
                f"'{shown(row.sequence)}' as the pattern; the name comes first, a PAM is given by "
                "--pam, and pairs of primers are for pcr"
            )


def repeated_names(panel: PatternSet) -> list[str]:
    """Names that several patterns share, in the panel's order."""
    if len(set(panel.names)) == len(panel):
        return []
    return [name for name, count in Counter(panel.names).items() if count > 1]


def checked_patterns(rows: Sequence["Row"], label: str = "", in_columns: bool = True) -> PatternSet:
    """Return the PatternSet of Rows, which may lack names.

    label: of their file, with which messages begin; in_columns: whether --column can name columns
    of the file.
    """
    names = [row.name or row.sequence for row in rows]
    panel = PatternSet(names, [row.sequence for row in rows])
    if not panel.masks.all() or not panel.lengths.all():
        raise InputError(_fault(panel, rows, label, in_columns))
    if _MARKED_BASES.search("\n".join(panel.sequences)):
        raise InputError(_fault_of_marks(panel, rows, label))
    longest = int(np.argmax(panel.lengths))
    if panel.lengths[longest] > LONGEST:
        raise InputError(
            f"{where_of(label, rows[longest])}pattern '{shown(names[longest])}' has more than "
            f"{LONGEST:,} letters; is this a file of patterns?"
        )
    panel.names, control = clean_names(names)
    if control is not None:
        warn(
            f"{where_of(label, rows[control])}the name of pattern {control + 1} holds control "
            "characters; '_' stands for each, there and in other patterns' names"
        )
    return panel


def where_of(label: str, row: "Row") -> str:
    """Return how messages of a Row begin."""
    line = f"line {row.line}: " if row.line else ""
    return f"{label}: {line}" if label else ""


def _fault(patterns: PatternSet, rows: Sequence["Row"], label: str, in_columns: bool) -> str:
    """Return the message for the first pattern that cannot be searched."""
    odd = np.flatnonzero(patterns.masks == 0)
    bad = patterns.lengths == 0
    bad[np.searchsorted(patterns.begins, odd, side="right") - 1] = True
    number = int(np.argmax(bad))
    name = patterns.names[number]
    sequence = patterns.sequences[number]
    start = f"{where_of(label, rows[number])}pattern '{shown(name)}'"
    if not sequence:
        return f"{start} is empty; give its letters"
    advice = odd_letter(sequence, int(np.argmin(letter_masks([sequence]))))
    if name != sequence and len(name) > 3 and letter_masks([name]).all():
        advice += "; or are its columns exchanged? The name comes first"
    elif rows[number].line == 1 and advice.endswith(("or N", "RNA")):
        advice += "; a line that is no pattern starts with '#'"
        if name != sequence and in_columns:
            advice += ", and --column names the sequences of a table that has a header"
    return f"{start}: {advice}"


def _fault_of_marks(patterns: PatternSet, rows: Sequence["Row"], label: str) -> str:
    """Return the message for the first pattern in which small letters mark bases."""
    found = list(map(_MARKED_BASES.search, patterns.sequences))
    number = next(number for number, each in enumerate(found) if each)
    bases = found[number]
    assert bases is not None
    return (
        f"{where_of(label, rows[number])}pattern '{shown(patterns.names[number])}' has "
        f"'{bases[0]}', as RNA and modified bases are ordered; leave each '{bases[1]}' out, or "
        f"write '{bases[1].upper()}' if it stands for bases"
    )


class Row(NamedTuple):
    """A pattern as it is given, and the number of its line; 0 where messages leave it out."""

    name: str
    sequence: str
    line: int = 0


def cells_of(lines: Iterable[str]) -> Iterator[tuple[int, list[str]]]:
    """Yield the number and the cells of each line that is neither blank nor a comment."""
    for number, line in enumerate(lines, 1):
        if not is_comment(line):
            yield number, [cell.strip() for cell in line.split("\t")]


def rows_of(lines: list[str], label: str) -> Iterator[Row]:
    """Return the Rows of FASTA, or of lines of BED with sequences or of a pattern each."""
    return (_fasta_rows if is_fasta(lines) else _line_rows)(lines, label)


def is_fasta(lines: Iterable[str]) -> bool:
    """Return whether the first line that is neither blank nor a comment, of `#` or `;`, is a
    header."""
    for line in lines:
        if not is_comment(line) and not line.startswith(";"):
            return line.startswith(">")
    return False


def fasta_records(lines: list[str], label: str) -> Iterator[tuple[str, str, int]]:
    """Yield (title, letters, line) of each record of FASTA: its header without `>`, its letters
    without blanks, and the number of its header's line.

    Biopython parses them. It is imported here, as that takes as long as a small search. It cuts
    blanks of Unicode off a header, which may end a name, so it is given letters beyond ASCII as
    bytes. Raises InputError for a header of more than
    LONGEST_HEADER characters.
    """
    from Bio.SeqIO.FastaIO import SimpleFastaParser

    headers = [number for number, line in enumerate(lines, 1) if line.startswith(">")]
    for number in headers:
        if len(lines[number - 1]) > LONGEST_HEADER:
            raise InputError(
                f"{label}: line {number}: the header has more than {LONGEST_HEADER:,} characters; "
                "is this FASTA?"
            )
    records = SimpleFastaParser(f"{_as_ascii(line)}\n" for line in lines)
    for number, (title, letters) in zip(headers, records, strict=True):
        yield _as_unicode(title), "".join(_as_unicode(letters).split()), number


def _as_ascii(text: str) -> str:
    """Return a text whose letters beyond ASCII are bytes, written as surrogates."""
    return text.encode("utf-8", "surrogateescape").decode("ascii", "surrogateescape")


def _as_unicode(text: str) -> str:
    """Return the text that `_as_ascii` has taken."""
    return text.encode("ascii", "surrogateescape").decode("utf-8", "surrogateescape")


def _fasta_rows(lines: list[str], label: str) -> Iterator[Row]:
    """Yield the Rows of FASTA. Messages name these without a line."""
    for count, (title, sequence, line) in enumerate(fasta_records(lines, label), 1):
        (name,) = names_of([title.encode("utf-8", "surrogateescape")])
        if not sequence:
            which = f"'{shown(name)}'" if name else f"{count}, without a name,"
            raise InputError(f"{label}: line {line}: pattern {which} is empty; give its letters")
        yield Row(name, sequence)


def _line_rows(lines: list[str], label: str) -> Iterator[Row]:
    for number, cells in cells_of(lines):
        if is_bed(cells):
            yield Row(cells[BED_NAME], cells[BED_SEQUENCE], number)
        elif len(cells) <= 2:
            yield Row(cells[0] if len(cells) > 1 else "", cells[-1], number)
        else:
            raise InputError(
                f"{label}: line {number} has {len(cells)} columns; write SEQUENCE, or NAME, a tab "
                "and SEQUENCE, or BED with the sequence in column 7, or name a column by --column"
            )


def is_bed(cells: list[str]) -> bool:
    """Return whether a line is BED with a sequence in its seventh column, as primer schemes have
    it."""
    return (
        len(cells) > BED_SEQUENCE
        and all(cell.isdecimal() for cell in cells[1:3])
        and cells[_BED_STRAND] in ("+", "-", ".")
    )


class _Header(NamedTuple):
    """The header of a table: the number of its line, its cells, and what delimits cells."""

    line: int
    cells: list[str]
    delimiter: str

    def column(self, name: str, label: str, lines: list[str]) -> int:
        """Return which cell is a column's name, in its case or in any.

        label, lines: of the file. Raises InputError if none is, and if several are.
        """
        lower = [cell.lower() for cell in self.cells]
        cells, wanted = (self.cells, name) if name in self.cells else (lower, name.lower())
        if cells.count(wanted) == 1:
            return cells.index(wanted)
        if wanted in cells:
            raise InputError(
                f"{label}: the header, line {self.line}, has {cells.count(wanted)} columns "
                f"'{shown(name)}'; rename all but one"
            )
        advice = ""
        for number, line in enumerate(lines[self.line :], self.line + 1):
            if name in map(str.strip, line.split(self.delimiter)):
                advice = f"; line {number} has it: leave out the lines above that one"
                break
        raise InputError(
            f"{label}: no column '{shown(name)}' in the header, line {self.line}, which has "
            f"{listed([*filter(None, self.cells)]) or 'no names'}{advice}"
        )


def _header_of(lines: list[str], column: str) -> _Header:
    """Return the _Header of CSV or TSV: the first line that is not blank or a comment, or a comment
    that has the column."""
    header = _Header(0, [""], ",")
    for number, line in enumerate(lines, 1):
        text = line.lstrip("#")
        delimiter = "\t" if "\t" in text else max(",;", key=text.count)
        cells = [cell.strip() for cell in next(csv.reader([text], delimiter=delimiter), [""])]
        header = _Header(number, cells, delimiter)
        if column in cells or (any(cells) and not line.startswith("#")):
            break
    return header


def _column_rows(
    header: _Header, lines: list[str], label: str, column: str, name_column: str | None
) -> Iterator[Row]:
    """Yield the Rows of CSV or TSV below a header.

    column: of the sequences; name_column: of the names. Without it names are in a column `name` or
    `id`, otherwise in the first, unless it holds the sequences.
    """
    wanted = header.column(column, label, lines)
    last = column
    if name_column is None:
        known = [cell.lower() for cell in header.cells]
        named = next((at for at, cell in enumerate(known) if cell in NAMES and at != wanted), 0)
    else:
        named = header.column(name_column, label, lines)
        last = column if wanted > named else name_column
    for number, cells in _cells_below(header, lines, label):
        if len(cells) <= max(wanted, named):
            raise InputError(
                f"{label}: line {number} has {len(cells)} of the header's columns; "
                f"complete it up to '{shown(last)}'"
            )
        name = "" if named == wanted else cells[named].strip()
        yield Row(name, cells[wanted].strip(), number)


def _check_first_column(rows: list[Row], header: _Header, label: str) -> None:
    """Raise InputError for names that repeat in the first column, where no other is one of names.

    The lane of a sample sheet, for instance, is no name, and would join its samples.
    """
    if not {cell.lower() for cell in header.cells}.isdisjoint(NAMES):
        return
    first = shown(header.cells[0])
    names: set[str] = set()
    for row in rows:
        if row.name and row.name in names:
            raise InputError(
                f"{label}: line {row.line}: '{shown(row.name)}' repeats in '{first}', the first "
                "column, from which names are taken; name another one by --name-column, or "
                f"'{first}' if sequences of one name are one"
            )
        names.add(row.name)


def _cells_below(header: _Header, lines: list[str], label: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the number and the cells of each row below a header that is neither blank nor a
    comment. Raises InputError for quotes that do not fit."""
    below = ("" if line.startswith("#") else line for line in lines[header.line :])
    reader = csv.reader(below, delimiter=header.delimiter)
    try:
        for cells in reader:
            if "".join(cells).strip():
                yield header.line + reader.line_num, cells
    except csv.Error as error:
        raise InputError(f"{label}: line {header.line + reader.line_num}: {error}") from error
