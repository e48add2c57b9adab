"""Distances of WORDS windows and patterns at a time, anchored at their first letters.

A word says for each diagonal of the matrix where window and pattern differ. The row that a diagonal
reaches with e differences follows from those that its neighbours reach with e − 1, and goes on to
the next such bit (Landau and Vishkin).

`state` is a flat uint64 array of vectors: the rows named below, 2·k + 1 that say where window and
pattern differ, and 2·k + 3 how far each diagonal reaches.
"""

import numpy as np

from kmatch.engine.cpu.bits.numbers import (
    down,
    larger,
    minus,
    plus,
    smaller,
    trailing_zeros,
    up,
    where_equal,
)
from kmatch.engine.cpu.bits.vectors import NONE, ONE, WORDS, aligned, fill, load, store
from kmatch.jit import kernel

# The letters of the window and of the pattern, bit m alone, and m + SHIFT.
LOW, HIGH, OTHER, PATTERN_LOW, PATTERN_HIGH, STOP, END, FIRST = (WORDS * i for i in range(8))
SHIFT = 2  # is added to rows, so that 0 is a diagonal that was not reached


@kernel
def new_state(k):
    """A state for distances up to k."""
    return aligned(FIRST + (4 * k + 4) * WORDS)


@kernel
def _differ(state, k):
    """Note where window and pattern differ on each diagonal."""
    low, high, other = load(state, LOW), load(state, HIGH), load(state, OTHER)
    ours, theirs = load(state, PATTERN_LOW), load(state, PATTERN_HIGH)
    stop, middle = load(state, STOP), FIRST + k * WORDS
    for d in range(k + 1):
        by = fill(np.uint64(d))
        wrong = (down(low, by) ^ ours) | (down(high, by) ^ theirs) | down(other, by) | stop
        store(state, middle + d * WORDS, wrong)
        wrong = (up(low, by) ^ ours) | (up(high, by) ^ theirs) | up(other, by) | stop
        store(state, middle - d * WORDS, wrong)


@kernel
def distances(state, k):
    """Put the distances at 0, k + 1 where they are more; pattern and window are in the state."""
    _differ(state, k)
    end, most = load(state, END), fill(np.uint64(k + 1))
    one, shift = fill(ONE), fill(np.uint64(SHIFT))
    wrong, far = FIRST + k * WORDS, FIRST + (3 * k + 2) * WORDS  # of the main diagonal
    for at in range(far - (k + 1) * WORDS, far + (k + 2) * WORDS, WORDS):
        store(state, at, fill(NONE))
    row = plus(trailing_zeros(load(state, wrong)), shift)
    store(state, far, row)
    best = where_equal(row, end, fill(NONE), most)
    for e in range(1, k + 1):
        before, here = fill(NONE), fill(NONE)
        for d in range(-e * WORDS, (e + 1) * WORDS, WORDS):
            after = load(state, far + d + WORDS)
            row = smaller(larger(larger(plus(here, one), before), plus(after, one)), end)
            row = plus(row, trailing_zeros(down(load(state, wrong + d), minus(row, shift))))
            store(state, far + d, row)
            before, here = here, after
            best = smaller(best, where_equal(row, end, fill(np.uint64(e)), most))
    store(state, 0, best)
