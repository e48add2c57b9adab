"""Records of a genome, singly or many together, and their names."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby, pairwise
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

# Yields what calls return, in order, perhaps while threads make some of the next ones: all threads
# that there are, or at most as many as a second argument says.
Ahead = Callable[..., Iterator[Any]]


def in_turn(calls: Iterable[Callable[[], Any]], most: int | None = None) -> Iterator[Any]:
    """Yield the results of calls, made one by one as they are asked for."""
    return (call() for call in calls)


class Letters(Protocol):
    """The letters of a record, ASCII in any case: uint8[n], or an object that reads slices of
    it."""

    def __len__(self) -> int: ...

    def __getitem__(self, part: slice, /) -> Bytes: ...

    def __array__(self) -> NDArray[Any]: ...


class RecordNames(Sequence[str]):
    """Names of records, maybe millions: each becomes a str when it is asked for.

    bounds: int64[n + 1], where each name begins among the letters, and where the last one ends;
    letters: uint8, the names in UTF-8, one after another.
    """

    def __init__(self, bounds: Longs, letters: Bytes) -> None:
        self.bounds = bounds
        self.letters = letters

    @classmethod
    def of(cls, names: Iterable[str]) -> "RecordNames":
        """Return these names."""
        words = [name.encode("utf-8", "surrogateescape") for name in names]
        return cls(bounds_of(list(map(len, words))), np.frombuffer(b"".join(words), np.uint8))

    @classmethod
    def joined(cls, parts: Sequence["RecordNames"]) -> "RecordNames":
        """Return the names of all parts, one after another."""
        if len(parts) == 1:
            return parts[0]
        found = [cls.of([]), *parts]
        sizes = np.concatenate([each.bounds[1:] - each.bounds[:-1] for each in found])
        return cls(bounds_of(sizes), np.concatenate([each.used for each in found]))

    @property
    def used(self) -> Bytes:
        """The letters of these names, as others may be beside them."""
        return self.letters[self.bounds[0] : self.bounds[-1]]

    @property
    def are_plain(self) -> bool:
        """Whether they hold printable characters of ASCII alone."""
        space = ord(" ")
        used = self.used
        return bool(used.min(initial=space) >= space and used.max(initial=space) <= ord("~"))

    def __len__(self) -> int:
        return len(self.bounds) - 1

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, slice):
            first, last, _ = key.indices(len(self))
            if last - first == len(self):
                return self
            return RecordNames(self.bounds[first : max(first, last) + 1], self.letters)
        number = range(len(self))[key]
        word = self.letters[self.bounds[number] : self.bounds[number + 1]]
        return word.tobytes().decode("utf-8", "surrogateescape")

    def __iter__(self) -> Iterator[str]:
        data = self.used.tobytes()
        for first, last in pairwise((self.bounds - self.bounds[0]).tolist()):
            yield data[first:last].decode("utf-8", "surrogateescape")


class Record(NamedTuple):
    """A sequence: its name and its letters."""

    name: str
    letters: Letters


class Stretch(NamedTuple):
    """Several whole records, or one record alone, or a part of one record.

    lengths: int64[r], letters of each record; letters: of all records, one after another; goes_on:
    whether the letters continue the record of the Stretch before, which has letters already.
    """

    names: RecordNames
    lengths: Longs
    letters: Letters
    goes_on: bool = False

    def each(self) -> Iterator[Record]:
        """Yield the records, or the part of one."""
        if len(self.names) == 1:
            yield Record(self.names[0], self.letters)
            return
        for name, (begin, end) in zip(
            self.names, pairwise(bounds_of(self.lengths).tolist()), strict=True
        ):
            yield Record(name, self.letters[begin:end])

    def apart(self) -> Iterator["Stretch"]:
        """Yield a Stretch for each of several records, or this one of one record."""
        if len(self.names) == 1:
            yield self
            return
        for row, (begin, end) in enumerate(pairwise(bounds_of(self.lengths).tolist())):
            rows = slice(row, row + 1)
            yield Stretch(self.names[rows], self.lengths[rows], self.letters[begin:end])


def stretch_of(name: str, letters: Letters, goes_on: bool = False) -> Stretch:
    """Return the Stretch of one Record."""
    return Stretch(RecordNames.of([name]), np.array([len(letters)], np.int64), letters, goes_on)


def gathered(stretches: Iterable[Stretch]) -> Iterator[Stretch]:
    """Yield the same records in fewer Stretches: short ones come together."""
    waiting: list[Stretch] = []
    letters = records = 0
    for stretch in stretches:
        alone = stretch.goes_on or len(stretch.letters) > SHORT
        if waiting and (alone or letters > STRETCH or records >= MOST):
            yield _together(waiting)
            waiting, letters, records = [], 0, 0
        if alone:
            yield stretch
        else:
            waiting.append(stretch)
            letters += len(stretch.letters)
            records += len(stretch.names)
    if waiting:
        yield _together(waiting)


def _together(stretches: list[Stretch]) -> Stretch:
    if len(stretches) == 1:
        return stretches[0]
    names, lengths, letters, _ = zip(*stretches, strict=True)
    return Stretch(RecordNames.joined(names), np.concatenate(lengths), np.concatenate(letters))


def whole_stretches(stretches: Iterable[Stretch]) -> Iterator[Stretch]:
    """Yield Stretches of the same records, with the parts of each record joined."""
    begun = 0

    def number(stretch: Stretch) -> int:
        nonlocal begun
        begun += not stretch.goes_on
        return begun

    for _, parts in groupby(stretches, number):
        first, *others = parts
        if others:
            letters = np.concatenate([part.letters for part in (first, *others)])
            first = stretch_of(first.names[0], letters)
        yield first


def whole_records(stretches: Iterable[Stretch]) -> Iterator[Record]:
    """Yield the whole Records of an iterable of Stretches."""
    for stretch in whole_stretches(stretches):
        yield from stretch.each()


def stretches_apart(stretches: Iterable[Stretch]) -> Iterator[Stretch]:
    """Yield a Stretch for each whole record of an iterable of Stretches."""
    for stretch in whole_stretches(stretches):
        yield from stretch.apart()


def clean_names(names: list[str]) -> tuple[list[str], int | None]:
    """Names with `_` for each control character, which would break tables and terminals.

    Returns (names, at): the same list and None where no name holds any; otherwise `at` is the
    index of the first that does.
    """
    if "".join(names).isprintable():  # ten times as fast as the expression
        return names, None
    at = next((i for i, name in enumerate(names) if CONTROL.search(name)), None)
    return (names if at is None else [CONTROL.sub("_", name) for name in names]), at
