"""The picture of hits or products: along their records, and by distance and pattern or pair."""

import re
from typing import Any

import numpy as np

from kmatch.arrays import Floats, Longs
from kmatch.pictures import GREY, SCALE, label, new_figure, position_axis, short
from kmatch.pictures.cells import Cells, counts_of, draw_cells
from kmatch.pictures.tables import Places, Table, Words
from kmatch.results.scores import SCORES

RECORDS = 24  # that are drawn
CLASSES = 8  # of distances, which eyes and colours tell apart
COLUMNS = 400  # along the longest record; hits that cover the same ones are drawn as one
HALF, GAP = 0.43, 0.03  # from a record's line to the hits' far and near edges; lines are 1 apart
MARGIN = 1 / 200  # of the axis, beside the first and the last position
PALEST = 0.4  # opacity of one hit, where others of its distance are many in one place
MANY = 5_000  # rectangles that are pixels in all formats
SEEN_THROUGH = 0.5  # opacity of products: those of neighbouring pairs overlap
SHARES = (0.01, 0.05, 0.1, 0.2, 0.5, 1)  # of a whole score, by which classes of scores part
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
    opacity = SEEN_THROUGH if table.kind.noun == "product" else 1.0
    _draw_along(along, places, group[places.rows], classes, opacity)
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
    most = SCORES[name].whole
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


def _draw_along(
    axes: Any, places: Places, group: Longs, classes: list[str], opacity: float
) -> None:
    """Draw a line a record, the hits on + above it and those on - below, the taller the closer."""
    from matplotlib.patches import Patch

    lengths = places.lengths
    extent, lines = int(lengths.max()), range(len(lengths))
    axes.hlines(lines, 0, lengths, color="0.6", linewidth=1.2)
    axes.barh(lines, lengths, height=2 * HALF, color="0.955", zorder=0)
    column = max(extent / COLUMNS, 1.0)
    most = _draw_marks(axes, places, group, _colours(classes), column, opacity)
    axes.set_xlim(-MARGIN * extent, (1 + MARGIN) * extent)
    axes.set_ylim(len(lengths) - 0.5, -0.5)
    position_axis(axes, "position in the record")
    axes.set_yticks(lines, map(label, places.names))
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)
    for minus, sign, side in ((False, "+", -1), (True, "−", 1)):  # how many there are
        counts = np.bincount(places.record[places.minus == minus], minlength=len(lengths))
        for line, count in enumerate(counts.tolist()):
            axes.annotate(
                f"{sign} {count:,}", (1.0, line + side * 0.22), xytext=(4, 0), va="center",
                xycoords=axes.get_yaxis_transform(), textcoords="offset points", fontsize=7,
                color=GREY, annotation_clip=False,
            )  # fmt: skip
    title = "distance (the taller, the closer; + above the line, − below)"
    if most > 1:
        title += f"\na column is {short(column, 'bp')}; the paler, the fewer hits of a distance"
    pairs = zip(classes, _colours(classes), strict=True)
    handles = [Patch(color=colour, label=name) for name, colour in pairs]
    place = {"loc": "lower left", "bbox_to_anchor": (0, 1.0), "borderaxespad": 0.2}
    axes.legend(handles=handles, title=title, alignment="left", ncols=len(classes), **place)


def _draw_marks(
    axes: Any, places: Places, group: Longs, colours: Any, column: float, opacity: float
) -> int:
    """Draw rectangles on the side of the strand, the shorter, farther ones in front, the paler, the
    fewer hits are at one place; returns how many are at most.

    colours: of the classes; column: letters of the columns that rectangles cover.
    """
    from matplotlib.collections import PolyCollection

    left, right = np.rint(np.stack([places.start, places.end]) / column).astype(np.int64)
    last = np.maximum(np.rint(places.lengths / column).astype(np.int64), 1) - 1
    left = np.minimum(left, last[places.record])
    right = np.maximum(right, left + 1)
    shape = len(colours), len(last), 2, COLUMNS, COLUMNS + 1
    keys = np.ravel_multi_index((group, places.record, places.minus, left, right), shape)
    keys, counts = np.unique(keys, return_counts=True)
    group, line, minus, left, right = np.unravel_index(keys, shape)
    most = np.zeros(len(colours), np.int64)
    np.maximum.at(most, group, counts)
    shade = PALEST + (1 - PALEST) * np.log2(1 + counts) / np.log2(1 + most[group])
    side = np.where(minus, 1, -1)  # the axis points downwards
    low = line + side * GAP
    high = line + side * np.linspace(HALF, GAP, len(colours) + 1)[group]
    left, right = left * column, right * column
    corners = np.array([(left, low), (right, low), (right, high), (left, high)])
    shapes = corners.transpose(2, 0, 1)  # (rectangles, corners, 2)
    faces = np.column_stack([colours[group, :3], opacity * shade])
    style = {"linewidths": 0, "zorder": 3, "gid": "hits", "rasterized": len(shapes) > MANY}
    axes.add_collection(PolyCollection(shapes, facecolors=faces, **style))
    return int(counts.max())
