"""Rows of hits that wait, put in order and made into columns, in compiled code."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from kmatch.arrays import Longs
from kmatch.engine.types import Traced
from kmatch.jit import kernel
from kmatch.search.scanning.codes import last_at, next_at

# A hit: its coordinates, those of the chain of minima that it stands for, that of its anchored end,
# its number of columns, and the number of its chunk.
_FIELDS = "start end first reach query distance anchor size source"
ROW = np.dtype([(name, np.int64) for name in _FIELDS.split()])
RowArray = NDArray[Any]  # of ROW
NO_ROWS: RowArray = np.zeros(0, ROW)
KEY_BITS = 62


def make_rows(number: int, base: int, ends: tuple[Longs, Longs, Longs], traced: Traced) -> RowArray:
    """Rows, ROW[n], of the ends in chunk `number`, whose first letter has the coordinate `base`.

    ends: (position, query, distance), int64[n] each, anchored ends; traced: their Traced.
    """
    rows = np.empty(len(traced.other), ROW)
    _fill_rows(rows, number, base, ends, traced)
    return rows


@kernel
def _fill_rows(rows, number, base, ends, traced):
    position, query, distance = ends
    other, size = traced
    for i in range(len(rows)):
        row = rows[i]
        row["start"] = row["first"] = base + min(position[i], other[i])
        row["end"] = row["reach"] = base + max(position[i], other[i]) + 1
        row["query"], row["distance"] = query[i], distance[i]
        row["anchor"], row["size"], row["source"] = base + position[i], size[i], number


def join_rows(*parts: RowArray) -> RowArray:
    """The rows of all parts; the only one that has any is returned itself."""
    filled = [rows for rows in parts if len(rows)]
    if len(filled) > 1:  # as numbers: NumPy copies records field by field
        return np.concatenate([rows.view(np.int64) for rows in filled]).view(ROW)
    return filled[0] if filled else NO_ROWS


def split_rows(rows: RowArray, coordinate: int) -> tuple[RowArray, RowArray]:
    """(rows that start before a coordinate, those that do not), in their order."""
    before, behind = np.empty(len(rows), ROW), np.empty(len(rows), ROW)
    count = _split_rows(rows, coordinate, before, behind)
    return before[:count], behind[: len(rows) - count]


@kernel
def _split_rows(rows, coordinate, before, behind):
    count = 0
    for i in range(len(rows)):
        if rows[i]["start"] < coordinate:
            before[count] = rows[i]
            count += 1
        else:
            behind[i - count] = rows[i]
    return count


def in_order(rows: RowArray, queries: int) -> RowArray:
    """The rows sorted by start, end and query, equal ones as they come; queries: how many there
    are."""
    if not len(rows):
        return rows
    start, length = rows["start"], rows["end"] - rows["start"]
    first, longest = int(start.min()), int(length.max()) + 1
    if (int(start.max()) - first + 1) * longest * queries >= 1 << KEY_BITS:
        return rows[np.lexsort((rows["query"], rows["end"], rows["start"]))]
    keys = ((start - first) * longest + length) * queries + rows["query"]
    return rows[np.argsort(keys, kind="stable")]


def by_source(rows: RowArray) -> list[RowArray]:
    """The rows in stretches, each of one chunk."""
    if not len(rows):
        return []
    source = rows["source"]
    cuts = np.flatnonzero(source[1:] != source[:-1]) + 1
    return np.split(rows, cuts)


@kernel
def fill_columns(rows, base, spans, panel, intervals, kinds):
    """Columns of hits from rows of one chunk, whose first letter has the coordinate `base`.

    spans: (begins, lengths) of its records; panel: (pattern int32, minus uint8), by query;
    intervals: (record, start, end), int64[n], and kinds: (pattern int32, distance int32, minus
    uint8), [n] each, filled here. `record` counts from the first of the spans.
    """
    begins = spans[0]
    record, start, end = intervals
    pattern, distance, minus = kinds
    span = last_at(begins, rows[0]["anchor"] - base)
    for i in range(len(rows)):
        row = rows[i]
        position = row["anchor"] - base
        span = next_at(begins, position, span)
        while begins[span] > position:
            span -= 1
        record[i] = span
        start[i] = row["start"] - base - begins[span]
        end[i] = row["end"] - base - begins[span]
        pattern[i], minus[i] = panel[0][row["query"]], panel[1][row["query"]]
        distance[i] = row["distance"]
