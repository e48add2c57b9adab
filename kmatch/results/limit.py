"""How many hits each pattern has at each distance, as a table and in a report, and the closest."""

import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from typing import TYPE_CHECKING, Any

import numpy as np

from kmatch import __version__
from kmatch.arguments import checked_count
from kmatch.arrays import Longs, bounds_of
from kmatch.errors import warn
from kmatch.results.batches import HitBatch, joined, no_hits
from kmatch.results.columns import write_line
from kmatch.results.lines import number_word
from kmatch.results.output import open_output
from kmatch.sequences.patterns import PatternSet

if TYPE_CHECKING:
    from kmatch.results.scores import Specificity

SCHEMA_VERSION = 1  # of a report
PACKAGES = ("numpy", "numba", "llvmlite")
FEW = 1 << 16  # hits beyond those kept that may wait until the farther ones are dropped


class Counts:
    """Counts the hits of patterns by distance; `hits` is int64[P, k+1].

    k: the largest distance, None for that of the hits; scores: by name, the Specificity of the
    patterns that their hits' scores come to.
    """

    def __init__(
        self,
        patterns: PatternSet,
        k: int | None = None,
        scores: "Mapping[str, Specificity] | None" = None,
    ) -> None:
        self.names, self.scores = patterns.names, scores or {}
        self.hits = np.zeros((len(self.names), (k or 0) + 1), np.int64)

    def add(self, batch: HitBatch) -> None:
        """Count the hits of a HitBatch."""
        more = int(batch.distance.max(initial=0)) + 1 - self.hits.shape[1]
        if more > 0:
            self.hits = np.pad(self.hits, ((0, 0), (0, more)))
        at = batch.pattern.astype(np.int64) * self.hits.shape[1] + batch.distance
        np.add.at(self.hits.reshape(-1), at, 1)
        for specificity in self.scores.values() if len(batch) else ():
            specificity.add(batch)

    def write(self, handle: Any) -> None:
        """Write `pattern d0 … dk total` as TSV to a binary handle, a row a pattern."""
        columns: list[list[Any]] = [["pattern", *self.names]]
        columns += [[f"d{d}", *counts] for d, counts in enumerate(self.hits.T.tolist())]
        columns.append(["total", *self.hits.sum(axis=1).tolist()])
        for score, specificity in self.scores.items():
            words = (number_word(value, "g") for value in specificity.values.tolist())
            columns.append([f"specificity_{score}", *words])
        for row in zip(*columns, strict=True):
            write_line(handle, row)


def write_report(path: str, counts: Counts | None = None, **facts: Any) -> None:
    """Write one object: the facts, versions, the command line, and hits by pattern and distance.

    docs/report.schema.json describes it. counts: of the hits of patterns, where there are any.
    """
    import json
    import platform
    import shlex
    from importlib.metadata import version

    report = {
        "schema_version": SCHEMA_VERSION,
        "kmatch": __version__,
        "versions": {"python": platform.python_version()} | {p: version(p) for p in PACKAGES},
        "command_line": shlex.join(["kmatch", *sys.argv[1:]]),
        **facts,
    }
    if counts is not None:
        rows = zip(counts.names, counts.hits.tolist(), strict=True)
        report["patterns"] = [
            {"pattern": name, "hits": sum(row), "hits_by_distance": row} for name, row in rows
        ]
        bars: defaultdict[str, Counter[str]] = defaultdict(Counter)  # a name may be that of several
        for one in report["patterns"]:
            counted = {f"d{d}": hits for d, hits in enumerate(one["hits_by_distance"])}
            bars[one["pattern"]].update(counted)
        report |= {"plot_type": "bargraph", "data": bars}  # what MultiQC shows
    with open_output(path) as handle:
        handle.write(json.dumps(report, indent=1, ensure_ascii=False).encode("utf-8", "replace"))
        handle.write(b"\n")


def limited(
    batches: Iterable[HitBatch], patterns: PatternSet, most: int | None
) -> Iterator[HitBatch]:
    """HitBatches of the closest hits of each pattern, `most` a genome; of all where it is None.

    Of hits as close the first are kept. Warns of patterns that have more. Raises InputError for
    what is no whole number from 1 on.
    """
    if most is None:
        yield from batches
        return
    most, names = checked_count("limit", most, 1), patterns.names
    hits, given = np.zeros((2, len(names)), np.int64)
    for _, of_genome in groupby(batches, lambda batch: batch.origin.number):
        counts = np.zeros(len(names), np.int64)
        yield _closest(of_genome, most, counts)
        hits += counts
        given += np.minimum(counts, most)
    more = np.flatnonzero(hits > given)
    if len(more):
        number = int(more[np.argmax(hits[more])])
        several = f", at most {most:,} in a genome" if given[number] > most else ""
        sentence = (
            f"pattern '{names[number]}' has {hits[number]:,} hits, of which the limit keeps "
            f"{given[number]:,}{several}"
        )
        if len(more) > 1:
            sentence = (
                f"{len(more):,} patterns have more hits than the limit keeps; the most: {sentence}"
            )
        warn(sentence)


def _closest(batches: Iterable[HitBatch], most: int, counts: Longs) -> HitBatch:
    """At most `most` hits of each pattern: the closest, and the first of these.

    counts: int64[P], receives how many there were. Memory goes by the hits that are kept: those
    that wait are at most as many again, or FEW.
    """
    parts, kept, waiting = [no_hits()], 0, 0
    for batch in batches:
        counts += np.bincount(batch.pattern, minlength=len(counts))
        parts.append(_first(batch, most))
        waiting += len(parts[-1])
        if waiting > max(FEW, kept):
            parts = [_first(joined(parts), most)]
            kept, waiting = len(parts[0]), 0
    return _first(joined(parts), most)


def _first(batch: HitBatch, most: int) -> HitBatch:
    """The rows that are among the closest of their pattern, the first of these."""
    keys = batch.distance, batch.pattern
    small = [key.astype(np.min_scalar_type(int(key.max(initial=0)))) for key in keys]
    order = np.lexsort(tuple(small))  # by radix
    bounds = bounds_of(np.bincount(batch.pattern))
    rank = np.arange(len(order)) - bounds[batch.pattern[order]]
    return batch.picked(np.sort(order[rank < most]))
