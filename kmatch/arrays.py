"""Types of arrays, rows of unequal length in one array, and look-up tables of bytes."""

import math
from dataclasses import dataclass, fields
from typing import Annotated, Any, Self, TypeVar

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import ArrayLike, NDArray

from kmatch.jit.entries import entry

Bools = NDArray[np.bool_]
Bytes = NDArray[np.uint8]  # ASCII letters, or a set of bases (a mask) a letter
Ints = NDArray[np.int32]
Planes = NDArray[np.int8]  # the number of a bit plane for each letter
Longs = NDArray[np.int64]
Words = NDArray[np.uint64]  # of bit planes
Floats = NDArray[np.float64]
Objects = NDArray[np.object_]
Table = Annotated[Longs, 2]  # with two dimensions
Triple = tuple[Longs, Longs, Longs]

KEY_BITS = 62

copy_rows = entry("kmatch.engine.letters:copy_rows", tuple[Bytes, Longs, Longs, Bytes])

_Item = TypeVar("_Item", bound=np.generic)


@dataclass(frozen=True, eq=False, repr=False)
class Rows:
    """Columns of n rows: every field is an array of n items, and all are filtered together."""

    def __len__(self) -> int:
        first, *_ = fields(self)
        return len(getattr(self, first.name))

    def take(self, rows: NDArray[Any] | slice) -> Self:
        """Return some of the rows: numbers, int64[m], flags, bool[n], or a slice."""
        columns = [getattr(self, column.name)[rows] for column in fields(self)]
        return type(self)(*columns)

    def followed_by(self, others: Self) -> Self:
        """Return the rows, and behind them others."""
        columns = []
        for column in fields(self):
            pair = getattr(self, column.name), getattr(others, column.name)
            columns.append(np.concatenate(pair))
        return type(self)(*columns)


def bounds_of(lengths: ArrayLike) -> Longs:
    """Return where each row begins, and where the last one ends, int64[n+1], from n lengths."""
    bounds = np.zeros(np.size(lengths) + 1, np.int64)
    np.cumsum(lengths, out=bounds[1:])
    return bounds


def offsets_in_rows(bounds: Longs) -> Ints:
    """Return the offset of each item in its row, int32[bounds[-1]]; bounds: int64[n+1]."""
    lengths = np.diff(bounds)
    if len(lengths) and (lengths == lengths[0]).all():
        return np.tile(np.arange(lengths[0], dtype=np.int32), len(lengths))
    offsets = np.arange(bounds[-1])
    offsets -= np.repeat(bounds[:-1], lengths)
    return offsets.astype(np.int32)


def counted_in_rows(flags: Bools, bounds: Longs) -> Longs:
    """Return how many flags are set in each row, int64[n]; bounds: int64[n+1]."""
    totals = bounds_of(flags)
    return totals[bounds[1:]] - totals[bounds[:-1]]


def gather(values: NDArray[_Item], begins: Longs, bounds: Longs) -> NDArray[_Item]:
    """Rows of an array of values, one after another in a new array of bounds[-1] values.

    begins: int64[n], where each row begins among the values; bounds: int64[n+1], where it begins
    in the new array, and where the last one ends there.
    """
    lengths = np.diff(bounds)
    if len(lengths) and lengths[0] and (lengths == lengths[0]).all():
        return sliding_window_view(values, lengths[0])[begins].reshape(-1)
    if values.dtype == np.uint8 and len(lengths):
        rows = np.empty(bounds[-1], values.dtype)
        copy_rows(np.ascontiguousarray(values), np.ascontiguousarray(begins), bounds, rows)
        return rows
    return values[offsets_in_rows(bounds) + np.repeat(begins, lengths)]


def look_up(values: Bytes | bytes, table: Bytes) -> Bytes:
    """table[values] for uint8 values and a table of up to 256, without wide indices."""
    whole = table.tobytes().ljust(256, b"\0")
    return np.frombuffer(bytearray(values).translate(whole), np.uint8)


def distinct(numbers: NDArray[Any]) -> NDArray[Any]:
    """Return the distinct numbers of a flat array, sorted: np.unique, but that imports numpy.ma."""
    ordered = np.sort(numbers)
    return np.concatenate([ordered[:1], ordered[1:][ordered[1:] != ordered[:-1]]])


def ranked(numbers: NDArray[Any]) -> tuple[NDArray[Any], Longs]:
    """Return the distinct numbers of a flat array, sorted, and which of them each is, int64[n]."""
    known = distinct(numbers)
    return known, np.searchsorted(known, numbers)


def run_starts(*keys: NDArray[Any]) -> Longs:
    """Return the rows where a run of equal keys begins, int64[runs].

    keys: of n rows each; a run ends where any of them changes.

        run_starts([5 5 7 7 7 2])  ->  [0 2 5]
    """
    changes = np.zeros(len(keys[0]), np.bool_)
    changes[:1] = True
    for key in keys:
        changes[1:] |= key[1:] != key[:-1]
    return np.flatnonzero(changes)


def first_of_each(order: Longs, *keys: NDArray[Any]) -> Longs:
    """Return of each run of equal keys the row that comes first in an order, int64[runs].

    order: int64[n], rows sorted by the keys before all else; keys: of n rows each.

        first_of_each([3 0 2 1], [5 7 7 5])  ->  [3 2]
    """
    return order[run_starts(*(key[order] for key in keys))]


def range_join(first: Longs, last: Longs) -> tuple[Longs, Longs]:
    """Return every pair of a row and a number of its range, (int64[pairs], int64[pairs]).

    first, last: int64[n], the range of row i being first[i] … last[i]−1, empty where it would end
    before it begins. Pairs are sorted by row, then by number.

        range_join([4 9 0], [6 9 1])  ->  [0 0 2], [4 5 0]
    """
    counts = np.maximum(last - first, 0)
    rows = np.repeat(np.arange(len(first)), counts)
    numbers = np.arange(len(rows)) - np.repeat(bounds_of(counts)[:-1] - first, counts)
    return rows, numbers


def unions(group: Longs, start: Longs, end: Longs) -> tuple[Longs, Longs]:
    """Return of the unions of intervals that overlap or touch the first rows, and the ends.

    group, start, end: int64[n], sorted by group, then by start; intervals of two groups stay apart.

        intervals    ├──┤  ├────┤    ├─┤          1 … 4, 7 … 12, 12 … 14, 17 … 19
                                ├─┤
        unions       ├──┤  ├──────┤  ├─┤          rows 0, 1 and 3; ends 4, 14 and 19
    """
    # On one line, on which intervals of two groups do not touch.
    low = int(start.min(initial=0))
    spacing = int(end.max(initial=0)) - low + 2
    line_start = group * spacing + start - low
    line_end = np.maximum.accumulate(group * spacing + end - low)
    begins = np.ones(len(start), np.bool_)
    begins[1:] = line_start[1:] > line_end[:-1]
    first_rows = np.flatnonzero(begins)
    last_rows = np.append(first_rows[1:], len(start)) - 1
    last_rows = last_rows[: len(first_rows)]
    return first_rows, line_end[last_rows] - group[first_rows] * spacing + low


def order_of(*keys: NDArray[Any]) -> Longs:
    """Return the order of rows by keys, of n rows each, the first key before the others, int64[n].

    Rows that are equal stay as they come. Whole numbers that are nearly in order, as hits are, are
    sorted fast.

        order_of([1 0 1], [5 9 3])  ->  [1 2 0]
    """
    if any(key.dtype.kind == "f" for key in keys):
        return np.lexsort(keys[::-1])
    lows = [int(key.min(initial=0)) for key in keys]
    sizes = [int(key.max(initial=0)) - low + 1 for key, low in zip(keys, lows, strict=True)]
    if math.prod(sizes) >= 1 << KEY_BITS:
        return np.lexsort(keys[::-1])
    packed = np.zeros(len(keys[0]), np.int64)
    for key, low, size in zip(keys, lows, sizes, strict=True):
        packed = packed * size + (key - low)
    return np.argsort(packed, kind="stable")
