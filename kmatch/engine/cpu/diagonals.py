"""Distances of candidates within k, a vector of them at a time.

A window of text is compared with a pattern from their first letters on. A word says for each
diagonal of their matrix at which rows, letters of the pattern, it differs from the window. The row
that a diagonal reaches with e differences follows from the rows of its neighbours with e − 1, and
goes on to the next such bit (Landau and Vishkin). Of GATCA and the window GATTCA:

    row                    0 1 2 3 4
    pattern                G A T C A
    window, diagonal 0     G A T T C      differs at 3: reaches row 3 without a difference
    window, diagonal 1     A T T C A      goes on from row 3, a letter of the window skipped, to 5

A letter is two bits, a low and a high one, as in `kmatch.engine.cpu.tables`.
"""

import numpy as np

from kmatch.engine.cpu.vectors import (
    NONE,
    ONE,
    aligned,
    fill,
    load,
    store,
    trailing_zeros,
    where_equal,
)
from kmatch.engine.geometry import WORDS
from kmatch.jit.kernels import kernel

# The state is a flat uint64 array of vectors: the letters of the window and of the pattern, the bit
# behind the pattern's last letter, and that row + SHIFT; from FIRST on the bits at which each of
# 2·k + 1 diagonals differs, and how far it reaches, with a diagonal more on either side.
LOW, HIGH, OTHER, PATTERN_LOW, PATTERN_HIGH, STOP, END, FIRST = (WORDS * i for i in range(8))

SHIFT = 2  # is added to rows, so that 0 is a diagonal that was not reached


@kernel
def new_state(k):
    """Return a state for distances up to k."""
    return aligned(FIRST + (4 * k + 4) * WORDS)


@kernel
def _fill_differ(state, k):
    """Write at which rows each diagonal differs, and that all do behind the pattern."""
    low = load(state, LOW)
    high = load(state, HIGH)
    other = load(state, OTHER)
    pattern_low = load(state, PATTERN_LOW)
    pattern_high = load(state, PATTERN_HIGH)
    stop = load(state, STOP)
    main = FIRST + k * WORDS
    for d in range(k + 1):
        by = fill(np.uint64(d))
        differ = (low >> by ^ pattern_low) | (high >> by ^ pattern_high) | other >> by | stop
        store(state, main + d * WORDS, differ)
        differ = (low << by ^ pattern_low) | (high << by ^ pattern_high) | other << by | stop
        store(state, main - d * WORDS, differ)


@kernel
def distances(state, k):
    """Write the distances of windows and patterns to the state's first vector, k + 1 for more."""
    _fill_differ(state, k)
    end = load(state, END)
    most = fill(np.uint64(k + 1))
    one = fill(ONE)
    shift = fill(np.uint64(SHIFT))
    differ = FIRST + k * WORDS  # of the main diagonal
    reached = FIRST + (3 * k + 2) * WORDS
    for at in range(reached - (k + 1) * WORDS, reached + (k + 2) * WORDS, WORDS):
        store(state, at, fill(NONE))
    row = trailing_zeros(load(state, differ)) + shift
    store(state, reached, row)
    found = where_equal(row, end, fill(NONE), most)
    for e in range(1, k + 1):
        # Rows that the diagonals on the left, here and on the right reach with e − 1 differences.
        left = fill(NONE)
        here = fill(NONE)
        for d in range(-e * WORDS, (e + 1) * WORDS, WORDS):
            right = load(state, reached + d + WORDS)
            row = min(max(max(here + one, left), right + one), end)
            row = row + trailing_zeros(load(state, differ + d) >> row - shift)
            store(state, reached + d, row)
            found = min(found, where_equal(row, end, fill(np.uint64(e)), most))
            left = here
            here = right
    store(state, 0, found)
