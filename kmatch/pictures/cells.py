"""Tables of coloured cells: hits as they are counted, assays by genome, oligos by letter."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from kmatch.arrays import Floats, Longs
from kmatch.errors import counted
from kmatch.pictures import SCALE, WIDTH, label, new_figure, short
from kmatch.pictures.tables import Table, Words

MOST = 30  # names that have a row where hits are counted
NAMED_ROWS = 1000  # that each have their name
NAMED_COLUMNS = 150
_ROW = 0.19  # inches of a row, where they are few
_LOW_ROW = 0.115  # and with a name that can just be read
_WIDE = 0.72  # of a picture's width that cells take
_LARGEST = 8  # points of a name's letters
_POINTS = 72  # an inch
_DARK = 1.6  # sum of red, green and blue, below which words are white


class Cells(NamedTuple):
    """Cells that are coloured by their values.

    rows, columns: their names; values: [rows, columns], NaN or masked for a cell without colour;
    what: they are; axis: what columns are; counts: whether values are, which cells show and colours
    tell by logarithm; letters: to show in cells, object[rows, columns], if there are any.
    """

    rows: Sequence[str]
    columns: Sequence[str]
    values: Any
    what: str
    axis: str = ""
    counts: bool = False
    letters: Any = None

    @property
    def height(self) -> float:
        """Inches of the cells."""
        row_height = _ROW if len(self.rows) <= MOST + 1 else _LOW_ROW
        return max(row_height * len(self.rows), 1.0)


def counts_of(words: Words, group: Longs, classes: Sequence[str], axis: str) -> Cells:
    """Return the Cells of rows counted by their words and classes; group: int64[n], the class.

    Of many words those with the most rows stand by themselves, the others together, uncoloured.
    """
    shape = (len(words.words), len(classes))
    numbers = words.which * len(classes) + group
    counts = np.bincount(numbers, minlength=shape[0] * shape[1])
    counts = counts.reshape(shape)
    names = list(words.words)
    coloured = len(names)
    if len(names) > MOST:
        order = np.argsort(-counts.sum(axis=1), kind="stable")
        chosen = np.sort(order[:MOST])
        others = order[MOST:]
        names = [names[number] for number in chosen.tolist()]
        names.append(counted(len(others), "other"))
        of_others = counts[others].sum(axis=0)
        counts = np.vstack([counts[chosen], of_others])
        coloured = MOST
    values = np.ma.masked_equal(counts, 0)
    values[coloured:] = np.ma.masked
    return Cells(names, classes, values, "rows", axis, counts=True)


def draw_cells(axes: Any, cells: Cells) -> None:
    """Draw Cells, the darker, the more."""
    from matplotlib.colors import LogNorm, Normalize

    values = np.ma.masked_invalid(cells.values)
    most = max(float(values.filled(0).max()), 1)
    scale = LogNorm(0.5, most) if cells.counts else Normalize(0, most)
    image = axes.imshow(values, norm=scale, cmap=SCALE, interpolation="nearest", aspect="auto")
    # Names of rows and columns, in letters that fit.
    width = _WIDE * WIDTH
    row_size = _name_ticks(axes.set_yticks, cells.rows, cells.height, NAMED_ROWS)
    column_size = _name_ticks(axes.set_xticks, cells.columns, width, NAMED_COLUMNS)
    letters = max(map(len, cells.columns))
    longest = letters * column_size / _POINTS * 0.6
    if longest > width / len(cells.columns):
        axes.tick_params(axis="x", rotation=90)
    # Words in cells.
    words = cells.letters
    if cells.counts:
        words = np.vectorize(short, otypes=[object])(values.data)
    if words is not None:
        colours = image.cmap(scale(values))[..., :3]
        is_coloured = ~np.ma.getmaskarray(values)
        is_dark = is_coloured & (colours.sum(-1) < _DARK)
        size = min(row_size, column_size, 7)
        _write_words(axes, words, is_dark, size)
    axes.set_xlabel(cells.axis)
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    _draw_scale(axes, image, cells.what)


def _name_ticks(set_ticks: Any, names: Sequence[str], space: float, most: int) -> float:
    """Name the rows or the columns of cells; returns the points of the letters.

    space: inches of all; most: how many have their names, of more each second, third and so on.
    """
    step = -(-len(names) // most)
    size = min(_LARGEST, _POINTS * space / len(names) * step * 0.95)
    labels = map(label, names[::step])
    set_ticks(range(0, len(names), step), labels, fontsize=size)
    return size


def _write_words(axes: Any, words: Any, is_dark: Any, size: float) -> None:
    """Write a word in each cell, in white where it is dark."""
    for (row, column), word in np.ndenumerate(words):
        colour = "white" if is_dark[row, column] else "0.3"
        axes.text(column, row, word, ha="center", va="center", fontsize=size, color=colour)


def _draw_scale(axes: Any, image: Any, what: str) -> None:
    """Draw what colours mean beside the axes."""
    bar = axes.figure.colorbar(image, ax=axes, fraction=0.05, pad=0.01, aspect=50)
    bar.set_label(what)
    bar.ax.minorticks_off()
    bar.ax.tick_params(labelsize=7, length=2)
    bar.outline.set_visible(False)


def draw_assays(table: Table, _: int | None = None) -> Any:
    """A Figure of a table of assays: the differences in each genome that amplifies."""
    assay = table.columns["assay"]
    genome = table.columns["genome"]
    amplifies = table.columns["amplifies"]
    is_yes = np.array([word == "yes" for word in amplifies.words])
    oligos = [table.get(name) for name in ("forward", "reverse", "probe")]
    differences = np.nan_to_num(oligos).sum(axis=0)
    amplified = np.where(is_yes[amplifies.which], differences, np.nan)
    shape = (len(genome.words), len(assay.words))
    values = np.full(shape, np.nan)
    values[genome.which, assay.which] = amplified
    return _draw(genome.words, assay.words, values)


def draw_matrix(table: Table, _: int | None = None) -> Any:
    """A Figure of the same in a matrix of assays and genomes."""
    assay = table.columns["assay"]
    assays = [assay.words[number] for number in assay.which.tolist()]
    genomes = [name for name in table.columns if name != "assay"]
    values = np.array([table.columns[name] for name in genomes]).T
    return _draw(assays, genomes, values)


def _draw(rows: Sequence[str], columns: Sequence[str], values: Floats) -> Any:
    amplified = int(np.count_nonzero(~np.isnan(values)))
    pairs = f"{counted(amplified, 'pair')} of {values.size:,} amplify"
    title = f"{counted(len(rows), 'assay')}, {counted(len(columns), 'genome')}; {pairs}"
    what = "differences; white: none"
    if len(columns) > len(rows):  # a page is higher than wide
        return _figure(Cells(columns, rows, values.T, what), title)
    return _figure(Cells(rows, columns, values, what), title)


def draw_positions(table: Table, _: int | None = None) -> Any:
    """A Figure of the letters of oligos: the share of genomes that differ at each."""
    oligo = table.columns["oligo"]
    position = table.columns["position"]
    letter = table.columns["letter"]
    differ = table.columns["differ"]
    genomes = table.columns["match"] + differ
    cells = (oligo.which, position.which)
    shape = (len(oligo.words), len(position.words))
    values = np.full(shape, np.nan)
    with np.errstate(invalid="ignore"):
        values[cells] = 100 * differ / genomes
    letters = np.full(shape, "", object)
    letter_words = np.array(letter.words, object)
    letters[cells] = letter_words[letter.which]
    title = f"{counted(len(oligo.words), 'oligo')} by position"
    what = "genomes that differ, %; white: none"
    return _figure(Cells(oligo.words, position.words, values, what, letters=letters), title)


def _figure(cells: Cells, title: str) -> Any:
    figure = new_figure(cells.height + 2.2, title)
    draw_cells(figure.subplots(), cells)
    return figure
