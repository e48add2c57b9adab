"""The PAMs beside patterns, as users give them."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from kmatch.errors import InputError, shown
from kmatch.search.panels.pam import Pam
from kmatch.sequences.alphabet import IUPAC

LONGEST = 64  # letters of a PAM
EXAMPLE = "give its letters, such as NGG"


def load_pams(given: str | Sequence[str] | None, side: str) -> list[Pam]:
    """The PAMs that a user gives, each once: `NGG`, `NGG,NAG`, or a list of these; none for None.

    Raises InputError for what is no PAM, and for another side than `3p` and `5p`.
    """
    if given is None:
        return []
    sequences: dict[str, None] = {}
    for part in _parts(given):
        if not part:
            raise InputError(f"the PAM is empty; {EXAMPLE}")
        if len(part) > LONGEST:
            raise InputError(
                f"the PAM {shown(part)} has {len(part)} letters, and kmatch takes {LONGEST}; "
                "give the letters beside a pattern alone"
            )
        sequences[part] = None
    pams: dict[bytes, Pam] = {}
    for pam in (Pam(sequence, side) for sequence in sequences):
        pams.setdefault(pam.masks.tobytes(), pam)
    return list(pams.values())


def united(pams: Sequence[Pam]) -> Pam:
    """A PAM that matches wherever one of several PAMs of one length does, and elsewhere too."""
    letters = {mask: letter for letter, mask in IUPAC.items() if letter != "U"}
    masks = np.bitwise_or.reduce([pam.masks for pam in pams])
    sequence = "".join(letters[mask] for mask in masks.tolist())
    return Pam(sequence, "5p" if pams[0].leads else "3p")


def _parts(given: Any) -> list[str]:
    if isinstance(given, str):
        given = [given]
    try:
        given = list(given)
    except TypeError:
        raise InputError(f"the PAM is {given!r}; {EXAMPLE}") from None
    for part in given:
        if not isinstance(part, str):
            raise InputError(f"the PAM is {part!r}; {EXAMPLE}")
    if not given:
        raise InputError(f"no PAM was given; {EXAMPLE}")
    return [part.strip() for text in given for part in text.split(",")]
