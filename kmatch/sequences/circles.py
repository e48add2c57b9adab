"""Circular records, laid out with their first letters behind their last ones."""

from collections.abc import Container, Iterable, Iterator, Sequence
from itertools import groupby

import numpy as np

from kmatch.errors import InputError, listed
from kmatch.sequences.records import Stretch, stretch_of, whole_stretches
from kmatch.sequences.selection import Selection

Piece = tuple[bool, Stretch]  # whether its records are circular; each of these is alone, and whole


class Circular:
    """The records that are circular: records with these names, or all where `names` is None.

    missing: names that no record had so far.
    """

    def __init__(self, names: Sequence[str] | None = None) -> None:
        self._names = None if names is None else set(names)
        self.missing = dict.fromkeys(names or ())

    def hear(self, missing: Container[str]) -> None:
        """Take the names that are missing from a part of the genomes."""
        self.missing = dict.fromkeys(name for name in self.missing if name in missing)

    def pieces(self, stretches: Iterable[Stretch]) -> Iterator[Piece]:
        """Yield the Pieces of Stretches: linear and circular records apart."""
        for stretch in whole_stretches(stretches):
            flags = [self.has(name) for name in stretch.names]
            if not any(flags):
                yield False, stretch
                continue
            yield from zip(flags, stretch.apart(), strict=True)

    def check(self, selection: Selection | None = None) -> None:
        """Raise InputError for names that no record had so far.

        selection: takes the records that there were, if not all are searched.
        """
        missing = [name for name in self.missing if selection is None or selection.takes(name)]
        if missing:
            raise InputError(
                f"circular: no record is named {listed(missing)}; give the first word of its header"
            )

    def has(self, name: str) -> bool:
        """Return whether a record that exists is circular."""
        self.missing.pop(name, None)
        return self._names is None or name in self._names


class Circles:
    """The circular records of one genome, which is read once.

    more: letters that are shown again behind a record; unrolled: whether the letters of a shorter
    record repeat, which otherwise shows all its letters but one again. `lengths` has the letters of
    each, by number, before those behind it are given out.
    """

    def __init__(self, circular: Circular, more: int, unrolled: bool = False) -> None:
        self.more = more
        self.lengths: dict[int, int] = {}
        self._circular, self._unrolled = circular, unrolled
        self._number = -1

    def parts(self, stretches: Iterable[Stretch]) -> Iterator[Stretch]:
        """Return the Stretches with the letters behind circular records."""
        return self._laid_out(self._circular.pieces(stretches))

    def runs(self, stretches: Iterable[Stretch]) -> Iterator[tuple[bool, int, Iterator[Stretch]]]:
        """Yield (circular, number of the first record, parts) of runs of records of one kind.

        The parts of one run have to be read before the next.
        """
        for flag, pieces in groupby(self._circular.pieces(stretches), lambda piece: piece[0]):
            yield flag, self._number + 1, self._laid_out(pieces)

    def _laid_out(self, pieces: Iterable[Piece]) -> Iterator[Stretch]:
        for flag, part in pieces:
            self._number += len(part.names)
            if flag:
                letters = np.asarray(part.letters)
                length = self.lengths[self._number] = len(letters)
                more = self.more if self._unrolled else min(self.more, length - 1)
                behind = np.resize(letters[: self.more], more if length else 0)
                part = stretch_of(part.names[0], np.concatenate([letters, behind]))
            yield part
