"""The alphabet: a set of bases is a 4-bit mask, bit 0 for A, 1 for C, 2 for G and 3 for T."""

import re
from collections.abc import Iterable
from string import ascii_uppercase

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
GAPS = "-."  # of alignments
HEADER = ">"  # of FASTA, at the beginning of a line
STOP = "*"  # behind a record of some programs, an unknown letter
FOREIGN = 128  # is set in what a reading has for a letter that is an error
_GAPS_ADVICE = (
    "--gaps drop leaves gaps out, and --gaps unknown keeps them as unknown letters (in Python: "
    "gaps= of Genome)"
)
Origin = tuple[str, int, str]  # the input, the record's number, counted from 1, and its name


def _read_as(byte: int) -> int:
    """Return what a byte of a text is read as: itself, or 0 for a blank, which is left out.

    The sign FOREIGN is set in a byte that is an error, and is all that is left of one that is no
    ASCII.
    """
    if byte in b" \t\v\f\n\r":
        return 0
    if byte >= FOREIGN:
        return FOREIGN
    letter = chr(byte).upper()
    is_known = letter in ascii_uppercase + STOP + GAPS and letter not in PROTEIN_LETTERS
    return byte if is_known else byte | FOREIGN


READ_AS = np.array([_read_as(byte) for byte in range(256)], np.uint8)  # gaps are unknown letters


def reading_of(gaps: str | None) -> Bytes:
    """Return what each byte of a text is read as, uint8[256].

    gaps: `drop`, `unknown`, or None where they are an error.
    """
    reading = READ_AS.copy()
    for gap in GAPS:
        if gaps is None:
            reading[ord(gap)] |= FOREIGN
        elif gaps == "drop":
            reading[ord(gap)] = 0
    return reading


_MASKS = np.array([IUPAC.get(chr(byte).upper(), 0) for byte in range(256)], np.uint8)
_COMPLEMENTS = np.array([int(f"{mask:04b}"[::-1], 2) for mask in range(16)], np.uint8)
_SETS = np.where(_MASKS == 0, 15, _MASKS).astype(np.uint8)
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
    "/": "leave labels such as /5Phos/ out",
    **dict.fromkeys(
        ',;|"', "give each sequence by itself, and of a table name the column by --column"
    ),
}
_PRIMES = re.compile("[53]\\s*['’′]")  # 5'-ACGT-3'


def odd_letter(sequence: str, at: int) -> str:
    """Return the message for a wrong letter at position `at` (from 0)."""
    what = f"{sequence[at]!r} at position {at + 1} is not an IUPAC letter; "
    if _PRIMES.search(sequence):
        return what + "leave 5' and 3' out"
    if " " in sequence.strip():
        return what + "write a tab between a name and a sequence, and no blanks inside a sequence"
    if advice := next((_ODD[letter] for letter in _ODD if letter in sequence), ""):
        return what + advice
    if sequence.isalpha() and sequence[at].upper() in PROTEIN_LETTERS:
        return what + "if this is a protein: kmatch searches DNA and RNA"
    return what + "use A, C, G, T, U, R, Y, S, W, K, M, B, D, H, V or N"


def encode_text(letters: Bytes) -> Bytes:
    """Masks of a text's letters, which are ASCII codes: 0 for any but A, C, G, T and U."""
    return _BASES[letters]


def encode_sets(letters: Bytes) -> Bytes:
    """Masks of the bases that a text's letters may stand for: all four for one outside IUPAC."""
    return _SETS[letters]


def complement(masks: ArrayLike) -> Bytes:
    """Masks of the complementary bases, in the same shape: A and T are swapped, C and G too."""
    return _COMPLEMENTS[np.asarray(masks, np.uint8)]


def reverse_complement(masks: ArrayLike) -> Bytes:
    """Masks of the reverse complement, uint8[m]."""
    return np.ascontiguousarray(complement(masks)[::-1])


def check_letters(
    origin: Origin, letters: Bytes, reading: Bytes = READ_AS, advice: str = ""
) -> None:
    """Raise InputError for a character that is no letter, and for a letter of proteins.

    reading: see `reading_of`; advice: see `foreign_letter`.
    """
    is_foreign = look_up(letters, reading) >= FOREIGN
    if is_foreign.any():
        offset = int(np.argmax(is_foreign))
        letter = int(look_up(letters[offset : offset + 1], reading)[0]) - FOREIGN
        raise foreign_letter(origin, offset, letter, advice)


def without_gaps(letters: Bytes, gaps: str | None) -> Bytes:
    """Return letters as they are, or without gaps where these are dropped; see `reading_of`."""
    if gaps != "drop":
        return letters
    return letters[~np.isin(letters, list(GAPS.encode()))]


def foreign_letter(origin: Origin, offset: int, letter: int, advice: str = "") -> InputError:
    """Return the InputError for a letter, an ASCII code, at an offset (from 0) of a record.

    advice: what to do about gaps, where --gaps cannot be given.
    """
    label, number, name = origin
    what = repr(chr(letter)) if letter else "a character that is no ASCII letter"
    where = f"{label}: record {number}, '{shown(name)}', has {what} at position {offset + 1}"
    if chr(letter) in GAPS:
        return InputError(
            f"{where}: it looks like an alignment, in which '.' may also stand for "
            f"the letter above it; {advice or _GAPS_ADVICE}"
        )
    if chr(letter) == HEADER:
        return InputError(
            f"{where}: a header of FASTA begins a line; where files were joined, end "
            "the last line of each"
        )
    if chr(letter).upper() not in PROTEIN_LETTERS:
        return InputError(
            f"{where}, which is no letter: numbers, marks and the blanks of a text program are "
            "none; give letters alone"
        )
    return InputError(
        f"{where}, which stands for no nucleotide: it looks like protein; give DNA or RNA"
    )
