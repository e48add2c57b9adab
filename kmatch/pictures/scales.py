"""The meaning of colours in pictures: counts, distances and differences have palettes of their own.

People with any vision tell the colours of a palette apart, and their greys are in order.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from matplotlib import colormaps
from matplotlib.cm import ScalarMappable
from matplotlib.colors import LinearSegmentedColormap, LogNorm, Normalize
from matplotlib.ticker import MaxNLocator

from kmatch.pictures import short

DISTANCES = "viridis_r"  # the closer, the darker
COUNTS = "Oranges"  # the more, the darker
DIFFERENCES = "OrRd"  # the more, the louder
NO_PRODUCT = "#2b2b2b"
UNKNOWN = "#8fb4d9"  # and hatched


class Scale(NamedTuple):
    """The meaning of colours, the same in all panels of a figure.

    norm: from values to shares of the colours; colours: of Matplotlib; what: the values, in words,
    for the bar; ticks: whole numbers that the bar names.
    """

    norm: Any
    colours: Any
    what: str
    ticks: Sequence[int]

    def draw_bar(self, axes: Sequence[Any]) -> None:
        """Draw the meaning of colours, right of some axes."""
        drawn = ScalarMappable(self.norm, self.colours)
        figure = axes[0].figure
        bar = figure.colorbar(drawn, ax=list(axes), fraction=0.04, pad=0.01, aspect=40)
        bar.set_ticks(list(self.ticks), labels=[short(tick) for tick in self.ticks])
        bar.set_label(self.what)
        bar.ax.minorticks_off()
        bar.ax.tick_params(labelsize=7, length=2)
        bar.outline.set_visible(False)


def count_scale(most: int, noun: str) -> Scale:
    """Return the Scale of counts of 1 to `most`, by their logarithm; noun: the word for a counted
    thing."""
    decades = len(str(max(most, 10) - 1))  # 10 … 10^decades hold all
    steps = (1, 2, 5) if decades < 4 else (1,)
    ticks = [step * 10**power for power in range(decades + 1) for step in steps]
    top = max(most, 10)
    return Scale(
        LogNorm(1, top),
        _part(COUNTS, 0.12, 0.95),
        f"{noun}s in a cell, by logarithm",
        [tick for tick in ticks if tick <= top],
    )


def whole_scale(most: float, what: str, least_span: int) -> Scale:
    """Return the Scale of numbers that are bad: 0 is calm, and `most` loud.

    least_span: the least span of colours, so that a small number is not loud among small ones.
    """
    top = max(most, least_span)
    ticks = MaxNLocator(nbins=10, integer=True).tick_values(0, top)
    whole = [int(tick) for tick in ticks if tick <= top]
    return Scale(Normalize(0, top), _part(DIFFERENCES, 0.06, 0.8), what, whole)


def distance_colours(count: int) -> Any:
    """Return a colour for each of `count` classes of distances, RGBA, float[n, 4]: the closest is
    the darkest, and none too pale to be seen on white."""
    return colormaps[DISTANCES](np.linspace(1, 0.25, count))


def _part(name: str, first: float, last: float) -> Any:
    """Return the colours of Matplotlib between two shares of them."""
    colours = colormaps[name](np.linspace(first, last, 64))
    return LinearSegmentedColormap.from_list(name, colours)
