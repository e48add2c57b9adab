"""Queries as flat arrays, the form in which kernels on every device read them."""

from typing import Any, NamedTuple

import numpy as np

from kmatch.arrays import (
    Bools,
    Bytes,
    Ints,
    Longs,
    Planes,
    Table,
    look_up,
    offsets_in_rows,
)

LOOK_EVERY = 4


class QueryArrays(NamedTuple):
    """Q queries, letters side by side.

    planes: int8[L], plane numbers; shifts: int32[L], offsets from the window's start; bounds:
    int64[Q, 4]: the counted letters of query q are bounds[q, 0] … bounds[q, 1] − 1 and its exact
    ones bounds[q, 1] … bounds[q, 2] − 1; from letter bounds[q, 3] on it pays to look whether any
    window is still within k; masks: uint8[x], the bases of planes 4 … 4+x−1.
    """

    planes: Planes
    shifts: Ints
    bounds: Table
    masks: Bytes


def window_arrays(masks: Bytes, bounds: Longs, exact: Bools, k: int) -> QueryArrays:
    """Return the QueryArrays of Q windows that are searched within k.

    masks: uint8[L], their letters side by side, along the forward text; bounds: int64[Q+1], where
    the letters of each window begin; none is empty; exact: bool[L], the letters that have to match.
    """
    lengths = counted = np.diff(bounds)
    shifts = offsets_in_rows(bounds)
    if exact.any():  # counted letters come first
        order = np.argsort(2 * np.repeat(np.arange(len(lengths)), lengths) + exact, kind="stable")
        masks = masks[order]
        shifts = shifts[order]
        counted = np.add.reduceat(~exact, bounds[:-1], dtype=np.int64)
    planes, plane_of = _planes_of(masks)
    starts = bounds[:-1]
    # Of so many letters a random lane is within k once in 200,000 or less.
    many = -(-(10 + 2 * k) // LOOK_EVERY) * LOOK_EVERY
    look = starts + np.minimum(counted, many)
    table = np.stack([starts, starts + counted, bounds[1:], look], axis=1)
    return QueryArrays(plane_of, shifts, table, planes[4:])


def _planes_of(masks: Bytes) -> tuple[Bytes, Planes]:
    """Return the mask of each plane, uint8[4+x], and the plane of each letter, int8[L]."""
    others = [mask for mask in range(16) if mask.bit_count() != 1 and (masks == mask).any()]
    planes = np.array([1, 2, 4, 8, *others], np.uint8)
    plane_of = np.zeros(16, np.uint8)
    plane_of[planes] = np.arange(len(planes))
    return planes, look_up(masks, plane_of).view(np.int8)


def step_of(backward: Any) -> Any:
    """Return the step from a letter of the text to the one that a query reads next: 1 or −1.

    backward: whether the text is read downwards. Kernels inline it. All steps of a query have this
    sign: an alignment leads up to its anchor, the letter read last, and a PAM stands behind that.

        position          0 1 2 3 4 5 6 7 8
        step 1            > > > > > a P P P       a the anchor, P the PAM
        step −1           P P P a < < < < <
        text that matches the pattern's letters from the anchor on: anchor, anchor − step, …
        PAM from the anchor outwards: anchor + step, anchor + 2·step, …
    """
    return -1 if backward else 1


class ReadingArrays(NamedTuple):
    """Q queries as the recurrence reads them: letter after letter, along or against the text.

    letters: int8[L], plane numbers, of query q from begins[q] to begins[q+1]; begins:
    int64[Q+1]; backward: uint8[Q], 1 where the text is read downwards (see `step_of`), against
    complemented letters; bases: uint8[4+x], the mask of each plane.
    """

    letters: Planes
    begins: Longs
    backward: Bytes
    bases: Bytes

    @property
    def masks(self) -> Bytes:
        """The bases of the planes behind the first four, uint8[x]."""
        return self.bases[4:]


def reading_arrays(masks: Bytes, begins: Longs, backward: Bytes) -> ReadingArrays:
    """Return the ReadingArrays of Q queries.

    masks: uint8[L], their letters side by side; begins: int64[Q+1]; backward: uint8[Q].
    """
    planes, plane_of = _planes_of(masks)
    return ReadingArrays(plane_of, begins, backward, planes)


class DifferenceQuery(NamedTuple):
    """Q queries within their limits.

    limits: int64[Q], the k of each, smaller than its length; k: the largest of them; reach: the
    most letters and k of a query together.
    """

    reading: ReadingArrays
    limits: Longs
    k: int
    reach: int

    @property
    def lengths(self) -> Longs:
        """Letters of each query, int64[Q]."""
        return np.diff(self.reading.begins)


def difference_query(reading: ReadingArrays, limits: Longs) -> DifferenceQuery:
    """Return the DifferenceQuery of queries and the k of each, int64[Q]."""
    reach = int((np.diff(reading.begins) + limits).max())
    return DifferenceQuery(reading, limits, int(limits.max()), reach)
