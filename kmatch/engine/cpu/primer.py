"""k-difference primers: lower bounds of their lengths, raised until they hold for a background.

Feuser & Moreano 2018 compare every position with the whole background in a matrix of its own. Here
64·WORDS neighbouring positions share one sweep, and the bounds known so far select the rows that
matter.
"""

from collections.abc import Callable
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


class Tile(NamedTuple):
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


extend_tile = entry("kmatch.engine.cpu.primer_kernels:extend_tile", tuple[Tile, Bytes, Longs])


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
    stretches = _stretches(target.size, int(limits.max(initial=0)) + k, columns.size, threads)
    items = [(first, *ends) for first in range(0, target.size, LANES) for ends in stretches]
    watches = np.zeros((len(items), 3), np.int64)

    def work(number: int) -> tuple[int, Longs]:
        first, begin, end = items[number]
        rows = slice(first, first + LANES)
        own = _padded(bounds[rows])
        tile = Tile(planes, first, own, _padded(limits[rows]), k, HEIGHT, BLOCK)
        extend_tile(tile, columns[begin:end], watches[number])
        watches[number, 0] = end - begin
        return first, own

    total = max(sum(end - begin for _, begin, end in items), 1)
    numbers = iter(range(len(items)))
    waiting: set[Future[tuple[int, Longs]]] = set()
    with ThreadPoolExecutor(threads) as pool:
        try:
            # Few at a time, from left to right: the bounds that one raises save the next ones work.
            while True:
                free = 2 * threads - len(waiting)
                waiting |= {pool.submit(work, number) for number in islice(numbers, free)}
                if not waiting:
                    break
                done, waiting = wait(waiting, TICK, FIRST_COMPLETED)
                for task in done:
                    first, found = task.result()
                    rows = bounds[first : first + LANES]
                    np.maximum(rows, found[: rows.size], out=rows)
                    reached = slice(first, first + rows.size + int(rows.max()))
                    settle(limits[reached], bounds[reached])
                if on_progress:
                    on_progress(watches[:, 0].sum() / total)
        except BaseException:
            watches[:, 1] = 1
            raise
    return int(watches[:, 2].sum())


def settle(limits: Longs, bounds: Longs) -> None:
    """Raise bounds, in place: primers of later starts do not end before those of earlier ones.

    Records need not be separated: no bound ends after the first letter of the next record.
    """
    starts = np.arange(len(bounds))
    ends = np.maximum.accumulate(starts + bounds)
    np.maximum(bounds, np.minimum(ends - starts, limits + 1), out=bounds)


def target_planes(target: Bytes, beyond: int) -> Words:
    """The target as planes, a bit a letter, uint64[4, w]; at least `beyond` zeros follow it."""
    words = -(-(target.size + LANES + beyond) // 64) + 2
    planes = np.zeros((4, 8 * words), np.uint8)
    for base, plane in enumerate(planes):
        bits = np.packbits(target & (1 << base) != 0, bitorder="little")
        plane[: bits.size] = bits
    return planes.view("<u8").astype(np.uint64, copy=False)


def _stretches(starts: int, warm: int, columns: int, threads: int) -> list[tuple[int, int]]:
    """Stretches of columns, (begin, end), enough of them for all threads.

    Each but the first begins with a warm-up, so that values are exact in the columns of its own.
    """
    tiles = -(-starts // LANES)
    parts = max(min(-(-2 * threads // max(tiles, 1)), columns // (WARM_SHARE * warm)), 1)
    cuts = [columns * part // parts for part in range(parts + 1)]
    return [(max(begin - warm, 0), end) for begin, end in pairwise(cuts)]


def _padded(array: NDArray[Any]) -> NDArray[Any]:
    """An array of LANES items, zeros after those given."""
    full = np.zeros(LANES, array.dtype)
    full[: array.size] = array
    return full
