"""FASTQ split into reads, by kernels that let other threads run."""

import numpy as np

from kmatch.jit import inlined, kernel
from kmatch.sequences.readers.genomes.lines import (
    BREAK,
    CR,
    DELETED,
    FOREIGN,
    KINDS,
    LF,
    ZERO,
    copy_plain,
)

AT, PLUS = ord("@"), ord("+")
WIDE = 64  # bytes that are examined together
LEAST_QUALITY = ord("!")
# Why splitting stops: the data ends or the arrays are full, or what is wrong with a read.
PAUSE, NO_AT, NO_PLUS, UNEQUAL, BINARY, PROTEIN = range(6)


@inlined
def _least(part):
    least = np.uint8(255)
    for i in range(len(part)):
        if part[i] < least:
            least = part[i]
    return least


@kernel
def _line_end(data, at, end):
    """Where the line from `at` on has its break; `end` if there is none before."""
    while at + WIDE <= end and _least(data[at : at + WIDE]) > CR:
        at += WIDE
    while at < end and data[at] != LF and data[at] != CR:
        at += 1
    return at


@kernel
def _next_line(data, at, end):
    """Where the line after the break at `at` begins; beyond `end` if that cannot be known yet."""
    if at >= end or (data[at] == CR and at + 1 >= end):
        return end + 1
    return at + 2 if data[at] == CR and data[at + 1] == LF else at + 1


@kernel
def _copy_letters(data, letters):
    """Copy a line's letters without blanks; returns (count, the kind of one that no text has)."""
    if copy_plain(data, letters):
        return len(data), BREAK
    filled = 0
    for i in range(len(data)):
        kind = KINDS[data[i]]
        if kind in (ZERO, FOREIGN):
            return filled, kind
        if kind != DELETED:
            letters[filled] = kind
            filled += 1
    return filled, BREAK


@kernel
def _copy_name(data, at, end, names, filled):
    """Copy the first word of a header and a line feed; returns where they end in names."""
    while at < end and KINDS[data[at]] == DELETED:
        at += 1
    while at < end and KINDS[data[at]] != DELETED:
        names[filled] = data[at]
        at, filled = at + 1, filled + 1
    names[filled] = LF
    return filled + 1


@inlined
def _has_qualities(data, at, stop, end):
    """Whether one line of qualities reaches from `at` to `stop`, and no further."""
    if stop > end or (stop < end and data[stop] != LF and data[stop] != CR):
        return False
    return stop == at or _least(data[at:stop]) >= LEAST_QUALITY


@kernel
def split_reads(data, at, end, letters, names, lengths):
    """Split FASTQ, four lines a read, into names and letters.

    data: uint8, of which bytes at … end−1 are read, a read beginning at the first of them; letters,
    names: uint8[≥ end − at], filled with the letters of the reads, one read after another, and with
    their names, a line feed after each; lengths: int64[r], filled with the letters of each.

    Returns (why, at, letters, names, reads). why: PAUSE, or what is wrong with the read that begins
    at `at`; letters, names, reads: how many were filled. A read that is not complete is left.
    """
    filled, named, count = 0, 0, 0
    while at < end and count < len(lengths):
        if data[at] == LF or data[at] == CR:  # a blank line between reads
            at += 1
            continue
        if data[at] != AT:
            return NO_AT, at, filled, named, count
        header = _line_end(data, at, end)
        first = _next_line(data, header, end)
        if first > end:
            break
        stop = _line_end(data, first, end)
        plus = _next_line(data, stop, end)
        if plus >= end:
            break
        read, kind = _copy_letters(data[first:stop], letters[filled:])
        if kind == ZERO:
            return BINARY, at, filled, named, count
        if data[plus] != PLUS:
            return NO_PLUS, at, filled, named, count
        if kind == FOREIGN:
            return PROTEIN, at, filled, named, count
        quality = _next_line(data, _line_end(data, plus, end), end)
        if quality + read >= end:
            break
        if not _has_qualities(data, quality, quality + read, end):
            return UNEQUAL, at, filled, named, count
        named = _copy_name(data, at + 1, header, names, named)
        lengths[count] = read
        filled, count = filled + read, count + 1
        at = quality + read + 1
    return PAUSE, at, filled, named, count
