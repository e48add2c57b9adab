"""What the search of a shard finds, as arrays that can be sent."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from kmatch.arrays import Bytes, Ints, Longs
from kmatch.engine.alignments import Columns
from kmatch.results.batches import HitBatch
from kmatch.results.columns import take_rows
from kmatch.search.shards.edges import Edges
from kmatch.search.shards.extents import Extent
from kmatch.search.shards.rows import FIELDS, names_of, together

_KINDS = (np.int64, np.int64, np.int64, np.int32, np.int32, np.uint8)


class Found(NamedTuple):
    """Hits, n rows: the columns of HitBatch in their order, the names of their records by number,
    and their alignments, None where nobody asked for them."""

    record: Longs
    start: Longs
    end: Longs
    pattern: Ints
    distance: Ints
    minus: Bytes
    names: dict[int, str]
    columns: Columns | None


class FoundEdges(NamedTuple):
    """Edges whose hits are Found."""

    backward: Bytes
    left: Longs
    right: Longs
    fell: Bytes
    hits: Found
    query: Longs
    touched: Bytes


def found_of(batches: Sequence[HitBatch], extent: Extent | None, aligned: bool) -> Found:
    """The hits of a whole genome, or of an Extent's ShardGenome, counted as in the whole."""
    fields: Any = [_column(batches, *field) for field in zip(FIELDS, _KINDS, strict=True)]
    record, start, end = fields[:3]
    names: dict[int, str] = {}
    for batch in batches:
        names.update(names_of(batch))
    if extent is not None:
        moved = np.where(record == 0, extent.offset, 0)
        start += moved
        end += moved
        record += extent.first
        names = {extent.first + number: name for number, name in names.items()}
    columns = together(batches).columns if aligned else None
    pattern, distance, minus = fields[3:]
    return Found(record, start, end, pattern, distance, minus, names, columns)


def _column(batches: Sequence[HitBatch], name: str, kind: Any) -> Any:
    if len(batches) == 1:
        return getattr(batches[0], name).astype(kind)
    return np.concatenate([np.zeros(0, kind), *(getattr(batch, name) for batch in batches)])


def batch_of(found: Found) -> HitBatch:
    """The HitBatch of what was found."""
    return next(batches_of(found, [len(found.start)], [found.names]))


def batches_of(
    found: Found, counts: Sequence[int], names: Sequence[dict[int, str]]
) -> Iterator[HitBatch]:
    """Yield the same in parts: so many rows each, in records with these names."""
    fields: Any = [_usable(column) for column in found[:6]]
    columns = None if found.columns is None else Columns(*map(_usable, found.columns))
    first = 0
    for count, named in zip(counts, names, strict=True):
        rows = slice(first, first := first + count)
        some = None if columns is None else take_rows(columns, rows)
        record, start, end, pattern, distance, minus = (column[rows] for column in fields)
        yield HitBatch(record, start, end, named, pattern, distance, minus, some)


def _usable(column: Any) -> Any:
    """What was sent may lie anywhere, and kernels are compiled for writeable arrays."""
    return np.require(column, requirements=("C", "A", "W"))


def found_edges(edges: Edges | None, extent: Extent, aligned: bool) -> FoundEdges | None:
    """The Edges of an Extent's ShardGenome, to be sent."""
    if edges is None:
        return None
    backward, left, right, fell, hits, query, touched = edges
    sent = found_of([hits], extent, aligned)
    return FoundEdges(backward, left, right, fell, sent, query, touched)


def edges_of(found: FoundEdges | None) -> Edges | None:
    """The Edges that were sent."""
    if found is None:
        return None
    backward, left, right, fell, hits, query, touched = found
    return Edges(backward, left, right, fell, batch_of(hits), query, touched)
