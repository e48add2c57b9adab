"""Records of a genome, one by one or many side by side."""

from typing import NamedTuple

import numpy as np

from kmatch.arrays import bounds_of
from kmatch.errors import InputError
from kmatch.sequences.names import shown

SHORT = 1 << 14  # letters of records that are handed on together
STRETCH = 1 << 18  # letters of a Stretch of these, and records
MOST = 1 << 14


class Record(NamedTuple):
    """One sequence, or a part of one: its name and its letters, uint8[n], ASCII in any case.

    goes_on: whether these letters follow those of the Record before.
    """

    name: str
    letters: np.ndarray
    goes_on: bool = False


class Stretch(NamedTuple):
    """Short records side by side, or a part of a long one.

    names: list of str; lengths: int64[r]; letters: uint8[n], ASCII in any case, those of all
    records. goes_on: whether the first letters are further ones of the record before.
    """

    names: list
    lengths: np.ndarray
    letters: np.ndarray
    goes_on: bool = False


def stretch_of(name, letters, goes_on=False):
    """The Stretch of one Record."""
    return Stretch([name], np.array([len(letters)], np.int64), letters, goes_on)


def check_letters(where, letters):
    """Raise InputError for a letter that no nucleotide code has, or a digit.

    where: the input, the record's number, counted from 1, and its name; letters: uint8[n].
    """
    from kmatch.sequences.readers.lines import find_foreign

    letters = np.ascontiguousarray(letters).view()
    letters.flags.writeable = False  # kernels are compiled for each kind
    if (at := find_foreign(letters)) >= 0:
        raise foreign_letter(where, at, letters[at])


def foreign_letter(where, at, letter):
    """The InputError of a letter, an ASCII code, that stands where `at` letters come before."""
    label, number, name = where
    return InputError(
        f"{label}: record {number}, '{shown(name)}', has {chr(letter)!r} at position {at + 1}, "
        "which stands for no nucleotide: it looks like protein; give DNA or RNA"
    )


def gathered(parts):
    """Yield Stretches for an iterable of Stretches and Records; short Records come together."""
    waiting, letters = [], 0
    for part in parts:
        alone = isinstance(part, Stretch) or part.goes_on or len(part.letters) > SHORT
        if waiting and (alone or letters > STRETCH or len(waiting) >= MOST):
            yield _together(waiting)
            waiting, letters = [], 0
        if not alone:
            waiting.append(part)
            letters += len(part.letters)
        else:
            yield part if isinstance(part, Stretch) else stretch_of(*part)
    if waiting:
        yield _together(waiting)


def _together(records):
    names, letters, _ = zip(*records, strict=True)
    lengths = np.fromiter(map(len, letters), np.int64, len(letters))
    return Stretch(list(names), lengths, np.concatenate(letters))


def whole_records(stretches):
    """Yield the whole Records of an iterable of Stretches."""
    name, parts = None, []
    for names, lengths, letters, goes_on in stretches:
        bounds = bounds_of(lengths).tolist()
        for number, each in enumerate(names):
            if parts and not (goes_on and number == 0):
                yield Record(name, _joined(parts))
                parts = []
            name = each
            parts.append(letters[bounds[number] : bounds[number + 1]])
    if parts:
        yield Record(name, _joined(parts))


def _joined(letters):
    return letters[0] if len(letters) == 1 else np.concatenate(letters)
