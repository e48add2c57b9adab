"""How many hits each pattern has at each distance, and the closest of them."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any

import numpy as np

from kmatch.arrays import Ints, Longs
from kmatch.errors import InputError, checked_count, warn
from kmatch.results.batches import HitBatch, joined
from kmatch.results.columns import worded
from kmatch.sequences.patterns import Pattern, pattern_set

if TYPE_CHECKING:
    from kmatch.results.scores import Specificity

FEW = 1 << 16  # hits beyond those kept that may wait until the farther ones are dropped


class Counts:
    """Counts the hits of patterns by distance; `hits` is int64[P, k+1].

    k: the largest distance, None for that of the hits; scores: by name, what scores hits and sums
    that up to the specificity of each pattern.
    """

    def __init__(
        self,
        patterns: Sequence[Pattern],
        k: int | None = None,
        scores: "Mapping[str, Specificity] | None" = None,
    ) -> None:
        self.names, self.scores = pattern_set(patterns).names, scores or {}
        self.hits = np.zeros((len(self.names), (k or 0) + 1), np.int64)

    def add(self, batch: HitBatch) -> None:
        """Count the hits of a HitBatch."""
        more = int(batch.distance.max(initial=0)) + 1 - self.hits.shape[1]
        if more > 0:
            self.hits = np.pad(self.hits, ((0, 0), (0, more)))
        at = batch.pattern.astype(np.int64) * self.hits.shape[1] + batch.distance
        np.add.at(self.hits.reshape(-1), at, 1)
        for specificity in self.scores.values():
            specificity.add(batch)

    def write(self, handle: Any) -> None:
        """Write `pattern d0 … dk total` as TSV to a binary handle, a row a pattern."""
        distances = [f"d{distance}" for distance in range(self.hits.shape[1])]
        counts = np.column_stack([self.hits, self.hits.sum(axis=1)]).tolist()
        rows: list[list[Any]] = [["pattern", *distances, "total"]]
        rows += [[name, *row] for name, row in zip(self.names, counts, strict=True)]
        for score, specificity in self.scores.items():
            words = map(worded("g"), specificity.values.tolist())
            for row, word in zip(rows, (f"specificity_{score}", *words), strict=True):
                row.append(word)
        text = "".join("\t".join(map(str, row)) + "\n" for row in rows)
        handle.write(text.encode("utf-8", "surrogateescape"))


def check_limit(limit: int | None) -> int | None:
    """A limit as int; InputError unless it is None or a whole number from 1 on."""
    if limit is None:
        return None
    limit = checked_count("limit", limit)
    if not limit:
        raise InputError("limit is 0; give 1 or more, or None for all hits")
    return limit


def limited(
    batches: Iterable[HitBatch], patterns: Sequence[Pattern], most: int | None
) -> Iterable[HitBatch]:
    """HitBatches of the closest hits of each pattern, `most` a genome; of all where it is None.

    Of hits as close the first are kept. Warns of patterns that have more.
    """
    return batches if most is None else _limited(batches, pattern_set(patterns).names, most)


def _limited(batches: Iterable[HitBatch], names: list[str], most: int) -> Iterator[HitBatch]:
    hits, given = np.zeros((2, len(names)), np.int64)
    for _, of_genome in groupby(batches, lambda batch: batch.origin.number):
        closest = Closest(len(names), most)
        for batch in of_genome:
            closest.add(batch)
        hits += closest.hits
        given += np.minimum(closest.hits, most)
        yield from closest.kept()
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


class Closest:
    """Keeps at most `most` hits of each pattern: the closest, and the first of these.

    hits: int64[P], how many there were. Memory goes by the hits that are kept: those that wait are
    at most as many again, or FEW.
    """

    def __init__(self, patterns: int, most: int) -> None:
        self._most = most
        self.hits = np.zeros(patterns, np.int64)
        # The distance from which on a new hit is not kept.
        self._beyond = np.full(patterns, np.iinfo(np.int64).max)
        self._parts: list[HitBatch] = []
        self._kept = self._waiting = 0

    def add(self, batch: HitBatch) -> None:
        """Take the next HitBatch of the search."""
        self.hits += np.bincount(batch.pattern, minlength=len(self.hits))
        near = np.flatnonzero(batch.distance < self._beyond[batch.pattern])
        rows = near[_closest(batch.pattern[near], batch.distance[near], self._most)]
        if len(rows):
            self._parts.append(batch.picked(rows))
            self._waiting += len(rows)
        if self._waiting > max(FEW, self._kept):
            self.kept()

    def kept(self) -> list[HitBatch]:
        """What is kept, in order, when the farther hits are dropped."""
        if not self._parts:
            return []
        whole = joined(self._parts)
        kept = whole.picked(_closest(whole.pattern, whole.distance, self._most))
        self._parts, self._kept, self._waiting = [kept], len(kept), 0
        full = np.bincount(kept.pattern, minlength=len(self.hits)) >= self._most
        farthest = np.zeros(len(full), np.int64)
        np.maximum.at(farthest, kept.pattern, kept.distance)
        self._beyond[full] = farthest[full]
        return self._parts


def _closest(pattern: Ints, distance: Ints, most: int) -> Longs:
    """Rows, ascending, that are among the `most` closest of their pattern; the first come first."""
    order = np.lexsort((distance, pattern))
    bounds = np.flatnonzero(np.diff(pattern[order])) + 1
    begins = np.concatenate([np.zeros(1, np.int64), bounds])
    rank = np.arange(len(order)) - np.repeat(begins, np.diff(np.append(begins, len(order))))
    return np.sort(order[rank < most])
