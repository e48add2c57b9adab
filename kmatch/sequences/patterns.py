"""Panels of patterns: from FASTA or text files, from the command line, from Python."""

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, overload

import numpy as np

from kmatch.arrays import Bytes, Ints, Longs, bounds_of, gather
from kmatch.errors import InputError
from kmatch.sequences.alphabet import letter_masks, odd_letter
from kmatch.sequences.names import OnWarning, clean_names, shown, warn
from kmatch.sequences.readers.panels.patterns import read_pairs

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


def make_pattern(sequence: str, name: str | None = None) -> Pattern:
    """The Pattern of a sequence, which is its name too where it has none.

    Raises InputError for an empty sequence and for a letter outside IUPAC.
    """
    return checked_patterns([name], [sequence], warn)[0]


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
    pairs = read_pairs(path, column)
    return checked_patterns(pairs.names, pairs.sequences, on_warning, pairs.where)


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
