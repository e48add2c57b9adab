"""The picture of hits or products: along their records, and by distance and pattern or pair."""

from typing import Any

from kmatch.pictures.along import draw_along
from kmatch.pictures.classes import Classes, classes_of
from kmatch.pictures.columns import HitColumns
from kmatch.pictures.distances import FEW, Counts, counts_of, draw_distances
from kmatch.pictures.figure import new_figure, nothing
from kmatch.pictures.rows import lines_of
from kmatch.pictures.words import counted

RECORDS = 24  # that have a line of their own
_LINE, _ROW, _BARS = 0.36, 0.19, 2.1  # inches of a record, of a pattern in a table, of bars
_TALLEST, _SPREAD = 0.9, 2.4  # inches of a record where there are few, and of all of them
_EDGES = 1.1  # inches around a panel: titles and axes


def draw_hits(hits: HitColumns, records: int | None = None) -> Any:
    """A Figure of hits; records: how many, those with the most hits, have a line of their own.

    None is RECORDS.
    """
    if not hits.size:
        return nothing(f"no {hits.nouns.row}s")
    classes = classes_of(hits.distance)
    lines = lines_of(hits.records, hits.record, RECORDS if records is None else records)
    counts = counts_of(hits, classes)
    line = min(_TALLEST, max(_LINE, _SPREAD / lines.size))
    heights = [line * lines.size + _EDGES, _height(counts) + _EDGES]
    figure = new_figure(sum(heights))
    above, below = figure.subplots(2, height_ratios=heights)
    figure.get_layout_engine().set(h_pad=0.08, hspace=0.02)
    draw_along(above, hits, classes, lines)
    _draw_legend(above, classes)
    draw_distances(below, counts, classes)
    figure.suptitle(
        f"{counted(hits.size, hits.nouns.row)} of "
        f"{counted(len(hits.patterns), hits.nouns.pattern)} "
        f"in {counted(len(hits.records.names), 'record')}",
        fontsize=11,
        x=0.01,
        ha="left",
    )
    return figure


def _height(counts: Counts) -> float:
    return _BARS if len(counts.names) <= FEW else _ROW * len(counts.names)


def _draw_legend(axes: Any, classes: Classes) -> None:
    from matplotlib.patches import Patch

    pairs = zip(classes.names(), classes.colours(), strict=True)
    axes.legend(
        handles=[Patch(color=colour, label=name) for name, colour in pairs],
        title="distance (the taller, the closer; + above the line, − below)",
        loc="lower left",
        bbox_to_anchor=(0, 1.0),
        ncols=classes.size,
        frameon=False,
        fontsize=8,
        title_fontsize=8,
        handlelength=1,
        columnspacing=1.2,
        borderaxespad=0.2,
        alignment="left",
    )
