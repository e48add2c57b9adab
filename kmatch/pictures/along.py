"""The pictures of primers and of guides: what they are like along the target."""

from typing import Any

import numpy as np

from kmatch.arrays import Floats, Longs
from kmatch.pictures import WIDTH, label, new_figure, position_axis
from kmatch.pictures.cells import MOST, Cells, draw_cells
from kmatch.pictures.tables import Table
from kmatch.results.scores import SCORES

RECORDS = 12  # of the target that are drawn
FAR = 30  # sites, from which on their axis is logarithmic
FEW = 200  # points that are large; more are smaller, and
MANY = 10_000  # pixels in all formats
COLOURS = ("#0072B2", "#D55E00")  # of the strands + and -
_FIRST, _OTHER = 2.2, 1.4  # inches of a panel
_EDGES = 1.6
_LETTER = 0.075  # inches of a letter of a record's name


def draw_primers(table: Table, records: int | None = None) -> Any:
    """A Figure of primers; records: how many of the target, those with the most primers, None for
    RECORDS."""
    panels = {
        "length, letters": (table.columns["end"] - table.columns["start"]).astype(np.float64),
        "GC, %": 100 * table.get("gc"),
        "Tm, °C": table.get("tm"),
    }
    return _draw_panels(table, panels, records)


def draw_guides(table: Table, records: int | None = None) -> Any:
    """A Figure of guides, and below it the first ones of the table with their sites by distance."""
    names = [name for name in table.columns if name[0] == "d" and name[1:].isdigit()]
    distances = sorted(names, key=lambda name: int(name[1:]))
    sites = np.transpose([table.columns[name] for name in distances])
    specificity, guides = table.get("specificity"), table.columns["guide"]
    panels = {
        "specificity": specificity,
        **{f"specificity, {name.upper()}": table.get(f"specificity_{name}") for name in SCORES},
        "sites": sites.sum(1).astype(np.float64),
        "GC, %": 100 * table.get("gc"),
    }
    first = zip(guides.which[:MOST].tolist(), specificity[:MOST].tolist(), strict=True)
    rows = [f"{guides.words[guide]}  {value:.3f}".removesuffix("  nan") for guide, value in first]
    axis = "sites by distance; beside each guide its specificity"
    if len(table) > MOST:
        axis += f"; the first {MOST} of the table"
    cells = Cells(rows, distances, np.ma.masked_equal(sites[:MOST], 0), "sites", axis, counts=True)
    return _draw_panels(table, panels, records, cells)


def _draw_panels(
    table: Table, panels: dict[str, Floats], records: int | None, cells: Cells | None = None
) -> Any:
    """A Figure of values along the target, a panel each, those that are known, and of Cells."""
    places = table.places(RECORDS if records is None else records)
    # Where each record begins on the axis, and where the last one ends.
    begins = np.concatenate([[0], np.cumsum(places.lengths)])
    at = begins[places.record] + np.where(places.minus, places.end - 1, places.start)
    known = {name: values[places.rows] for name, values in panels.items()}
    known = {name: values for name, values in known.items() if not np.isnan(values).all()}
    heights = [_FIRST, *(_OTHER for _ in range(len(known) - 1))]
    height, below = sum(heights) + _EDGES, cells.height + _EDGES if cells else 0
    upper = figure = new_figure(height + below, table.title(places))
    if cells is not None:
        upper, lower = figure.subfigures(2, height_ratios=(height, below))
        draw_cells(lower.subplots(), cells)
    column = upper.subplots(len(heights), squeeze=False, sharex=True, height_ratios=heights)[:, 0]
    for axes, (name, values) in zip(column, known.items(), strict=True):
        for minus in (False, True):
            chosen = (places.minus == minus) & ~np.isnan(values)
            if chosen.any():
                size = 4 if len(at) < FEW else 2
                style = {"marker": "^v"[minus], "markersize": size, "markeredgewidth": 0}
                style |= {"linestyle": "", "color": COLOURS[minus], "label": "+−"[minus]}
                many = len(at) > MANY
                axes.plot(at[chosen] + 0.5, values[chosen], rasterized=many, **style)
        axes.set_ylabel(name)
        axes.grid(axis="y", color="0.9", linewidth=0.6)
        for begin, end in zip(begins[1::2], begins[2::2], strict=False):
            axes.axvspan(begin, end, color="0.95", linewidth=0, zorder=0)
        axes.yaxis.get_major_locator().set_params(integer=bool(np.nanmax(values) > 2))
        if cells is not None and name != "GC, %":
            axes.set_ylim(0)
        if name == "sites" and np.max(values) > FAR:
            axes.set_yscale("symlog", linthresh=1)
    _draw_axis(column, places.names, begins, table.kind.noun)
    if places.minus.any():
        column[0].legend(loc="upper left", bbox_to_anchor=(1, 1), title="strand")
    return figure


def _draw_axis(column: Any, names: list[str], begins: Longs, noun: str) -> None:
    """Positions below, and above the names of several records, as far as there is space."""
    extent = int(begins[-1])
    column[-1].set_xlim(0, extent)
    where = label(names[0], 40) if len(names) == 1 else "records one behind another"
    position_axis(column[-1], f"first letter of the {noun}, {where}")
    for name, begin, end in zip(names, begins[:-1].tolist(), begins[1:].tolist(), strict=True):
        fitting = int((end - begin) / extent * WIDTH * 0.85 / _LETTER)
        if fitting >= 4 and len(names) > 1:
            across = column[0].get_xaxis_transform()
            column[0].annotate(
                label(name, fitting), ((begin + end) / 2, 1.0), xycoords=across, xytext=(0, 3),
                textcoords="offset points", ha="center",
            )  # fmt: skip
