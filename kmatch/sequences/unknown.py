"""Unknown letters of a text: those that are no A, C, G or T, and which bases they may stand for."""

from dataclasses import dataclass

import numpy as np

from kmatch.arrays import Bools, Bytes, Longs, Rows, Table, bounds_of, range_join
from kmatch.jit.entries import entry
from kmatch.sequences.alphabet import encode_sets

ROOM = 1 << 10  # stretches that are expected at first
N = ord("N")
NOWHERE = 1 << 40  # more than any position

find_unknown = entry("kmatch.engine.cpu.unknown:find_unknown", tuple[Bytes, Table])


@dataclass(frozen=True, eq=False, repr=False)
class UnknownLetters(Rows):
    """n stretches of a text, in order, each of one unknown letter.

    begin, end: int64[n], its first position, and the one behind its last; letter: uint8[n], ASCII
    in upper case.

        position     0 1 2 3 4 5 6
        text         A C N N R G T     (2, 4, N) and (4, 5, R)
    """

    begin: Longs
    end: Longs
    letter: Bytes

    def between(self, begin: int, end: int) -> "UnknownLetters":
        """Return the parts of the stretches from one position to another."""
        first = int(np.searchsorted(self.end, begin, side="right"))
        last = int(np.searchsorted(self.begin, end))
        some = self.take(slice(first, max(first, last)))
        return UnknownLetters(np.maximum(some.begin, begin), np.minimum(some.end, end), some.letter)

    def moved(self, by: int) -> "UnknownLetters":
        """Return the same stretches so many positions later."""
        return UnknownLetters(self.begin + by, self.end + by, self.letter)

    def runs(self) -> "UnknownRuns":
        """Return the runs of unknown letters, whichever they are."""
        is_first = np.ones(len(self), np.bool_)
        is_first[1:] = self.begin[1:] != self.end[:-1]
        first = np.flatnonzero(is_first)
        last = np.append(first[1:], len(self)) - 1
        return UnknownRuns(self.begin[first], self.end[last[: len(first)]])

    def edges(self, most: int) -> tuple[Longs, Bytes]:
        """Return the positions of up to `most` letters at either end of each run, int64[m], and the
        masks of the bases that they may stand for, uint8[m].

            text         A N N N N N R G       most 2
            edges          ^ ^     ^ ^
        """
        runs = self.runs()
        behind = np.minimum(runs.begin + most, runs.end)
        _, at_begin = range_join(runs.begin, behind)
        _, at_end = range_join(np.maximum(runs.end - most, behind), runs.end)
        positions = np.concatenate([at_begin, at_end])
        stretch = np.searchsorted(self.begin, positions, side="right") - 1
        return positions, encode_sets(self.letter[stretch])

    def write(self, letters: Bytes, first: int) -> None:
        """Write the letters that are no N into a text that has N for each.

        letters: uint8[n], those at positions first … first + n − 1, changed here.
        """
        here = self.between(first, first + len(letters))
        here = here.take(here.letter != N)
        rows, positions = range_join(here.begin, here.end)
        letters[positions - first] = here.letter[rows]


@dataclass(frozen=True, eq=False, repr=False)
class UnknownRuns(Rows):
    """n runs of unknown letters in a text, in order.

    begin, end: int64[n], the first position of each, and the one behind its last.
    """

    begin: Longs
    end: Longs

    def moved(self, by: int) -> "UnknownRuns":
        """Return the same runs so many positions later."""
        return UnknownRuns(self.begin + by, self.end + by)

    def counts(self, begin: Longs, end: Longs) -> Longs:
        """Return how many unknown letters stretches of the text have, int64[m]."""
        return self._before(end) - self._before(begin)

    def _before(self, position: Longs) -> Longs:
        """Return how many unknown letters there are before positions, int64[m]."""
        letters = bounds_of(self.end - self.begin)
        run_ends = np.append(-NOWHERE, self.end)
        run = np.searchsorted(self.begin, position)  # so many runs begin before it
        return letters[run] - np.maximum(run_ends[run] - position, 0)

    def are_near(self, position: Longs, reach: int) -> Bools:
        """Return which positions have an unknown letter within `reach` letters, bool[m]."""
        begun = np.searchsorted(self.begin, position + reach, side="right")
        ended = np.searchsorted(self.end, position - reach, side="right")
        return begun > ended


NO_UNKNOWN = UnknownLetters(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0, np.uint8))

NO_RUNS = UnknownRuns(np.zeros(0, np.int64), np.zeros(0, np.int64))


def unknown_letters(letters: Bytes) -> UnknownLetters:
    """Return the UnknownLetters of a text, uint8[n], ASCII in any case, 0 where there is none."""
    stretches = np.empty((3, ROOM), np.int64)
    count = find_unknown(letters, stretches)
    if count > ROOM:
        stretches = np.empty((3, count), np.int64)
        find_unknown(letters, stretches)
    begin, end, letter = stretches[:, :count].copy()
    return UnknownLetters(begin, end, letter.astype(np.uint8))
