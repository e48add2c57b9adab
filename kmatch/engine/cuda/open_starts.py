"""Starts of primers that are open, packed for a sweep.

A tile of neighbouring starts is taken as long as one of them is open. Where most are decided, the
others are put side by side:

    starts of the target   . . o o . . . . . . o . . o . .      o  open, .  decided
    taken with the letters     [-----]         [---------]      that their primers may hold
    packed                     [-----][---------]
"""

from typing import NamedTuple

import numpy as np

from kmatch.arrays import Longs, bounds_of, range_join
from kmatch.engine.types import Starts

WORTH = 2  # as many letters as are left, times this, are fewer than all: then they are packed


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
        none = Starts(starts.masks[:0], np.zeros(1, np.int64), positions, positions)
        return OpenStarts(none, positions)

    # Where the letters of the open starts so far end, and the stretches of those that touch.
    ends = np.maximum.accumulate(positions + starts.limits[positions])
    is_parted = positions[1:] >= ends[:-1]
    first = positions[np.append(True, is_parted)]
    last = ends[np.append(is_parted, True)]
    lengths = last - first
    if WORTH * lengths.sum() > len(starts.masks):
        return None

    # Within a stretch no primer reaches beyond it, and decided starts stay so.
    stretch, taken = range_join(first, last)
    limits = np.minimum(starts.limits[taken], last[stretch] - taken)
    bounds = np.minimum(starts.bounds[taken], limits + 1)
    begins = bounds_of(lengths)
    return OpenStarts(Starts(starts.masks[taken], begins, limits, bounds), taken)
