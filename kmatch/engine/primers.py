"""Starts of primers, as engines take them, and a record of the work done."""

from typing import NamedTuple

from kmatch.arrays import Bytes, Longs


class Starts(NamedTuple):
    """All starts of primers in a target of T records and n letters.

    masks: uint8[n], sets of bases (0 matches nothing), records joined end to end; begins:
    int64[T+1], where each begins, and n; limits: int64[n], the largest lengths of interest, none
    beyond the record's end; bounds: int64[n], lower bounds of the shortest lengths, at least k,
    which `extend_primers` raises.
    """

    masks: Bytes
    begins: Longs
    limits: Longs
    bounds: Longs


class WorkDone(NamedTuple):
    """What was done.

    cells: of matrices, computed; blocks: of columns, taken past tiles; given_up: the blocks that
    were left because all lanes had reached k while rows remained; again: the cells that a GPU
    computed once more to find larger bounds.
    """

    cells: int
    blocks: int
    given_up: int
    again: int = 0
