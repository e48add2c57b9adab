"""Letters of a text that are no A, C, G or T, found a block at a time."""

import numpy as np

from kmatch.engine.cpu.pack import UPPER, UPPER_T_OR_U
from kmatch.jit.kernels import inlined, kernel

BLOCK = 128  # letters that are looked at together


@inlined
def _unknown(letter):
    """Return a letter, ASCII in any case, in upper case if it is no base, otherwise 0."""
    upper = letter & UPPER if ord("a") <= letter <= ord("z") else letter
    is_base = upper == ord("A") or upper == ord("C") or upper == ord("G")
    return 0 if is_base or upper & UPPER_T_OR_U == ord("T") else upper


@kernel
def _has_unknown(letters):
    """Return whether any of BLOCK letters, uint8[BLOCK], is unknown."""
    found = np.uint8(0)
    for i in range(BLOCK):
        upper = letters[i] & UPPER
        others = np.uint8(upper != ord("A")) & np.uint8(upper != ord("C"))
        others &= np.uint8(upper != ord("G")) & np.uint8(letters[i] & UPPER_T_OR_U != ord("T"))
        found |= others & np.uint8(letters[i] != 0)
    return found != 0


@kernel
def find_unknown(letters, stretches):
    """Find the stretches of one unknown letter each; returns how many there are.

    letters: uint8[n], ASCII in any case, 0 where there is no text;
    stretches: int64[3, r], filled with where they begin, where they end, and their letters in
    upper case: the first r of them, if there are more.

        letters      A C N N R G .        stretches   2 4 N
                                                      4 5 R
    """
    count = place = 0
    while place < len(letters):
        if place + BLOCK <= len(letters) and not _has_unknown(letters[place : place + BLOCK]):
            place += BLOCK
            continue
        block_end = min(place + BLOCK, len(letters))
        while place < block_end:
            letter = _unknown(letters[place])
            begin = place
            place += 1
            if letter:
                while place < len(letters) and _unknown(letters[place]) == letter:
                    place += 1
                if count < stretches.shape[1]:
                    stretches[0, count] = begin
                    stretches[1, count] = place
                    stretches[2, count] = letter
                count += 1
    return count
