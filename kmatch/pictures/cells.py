"""Tables of coloured cells: hits as they are counted, assays by genome, oligos by letter."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from kmatch.arrays import Floats, Longs
from kmatch.errors import counted
from kmatch.pictures import SCALE, WIDTH, label, new_figure, short
from kmatch.pictures.tables import Table, Words

MOST = 30  # names that have a row where hits are counted
NAMED = 1000, 150  # rows and columns that each have their name
_ROW, _LOW_ROW = 0.19, 0.115  # inches, of rows that are few, and with a name that can be read
_WIDE = 0.72  # of a picture's width that cells take


class Cells(NamedTuple):
    """rows, columns: their names; values: [rows, columns], NaN or masked for a cell without colour;
    what: they are; axis: what columns are; counts: whether they are, which cells show and colours
    tell by logarithm; letters: to show in cells, object[rows, columns], if there are any."""

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
        return max((_ROW if len(self.rows) <= MOST + 1 else _LOW_ROW) * len(self.rows), 1.0)


def counts_of(words: Words, group: Longs, classes: Sequence[str], axis: str) -> Cells:
    """The Cells of rows counted by their words and classes; group: int64[n].

    Of many words those with the most rows stand by themselves, the others together, uncoloured.
    """
    shape = (len(words.words), len(classes))
    at = words.which * len(classes) + group
    counts = np.bincount(at, minlength=shape[0] * shape[1]).reshape(shape)
    names, coloured = list(words.words), len(words.words)
    if len(names) > MOST:
        order = np.argsort(-counts.sum(axis=1), kind="stable")
        chosen, rest = np.sort(order[:MOST]), order[MOST:]
        names = [*(names[number] for number in chosen.tolist()), counted(len(rest), "other")]
        counts, coloured = np.vstack([counts[chosen], counts[rest].sum(axis=0)]), MOST
    values = np.ma.masked_equal(counts, 0)
    values[coloured:] = np.ma.masked
    return Cells(names, classes, values, "rows", axis, counts=True)


def draw_cells(axes: Any, cells: Cells) -> None:
    """Draw Cells, the darker, the more."""
    from matplotlib.colors import LogNorm, Normalize

    values, style = np.ma.masked_invalid(cells.values), {"aspect": "auto", "cmap": SCALE}
    most = max(float(values.filled(0).max()), 1)
    scale = LogNorm(0.5, most) if cells.counts else Normalize(0, most)
    image = axes.imshow(values, norm=scale, interpolation="nearest", **style)
    spaces = cells.height, _WIDE * WIDTH
    ways = spaces, NAMED, (axes.set_yticks, axes.set_xticks)
    sizes = []
    for names, space, most, ticks in zip(cells, *ways, strict=False):
        step = -(-len(names) // most)
        sizes.append(min(8, 72 * space / len(names) * step * 0.95))
        ticks(range(0, len(names), step), map(label, names[::step]), fontsize=sizes[-1])
    longest = max(map(len, cells.columns)) * sizes[1] / 72 * 0.6
    if longest > spaces[1] / len(cells.columns):
        axes.tick_params(axis="x", rotation=90)
    texts = np.vectorize(short, otypes=[object])(values.data) if cells.counts else cells.letters
    if texts is not None:
        dark = ~np.ma.getmaskarray(values) & (image.cmap(scale(values))[..., :3].sum(-1) < 1.6)
        for (row, column), word in np.ndenumerate(texts):
            colour = "white" if dark[row, column] else "0.3"
            text = {"ha": "center", "va": "center", "fontsize": min(*sizes, 7), "color": colour}
            axes.text(column, row, word, **text)
    axes.set_xlabel(cells.axis)
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    bar = axes.figure.colorbar(image, ax=axes, fraction=0.05, pad=0.01, aspect=50)
    bar.set_label(cells.what)
    bar.ax.minorticks_off()
    bar.ax.tick_params(labelsize=7, length=2)
    bar.outline.set_visible(False)


def draw_assays(table: Table, _: int | None = None) -> Any:
    """A Figure of a table of assays: the differences in each genome that amplifies."""
    assay, genome, amplifies = (table.columns[name] for name in table.kind.needed)
    oligos = np.nan_to_num([table.get(name) for name in ("forward", "reverse", "probe")])
    yes = np.array([word == "yes" for word in amplifies.words])[amplifies.which]
    cells = np.full((len(assay.words), len(genome.words)), np.nan)
    cells[assay.which, genome.which] = np.where(yes, oligos.sum(axis=0), np.nan)
    return _draw(assay.words, genome.words, cells)


def draw_matrix(table: Table, _: int | None = None) -> Any:
    """A Figure of the same in a matrix of assays and genomes."""
    names = [name for name in table.columns if name != "assay"]
    assays = table.columns["assay"]
    rows = [assays.words[number] for number in assays.which.tolist()]
    return _draw(rows, names, np.array([table.columns[name] for name in names]).T)


def _draw(assays: Sequence[str], genomes: Sequence[str], values: Floats) -> Any:
    found = f"{counted(int((~np.isnan(values)).sum()), 'pair')} of {values.size:,} amplify"
    title = f"{counted(len(assays), 'assay')}, {counted(len(genomes), 'genome')}; {found}"
    if len(genomes) > len(assays):  # a page is higher than wide
        assays, genomes, values = genomes, assays, values.T
    return _figure(Cells(assays, genomes, values, "differences; white: none"), title)


def draw_positions(table: Table, _: int | None = None) -> Any:
    """A Figure of the letters of oligos: the share of genomes that differ at each."""
    oligo, position, letter = (table.columns[name] for name in table.kind.needed[:3])
    match, differ = table.columns["match"], table.columns["differ"]
    at = oligo.which, position.which
    values = np.full((len(oligo.words), len(position.words)), np.nan)
    texts = np.full(values.shape, "", object)
    with np.errstate(invalid="ignore"):
        values[at] = 100 * differ / (match + differ)
    texts[at] = np.array(letter.words, object)[letter.which]
    title = f"{counted(len(oligo.words), 'oligo')} by position"
    what = "genomes that differ, %; white: none"
    return _figure(Cells(oligo.words, position.words, values, what, letters=texts), title)


def _figure(cells: Cells, title: str) -> Any:
    figure = new_figure(cells.height + 2.2, title)
    draw_cells(figure.subplots(), cells)
    return figure
