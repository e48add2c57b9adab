"""The alphabet: a set of bases is a 4-bit mask, bit 0 for A, 1 for C, 2 for G and 3 for T."""

import numpy as np

from kmatch.arrays import look_up
from kmatch.errors import InputError
from kmatch.letters import PROTEIN_LETTERS
from kmatch.sequences.names import shown

IUPAC = {
    "A": 0b0001, "C": 0b0010, "G": 0b0100, "T": 0b1000, "U": 0b1000,
    "R": 0b0101, "Y": 0b1010, "S": 0b0110, "W": 0b1001, "K": 0b1100, "M": 0b0011,
    "B": 0b1110, "D": 0b1101, "H": 0b1011, "V": 0b0111, "N": 0b1111,
}  # fmt: skip


def _masks():
    table = np.zeros(256, np.uint8)
    for letter, mask in IUPAC.items():
        table[ord(letter)] = table[ord(letter.lower())] = mask
    return table


_MASKS = _masks()
_BASES = np.where(np.isin(_MASKS, (1, 2, 4, 8)), _MASKS, 0).astype(np.uint8)


def letter_masks(sequences):
    """Masks of the letters of all sequences, uint8, side by side; 0 for what is not IUPAC."""
    return look_up("".join(sequences).encode("latin-1", "replace"), _MASKS)


def encode(sequence, name, kind="pattern"):
    """Masks of a pattern's letters, uint8[m].

    Raises InputError naming the pattern, or what else `kind` says it is, the position (from 1) and
    the character that is not one of the IUPAC letters.
    """
    masks = letter_masks([sequence])
    if not masks.all():
        raise InputError(f"{kind} '{shown(name)}': {odd_letter(sequence, int(np.argmin(masks)))}")
    return masks


def odd_letter(sequence, at):
    """What is wrong with a letter that is not IUPAC, at a place that counts from 0, and why."""
    what = f"{sequence[at]!r} at position {at + 1} is not an IUPAC letter; "
    if " " in sequence.strip():
        return what + "write a tab between a name and a sequence"
    if sequence.isalpha() and sequence[at].upper() in PROTEIN_LETTERS:
        return what + "if this is a protein: kmatch searches DNA and RNA"
    return what + "use A, C, G, T, U, R, Y, S, W, K, M, B, D, H, V or N"


def encode_text(letters):
    """Masks of a text's letters, ASCII codes uint8[n]: 0 for any but A, C, G, T and U."""
    return _BASES[letters]


def complement(masks):
    """Masks of the complementary bases, same shape: A and T change places, C and G too."""
    masks = np.asarray(masks, np.uint8)
    return ((masks & 1) << 3) | ((masks & 2) << 1) | ((masks & 4) >> 1) | (masks >> 3)


def reverse_complement(masks):
    """Masks of the reverse complement, uint8[m]."""
    return np.ascontiguousarray(complement(masks)[::-1])
