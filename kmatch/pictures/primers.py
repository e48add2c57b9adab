"""The picture of primers: length, GC and Tm along the target."""

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
from kmatch.pictures.columns import Columns, Lines, lines_of

RECORDS = 12  # of the target that are drawn
BINS = 300  # along the axis; where primers are more, a bin shows the range of its values
FEW = 200  # points that are large enough to show their strand
COLOURS = ("#0072B2", "#D55E00")  # of the strands + and -
_PANELS = (2.2, 1.4, 1.4)  # inches
_EDGES = 1.6
_LETTER = 0.075  # inches of a letter of a record's name


class Series(NamedTuple):
    """Values along the axis: where (positions or bins' middles), least, most and a typical one."""

    at: Floats
    least: Floats
    most: Floats
    typical: Floats


def draw_primers(primers: Columns, records: int | None = None) -> Any:
    """A Figure of primers; records: how many of the target, those with the most primers.

    None is RECORDS.
    """
    if not len(primers.start):
        return nothing("no primers")
    lines = lines_of(primers, RECORDS if records is None else records)
    # Where each drawn record begins on the axis, and where the last one ends.
    begins = np.concatenate([[0], np.cumsum(primers.lengths[lines.shown])])
    drawn = lines.line < len(lines.shown)
    first = np.where(primers.minus, primers.end - 1, primers.start)
    at = begins[np.where(drawn, lines.line, 0)] + first
    panels = {
        "length, letters": (primers.end - primers.start).astype(np.float64),
        "GC, %": 100 * primers.gc,
        "Tm, °C": primers.tm,
    }
    known = {name: values for name, values in panels.items() if not np.isnan(values).all()}
    heights = _PANELS[: len(known)]
    figure = new_figure(sum(heights) + _EDGES)
    column = figure.subplots(len(known), sharex=True, squeeze=False, height_ratios=heights)[:, 0]
    for axes, (name, values) in zip(column, known.items(), strict=True):
        for minus in (False, True):
            chosen = drawn & (primers.minus == minus) & ~np.isnan(values)
            if chosen.any():
                _draw(axes, _series(at[chosen], values[chosen], int(begins[-1])), minus)
        _finish(axes, name, lines, begins)
    _draw_axis(column, primers, lines, begins)
    if primers.minus.any():
        column[0].legend(loc="upper left", bbox_to_anchor=(1, 1), frameon=False, title="strand")
    title = f"{counted(len(primers.start), 'primer')} in {counted(len(primers.names), 'record')}"
    if lines.others:
        title += f", of which the {len(lines.shown)} with the most primers are drawn"
    figure.suptitle(title, fontsize=11, x=0.01, ha="left")
    if len(primers.start) > 5 * BINS:
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
    axes.yaxis.get_major_locator().set_params(integer=True)
    axes.grid(axis="y", color="0.9", linewidth=0.6)
    axes.set_axisbelow(True)
    axes.spines[["right", "top"]].set_visible(False)
    for number in range(1, len(lines.shown), 2):
        axes.axvspan(begins[number], begins[number + 1], color="0.95", linewidth=0, zorder=0)


def _draw_axis(column: Any, primers: Columns, lines: Lines, begins: Longs) -> None:
    """Positions below, and above the names of several records, as far as there is space."""
    extent = int(begins[-1])
    column[-1].set_xlim(0, extent)
    names = [primers.names[number] for number in lines.shown.tolist()]
    if len(names) == 1:
        position_axis(column[-1], extent, f"first letter of the primer in {label(names[0], 40)}")
        return
    position_axis(column[-1], extent, "first letter of the primer, records one behind another")
    for name, begin, end in zip(names, begins[:-1].tolist(), begins[1:].tolist(), strict=True):
        fitting = int((end - begin) / extent * WIDTH * 0.85 / _LETTER)
        if fitting >= 4:
            middle = ((begin + end) / 2, 1.0)
            across = column[0].get_xaxis_transform()
            column[0].annotate(
                label(name, fitting), middle, xycoords=across, xytext=(0, 3),
                textcoords="offset points", ha="center", fontsize=8,
            )  # fmt: skip
