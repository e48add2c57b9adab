"""What an engine needs to know of a search for differences."""

from typing import Any, NamedTuple

import numpy as np

from kmatch.engine.queries import ReadingArrays


class Profile(NamedTuple):
    """For each text letter the letters of Q queries that match it, a bit a row.

    table: uint64; begins: int64[Q+1]; query q, text mask x (0, 1, 2, 4 or 8), block b of 64 rows is
    at begins[q] + x·blocks + b, with ⌈m / 64⌉ blocks.
    """

    table: np.ndarray
    begins: np.ndarray


class DifferenceQuery(NamedTuple):
    """Q queries within their limits.

    reading: ReadingArrays; limits: int64[Q], the k of each, smaller than its length; k: the
    largest; profile: Profile; reach: letters and k of the longest query.
    """

    reading: ReadingArrays
    limits: np.ndarray
    k: int
    profile: Profile
    reach: int


def difference_query(reading: ReadingArrays, limits: Any, engine: Any) -> DifferenceQuery:
    """The DifferenceQuery of ReadingArrays and the k of each query, int64[Q]."""
    reach = int((np.diff(reading.begins) + limits).max())
    return DifferenceQuery(reading, limits, int(limits.max()), engine.profiles(reading), reach)
