"""What the text of products is: a genome is read once more beside the search, as far as needed."""

from collections import deque
from collections.abc import Generator
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from kmatch.arrays import Bytes, Longs, bounds_of
from kmatch.engine.host.letters import LETTERS
from kmatch.genome import Genome
from kmatch.sequences.alphabet import encode_text, reverse_complement


class _Piece(NamedTuple):
    """Letters of a record, by number, from the letter `begin` on."""

    record: int
    begin: int
    letters: Bytes

    @property
    def end(self) -> int:
        return self.begin + len(self.letters)


class ProductTexts:
    """Stretches of a genome's records, read in order."""

    def __init__(self, genome: Genome) -> None:
        self._pieces = _pieces(genome)
        self._near: deque[_Piece] = deque()

    def close(self) -> None:
        """Read no further."""
        self._pieces.close()

    def read(self, record: Longs, start: Longs, end: Longs, minus: Bytes) -> tuple[Longs, Bytes]:
        """The text of stretches, A, C, G, T or N, side by side, as `minus` says from which end on.

        They are sorted by record and start, and so are those of one call after another. Returns
        (bounds, letters).
        """
        stretches = zip(*(column.tolist() for column in (record, start, end)), strict=True)
        parts = [np.zeros(0, np.uint8)]
        for stretch, reverse in zip(stretches, minus.tolist(), strict=True):
            masks = encode_text(self.letters(*stretch))
            parts.append(LETTERS[reverse_complement(masks) if reverse else masks])
        return bounds_of(end - start), np.concatenate(parts)

    def letters(self, record: int, start: int, end: int) -> Bytes:
        """The letters of one stretch, as they are; those behind the record's end are left out."""
        near = self._near
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
        return parts[0] if len(parts) == 1 else np.concatenate(parts)


def _pieces(genome: Genome) -> Generator[_Piece, None, None]:
    number, begin = -1, 0
    for part in genome.parts():
        bounds = bounds_of(part.lengths).tolist()
        for place, (first, last) in enumerate(pairwise(bounds)):
            if place or not part.goes_on:
                number, begin = number + 1, 0
            yield _Piece(number, begin, part.letters[first:last])
            begin += last - first
