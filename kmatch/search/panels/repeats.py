"""Patterns that repeat are searched once, and reported under each of their names."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from kmatch.arrays import Bools, Ints, Longs, bounds_of, gather
from kmatch.results.batches import HitBatch
from kmatch.sequences.patterns import Pattern, PatternSet, pattern_set

Part = tuple[HitBatch, int, int]  # of a batch: its first row, and where it ends


class Copies(NamedTuple):
    """The patterns of a panel that have the letters of each distinct one.

    names: of all patterns; numbers: int32[P], those of copies of distinct pattern d, ascending,
    from bounds[d] to bounds[d+1], int64[D+1].
    """

    names: list[str]
    numbers: Ints
    bounds: Longs

    @property
    def none(self) -> bool:
        """Whether no pattern repeats."""
        return len(self.bounds) > len(self.numbers)

    def names_of(self, wanted: Bools) -> list[str]:
        """Names of all copies, in the panel's order, of the patterns for which `wanted` is set."""
        each = np.repeat(wanted, np.diff(self.bounds))
        return [self.names[number] for number in np.sort(self.numbers[each])]


def distinct_patterns(patterns: Sequence[Pattern]) -> tuple[PatternSet, Copies]:
    """The PatternSet without patterns of the same letters, case and U apart, and its Copies."""
    panel = pattern_set(patterns)
    letters = "\n".join(panel.sequences).upper().replace("U", "T").split("\n")
    if len(set(letters)) == len(letters):
        everything = np.arange(len(letters) + 1)
        return panel, Copies(panel.names, everything[:-1].astype(np.int32), everything)
    kinds: dict[str, int] = {}
    kind = np.array([kinds.setdefault(word, len(kinds)) for word in letters])
    numbers = np.argsort(kind, kind="stable").astype(np.int32)
    bounds = bounds_of(np.bincount(kind))
    return panel.take(numbers[bounds[:-1]].astype(np.int64)), Copies(panel.names, numbers, bounds)


def with_copies(batches: Iterable[HitBatch], copies: Copies) -> Iterable[HitBatch]:
    """The HitBatches of a panel out of those of its distinct patterns, in order, one by one.

    batches: an iterable of HitBatches; hits of one interval may be spread over several of them.
    """
    return batches if copies.none else _with_copies(batches, copies)


def _with_copies(batches: Iterable[HitBatch], copies: Copies) -> Iterator[HitBatch]:
    waiting: list[
        Part
    ] = []  # parts of batches, (batch, first, end), that the next one may belong between
    for batch in batches:
        if not len(batch):
            continue
        first = _rows_at(batch, waiting[-1]) if waiting else 0
        if first:
            if len(waiting) == 1:
                before, waiting = _without_last_interval(*waiting[0])
                if before:
                    yield _expanded(*before, copies)
            waiting.append((batch, 0, first))
            if first == len(batch):
                continue
        yield from _ordered(waiting, copies)
        waiting = [(batch, first, len(batch))]
    yield from _ordered(waiting, copies)


def _intervals(batch: HitBatch, rows: slice) -> Longs:
    return np.stack([batch.record[rows], batch.start[rows], batch.end[rows], batch.minus[rows]])


def _rows_at(batch: HitBatch, part: Part) -> int:
    """How many rows a batch begins with that are at the last interval of a part of another."""
    other, _, end = part
    if (_intervals(batch, slice(1)) != _intervals(other, slice(end - 1, end))).any():
        return 0
    same = (_intervals(batch, slice(None)) == _intervals(other, slice(end - 1, end))).all(axis=0)
    return len(batch) if same.all() else int(np.argmin(same))


def _without_last_interval(batch: HitBatch, first: int, end: int) -> tuple[Part | None, list[Part]]:
    """A part of a batch without the rows of its last interval, or None, and a list of the rest."""
    intervals = _intervals(batch, slice(first, end))
    rest = first + int(np.argmax((intervals == intervals[:, -1:]).all(axis=0)))
    return (batch, first, rest) if rest > first else None, [(batch, rest, end)]


def _copied(batch: HitBatch, first: int, end: int, copies: Copies) -> tuple[Longs, Ints]:
    """(row, pattern) of all copies of the hits of a part, int64[n] and int32[n], in order."""
    distinct = batch.pattern[first:end]
    begins = copies.bounds[distinct]
    counts = copies.bounds[distinct + 1] - begins
    pattern = gather(copies.numbers, begins, bounds_of(counts))
    row = np.repeat(np.arange(end - first), counts)
    intervals = _intervals(batch, slice(first, end))
    number = np.cumsum(np.any(np.diff(intervals, prepend=intervals[:, :1]), axis=0))[row]
    order = np.argsort(number * len(copies.names) + pattern, kind="stable")  # nearly in order
    return first + row[order], pattern[order]


def _expanded(batch: HitBatch, first: int, end: int, copies: Copies) -> HitBatch:
    row, pattern = _copied(batch, first, end, copies)
    return replace(batch.picked(row), pattern=pattern)


def _ordered(parts: list[Part], copies: Copies) -> Iterator[HitBatch]:
    """Yield the hits of a part with their copies, or of several parts with one interval."""
    if len(parts) < 2:
        yield from (_expanded(*part, copies) for part in parts)
        return
    copied = [_copied(*part, copies) for part in parts]
    source = np.repeat(np.arange(len(parts)), [len(row) for row, _ in copied])
    row, pattern = (np.concatenate(column) for column in zip(*copied, strict=True))
    order = np.argsort(pattern, kind="stable")
    for run in np.split(order, np.flatnonzero(np.diff(source[order])) + 1):
        batch, *_ = parts[source[run[0]]]
        yield replace(batch.picked(row[run]), pattern=pattern[run])
