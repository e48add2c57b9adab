"""Rows of figures as a picture."""

from collections.abc import Sequence

from kmatch.bench.rows import Row
from kmatch.errors import OutputError
from kmatch.pictures.figure import load_figure


def draw(tables: Sequence[Sequence[Row]], path: str) -> None:
    """Draw bars of bp·pattern/s, a panel for each list of Rows; the suffix says the file's format.

    Raises OutputError where Matplotlib is missing or the file cannot be written.
    """
    height = sum(len(rows) for rows in tables)
    figure = load_figure("--plot")(figsize=(9, 1 + 0.8 * len(tables) + 0.25 * height))
    panels = figure.subplots(
        len(tables), squeeze=False, height_ratios=[len(rows) + 2 for rows in tables]
    )
    for rows, (panel,) in zip(tables, panels, strict=True):
        names = [f"{row.algorithm}, {row.device}" for row in rows]
        colours = ["tab:green" if not row.paper else "tab:blue" for row in rows]
        panel.barh(range(len(rows)), [row.rate for row in rows], color=colours)
        panel.set_yticks(range(len(rows)), names)
        panel.invert_yaxis()
        panel.set_xscale("log")
        first = rows[0]
        panel.set_title(f"{first.command}: m = {first.m}, k = {first.k}, {first.patterns} patterns")
        panel.set_xlabel("bp·pattern/s: letters of text × patterns ÷ kernel time")
    figure.tight_layout()
    try:
        figure.savefig(path)
    except (OSError, ValueError) as error:
        raise OutputError(f"{path}: cannot be drawn: {error}") from error
