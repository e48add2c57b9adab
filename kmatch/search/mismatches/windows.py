"""From codes of windows to hits."""

import numpy as np

from kmatch.engine.alignments import Columns, Windows
from kmatch.results.hits import hit_batch
from kmatch.search.codes import code_batches, split_windows


class WindowScans:
    """What searches have in common whose codes are windows of a chunk: `panel` ranks its queries.

    A search sets `_engine`, `_k` and `_scanner`, and `_start` begins its scan of a chunk.
    """

    def run(self, chunks):
        """Yield the HitBatches of an iterable of PackedChunks."""
        for chunk, codes in self._scanner.scan(chunks, self._start):
            yield from window_batches(codes, chunk, self.panel, self._k, self._engine)


def window_batches(codes, chunk, panel, k, engine):
    """Yield the HitBatches of a PackedChunk's sorted codes, whose queries are ranks of a Panel."""
    ranks = (panel.pattern, panel.minus, panel.lengths)
    spans = chunk.spans
    for part in code_batches(codes):
        whole = tuple(np.empty((3, len(part)), np.int64))
        kinds = (np.int64, np.int32, np.int32, np.int32, np.uint8)
        parts = tuple(np.empty(len(part), kind) for kind in kinds)
        places = (spans.begins, spans.lengths)
        count = split_windows(part, k, ranks, places, chunk.length, whole, parts)
        if count:
            columns = [column[:count] for column in (*whole, *parts)]
            yield _batch(columns, chunk, panel, engine)


def _batch(columns, chunk, panel, engine):
    start, end, record, position, rank, *kinds = columns

    def align(rows):
        return _align(position[rows], rank[rows], chunk, panel, engine)

    return hit_batch(chunk.spans, (record, start, end), kinds, align)


def _align(position, rank, chunk, panel, engine):
    ends = np.concatenate([[0], np.cumsum(panel.lengths[rank])])
    text = np.empty(ends[-1], np.uint8)
    ops = np.empty(ends[-1], np.uint8)
    columns = Columns(ends, ops, ends, text)
    windows = Windows(position, panel.pattern[rank], panel.minus[rank])
    engine.align_gapless(chunk.plain, windows, panel.written, columns)
    return columns
