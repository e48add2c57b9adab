"""The picture of hits or products: along their records, and by distance and pattern or pair."""

import re
from typing import Any, NamedTuple

import numpy as np

from kmatch.arrays import Bools, Floats, Ints, Longs
from kmatch.pictures import GREY, counted, label, letters, new_figure, nothing, position_axis
from kmatch.pictures.counts import ROW, Counts, counts_of, draw_counts
from kmatch.pictures.tables import Lines, Places, Table, Words, lines_of, places_of

OF = {"hit": "pattern", "product": "pair"}  # what they are counted by
RECORDS = 24  # that have a line of their own
_LINE = 0.36  # inches of a record
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
UNLIKE = 2  # times as long: products are drawn on scales of their own
SEEN_THROUGH = 0.5  # opacity of a product: those of neighbouring pairs overlap
_LEGEND = {
    "loc": "lower left", "bbox_to_anchor": (0, 1.0), "frameon": False, "fontsize": 8,
    "title_fontsize": 8, "borderaxespad": 0.2, "alignment": "left",
}  # fmt: skip
SCORES = {"cfd": 1, "mit": 100}  # by which hits are counted, and the greatest of each
SHARES = (0.01, 0.05, 0.1, 0.2, 0.5, 1)  # of it, by which classes of scores part
_KINDS = re.compile(r"(\d+)([XID])")  # of differences in a CIGAR


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


def draw_hits(table: Table, records: int | None = None) -> Any:
    """A Figure of hits or products: along their records, and counted.

    records: how many, those with the most hits, have a line of their own, None for RECORDS. Hits
    are counted by pattern and distance, beside that by score and below by mismatches and bulges,
    where there are such.
    """
    noun, places = table.kind.noun, places_of(table)
    if not len(table):
        return nothing(f"no {noun}s")
    patterns = table.columns[table.kind.chosen_by]
    distance = sum(table.columns[name] for name in table.kind.needed if "distance" in name)
    classes = classes_of(distance)
    lines = lines_of(places, RECORDS if records is None else records)
    below = [counts_of(patterns, classes.of(distance), classes.names(), "distance")]
    below += [_by_score(patterns, table.columns[x], x) for x in SCORES if x in table.columns][:1]
    bulges = _by_bulges(table.columns["cigar"]) if "cigar" in table.columns else None
    line = min(_TALLEST, max(_LINE, _SPREAD / lines.size))
    heights = [line * lines.size, *(ROW * len(each.names) for each in (below[0], bulges) if each)]
    figure = new_figure(sum(heights) + _EDGES * len(heights))
    panels = figure.add_gridspec(
        len(heights), len(below), height_ratios=[height + _EDGES for height in heights]
    )
    figure.get_layout_engine().set(h_pad=0.08, hspace=0.02)
    along = figure.add_subplot(panels[0, :])
    _draw_along(along, places, classes.of(distance), classes, lines, noun == "product")
    _draw_legend(along, classes)
    for number, found in enumerate(below):
        axes = figure.add_subplot(panels[1, number])
        draw_counts(axes, found)
        if number:  # the same names
            axes.set_yticks(())
    if bulges is not None:
        draw_counts(figure.add_subplot(panels[2, :]), bulges)
    counts = counted(len(table), noun), counted(len(patterns.words), OF[noun])
    title = f"{' of '.join(counts)} in {counted(len(places.names), 'record')}"
    figure.suptitle(title, fontsize=11, x=0.01, ha="left")
    return figure


def _by_score(patterns: Words, scores: Floats, name: str) -> Counts:
    """Hits by pattern and ranges of a score; the last class is that of those without one."""
    most = SCORES[name]
    classes = [*(f"<{most * share:g}".replace("0.", ".") for share in SHARES), str(most), "none"]
    group = np.searchsorted(most * np.array(SHARES), scores, side="right")
    group[np.isnan(scores)] = len(SHARES) + 1
    return counts_of(patterns, group, classes, name.upper())


def _by_bulges(cigars: Words) -> Counts | None:
    """Hits by letters skipped and mismatches; None where no hit has skipped any."""
    kinds = [
        [sum(int(n) for n, op in _KINDS.findall(cigar) if op == kind) for kind in "DIX"]
        for cigar in cigars.words
    ]
    differences = np.array(kinds).reshape(-1, 3)[cigars.which]
    bulges, which = np.unique(differences[:, :2], axis=0, return_inverse=True)
    if not bulges.any():
        return None
    names = [
        " + ".join(f"{n} {kind}" for n, kind in zip(each, ("DNA", "RNA"), strict=True) if n)
        for each in bulges.tolist()
    ]
    words = Words([name or "no bulge" for name in names], which.reshape(-1))
    classes = [str(number) for number in range(differences[:, 2].max() + 1)]
    return counts_of(
        words,
        differences[:, 2],
        classes,
        "mismatches, by bulges of DNA (deletions) and RNA (insertions)",
    )


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


def _draw_along(
    axes: Any, places: Places, group: Longs, classes: Classes, lines: Lines, overlapping: bool
) -> None:
    """Draw a line a record, the hits on + above it and those on - below, the taller the closer.

    Products, which may be all over a small genome and at one place of a large one, have records on
    scales of their own where these differ in length by more than UNLIKE times.
    """
    lengths = np.maximum(places.lengths[lines.shown], 1)
    extent = int(lengths.max(initial=1))
    apart = overlapping and extent > UNLIKE * int(lengths.min(initial=extent))
    scales = extent / lengths if apart else np.ones(len(lengths))
    scale = np.append(scales, extent / max(lines.letters, 1))[lines.line]
    start, end = (scale * (lines.offset + at) for at in (places.start, places.end))
    marks = Marks(lines.line, start, end, group, places.minus)
    drawn = [*(scales * lengths).tolist(), *[extent] * (lines.others > 0)]
    for line, length in enumerate(drawn):
        axes.plot([0, length], [line, line], color="0.6", linewidth=1.2, solid_capstyle="butt")
        axes.barh(line, length, height=2 * HALF, color="0.955", zorder=0)
    many = (np.bincount(marks.line, minlength=lines.size) > SINGLE)[marks.line]
    _draw_single(axes, marks.chosen(~many), classes, extent, overlapping)
    if many.any():
        _draw_bins(axes, marks.chosen(many), classes, extent)
    axes.set_xlim(-MARGIN * extent, (1 + MARGIN) * extent)
    axes.set_ylim(lines.size - 0.5, -0.5)
    names = [label(places.names[number]) for number in lines.shown.tolist()]
    if apart:
        axes.set_xticks(np.linspace(0, extent, 5), ("0", "25", "50", "75", "100"), fontsize=8)
        axes.set_xlabel("position in the record, % of its letters", fontsize=9)
        names = [f"{name}\n{letters(n)}" for name, n in zip(names, lengths.tolist(), strict=True)]
    else:
        position_axis(axes, extent, "position in the record")
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
