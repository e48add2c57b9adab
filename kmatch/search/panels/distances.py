"""How many differences each pattern may have: a number for all, or a share of its letters."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from kmatch.arguments import checked_share
from kmatch.arrays import Longs
from kmatch.engine.alignments import Columns
from kmatch.results.batches import HitBatch, aligned_anew
from kmatch.search.panels.panel import check_distance
from kmatch.sequences.chunks import Spans
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


def merged(batches: list[HitBatch], spans: Spans) -> HitBatch:
    """The hits of several HitBatches of a chunk in order, as one; spans: of the chunk."""
    names = ("record", "start", "end", "pattern", "distance", "minus")
    columns = {name: np.concatenate([getattr(batch, name) for batch in batches]) for name in names}
    order = np.lexsort([columns[name] for name in ("pattern", "minus", "end", "start", "record")])
    sizes = [len(batch) for batch in batches]
    source = np.repeat(np.arange(len(batches)), sizes)[order]
    local = np.concatenate([np.arange(size) for size in sizes])[order]

    def align(rows: Any) -> Columns:
        return aligned_anew(batches, source[rows], local[rows])

    ordered: dict[str, Any] = {name: column[order] for name, column in columns.items()}
    return replace(batches[0], **ordered, spans=spans, align=align)
