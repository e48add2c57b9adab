"""The pictures of assays: differences by genome and assay, or by oligo and position."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from kmatch.arrays import Floats
from kmatch.errors import InputError, shown
from kmatch.pictures import GREY, WIDTH, counted, label, new_figure, nothing
from kmatch.sequences.files import StrPath, open_source

ROW = 0.115  # inches, of a name that can be read
NAMED = 150  # rows that each have their name
_SPACE = 6.5  # inches for all columns
_OF_ROWS, _OF_POSITIONS = ("genome", "assay", "amplifies"), ("oligo", "position", "letter")


class Matrix(NamedTuple):
    """rows, columns: names; values: float64[rows, columns], NaN for empty cells; letters: in the
    cells of positions, else None; what, title: in words."""

    rows: list[str]
    columns: list[str]
    values: Floats
    letters: dict[tuple[int, int], str] | None
    what: str
    title: str


def read_matrix(path: StrPath) -> Matrix | None:
    """The Matrix of a file that `kmatch assay` wrote: its table, --matrix or --positions; None for
    standard input and for any other table. Raises InputError for a line that does not fit."""
    if path == "-":
        return None
    with open_source(path) as source:
        lines = (line.decode("utf-8", "surrogateescape") for line in source.handle)
        head, label = next(lines, "").rstrip("\r\n").split("\t"), source.label
        wanted = _OF_ROWS, _OF_POSITIONS
        if head[:1] != ["assay"] and not any(set(of) <= set(head) for of in wanted):
            return None
        rest = list(lines)
    cells: dict[tuple[str, str], float] = {}
    letters: dict[tuple[str, str], str] = {}
    for number, line in enumerate(rest, 2):
        row = dict(zip(head, words := line.rstrip("\r\n").split("\t"), strict=False))
        try:
            if len(words) != len(head):
                raise ValueError
            if "amplifies" in row:
                oligos = (row[name] or 0 for name in ("forward", "reverse", "probe"))
                is_one = row["amplifies"] == "yes"
                cells[row["assay"], row["genome"]] = sum(map(int, oligos)) if is_one else np.nan
            elif "oligo" in row:
                match, differ = int(row["match"]), int(row["differ"])
                place = row["oligo"], row["position"]
                cells[place] = 100 * differ / (match + differ) if match + differ else np.nan
                letters[place] = row["letter"]
            else:
                values = (float(word) if word else np.nan for word in words[1:])
                cells |= {(words[0], name): v for name, v in zip(head[1:], values, strict=True)}
        except (ValueError, KeyError):
            raise InputError(
                f"{label}: line {number}: '{shown(line.rstrip())}' is no line of this table; write "
                "it again"
            ) from None
    return matrix(cells, letters)


def matrix(cells: Mapping[tuple[str, str], float], letters: Mapping[Any, str] = {}) -> Matrix:
    """The Matrix of cells by (row, column), in their order; letters: in cells of positions."""
    names = zip(*cells, strict=True) if cells else ((), ())
    rows, columns = ({name: n for n, name in enumerate(dict.fromkeys(each))} for each in names)
    values = np.full((len(rows), len(columns)), np.nan)
    for (row, column), value in cells.items():
        values[rows[row], columns[column]] = value
    if letters:
        at = {(rows[row], columns[column]): each for (row, column), each in letters.items()}
        title = f"{counted(len(rows), 'oligo')} by position"
        return Matrix([*rows], [*columns], values, at, "genomes that differ, %", title)
    found = f"{counted(int((~np.isnan(values)).sum()), 'pair')} of {values.size:,} amplify"
    title = f"{counted(len(rows), 'assay')}, {counted(len(columns), 'genome')}; {found}"
    if len(columns) > len(rows):
        rows, columns, values = columns, rows, values.T
    return Matrix([*rows], [*columns], values, None, "differences", title)


def draw_matrix(found: Matrix) -> Any:
    """A Figure of a Matrix: the more differences the darker, and white where cells are empty."""
    if not found.values.size:
        return nothing("no assays")
    rows, columns = found.values.shape
    figure = new_figure(max(ROW * rows, 1) + 2.2)
    axes = figure.subplots()
    most = np.nan_to_num(found.values).max()
    style = {"cmap": "viridis_r", "vmin": 0, "vmax": max(most, 1), "aspect": "auto"}
    image = axes.imshow(np.ma.masked_invalid(found.values), interpolation="nearest", **style)
    for (row, column), letter in (found.letters or {}).items():
        dark = found.values[row, column] > most / 4
        text = {"ha": "center", "va": "center", "fontsize": 5.5, "color": "w" if dark else GREY}
        axes.text(column, row, letter, **text)
    for names, set_ticks, space in (
        (found.rows, axes.set_yticks, ROW * rows),
        (found.columns, axes.set_xticks, _SPACE * WIDTH / 9),
    ):
        step = -(-len(names) // NAMED)
        size = min(7.0, 72 * space / len(names) * step * 0.95)
        set_ticks(range(0, len(names), step), map(label, names[::step]), fontsize=size)
    axes.tick_params(axis="x", rotation=0 if found.letters else 90)
    axes.tick_params(length=0)
    axes.set_xticks(np.arange(columns + 1) - 0.5, minor=True)
    axes.set_yticks(np.arange(rows + 1) - 0.5, minor=True)
    if max(rows, columns) <= NAMED:
        axes.grid(which="minor", color="0.88", linewidth=0.4)
    axes.tick_params(which="minor", length=0)
    bar = figure.colorbar(image, ax=axes, shrink=min(1, 3 / (ROW * rows + 1)), pad=0.01)
    bar.set_label(f"{found.what}; white: none", fontsize=8)
    bar.ax.tick_params(labelsize=7)
    if not found.letters:
        bar.ax.yaxis.get_major_locator().set_params(integer=True)
    figure.suptitle(found.title, fontsize=10, x=0.01, ha="left")
    return figure
