"""The picture of hits or products: along their records, and by distance and pattern or pair."""

import re
from typing import Any, NamedTuple

import numpy as np

from kmatch.arrays import Bools, Floats, Longs
from kmatch.pictures import GREY, SCALE, label, new_figure, position_axis, short
from kmatch.pictures.cells import Cells, counts_of, draw_cells
from kmatch.pictures.tables import Places, Table, Words

RECORDS = 24  # that are drawn
CLASSES = 8  # of distances, which eyes and colours tell apart
SINGLE = 300  # hits of a record that are drawn each by itself; more are counted in bins
BINS = 400  # along the longest record
HALF, GAP = 0.43, 0.03  # from a record's line to the hits' far and near edges; lines are 1 apart
MARGIN = 1 / 200  # of the axis, beside the first and the last position
LEAST = 1 / 400  # of the axis: a hit's width at the least
PALEST = 0.4  # opacity of a bin with one hit
UNLIKE = 2  # times as long: products are drawn on scales of their own
SEEN_THROUGH = 0.5  # opacity of a product: those of neighbouring pairs overlap
SCORES = {"cfd": 1, "mit": 100}  # by which hits are counted, and the greatest of each
SHARES = (0.01, 0.05, 0.1, 0.2, 0.5, 1)  # of it, by which classes of scores part
_LINE, _TALLEST, _SPREAD = 0.36, 0.9, 2.4  # inches of a record: least, most, and of all, if few
_EDGES = 1.1  # inches around a panel: titles and axes
_KINDS = re.compile(r"(\d+)([XID])")  # of differences in a CIGAR


def classes_of(distance: Longs) -> tuple[Longs, list[str]]:
    """The class of each distance, int64[n], and the names of classes: each distance from the
    smallest, or 0 where that is near, to the largest by itself, or ranges where they are many."""
    least, last = int(distance.min()), int(distance.max())
    least = 0 if last < CLASSES else least
    step = -(-(last + 1 - least) // CLASSES)
    pairs = [(first, min(first + step - 1, last)) for first in range(least, last + 1, step)]
    return (distance - least) // step, [str(a) if a == b else f"{a}–{b}" for a, b in pairs]


def draw_hits(table: Table, records: int | None = None) -> Any:
    """A Figure of hits or products: along their records, and counted by pattern and distance,
    beside that by score and below by mismatches and bulges, where there are such.

    records: how many are drawn, those with the most hits, None for RECORDS.
    """
    places = table.places(RECORDS if records is None else records)
    patterns = table.columns[table.kind.chosen_by]
    distance = sum(table.columns[name] for name in table.kind.needed if "distance" in name)
    group, classes = classes_of(distance)
    below = [counts_of(patterns, group, classes, "distance")]
    below += [_by_score(patterns, table.columns[x], x) for x in SCORES if x in table.columns][:1]
    bulges = _by_bulges(table.columns["cigar"]) if "cigar" in table.columns else None
    lines = len(places.names)
    line = min(_TALLEST, max(_LINE, _SPREAD / lines))
    heights = [line * lines, *(each.height for each in (below[0], bulges) if each)]
    figure = new_figure(sum(heights) + _EDGES * len(heights), table.title(places))
    panels = figure.add_gridspec(
        len(heights), len(below), height_ratios=[height + _EDGES for height in heights]
    )
    figure.get_layout_engine().set(h_pad=0.08, hspace=0.02)
    along = figure.add_subplot(panels[0, :])
    _draw_along(along, places, group[places.rows], classes, table.kind.noun == "product")
    for number, found in enumerate(below):
        axes = figure.add_subplot(panels[1, number])
        draw_cells(axes, found)
        if number:  # the same names
            axes.set_yticks(())
    if bulges is not None:
        draw_cells(figure.add_subplot(panels[2, :]), bulges)
    return figure


def _by_score(patterns: Words, scores: Floats, name: str) -> Cells:
    """Hits by pattern and ranges of a score; the last class is that of those without one."""
    most = SCORES[name]
    classes = [*(f"<{most * share:g}".replace("0.", ".") for share in SHARES), str(most), "none"]
    group = np.searchsorted(most * np.array(SHARES), scores, side="right")
    group[np.isnan(scores)] = len(SHARES) + 1
    return counts_of(patterns, group, classes, name.upper())


def _by_bulges(cigars: Words) -> Cells | None:
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
    axis = "mismatches, by bulges of DNA (deletions) and RNA (insertions)"
    return counts_of(words, differences[:, 2], classes, axis)


def _colours(classes: list[str]) -> Any:
    """A colour a class, RGBA, float[n, 4]: the closest darkest, none too pale to print."""
    from matplotlib import colormaps

    return colormaps[SCALE](np.linspace(1, 0.12, len(classes)))


class Marks(NamedTuple):
    """Hits, or bins of them, as they are drawn: line, first and last position on its axis, class of
    distance, strand, and opacity."""

    line: Longs
    start: Floats
    end: Floats
    group: Longs
    minus: Bools
    opacity: Floats

    def chosen(self, which: Any) -> "Marks":
        return Marks._make(column[which] for column in self)


def _draw_along(
    axes: Any, places: Places, group: Longs, classes: list[str], overlapping: bool
) -> None:
    """Draw a line a record, the hits on + above it and those on - below, the taller the closer.

    Products, which may be all over a small genome and at one place of a large one, have records on
    scales of their own where these differ in length by more than UNLIKE times.
    """
    lengths = np.maximum(places.lengths, 1)
    extent = int(lengths.max())
    apart = overlapping and extent > UNLIKE * int(lengths.min())
    scale = extent / lengths if apart else np.ones(len(lengths))
    start, end = (scale[places.record] * at for at in (places.start, places.end))
    opacity = np.full(len(start), SEEN_THROUGH if overlapping else 1.0)
    marks = Marks(places.record, start, end, group, places.minus, opacity)
    drawn = (scale * lengths).tolist()
    axes.hlines(range(len(drawn)), 0, drawn, color="0.6", linewidth=1.2)
    axes.barh(range(len(drawn)), drawn, height=2 * HALF, color="0.955", zorder=0)
    many, note = (np.bincount(marks.line) > SINGLE)[marks.line], ""
    _draw_marks(axes, _widened(marks.chosen(~many), LEAST * extent), classes, "hits")
    if many.any():
        _draw_marks(axes, _in_bins(marks.chosen(many), extent / BINS), classes, "bins")
        column = f"1/{BINS} of a record" if apart else short(extent / BINS, "bp")
        note = f"\na column is {column}; the paler, the fewer hits of a distance"
    axes.set_xlim(-MARGIN * extent, (1 + MARGIN) * extent)
    axes.set_ylim(len(drawn) - 0.5, -0.5)
    names = list(map(label, places.names))
    if apart:
        axes.set_xticks(np.linspace(0, extent, 5), ("0", "25", "50", "75", "100"))
        axes.set_xlabel("position in the record, % of its letters")
        pairs = zip(names, lengths.tolist(), strict=True)
        names = [f"{name}\n{short(length, 'bp')}" for name, length in pairs]
    else:
        position_axis(axes, "position in the record")
    axes.set_yticks(range(len(drawn)), names)
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)
    _write_counts(axes, marks, len(drawn))
    _draw_legend(axes, classes, note)


def _widened(marks: Marks, least: float) -> Marks:
    """Each as wide as it is, or as can be seen."""
    more = np.maximum(least - (marks.end - marks.start), 0) / 2
    return marks._replace(start=marks.start - more, end=marks.end + more)


def _in_bins(marks: Marks, width: float) -> Marks:
    """Marks for bins that have any, the more opaque, the more: by logarithm, up to the most of its
    class in any bin."""
    column = np.minimum(((marks.start + marks.end) / 2 / width).astype(np.int64), BINS - 1)
    keys = np.stack([marks.line, marks.minus, marks.group, column])
    (line, minus, group, column), counts = np.unique(keys, axis=1, return_counts=True)
    most = np.ones(int(group.max()) + 1, np.int64)
    np.maximum.at(most, group, counts)
    opacity = PALEST + (1 - PALEST) * np.log2(1 + counts) / np.log2(1 + most[group])
    return Marks(line, column * width, (column + 1) * width, group, minus == 1, opacity)


def _draw_marks(axes: Any, marks: Marks, classes: list[str], name: str) -> None:
    """Draw rectangles on the side of the strand, the shorter, farther ones in front."""
    from matplotlib.collections import PolyCollection

    marks = marks.chosen(np.argsort(marks.group, kind="stable"))
    colours = _colours(classes)[marks.group]
    colours[:, 3] = marks.opacity
    side = np.where(marks.minus, 1, -1)  # the axis points downwards
    far = np.linspace(HALF, GAP, len(classes) + 1)[marks.group]
    low, high, left, right = (
        marks.line + side * GAP,
        marks.line + side * far,
        marks.start,
        marks.end,
    )
    corners = np.array([(left, low), (right, low), (right, high), (left, high)])
    style = {"linewidths": 0, "zorder": 3, "gid": name}
    if name == "bins":
        style |= {"antialiaseds": False, "rasterized": True}
    shapes = corners.transpose(2, 0, 1)  # (rectangles, corners, 2)
    axes.add_collection(PolyCollection(shapes, facecolors=colours, **style))


def _write_counts(axes: Any, marks: Marks, lines: int) -> None:
    """Write how many hits each strand of each line has, at the right."""
    place = {"xycoords": axes.get_yaxis_transform(), "textcoords": "offset points"}
    style = {"va": "center", "fontsize": 7, "color": GREY, "annotation_clip": False}
    for minus, sign, side in ((False, "+", -1), (True, "−", 1)):
        counts = np.bincount(marks.line[marks.minus == minus], minlength=lines)
        for line, count in enumerate(counts.tolist()):
            at = (1.0, line + side * 0.22)
            axes.annotate(f"{sign} {count:,}", at, xytext=(4, 0), **place, **style)


def _draw_legend(axes: Any, classes: list[str], note: str) -> None:
    from matplotlib.patches import Patch

    pairs = zip(classes, _colours(classes), strict=True)
    handles = [Patch(color=colour, label=name) for name, colour in pairs]
    title = f"distance (the taller, the closer; + above the line, − below){note}"
    place = {"loc": "lower left", "bbox_to_anchor": (0, 1.0), "borderaxespad": 0.2}
    axes.legend(handles=handles, title=title, alignment="left", ncols=len(classes), **place)
