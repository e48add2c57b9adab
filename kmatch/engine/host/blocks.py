"""Myers' recurrence for windows of text, 64 pattern letters to a word; its profile of a pattern."""

import numpy as np

from kmatch.engine.differences import Profile
from kmatch.jit import inlined, kernel

LETTERS = 9  # text masks: 0 (nothing), 1, 2, 4, 8
NONE, ONE = np.uint64(0), np.uint64(1)
ALL_ONES = np.uint64(0xFFFFFFFFFFFFFFFF)


@kernel
def profiles(reading):
    """The Profile of the queries of ReadingArrays."""
    patterns, offsets, _, masks = reading
    queries = offsets.size - 1
    begins = np.zeros(queries + 1, np.int64)
    for q in range(queries):
        begins[q + 1] = begins[q] + LETTERS * ((offsets[q + 1] - offsets[q] + 63) >> 6)
    table = np.zeros(begins[queries], np.uint64)
    for q in range(queries):
        blocks = (begins[q + 1] - begins[q]) // LETTERS
        for i in range(offsets[q + 1] - offsets[q]):
            mask = masks[patterns[offsets[q] + i]]
            for base in range(4):
                if (mask >> base) & 1:
                    table[begins[q] + (1 << base) * blocks + (i >> 6)] |= ONE << np.uint64(i & 63)
    return Profile(table, begins)


@inlined
def block(eq, pv, mv, plus, minus):
    """One column of one block: (pv, mv, horizontal +1, horizontal -1, diagonal 0), rows as bits.

    plus, minus: the horizontal delta that comes in at the top, as 0 or 1 each.
    """
    xv = eq | mv
    eq |= minus
    xh = (((eq & pv) + pv) ^ pv) | eq
    ph = mv | ~(xh | pv)
    mh = pv & xh
    up, down = (ph << ONE) | plus, (mh << ONE) | minus
    return down | ~(xv | up), up & xv, ph, mh, xh | mv
