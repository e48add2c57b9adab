"""The pictures of primers and of guides: their properties along the target."""

from itertools import pairwise
from typing import Any

import numpy as np

from kmatch.arrays import Bools, Floats, Longs, bounds_of
from kmatch.pictures import MANY, WIDTH, Size, label, new_figure, page_size, position_axis, short
from kmatch.pictures.cells import MOST, Cells, draw_cells, most_of
from kmatch.pictures.scales import count_scale
from kmatch.pictures.tables import Places, Table, rank_of_guides
from kmatch.results.scores import SCORES

RECORDS = 12  # of the target that are drawn
FAR = 30  # sites, from which on their axis is logarithmic
FEW = 200  # points that are large; more are smaller
COLOURS = ("#0072B2", "#D55E00")  # of the strands + and -
_FIRST = 2.2  # inches of the first panel
_OTHER = 1.4  # and of each other one
_EDGES = 1.6
_LETTER = 0.075  # inches of a letter of a record's name


def draw_primers(table: Table, records: int | None = None) -> Any:
    """Return a Figure of primers; records: the number of records, with the most primers, that are
    drawn, None for RECORDS."""
    lengths = table.columns["end"] - table.columns["start"]
    panels = {
        "length, letters": lengths.astype(np.float64),
        "GC, %": 100 * table.get("gc"),
        "Tm, °C": table.get("tm"),
    }
    return _draw_panels(table, panels, records)


def draw_guides(table: Table, records: int | None = None) -> Any:
    """Return a Figure of guides, and below it the best ones with their sites by distance."""
    names = [name for name in table.columns if name[0] == "d" and name[1:].isdigit()]
    distances = sorted(names, key=lambda name: int(name[1:]))
    sites = np.transpose([table.columns[name] for name in distances])
    panels = {"specificity": table.get("specificity")}
    for score in SCORES:
        panels[f"specificity, {score.upper()}"] = table.get(f"specificity_{score}")
    panels["sites"] = sites.sum(1).astype(np.float64)
    panels["GC, %"] = 100 * table.get("gc")
    return _draw_panels(table, panels, records, _best_guides(table, distances, sites))


def _best_guides(table: Table, distances: list[str], sites: Longs) -> Cells:
    """Return the Cells of the best guides of a table: their sites by distance."""
    guides = table.columns["guide"]
    specificity = table.get("specificity")
    order = rank_of_guides(specificity, sites, table.get("gc"))[:MOST]
    rows = []
    for rank, row in enumerate(order.tolist(), 1):
        name = f"{rank}  {guides.words[guides.which[row]]}  {specificity[row]:.3f}"
        rows.append(name.removesuffix("  nan"))
    axis = "sites by distance; beside each guide its rank and specificity"
    if len(table) > MOST:
        axis += f"; the best {MOST}"
    counts = sites[order]
    shown = np.vectorize(short, otypes=[object])(counts)
    return Cells(rows, distances, np.where(counts > 0, counts, np.nan), axis, shown)


def _draw_panels(
    table: Table, panels: dict[str, Floats], records: int | None, cells: Cells | None = None
) -> Any:
    """Return a Figure of values along the target, a panel for each known one, and of Cells."""
    places = table.places(RECORDS if records is None else records)
    drawn = {name: values[places.rows] for name, values in panels.items()}
    drawn = {name: values for name, values in drawn.items() if not np.isnan(values).all()}
    # Panels stand one above the other, and cells below them.
    heights = [_FIRST] + [_OTHER] * (len(drawn) - 1)
    height = sum(heights) + _EDGES
    below = 0 if cells is None else cells.height + _EDGES
    size = page_size(height + below, table.size)
    figure = new_figure(size, table.title(places))
    upper = figure
    if cells is not None:
        upper, lower = figure.subfigures(2, height_ratios=(height, below))
        room = Size(size.width * 0.7, cells.height * size.height / (height + below))
        _draw_sites(lower.subplots(), cells, room)
    grid = upper.subplots(len(heights), squeeze=False, sharex=True, height_ratios=heights)
    _draw_values(grid[:, 0], places, drawn, table.kind.noun, from_zero=cells is not None)
    return figure


def _draw_sites(axes: Any, cells: Cells, room: Size) -> None:
    """Draw the sites of guides, and their scale; room: inches of the cells."""
    scale = count_scale(most_of([cells]), "site")
    draw_cells(axes, cells, scale, room)
    scale.draw_bar([axes])


def _draw_values(
    column: Any, places: Places, drawn: dict[str, Floats], noun: str, *, from_zero: bool
) -> None:
    """Draw values of rows by name, one panel below the other.

    noun: of a row; from_zero: whether axes begin at 0, but for shares of GC.
    """
    # Where each record begins on the axis, and where the last one ends.
    bounds = bounds_of(places.lengths)
    for axes, (name, values) in zip(column, drawn.items(), strict=True):
        _draw_panel(axes, places, bounds, name, values)
        if from_zero and name != "GC, %":
            axes.set_ylim(0)
        if name == "sites" and np.max(values) > FAR:
            _count_by_logarithm(axes, float(np.max(values)))
    _draw_axis(column, places, bounds, noun)
    if places.minus.any():
        larger = 1 if len(places.rows) < FEW else 2
        column[0].legend(
            loc="upper left", bbox_to_anchor=(1, 1), title="strand", markerscale=larger
        )


def _count_by_logarithm(axes: Any, most: float) -> None:
    """Have the y axis of axes count up to `most` by logarithm, from 0 on."""
    axes.set_yscale("symlog", linthresh=1)
    axes.set_ylim(0, 2 * most)
    axes.yaxis.set_major_formatter(lambda value, _: short(value))
    axes.set_ylabel(f"{axes.get_ylabel()}, by log.")


def _draw_panel(axes: Any, places: Places, bounds: Longs, name: str, values: Floats) -> None:
    """Draw the values of rows that are known, at their first letters; every other record is grey.

    bounds: where each record begins on the axis, and where the last one ends.
    """
    first_letters = np.where(places.minus, places.end - 1, places.start)
    first_letters %= places.lengths[places.record]  # on a circle the end may be over the origin
    _draw_points(axes, bounds[places.record] + first_letters, values, places.minus)
    axes.set_ylabel(name)
    axes.grid(axis="y", color="0.9", linewidth=0.6)
    for start, end in zip(bounds[1::2], bounds[2::2], strict=False):
        axes.axvspan(start, end, color="0.95", linewidth=0, zorder=0)
    is_whole = not name.startswith("specificity")
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
                clip_on=False,
                color=COLOURS[minus],
                label=strand,
            )


def _draw_axis(column: Any, places: Places, bounds: Longs, noun: str) -> None:
    """Draw positions below, and above the names of several records, as far as there is space."""
    names = places.names
    extent = int(bounds[-1])
    column[-1].set_xlim(0, extent)
    where = label(names[0], 40) if len(names) == 1 else "records one behind another"
    position_axis(column[-1], f"first letter of the {noun}, {where}{places.doubt}")
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
