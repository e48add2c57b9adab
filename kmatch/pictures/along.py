"""The pictures of primers and of guides: what they are like along the target."""

from math import isnan
from typing import Any, NamedTuple

import numpy as np

from kmatch.arrays import Floats, Longs
from kmatch.pictures import (
    GREY,
    WIDTH,
    counted,
    label,
    letters,
    new_figure,
    nothing,
    position_axis,
)
from kmatch.pictures.counts import MOST, ROW, Counts, draw_counts
from kmatch.pictures.tables import Lines, Places, Table, lines_of, places_of

RECORDS = 12  # of the target that are drawn
BINS = 300  # along the axis; where primers are more, a bin shows the range of its values
FAR = 30  # sites, from which on their axis is logarithmic
FEW = 200  # points that are large enough to show their strand
COLOURS = ("#0072B2", "#D55E00")  # of the strands + and -
_FIRST, _OTHER = 2.2, 1.4  # inches of a panel
_EDGES = 1.6
_LETTER = 0.075  # inches of a letter of a record's name


class Series(NamedTuple):
    """Values along the axis: where (positions or bins' middles), least, most and a typical one."""

    at: Floats
    least: Floats
    most: Floats
    typical: Floats


def draw_primers(table: Table, records: int | None = None) -> Any:
    """A Figure of primers; records: how many of the target, those with the most primers, None for
    RECORDS."""
    if not len(table):
        return nothing("no primers")
    panels = {
        "length, letters": (table.columns["end"] - table.columns["start"]).astype(np.float64),
        "GC, %": 100 * table.get("gc"),
        "Tm, °C": table.get("tm"),
    }
    return _draw_panels(table, panels, records)


def draw_guides(table: Table, records: int | None = None) -> Any:
    """A Figure of guides, and below it the first ones of the table with their sites by distance."""
    if not len(table):
        return nothing("no guides")
    distances = sorted(
        (name for name in table.columns if name[0] == "d" and name[1:].isdigit()),
        key=lambda name: int(name[1:]),
    )
    sites = np.transpose([table.columns[name] for name in distances])
    panels = {
        "specificity": table.get("specificity"),
        "specificity, MIT": table.get("specificity_mit"),
        "sites": sites.sum(1).astype(np.float64),
        "GC, %": 100 * table.get("gc"),
    }
    guides = table.columns["guide"]
    names = [guides.words[number] for number in guides.which[:MOST].tolist()]
    shown = zip(names, table.get("specificity")[:MOST].tolist(), strict=True)
    words = [name if isnan(value) else f"{name}  {value:.3f}" for name, value in shown]
    axis = "sites by distance; beside each guide its specificity"
    if len(table) > MOST:
        axis += f"; the first {MOST} of the table"
    return _draw_panels(table, panels, records, Counts(words, distances, sites[:MOST], axis))


def _draw_panels(
    table: Table, panels: dict[str, Floats], records: int | None, counts: Counts | None = None
) -> Any:
    """A Figure of values along the target, a panel each, those that are known, and of Counts."""
    noun, places = table.kind.noun, places_of(table)
    lines = lines_of(places, RECORDS if records is None else records)
    # Where each drawn record begins on the axis, and where the last one ends.
    begins = np.concatenate([[0], np.cumsum(places.lengths[lines.shown])])
    drawn = lines.line < len(lines.shown)
    first = np.where(places.minus, places.end - 1, places.start)
    at = begins[np.where(drawn, lines.line, 0)] + first
    known = {name: values for name, values in panels.items() if not np.isnan(values).all()}
    heights = [_FIRST, *(_OTHER for _ in range(len(known) - 1))]
    if counts is not None:
        heights.append(ROW * len(counts.names) + _EDGES / 2)
    figure = new_figure(sum(heights) + _EDGES)
    column = figure.subplots(len(heights), squeeze=False, height_ratios=heights)[:, 0]
    if counts is not None:
        draw_counts(column[-1], counts)
        column = column[:-1]
    for axes, (name, values) in zip(column, known.items(), strict=True):
        for minus in (False, True):
            chosen = drawn & (places.minus == minus) & ~np.isnan(values)
            if chosen.any():
                _draw(axes, _series(at[chosen], values[chosen], int(begins[-1])), minus)
        _finish(axes, name, lines, begins)
        axes.yaxis.get_major_locator().set_params(integer=bool(np.nanmax(values) > 2))
        if counts is not None and name != "GC, %":
            axes.set_ylim(0)
        if name == "sites" and np.max(values) > FAR:
            axes.set_yscale("symlog", linthresh=1)
    for axes in column[:-1]:
        axes.sharex(column[-1])
        axes.tick_params(labelbottom=False)
    _draw_axis(column, places, lines, begins, noun)
    if places.minus.any():
        column[0].legend(loc="upper left", bbox_to_anchor=(1, 1), frameon=False, title="strand")
    title = f"{counted(len(table), noun)} in {counted(len(places.names), 'record')}"
    if lines.others:
        title += f", of which the {len(lines.shown)} with the most {noun}s are drawn"
    figure.suptitle(title, fontsize=11, x=0.01, ha="left")
    if len(table) > 5 * BINS:
        note = f"a point is the median of {letters(int(begins[-1]) / BINS)}, a bar their range"
        column[0].set_title(note, loc="right", fontsize=8, color=GREY)
    return figure


def _series(at: Longs, values: Floats, extent: int) -> Series:
    """Values by position, or those of bins where the positions are many."""
    if len(at) <= 5 * BINS:
        return Series(at.astype(np.float64) + 0.5, values, values, values)
    width = extent / BINS
    column = np.minimum((at / width).astype(np.int64), BINS - 1)
    order = np.lexsort((values, column))
    column, values = column[order], values[order]
    bins, first = np.unique(column, return_index=True)
    last = np.append(first[1:], len(column)) - 1
    middle = values[(first + last) // 2]
    return Series((bins + 0.5) * width, values[first], values[last], middle)


def _draw(axes: Any, series: Series, minus: bool) -> None:
    """Draw bars from least to most where they differ, and points for the typical values."""
    colour, few = COLOURS[minus], len(series.at) < FEW
    if (series.least < series.most).any():
        axes.vlines(series.at, series.least, series.most, color=colour, alpha=0.3, linewidth=1.8)
    style = {"marker": "^v"[minus] if few else ".", "markersize": 4 if few else 3, "color": colour}
    name = "−" if minus else "+"
    axes.plot(series.at, series.typical, linestyle="", markeredgewidth=0, label=name, **style)


def _finish(axes: Any, name: str, lines: Lines, begins: Longs) -> None:
    axes.set_ylabel(name, fontsize=9)
    axes.tick_params(axis="y", labelsize=8)
    axes.grid(axis="y", color="0.9", linewidth=0.6)
    axes.set_axisbelow(True)
    axes.spines[["right", "top"]].set_visible(False)
    for number in range(1, len(lines.shown), 2):
        axes.axvspan(begins[number], begins[number + 1], color="0.95", linewidth=0, zorder=0)


def _draw_axis(column: Any, places: Places, lines: Lines, begins: Longs, noun: str) -> None:
    """Positions below, and above the names of several records, as far as there is space."""
    extent = int(begins[-1])
    column[-1].set_xlim(0, extent)
    names = [places.names[number] for number in lines.shown.tolist()]
    if len(names) == 1:
        position_axis(column[-1], extent, f"first letter of the {noun} in {label(names[0], 40)}")
        return
    position_axis(column[-1], extent, f"first letter of the {noun}, records one behind another")
    for name, begin, end in zip(names, begins[:-1].tolist(), begins[1:].tolist(), strict=True):
        fitting = int((end - begin) / extent * WIDTH * 0.85 / _LETTER)
        if fitting >= 4:
            middle = ((begin + end) / 2, 1.0)
            across = column[0].get_xaxis_transform()
            column[0].annotate(
                label(name, fitting), middle, xycoords=across, xytext=(0, 3),
                textcoords="offset points", ha="center", fontsize=8,
            )  # fmt: skip
