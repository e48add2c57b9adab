"""k-difference primers: lower bounds of their lengths, raised by background until they hold.

Feuser & Moreano 2018 compare every position with the whole background by a matrix of its own; here
64·WORDS neighbouring positions share one sweep, and bounds known already say which rows matter.
"""

from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from itertools import islice, pairwise
from typing import NamedTuple

import numpy as np

from kmatch.engine.cpu.primer_tile import LANES, climb, extend_tile

BLOCK = 256  # columns of a block: borders and strips of a tile stay in the second-level cache
HEIGHT = 24  # rows of a strip: short ones waste fewer rows, tall ones are taken faster
WARM_SHARE = 8  # a stretch of columns is at least this many times as long as its warm-up
TICK = 0.1  # seconds between reports of progress


class Work(NamedTuple):
    """What was done: cells of matrices computed, blocks of columns under tiles, and the blocks
    given up because all lanes had reached K while rows were left; `again`: those of the cells that
    a GPU computed once more to find larger bounds."""

    cells: int
    blocks: int
    given_up: int
    again: int = 0


def extend_primers(
    target,
    begins,
    limits,
    bounds,
    columns,
    k,
    on_progress=None,
    *,
    threads,
    height=HEIGHT,
    block=BLOCK,
):
    """Raise lower bounds of the shortest lengths with k differences from all of a background.

    target: uint8[n], masks of bases (0 matches nothing), records joined end to end; begins:
    int64[T+1], where each begins, and n; limits: int64[n], the most rows that matter, at most to
    the record's end; bounds: int64[n], at least k, changed in place: afterwards the largest of what
    it was and the smallest length up to the limit with k differences from every substring of the
    columns, or limits + 1 where there is none, raised so that r + bounds[r] never falls within a
    record; columns: uint8, background letters 0 to 3 (A, C, G, T), 4 for what matches nothing, and
    5 before each record; k: int, 1 or more; on_progress(share) hears how much is done; threads:
    int; height, block: rows of a strip, a multiple of 8, and columns of a block. Returns Work.
    """
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
        extend_tile(
            (planes, first),
            columns[begin:end],
            *mine,
            k,
            height,
            block,
            watches[number],
            tally[number],
        )
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
    return Work(*tally.sum(axis=0).tolist())


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
