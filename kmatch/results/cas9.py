"""Common parts of the scores of Cas9's sites: their guides and PAMs, and letters as codes.

guide, 20 letters     PAM, 3 letters
A C G T … C A T G     N G G             as the guide's strand reads them
1 2 3 4 …      20                       positions
"""

import re
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from kmatch.arrays import Bools, Bytes
from kmatch.sequences.alphabet import IUPAC

GUIDE = 20  # letters
PAM = 3
# The last two letters of a PAM beside which SpCas9 cuts, by supplementary table 19 of Doench 2016.
PAM_ENDS = {"AG", "CG", "GA", "GC", "GG", "GT", "TG"}
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
    """Return the letters of patterns. Patterns of twenty A, C, G and T are guides."""
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
    """Return whether SpCas9 cuts beside a PAM; leads: whether it stands before the guide.

    It is `N` and two letters each of whose pairs has a weight: NGG, NAG, NRG. An N for one of these
    stands for all letters, as in NGN, the PAM of other nucleases.
    """
    pam = pam.upper()
    if leads or len(pam) != PAM or pam[0] != "N" or "N" in pam[1:]:
        return False
    pairs = {first + second for first in _bases(pam[1]) for second in _bases(pam[2])}
    return pairs <= PAM_ENDS


def _bases(letter: str) -> str:
    """Return the bases that an IUPAC letter stands for."""
    return "".join(base for base in "ACGT" if IUPAC[base] & IUPAC[letter])
