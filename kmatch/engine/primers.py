"""What an engine needs to know of a search for primers, and what it says of its work."""

from typing import NamedTuple

import numpy as np


class Starts(NamedTuple):
    """All starts of primers in a target of T records and n letters.

    masks: uint8[n], sets of bases (0 matches nothing), records joined end to end; begins:
    int64[T+1], where each begins, and n; limits: int64[n], the most letters that matter, at most to
    the record's end; bounds: int64[n], lower bounds of the shortest lengths, at least k, which
    `extend_primers` raises in place.
    """

    masks: np.ndarray
    begins: np.ndarray
    limits: np.ndarray
    bounds: np.ndarray


class WorkDone(NamedTuple):
    """What was done: cells of matrices computed, blocks of columns under tiles, and the blocks
    given up because all lanes had reached K while rows were left; `again`: those of the cells that
    a GPU computed once more to find larger bounds."""

    cells: int
    blocks: int
    given_up: int
    again: int = 0
