"""PAMs: letters that must match beside a pattern."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from kmatch.arrays import Bools, Bytes, Ints
from kmatch.errors import PAM_SIDES, InputError, check_choice, shown
from kmatch.sequences.alphabet import IUPAC, encode, reverse_complement
from kmatch.sequences.patterns import Pattern, PatternSet

LONGEST = 64  # letters of a PAM
EXAMPLE = "give its letters, such as NGG"


class Pam:
    """The letters beside each pattern, as `masks`, uint8[p], on the side `3p` or `5p`.

    Raises InputError for a letter outside IUPAC, no letter at all, or another side.
    """

    def __init__(self, sequence: str, side: str) -> None:
        check_choice("side of the PAM", side, PAM_SIDES)
        if not isinstance(sequence, str):
            raise InputError(f"the PAM is {sequence!r}; give its letters, such as NGG")
        if not sequence:
            raise InputError("the PAM is empty; give its letters, such as NGG")
        self.sequence = sequence
        self.masks = encode(sequence, sequence, "PAM")
        self.leads = side == "5p"

    def __len__(self) -> int:
        return len(self.masks)

    @property
    def every_letter(self) -> Bools:
        """bool[p], all set: each of its letters must match."""
        return np.ones(len(self), bool)

    def beside(self, letters: Bytes, pam: Bytes) -> Bytes:
        """Pattern letters and PAM letters, uint8, joined as they are written."""
        return np.concatenate([pam, letters] if self.leads else [letters, pam])

    def join(self, pattern: Pattern) -> Pattern:
        """The Pattern that a hit spans, under the pattern's name."""
        pair = (
            (self.sequence, pattern.sequence) if self.leads else (pattern.sequence, self.sequence)
        )
        return Pattern(pattern.name, "".join(pair), self.beside(pattern.masks, self.masks))

    def beside_each(self, letters: Any, pam: Any, patterns: int) -> Any:
        """The same for the letters of many patterns of one length, side by side."""
        rows = letters.reshape(patterns, -1)
        pams = np.broadcast_to(pam, (patterns, len(pam)))
        return np.concatenate([pams, rows] if self.leads else [rows, pams], axis=1).reshape(-1)

    def join_all(self, patterns: PatternSet) -> PatternSet:
        """The PatternSet that hits span, of a PatternSet of one length."""
        before, behind = (self.sequence, "") if self.leads else ("", self.sequence)
        return PatternSet(
            patterns.names,
            [f"{before}{sequence}{behind}" for sequence in patterns.sequences],
            self.beside_each(patterns.masks, self.masks, len(patterns)),
            patterns.begins + len(self) * np.arange(len(patterns.begins)),
        )

    def site(self, length: int, minus: int) -> tuple[Bytes, Ints]:
        """The masks of the PAM beside windows of `length` letters, along the forward strand, and
        how far each is from where window and PAM start."""
        masks = self.beside(np.zeros(length, np.uint8), self.masks)
        masks = reverse_complement(masks) if minus else masks
        shifts = np.flatnonzero(masks)
        return masks[shifts], shifts.astype(np.int32)

    def skipped(self, minus: Any) -> Any:
        """Letters of the PAM before the pattern's window, on the forward strand."""
        return np.where(minus == self.leads, 0, len(self))


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
