"""The pictures of assays: their differences in each genome, and the differences at each letter of
oligos."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from kmatch.arrays import Floats
from kmatch.errors import counted
from kmatch.pictures import Size, new_figure, page_size
from kmatch.pictures.cells import LOW_ROW, Cells, Key, draw_cells
from kmatch.pictures.scales import NO_PRODUCT, UNKNOWN, Scale, whole_scale
from kmatch.pictures.tables import UNDECIDED, Table

LEAST_SPAN = 5  # differences, or percent, that colours span at least
_WIDE = 0.72  # of a picture's width that cells take
_NAMES = 1.1  # inches of names, of a scale or of an axis
_CELL = 0.15  # inches, the width of a cell of a block of rows
_LINES = "/////"  # on cells of which nothing is known


def draw_assays(table: Table, _: int | None = None) -> Any:
    """Return a Figure of a table of assays: the differences in each genome that amplifies."""
    assay = table.columns["assay"]
    genome = table.columns["genome"]
    amplifies = table.columns["amplifies"]
    verdicts = [{"yes": 0.0, "unknown": UNDECIDED}.get(word, np.nan) for word in amplifies.words]
    oligos = [table.get(name) for name in ("forward", "reverse", "probe")]
    differences = np.nan_to_num(oligos).sum(axis=0)
    names, which = genomes_of(
        [genome.words[number] for number in genome.which.tolist()],
        [assay.words[number] for number in assay.which.tolist()],
    )
    values = np.full((len(assay.words), len(names)), np.nan)
    values[assay.which, which] = differences + np.array(verdicts)[amplifies.which]
    return _draw_matrix(table, assay.words, names, values)


def genomes_of(genome: Sequence[str], assay: Sequence[str]) -> tuple[list[str], list[int]]:
    """Return the names of the genomes of rows, and the number of each row's.

    Several may have one name. A row is of the next of them where its genome and assay were there
    before:

        genome   g  g  g  g  h
        assay    a  b  a  b  a
        number   0  0  1  1  2
    """
    row_counts: Counter[tuple[str, str]] = Counter()
    numbers: dict[tuple[str, int], int] = {}
    which = []
    for pair in zip(genome, assay, strict=True):
        key = pair[0], row_counts[pair]
        row_counts[pair] += 1
        which.append(numbers.setdefault(key, len(numbers)))
    return [name for name, _ in numbers], which


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
        Key("unknown", UNKNOWN, _LINES, is_unknown, "?"),
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
    where = (oligo.which, position.which)
    shape = (len(oligo.words), len(position.words))
    # The share of genomes that differ, where there are any.
    differ = table.columns["differ"]
    genomes = table.columns["match"] + differ
    shares = np.full(shape, np.nan)
    shares[where] = np.where(genomes > 0, 100 * differ / np.maximum(genomes, 1), np.nan)
    # The letters, as each row has one.
    letters = np.full(shape, "", object)
    letters[where] = np.array(letter.words, object)[letter.which]
    is_unseen = (letters != "") & np.isnan(shares)
    key = Key("in no genome", UNKNOWN, _LINES, is_unseen, "?")
    cells = Cells(oligo.words, position.words, shares, "position", letters, [key])
    scale = whole_scale(np.nanmax(shares, initial=0), "genomes that differ, %", LEAST_SPAN)
    return _draw_blocks(table, cells, scale, f"{counted(len(oligo.words), 'oligo')} by position")


def _draw_blocks(table: Table, cells: Cells, scale: Scale, title: str) -> Any:
    """Return a Figure of Cells. Many rows become several blocks side by side:

    1 ▒▒▒   4 ▒▒▒   7 ▒▒▒
    2 ▒▒▒   5 ▒▒▒   8 ▒▒▒
    3 ▒▒▒   6 ▒▒▒
    """
    size = page_size(cells.height + 2 * _NAMES, table.size)
    block_rows = _rows_of_blocks(cells, size)
    block_count = -(-len(cells.rows) // block_rows)
    width = _WIDE * size.width
    if block_count > 1:
        width = (size.width - _NAMES) / block_count - _NAMES
        size = page_size(cells.part(0, block_rows).height + 2 * _NAMES, table.size)
    height = size.height - 2 * _NAMES

    figure = new_figure(size, table.heading or title)
    blocks = figure.subplots(1, block_count, squeeze=False)[0].tolist()
    for number, axes in enumerate(blocks):
        first = number * block_rows
        part = cells.part(first, first + block_rows)
        draw_cells(axes, part, scale, Size(width, height * len(part.rows) / block_rows))
        axes.set_ylim(block_rows - 0.5, -0.5)  # as high as the others
    _draw_keys(figure, cells.keys)
    scale.draw_bar(blocks)
    return figure


def _rows_of_blocks(cells: Cells, size: Size) -> int:
    """Return the rows of each block of Cells on a page: as few as fit, but no more blocks than the
    columns leave space for."""
    row_count = len(cells.rows)
    needed = -(-row_count * LOW_ROW // (size.height - 2 * _NAMES))
    widest = (size.width - _NAMES) // (_NAMES + _CELL * len(cells.columns))
    block_count = int(max(1, min(needed, widest)))
    return -(-row_count // block_count)


def _draw_keys(figure: Any, keys: Sequence[Key]) -> None:
    """Explain above the cells the colours that no number has."""
    from matplotlib.patches import Patch

    handles = [
        Patch(facecolor=key.colour, hatch=key.hatch, edgecolor="white", label=key.name)
        for key in keys
        if key.cells.any()
    ]
    if handles:
        figure.legend(handles=handles, loc="outside upper right", ncols=len(handles))
