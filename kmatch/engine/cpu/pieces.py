"""Filter for small k/m: a hit within k differences contains one of k + 1 pieces exactly.

An exact piece is a chain of ANDs over the striped planes: the text shifted by j letters begins j·W
words further on, so planes are read as one flat array of words. Each survivor is verified in the
text around it, letter by letter of the pattern along the diagonals that matter. Coordinates there
are reading coordinates, which always grow while reading: the position in the chunk where the text
is read upwards, its negative where it is read downwards.
"""

from typing import NamedTuple

import numpy as np

from kmatch.arrays import Bytes, Longs, Words
from kmatch.engine.cpu.hits import put
from kmatch.engine.cpu.vectors import ONE, aligned, load_wide, lowest, nonzero, pointer, store
from kmatch.engine.geometry import WIDE
from kmatch.engine.letters import decode, step_of
from kmatch.jit.kernels import kernel


class Pattern(NamedTuple):
    """A query whose ends are verified.

    letters: uint8[m], as they are read; bases: uint8[x], for which each of them stands; k: its
    limit; sign: its step (see `step_of`); query: its number.
    """

    letters: Bytes
    bases: Bytes
    k: int
    sign: int
    query: int


@kernel
def _verify(text, pattern, center, memory, writer):
    """Write the codes of the ends within k of alignments that have a survivor's piece.

    They stay within k diagonals of the piece's; what leads to an end from farther away, with fewer
    differences, has a survivor of its own. text: Text; pattern: Pattern; center: where the survivor
    expects its end.
    """
    codes, bases, k, sign, query = pattern
    m, size = len(codes), 64 * text.words * text.rows
    halo = text.plane_words // text.words - text.rows
    first, last = (halo, halo + size - 1) if sign > 0 else (1 - size, 0)
    edge = 0 if sign > 0 else 1 - size - halo  # nothing to read before
    low, high = max(center - k, first), min(center + k, last)
    if low > high:
        return
    begin, letters = center - m - k + 1, memory.letters[: m + 2 * k]
    start, stop = max(begin, edge), min(begin + len(letters), last + 1)
    letters[:] = 0
    decode(text, start * sign, sign, stop - start, letters[start - begin :])
    row = memory.row[: 2 * k + 2]  # of the matrix, by diagonals, and one that is too far
    row[:-1], row[-1] = 0, k + 1
    for i in range(m):
        mask, least, left = bases[codes[i]], k + 1, k + 1
        for d in range(2 * k + 1):
            here = row[d] if letters[i + d] & mask else row[d] + 1
            row[d] = left = min(here, left + 1, row[d + 1] + 1)
            least = min(least, left)
        if least > k:
            return
    for d in range(2 * k + 1):
        end = center - k + d
        if row[d] <= k and low <= end <= high:
            put(writer, end * sign, query, row[d])


STEP = 2 * WIDE  # words taken at a time

CACHED = 1024  # words of a plane that all pieces scan before the next: they stay in the L1 cache

HASTE = 8  # letters between looks at whether any lane is live


class Memory(NamedTuple):
    """What a filter works with. out: uint64[STEP]; chains: int64, the offset of each letter's words
    from those of its piece's position; letters: uint8, of the text around a survivor; row: int64,
    of the matrix there."""

    out: Words
    chains: Longs
    letters: Bytes
    row: Longs


@kernel
def _seek(planes, chain, size, at, end, out):
    """AND STEP words from at + chain[i] over all i < size, for `at`, at + STEP, … until a bit is
    set.

    Writes the result to `out` and returns its position, `end` or more if there is none. Words at
    `end` and beyond are read, but those of the result mean nothing. planes, chain, out: pointers.
    """
    while at < end:
        a, b = load_wide(planes, at + chain[0]), load_wide(planes, at + chain[0] + WIDE)
        i, alive = 1, True
        while alive and i < size:
            stop = min(size, i + HASTE)
            while i < stop:
                a = a & load_wide(planes, at + chain[i])
                b = b & load_wide(planes, at + chain[i] + WIDE)
                i += 1
            alive = nonzero(a | b) != 0
        if alive and nonzero(a | b) != 0:
            store(out, 0, a)
            store(out, WIDE, b)
            break
        at += STEP
    return at


@kernel
def _verify_words(text, pattern, at, many, shift, memory, left, writer):
    """Verify the survivors in `many` words of the flat rows from `at` on, as found in memory.out;
    returns how many more there may be of all pieces: below 0 some are left out.

    shift: from a survivor's position to that of the end it expects.
    """
    words, rows = text.words, text.rows
    for i in range(many):
        word = memory.out[i]
        row, lane = (at + i) // words, 64 * ((at + i) % words)
        while word != 0 and left >= 0:
            position = (lane + lowest(word)) * rows + row + shift
            word &= word - ONE
            left -= 1
            _verify(text, pattern, pattern.sign * position, memory, writer)
    return left


@kernel
def _fill_chains(letters, bounds, plane_words, words, sign, chains):
    """The offset of each letter's words from those of its piece's first position, int64[≥ m]."""
    for piece in range(bounds.size - 1):
        a, b = bounds[piece], bounds[piece + 1]
        for i in range(b - a):  # the text has a pattern that is read downwards last letter first
            chains[a + i] = letters[a + i if sign > 0 else b - 1 - i] * plane_words + i * words


@kernel
def new_memory(reach):
    """The Memory for queries of up to so many letters and k together."""
    chains, row = np.empty((2, 2 * reach), np.int64)
    return Memory(aligned(STEP), chains, np.empty(2 * reach, np.uint8), row)


@kernel
def filter_rows(text, rows, search, query, most, memory, writer):
    """Find the ends of one query in rows that lanes own, first … last−1, (first, last); returns
    whether it did.

    text: Text; search: DifferenceQuery; query: its number; most: survivors up to which the filter
    pays; beyond, it returns False; memory: Memory. Many codes come twice.
    """
    words, plane_words = text.words, text.plane_words
    codes, begins, backward, bases = search.reading
    letters, k = codes[begins[query] : begins[query + 1]], search.limits[query]
    sign = step_of(backward[query])
    m, chains = letters.size, memory.chains
    bounds = np.arange(k + 2) * m // (k + 1)  # of pieces of nearly equal length
    pattern = Pattern(letters, bases, k, sign, query)
    _fill_chains(letters, bounds, plane_words, words, sign, chains)
    planes, out = pointer(text.planes, 0), pointer(memory.out, 0)
    before = 0 if sign < 0 else plane_words // words - text.rows - m - k
    begin, end = rows[0] + before, rows[1] + before + m + k  # of what alignments may read
    for at in range(begin * words, end * words, CACHED):
        for number in range(k + 1):
            a, b = bounds[number], bounds[number + 1]
            stop = min(at + CACHED, (end - (b - a) + 1) * words)
            shift = m - a - 1 if sign > 0 else b - m
            given = planes, pointer(chains, a), b - a
            found = _seek(*given, at, stop, out)
            while found < stop:
                many = min(STEP, stop - found)
                most = _verify_words(text, pattern, found, many, shift, memory, most, writer)
                if most < 0:
                    return False
                found = _seek(*given, found + STEP, stop, out)
    return True
