"""The text of products: a genome is read a second time beside the search, as far as needed."""

from collections import deque
from collections.abc import Generator, Iterable
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from kmatch.arrays import Bytes, Longs, bounds_of
from kmatch.engine.letters import LETTERS
from kmatch.genome import Genome, Genomes
from kmatch.results.columns import Texts
from kmatch.sequences.alphabet import encode_text, reverse_complement
from kmatch.sequences.circles import Circles, Circular
from kmatch.sequences.records import Stretch, gathered


class _Piece(NamedTuple):
    """Letters of a record, by number, from the letter `begin` on."""

    record: int
    begin: int
    letters: Bytes

    @property
    def end(self) -> int:
        return self.begin + len(self.letters)


class ProductTexts:
    """Stretches of a genome's records, read in order; circular ones go on behind their end, for
    stretches of up to `longest` letters."""

    def __init__(self, genome: Genome, circular: Circular | None = None, longest: int = 1) -> None:
        parts: Iterable[Stretch] = genome.parts()
        if circular:
            parts = Circles(circular, longest - 1).parts(genome.parts())
        self._pieces = _pieces(parts)
        self._near: deque[_Piece] = deque()

    def close(self) -> None:
        """Read no further."""
        self._pieces.close()

    def read(self, record: Longs, start: Longs, end: Longs, minus: Bytes) -> Texts:
        """The text of stretches, A, C, G, T or N, side by side, the direction as in `minus`.

        They are sorted by record and start, and so are those of one call after another.
        """
        stretches = zip(*(column.tolist() for column in (record, start, end)), strict=True)
        parts = [np.zeros(0, np.uint8)]
        for stretch, reverse in zip(stretches, minus.tolist(), strict=True):
            masks = encode_text(self.letters(*stretch))
            parts.append(LETTERS[reverse_complement(masks) if reverse else masks])
        return Texts(bounds_of(end - start), np.concatenate(parts))

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


class GenomeTexts:
    """The letters of stretches in several genomes, read in order; longest: as for ProductTexts."""

    def __init__(self, genomes: Genomes, longest: int) -> None:
        self._genomes, self._longest = genomes, longest
        self._number = -1
        self._texts: ProductTexts | None = None

    def close(self) -> None:
        """Read no further."""
        if self._texts:
            self._texts.close()

    def letters(self, genome: int, record: int, start: int, end: int) -> Bytes:
        """The letters of one stretch; genome, record: by number."""
        if self._texts is None or genome != self._number:
            self.close()
            self._number = genome
            circular, whole = self._genomes.circular, self._genomes.genome(genome)
            self._texts = ProductTexts(whole, circular, self._longest)
        return self._texts.letters(record, start, end)


def _pieces(parts: Iterable[Stretch]) -> Generator[_Piece, None, None]:
    number, begin = -1, 0
    for part in gathered(parts):
        bounds = bounds_of(part.lengths).tolist()
        for index, (first, last) in enumerate(pairwise(bounds)):
            if index or not part.goes_on:
                number, begin = number + 1, 0
            yield _Piece(number, begin, part.letters[first:last])
            begin += last - first
