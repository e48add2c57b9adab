"""Queries as flat arrays, the form in which kernels on every device read them."""

from functools import lru_cache
from typing import NamedTuple

import numpy as np

LOOK_EVERY = 4
RARE = 2e-5  # a lane's chance to be within k, below which it pays to look whether any lane is


class Query(NamedTuple):
    """One pattern on one strand, as it is read along the forward text.

    counted, exact: lists of (offset from the window's start, mask of bases). A mismatch in
    `counted` costs one; a letter in `exact` has to match.
    """

    counted: list
    exact: list


class QueryArrays(NamedTuple):
    """Q queries, letters side by side.

    planes: int64[L], plane numbers; shifts: int64[L], offsets from the window's start; bounds:
    int64[Q, 4], a query's counted letters are bounds[q, 0] … bounds[q, 1] and its exact ones
    bounds[q, 1] … bounds[q, 2], and from letter bounds[q, 3] on a kernel does well to give up a
    part of the text where no window is within k; masks: uint8[x], the bases of planes 4 … 4+x−1.
    """

    planes: np.ndarray
    shifts: np.ndarray
    bounds: np.ndarray
    masks: np.ndarray


def query_arrays(queries, k):
    """Lay out a list of Query, to be searched within k, as QueryArrays."""
    used = {mask for query in queries for part in query for _, mask in part}
    masks = sorted(used - {1, 2, 4, 8})
    plane_of = {1: 0, 2: 1, 4: 2, 8: 3} | {mask: 4 + i for i, mask in enumerate(masks)}
    planes, shifts, bounds = [], [], []
    for query in queries:
        first, exact = len(planes), len(planes) + len(query.counted)
        letters = query.counted + query.exact
        planes.extend(plane_of[mask] for _, mask in letters)
        shifts.extend(shift for shift, _ in letters)
        bases = sum(mask.bit_count() for _, mask in query.counted)
        look = first + _first_look(len(query.counted), bases, k)
        bounds.append((first, exact, len(planes), look))
    return QueryArrays(
        np.array(planes, np.int64),
        np.array(shifts, np.int64),
        np.array(bounds, np.int64).reshape(-1, 4),
        np.array(masks, np.uint8),
    )


@lru_cache(maxsize=4096)
def _first_look(letters, bases, k):
    """Letters after which a random text is within k so rarely that looking pays.

    `bases` is the sum of the bases that the letters stand for; all letters are taken to be alike.
    """
    matching = bases / (4 * letters) if letters else 1
    chance = np.zeros(k + 1)  # of 0 … k mismatches so far
    chance[0] = 1
    for count in range(1, letters + 1):
        chance[1:] = chance[1:] * matching + chance[:-1] * (1 - matching)
        chance[0] *= matching
        if count % LOOK_EVERY == 0 and chance.sum() < RARE:
            return count
    return letters


class ReadingArrays(NamedTuple):
    """Q queries as the recurrence reads them: letter after letter, along or against the text.

    letters: int64[L], plane numbers, those of query q from begins[q] to begins[q+1], int64[Q+1];
    backward: uint8[Q], 1 where the text is read downwards, against complemented letters;
    bases: uint8[4+x], the mask of each plane.
    """

    letters: np.ndarray
    begins: np.ndarray
    backward: np.ndarray
    bases: np.ndarray

    @property
    def masks(self):
        """The bases of the planes behind the first four, uint8[x]."""
        return self.bases[4:]


def reading_arrays(letters, backward):
    """Lay out queries, a list of the masks of their letters and a direction each."""
    joined = np.concatenate(letters)
    bases = np.concatenate([[1, 2, 4, 8], np.setdiff1d(joined, [1, 2, 4, 8])]).astype(np.uint8)
    plane_of = np.zeros(16, np.int64)
    plane_of[bases] = np.arange(len(bases))
    begins = np.cumsum([0] + [len(masks) for masks in letters])
    return ReadingArrays(plane_of[joined], begins, np.array(backward, np.uint8), bases)
