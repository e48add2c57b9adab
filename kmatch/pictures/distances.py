"""How many hits each pattern has by distance: bars for a few patterns, a table for many."""

from typing import Any, NamedTuple

import numpy as np

from kmatch.arrays import Longs
from kmatch.pictures.classes import Classes
from kmatch.pictures.columns import HitColumns, Nouns
from kmatch.pictures.words import counted, label, short_count

FEW = 6  # patterns that have bars
MOST = 30  # patterns that have a row of the table
FAR = 30  # times as many hits, from which on bars have a logarithmic axis
# Okabe and Ito's colours without yellow, which is lost on paper, ordered by contrast.
COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00")
HATCHES = ("", "//", "..", "\\\\", "xx", "--")


class Counts(NamedTuple):
    """Hits of patterns by class of distance, int64[patterns, classes]."""

    names: list[str]
    hits: Longs
    nouns: Nouns


def counts_of(hits: HitColumns, classes: Classes, most: int = MOST) -> Counts:
    """Counts of the patterns, those with the most hits by themselves, the others together."""
    shape = (len(hits.patterns), classes.size)
    at = hits.pattern.astype(np.int64) * classes.size + classes.of(hits.distance)
    counts = np.bincount(at, minlength=shape[0] * shape[1]).reshape(shape)
    names = [label(name) for name in hits.patterns]
    if len(names) <= most:
        return Counts(names, counts, hits.nouns)
    order = np.argsort(-counts.sum(axis=1), kind="stable")
    chosen, rest = np.sort(order[:most]), order[most:]
    names = [*(names[number] for number in chosen.tolist()), f"{counted(len(rest), 'other')}"]
    return Counts(names, np.vstack([counts[chosen], counts[rest].sum(axis=0)]), hits.nouns)


def draw_distances(axes: Any, counts: Counts, classes: Classes) -> None:
    """Draw Counts on axes."""
    draw = _draw_bars if len(counts.names) <= FEW else _draw_table
    draw(axes, counts)
    axes.set_xticks(range(classes.size), classes.names(), fontsize=8)
    axes.set_xlabel("distance", fontsize=9)


def _draw_bars(axes: Any, counts: Counts) -> None:
    patterns, classes = counts.hits.shape
    width = 0.8 / patterns
    for number, (name, hits) in enumerate(zip(counts.names, counts.hits, strict=True)):
        at = np.arange(classes) + (number - (patterns - 1) / 2) * width
        bars = axes.bar(
            at, hits, width * 0.94, label=name, color=COLOURS[number], edgecolor="white",
            hatch=HATCHES[number], linewidth=0,
        )  # fmt: skip
        texts = [f"{count:,}" if patterns == 1 else short_count(count) for count in hits.tolist()]
        texts = [text if text != "0" else "" for text in texts]
        if patterns * classes <= 40:
            axes.bar_label(bars, texts, fontsize=7, padding=1)
    some = counts.hits[counts.hits > 0]
    if some.max() > FAR * some.min():
        axes.set_yscale("log")
        axes.set_ylim(0.5, 3 * some.max())
    else:
        axes.set_ylim(0, 1.12 * some.max())
        axes.yaxis.get_major_locator().set_params(integer=True)
    axes.yaxis.set_major_formatter(lambda value, _: f"{value:,.0f}" if value % 1 == 0 else "")
    axes.set_ylabel(f"{counts.nouns.row}s", fontsize=9)
    axes.tick_params(axis="y", labelsize=8)
    axes.set_xlim(-0.6, classes - 0.4)
    axes.spines[["right", "top"]].set_visible(False)
    axes.legend(
        title=counts.nouns.pattern, loc="lower left", bbox_to_anchor=(0, 1.0), frameon=False,
        fontsize=8, title_fontsize=8, borderaxespad=0.2, alignment="left", ncols=3,
    )  # fmt: skip


def _draw_table(axes: Any, counts: Counts) -> None:
    from matplotlib.colors import LogNorm

    own = np.where(np.arange(len(counts.names))[:, None] < MOST, counts.hits, 0)
    most = max(int(own.max()), 2)
    coloured, scale = np.ma.masked_equal(own, 0), LogNorm(0.5, most)
    axes.imshow(coloured, aspect="auto", cmap="Blues", norm=scale, interpolation="nearest")
    for (row, column), count in np.ndenumerate(counts.hits):
        dark = own[row, column] > 0 and scale(own[row, column]) > 0.6
        axes.text(
            column, row, short_count(int(count)), ha="center", va="center", fontsize=7,
            color="white" if dark else "0.15" if count else "0.7",
        )  # fmt: skip
    axes.set_yticks(range(len(counts.names)), counts.names, fontsize=8)
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
