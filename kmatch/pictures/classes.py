"""Classes of distances: each distance by itself, or ranges where there are many; their colours."""

from typing import Any, NamedTuple

import numpy as np

from kmatch.arrays import Ints, Longs

MOST = 8  # classes that eyes and colours tell apart
_DARK, _LIGHT = 0.0, 0.88  # of Matplotlib's viridis: closest hits darkest, none too pale to print


class Classes(NamedTuple):
    """Ranges of distances, by the first of each, int64, and the last of all."""

    first: Longs
    last: int

    @property
    def size(self) -> int:
        return len(self.first)

    def of(self, distance: Ints | Longs) -> Longs:
        """The number of the class of each distance."""
        return np.searchsorted(self.first, distance, side="right") - 1

    def names(self) -> list[str]:
        lasts = [*(self.first[1:] - 1).tolist(), self.last]
        pairs = zip(self.first.tolist(), lasts, strict=True)
        return [str(a) if a == b else f"{a}–{b}" for a, b in pairs]

    def colours(self) -> Any:
        """A colour a class, RGBA, float[n, 4]."""
        from matplotlib import colormaps

        return colormaps["viridis"](np.linspace(_DARK, _LIGHT, self.size))


def classes_of(distance: Ints | Longs, most: int = MOST) -> Classes:
    """Classes for all distances from the smallest, or 0 where that is near, to the largest."""
    if not len(distance):
        return Classes(np.zeros(1, np.int64), 0)
    least, last = int(distance.min()), int(distance.max())
    least = 0 if last < most else least
    width = -(-(last + 1 - least) // most)
    first = np.arange(least, last + 1, width)
    return Classes(first, last)
