"""Letters of stretches of genomes, beside a search or after it."""

from collections import deque
from collections.abc import Generator, Iterable
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from kmatch.arrays import Bytes, Longs, bounds_of, gather
from kmatch.errors import InputError
from kmatch.genome import Genomes
from kmatch.results.batches import Texts
from kmatch.search.chunks import NO_LETTERS
from kmatch.sequences.circles import Circles
from kmatch.sequences.records import Stretch, gathered

NEAR = 20  # bits of a position, of which stretches that differ in others are read one by one
BESIDE = 100  # letters of a PAM and around a hit, at the most


class _Piece(NamedTuple):
    """Letters of a record, by number, from the letter `begin` on."""

    record: int
    begin: int
    letters: Any

    @property
    def end(self) -> int:
        return self.begin + len(self.letters)


class GenomeTexts:
    """The letters of stretches of up to `longest` letters of records: circular ones go on behind
    their end.

    What is asked for in the order of the genomes is read once.
    """

    def __init__(self, genomes: Genomes, longest: int) -> None:
        self._genomes, self._longest = genomes, longest
        self._asked = (-1, 0, 0)  # for last: genome, record and start
        self._pieces, self._near = _pieces(()), deque[_Piece]()

    def __reduce__(self) -> Any:
        return GenomeTexts, (self._genomes, self._longest)  # which another process reads anew

    def close(self) -> None:
        """Read no further."""
        self._pieces.close()

    def read(self, genome: int, record: Longs, start: Longs, end: Longs) -> Texts:
        """The letters of stretches, int64[n] each, sorted by record and start, side by side.

        Raises InputError where a record does not have them.
        """
        bounds = bounds_of(end - start)
        apart = (np.diff(record) != 0) | (np.diff(start >> NEAR) != 0)
        parts = [np.zeros(0, np.uint8)]
        for first, last in pairwise([0, *(np.flatnonzero(apart) + 1).tolist(), len(record)]):
            own, begin, stop = (
                bounds[first : last + 1],
                int(start[first]),
                int(end[first:last].max()),
            )
            letters = self.letters(genome, int(record[first]), begin, stop)
            if len(letters) < stop - begin:
                raise _changed(self._genomes, genome)
            parts.append(gather(letters, start[first:last] - begin, own - own[0]))
        return Texts(bounds, np.concatenate(parts))

    def letters(self, genome: int, record: int, start: int, end: int) -> Bytes:
        """The letters of one stretch, as they are; those behind the record's end are left out."""
        near, asked = self._near, (genome, record, start)
        if genome != self._asked[0] or asked < self._asked:
            self.close()
            near.clear()
            stretches, circular = self._genomes.genome(genome).parts(), self._genomes.circular
            if circular:
                stretches = Circles(circular, self._longest - 1).parts(stretches)
            self._pieces = _pieces(stretches)
        self._asked = asked
        while near and (near[0].record, near[0].end) <= (record, start):
            near.popleft()
        while not near or (near[-1].record, near[-1].end) < (record, end):
            piece = next(self._pieces, None)
            if piece is None:
                break
            if (piece.record, piece.end) > (record, start):
                near.append(piece)
        parts = [
            piece.letters[max(start - piece.begin, 0) : end - piece.begin]
            for piece in near
            if piece.record == record and piece.begin < end
        ]
        return parts[0] if len(parts) == 1 else np.concatenate([NO_LETTERS, *parts])


def _pieces(parts: Iterable[Stretch]) -> Generator[_Piece]:
    number, begin = -1, 0
    for part in gathered(parts):
        for record in part.each():
            if not part.goes_on:
                number, begin = number + 1, 0
            yield _Piece(number, begin, record.letters)
            begin += len(record.letters)


def _changed(genomes: Genomes, genome: int) -> InputError:
    return InputError(f"{genomes.names[genome]} has changed since it was searched; search it again")
