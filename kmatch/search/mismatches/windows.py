"""From codes of windows to hits."""

from abc import ABC, abstractmethod
from collections.abc import Generator, Iterable, Iterator
from typing import Any

import numpy as np

from kmatch.arrays import Ints, Longs, bounds_of
from kmatch.engine.protocol import Engine, Scan
from kmatch.engine.types import Columns, Windows
from kmatch.engine.workers import Workers, slabs
from kmatch.results.batches import HitBatch, hit_batch
from kmatch.search.panels.panel import Panel, Request
from kmatch.search.scanning.chunks import PackedChunk
from kmatch.search.scanning.codes import DROPPED, code_batches, rows_at_once, split_windows
from kmatch.search.scanning.dense import codes_ahead
from kmatch.search.scanning.scan import Scanner


class WindowScans(ABC):
    """Base of searches whose codes are windows of a chunk; `panel` ranks their queries.

    A search sets `_engine`, `_request` and `_scanner`.
    """

    panel: Panel
    _engine: Any
    _request: Request
    _scanner: Scanner

    @property
    def queries(self) -> int:
        """Queries that a chunk is compared with."""
        return len(self.panel.lengths)

    @abstractmethod
    def _start(self, chunk: PackedChunk, capacity: int) -> Scan:
        """Begin the scan of a chunk."""

    def run(self, chunks: Iterable[PackedChunk]) -> Generator[HitBatch]:
        """Yield the HitBatches of an iterable of PackedChunks."""
        found = self._scanner.scan(chunks, self._start)
        for chunk, codes in codes_ahead(found, self._engine.threads):
            yield from window_batches(codes, chunk, self.panel, self._request, self._engine)


def window_batches(
    codes: Longs, chunk: PackedChunk, panel: Panel, request: Request, engine: Engine
) -> Iterator[HitBatch]:
    """Yield the HitBatches of a PackedChunk's sorted codes, whose queries are ranks of a Panel.

    request: within whose k they are, and whether they are to be aligned.
    """
    ranks = (panel.pattern, panel.minus, panel.lengths)
    records = (chunk.spans.begins, chunk.spans.lengths)
    workers, most = Workers(engine.threads), rows_at_once(panel.lengths, request.aligned)
    for part in code_batches(codes, engine.threads, most):
        whole, dropped = tuple(np.empty((3, len(part)), np.int64)), np.zeros(1, np.int64)
        kinds = (np.int64, np.int32, np.int32, np.int32, np.uint8)
        parts = tuple(np.empty(len(part), kind) for kind in kinds)
        split = part, request.k, ranks, records, chunk.length, whole, parts, dropped
        workers.run(split_windows, slabs(len(part)), *split)
        columns = [*whole, *parts]
        if dropped[0]:
            kept = whole[2] != DROPPED
            columns = [column[kept] for column in columns]
        if len(columns[0]):
            yield _batch(columns, chunk, panel, engine if request.aligned else None)


def _batch(columns: Any, chunk: PackedChunk, panel: Panel, engine: Engine | None) -> HitBatch:
    """The HitBatch of columns, aligned where an engine is given for that."""
    start, end, record, position, rank, *kinds = columns
    aligned = None if engine is None else _align(position, rank, chunk, panel, engine)
    return hit_batch(chunk.spans, (record, start, end), kinds, aligned)


def _align(
    position: Longs, rank: Ints, chunk: PackedChunk, panel: Panel, engine: Engine
) -> Columns:
    ends = bounds_of(panel.lengths[rank])
    columns = Columns(ends, np.empty(ends[-1], np.uint8), ends, np.empty(ends[-1], np.uint8))
    windows = Windows(position, panel.pattern[rank], panel.minus[rank])
    engine.align_gapless(chunk.plain, windows, panel.written, columns)
    return columns
