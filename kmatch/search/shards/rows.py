"""Rows of HitBatches, picked and put together; their spans name records by number."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from kmatch.arrays import Longs
from kmatch.engine.alignments import Columns
from kmatch.results.alignments import NONE, take_rows
from kmatch.results.batches import HitBatch, aligned_anew, numbers_of
from kmatch.sequences.chunks import Spans

FIELDS = ("record", "start", "end", "pattern", "distance", "minus")
RECORD = 1 << 34  # more than a position in a record: a row's record and position in one number
NO_PLACES = np.zeros(0, np.int64)


def places(batch: HitBatch) -> Longs:
    """Record and start of each row in one number, int64[n]."""
    return batch.record * RECORD + batch.start


def named_spans(names: dict[int, str]) -> Spans:
    """Spans that name records by their number, and nothing else."""
    by_number: Any = names
    return Spans(0, by_number, NO_PLACES, NO_PLACES)


def picked(batch: HitBatch, rows: Any) -> HitBatch:
    """The HitBatch of rows of another: a slice of rows side by side, or numbers, int64[n]."""
    if isinstance(rows, slice):
        return _sliced(batch, rows)
    return batch.picked(rows)


def _sliced(batch: HitBatch, rows: slice) -> HitBatch:
    """Rows side by side, which stay in the arrays that they are in."""
    first, last, _ = rows.indices(len(batch))
    if (first, last) == (0, len(batch)):
        return batch

    def align(part: Any) -> Columns:
        if not isinstance(part, slice):
            return batch.align(first + part)
        begin, end, _ = part.indices(max(last - first, 0))
        return batch.align(slice(first + begin, first + end))

    return replace(batch, **{name: getattr(batch, name)[rows] for name in FIELDS}, align=align)


def together(batches: Sequence[HitBatch]) -> HitBatch:
    """The rows of HitBatches, one after another as one."""
    if not batches:
        return NO_HITS
    if len(batches) == 1:
        return batches[0]
    sizes = [len(batch) for batch in batches]
    source = np.repeat(np.arange(len(batches)), sizes)
    local = np.concatenate([np.arange(size) for size in sizes])
    names: dict[int, str] = {}
    for batch in batches:
        names.update(names_of(batch))

    def align(rows: Any) -> Columns:
        return aligned_anew(list(batches), source[rows], local[rows])

    columns = [[getattr(each, name) for each in batches] for name in FIELDS]
    fields: Any = {
        name: np.concatenate(column) for name, column in zip(FIELDS, columns, strict=True)
    }
    return replace(batches[0], **fields, spans=named_spans(names), align=align)


def settled(batch: HitBatch) -> HitBatch:
    """The same rows with their alignments at hand, without what these were computed from."""
    return replace(bare(batch), align=partial(take_rows, batch.align(slice(None))))


def bare(batch: HitBatch) -> HitBatch:
    """The same rows without alignments and without what these are computed from."""
    return replace(batch, spans=named_spans(names_of(batch)), align=_unaligned)


def _unaligned(rows: Any) -> Columns:
    return NONE


def names_of(batch: HitBatch) -> dict[int, str]:
    """Names of the records that have hits, by number."""
    names: Any = batch.spans.names
    first = batch.spans.first
    return {number: names[number - first] for number in numbers_of(batch.record)[0].tolist()}


def in_order(batch: HitBatch) -> HitBatch:
    """The rows sorted by record, start, end, strand and pattern, equal ones as they come."""
    keys = ("pattern", "minus", "end", "start", "record")
    return picked(batch, np.lexsort([getattr(batch, name) for name in keys]))


def _no_hits() -> HitBatch:
    whole, kinds = np.zeros(0, np.int64), np.zeros(0, np.int32)
    spans, minus = named_spans({}), np.zeros(0, np.uint8)
    return HitBatch(whole, whole, whole, kinds, kinds, minus, spans, lambda rows: NONE)


NO_HITS = _no_hits()
