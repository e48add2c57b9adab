"""Units of work: which columns of a background are taken past which tile of starts.

Units are int64[n, 3]: a tile, the first of its columns and the one past the last, in multiples of
COLUMNS. Those further left come first, so that others see the bounds that they raise.
"""

import numpy as np

from kmatch.arrays import Longs
from kmatch.engine.cuda.edit.recurrence import COLUMNS

NEVER = -(1 << 40)  # the end of columns where there are none


def all_units(tiles: Longs, begin: int, end: int, span: int, least: int, parts: float) -> Longs:
    """The units of some tiles and the columns begin … end−1, at most `span` of them each.

    Towards the end they shrink, lest some multiprocessors wait for the last ones of others: a unit
    has one of `parts` parts of the columns left, or `least` if that is more.
    """
    bounds = [begin]
    while bounds[-1] < end:
        left = end - bounds[-1]
        share = -(-left // max(int(parts * COLUMNS), 1)) * COLUMNS
        bounds.append(bounds[-1] + min(span, max(share, least), left))
    firsts, ends = np.array(bounds[:-1]), np.array(bounds[1:])
    columns = np.repeat(firsts, len(tiles)), np.repeat(ends, len(tiles))
    return np.stack([np.tile(tiles, len(firsts)), *columns], axis=1)


def alive_units(units: Longs, numbers: Longs, reached: Longs) -> Longs:
    """The units of some numbers, of each the columns in which it is alive.

    reached: int64[n, 2] of all units, the first of these columns and the end of the last. A unit
    that is alive in its warm-up alone is left out: these columns are another's.
    """
    alive = units[numbers]
    alive[:, 1] = np.maximum(alive[:, 1], reached[numbers, 0])
    alive[:, 2] = np.minimum(alive[:, 2], reached[numbers, 1])
    return alive[alive[:, 1] < alive[:, 2]]


def further_units(
    alive: Longs, tiles: Longs, reached: Longs, warm: int, begin: int, end: int
) -> Longs:
    """The units of columns begin … end−1 to take down further rows, at most twice as many, uncut.

    alive: the units alive below the rows taken before, with a warm-up of `warm` columns; tiles:
    those that are open; reached: int64 of every tile, the end of the last columns before `begin`
    that were alive below these rows, or NEVER. Further down an alignment moves right by no more
    columns than the warm-up has, so as many are added.
    """
    before = reached[tiles]
    before = np.stack([tiles, np.full(len(tiles), begin), before], axis=1)[before + warm > begin]
    units = np.concatenate([alive, before])
    units[:, 2] = np.minimum(units[:, 2] + warm, end)
    return _merged(units, end)


def _merged(units: Longs, end: int) -> Longs:
    """The same units with those that touch made one; none ends after `end`."""
    tile, first, last = (units + units[:, :1] * [0, end + 1, end + 1]).T
    order = np.argsort(first, kind="stable")
    last = np.maximum.accumulate(last[order])
    apart = np.append(True, first[order][1:] > last[:-1])[: len(units)]
    begins = order[apart]
    ends = np.append(np.flatnonzero(apart)[1:], len(units))[: len(begins)] - 1
    tile = tile[begins]
    return np.stack([tile, units[begins, 1], last[ends] - tile * (end + 1)], axis=1)


def cut_units(units: Longs, most: int, fewest: int) -> Longs:
    """The same units cut into units of at most `most` columns, a multiple of COLUMNS, in order.

    Those of few columns in all are cut further, into about `fewest` units: one takes as long as its
    columns with their warm-up, on its own as beside others.
    """
    size = units[:, 2] - units[:, 1]
    share = int(size.sum()) // (fewest * COLUMNS)
    most = min(most, max(share, 1) * COLUMNS)
    parts = -(-size // most)
    size = np.repeat(-(-size // (parts * COLUMNS)) * COLUMNS, parts)
    number = np.arange(len(size)) - np.repeat(np.cumsum(parts) - parts, parts)
    tile, first, last = np.repeat(units, parts, axis=0).T
    first = first + number * size
    order = np.argsort(first, kind="stable")
    return np.stack([tile, first, np.minimum(first + size, last)], axis=1)[order]
