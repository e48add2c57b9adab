"""Tables of coloured cells: hits as they are counted, assays by genome, oligos by letter."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from kmatch.arrays import Bools, Floats, Longs
from kmatch.errors import counted
from kmatch.pictures import MANY, Size, label, new_figure, page_size, short
from kmatch.pictures.scales import NO_PRODUCT, UNKNOWN, Scale, whole_scale
from kmatch.pictures.tables import UNDECIDED, Table, Words

MOST = 30  # names that have a row where hits are counted
WORDY = 2_500  # cells that have words
FEW = 16  # rows that are high
LEAST_SPAN = 5  # differences, or percent, that colours span at least
_ROW = 0.19  # inches of a row, where they are few
_LOW_ROW = 0.14  # and where they are many
_NAMED = 0.075  # and of one with a name that can just be read
_WIDE = 0.72  # of a picture's width that cells take
_NAMES = 1.1  # inches of names, of a scale or of an axis
_CELL = 0.15  # and the width of a cell of a block of rows
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
    what columns are; words: to show in cells, object[rows, columns], if there are any; keys: of
    cells without a value.
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
        row_height = _ROW if len(self.rows) <= FEW else _LOW_ROW
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

    Of many words those with the most rows stand by themselves. The others stand together,
    uncoloured, and so do those without a row, of `noun`:

        p1              3  0  1
        p2              2  2  0
        5 others        4  1  0
        2 without a hit 0  0  0
    """
    shape = (len(words.words), len(classes))
    numbers = words.which * len(classes) + group
    counts = np.bincount(numbers, minlength=shape[0] * shape[1])
    counts = counts.reshape(shape)
    names = list(words.words)
    coloured = len(names)
    if len(names) > MOST:
        totals = counts.sum(axis=1)
        order = np.argsort(-totals, kind="stable")
        chosen = np.sort(order[:MOST])
        others = order[MOST:]
        names = [names[number] for number in chosen.tolist()]
        parts = [counts[chosen]]
        with_rows = others[totals[others] > 0]
        if len(with_rows):
            names.append(counted(len(with_rows), "other"))
            parts.append(counts[with_rows].sum(axis=0, keepdims=True))
        if len(with_rows) < len(others):
            names.append(f"{len(others) - len(with_rows):,} without a {noun}")
            parts.append(np.zeros((1, len(classes)), np.int64))
        counts = np.vstack(parts)
        coloured = MOST
    values = np.where(counts > 0, counts, np.nan)
    values[coloured:] = np.nan
    shown = np.vectorize(short, otypes=[object])(counts)
    return Cells(names, classes, values, axis, shown)


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


def draw_assays(table: Table, _: int | None = None) -> Any:
    """Return a Figure of a table of assays: the differences in each genome that amplifies."""
    assay = table.columns["assay"]
    genome = table.columns["genome"]
    amplifies = table.columns["amplifies"]
    verdicts = [{"yes": 0.0, "unknown": UNDECIDED}.get(word, np.nan) for word in amplifies.words]
    oligos = [table.get(name) for name in ("forward", "reverse", "probe")]
    differences = np.nan_to_num(oligos).sum(axis=0)
    values = np.full((len(assay.words), len(genome.words)), np.nan)
    values[assay.which, genome.which] = differences + np.array(verdicts)[amplifies.which]
    return _draw_matrix(table, assay.words, genome.words, values)


def draw_matrix(table: Table, _: int | None = None) -> Any:
    """Return a Figure of the same in a matrix of assays and genomes."""
    assay = table.columns["assay"]
    assays = [assay.words[number] for number in assay.which.tolist()]
    genomes = [name for name in table.columns if name != "assay"]
    values = np.array([table.columns[name] for name in genomes]).T
    return _draw_matrix(table, assays, genomes, values)


def _draw_matrix(
    table: Table, assays: Sequence[str], genomes: Sequence[str], values: Floats
) -> Any:
    """Return a Figure of differences, float[assays, genomes]: NaN where no product is, UNDECIDED
    where that is unknown."""
    is_unknown = values == UNDECIDED
    amplified = int(np.isfinite(values).sum())
    parts = [f"{counted(amplified, 'pair')} of {values.size:,} amplify"]
    if is_unknown.any():
        parts.append(f"{np.count_nonzero(is_unknown):,} unknown")
    title = f"{counted(len(assays), 'assay')}, {counted(len(genomes), 'genome')}; "
    title += ", ".join(parts)
    scale = whole_scale(
        np.max(values, initial=0, where=np.isfinite(values)),
        "differences of primers and probe in all",
        LEAST_SPAN,
    )
    whole = np.where(np.isfinite(values), values, -1).astype(np.int64)
    keys: tuple[Key, ...] = (
        Key("no product", NO_PRODUCT, "", np.isnan(values), "–"),
        Key("unknown", UNKNOWN, "/////", is_unknown, "?"),
    )
    finite = np.where(is_unknown, np.nan, values)
    cells = Cells(assays, genomes, finite, words=whole.astype(object), keys=keys)
    if len(genomes) > len(assays):  # a page is higher than wide
        keys = tuple(key._replace(cells=key.cells.T) for key in keys)
        cells = Cells(genomes, assays, finite.T, words=cells.words.T, keys=keys)
    return _draw_blocks(table, cells, scale, title)


def draw_positions(table: Table, _: int | None = None) -> Any:
    """Return a Figure of the letters of oligos: the share of genomes that differ at each."""
    oligo = table.columns["oligo"]
    position = table.columns["position"]
    letter = table.columns["letter"]
    differ = table.columns["differ"]
    genomes = table.columns["match"] + differ
    where = (oligo.which, position.which)
    shape = (len(oligo.words), len(position.words))
    values = np.full(shape, np.nan)
    values[where] = 100 * differ / np.maximum(genomes, 1)
    words = np.full(shape, "", object)
    letter_words = np.array(letter.words, object)
    words[where] = letter_words[letter.which]
    is_unseen = np.zeros(shape, np.bool_)
    is_unseen[where] = genomes == 0
    values[is_unseen] = np.nan
    key = Key("in no genome", UNKNOWN, "/////", is_unseen, "?")
    cells = Cells(oligo.words, position.words, values, "position", words, [key])
    scale = whole_scale(np.nanmax(values, initial=0), "genomes that differ, %", LEAST_SPAN)
    return _draw_blocks(table, cells, scale, f"{counted(len(oligo.words), 'oligo')} by position")


def _draw_blocks(table: Table, cells: Cells, scale: Scale, title: str) -> Any:
    """Return a Figure of Cells, of which many rows are several blocks side by side:

    1 ▒▒▒   4 ▒▒▒   7 ▒▒▒
    2 ▒▒▒   5 ▒▒▒   8 ▒▒▒
    3 ▒▒▒   6 ▒▒▒
    """
    row_count = len(cells.rows)
    size = page_size(cells.height + 2 * _NAMES, table.size)
    # As many blocks as rows need, but no more than columns leave space for.
    room = Size(size.width - _NAMES, size.height - 2 * _NAMES)
    needed = -(-row_count * _LOW_ROW // room.height)
    widest = room.width // (_NAMES + _CELL * len(cells.columns))
    block_count = int(max(1, min(needed, widest)))
    block_rows = -(-row_count // block_count)
    block_count = -(-row_count // block_rows)
    width = _WIDE * size.width
    if block_count > 1:
        width = room.width / block_count - _NAMES
        size = table.size or page_size(cells.part(0, block_rows).height + 2 * _NAMES)
        room = Size(room.width, size.height - 2 * _NAMES)

    figure = new_figure(size, table.heading or title)
    column = figure.subplots(1, block_count, squeeze=False)[0]
    for number, axes in enumerate(column.tolist()):
        first = number * block_rows
        part = cells.part(first, first + block_rows)
        height = room.height * len(part.rows) / block_rows
        draw_cells(axes, part, scale, Size(width, height))
        axes.set_ylim(block_rows - 0.5, -0.5)  # as high as the others
    _draw_keys(figure, cells.keys)
    scale.draw_bar(column.tolist())
    return figure


def _draw_keys(figure: Any, keys: Sequence[Key]) -> None:
    """Say above the cells what colours mean that no number has."""
    from matplotlib.patches import Patch

    handles = [
        Patch(facecolor=key.colour, hatch=key.hatch, edgecolor="white", label=key.name)
        for key in keys
        if key.cells.any()
    ]
    if handles:
        figure.legend(handles=handles, loc="outside upper right", ncols=len(handles))
