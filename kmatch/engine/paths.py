"""Paths through a matrix: the differences that are met on the way, and the alignments made of them.

A path leads from the anchor to the far end of a pattern, and each of its steps is a column of the
alignment. Differences are noted as they are met; all other columns are matches.

    CIGAR, from the anchor on    =  =  X  =  D  =  =        7 columns, with 2 differences,
    column                       0  1  2  3  4  5  6        noted as (2, X) and (4, D)
"""

from typing import NamedTuple

import numpy as np

from kmatch.engine.types import (
    COLUMN_BITS,
    COMPLEMENT,
    KIND_BITS,
    KINDS,
    MATCH,
    SHOWN,
)
from kmatch.jit.kernels import inlined, kernel

KIND_MASK = (1 << KIND_BITS) - 1
READ_AS = np.stack([SHOWN, SHOWN[COMPLEMENT]])  # by strand and mask


class Path(NamedTuple):
    """A path that was walked: the letters of the text that it uses, its columns, differences."""

    letters: int
    columns: int
    differences: int


class Room(NamedTuple):
    """Where an alignment is written: columns begin … end − 1, which may be more than it has.

    leads: whether the anchor is the pattern's beginning.

        the anchor leads     PAM ┃ columns from the anchor on → │ not used
        it does not          not used │ ← columns from the anchor on ┃ PAM
    """

    begin: int
    end: int
    leads: bool


@inlined
def note(marks, number, column, kind):
    """Note a difference by its number from the anchor on.

    marks: a pointer to int64; column: from the anchor on; kind: which of KINDS.
    """
    marks[number] = column << KIND_BITS | kind


@kernel
def number_of(marks, path, pam_size, leads):
    """Return an alignment, with the letters of a PAM beside its anchor, as a number (see KINDS).

    marks: see `note`; leads: whether the anchor is the pattern's beginning.
    """
    number = 0
    for i in range(path.differences):
        # The last difference of the alignment comes first, as each moves those before it up.
        mark = marks[path.differences - 1 - i if leads else i]
        column = mark >> KIND_BITS
        column = pam_size + column if leads else path.columns - 1 - column
        number = (number << COLUMN_BITS | column) << KIND_BITS | (mark & KIND_MASK)
    return number << COLUMN_BITS | (path.columns + pam_size)


@inlined
def _anchor_of(room, pam_size):
    """Return the column of an anchor in a Room, with a PAM beside it."""
    return room.begin + pam_size if room.leads else room.end - 1 - pam_size


@kernel
def write_columns(ops, room, path, marks, pam_size):
    """Write the columns of an alignment to a Room; ops: a pointer to uint8; marks: see `note`."""
    for i in range(room.begin, room.end):
        ops[i] = MATCH
    anchor = _anchor_of(room, pam_size)
    onward = 1 if room.leads else -1
    for number in range(path.differences):
        column = marks[number] >> KIND_BITS
        ops[anchor + onward * column] = KINDS[marks[number] & KIND_MASK]


@kernel
def write_text(out, room, sides, path, pam, pam_size, minus):
    """Write the text of an alignment and its PAM to a Room, as their strand has them.

    out: a pointer to uint8; sides: Sides; pam: masks, from the anchor outwards.
    """
    anchor = _anchor_of(room, pam_size)
    onward = 1 if room.leads else -1
    for i in range(path.letters):
        out[anchor + onward * i] = READ_AS[minus, sides.text[i]]
    for i in range(pam_size):
        out[anchor - onward * (i + 1)] = READ_AS[minus, pam[i]]
