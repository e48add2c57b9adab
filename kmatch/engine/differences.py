"""What an engine needs to know of a search for differences."""

from typing import NamedTuple

import numpy as np

from kmatch.engine.queries import ReadingArrays


class DifferenceQuery(NamedTuple):
    """Q queries within their limits.

    letters: ReadingArrays; limits: int64[Q], the k of each; k: the largest; profile: see
    `kmatch.engine.cpu.blocks.profiles`; reach: letters and k of the longest query.
    """

    letters: ReadingArrays
    limits: np.ndarray
    k: int
    profile: tuple
    reach: int

    @property
    def reading(self):
        """Letters, begins and backward, as kernels take them."""
        return self.letters.letters, self.letters.begins, self.letters.backward


def difference_query(letters, limits, engine):
    """The DifferenceQuery of ReadingArrays and the k of each query, int64[Q]."""
    profile = engine.profiles(letters.letters, letters.begins, letters.bases)
    reach = int((np.diff(letters.begins) + limits).max())
    return DifferenceQuery(letters, limits, int(limits.max()), profile, reach)
