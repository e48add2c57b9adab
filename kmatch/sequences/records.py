"""Records of a genome, singly or many together, and their names."""

import re
from collections.abc import Callable, Iterable, Iterator
from itertools import chain, pairwise
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from kmatch.arrays import Bytes, Longs, bounds_of
from kmatch.errors import CONTROL

SHORT = 1 << 14  # letters of a record that shares a Stretch with others, at most
STRETCH = 1 << 18  # letters of such a Stretch, about
MOST = 1 << 14  # records of a Stretch

# Is called with the bytes read so far and those of the whole file; None where either is unknown.
Progress = Callable[[int | None, int | None], object]
_WORD = re.compile("[^ \t\v\f\r\n]+")


class Letters(Protocol):
    """The letters of a record, ASCII in any case: uint8[n], or what reads its slices on demand."""

    def __len__(self) -> int: ...

    def __getitem__(self, part: slice, /) -> Bytes: ...

    def __array__(self) -> NDArray[Any]: ...


class Record(NamedTuple):
    """A sequence: its name and its letters."""

    name: str
    letters: Letters


class Stretch(NamedTuple):
    """Short records together, or a long one, or a part of it.

    lengths: int64[r], letters of each record; letters: those of all records, one after another;
    goes_on: whether the first letters continue the last record of the Stretch before, of which
    there are some.
    """

    names: list[str]
    lengths: Longs
    letters: Letters
    goes_on: bool = False


Part = tuple[Stretch, int | None, int | None]  # and bytes read so far and of the whole file


def stretch_of(name: str, letters: Letters, goes_on: bool = False) -> Stretch:
    """The Stretch of one Record."""
    return Stretch([name], np.array([len(letters)], np.int64), letters, goes_on)


def gathered(stretches: Iterable[Stretch]) -> Iterator[Stretch]:
    """Yield the same records in fewer Stretches: short ones come together."""
    waiting: list[Stretch] = []
    letters = 0
    for stretch in stretches:
        alone = stretch.goes_on or len(stretch.letters) > SHORT
        if waiting and (alone or letters > STRETCH or len(waiting) >= MOST):
            yield _together(waiting)
            waiting, letters = [], 0
        if alone:
            yield stretch
        else:
            waiting.append(stretch)
            letters += len(stretch.letters)
    if waiting:
        yield _together(waiting)


def _together(stretches: list[Stretch]) -> Stretch:
    if len(stretches) == 1:
        return stretches[0]
    names, lengths, letters, _ = zip(*stretches, strict=True)
    return Stretch(list(chain(*names)), np.concatenate(lengths), np.concatenate(letters))


def whole_records(stretches: Iterable[Stretch]) -> Iterator[Record]:
    """Yield the whole Records of an iterable of Stretches."""
    for names, lengths, letters, _ in whole_stretches(stretches):
        bounds = bounds_of(lengths).tolist()
        for name, (begin, end) in zip(names, pairwise(bounds), strict=True):
            yield Record(name, letters[begin:end])


def whole_stretches(stretches: Iterable[Stretch]) -> Iterator[Stretch]:
    """Yield Stretches of the same records, none of which goes on: parts of one are joined."""
    name = ""
    parts: list[Letters] = []  # of the record read last, which may go on
    for names, lengths, letters, goes_on in stretches:
        bounds = bounds_of(lengths).tolist()
        first = int(goes_on)
        parts += [letters[: bounds[1]]] * first
        if len(names) == first:
            continue
        if parts:
            yield stretch_of(name, _joined(parts))
        if len(names) > first + 1:
            inner = letters[bounds[first] : bounds[-2]]
            yield Stretch(names[first:-1], lengths[first:-1], inner)
        name, parts = names[-1], [letters[bounds[-2] : bounds[-1]]]
    if parts:
        yield stretch_of(name, _joined(parts))


def _joined(parts: list[Letters]) -> Letters:
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


def first_word(title: str) -> str:
    """The name in a header, up to the first ASCII blank; names may contain other blanks."""
    found = _WORD.search(title)
    return found[0] if found else ""


def clean_names(names: list[str]) -> tuple[list[str], int | None]:
    """Names with `_` for each control character, which would break tables and terminals.

    Returns (names, at): the same list and None where no name holds any; otherwise `at` is the
    index of the first that does.
    """
    if "".join(names).isprintable():  # ten times as fast as the expression
        return names, None
    at = next((i for i, name in enumerate(names) if CONTROL.search(name)), None)
    return (names if at is None else [CONTROL.sub("_", name) for name in names]), at
