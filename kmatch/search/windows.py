"""From codes of windows to hits."""

import numpy as np

from kmatch.search.codes import code_batches, split_windows
from kmatch.search.hits import Columns, HitBatch


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
    start, end, record, position, rank, pattern, distance, minus = columns

    def align(rows):
        return _align(position[rows], rank[rows], chunk, panel, engine)

    return HitBatch(
        record=chunk.spans.first + record,
        start=start,
        end=end,
        pattern=pattern,
        distance=distance,
        minus=minus,
        spans=chunk.spans,
        align=align,
    )


def _align(position, rank, chunk, panel, engine):
    ends = np.concatenate([[0], np.cumsum(panel.lengths[rank])])
    text = np.empty(ends[-1], np.uint8)
    ops = np.empty(ends[-1], np.uint8)
    windows = (position, panel.pattern[rank], panel.minus[rank])
    engine.align_gapless(chunk.plain, *windows, panel.written, ends, text, ops)
    return Columns(ends, ops, ends, text)
