"""The alphabet: a set of bases is a 4-bit mask, bit 0 for A, 1 for C, 2 for G and 3 for T."""

from collections.abc import Iterable
from string import digits

import numpy as np
from numpy.typing import ArrayLike

from kmatch.arrays import Bytes, look_up
from kmatch.errors import InputError, shown

IUPAC = {
    "A": 0b0001, "C": 0b0010, "G": 0b0100, "T": 0b1000, "U": 0b1000,
    "R": 0b0101, "Y": 0b1010, "S": 0b0110, "W": 0b1001, "K": 0b1100, "M": 0b0011,
    "B": 0b1110, "D": 0b1101, "H": 0b1011, "V": 0b0111, "N": 0b1111,
}  # fmt: skip

PROTEIN_LETTERS = "EFIJLOPQZ"  # letters of amino acids that are no IUPAC code of a nucleotide
FOREIGN = 128  # is set in what READ_AS has for a letter that no nucleotide has
Origin = tuple[str, int, str]  # the input, the record's number, counted from 1, and its name


def _read_as(byte: int) -> int:
    """What a byte of a text is read as: itself, 0 for a blank, which is left out, or `*`."""
    if byte in b" \t\v\f\n\r":
        return 0
    if chr(byte).upper() in PROTEIN_LETTERS or chr(byte) in digits:
        return byte | FOREIGN
    return byte if 33 <= byte < 127 and byte != ord(">") else ord("*")


READ_AS = np.array([_read_as(byte) for byte in range(256)], np.uint8)

_MASKS = np.array([IUPAC.get(chr(byte).upper(), 0) for byte in range(256)], np.uint8)
_POSSIBLE = np.where(_MASKS == 0, 0b1111, _MASKS).astype(np.uint8)
_COMPLEMENTS = np.array([int(f"{mask:04b}"[::-1], 2) for mask in range(16)], np.uint8)
_BASES = np.where(np.isin(_MASKS, (1, 2, 4, 8)), _MASKS, 0).astype(np.uint8)


def letter_masks(sequences: Iterable[str]) -> Bytes:
    """Masks of the letters of all sequences, one after another; 0 for a letter outside IUPAC."""
    return look_up("".join(sequences).encode("latin-1", "replace"), _MASKS)


def encode(sequence: str, kind: str = "pattern") -> Bytes:
    """Masks of a sequence's letters, uint8[m]; kind: what it is, for the InputError that the first
    character outside IUPAC raises."""
    masks = letter_masks([sequence])
    if not masks.all():
        odd = odd_letter(sequence, int(np.argmin(masks)))
        raise InputError(f"{kind} '{shown(sequence)}': {odd}")
    return masks


# Characters that are often in sequences, and what to do.
_ODD = {
    "-": "leave gaps out",
    **dict.fromkeys(".*?[(", "N stands for any base, R for [AG], Y for [CT]"),
    **dict.fromkeys(
        ",;|/\"'", "give each sequence by itself, and of a table name the column by --column"
    ),
}


def odd_letter(sequence: str, at: int) -> str:
    """The message for a wrong letter at position `at` (from 0)."""
    what = f"{sequence[at]!r} at position {at + 1} is not an IUPAC letter; "
    if " " in sequence.strip():
        return what + "write a tab between a name and a sequence"
    if advice := next((_ODD[letter] for letter in _ODD if letter in sequence), ""):
        return what + advice
    if sequence.isalpha() and sequence[at].upper() in PROTEIN_LETTERS:
        return what + "if this is a protein: kmatch searches DNA and RNA"
    return what + "use A, C, G, T, U, R, Y, S, W, K, M, B, D, H, V or N"


def encode_text(letters: Bytes) -> Bytes:
    """Masks of a text's letters, which are ASCII codes: 0 for any but A, C, G, T and U."""
    return _BASES[letters]


def may_be(letters: Bytes) -> Bytes:
    """Masks of what a text's letters, ASCII codes, may stand for: R for A and G, N for any base."""
    return _POSSIBLE[letters]


def complement(masks: ArrayLike) -> Bytes:
    """Masks of the complementary bases, in the same shape: A and T are swapped, C and G too."""
    return _COMPLEMENTS[np.asarray(masks, np.uint8)]


def reverse_complement(masks: ArrayLike) -> Bytes:
    """Masks of the reverse complement, uint8[m]."""
    return np.ascontiguousarray(complement(masks)[::-1])


def check_letters(origin: Origin, letters: Bytes) -> None:
    """Raise InputError for a digit, or a letter that stands for no nucleotide."""
    foreign = look_up(letters, READ_AS) >= FOREIGN
    if foreign.any():
        place = int(np.argmax(foreign))
        raise foreign_letter(origin, place, letters[place])


def foreign_letter(origin: Origin, at: int, letter: int) -> InputError:
    """The InputError for a letter, an ASCII code, at position `at` (from 0) of a record."""
    label, number, name = origin
    return InputError(
        f"{label}: record {number}, '{shown(name)}', has {chr(letter)!r} at position {at + 1}, "
        "which stands for no nucleotide: it looks like protein; give DNA or RNA"
    )
