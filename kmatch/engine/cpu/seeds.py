"""Starts of primers that a relative of the target decides, and starts that are left for a sweep.

Nearly every start of a target that has a relative in the background is decided by an alignment
along the diagonal of an exact stretch that both share. A sweep of all starts, which takes a tile of
neighbouring starts as long as one of them is open, then has only the open ones to look at, packed
side by side:

    starts of the target   . . o o . . . . . . o . . o . .      o  open, .  decided
    taken with the letters     [-----]         [---------]      that their primers may hold
    packed                     [-----][---------]
"""

from typing import NamedTuple

import numpy as np

from kmatch.arrays import Bytes, Ints, Longs, bounds_of, range_join
from kmatch.engine.cpu.primer import settle
from kmatch.engine.types import Starts, codes_of
from kmatch.jit.entries import entry

WORDS = 1 << 22  # of 11 letters
BUDGET = 8  # letters of extensions for each letter, which take no longer than a tile's sweep
WORTH = 2  # as many letters as are left, times this, are fewer than all: then they are packed

index_words = entry("kmatch.engine.cpu.seed_kernels:index_words", tuple[Bytes, Ints, Ints])
raise_by_seeds = entry(
    "kmatch.engine.cpu.seed_kernels:raise_by_seeds",
    tuple[Longs, Bytes, Bytes, int, Longs, Longs, Ints, Ints, Longs, Longs, int],
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
        work = np.array([0, 1], np.int64)
        seen = np.full(count, np.iinfo(np.int64).min, np.int64)
        mismatches = np.empty(count, np.int64)
        raise_by_seeds(
            work,
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


class OpenStarts(NamedTuple):
    """The starts of a target that are open, with the letters behind them.

    starts: Starts of their own; positions: int64[n], where each letter of these is in the target.
    """

    starts: Starts
    positions: Longs

    def hand_back(self, starts: Starts) -> None:
        """Raise the bounds of the whole target's Starts, in place, to the bounds of open starts."""
        positions = self.positions
        starts.bounds[positions] = np.maximum(starts.bounds[positions], self.starts.bounds)


def open_starts(starts: Starts) -> OpenStarts | None:
    """Return the starts that are open, packed; None where that would save little.

    A stretch holds open starts, and the letters that their primers may hold; other starts in it are
    decided, as a start whose bound is above its limit.
    """
    positions = np.flatnonzero(starts.bounds <= starts.limits)
    if not len(positions):
        return OpenStarts(
            Starts(starts.masks[:0], np.zeros(1, np.int64), positions, positions), positions
        )

    # Where the letters of the open starts so far end, and the stretches of those that touch.
    ends = np.maximum.accumulate(positions + starts.limits[positions])
    begins_stretch = np.append(True, positions[1:] >= ends[:-1])
    first = positions[begins_stretch]
    last = ends[np.append(np.flatnonzero(begins_stretch)[1:] - 1, len(ends) - 1)]
    lengths = last - first
    if WORTH * lengths.sum() > len(starts.masks):
        return None

    # Within a stretch no primer reaches beyond it, and decided starts stay so.
    stretch, taken = range_join(first, last)
    limits = np.minimum(starts.limits[taken], last[stretch] - taken)
    bounds = np.minimum(starts.bounds[taken], limits + 1)
    begins = bounds_of(lengths)
    return OpenStarts(Starts(starts.masks[taken], begins, limits, bounds), taken)
