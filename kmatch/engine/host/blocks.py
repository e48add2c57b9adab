"""Myers' recurrence for windows of text, 64 pattern letters to a word; its profile of a pattern."""

import numpy as np

from kmatch.engine.host.sharing import SLAB, next_item
from kmatch.jit import inlined, kernel

LETTERS = 9  # text masks: 0 (nothing), 1, 2, 4, 8
NONE, ONE = np.uint64(0), np.uint64(1)
ALL_ONES = np.uint64(0xFFFFFFFFFFFFFFFF)


@kernel
def _fill(pattern, masks, table):
    blocks = table.size // LETTERS
    table[:] = NONE
    for b in range(blocks):
        first, a, c, g, t = 64 * b, NONE, NONE, NONE, NONE
        for i in range(min(64, pattern.size - first)):
            mask, bit = np.uint64(masks[pattern[first + i]]), np.uint64(i)
            a |= (mask & ONE) << bit
            c |= ((mask >> np.uint64(1)) & ONE) << bit
            g |= ((mask >> np.uint64(2)) & ONE) << bit
            t |= ((mask >> np.uint64(3)) & ONE) << bit
        table[blocks + b], table[2 * blocks + b] = a, c
        table[4 * blocks + b], table[8 * blocks + b] = g, t


@kernel
def fill_profiles(work, reading, profile):
    """Fill the table of a Profile, whose begins are known; an item of work is a slab of queries."""
    letters, offsets, _, masks = reading
    item = next_item(work)
    while item >= 0:
        for q in range(item * SLAB, min((item + 1) * SLAB, offsets.size - 1)):
            table = profile.table[profile.begins[q] : profile.begins[q + 1]]
            _fill(letters[offsets[q] : offsets[q + 1]], masks, table)
        item = next_item(work)


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
