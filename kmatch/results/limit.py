"""The closest hits of each pattern, as many as asked for."""

from collections.abc import Callable, Iterable, Iterator, Sequence

import numpy as np

from kmatch.arrays import Ints, Longs
from kmatch.errors import InputError, checked_count
from kmatch.results.batches import HitBatch, joined
from kmatch.sequences.patterns import Pattern, pattern_set

FEW = 1 << 16  # hits beyond those kept that may wait until the farther ones are dropped


def check_limit(limit: int | None) -> int | None:
    """A limit as int; InputError unless it is None or a whole number from 1 on."""
    if limit is None:
        return None
    limit = checked_count("limit", limit)
    if not limit:
        raise InputError("limit is 0; give 1 or more, or None for all hits")
    return limit


def limited(
    batches: Iterable[HitBatch],
    patterns: Sequence[Pattern],
    most: int | None,
    on_warning: Callable[[str], None],
) -> Iterable[HitBatch]:
    """HitBatches of the closest hits of each pattern, `most` a genome; of all where it is None."""
    return batches if most is None else _limited(batches, Limit(patterns, most), on_warning)


def _limited(
    batches: Iterable[HitBatch], limit: "Limit", on_warning: Callable[[str], None]
) -> Iterator[HitBatch]:
    for batch in batches:
        yield from limit.add(batch)
    yield from limit.batches()
    if warning := limit.warning():
        on_warning(warning)


class Limit:
    """Keeps at most `most` hits of each pattern in a genome: the closest, and the first of these.

    patterns: of the search. Memory goes by the hits of a
    genome that are kept: hits that wait are at most as many again, or FEW.
    """

    def __init__(self, patterns: Sequence[Pattern], most: int) -> None:
        self._names, self._most = pattern_set(patterns).names, most
        self._hits, self._given = np.zeros((2, len(self._names)), np.int64)  # of all genomes
        self._genome = 0  # the number of the one whose hits wait
        self._begin()

    def _begin(self) -> None:
        """Begin with the hits of a genome."""
        self._counts = np.zeros(len(self._names), np.int64)
        # The distance from which on a new hit is not kept.
        self._beyond = np.full(len(self._names), np.iinfo(np.int64).max)
        self._parts: list[HitBatch] = []
        self._kept = self._waiting = 0

    def add(self, batch: HitBatch) -> list[HitBatch]:
        """Take the next HitBatch of the search; gives what is kept of the genome before."""
        done: list[HitBatch] = []
        if batch.origin.number != self._genome:
            done = list(self.batches())
        self._genome = batch.origin.number
        self._take(batch)
        return done

    def _take(self, batch: HitBatch) -> None:
        self._counts += np.bincount(batch.pattern, minlength=len(self._counts))
        near = np.flatnonzero(batch.distance < self._beyond[batch.pattern])
        rows = near[_closest(batch.pattern[near], batch.distance[near], self._most)]
        if not len(rows):
            return
        self._parts.append(batch.picked(rows))
        self._waiting += len(rows)
        if self._waiting > max(FEW, self._kept):
            self._reduce()

    def batches(self) -> Iterator[HitBatch]:
        """Yield what is kept of the last genome, in order, as HitBatches."""
        self._reduce()
        self._hits += self._counts
        self._given += np.minimum(self._counts, self._most)
        parts = self._parts
        self._begin()
        yield from parts

    def warning(self) -> str | None:
        """A sentence on the patterns that had more hits, None where there are none."""
        more = np.flatnonzero(self._hits > self._given)
        if not len(more):
            return None
        number = int(more[np.argmax(self._hits[more])])
        given = self._given[number]
        several = f", at most {self._most:,} in a genome" if given > self._most else ""
        sentence = (
            f"pattern '{self._names[number]}' has {self._hits[number]:,} hits, of which the limit "
            f"keeps {given:,}{several}"
        )
        if len(more) == 1:
            return sentence
        return f"{len(more):,} patterns have more hits than the limit keeps; the most: {sentence}"

    def _reduce(self) -> None:
        """Drop the hits that are not among the closest so far."""
        if not self._parts:
            return
        whole = joined(self._parts)
        rows = _closest(whole.pattern, whole.distance, self._most)
        kept = whole.picked(rows)
        self._parts, self._kept, self._waiting = [kept], len(rows), 0
        full = np.bincount(kept.pattern, minlength=len(self._counts)) >= self._most
        farthest = np.zeros(len(full), np.int64)
        np.maximum.at(farthest, kept.pattern, kept.distance)
        self._beyond[full] = farthest[full]


def _closest(pattern: Ints, distance: Ints, most: int) -> Longs:
    """Rows, ascending, that are among the `most` closest of their pattern; the first come first."""
    order = np.lexsort((distance, pattern))
    bounds = np.flatnonzero(np.diff(pattern[order])) + 1
    begins = np.concatenate([np.zeros(1, np.int64), bounds])
    rank = np.arange(len(order)) - np.repeat(begins, np.diff(np.append(begins, len(order))))
    return np.sort(order[rank < most])
