"""The picture of hits or products: along their records, and by distance and pattern or pair."""

import re
from typing import Any, NamedTuple

import numpy as np

from kmatch.arrays import Floats, Longs
from kmatch.pictures import (
    GREY,
    LONGEST,
    MANY,
    Size,
    label,
    new_figure,
    page_size,
    position_axis,
    short,
)
from kmatch.pictures.cells import Cells, counts_of, draw_cells, most_of
from kmatch.pictures.scales import count_scale, distance_colours
from kmatch.pictures.tables import Places, Table, Words
from kmatch.results.scores import SCORES

RECORDS = 24  # that are drawn
CLASSES = 8  # of distances, which eyes and colours tell apart
COLUMNS = 300  # along the longest record; hits that cover the same ones are drawn as one
SHORT = 24  # characters of a record's name in two columns
LINES = 12  # records that stand one below another; more stand in two columns
HALF = 0.43  # from a record's line to the hits' far edge; lines are 1 apart
GAP = 0.03  # and to their near edge
MARGIN = 1 / 200  # of the axis, beside the first and the last position
EDGE = 0.4  # points around products: those of neighbouring pairs overlap
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
    """Return a Figure of hits or products: along their records, and counted by pattern and
    distance, beside that by score and below by mismatches and bulges, where there are such.

    records: how many are drawn, those with the most hits, None for RECORDS.
    """
    places = table.places(RECORDS if records is None else records)
    patterns = table.columns[table.kind.chosen_by]
    distance = sum(table.columns[name] for name in table.kind.needed if "distance" in name)
    group, classes = classes_of(distance)
    # What is counted: below the records by distance, beside that by score, below both by bulges.
    panels = [counts_of(patterns, group, classes, "distance", table.kind.noun)]
    for name in [name for name in SCORES if name in table.columns][:1]:
        panels.append(_by_score(patterns, table.columns[name], name))
    side_by_side = len(panels)
    if "cigar" in table.columns and (bulges := _by_bulges(table.columns["cigar"])):
        panels.append(bulges)

    # Lines of panels, as high as what is in them.
    column_count = 1 if len(places.names) <= LINES else 2
    line_count = -(-len(places.names) // column_count)
    heights = [_records_height(line_count), panels[0].height]
    heights += [cells.height for cells in panels[side_by_side:]]
    natural = sum(heights) + _EDGES * len(heights)
    size = page_size(natural, table.size)
    figure = new_figure(size, table.title(places))
    figure.get_layout_engine().set(h_pad=0.08, hspace=0.02)
    ratios = [height + _EDGES for height in heights]
    lines = figure.subfigures(len(heights), height_ratios=ratios, squeeze=False)[:, 0]

    marks = _Along(places, group[places.rows], classes, table.kind.noun)
    marks.draw(lines[0].subplots(1, column_count, squeeze=False)[0].tolist(), line_count)
    scale = count_scale(most_of(panels), table.kind.noun)
    upper = lines[1].subplots(1, side_by_side, squeeze=False)[0].tolist()
    lower = [line.subplots() for line in lines[2:]]
    for axes, cells in zip(upper + lower, panels, strict=True):
        width = size.width * 0.8 / (side_by_side if axes in upper else 1)
        draw_cells(axes, cells, scale, Size(width, cells.height * size.height / natural))
    for axes in upper[1:]:  # the same names
        axes.set_yticks(())
    scale.draw_bar(upper)
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


class _Along:
    """Draws hits along their records."""

    def __init__(self, places: Places, group: Longs, classes: list[str], noun: str) -> None:
        """group: int64[n], the class of each row's distance; classes: their names; noun: of a
        row."""
        self._places = places
        self._group = group
        self._classes = classes
        self._noun = noun
        self._colours = distance_colours(len(classes))
        self._extent = int(places.lengths.max())

    def draw(self, columns: list[Any], line_count: int) -> None:
        """Draw so many records in each of some axes, all at one scale."""
        column = max(self._extent * len(columns) / COLUMNS, 1.0)
        longest = LONGEST if len(columns) == 1 else SHORT
        marks = _marks_of(self._places, self._group, len(self._classes), column)
        for number, axes in enumerate(columns):
            self._draw_lines(axes, number * line_count, line_count, longest)
            self._draw_marks(axes, marks, column)
            position_axis(axes, "")
            axes.locator_params(axis="x", nbins=9 // len(columns))
        figure = columns[0].figure
        figure.supxlabel(f"position in the record{self._places.doubt}", fontsize=8)
        noun = self._noun
        title = f"distance of {noun}s (the taller, the closer; + above the line, − below)"
        if int(marks.hits.max()) > 1:
            title += f"\n{noun}s of one distance that share {short(column, 'bp')} are drawn as one"
        _draw_legend(figure, self._classes, self._colours, title)

    def _draw_lines(self, axes: Any, first: int, line_count: int, longest: int) -> None:
        """Draw the lines of records from the first on, with their names and counts.

        longest: characters of a name.
        """
        lengths = self._places.lengths[first : first + line_count]
        lines = range(first, first + len(lengths))
        axes.hlines(lines, 0, lengths, color="0.6", linewidth=1.2)
        axes.barh(lines, lengths, height=2 * HALF, color="0.955", zorder=0)
        axes.set_xlim(-MARGIN * self._extent, (1 + MARGIN) * self._extent)
        axes.set_ylim(first + line_count - 0.5, first - 0.5)
        names = self._places.names[first : first + line_count]
        axes.set_yticks(lines, [label(name, longest) for name in names])
        axes.tick_params(axis="y", length=0)
        axes.spines["left"].set_visible(False)
        _write_counts(axes, self._places, lines)

    def _draw_marks(self, axes: Any, marks: "Marks", column: float) -> None:
        """Draw rectangles on the side of the strand, the shorter, farther ones in front.

        column: letters of the columns that rectangles cover.
        """
        from matplotlib.collections import PolyCollection

        # Corners of rectangles, (rectangles, corners, 2); the axis points downwards.
        side = np.where(marks.minus, 1, -1)
        reaches = np.linspace(HALF, GAP, len(self._colours) + 1)
        near = marks.record + side * GAP
        far = marks.record + side * reaches[marks.group]
        left = marks.left * column
        right = np.minimum(marks.right * column, self._places.lengths[marks.record])
        corners = np.array([(left, near), (right, near), (right, far), (left, far)])
        bottom, top = axes.get_ylim()
        is_here = (marks.record < bottom) & (marks.record > top)
        drawn = PolyCollection(
            corners.transpose(2, 0, 1)[is_here],
            facecolors=self._colours[marks.group[is_here]],
            edgecolors="white",
            linewidths=EDGE if self._noun == "product" else 0,
            zorder=3,
            gid="hits",
            rasterized=bool(np.count_nonzero(is_here) > MANY),
        )
        axes.add_collection(drawn)


def _write_counts(axes: Any, places: Places, lines: range) -> None:
    """Write how many hits each record of some lines has on each strand, behind its line."""
    for minus, sign, side in ((False, "+", -1), (True, "−", 1)):
        of_strand = places.record[places.minus == minus]
        counts = np.bincount(of_strand, minlength=len(places.lengths))
        for line in lines:
            axes.annotate(
                f"{sign} {counts[line]:,}",
                (1.0, line + side * 0.22),
                xytext=(4, 0),
                va="center",
                xycoords=axes.get_yaxis_transform(),
                textcoords="offset points",
                fontsize=7,
                color=GREY,
                annotation_clip=False,
            )


def _draw_legend(figure: Any, classes: list[str], colours: Any, title: str) -> None:
    """Say above the axes of a figure which distances have which colour."""
    from matplotlib.patches import Patch

    handles = [
        Patch(color=colour, label=name) for name, colour in zip(classes, colours, strict=True)
    ]
    figure.legend(
        handles=handles,
        title=title,
        alignment="left",
        ncols=len(classes),
        loc="outside upper left",
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
