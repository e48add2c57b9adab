"""Alignments of anchored ends: a traceback from the anchor to where the hit begins.

The matrix of pattern × text is walked from the anchor on, the letter that was read last. A step is
diagonal (`=` or `X`), or skips a text letter (`D`), or skips a pattern letter (`I`); where several
lead on within the distance, the first of these is taken. The pattern ACGT ends at the T of …GACT
with one difference:

            text, from the anchor on
                  T   C   A   G
              0                         numbers: differences so far
          T       0                     T and T match
          G       1                     G is skipped; a mismatch with C would cost two more
          C           1                 C and C match
          A               1             A and A match
    pattern                             CIGAR, forward: 2=1I1=

Where k alone bounds the alignments, how far a diagonal leads with e differences follows from its
neighbours with e − 1 (Landau and Vishkin 1989, from the far end on), and decides each step. With as
many mismatches on the main diagonal as differences in all, that diagonal is the alignment. Where
constraints bind, see `kmatch.engine.states`.
"""

from typing import Any, NamedTuple

import numpy as np

from kmatch.engine.cpu.hits import next_item
from kmatch.engine.cpu.vectors import NONE, bits_alike, highest, pointer
from kmatch.engine.letters import anchor_of, sides_of
from kmatch.engine.pams import read_pam
from kmatch.engine.paths import Path, Room, note, number_of, write_columns, write_text
from kmatch.engine.states import (
    NEVER,
    are_binding,
    fill_spare,
    longest,
    new_spare,
    walk_within,
)
from kmatch.engine.types import MISMATCH_KIND, SKIP_PATTERN_KIND, SKIP_TEXT_KIND
from kmatch.engine.workers import SLAB
from kmatch.jit.kernels import inlined, kernel


class Memory(NamedTuple):
    """The memory of a thread that walks.

    pattern, text: masks, the sides of a matrix; pam: masks beside the anchor; marks: see `note`;
    reached, differ: see `_fill_reached`. Each is an array, or a pointer into it.
    """

    pattern: Any
    text: Any
    pam: Any
    marks: Any
    reached: Any
    differ: Any


@kernel
def _new_memory(search, constraints):
    """Return the Memory for a DifferenceQuery and its Constraints, as arrays."""
    k = search.k
    rows = longest(search.reading.begins)
    beyond = 64  # letters that are compared are read by so many
    return Memory(
        np.empty(rows + beyond, np.uint8),
        np.empty(k + rows + k + beyond, np.uint8),  # also by diagonals before the main one
        np.empty(constraints.pams.shape[2], np.uint8),
        np.empty(2 * rows + k, np.int64),
        np.empty(k * (2 * k + 1), np.int64),
        np.empty((2 * k + 1) * ((rows + 63) >> 6), np.uint64),
    )


@inlined
def _pointers(memory, k):
    """Return the same Memory as pointers, that to the text being to the anchor's letter."""
    return Memory(
        pointer(memory.pattern, 0),
        pointer(memory.text, k),
        pointer(memory.pam, 0),
        pointer(memory.marks, 0),
        pointer(memory.reached, 0),
        pointer(memory.differ, 0),
    )


@inlined
def _run_begin(differ, first_word, row):
    """Return the row at which a run of matches begins that ends before `row`.

    differ: from differ[first_word] on a bit for each row of a diagonal, set where letters differ.

        bit          0 1 2 3 4 5 6 7
        differ       0 1 0 0 1 0 0 0      row 7 → 5, row 5 → 5, row 4 → 2, row 1 → 0
    """
    while row > 0:
        # The bits before the row, the nearest of them highest.
        before = differ[first_word + ((row - 1) >> 6)] << np.uint64(-row & 63)
        if before != NONE:
            return row - 63 + highest(before)
        row = (row - 1) & ~63
    return 0


@kernel
def _fill_reached(sides, distance, reached, differ):
    """Fill `reached` with how far from the far end differences suffice.

    reached: a pointer to int64; differ: a pointer to uint64, memory. With e differences, and on the
    diagonal where o more letters of the text than of the pattern are used, the most pattern letters
    from the far end on that suffice are at e·(2·distance + 1) + distance + o; negative where the
    text has too few letters. The cells that a walk from the main diagonal can ask for are filled:

                      o  −2  −1   0   1   2        with distance 2
        no differences    r   r   r   r   r
        1 difference          r   r   r            from the three above it
    """
    pattern, rows, text, shown = sides
    across = 2 * distance + 1
    words = (rows + 63) >> 6
    for diagonal in range(across):
        for word in range(words):
            letter = 64 * word
            alike = bits_alike(pattern, letter, text, letter + diagonal - distance)
            differ[diagonal * words + word] = ~alike
    for e in range(distance):
        for diagonal in range(e, across - e):
            if e == 0:
                reach = 0 if rows + diagonal - distance <= shown else -NEVER
            else:
                before = (e - 1) * across + diagonal
                reach = reached[before] + 1  # a mismatch
                reach = max(reach, reached[before + 1])  # a text letter skipped
                reach = max(reach, reached[before - 1] + 1)  # a pattern letter skipped
                reach = min(reach, rows)
            if reach >= 0:
                reach = rows - _run_begin(differ, diagonal * words, rows - reach)
            reached[e * across + diagonal] = reach


@inlined
def _mismatches(sides):
    """Return how many letters of the main diagonal differ, all where the text is too short."""
    pattern, rows, text, shown = sides
    if shown < rows:
        return rows
    count = 0
    for i in range(rows):
        count += pattern[i] & text[i] == 0
    return count


@kernel
def _walk_diagonal(sides, marks):
    """Walk the main diagonal, and note mismatches; returns the Path."""
    differences = 0
    for i in range(sides.rows):
        if sides.pattern[i] & sides.text[i] == 0:
            note(marks, differences, i, MISMATCH_KIND)
            differences += 1
    return Path(sides.rows, sides.rows, differences)


@kernel
def _skip_pattern(sides, marks):
    """Skip all of a pattern; returns the Path."""
    for i in range(sides.rows):
        note(marks, i, i, SKIP_PATTERN_KIND)
    return Path(0, sides.rows, sides.rows)


@kernel
def walk_freely(sides, distance, memory):
    """Walk the matrix from the anchor on, and note differences; returns the Path.

    sides: Sides; distance: of the end, 1 or more; memory: Memory, as pointers. A text that has no
    alignment within the distance, since the distance was found in another text, is left out of the
    alignment.
    """
    marks = memory.marks
    if _mismatches(sides) == distance:  # nothing is to be gained by gaps
        return _walk_diagonal(sides, marks)
    reached = memory.reached
    _fill_reached(sides, distance, reached, memory.differ)
    pattern, rows, text, shown = sides
    row = column = steps = 0
    for differences in range(distance + 1):
        # As far as letters match along the diagonal.
        while row < rows and column < shown and pattern[row] & text[column]:
            row += 1
            column += 1
            steps += 1
        if row == rows:
            return Path(column, steps, differences)
        if differences == distance:
            break

        # The first kind of step behind which the differences left suffice for the letters left.
        diagonal = distance + column - row
        after = (distance - differences - 1) * (2 * distance + 1) + diagonal
        left = rows - row
        if column < shown and reached[after] >= left - 1:
            note(marks, differences, steps, MISMATCH_KIND)
            row += 1
            column += 1
        elif column < shown and reached[after + 1] >= left:
            note(marks, differences, steps, SKIP_TEXT_KIND)
            column += 1
        elif reached[after - 1] >= left - 1:
            note(marks, differences, steps, SKIP_PATTERN_KIND)
            row += 1
        else:
            break
        steps += 1
    return _skip_pattern(sides, marks)


@inlined
def _write(columns, number, leads, minus, sides, path, memory, pam_size):
    """Write the alignment of an end by its number, and its text; columns: see `trace`."""
    bounds, ops, out = columns
    room = Room(bounds[number], bounds[number + 1], leads)
    write_columns(pointer(ops, 0), room, path, memory.marks, pam_size)
    write_text(pointer(out, 0), room, sides, path, memory.pam, pam_size, minus)


@kernel
def trace(work, view, search, constraints, ends, found, columns):
    """Find where the hit of each of some Ends starts and ends, and write alignments if asked for.

    found: (start, end, size, edits), int64[n] each, filled here, size being the number of columns,
    edits the alignment as a number (see KINDS), empty where k does not alone bound it; columns:
    (bounds int64[n+1], ops, text), uint8: between two bounds stand one alignment
    and its text, from the anchor on, be that at the first bound or at the second; empty bounds ask
    for none. Other arguments as for `keep_ends`.
    """
    starts, stops, sizes, edits = found
    reading = search.reading
    leads = constraints.leads
    is_bound = are_binding(constraints)
    is_written = len(columns[0]) > 0
    arrays = _new_memory(search, constraints)
    spare = new_spare(search, constraints)
    slab = next_item(work)
    while slab >= 0:
        # Pointers are taken inside the loop, whose next turn keeps their arrays alive.
        memory = _pointers(arrays, search.k)
        for number in range(slab * SLAB, min((slab + 1) * SLAB, len(starts))):
            anchor = anchor_of(ends, reading, number)
            distance = anchor.distance
            pam_size = 0
            if len(constraints.sizes) > 0:
                pam_size = read_pam(view, constraints, anchor, memory.pam)

            # The path: along the main diagonal where there is no difference.
            sides = sides_of(view, reading, anchor, distance, memory.pattern, memory.text)
            path = Path(sides.rows, sides.rows, 0)
            if is_bound:
                fill_spare(constraints, sides, distance, spare)
                path = walk_within(constraints, sides, spare, memory.marks)
            elif distance > 0:
                path = walk_freely(sides, distance, memory)

            # The hit, with its PAM.
            near = anchor.position + anchor.step * pam_size
            far = anchor.position - anchor.step * (path.letters - 1)
            starts[number] = min(near, far)
            stops[number] = max(near, far) + 1
            sizes[number] = path.columns + pam_size
            if len(edits) > 0:
                edits[number] = number_of(memory.marks, path, pam_size, leads)
            if is_written:
                minus = constraints.minus[anchor.query]
                _write(columns, number, leads, minus, sides, path, memory, pam_size)
        slab = next_item(work)
