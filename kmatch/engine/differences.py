"""Queries of a search for differences, as engines take them."""

from typing import NamedTuple, Protocol

import numpy as np

from kmatch.arrays import Longs, Words
from kmatch.engine.queries import ReadingArrays


class Profile(NamedTuple):
    """For each text letter the letters of Q queries that match it, a bit a row.

    table: uint64, with block b of 64 rows of query q, which has ⌈m / 64⌉ blocks, for text mask x
    (0, 1, 2, 4 or 8) at begins[q] + x·blocks + b; begins: int64[Q+1].
    """

    table: Words
    begins: Longs


class DifferenceQuery(NamedTuple):
    """Q queries within their limits.

    limits: int64[Q], the k of each, smaller than its length; k: the largest of them; reach: the
    most letters and k of a query together.
    """

    reading: ReadingArrays
    limits: Longs
    k: int
    profile: Profile
    reach: int

    @property
    def lengths(self) -> Longs:
        """Letters of each query, int64[Q]."""
        return np.diff(self.reading.begins)


class Profiler(Protocol):
    """The part of an Engine that makes profiles."""

    def profiles(self, reading: ReadingArrays) -> Profile:
        """See `Engine.profiles`."""


def difference_query(reading: ReadingArrays, limits: Longs, engine: Profiler) -> DifferenceQuery:
    """The DifferenceQuery of queries and the k of each, int64[Q]."""
    reach = int((np.diff(reading.begins) + limits).max())
    return DifferenceQuery(reading, limits, int(limits.max()), engine.profiles(reading), reach)
