"""A target in parts, each of which a GPU of its own can extend primers in."""

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from kmatch.engine.cuda.primer.extend import NO_BOUND, NO_LIMIT, settle
from kmatch.engine.primers import Starts


class TargetPart(NamedTuple):
    """The starts begin … end−1 of a target; starts: these, and letters that their primers reach."""

    begin: int
    end: int
    starts: Starts


def target_parts(starts: Starts, shares: Sequence[int]) -> list[TargetPart]:
    """Cut a target into parts whose starts have about these shares, fewer where it is short."""
    ends = np.cumsum([0, *shares])
    cuts = np.unique(ends * len(starts.bounds) // ends[-1])
    return [_part(starts, begin, end) for begin, end in pairwise(cuts.tolist())]


def _part(starts: Starts, begin: int, end: int) -> TargetPart:
    limits, bounds = starts.limits[begin:end], starts.bounds[begin:end]
    reach = max(int((np.arange(begin, end) + limits).max()), end)
    closed = reach - end  # starts of other parts, whose letters alone are wanted
    begins = np.unique(np.clip(starts.begins, begin, reach)) - begin
    part = Starts(
        starts.masks[begin:reach],
        begins,
        np.append(limits, np.full(closed, NO_LIMIT)),
        np.append(bounds, np.full(closed, NO_BOUND)),
    )
    return TargetPart(begin, end, part)


def take_bounds(starts: Starts, parts: Sequence[TargetPart]) -> None:
    """Raise the bounds of a target to those of its parts."""
    for begin, end, part in parts:
        starts.bounds[begin:end] = part.bounds[: end - begin]
    settle(starts.limits, starts.bounds)
