"""Unknown letters of a text: those that are no A, C, G or T, and which bases they may stand for."""

from dataclasses import dataclass

import numpy as np

from kmatch.arrays import Bytes, Longs, Rows, Table, range_join
from kmatch.jit.entries import entry

ROOM = 1 << 10  # stretches that are expected at first
N = ord("N")

find_unknown = entry("kmatch.engine.cpu.unknown:find_unknown", tuple[Bytes, Table])


@dataclass(frozen=True)
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

    def write(self, letters: Bytes, first: int) -> None:
        """Write the letters that are no N into a text that has N for each.

        letters: uint8[n], those at positions first … first + n − 1, changed here.
        """
        here = self.between(first, first + len(letters))
        here = here.take(here.letter != N)
        rows, positions = range_join(here.begin, here.end)
        letters[positions - first] = here.letter[rows]


NO_UNKNOWN = UnknownLetters(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0, np.uint8))


def unknown_letters(letters: Bytes) -> UnknownLetters:
    """Return the UnknownLetters of a text, uint8[n], ASCII in any case, 0 where there is none."""
    stretches = np.empty((3, ROOM), np.int64)
    count = find_unknown(letters, stretches)
    if count > ROOM:
        stretches = np.empty((3, count), np.int64)
        find_unknown(letters, stretches)
    begin, end, letter = stretches[:, :count].copy()
    return UnknownLetters(begin, end, letter.astype(np.uint8))
