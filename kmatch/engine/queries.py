"""Queries as flat arrays, the form in which kernels on every device read them."""

from typing import NamedTuple

import numpy as np

GROUP = 4  # letters are counted in fours and eights; a query is filled up to a multiple of this

ALWAYS = -1  # plane number of the tile that every position matches


class Query(NamedTuple):
    """One pattern on one strand, as it is read along the forward text.

    counted, exact: lists of (offset from the window's start, mask of bases). A mismatch in
    `counted` costs one; a letter in `exact` has to match.
    """

    counted: list
    exact: list


class QueryArrays(NamedTuple):
    """Q queries, letters side by side.

    planes: int64[L], a plane number or ALWAYS; shifts: int64[L], offset from the window's start;
    bounds: int64[Q, 3], a query's counted letters are bounds[q, 0] … bounds[q, 1] and its exact
    ones bounds[q, 1] … bounds[q, 2], each part filled up to a multiple of GROUP;
    masks: uint8[x], the bases of the planes 4 … 4 + x − 1.
    """

    planes: np.ndarray
    shifts: np.ndarray
    bounds: np.ndarray
    masks: np.ndarray


def query_arrays(queries):
    """Lay out a list of Query as QueryArrays."""
    used = {mask for query in queries for part in query for _, mask in part}
    masks = sorted(used - {1, 2, 4, 8})
    plane_of = {1: 0, 2: 1, 4: 2, 8: 3} | {mask: 4 + i for i, mask in enumerate(masks)}
    planes, shifts, bounds = [], [], []
    for query in queries:
        begins = []
        for part in query:
            begins.append(len(planes))
            planes.extend(plane_of[mask] for _, mask in part)
            shifts.extend(shift for shift, _ in part)
            missing = -len(part) % GROUP
            planes.extend([ALWAYS] * missing)
            shifts.extend([0] * missing)
        bounds.append((*begins, len(planes)))
    return QueryArrays(
        np.array(planes, np.int64),
        np.array(shifts, np.int64),
        np.array(bounds, np.int64).reshape(-1, 3),
        np.array(masks, np.uint8),
    )
