"""The windows that a shard owns: those that start in its own letters."""

from collections.abc import Iterable, Iterator

import numpy as np

from kmatch.results.batches import HitBatch
from kmatch.search.shards.extents import Extent
from kmatch.search.shards.rows import picked


def owned_windows(batches: Iterable[HitBatch], extent: Extent | None) -> Iterable[HitBatch]:
    """The HitBatches of a shard's genome without what other shards own; None: of a whole genome."""
    return batches if extent is None else _owned(batches, extent)


def _owned(batches: Iterable[HitBatch], extent: Extent) -> Iterator[HitBatch]:
    last = len(extent.names) - 1
    end = int(extent.lengths[last]) - extent.behind
    for batch in batches:
        own = (batch.record > 0) | (batch.start >= extent.before)
        own &= (batch.record < last) | (batch.start < end)
        yield batch if own.all() else picked(batch, np.flatnonzero(own))
