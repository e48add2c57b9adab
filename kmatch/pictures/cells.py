"""Tables of coloured cells, and hits as they are counted in them."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from kmatch.arrays import Bools, Floats, Longs
from kmatch.errors import counted
from kmatch.pictures import MANY, Size, label, short
from kmatch.pictures.scales import NO_PRODUCT, Scale
from kmatch.pictures.tables import Words

MOST = 30  # names that have a row where hits are counted
WORDY = 2_500  # cells that have words
FEW = 16  # rows that are high
_ROW = 0.19  # inches of a row, where they are few
LOW_ROW = 0.14  # and where they are many
_NAMED = 0.075  # and of one with a name that can just be read
_LARGEST = 8  # points of a name's letters
_POINTS = 72  # an inch
_DARK = 0.5  # luminance, below which words are white
_LUMINANCE = (0.299, 0.587, 0.114)  # of red, green and blue


class Key(NamedTuple):
    """A kind of cells with a colour that no number has.

    name: of the kind; colour; hatch: lines on it, if any; cells: bool[rows, columns], which they
    are; word: in each of them.
    """

    name: str
    colour: str
    hatch: str
    cells: Bools
    word: str


class Cells(NamedTuple):
    """Cells that are coloured by their values.

    rows, columns: their names; values: float[rows, columns], NaN for a cell without colour; axis:
    the label of the columns; words: to show in cells, object[rows, columns], if there are any;
    keys: of cells without a value.
    """

    rows: Sequence[str]
    columns: Sequence[str]
    values: Floats
    axis: str = ""
    words: Any = None
    keys: Sequence[Key] = ()

    @property
    def height(self) -> float:
        """Inches of the cells."""
        row_height = _ROW if len(self.rows) <= FEW else LOW_ROW
        return max(row_height * len(self.rows), 0.6)

    def part(self, first: int, last: int) -> "Cells":
        """Return the cells of the rows `first` to `last` − 1."""
        rows = slice(first, last)
        keys = [key._replace(cells=key.cells[rows]) for key in self.keys]
        words = None if self.words is None else self.words[rows]
        return self._replace(rows=self.rows[rows], values=self.values[rows], words=words, keys=keys)


def counts_of(
    words: Words, group: Longs, classes: Sequence[str], axis: str, noun: str = "hit"
) -> Cells:
    """Return the Cells of rows counted by their words and classes; group: int64[n], the class.

    Of many words the ones with the most rows stand by themselves. The others stand together,
    uncoloured. Words without a row, a `noun`, stand together too:

        p1              3  0  1
        p2              2  2  0
        5 others        4  1  0
        2 without a hit 0  0  0
    """
    names = list(words.words)
    cells = words.which * len(classes) + group
    counts = np.bincount(cells, minlength=len(names) * len(classes))
    counts = counts.reshape(len(names), len(classes))
    coloured = min(len(names), MOST)
    if len(names) > MOST:
        names, counts = _with_others(names, counts, noun)
    values = np.where(counts > 0, counts, np.nan)
    values[coloured:] = np.nan
    shown = np.vectorize(short, otypes=[object])(counts)
    return Cells(names, classes, values, axis, shown)


def _with_others(names: list[str], counts: Longs, noun: str) -> tuple[list[str], Longs]:
    """Return the MOST names with the most rows, and lines for the others, as `counts_of` has them.

    counts: int64[names, classes]; the counts that are returned have a line a name.
    """
    totals = counts.sum(axis=1)
    order = np.argsort(-totals, kind="stable")
    chosen = np.sort(order[:MOST])
    others = order[MOST:]
    shown = [names[number] for number in chosen.tolist()]
    lines = [counts[chosen]]
    # Others with rows, and those without.
    has_rows = totals[others] > 0
    if has_rows.any():
        shown.append(counted(int(has_rows.sum()), "other"))
        lines.append(counts[others[has_rows]].sum(axis=0, keepdims=True))
    if not has_rows.all():
        shown.append(f"{int((~has_rows).sum()):,} without a {noun}")
        lines.append(np.zeros((1, counts.shape[1]), np.int64))
    return shown, np.vstack(lines)


def most_of(panels: Sequence[Cells]) -> int:
    """Return the largest value of some Cells, at least 1."""
    return max(int(np.nanmax(cells.values, initial=1)) for cells in panels)


def draw_cells(axes: Any, cells: Cells, scale: Scale, room: Size) -> None:
    """Draw Cells; room: inches that they have, by which letters are as large as they fit."""
    values = np.ma.masked_invalid(cells.values)
    axes.imshow(values, norm=scale.norm, cmap=scale.colours, interpolation="nearest", aspect="auto")
    for key in cells.keys:
        _draw_key(axes, key)
    row_size = _name_ticks(axes.set_yticks, cells.rows, room.height)
    column_size = _name_ticks(axes.set_xticks, cells.columns, room.width)
    letters = max(map(len, cells.columns))
    longest = letters * column_size / _POINTS * 0.6
    if longest > room.width / len(cells.columns):
        axes.tick_params(axis="x", rotation=90)
    if cells.words is not None and cells.values.size <= WORDY:
        _write_words(axes, cells, scale, min(row_size, column_size, 7))
    axes.set_xlabel(cells.axis)
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)


def _draw_key(axes: Any, key: Key) -> None:
    """Draw the cells of a Key, if there are any, in its colour and with its lines."""
    from matplotlib.colors import ListedColormap

    if not key.cells.any():
        return
    values = np.ma.masked_where(~key.cells, np.ones(key.cells.shape))
    colours = ListedColormap([key.colour])
    if not key.hatch:
        axes.imshow(values, cmap=colours, interpolation="nearest", aspect="auto")
        return
    rows, columns = key.cells.shape
    x = np.arange(columns + 1) - 0.5
    y = np.arange(rows + 1) - 0.5
    is_many = bool(np.count_nonzero(key.cells) > MANY)
    lined = axes.pcolor(x, y, values, cmap=colours, hatch=key.hatch, rasterized=is_many)
    lined.set_edgecolor("white")
    lined.set_linewidth(0)


def _name_ticks(set_ticks: Any, names: Sequence[str], room: float) -> float:
    """Name the rows or the columns of cells, each second, third and so on where they are too many
    for letters; returns the points of the letters.

    room: inches of all.
    """
    step = max(1, -(-len(names) * _NAMED // room)) if room else 1
    step = int(step)
    size = min(_LARGEST, _POINTS * room / len(names) * step * 0.95)
    set_ticks(range(0, len(names), step), map(label, names[::step]), fontsize=size)
    return size


def _write_words(axes: Any, cells: Cells, scale: Scale, size: float) -> None:
    """Write a word in each cell, in white where it is dark."""
    colours = scale.colours(scale.norm(np.ma.masked_invalid(cells.values)))[..., :3]
    is_dark = colours @ np.array(_LUMINANCE) < _DARK
    is_dark &= np.isfinite(cells.values)
    words = cells.words.copy()
    for key in cells.keys:
        words[key.cells] = key.word
        is_dark |= key.cells & (key.colour == NO_PRODUCT)
    for (row, column), word in np.ndenumerate(words):
        colour = "white" if is_dark[row, column] else "0.25"
        axes.text(column, row, word, ha="center", va="center", fontsize=size, color=colour)
