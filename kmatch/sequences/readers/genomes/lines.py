"""Line breaks and blanks removed from FASTA, by kernels that let other threads run."""

from string import digits

import numpy as np

from kmatch.arrays import Bytes
from kmatch.jit import inlined, kernel
from kmatch.letters import PROTEIN_LETTERS

LONG = 1024  # letters that are examined together in a longer line
LF, CR, GREATER = ord("\n"), ord("\r"), ord(">")
DELETED, BREAK, ZERO, FOREIGN = 0, 1, 2, 3  # values in KINDS that are no letters of a text
BINARY, PROTEIN = -1, -2  # why reading ends with an error


def _kinds() -> Bytes:
    """What each byte of a sequence line becomes: a letter, or one of the four values above.

    Bytes that mean something to Biopython's parser or to `str.rstrip` become `*`, which is no base.
    """
    kinds = np.full(256, ord("*"), np.uint8)
    kinds[33:127] = np.arange(33, 127)
    kinds[GREATER] = ord("*")
    kinds[[ord(blank) for blank in " \t\v\f"]] = DELETED
    kinds[[LF, CR]] = BREAK
    kinds[0] = ZERO
    foreign = f"{PROTEIN_LETTERS}{PROTEIN_LETTERS.lower()}{digits}"
    kinds[[ord(letter) for letter in foreign]] = FOREIGN
    return kinds


KINDS = _kinds()


@inlined
def _is_break(byte):
    return byte in (LF, CR)


@inlined
def _off(byte):
    """0 for A, C, G, T, U and N in either case: the least of the differences to these.

    T and U, and C and G, differ in one bit. Differences vectorise better than comparisons.
    """
    upper = np.uint8(byte & np.uint8(0xDF))
    least = np.uint8(np.uint8(upper | np.uint8(1)) ^ np.uint8(ord("U")))
    of_c_and_g = np.uint8(np.uint8(upper | np.uint8(4)) ^ np.uint8(ord("G")))
    if of_c_and_g < least:
        least = of_c_and_g
    of_a = np.uint8(upper ^ np.uint8(ord("A")))
    if of_a < least:
        least = of_a
    of_n = np.uint8(upper ^ np.uint8(ord("N")))
    if of_n < least:
        least = of_n
    return least


@inlined
def copy_plain(data, letters):
    """Copy bytes, and return whether all are A, C, G, T, U or N; letters: uint8[≥ len(data)]."""
    odd = np.uint8(0)
    for i in range(len(data)):
        byte = data[i]
        letters[i] = byte
        odd |= _off(byte)
    return odd == 0


@kernel
def find_foreign(letters):
    """The position of the first digit or letter that stands for no nucleotide; −1 if none.

    letters: uint8[n].
    """
    for first in range(0, len(letters), LONG):
        part = letters[first : first + LONG]
        odd = np.uint8(0)
        for i in range(len(part)):
            odd |= _off(part[i])
        if odd:
            for i in range(len(part)):
                if KINDS[part[i]] == FOREIGN:
                    return first + i
    return -1


@kernel
def _header_end(data, at, end):
    """Where the line break of a header is: `end` if none is there, −1 if a zero byte is first."""
    while at < end:
        if data[at] == LF or data[at] == CR:
            return at
        if data[at] == 0:
            return -1
        at += 1
    return end


@kernel
def split_lines(data, at, end, begins, letters, cuts):
    """Split FASTA into headers and letters.

    data: uint8, of which bytes at … end−1 are read; begins: whether a line begins at the first of
    them; letters: uint8[≥ end − at], filled with the sequences' letters without line breaks and
    blanks; cuts: int64[c, 3], filled for each header with where it begins and ends in data and how
    many letters come before it.

    Returns (at, begins, letters, cuts). at: where reading stopped, which is `end`, or a header that
    is not complete or does not fit into cuts; BINARY at a zero byte; PROTEIN at a letter that
    stands for no nucleotide, which is then written after the others. begins: whether a line begins
    there. letters, cuts: how many were filled.
    """
    filled, count = 0, 0
    first = at  # where the line begins
    run = 0  # letters expected before the next break; 0 if unknown
    while at < end:
        if begins and data[at] == GREATER:
            stop = _header_end(data, at, end)
            if stop < 0:
                return BINARY, True, filled, count
            if stop == end or count == len(cuts):
                return at, True, filled, count
            cuts[count, 0], cuts[count, 1], cuts[count, 2] = at, stop, filled
            count += 1
            at = first = stop + 1
            continue
        begins = False
        if run and at + run <= end and copy_plain(data[at : at + run], letters[filled:]):
            at, filled = at + run, filled + run
            if at < end and run < LONG and not _is_break(data[at]):
                run = 0
        else:
            stop = min(end, at + LONG)
            while at < stop and not _is_break(data[at]):
                kind = KINDS[data[at]]
                if kind in (ZERO, FOREIGN):
                    letters[filled] = data[at]
                    return BINARY if kind == ZERO else PROTEIN, False, filled, count
                if kind != DELETED:
                    letters[filled] = kind
                    filled += 1
                at += 1
            run = min(at - first, LONG)
        if at < end and _is_break(data[at]):
            at += 1
            if at < end and data[at - 1] == CR and data[at] == LF:
                at += 1
            begins, first = True, at
    return at, begins, filled, count
