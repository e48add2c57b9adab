"""Which records of genomes are searched, by globs that their names fit."""

import re
from collections.abc import Iterable, Iterator, Sequence
from fnmatch import fnmatchcase, translate
from typing import Any

import numpy as np

from kmatch.arrays import Bools
from kmatch.errors import InputError, listed
from kmatch.sequences.records import RecordNames, Stretch

SEEN = 5  # names that the message of a glob without a record shows


class Selection:
    """The records whose names fit a glob that is wanted, and none that is not.

    wanted: globs such as `chr[0-9]*`, none for all records; unwanted: globs. missing: those of both
    that no record's name has fitted so far; seen: the first names; has_none: whether no record is
    searched so far.
    """

    def __init__(self, wanted: Sequence[str], unwanted: Sequence[str]) -> None:
        self.globs = (tuple(wanted), tuple(unwanted))
        self.missing = list(dict.fromkeys([*wanted, *unwanted]))
        self.seen: list[str] = []
        self.has_none = True
        self._wanted = _one_pattern(wanted or ["*"])
        self._unwanted = _one_pattern(unwanted)
        self._named = _one_pattern(self.missing)

    def takes(self, name: str) -> bool:
        """Return whether a record of this name is searched."""
        is_wanted = self._wanted.match(name) is not None
        return is_wanted and self._unwanted.match(name) is None

    def meet(self, names: RecordNames) -> Bools:
        """Take the names of records that there are; return which are searched, bool[r]."""
        if len(self.seen) < SEEN:
            self._see(names[:SEEN])
        if self.missing:
            for name in filter(self._named.match, names):
                self.missing = [glob for glob in self.missing if not fnmatchcase(name, glob)]
        is_taken = [self.takes(name) for name in names]
        self.has_none = self.has_none and not any(is_taken)
        return np.array(is_taken, np.bool_)

    def _see(self, names: Iterable[str]) -> None:
        """Keep some names for a message."""
        different = dict.fromkeys([*self.seen, *names])
        self.seen = list(different)[:SEEN]

    def hear(self, other: "Selection") -> None:
        """Take what the same Selection has met of other genomes."""
        self.missing = [glob for glob in self.missing if glob in other.missing]
        self.has_none = self.has_none and other.has_none
        self._see(other.seen)

    def narrowed(self, parts: Iterable[Stretch]) -> Iterator[Stretch]:
        """Yield the Stretches of the records that are searched alone.

        records       [ a  b  c ]  [ d ...  [ ... d, goes on ]  [ e ]
        without b, d  [ a  c ]                                  [ e ]
        """
        for part in parts:
            is_taken = self.meet(part.names)
            if is_taken.all():
                yield part
            elif is_taken.any():
                yield _records_of(part, is_taken)

    def check(self) -> None:
        """Raise InputError for globs that no record's name has fitted, and where no record is
        searched."""
        if self.missing:
            raise InputError(
                f"no record has a name that fits {listed(self.missing)}, where case matters; the "
                f"first records are {listed(self.seen) or 'none'}"
            )
        if self.has_none:
            wanted, unwanted = map(_one_of, self.globs)
            fitting = f"each that fits {wanted}" if wanted else "each"
            raise InputError(
                f"no record is left to search: {fitting} fits {unwanted}, and is skipped"
            )


def _records_of(part: Stretch, is_taken: Bools) -> Stretch:
    """Return the Stretch of some records of one, bool[r]."""
    names: list[str] = []
    for number in np.flatnonzero(is_taken).tolist():
        names.append(part.names[number])
    is_letter_taken = np.repeat(is_taken, part.lengths)
    return Stretch(
        names=RecordNames.of(names),
        lengths=part.lengths[is_taken],
        letters=np.asarray(part.letters)[is_letter_taken],
        goes_on=part.goes_on and bool(is_taken[0]),
    )


def _one_of(globs: Sequence[str]) -> str:
    """Return globs in words, of which one fits."""
    return listed(globs) if len(globs) < 2 else f"one of {listed(globs)}"


def _one_pattern(globs: Sequence[str]) -> re.Pattern[str]:
    """Return an expression that matches the names that fit any of some globs, none for no glob."""
    return re.compile("|".join(map(translate, globs)) or r"(?!)")


def load_selection(records: Any, skip_records: Any) -> Selection | None:
    """Return the Selection of what a user gives: globs, parted by commas, or lists of them.

    None stands for all records, and for none that are skipped; with both there is no Selection.
    Raises InputError for what are no globs.
    """
    if records is None and skip_records is None:
        return None
    wanted = _globs("records", records)
    unwanted = _globs("skip_records", skip_records)
    return Selection(wanted, unwanted)


def _globs(name: str, given: Any) -> list[str]:
    """Return the globs of an argument of some name."""
    if given is None:
        return []
    globs = given
    if isinstance(given, str):
        globs = [glob.strip() for glob in given.split(",")]
    is_list = isinstance(globs, list | tuple) and len(globs) > 0
    if not is_list or not all(isinstance(glob, str) and glob for glob in globs):
        raise InputError(f"{name} is {given!r}; give globs of names, as in chr[0-9]*,chrX")
    return list(globs)
