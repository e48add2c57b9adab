"""k-difference primers: lower bounds of their lengths, raised until they hold for a background.

Feuser & Moreano 2018 compare every position with the whole background in a matrix of its own. Here
64·WORDS neighbouring positions share one sweep, and the bounds known so far select the rows that
matter.
"""

from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from itertools import islice, pairwise
from typing import Annotated, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kmatch.arrays import Bytes, Longs, Words
from kmatch.engine.geometry import LANES
from kmatch.engine.types import Starts
from kmatch.jit.entries import entry

# Borders and strips of a tile stay in the L2 cache; short strips waste fewer rows, tall ones are
# faster.
HEIGHT = 24  # rows of a strip, a multiple of 8
BLOCK = 256  # columns taken at a time
WARM_SHARE = 8  # a stretch of columns is at least this many times as long as its warm-up

TICK = 0.1  # seconds between reports of progress


# What a thread and its caller tell each other of a part (see `extend_tile`).
DONE, STOP, CELLS = range(3)


class StartTile(NamedTuple):
    """A tile of starts, and how it is cut.

    planes: uint64[4, w], the target's, a bit a letter, with zeros at their end; first: the tile's
    first start; bounds, limits: int64[LANES], as in Starts, limits 0 in lanes without a start;
    height: rows of a strip, a multiple of GROUP; block: columns of a block.
    """

    planes: Annotated[Words, 2]
    first: int
    bounds: Longs
    limits: Longs
    k: int
    height: int
    block: int


extend_tile = entry("kmatch.engine.cpu.primer_kernels:extend_tile", tuple[StartTile, Bytes, Longs])


class Part(NamedTuple):
    """A part of the work: a tile by its first start, and columns begin … end − 1."""

    first: int
    begin: int
    end: int


def extend_primers(
    starts: Starts,
    columns: Bytes,
    k: int,
    on_progress: Callable[[float], object] | None = None,
    *,
    threads: int,
) -> int:
    """Raise lower bounds of the shortest lengths with k differences from all of a background.

    See `Engine.extend_primers`.
    """
    target, _, limits, bounds = starts
    settle(limits, bounds)
    planes = target_planes(target, int(limits.max(initial=0)) + HEIGHT)
    parts = _parts(target.size, int(limits.max(initial=0)) + k, columns.size, threads)
    total = max(sum(part.end - part.begin for part in parts), 1)
    watches = np.zeros((len(parts), 3), np.int64)

    def extend(number: int) -> Longs:
        """Extend a part by its number; returns the bounds of its starts."""
        first, begin, end = parts[number]
        starts_of_tile = slice(first, first + LANES)
        lane_bounds = _padded(bounds[starts_of_tile])
        lane_limits = _padded(limits[starts_of_tile])
        tile = StartTile(planes, first, lane_bounds, lane_limits, k, HEIGHT, BLOCK)
        extend_tile(tile, columns[begin:end], watches[number])
        watches[number, DONE] = end - begin
        return lane_bounds

    with ThreadPoolExecutor(threads) as pool:
        try:
            for done in _in_turn(pool, extend, len(parts), 2 * threads):
                for number, found in done:
                    _raise_bounds(limits, bounds, parts[number].first, found)
                if on_progress:
                    on_progress(watches[:, DONE].sum() / total)
        except BaseException:
            watches[:, STOP] = 1
            raise
    return int(watches[:, CELLS].sum())


def _in_turn(
    pool: ThreadPoolExecutor, work: Callable[[int], Longs], count: int, most: int
) -> Iterator[list[tuple[int, Longs]]]:
    """Do so much work, and yield finished items, (number, result) each, at least once a TICK.

    Few items are under way at a time, from left to right: the bounds that one raises save the next
    ones work.
    """
    numbers = iter(range(count))
    under_way: dict[Future[Longs], int] = {}
    while True:
        for number in islice(numbers, most - len(under_way)):
            under_way[pool.submit(work, number)] = number
        if not under_way:
            return
        done, _ = wait(under_way, TICK, FIRST_COMPLETED)
        yield [(under_way.pop(task), task.result()) for task in done]


def _raise_bounds(limits: Longs, bounds: Longs, first: int, found: Longs) -> None:
    """Raise the bounds of a tile's starts to the bounds found, in place, and of later starts."""
    raised = bounds[first : first + LANES]
    np.maximum(raised, found[: raised.size], out=raised)
    reached = slice(first, first + raised.size + int(raised.max()))
    settle(limits[reached], bounds[reached])


def settle(limits: Longs, bounds: Longs) -> None:
    """Raise bounds, in place: primers of later starts do not end before earlier primers.

    Records need not be separated: no bound ends after the first letter of the next record.
    """
    starts = np.arange(len(bounds))
    ends = np.maximum.accumulate(starts + bounds)
    np.maximum(bounds, np.minimum(ends - starts, limits + 1), out=bounds)


def target_planes(target: Bytes, beyond: int) -> Words:
    """Return the target as planes, a bit a letter, uint64[4, w].

    At least `beyond` zeros follow it.
    """
    words = -(-(target.size + LANES + beyond) // 64) + 2
    planes = np.zeros((4, 8 * words), np.uint8)
    for base, plane in enumerate(planes):
        bits = np.packbits(target & (1 << base) != 0, bitorder="little")
        plane[: bits.size] = bits
    return planes.view("<u8").astype(np.uint64, copy=False)


def _parts(starts: int, warm: int, columns: int, threads: int) -> list[Part]:
    """Return the parts of so many starts and columns, a tile's parts behind one another.

    Columns are cut into stretches, enough of them for all threads. Each but the first begins with a
    warm-up, so that values are exact in the columns of its own.
    """
    tiles = -(-starts // LANES)
    wanted = -(-2 * threads // max(tiles, 1))
    count = max(min(wanted, columns // (WARM_SHARE * warm)), 1)
    cuts = [columns * number // count for number in range(count + 1)]
    stretches = [(max(begin - warm, 0), end) for begin, end in pairwise(cuts)]
    return [Part(first, *ends) for first in range(0, starts, LANES) for ends in stretches]


def _padded(array: NDArray[Any]) -> NDArray[Any]:
    """Return an array of LANES items, zeros behind the given ones."""
    full = np.zeros(LANES, array.dtype)
    full[: array.size] = array
    return full
