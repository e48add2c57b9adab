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
    distance, beside it by score and below it by mismatches and bulges, where there are any.

    records: the number of records, with the most hits, that are drawn, None for RECORDS.
    """
    places = table.places(RECORDS if records is None else records)
    distance = sum(table.columns[name] for name in table.kind.needed if "distance" in name)
    group, classes = classes_of(distance)
    along = _Along(places, group[places.rows], classes, table.kind.noun)
    counts = _Counts.of(table, group, classes)

    # Lines of panels, as high as what is in them.
    heights = [_records_height(along.line_count), *counts.heights]
    natural = sum(heights) + _EDGES * len(heights)
    size = page_size(natural, table.size)
    figure = new_figure(size, table.title(places))
    figure.get_layout_engine().set(h_pad=0.08, hspace=0.02)
    ratios = [height + _EDGES for height in heights]
    lines = figure.subfigures(len(heights), height_ratios=ratios, squeeze=False)[:, 0].tolist()
    along.draw(lines[0])
    counts.draw(lines[1:], size, size.height / natural)
    return figure


class _Counts(NamedTuple):
    """The counts below the records of hits.

    by_pattern: by distance and by score, side by side; below: by bulges, where there are any; noun:
    of a row.
    """

    by_pattern: list[Cells]
    below: list[Cells]
    noun: str

    @classmethod
    def of(cls, table: Table, group: Longs, classes: list[str]) -> "_Counts":
        """Return the counts of a table; group: int64[n], the class of each row's distance."""
        noun = table.kind.noun
        patterns = table.columns[table.kind.chosen_by]
        by_pattern = [counts_of(patterns, group, classes, "distance", noun)]
        for name in SCORES:
            if name in table.columns and len(by_pattern) == 1:
                by_pattern.append(_by_score(patterns, table.columns[name], name))
        bulges = _by_bulges(table.columns["cigar"]) if "cigar" in table.columns else None
        return cls(by_pattern, [] if bulges is None else [bulges], noun)

    @property
    def heights(self) -> list[float]:
        """Inches of each line of panels."""
        return [self.by_pattern[0].height, *(cells.height for cells in self.below)]

    def draw(self, lines: list[Any], size: Size, shrink: float) -> None:
        """Draw the panels in lines of a figure, all at one scale.

        size: of the figure; shrink: of its height beside the panels' own.
        """
        scale = count_scale(most_of([*self.by_pattern, *self.below]), self.noun)
        width = 0.8 * size.width
        beside = lines[0].subplots(1, len(self.by_pattern), squeeze=False)[0].tolist()
        for axes, cells in zip(beside, self.by_pattern, strict=True):
            room = Size(width / len(beside), cells.height * shrink)
            draw_cells(axes, cells, scale, room)
        for axes in beside[1:]:  # the same names
            axes.set_yticks(())
        for line, cells in zip(lines[1:], self.below, strict=True):
            draw_cells(line.subplots(), cells, scale, Size(width, cells.height * shrink))
        scale.draw_bar(beside)


def _records_height(count: int) -> float:
    """Return the inches of the lines of records."""
    line = min(_TALLEST, max(_LINE, _SPREAD / count))
    return line * count


def _by_score(patterns: Words, scores: Floats, name: str) -> Cells:
    """Return hits by pattern and ranges of a score; the last class has hits without a score."""
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
        self._column_count = 1 if len(places.names) <= LINES else 2
        self.line_count = -(-len(places.names) // self._column_count)

    def draw(self, figure: Any) -> None:
        """Draw the records in a figure, in one or two columns at one scale."""
        columns = figure.subplots(1, self._column_count, squeeze=False)[0].tolist()
        column = max(self._extent * len(columns) / COLUMNS, 1.0)
        longest = LONGEST if len(columns) == 1 else SHORT
        marks = _marks_of(self._places, self._group, len(self._classes), column)
        for number, axes in enumerate(columns):
            self._draw_lines(axes, number * self.line_count, longest)
            self._draw_marks(axes, marks, column)
            position_axis(axes, "")
            axes.locator_params(axis="x", nbins=9 // len(columns))
        figure.supxlabel(f"position in the record{self._places.doubt}", fontsize=8)
        noun = self._noun
        title = f"distance of {noun}s (the taller, the closer; + above the line, − below)"
        if int(marks.hits.max()) > 1:
            title += f"\n{noun}s of one distance that share {short(column, 'bp')} are drawn as one"
        _draw_legend(figure, self._classes, self._colours, title)

    def _draw_lines(self, axes: Any, first: int, longest: int) -> None:
        """Draw the lines of records from the first on, with their names and counts.

        longest: characters of a name.
        """
        last = first + self.line_count
        lengths = self._places.lengths[first:last]
        lines = range(first, first + len(lengths))
        axes.hlines(lines, 0, lengths, color="0.6", linewidth=1.2)
        axes.barh(lines, lengths, height=2 * HALF, color="0.955", zorder=0)
        axes.set_xlim(-MARGIN * self._extent, (1 + MARGIN) * self._extent)
        axes.set_ylim(last - 0.5, first - 0.5)
        names = [label(name, longest) for name in self._places.names[first:last]]
        axes.set_yticks(lines, names)
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
    row, start, end = _cut_at_origin(places)
    group = group[row]
    record = places.record[row]
    left = np.rint(start / column).astype(np.int64)
    right = np.rint(end / column).astype(np.int64)
    # A hit covers at least one column, which its record has.
    last_columns = np.rint(places.lengths / column).astype(np.int64) - 1
    last_columns = np.maximum(last_columns, 0)
    left = np.minimum(left, last_columns[record])
    right = np.maximum(right, left + 1)
    # All that hits are told apart by, as one number.
    shape = (class_count, len(places.lengths), 2, COLUMNS, COLUMNS + 1)
    keys = np.ravel_multi_index((group, record, places.minus[row], left, right), shape)
    keys, hits = np.unique(keys, return_counts=True)
    group, record, minus, left, right = np.unravel_index(keys, shape)
    return Marks(group, record, minus, left, right, hits)


def _cut_at_origin(places: Places) -> tuple[Longs, Longs, Longs]:
    """Return the numbers, starts and ends of hits, where one over the origin of a circle is two.

    record  |        [==|==]      start 8, end 13, of 10 letters
    drawn   |==]     [==|         8-10 and 0-3
    """
    record_ends = places.lengths[places.record]
    over = np.flatnonzero(places.end > record_ends)
    row = np.append(np.arange(len(record_ends)), over)
    start = np.append(places.start, np.zeros(len(over), np.int64))
    end = np.append(np.minimum(places.end, record_ends), (places.end - record_ends)[over])
    return row, start, end
