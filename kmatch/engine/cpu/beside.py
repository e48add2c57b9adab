"""Planes of the positions beside which a PAM stands, so that a scan leaves out other ends.

With PAM NGG behind patterns, a bit of row t is set where rows t + 2 and t + 3 have a G:

    position           10  11  12  13  14  15  16  17
    text                A   C   A   G   G   T   G   G
    bits                0   1   0   0   1   1   1   1     of the last rows all, as no more is seen

A plane may hold more positions than have a PAM, never fewer. Ends are held against their PAMs
later on.
"""

import numpy as np

from kmatch.arrays import Bytes, Words
from kmatch.engine.geometry import LANES_PER_WORD, Text
from kmatch.engine.queries import step_of
from kmatch.engine.types import Beside

STRANDS = 2
ANY = 15  # the mask of N, which is not looked at
ALL_LANES = ~np.uint64(0)


def pam_planes(text: Text, beside: Beside) -> Words:
    """Return the plane of each strand, uint64[STRANDS, plane_words]."""
    bases = text.planes[: 4 * text.plane_words].reshape(4, -1, text.words)
    constraints = beside.constraints
    planes = np.zeros((STRANDS, *bases.shape[1:]), np.uint64)
    for minus in range(STRANDS):
        is_backward = minus != constraints.leads
        step = step_of(is_backward)
        for letters, size in zip(constraints.pams[minus], constraints.sizes, strict=True):
            planes[minus] |= _positions_of(bases, letters[:size], step)
        if not is_backward:
            _add_unseen(planes[minus], text, beside)
    return planes.reshape(STRANDS, -1)


def _positions_of(bases: Words, letters: Bytes, step: int) -> Words:
    """Return where a PAM stands beside a position or is not seen, uint64[rows, words].

    bases: uint64[4, rows, words], the planes of the bases; letters: masks of the PAM, from the
    position on; step: to its next letter.
    """
    _, row_count, _ = bases.shape
    is_pam = np.full(bases.shape[1:], ALL_LANES)
    for number, mask in enumerate(letters.tolist(), 1):
        if mask == ANY:
            continue
        plane = plane_of_mask(bases, mask)
        if step > 0:
            is_pam[: row_count - number] &= plane[number:]
        else:
            is_pam[number:] &= plane[: row_count - number]
    return is_pam


def plane_of_mask(bases: Words, mask: int) -> Words:
    """Return the plane of the letters that match a mask; bases: uint64[4, …], of A, C, G and T."""
    plane = np.zeros_like(bases[0])
    for base in range(4):
        if mask >> base & 1:
            plane |= bases[base]
    return plane


def _add_unseen(plane: Words, text: Text, beside: Beside) -> None:
    """Add the positions whose PAM lies behind what the chunk shows; plane: uint64[rows, words].

    A position is in the rows of its lane, and in the halo of lanes before it.
    """
    pam_length = beside.constraints.pams.shape[2]
    row_count, words = plane.shape
    for position in range(max(beside.shown - pam_length, 0), beside.shown):
        lane, row = divmod(position, text.rows)
        while lane >= 0 and row < row_count:
            word, bit = divmod(lane, LANES_PER_WORD)
            if word < words:
                plane[row, word] |= np.uint64(1) << np.uint64(bit)
            lane -= 1
            row += text.rows
