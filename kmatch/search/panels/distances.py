"""How many differences each pattern may have: a number for all, or a share of its letters."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from kmatch.arrays import Longs
from kmatch.errors import checked_share
from kmatch.results.batches import HitBatch, joined
from kmatch.search.panels.panel import check_distance
from kmatch.sequences.patterns import Pattern, pattern_set


def pattern_distances(patterns: Sequence[Pattern], k: int | str) -> Longs:
    """The k of each pattern, int64[P].

    k: a whole number, or a share of a pattern's length such as `10%`, rounded down. Raises
    InputError where it is neither, or not smaller than each pattern.
    """
    panel = pattern_set(patterns)
    if isinstance(k, str):
        numerator, denominator = checked_share("k", k)
        return panel.lengths * numerator // denominator
    return np.full(len(panel), check_distance(panel, k), np.int64)


def renumbered(batch: HitBatch, numbers: Longs) -> HitBatch:
    """A HitBatch of some patterns as one of the panel; numbers: int64[P], theirs in the panel."""
    return replace(batch, pattern=numbers[batch.pattern].astype(np.int32))


def merged(batches: list[HitBatch]) -> HitBatch:
    """The hits of several HitBatches of a chunk in order, as one."""
    hits = joined(batches)
    return hits.picked(np.lexsort((hits.pattern, hits.minus, hits.end, hits.start, hits.record)))
