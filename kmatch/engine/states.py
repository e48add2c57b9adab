"""Alignments that constraints bind: the matrix has a column for each state instead of each text
letter.

A state and the pattern letters used so far say which text letter comes next. With k = 1 alone a
state is a diagonal (see `unit_states`):

                       state 0     state 1     state 2
                       offset −1   offset 0    offset +1
    0 letters used                 text 0      text 1
    1 letter used      text 0      text 1      text 2
    2 letters used     text 1      text 2      text 3
    3 letters used     text 2      text 3      text 4

A step down is a match or a mismatch. A step to the right skips a text letter, and a step down and
to the left a pattern letter.

The matrix is filled from the far end on with the cost that a path may still have there, and is then
walked from the anchor on: a step is allowed that leaves enough.
"""

import numpy as np

from kmatch.engine.paths import Path, note
from kmatch.engine.types import MISMATCH_KIND, SKIP_PATTERN_KIND, SKIP_TEXT_KIND
from kmatch.jit.kernels import inlined, kernel

NEVER = 1 << 40  # more than any alignment has letters


@inlined
def are_binding(constraints):
    """Return whether constraints bind the alignments within k."""
    return constraints.near > 0 or constraints.far > 0 or constraints.states.apart


@inlined
def _is_exact(near, far, row, rows):
    """Return whether the pattern letter of a row has to match; near, far: see Constraints."""
    return row < near or row >= rows - far


@inlined
def _may_skip_text(near, far, row, rows):
    """Return whether text may be skipped once so many of a pattern's letters are used.

    It may not behind the last of them, nor beside one that has to match.
    """
    is_near = near > 0 and row <= near
    is_far = far > 0 and row >= rows - far
    return row < rows and not is_near and not is_far


@inlined
def longest(begins):
    """Return the largest distance between neighbours in an array that never decreases."""
    most = 0
    for i in range(1, len(begins)):
        most = max(most, begins[i] - begins[i - 1])
    return most


@kernel
def new_spare(search, constraints):
    """Return memory for `fill_spare`, of the patterns of a DifferenceQuery."""
    rows = longest(search.reading.begins) if are_binding(constraints) else -1
    return np.empty((rows + 1, len(constraints.states.offset)), np.int64)


@kernel
def fill_spare(constraints, sides, total, spare):
    """Fill the matrix of states; returns whether there is an alignment.

    sides: Sides; total: the most differences; spare: int64[≥ m + 1, S], filled here. An alignment
    that has come to state s with i letters, and has cost no more than spare[i, s] beside the cost
    of the state itself, can be finished within the total and all bounds. A negative number: none
    can.
    """
    offset, inserted, deleted, cost, start, gap, _ = constraints.states
    pattern, rows, text, shown = sides
    near = constraints.near
    far = constraints.far

    # All pattern letters are used: what is left of the mismatches, and of the total.
    for state in range(len(offset)):
        spare[rows, state] = -NEVER
        if 0 <= rows + offset[state] <= shown:
            spare[rows, state] = min(constraints.mismatches, total - cost[state])

    for row in range(rows - 1, -1, -1):
        is_exact = _is_exact(near, far, row, rows)
        may_skip_text = _may_skip_text(near, far, row, rows)
        for state in range(len(offset) - 1, -1, -1):
            column = row + offset[state]
            most = -NEVER
            if 0 <= column < shown:
                is_match = pattern[row] & text[column] != 0
                if is_match or not is_exact:
                    most = spare[row + 1, state] - (not is_match)
                if may_skip_text and deleted[state] >= 0:
                    most = max(most, spare[row, deleted[state]] - gap)
            if 0 <= column <= shown and not is_exact and inserted[state] >= 0:
                most = max(most, spare[row + 1, inserted[state]] - gap)
            spare[row, state] = most
    return spare[0, start] >= 0


@inlined
def _has_far_letters(far, sides, most):
    """Return whether the last letters that have to match stand somewhere in the text.

    far: how many they are; most: how far they may be from their place without a gap.

        pattern  C A T T G G A      far = 3, most = 1
        text     C T T A G G A T
                       1 2 3        places where GGA is looked for
    """
    pattern, rows, text, shown = sides
    for column in range(max(rows - far - most, 0), min(rows + most, shown) - far + 1):
        i = 0
        while i < far and pattern[rows - far + i] & text[column + i]:
            i += 1
        if i == far:
            return True
    return False


@inlined
def least_total(constraints, sides, least, most, spare):
    """Return the fewest differences of an alignment within constraints, −1 where there is none.

    least, most: between which it is; spare: see `fill_spare`. A matrix that is filled for the most
    tells the rest of every total, as long as mismatches have no bound of their own below it.
    Otherwise an alignment within a total is one within each greater total: totals are tried in
    steps that double, and the last step by halves.
    """
    for i in range(min(constraints.near, sides.shown)):
        if not sides.pattern[i] & sides.text[i]:
            return -1
    if constraints.far > 0 and not _has_far_letters(constraints.far, sides, most):
        return -1
    if constraints.mismatches >= most:
        has_alignment = fill_spare(constraints, sides, most, spare)
        return most - spare[0, constraints.states.start] if has_alignment else -1

    # The fewest differences are more than `below`, and `enough` suffice: mostly the least do.
    below = least - 1
    enough = min(least, most)
    step = 1
    while not fill_spare(constraints, sides, enough, spare):
        if enough == most:
            return -1
        below = enough
        enough = min(enough + step, most)
        step *= 2
    while enough - below > 1:
        total = (below + enough) >> 1
        if fill_spare(constraints, sides, total, spare):
            enough = total
        else:
            below = total
    return enough


@kernel
def walk_within(constraints, sides, spare, marks):
    """Walk the matrix of states from its anchor on, and note differences; returns the Path.

    sides: Sides; spare: as `fill_spare` fills it; marks: see `note`. Of steps that are allowed the
    diagonal one comes first, then the one that skips a text letter.
    """
    offset, inserted, deleted, _, state, gap, _ = constraints.states
    pattern, rows, text, shown = sides
    near = constraints.near
    far = constraints.far
    row = steps = differences = spent = 0
    while row < rows:
        column = row + offset[state]
        is_inside = column < shown
        is_match = is_inside and pattern[row] & text[column] != 0
        may_step = is_match or (is_inside and not _is_exact(near, far, row, rows))
        may_skip_text = is_inside and _may_skip_text(near, far, row, rows) and deleted[state] >= 0
        mismatches = 0 if is_match else 1
        if may_step and spent + mismatches <= spare[row + 1, state]:
            note(marks, differences, steps, MISMATCH_KIND)  # the next one takes a match's place
            differences += mismatches
            spent += mismatches
            row += 1
        elif may_skip_text and spent + gap <= spare[row, deleted[state]]:
            note(marks, differences, steps, SKIP_TEXT_KIND)
            differences += 1
            spent += gap
            state = deleted[state]
        else:
            note(marks, differences, steps, SKIP_PATTERN_KIND)
            differences += 1
            spent += gap
            row += 1
            state = inserted[state]
        steps += 1
    return Path(rows + offset[state], steps, differences)
