"""Rows of HitBatches, put in order and together."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from kmatch.arrays import Longs
from kmatch.results.batches import HitBatch, joined, no_hits, numbers_of

FIELDS = ("record", "start", "end", "pattern", "distance", "minus")
RECORD = 1 << 34  # more than a position in a record: a row's record and position in one number
NO_HITS = no_hits()


def places(batch: HitBatch) -> Longs:
    """Record and start of each row in one number, int64[n]."""
    return batch.record * RECORD + batch.start


def picked(batch: HitBatch, rows: Any) -> HitBatch:
    """The HitBatch of rows of another: a slice of rows side by side, or numbers, int64[n]."""
    return batch.picked(rows)


def together(batches: Sequence[HitBatch]) -> HitBatch:
    """The rows of HitBatches, one after another as one."""
    filled = [batch for batch in batches if len(batch)]
    return joined(filled) if filled else NO_HITS


def settled(batch: HitBatch) -> HitBatch:
    """The same rows, with names of their records alone."""
    return replace(batch, names=names_of(batch))


def bare(batch: HitBatch) -> HitBatch:
    """The same rows without alignments."""
    return replace(settled(batch), columns=None)


def names_of(batch: HitBatch) -> dict[int, str]:
    """Names of the records that have hits, by number."""
    return {number: batch.names[number] for number in numbers_of(batch.record)[0].tolist()}


def in_order(batch: HitBatch) -> HitBatch:
    """The rows sorted by record, start, end, strand and pattern, equal ones as they come."""
    keys = ("pattern", "minus", "end", "start", "record")
    return picked(batch, np.lexsort([getattr(batch, name) for name in keys]))
