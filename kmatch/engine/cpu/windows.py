"""Windows of 64 letters beside the sites of a block of text, or all of them without PAMs.

Letters of a block become rows of bits, a bit a position, in which PAMs are found 64 positions at a
time:

    text                  A C G T N C G G
    bases         A       x . . . . . . .
                  C       . x . . . x . .
                  G       . . x . . . x x
                  T       . . . x . . . .
    LOWS          C, T    . x . x . x . .      a letter's low bit
    HIGHS         G, T    . . x x . . x x      and its high bit
    OTHERS                . . . . x . . .      letters that are no base
    SEVERAL               . . . . . . . .      letters that may be several

A window begins at an anchor and is read from there against the step of its query.
"""

from typing import NamedTuple

import numpy as np

from kmatch.arrays import Longs, Words
from kmatch.engine.cpu.vectors import NONE, ONE, bits_alike, lowest, reverse_bits, word_at
from kmatch.engine.letters import step_of
from kmatch.engine.workers import SPAN
from kmatch.jit.kernels import inlined, kernel

MARGIN = 128  # letters before and after a block: a window of 64, and a PAM
MOST_WINDOWS = 4 * SPAN  # of a block and a strand

LOWS, HIGHS, OTHERS, SEVERAL = range(4, 8)  # rows of bits, behind those of the bases
BASES = np.repeat(np.array([1, 2, 4, 8], np.uint8), 64)


class Windows(NamedTuple):
    """Windows beside the sites of a block, uint64 each: their letters, and where they begin."""

    low: Words
    high: Words
    other: Words
    position: Longs


@kernel
def new_windows():
    """Return memory for the Windows of a block."""
    words = np.empty((3, MOST_WINDOWS), np.uint64)
    return Windows(words[0], words[1], words[2], np.empty(MOST_WINDOWS, np.int64))


@kernel
def fill_bits(letters, first, bits):
    """Fill rows of bits with the letters of positions first … first + 64·w − 1.

    letters: uint8[n], masks of positions 0 … n − 1; bits: uint64[8, w], without a bit elsewhere.
    """
    edge = np.empty(64, np.uint8)
    for word in range(bits.shape[1]):
        source = letters
        at = first + 64 * word
        if at < 0 or at + 64 > len(letters):
            edge[:] = 0
            for i in range(max(-at, 0), min(len(letters) - at, 64)):
                edge[i] = letters[at + i]
            source = edge
            at = 0
        for base in range(4):
            bits[base, word] = bits_alike(source, at, BASES, 64 * base)
        a = bits[0, word]
        c = bits[1, word]
        g = bits[2, word]
        t = bits[3, word]
        bits[LOWS, word] = c | t
        bits[HIGHS, word] = g | t
        bits[OTHERS, word] = ~(a | c | g | t)
        bits[SEVERAL, word] = a & c | g & t | (a | c) & (g | t)


@inlined
def _matching(bits, bit, mask):
    """Return which of 64 letters from a bit on are one of the bases of a mask."""
    found = NONE
    for base in range(4):
        if mask >> base & 1:
            found |= word_at(bits[base], bit)
    return found


@kernel
def _sites(bits, bit, step, pams, sizes):
    """Return which of 64 positions from a bit on have a PAM beside them, or all without PAMs.

    step: see `step_of`; pams, sizes: uint8[X, w] and int64[X], the letters of each from the anchor
    outwards.
    """
    found = NONE if len(sizes) else ~NONE
    for number in range(len(sizes)):
        beside = ~NONE
        i = 0
        while i < sizes[number] and beside != NONE:
            beside &= _matching(bits, bit + step * (i + 1), pams[number, i])
            i += 1
        found |= beside
    return found


@inlined
def _between(first, last):
    """Return a word with the bits first … last − 1, as far as there are such.

    bit         63 …     4 3 2 1 0
    (1, 4)       .  …    . x x x .
    """
    begin = min(max(first, 0), 64)
    end = min(max(last, 0), 64)
    below_end = ~NONE if end == 64 else (ONE << np.uint64(end)) - ONE
    from_begin = NONE if begin == 64 else ~NONE << np.uint64(begin)
    return below_end & from_begin


@inlined
def _hidden(position, shown, pam_size, backward):
    """Return which of 64 positions are so near to the end of a View that it does not show a PAM."""
    if backward:
        return _between(0, pam_size - position)
    return _between(shown - pam_size - position, 64)


@inlined
def _letters_from(bits, row, bit, backward):
    """Return a row of 64 letters from an anchor's bit on, as they are read from there."""
    return word_at(bits[row], bit) if backward else reverse_bits(word_at(bits[row], bit - 63))


@kernel
def _split(bits, bit, backward, used, windows, count):
    """Replace the last of `count` windows by all that its letters of several bases stand for.

    used: a bit for each letter that is compared. Returns how many windows there are then,
    MOST_WINDOWS if they do not fit.

        letters A R C Y    →    A A C C,  A G C C,  A A C T,  A G C T
    """
    first = count - 1
    several = _letters_from(bits, SEVERAL, bit, backward) & used
    while several != NONE:
        letter = several & (~several + ONE)
        several ^= letter
        stop = count
        is_first = True  # of the letter's bases, which is written over the windows as they are
        for base in range(4):
            row = base if backward else 3 - base
            if _letters_from(bits, row, bit, backward) & letter == NONE:
                continue
            for i in range(first, stop):
                to = i if is_first else count
                if to == MOST_WINDOWS:
                    return MOST_WINDOWS
                windows.low[to] = windows.low[i] & ~letter | (letter if base & 1 else NONE)
                windows.high[to] = windows.high[i] & ~letter | (letter if base & 2 else NONE)
                windows.other[to] = windows.other[i]
                windows.position[to] = windows.position[i]
                if not is_first:
                    count += 1
            is_first = False
    return count


@kernel
def read_windows(bits, span, strand, pams, sizes, used, windows):
    """Read the windows beside the sites of a strand; returns how many there are.

    bits: see `fill_bits`, from MARGIN letters before the block's first one on; span: (first, last,
    shown), positions that are searched, and of the View; strand: (minus, backward); pams, sizes:
    see Tables; used: a bit for each letter that is compared; windows: Windows, filled here. Returns
    MOST_WINDOWS if they do not fit.
    """
    first, last, shown = span
    minus, backward = strand
    strand_pams = pams[minus]
    step = step_of(backward)
    block_start = first // SPAN * SPAN - MARGIN
    has_several = bits[SEVERAL].any()
    count = 0
    for position in range(first // 64 * 64, last, 64):
        sites = _sites(bits, position - block_start, step, strand_pams, sizes)
        sites |= _hidden(position, shown, strand_pams.shape[1], backward)
        sites &= _between(first - position, last - position)
        while sites != NONE:
            anchor = position + lowest(sites)
            sites &= sites - ONE
            bit = anchor - block_start
            low = _letters_from(bits, LOWS, bit, backward)
            high = _letters_from(bits, HIGHS, bit, backward)
            # What is read upwards is compared by its reverse complement.
            windows.low[count] = low if backward else ~low
            windows.high[count] = high if backward else ~high
            windows.other[count] = _letters_from(bits, OTHERS, bit, backward)
            windows.position[count] = anchor
            count += 1
            if has_several:
                count = _split(bits, bit, backward, used, windows, count)
                if count == MOST_WINDOWS:
                    return count
    return count
