"""Times of calls, and of calls in turn."""

import statistics
import time
from collections.abc import Callable, Sequence
from typing import TypeVar

Result = TypeVar("Result")


def timed(
    call: Callable[[], Result], clock: Callable[[], float] = time.perf_counter
) -> tuple[Result, float]:
    """The result and the seconds of a call."""
    began = clock()
    result = call()
    return result, clock() - began


def take_turns(repeat: int, *calls: Callable[[], Result]) -> list[tuple[Result, ...]]:
    """The results of calls that take turns, a tuple for each call."""
    turns = [[call() for call in calls] for _ in range(repeat)]
    return list(zip(*turns, strict=True))


def median_ratio(ours: Sequence[float], theirs: Sequence[float]) -> float:
    """The median of their seconds ÷ ours, turn by turn."""
    return statistics.median(b / a for a, b in zip(ours, theirs, strict=True))
