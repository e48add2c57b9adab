"""The picture of hits or products: along their records, and by distance and pattern or pair."""

from typing import Any, NamedTuple

import numpy as np

from kmatch.arrays import Bools, Floats, Ints, Longs
from kmatch.pictures import (
    GREY,
    counted,
    label,
    letters,
    new_figure,
    nothing,
    position_axis,
    short_count,
)
from kmatch.pictures.columns import Columns, Lines, lines_of

OF = {"hit": "pattern", "product": "pair"}  # what they are counted by
RECORDS = 24  # that have a line of their own
_LINE, _ROW, _BARS = 0.36, 0.19, 2.1  # inches of a record, of a pattern in a table, of bars
_TALLEST, _SPREAD = 0.9, 2.4  # inches of a record where there are few, and of all of them
_EDGES = 1.1  # inches around a panel: titles and axes

CLASSES = 8  # of distances, which eyes and colours tell apart
_DARK, _LIGHT = 0.0, 0.88  # of Matplotlib's viridis: closest hits darkest, none too pale to print
SINGLE = 300  # hits of a line that are drawn each by itself; more are counted in bins
BINS = 400  # along the longest record
HALF, GAP = 0.43, 0.03  # from a record's line to the hits' far and near edges; lines are 1 apart
MARGIN = 1 / 200  # of the axis, beside the first and the last position
LEAST = 1 / 400  # of the axis: a hit's width at the least
PALEST = 0.4  # opacity of a bin with one hit
SEEN_THROUGH = 0.5  # opacity of a product: those of neighbouring pairs overlap

FEW = 6  # patterns that have bars
MOST = 30  # patterns that have a row of the table
FAR = 30  # times as many hits, from which on bars have a logarithmic axis
# Okabe and Ito's colours without yellow, which is lost on paper, ordered by contrast.
COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00")
HATCHES = ("", "//", "..", "\\\\", "xx", "--")
_LEGEND = {
    "loc": "lower left", "bbox_to_anchor": (0, 1.0), "frameon": False, "fontsize": 8,
    "title_fontsize": 8, "borderaxespad": 0.2, "alignment": "left",
}  # fmt: skip


class Classes(NamedTuple):
    """Ranges of distances, each distance by itself where they are few: the first of each, int64,
    and the last of all."""

    first: Longs
    last: int

    @property
    def size(self) -> int:
        return len(self.first)

    def of(self, distance: Ints | Longs) -> Longs:
        """The number of the class of each distance."""
        return np.searchsorted(self.first, distance, side="right") - 1

    def names(self) -> list[str]:
        lasts = [*(self.first[1:] - 1).tolist(), self.last]
        pairs = zip(self.first.tolist(), lasts, strict=True)
        return [str(a) if a == b else f"{a}–{b}" for a, b in pairs]

    def colours(self) -> Any:
        """A colour a class, RGBA, float[n, 4]."""
        from matplotlib import colormaps

        return colormaps["viridis"](np.linspace(_DARK, _LIGHT, self.size))


def classes_of(distance: Ints | Longs) -> Classes:
    """Classes for all distances from the smallest, or 0 where that is near, to the largest."""
    least, last = int(distance.min()), int(distance.max())
    least = 0 if last < CLASSES else least
    return Classes(np.arange(least, last + 1, -(-(last + 1 - least) // CLASSES)), last)


def draw_hits(hits: Columns, records: int | None = None) -> Any:
    """A Figure of hits; records: how many, those with the most hits, have a line of their own.

    None is RECORDS.
    """
    if not len(hits.start):
        return nothing(f"no {hits.noun}s")
    classes = classes_of(hits.distance)
    lines = lines_of(hits, RECORDS if records is None else records)
    names, counts = _counts(hits, classes)
    line = min(_TALLEST, max(_LINE, _SPREAD / lines.size))
    table = _ROW * len(names) if len(names) > FEW else _BARS
    heights = [line * lines.size + _EDGES, table + _EDGES]
    figure = new_figure(sum(heights))
    above, below = figure.subplots(2, height_ratios=heights)
    figure.get_layout_engine().set(h_pad=0.08, hspace=0.02)
    _draw_along(above, hits, classes, lines)
    _draw_legend(above, classes)
    (_draw_table if len(names) > FEW else _draw_bars)(below, names, counts, hits.noun)
    below.set_xticks(range(classes.size), classes.names(), fontsize=8)
    below.set_xlabel("distance", fontsize=9)
    found = counted(len(hits.start), hits.noun), counted(len(hits.patterns), OF[hits.noun])
    title = f"{' of '.join(found)} in {counted(len(hits.names), 'record')}"
    figure.suptitle(title, fontsize=11, x=0.01, ha="left")
    return figure


def _draw_legend(axes: Any, classes: Classes) -> None:
    from matplotlib.patches import Patch

    pairs = zip(classes.names(), classes.colours(), strict=True)
    handles = [Patch(color=colour, label=name) for name, colour in pairs]
    title = "distance (the taller, the closer; + above the line, − below)"
    spaces = {"ncols": classes.size, "handlelength": 1, "columnspacing": 1.2}
    axes.legend(handles=handles, title=title, **spaces, **_LEGEND)


class Marks(NamedTuple):
    """Hits, or bins of them, as they are drawn: line, first and last offset on it, class of
    distance, strand."""

    line: Longs
    start: Any  # float[n], as `end` is
    end: Any
    group: Longs
    minus: Bools

    def chosen(self, which: Any) -> "Marks":
        return Marks._make(column[which] for column in self)


def _draw_along(axes: Any, hits: Columns, classes: Classes, lines: Lines) -> None:
    """Draw a line a record, the hits on + above it and those on - below, the taller the closer."""
    extent = max(1, int(hits.lengths[lines.shown].max(initial=0)))
    scale = np.where(lines.line == len(lines.shown), extent / max(lines.letters, 1), 1.0)
    start, end = (scale * (lines.offset + at) for at in (hits.start, hits.end))
    marks = Marks(lines.line, start, end, classes.of(hits.distance), hits.minus)
    lengths = hits.lengths[lines.shown].tolist() + [extent] * (lines.others > 0)
    for line, length in enumerate(lengths):
        axes.plot([0, length], [line, line], color="0.6", linewidth=1.2, solid_capstyle="butt")
        axes.barh(line, length, height=2 * HALF, color="0.955", zorder=0)
    many = (np.bincount(marks.line, minlength=lines.size) > SINGLE)[marks.line]
    _draw_single(axes, marks.chosen(~many), classes, extent, hits.noun == "product")
    if many.any():
        _draw_bins(axes, marks.chosen(many), classes, extent)
    axes.set_xlim(-MARGIN * extent, (1 + MARGIN) * extent)
    axes.set_ylim(lines.size - 0.5, -0.5)
    position_axis(axes, extent, "position in the record")
    names = [label(hits.names[number]) for number in lines.shown.tolist()]
    if lines.others:
        others = f"{lines.others:,} others, one behind\nanother: {letters(lines.letters)}"
        names.append(f"{others}, own scale")
    axes.set_yticks(range(lines.size), names, fontsize=8)
    axes.tick_params(axis="y", length=0)
    if lines.others:
        axes.get_yticklabels()[-1].set_fontsize(7)
    axes.spines[["left", "right", "top"]].set_visible(False)
    _draw_counts(axes, marks, lines.size)


def _draw_single(axes: Any, marks: Marks, classes: Classes, extent: int, overlapping: bool) -> None:
    """Draw a rectangle a hit, as wide as it is or as can be seen."""
    middle = (marks.start + marks.end) / 2
    half = np.maximum(marks.end - marks.start, LEAST * extent) / 2
    marks = marks._replace(start=middle - half, end=middle + half)
    for group, colour in enumerate(classes.colours()):  # the shorter, farther ones in front
        chosen = marks.chosen(marks.group == group)
        options = {"alpha": SEEN_THROUGH if overlapping else None, "gid": f"hits-{group}"}
        near = np.full(len(chosen.line), GAP)
        _draw_rectangles(axes, chosen, near, _edges(classes)[chosen.group], [colour], **options)


def _draw_bins(axes: Any, marks: Marks, classes: Classes, extent: int) -> None:
    """Draw counts of hits, the more the darker, with a lane for each class of distances.

    Opacity is logarithmic, up to the most of its class in any bin, which is not pale, however few
    they are.
    """
    width = extent / BINS
    column = np.minimum(((marks.start + marks.end) / 2 / width).astype(np.int64), BINS - 1)
    shape = (int(marks.line.max()) + 1, 2, classes.size, BINS)
    at = (marks.line, marks.minus.astype(np.int64), marks.group, column)
    cells, counts = np.unique(np.ravel_multi_index(at, shape), return_counts=True)
    line, minus, group, column = np.unravel_index(cells, shape)
    most = np.ones(classes.size, np.int64)
    np.maximum.at(most, group, counts)
    colours = classes.colours()[group]
    colours[:, 3] = PALEST + (1 - PALEST) * np.log2(1 + counts) / np.log2(1 + most[group])
    bins = Marks(line, column * width, (column + 1) * width, group, minus == 1)
    edges = np.append(_edges(classes), GAP)
    pixels = {"antialiaseds": False, "rasterized": True, "gid": "bins"}
    _draw_rectangles(axes, bins, edges[group + 1], edges[group], colours, **pixels)
    title = f"a column is {letters(width)}; the paler, the fewer hits of a distance"
    axes.set_title(title, loc="right", fontsize=8, color=GREY)


def _edges(classes: Classes) -> Floats:
    """How far from a record's line the lane of each class ends, the closest hits' farthest."""
    return np.linspace(HALF, GAP, classes.size + 1)[:-1]


def _draw_rectangles(
    axes: Any, marks: Marks, near: Floats, far: Floats, colours: Any, **options: Any
) -> None:
    """Draw Marks as rectangles from `near` to `far` of their lines, on the side of the strand."""
    from matplotlib.collections import PolyCollection

    side = np.where(marks.minus, 1, -1)  # the axis points downwards
    low, high = marks.line + side * near, marks.line + side * far
    left, right = marks.start, marks.end
    corners = np.array([(left, low), (right, low), (right, high), (left, high)])
    shapes = corners.transpose(2, 0, 1)  # (rectangles, corners, 2)
    axes.add_collection(
        PolyCollection(shapes, facecolors=colours, linewidths=0, zorder=3, **options)
    )


def _draw_counts(axes: Any, marks: Marks, lines: int) -> None:
    """Write how many hits each strand of each line has, at the right."""
    place = {"xycoords": axes.get_yaxis_transform(), "textcoords": "offset points"}
    style = {"va": "center", "fontsize": 7, "color": GREY, "annotation_clip": False}
    for minus, sign, side in ((False, "+", -1), (True, "−", 1)):
        counts = np.bincount(marks.line[marks.minus == minus], minlength=lines)
        for line, count in enumerate(counts.tolist()):
            at = (1.0, line + side * 0.22)
            axes.annotate(f"{sign} {count:,}", at, xytext=(4, 0), **place, **style)


def _counts(hits: Columns, classes: Classes) -> tuple[list[str], Longs]:
    """The names of patterns and their hits by class of distance, int64[patterns, classes].

    The patterns with the most hits stand by themselves, the others together.
    """
    shape = (len(hits.patterns), classes.size)
    at = hits.pattern.astype(np.int64) * classes.size + classes.of(hits.distance)
    counts = np.bincount(at, minlength=shape[0] * shape[1]).reshape(shape)
    names = [label(name) for name in hits.patterns]
    if len(names) <= MOST:
        return names, counts
    order = np.argsort(-counts.sum(axis=1), kind="stable")
    chosen, rest = np.sort(order[:MOST]), order[MOST:]
    names = [*(names[number] for number in chosen.tolist()), f"{counted(len(rest), 'other')}"]
    return names, np.vstack([counts[chosen], counts[rest].sum(axis=0)])


def _draw_bars(axes: Any, names: list[str], counts: Longs, noun: str) -> None:
    patterns, classes = counts.shape
    width = 0.8 / patterns
    for number, (name, found) in enumerate(zip(names, counts, strict=True)):
        at = np.arange(classes) + (number - (patterns - 1) / 2) * width
        style = {"color": COLOURS[number], "hatch": HATCHES[number], "edgecolor": "white"}
        bars = axes.bar(at, found, width * 0.94, label=name, linewidth=0, **style)
        texts = [f"{count:,}" if patterns == 1 else short_count(count) for count in found.tolist()]
        if patterns * classes <= 40:
            axes.bar_label(bars, [x if x != "0" else "" for x in texts], fontsize=7, padding=1)
    some = counts[counts > 0]
    if some.max() > FAR * some.min():
        axes.set_yscale("log")
        axes.set_ylim(0.5, 3 * some.max())
    else:
        axes.set_ylim(0, 1.12 * some.max())
        axes.yaxis.get_major_locator().set_params(integer=True)
    axes.yaxis.set_major_formatter(lambda value, _: f"{value:,.0f}" if value % 1 == 0 else "")
    axes.set_ylabel(f"{noun}s", fontsize=9)
    axes.tick_params(axis="y", labelsize=8)
    axes.set_xlim(-0.6, classes - 0.4)
    axes.spines[["right", "top"]].set_visible(False)
    axes.legend(title=OF[noun], ncols=3, **_LEGEND)


def _draw_table(axes: Any, names: list[str], counts: Longs, noun: str) -> None:
    from matplotlib.colors import LogNorm

    own = np.where(np.arange(len(names))[:, None] < MOST, counts, 0)
    coloured, scale = np.ma.masked_equal(own, 0), LogNorm(0.5, max(int(own.max()), 2))
    axes.imshow(coloured, aspect="auto", cmap="Blues", norm=scale, interpolation="nearest")
    for (row, column), count in np.ndenumerate(counts):
        dark = own[row, column] > 0 and scale(own[row, column]) > 0.6
        colour = "white" if dark else "0.15" if count else "0.7"
        style = {"ha": "center", "va": "center", "fontsize": 7, "color": colour}
        axes.text(column, row, short_count(int(count)), **style)
    axes.set_yticks(range(len(names)), names, fontsize=8)
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
