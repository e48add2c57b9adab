"""Starts of primers that a relative of the target decides.

Nearly every start of a target that has a relative in the background is decided by an alignment
along the diagonal of an exact stretch that both share. A sweep then has only the others to look at.
"""

import numpy as np

from kmatch.arrays import Bytes, Ints, Longs
from kmatch.engine.cpu.primer import settle
from kmatch.engine.types import Starts, codes_of
from kmatch.jit.entries import entry

WORDS = 1 << 22  # of 11 letters
BUDGET = 8  # letters of extensions for each letter, which take no longer than a tile's sweep

index_words = entry("kmatch.engine.cpu.seed_kernels:index_words", tuple[Bytes, Ints, Ints])
raise_by_seeds = entry(
    "kmatch.engine.cpu.seed_kernels:raise_by_seeds",
    tuple[Bytes, Bytes, int, Longs, Longs, Ints, Ints, Longs, Longs, int],
)


class Seeds:
    """The words of a target, which are looked up in backgrounds."""

    def __init__(self, starts: Starts) -> None:
        self._codes = codes_of(starts.masks)
        self._first_position = np.full(WORDS, -1, np.int32)
        self._next_position = np.full(len(self._codes), -1, np.int32)
        index_words(self._codes, self._first_position, self._next_position)

    def raise_bounds(self, starts: Starts, columns: Bytes, k: int) -> None:
        """Raise the bounds of Starts, in place, by alignments along diagonals of a background.

        columns: uint8, letters of the background (see `kmatch.engine.types`).
        """
        count = len(self._codes)
        seen = np.full(count, np.iinfo(np.int64).min, np.int64)
        mismatches = np.empty(count, np.int64)
        raise_by_seeds(
            self._codes,
            columns,
            k,
            starts.limits,
            starts.bounds,
            self._first_position,
            self._next_position,
            seen,
            mismatches,
            BUDGET * (count + len(columns)),
        )
        settle(starts.limits, starts.bounds)
