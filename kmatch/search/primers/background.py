"""The background as columns, letters that an engine takes one after another."""

from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from kmatch.arrays import Bytes, Longs, bounds_of
from kmatch.engine.types import FRESH, UNKNOWN
from kmatch.genome import Genome
from kmatch.sequences.alphabet import encode_text
from kmatch.sequences.records import Progress

PART = 1 << 24  # letters that an engine is given at a time, where records are shorter
CODES = np.array([4, 0, 1, 4, 2, 4, 4, 4, 3], np.uint8)  # UNKNOWN but for masks of one base
LETTER_CODES = CODES[encode_text(np.arange(256, dtype=np.uint8))]  # of ASCII codes
COMPLEMENT = np.array([3, 2, 1, 0, UNKNOWN, FRESH], np.uint8)  # of columns


class Background:
    """The columns of a genome, and how much of it has been searched.

    strands: 0 for `+`, 1 for `-`; report: hears of bytes as they have been searched, not as they
    are read.
    """

    def __init__(
        self, genome: Genome, strands: tuple[int, ...], report: Progress | None = None
    ) -> None:
        self._genome, self._strands = genome, strands
        self._report = report
        # The bytes before the records read last and before the part at work, and up to their ends.
        self._read = (0, 0)
        self._span: tuple[float, float] = (0, 0)
        self._size: int | None = None

    def parts(self) -> Iterator[Bytes]:
        """Yield columns, uint8: of several records, or of one strand of a long one."""
        held: list[Bytes] = []
        size = 0
        for columns in self._columns():
            for minus in self._strands:
                held.append(_reversed(columns) if minus else columns)
                size += len(columns)
                if size >= PART:
                    self._begin((minus + 1) / len(self._strands))
                    yield _joined(held)
                    held, size = [], 0
        if held:
            self._begin(1)
            yield _joined(held)

    def _columns(self) -> Iterator[Bytes]:
        """Yield the columns of the strand `+`."""
        for stretch in self._genome.whole_parts(self._hear):
            bounds = bounds_of(stretch.lengths)
            cuts = np.flatnonzero(np.diff(bounds[:-1] // PART)) + 1
            for first, last in pairwise([0, *cuts.tolist(), len(stretch.lengths)]):
                letters = stretch.letters[int(bounds[first]) : int(bounds[last])]
                if len(letters):
                    yield _columns(letters, stretch.lengths[first:last])

    def share(self, share: float) -> None:
        """Report that a share of the part given last has been searched."""
        if self._report and self._size:
            before, after = self._span
            self._report(int(before + share * (after - before)), self._size)

    def _hear(self, consumed: int | None, size: int | None) -> None:
        self._size = size
        self._read = (self._read[1], consumed or 0)

    def _begin(self, share: float) -> None:
        """A part begins that goes up to a share of the records read last."""
        before, after = self._read
        done = self._span[1]  # of short records, which come together, up to the last one's end
        self._span = (done, max(done, before + share * (after - before)))


def _columns(letters: Bytes, lengths: Longs) -> Bytes:
    """The codes of records, FRESH before each that has letters."""
    full = lengths[lengths > 0]
    return np.insert(LETTER_CODES[letters], np.cumsum(full) - full, FRESH)


def _reversed(columns: Bytes) -> Bytes:
    """The columns of the reverse complements of the same records, the last one first."""
    return np.roll(COMPLEMENT[columns[::-1]], 1)


def _joined(parts: list[Bytes]) -> Bytes:
    return parts[0] if len(parts) == 1 else np.concatenate(parts)
