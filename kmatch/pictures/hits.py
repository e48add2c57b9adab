"""The picture of hits or products: along their records, and by distance and pattern or pair."""

import re
from typing import Any, NamedTuple

import numpy as np

from kmatch.arrays import Floats, Longs
from kmatch.pictures import GREY, SCALE, label, new_figure, position_axis, short
from kmatch.pictures.cells import Cells, counts_of, draw_cells
from kmatch.pictures.tables import Places, Table, Words
from kmatch.results.scores import SCORES

RECORDS = 24  # that are drawn
CLASSES = 8  # of distances, which eyes and colours tell apart
COLUMNS = 400  # along the longest record; hits that cover the same ones are drawn as one
HALF = 0.43  # from a record's line to the hits' far edge; lines are 1 apart
GAP = 0.03  # and to their near edge
MARGIN = 1 / 200  # of the axis, beside the first and the last position
PALEST = 0.4  # opacity of one hit, where others of its distance are many in one place
MANY = 5_000  # rectangles that are pixels in all formats
SEEN_THROUGH = 0.5  # opacity of products: those of neighbouring pairs overlap
SHARES = (0.01, 0.05, 0.1, 0.2, 0.5, 1)  # of a whole score, by which classes of scores part
_LINE = 0.36  # inches of a record at the least,
_TALLEST = 0.9  # at the most,
_SPREAD = 2.4  # and of all, where they are few
_EDGES = 1.1  # inches around a panel: titles and axes
_KINDS = re.compile(r"(\d+)([XID])")  # of differences in a CIGAR


def classes_of(distance: Longs) -> tuple[Longs, list[str]]:
    """Return the class of each distance, int64[n], and the names of classes.

    Each distance from the smallest, or 0 where that is near, to the largest is a class by itself;
    where they are many, a class is a range of them.
    """
    least = int(distance.min())
    most = int(distance.max())
    if most < CLASSES:
        least = 0
    step = -(-(most + 1 - least) // CLASSES)
    names = []
    for first in range(least, most + 1, step):
        last = min(first + step - 1, most)
        names.append(str(first) if first == last else f"{first}–{last}")
    return (distance - least) // step, names


def draw_hits(table: Table, records: int | None = None) -> Any:
    """A Figure of hits or products: along their records, and counted by pattern and distance,
    beside that by score and below by mismatches and bulges, where there are such.

    records: how many are drawn, those with the most hits, None for RECORDS.
    """
    places = table.places(RECORDS if records is None else records)
    patterns = table.columns[table.kind.chosen_by]
    distance = sum(table.columns[name] for name in table.kind.needed if "distance" in name)
    group, classes = classes_of(distance)
    # What is counted: below the records by distance, beside that by score, below both by bulges.
    counted = [counts_of(patterns, group, classes, "distance")]
    for name in [name for name in SCORES if name in table.columns][:1]:
        counted.append(_by_score(patterns, table.columns[name], name))
    bulges = _by_bulges(table.columns["cigar"]) if "cigar" in table.columns else None
    # Inches of each line of panels.
    heights = [_records_height(len(places.names)), counted[0].height]
    if bulges is not None:
        heights.append(bulges.height)
    figure = new_figure(sum(heights) + _EDGES * len(heights), table.title(places))
    figure.get_layout_engine().set(h_pad=0.08, hspace=0.02)
    ratios = [height + _EDGES for height in heights]
    panels = figure.add_gridspec(len(heights), len(counted), height_ratios=ratios)
    along = figure.add_subplot(panels[0, :])
    opacity = SEEN_THROUGH if table.kind.noun == "product" else 1.0
    _draw_along(along, places, group[places.rows], classes, opacity)
    for number, cells in enumerate(counted):
        axes = figure.add_subplot(panels[1, number])
        draw_cells(axes, cells)
        if number:  # the same names
            axes.set_yticks(())
    if bulges is not None:
        draw_cells(figure.add_subplot(panels[2, :]), bulges)
    return figure


def _records_height(count: int) -> float:
    """Return the inches of the lines of records."""
    line = min(_TALLEST, max(_LINE, _SPREAD / count))
    return line * count


def _by_score(patterns: Words, scores: Floats, name: str) -> Cells:
    """Return hits by pattern and ranges of a score; the last class has those without one."""
    whole = SCORES[name].whole
    classes = [f"<{whole * share:g}".replace("0.", ".") for share in SHARES]
    classes += [str(whole), "none"]
    group = np.searchsorted(whole * np.array(SHARES), scores, side="right")
    group[np.isnan(scores)] = len(SHARES) + 1
    return counts_of(patterns, group, classes, name.upper())


def _by_bulges(cigars: Words) -> Cells | None:
    """Return hits by letters skipped and mismatches; None where no hit has skipped any."""
    kinds = np.array([_counted(cigar) for cigar in cigars.words]).reshape(-1, 3)
    differences = kinds[cigars.which]
    mismatches = differences[:, 2]
    bulges, which = np.unique(differences[:, :2], axis=0, return_inverse=True)
    if not bulges.any():
        return None
    words = Words([_bulge_name(*each) for each in bulges.tolist()], which.reshape(-1))
    classes = [str(number) for number in range(mismatches.max() + 1)]
    axis = "mismatches, by bulges of DNA (deletions) and RNA (insertions)"
    return counts_of(words, mismatches, classes, axis)


def _counted(cigar: str) -> list[int]:
    """Return the deletions, insertions and mismatches of a CIGAR."""
    counts = {"D": 0, "I": 0, "X": 0}
    for length, op in _KINDS.findall(cigar):
        counts[op] += int(length)
    return list(counts.values())


def _bulge_name(deletions: int, insertions: int) -> str:
    parts = []
    if deletions:
        parts.append(f"{deletions} DNA")
    if insertions:
        parts.append(f"{insertions} RNA")
    return " + ".join(parts) or "no bulge"


def _colours(classes: list[str]) -> Any:
    """A colour a class, RGBA, float[n, 4]: the closest darkest, none too pale to print."""
    from matplotlib import colormaps

    return colormaps[SCALE](np.linspace(1, 0.12, len(classes)))


def _draw_along(
    axes: Any, places: Places, group: Longs, classes: list[str], opacity: float
) -> None:
    """Draw a line a record, the hits on + above it and those on - below, the taller the closer."""
    lengths = places.lengths
    extent = int(lengths.max())
    lines = range(len(lengths))
    axes.hlines(lines, 0, lengths, color="0.6", linewidth=1.2)
    axes.barh(lines, lengths, height=2 * HALF, color="0.955", zorder=0)
    colours = _colours(classes)
    column = max(extent / COLUMNS, 1.0)
    most = _draw_marks(axes, places, group, colours, column, opacity)
    axes.set_xlim(-MARGIN * extent, (1 + MARGIN) * extent)
    axes.set_ylim(len(lengths) - 0.5, -0.5)
    position_axis(axes, "position in the record")
    axes.set_yticks(lines, map(label, places.names))
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)
    _write_counts(axes, places)
    title = "distance (the taller, the closer; + above the line, − below)"
    if most > 1:
        title += f"\na column is {short(column, 'bp')}; the paler, the fewer hits of a distance"
    _draw_legend(axes, classes, colours, title)


def _write_counts(axes: Any, places: Places) -> None:
    """Write how many hits each record has on each strand, behind its line."""
    for minus, sign, side in ((False, "+", -1), (True, "−", 1)):
        of_strand = places.record[places.minus == minus]
        counts = np.bincount(of_strand, minlength=len(places.lengths))
        for line, count in enumerate(counts.tolist()):
            axes.annotate(
                f"{sign} {count:,}",
                (1.0, line + side * 0.22),
                xytext=(4, 0),
                va="center",
                xycoords=axes.get_yaxis_transform(),
                textcoords="offset points",
                fontsize=7,
                color=GREY,
                annotation_clip=False,
            )


def _draw_legend(axes: Any, classes: list[str], colours: Any, title: str) -> None:
    """Say above the axes which distances have which colour."""
    from matplotlib.patches import Patch

    handles = [
        Patch(color=colour, label=name) for name, colour in zip(classes, colours, strict=True)
    ]
    axes.legend(
        handles=handles,
        title=title,
        alignment="left",
        ncols=len(classes),
        loc="lower left",
        bbox_to_anchor=(0, 1.0),
        borderaxespad=0.2,
    )


class Marks(NamedTuple):
    """n rectangles of hits.

    group: the class of their distance; record: the line; minus: whether they are below it; left,
    right: columns along the record; hits: how many are drawn as each.
    """

    group: Longs
    record: Longs
    minus: Longs
    left: Longs
    right: Longs
    hits: Longs


def _marks_of(places: Places, group: Longs, class_count: int, column: float) -> Marks:
    """Return a rectangle for all hits of a class that cover the same columns on a strand.

    columns of 10 bp   0    1    2    3
    hits               [===]    [=======]       0-1 once, 2-3 once, 1-2 twice
                            [===]
                              [==]
    """
    left = np.rint(places.start / column).astype(np.int64)
    right = np.rint(places.end / column).astype(np.int64)
    # A hit covers at least one column, which its record has.
    record_columns = np.rint(places.lengths / column).astype(np.int64)
    last_columns = np.maximum(record_columns, 1) - 1
    left = np.minimum(left, last_columns[places.record])
    right = np.maximum(right, left + 1)
    # All that hits are told apart by, as one number.
    shape = (class_count, len(places.lengths), 2, COLUMNS, COLUMNS + 1)
    keys = np.ravel_multi_index((group, places.record, places.minus, left, right), shape)
    keys, hits = np.unique(keys, return_counts=True)
    group, record, minus, left, right = np.unravel_index(keys, shape)
    return Marks(group, record, minus, left, right, hits)


def _draw_marks(
    axes: Any, places: Places, group: Longs, colours: Any, column: float, opacity: float
) -> int:
    """Draw rectangles on the side of the strand, the shorter, farther ones in front, the paler, the
    fewer hits are at one place; returns how many are at most.

    colours: of the classes; column: letters of the columns that rectangles cover.
    """
    from matplotlib.collections import PolyCollection

    marks = _marks_of(places, group, len(colours), column)
    # Opacity by how many hits there are, of at most how many of the class.
    most = np.zeros(len(colours), np.int64)
    np.maximum.at(most, marks.group, marks.hits)
    of_most = np.log2(1 + most[marks.group])
    shade = PALEST + (1 - PALEST) * np.log2(1 + marks.hits) / of_most
    faces = np.column_stack([colours[marks.group, :3], opacity * shade])
    # Corners of rectangles, (rectangles, corners, 2); the axis points downwards.
    side = np.where(marks.minus, 1, -1)
    reaches = np.linspace(HALF, GAP, len(colours) + 1)
    near = marks.record + side * GAP
    far = marks.record + side * reaches[marks.group]
    left = marks.left * column
    right = marks.right * column
    corners = np.array([(left, near), (right, near), (right, far), (left, far)])
    shapes = corners.transpose(2, 0, 1)
    drawn = PolyCollection(
        shapes,
        facecolors=faces,
        linewidths=0,
        zorder=3,
        gid="hits",
        rasterized=len(shapes) > MANY,
    )
    axes.add_collection(drawn)
    return int(marks.hits.max())
