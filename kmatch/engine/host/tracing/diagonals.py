"""Traceback of hits with few differences, by diagonals of the matrix.

A hit with d differences stays within d diagonals of the one that it ends on. A word says for each
of them where pattern and text differ. The row that a diagonal reaches with e differences follows
from those that its neighbours reach with e − 1, and goes on to the next such bit (Landau and
Vishkin). These rows decide all d steps of the walk back that are no matches.
"""

from typing import NamedTuple

import numpy as np

from kmatch.arrays import Longs, Words
from kmatch.engine.cpu.bits.vectors import ALL_ONES, ONE, lowest
from kmatch.engine.host.tracing.bits import SEEN, matching, matching_backward, width
from kmatch.jit import inlined, kernel

MOST = 8  # differences; the work grows with their square
DIAGONALS = 2 * MOST + 1


class Band(NamedTuple):
    """The diagonals beside the one that a hit with d differences ends on, which is number d.

    wrong: uint64[DIAGONALS], the rows in which pattern and text differ; far: int64[MOST·DIAGONALS],
    at e·DIAGONALS + x the row that diagonal x reaches with e differences.
    """

    wrong: Words
    far: Longs


@kernel
def new_band():
    """A Band to be filled."""
    return Band(np.empty(DIAGONALS, np.uint64), np.empty(MOST * DIAGONALS, np.int64))


@inlined
def bits_between(letters, at, length, backward):
    """Where each base is among `length` letters, a word each of A, C, G and T.

    letters: uint8, masks, of which SEEN are read from `at` on; the last of them is bit 0 of the
    words where they are read backward.
    """
    kept = ALL_ONES >> np.uint64(SEEN - length)
    if backward:
        a, c = matching_backward(letters, at, 1), matching_backward(letters, at, 2)
        g, t = matching_backward(letters, at, 4), matching_backward(letters, at, 8)
    else:
        a, c = matching(letters, at, 1), matching(letters, at, 2)
        g, t = matching(letters, at, 4), matching(letters, at, 8)
    return a & kept, c & kept, g & kept, t & kept


@inlined
def _compare(table, begin, bits, d, wrong):
    """Note the rows in which pattern and text differ; the row behind the pattern is one."""
    a, c, g, t = table[begin + 1], table[begin + 2], table[begin + 4], table[begin + 8]
    of_a, of_c, of_g, of_t = bits
    for x in range(2 * d + 1):
        by = np.uint64(x)
        same = (of_a >> by & a) | (of_c >> by & c) | (of_g >> by & g) | (of_t >> by & t)
        wrong[x] = ~same


@inlined
def _reach(m, d, band):
    """Note the rows that diagonals reach with fewer than d differences."""
    wrong, far = band
    for x in range(2 * d + 1):
        far[x] = lowest(wrong[x])
    for e in range(1, d):
        for x in range(e, 2 * d + 1 - e):
            at = (e - 1) * DIAGONALS + x
            row = min(max(max(far[at] + 1, far[at - 1]), far[at + 1] + 1), m)
            far[at + DIAGONALS] = row + lowest(wrong[x] >> np.uint64(row))


@inlined
def walk_near(profile, bits, hit, band):
    """Walk from an anchored end back, as `trace` does; returns (text letters used, columns).

    profile: (table, begin) of the query, whose m letters are one block; bits: of the m + d text
    letters up to the end, see `bits_between`; hit: (m, d), 0 < d ≤ MOST; band: Band, overwritten.
    """
    m, d = hit
    wrong, far = band
    _compare(profile[0], profile[1], bits, d, wrong)
    _reach(m, d, band)
    i, x, deleted = m, d, 0
    for e in range(d - 1, -1, -1):
        i = width(wrong[x] & ((ONE << np.uint64(i)) - ONE))
        at = e * DIAGONALS + x
        if far[at] >= i - 1:
            i -= 1
        elif far[at - 1] >= i:
            x, deleted = x - 1, deleted + 1
        else:
            i, x = i - 1, x + 1
    return m + d - x, m + deleted
