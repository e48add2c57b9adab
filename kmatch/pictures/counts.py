"""Numbers of rows of a table by name and by class, as a table that is coloured."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from kmatch.arrays import Longs
from kmatch.pictures import counted, label, short_count
from kmatch.pictures.tables import Words

MOST = 30  # names that have a row
ROW = 0.19  # inches


class Counts(NamedTuple):
    """counts: int64[names, classes]; axis: what the classes are of."""

    names: Sequence[str]
    classes: Sequence[str]
    counts: Longs
    axis: str


def counts_of(words: Words, group: Longs, classes: Sequence[str], axis: str) -> Counts:
    """The Counts of rows by their words and classes, in the order of the words; group: int64[n].

    Of many words those with the most rows stand by themselves, the others together.
    """
    shape = (len(words.words), len(classes))
    at = words.which.astype(np.int64) * len(classes) + group
    counts = np.bincount(at, minlength=shape[0] * shape[1]).reshape(shape)
    names = [label(name) for name in words.words]
    if len(names) > MOST:
        order = np.argsort(-counts.sum(axis=1), kind="stable")
        chosen, rest = np.sort(order[:MOST]), order[MOST:]
        names = [*(names[number] for number in chosen.tolist()), counted(len(rest), "other")]
        counts = np.vstack([counts[chosen], counts[rest].sum(axis=0)])
    return Counts(names, classes, counts, axis)


def draw_counts(axes: Any, found: Counts) -> None:
    """Draw a table whose cells are the darker, the more there are; `others` are not coloured."""
    from matplotlib.colors import LogNorm

    names, classes, counts, axis = found
    own = np.where(np.arange(len(names))[:, None] < MOST, counts, 0)
    coloured, scale = np.ma.masked_equal(own, 0), LogNorm(0.5, max(int(own.max()), 2))
    style = {"aspect": "auto", "cmap": "Blues", "norm": scale, "interpolation": "nearest"}
    image = axes.imshow(coloured, **style)
    for (row, column), count in np.ndenumerate(counts):
        dark = own[row, column] > 0 and scale(own[row, column]) > 0.6
        colour = "white" if dark else "0.15" if count else "0.7"
        text = {"ha": "center", "va": "center", "fontsize": 7, "color": colour}
        axes.text(column, row, short_count(int(count)), **text)
    axes.set_yticks(range(len(names)), names, fontsize=8)
    axes.set_xticks(range(len(classes)), classes, fontsize=8 if len(classes) < 8 else 7)
    axes.set_xlabel(axis, fontsize=9)
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    bar = axes.figure.colorbar(image, ax=axes, fraction=0.05, pad=0.01, aspect=50)
    bar.ax.yaxis.set_major_formatter(lambda value, _: short_count(int(value)) if value >= 1 else "")
    bar.ax.minorticks_off()
    bar.ax.tick_params(labelsize=7, length=2)
    bar.outline.set_visible(False)
