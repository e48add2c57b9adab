"""The pictures of primers and of guides: what they are like along the target."""

from itertools import pairwise
from typing import Any

import numpy as np

from kmatch.arrays import Bools, Floats, Longs, bounds_of
from kmatch.pictures import WIDTH, label, new_figure, position_axis
from kmatch.pictures.cells import MOST, Cells, draw_cells
from kmatch.pictures.tables import Places, Table
from kmatch.results.scores import SCORES

RECORDS = 12  # of the target that are drawn
FAR = 30  # sites, from which on their axis is logarithmic
FEW = 200  # points that are large; more are smaller, and
MANY = 10_000  # pixels in all formats
COLOURS = ("#0072B2", "#D55E00")  # of the strands + and -
_FIRST = 2.2  # inches of the first panel
_OTHER = 1.4  # and of each other one
_EDGES = 1.6
_LETTER = 0.075  # inches of a letter of a record's name


def draw_primers(table: Table, records: int | None = None) -> Any:
    """A Figure of primers; records: how many of the target, those with the most primers, None for
    RECORDS."""
    lengths = table.columns["end"] - table.columns["start"]
    panels = {
        "length, letters": lengths.astype(np.float64),
        "GC, %": 100 * table.get("gc"),
        "Tm, °C": table.get("tm"),
    }
    return _draw_panels(table, panels, records)


def draw_guides(table: Table, records: int | None = None) -> Any:
    """A Figure of guides, and below it the first ones of the table with their sites by distance."""
    names = [name for name in table.columns if name[0] == "d" and name[1:].isdigit()]
    distances = sorted(names, key=lambda name: int(name[1:]))
    sites = np.transpose([table.columns[name] for name in distances])
    panels = {"specificity": table.get("specificity")}
    for score in SCORES:
        panels[f"specificity, {score.upper()}"] = table.get(f"specificity_{score}")
    panels["sites"] = sites.sum(1).astype(np.float64)
    panels["GC, %"] = 100 * table.get("gc")
    return _draw_panels(table, panels, records, _first_guides(table, distances, sites))


def _first_guides(table: Table, distances: list[str], sites: Longs) -> Cells:
    """Return the Cells of the first guides of a table: their sites by distance."""
    guides = table.columns["guide"]
    specificity = table.get("specificity")
    rows = []
    for guide, value in zip(guides.which[:MOST].tolist(), specificity.tolist(), strict=False):
        name = f"{guides.words[guide]}  {value:.3f}"
        rows.append(name.removesuffix("  nan"))
    axis = "sites by distance; beside each guide its specificity"
    if len(table) > MOST:
        axis += f"; the first {MOST} of the table"
    values = np.ma.masked_equal(sites[:MOST], 0)
    return Cells(rows, distances, values, "sites", axis, counts=True)


def _draw_panels(
    table: Table, panels: dict[str, Floats], records: int | None, cells: Cells | None = None
) -> Any:
    """A Figure of values along the target, a panel each, those that are known, and of Cells."""
    places = table.places(RECORDS if records is None else records)
    drawn = {name: values[places.rows] for name, values in panels.items()}
    drawn = {name: values for name, values in drawn.items() if not np.isnan(values).all()}
    # Panels stand one above the other, and cells below them.
    heights = [_FIRST] + [_OTHER] * (len(drawn) - 1)
    height = sum(heights) + _EDGES
    below = 0 if cells is None else cells.height + _EDGES
    figure = new_figure(height + below, table.title(places))
    upper = figure
    if cells is not None:
        upper, lower = figure.subfigures(2, height_ratios=(height, below))
        draw_cells(lower.subplots(), cells)
    grid = upper.subplots(len(heights), squeeze=False, sharex=True, height_ratios=heights)
    column = grid[:, 0]
    # Where each record begins on the axis, and where the last one ends.
    bounds = bounds_of(places.lengths)
    for axes, (name, values) in zip(column, drawn.items(), strict=True):
        _draw_panel(axes, places, bounds, name, values)
        if cells is not None and name != "GC, %":
            axes.set_ylim(0)
        if name == "sites" and np.max(values) > FAR:
            axes.set_yscale("symlog", linthresh=1)
    _draw_axis(column, places.names, bounds, table.kind.noun)
    if places.minus.any():
        column[0].legend(loc="upper left", bbox_to_anchor=(1, 1), title="strand")
    return figure


def _draw_panel(axes: Any, places: Places, bounds: Longs, name: str, values: Floats) -> None:
    """Draw the values of rows that are known, at their first letters; every other record is grey.

    bounds: where each record begins on the axis, and where the last one ends.
    """
    first_letters = np.where(places.minus, places.end - 1, places.start)
    _draw_points(axes, bounds[places.record] + first_letters, values, places.minus)
    axes.set_ylabel(name)
    axes.grid(axis="y", color="0.9", linewidth=0.6)
    for start, end in zip(bounds[1::2], bounds[2::2], strict=False):
        axes.axvspan(start, end, color="0.95", linewidth=0, zorder=0)
    is_whole = bool(np.nanmax(values) > 2)
    axes.yaxis.get_major_locator().set_params(integer=is_whole)


def _draw_points(axes: Any, positions: Longs, values: Floats, is_minus: Bools) -> None:
    """Draw the values that are known at their positions, by strand."""
    for minus, strand, marker in ((False, "+", "^"), (True, "−", "v")):
        chosen = (is_minus == minus) & ~np.isnan(values)
        if chosen.any():
            axes.plot(
                positions[chosen] + 0.5,
                values[chosen],
                rasterized=len(positions) > MANY,
                marker=marker,
                markersize=4 if len(positions) < FEW else 2,
                markeredgewidth=0,
                linestyle="",
                color=COLOURS[minus],
                label=strand,
            )


def _draw_axis(column: Any, names: list[str], bounds: Longs, noun: str) -> None:
    """Positions below, and above the names of several records, as far as there is space."""
    extent = int(bounds[-1])
    column[-1].set_xlim(0, extent)
    where = label(names[0], 40) if len(names) == 1 else "records one behind another"
    position_axis(column[-1], f"first letter of the {noun}, {where}")
    if len(names) == 1:
        return
    for name, (start, end) in zip(names, pairwise(bounds.tolist()), strict=True):
        fitting = int((end - start) / extent * WIDTH * 0.85 / _LETTER)
        if fitting >= 4:
            column[0].annotate(
                label(name, fitting),
                ((start + end) / 2, 1.0),
                xycoords=column[0].get_xaxis_transform(),
                xytext=(0, 3),
                textcoords="offset points",
                ha="center",
            )
