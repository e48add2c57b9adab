"""Hits along their records: a line a record, + above it and - below, the taller the closer."""

from typing import Any, NamedTuple

import numpy as np

from kmatch.arrays import Bools, Floats, Longs
from kmatch.pictures.classes import Classes
from kmatch.pictures.columns import PRODUCTS, HitColumns
from kmatch.pictures.rows import Lines
from kmatch.pictures.words import GREY, label, letters, position_axis

SINGLE = 300  # hits of a line that are drawn each by itself; more are counted in bins
BINS = 400  # along the longest record
HALF = 0.43  # from a record's line to the edge of its part of the picture; lines are 1 apart
GAP = 0.03  # from the line to the hits
MARGIN = 1 / 200  # of the axis, beside the first and the last position
LEAST = 1 / 400  # of the axis: a hit's width at the least
_PIXELS = {"origin": "upper", "interpolation": "nearest", "zorder": 3}
PALEST = 0.4  # opacity of a bin with one hit
SEEN_THROUGH = 0.5  # opacity of a product: those of neighbouring pairs overlap


class Marks(NamedTuple):
    """Hits as they are drawn: line, first and last offset on it, class of distance, strand."""

    line: Longs
    start: Floats
    end: Floats
    group: Longs
    minus: Bools


def draw_along(axes: Any, hits: HitColumns, classes: Classes, lines: Lines) -> None:
    """Draw hits on axes."""
    extent = max(1, int(hits.records.lengths[lines.shown].max(initial=0)))
    scale = extent / max(lines.letters, 1)  # of the line of the others
    marks = _marks(hits, classes, lines, scale)
    _draw_records(axes, hits, lines, extent)
    many = np.bincount(marks.line, minlength=lines.size) > SINGLE
    alpha = SEEN_THROUGH if hits.nouns is PRODUCTS else None
    _draw_single(axes, _chosen(marks, ~many[marks.line]), classes, extent, alpha)
    if many.any():
        _draw_bins(axes, _chosen(marks, many[marks.line]), classes, extent)
    axes.set_xlim(-MARGIN * extent, (1 + MARGIN) * extent)
    axes.set_ylim(lines.size - 0.5, -0.5)
    position_axis(axes, extent, "position in the record")
    axes.set_yticks(range(lines.size), _names(hits, lines), fontsize=8)
    axes.tick_params(axis="y", length=0)
    if lines.others:
        axes.get_yticklabels()[-1].set_fontsize(7)
    axes.spines[["left", "right", "top"]].set_visible(False)
    _draw_counts(axes, marks, lines.size)


def _marks(hits: HitColumns, classes: Classes, lines: Lines, scale: float) -> Marks:
    factor = np.where(lines.line == len(lines.shown), scale, 1.0)
    start, end = (factor * (lines.offset + at) for at in (hits.start, hits.end))
    return Marks(lines.line, start, end, classes.of(hits.distance), hits.minus)


def _chosen(marks: Marks, which: Bools) -> Marks:
    return Marks._make(column[which] for column in marks)


def _draw_records(axes: Any, hits: HitColumns, lines: Lines, extent: int) -> None:
    lengths = hits.records.lengths[lines.shown].tolist() + [extent] * (lines.others > 0)
    for line, length in enumerate(lengths):
        axes.plot([0, length], [line, line], color="0.6", linewidth=1.2, solid_capstyle="butt")
        axes.barh(line, length, height=2 * HALF, color="0.955", zorder=0)


def _draw_single(
    axes: Any, marks: Marks, classes: Classes, extent: int, alpha: float | None
) -> None:
    """Draw a rectangle a hit, as wide as it is or as can be seen; alpha: its opacity."""
    from matplotlib.collections import PolyCollection

    middle = (marks.start + marks.end) / 2
    half = np.maximum(marks.end - marks.start, LEAST * extent) / 2
    _, far = _lanes(classes.size)
    for group in range(classes.size):  # the shorter ones, which are farther, in front
        chosen = marks.group == group
        side = np.where(marks.minus[chosen], 1, -1)  # the axis points downwards
        low, high = (marks.line[chosen] + side * at for at in (GAP, far[group]))
        left, right = middle[chosen] - half[chosen], middle[chosen] + half[chosen]
        corners = [(left, low), (right, low), (right, high), (left, high)]
        shape = np.array(corners).transpose(2, 0, 1)  # (hits, corners, 2)
        colour = classes.colours()[group]
        axes.add_collection(
            PolyCollection(
                shape, facecolors=[colour], alpha=alpha, linewidths=0, zorder=3, gid=f"hits-{group}"
            )
        )


def _draw_bins(axes: Any, marks: Marks, classes: Classes, extent: int) -> None:
    """Draw counts of hits, the more the darker, with a lane for each class of distances."""
    width = extent / BINS
    column = np.minimum(((marks.start + marks.end) / 2 / width).astype(np.int64), BINS - 1)
    shape = (int(marks.line.max()) + 1, 2, classes.size, BINS)
    at = (marks.line, marks.minus.astype(np.int64), marks.group, column)
    counts = np.bincount(np.ravel_multi_index(at, shape), minlength=np.prod(shape)).reshape(shape)
    most = counts.max(axis=(0, 1, 3))
    near, far = _lanes(classes.size)
    for line in np.unique(marks.line).tolist():
        for minus, side in enumerate((-1, 1)):
            picture = _coloured(counts[line, minus], classes, most)
            edges = (0, extent, line + side * near[-1], line + side * far[0])
            axes.imshow(picture, extent=edges, aspect="auto", **_PIXELS)
    axes.set_title(
        f"a column is {letters(width)}; the paler, the fewer hits of a distance",
        loc="right",
        fontsize=8,
        color=GREY,
    )


def _coloured(counts: Longs, classes: Classes, most: Longs) -> Any:
    """Counts, int64[classes, BINS], as RGBA: paler where they are few, on a logarithmic scale.

    most: of each class in any bin, which is not pale, however few they are.
    """
    picture = np.repeat(classes.colours()[:, None, :], counts.shape[1], axis=1)
    share = np.log2(1 + counts) / np.log2(1 + np.maximum(most, 1))[:, None]
    opacity = PALEST + (1 - PALEST) * share
    picture[..., 3] = np.where(counts > 0, opacity, 0)
    return picture


def _lanes(classes: int) -> tuple[Floats, Floats]:
    """How far from a record's line the lane of each class begins and ends, the closest last."""
    edges = np.linspace(HALF, GAP, classes + 1)
    return edges[1:], edges[:-1]


def _names(hits: HitColumns, lines: Lines) -> list[str]:
    names = [label(hits.records.names[number]) for number in lines.shown.tolist()]
    if lines.others:
        names.append(
            f"{lines.others:,} others, one behind\nanother: {letters(lines.letters)}, own scale"
        )
    return names


def _draw_counts(axes: Any, marks: Marks, lines: int) -> None:
    """Write how many hits each strand of each line has, at the right."""
    for minus, sign, side in ((False, "+", -1), (True, "−", 1)):
        counts = np.bincount(marks.line[marks.minus == minus], minlength=lines)
        for line, count in enumerate(counts.tolist()):
            axes.annotate(
                f"{sign} {count:,}",
                (1.0, line + side * 0.22),
                xycoords=axes.get_yaxis_transform(),
                xytext=(4, 0),
                textcoords="offset points",
                va="center",
                fontsize=7,
                color=GREY,
                annotation_clip=False,
            )
