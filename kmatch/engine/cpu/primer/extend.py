"""k-difference primers: lower bounds of their lengths, raised by background until they hold.

Feuser & Moreano 2018 compare every position with the whole background by a matrix of its own; here
64·WORDS neighbouring positions share one sweep, and bounds known already say which rows matter.
"""

from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from itertools import islice, pairwise
from typing import NamedTuple

import numpy as np

from kmatch.engine.cpu.primer.tile import LANES, Tile, climb, extend_tile
from kmatch.engine.primers import WorkDone

WARM_SHARE = 8  # a stretch of columns is at least this many times as long as its warm-up
TICK = 0.1  # seconds between reports of progress


class Sizes(NamedTuple):
    """How the work is cut: rows of a strip, a multiple of 8, and columns of a block.

    Borders and strips of a tile stay in the second-level cache; short strips waste fewer rows, tall
    ones are taken faster.
    """

    height: int = 24
    block: int = 256


SIZES = Sizes()


def extend_primers(starts, columns, k, on_progress=None, *, threads, sizes=SIZES):
    """Raise lower bounds of the shortest lengths with k differences from all of a background.

    See `Engine.extend_primers`; threads: int; sizes: Sizes. Returns WorkDone.
    """
    target, begins, limits, bounds = starts
    height, block = sizes
    opens = np.zeros(target.size, bool)
    opens[begins[:-1][np.diff(begins) > 0]] = True
    climb(bounds, limits, opens, 1, target.size)
    planes = target_planes(target, int(limits.max(initial=0)) + height)
    stretches = _stretches(target.size, int(limits.max(initial=0)) + k, columns.size, threads)
    items = [(first, *ends) for first in range(0, target.size, LANES) for ends in stretches]
    watches = np.zeros((len(items), 2), np.int64)
    tally = np.zeros((len(items), 3), np.int64)

    def work(number):
        first, begin, end = items[number]
        rows = slice(first, first + LANES)
        mine = [_padded(array[rows]) for array in (bounds, limits, opens)]
        tile = Tile(planes, first, *mine, k, height, block)
        extend_tile(tile, columns[begin:end], watches[number], tally[number])
        watches[number, 0] = end - begin
        return first, mine[0]

    total = max(sum(end - begin for _, begin, end in items), 1)
    numbers, waiting = iter(range(len(items))), set()
    with ThreadPoolExecutor(threads) as pool:
        try:
            # Few at a time, the left ones first: what they find shortens the work of those after.
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
                    climb(bounds, limits, opens, first, first + rows.size)
                if on_progress:
                    on_progress(watches[:, 0].sum() / total)
        except BaseException:
            watches[:, 1] = 1
            raise
    return WorkDone(*tally.sum(axis=0).tolist())


def target_planes(target, beyond):
    """The target as planes of one bit a letter, uint64[4, w], and at least so many zeros more."""
    words = -(-(target.size + LANES + beyond) // 64) + 2
    planes = np.zeros((4, 8 * words), np.uint8)
    for base, plane in enumerate(planes):
        bits = np.packbits(target & (1 << base) != 0, bitorder="little")
        plane[: bits.size] = bits
    return planes.view("<u8").astype(np.uint64, copy=False)


def _stretches(starts, warm, columns, threads):
    """Where stretches of columns begin and end, so that every thread has work.

    Each begins early enough to know all that the one before it knows of its own columns.
    """
    tiles = -(-starts // LANES)
    parts = max(min(-(-2 * threads // max(tiles, 1)), columns // (WARM_SHARE * warm)), 1)
    cuts = [columns * part // parts for part in range(parts + 1)]
    return [(max(begin - warm, 0), end) for begin, end in pairwise(cuts)]


def _padded(array):
    """An array of LANES items, zeros after those given."""
    full = np.zeros(LANES, array.dtype)
    full[: array.size] = array
    return full
