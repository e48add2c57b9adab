"""What the scores of Cas9's sites have in common: their guides and PAMs, and letters as codes.

guide, 20 letters     PAM, 3 letters
A C G T … C A T G     N G G             as the guide's strand reads them
1 2 3 4 …      20                       positions
"""

import re
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from kmatch.arrays import Bools, Bytes

GUIDE = 20  # letters
PAM = 3
CODE = 7  # bits of an ASCII letter in which A, C, G, T, N and - differ: its code
UNKNOWN = ord("N") & CODE
_GUIDES = re.compile(rf"[ACGT]{{{GUIDE}}}")

# Mismatches, insertions and deletions that a hit may have, None where only its distance bounds it.
Most = tuple[int | None, int | None, int | None]


class GuideLetters(NamedTuple):
    """The letters of P patterns that may be guides.

    codes: uint8[P, 20], UNKNOWN throughout where a pattern is none; is_guide: bool[P].
    """

    codes: Bytes
    is_guide: Bools


def guide_letters(patterns: Iterable[str]) -> GuideLetters:
    """Return the letters of patterns, of which those of twenty A, C, G and T are guides."""
    is_guide = []
    guides = []
    for pattern in patterns:
        word = pattern.upper().replace("U", "T")
        fits = _GUIDES.fullmatch(word) is not None
        is_guide.append(fits)
        guides.append(word if fits else "N" * GUIDE)
    letters = np.frombuffer("".join(guides).encode(), np.uint8)
    codes = letters.reshape(-1, GUIDE) & np.uint8(CODE)
    return GuideLetters(codes, np.array(is_guide, np.bool_))


def is_cas9(pam: str, leads: bool) -> bool:
    """Return whether sites beside a PAM are Cas9's; leads: whether it stands before the guide."""
    return not leads and len(pam) == PAM and pam[0] in "Nn"
