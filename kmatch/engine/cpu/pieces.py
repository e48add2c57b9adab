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
from kmatch.jit.kernels import inlined, kernel


class Pattern(NamedTuple):
    """A query whose ends are verified.

    letters: int8[m], plane numbers, as they are read; bases: uint8[x], the mask of each plane; k:
    its limit; sign: its step (see `step_of`); query: its number.
    """

    letters: Bytes
    bases: Bytes
    k: int
    sign: int
    query: int


@inlined
def _owned(text, sign):
    """Return the reading coordinates whose ends a query owns, (first, last), and the first one that
    can be read; sign: of its step."""
    size = 64 * text.words * text.rows
    halo = text.plane_words // text.words - text.rows
    first = halo if sign > 0 else 1 - size
    edge = 0 if sign > 0 else 1 - size - halo
    return first, first + size - 1, edge


@kernel
def _verify(text, pattern, center, memory, writer):
    """Write the codes of the ends within k of alignments that have a survivor's piece.

    They stay within k diagonals of the piece's. An alignment from farther away, with fewer
    differences, has a survivor of its own. text: Text; pattern: Pattern; center: where the survivor
    expects its end. Text letter i + d is compared with pattern letter i on diagonal d. With k = 1:

        text letters   0  1  2  3  4  5
        letter 0       0  1  2
        letter 1          0  1  2
        letter 2             0  1  2
        letter 3                0  1  2    ends center − k … center + k
    """
    letters, bases, k, sign, query = pattern
    m = len(letters)
    first, last, edge = _owned(text, sign)
    first_end = max(center - k, first)
    last_end = min(center + k, last)
    if first_end > last_end:
        return

    # The text around it, nothing where there is no text, or none is needed.
    begin = center - m - k + 1
    shown = memory.letters[: m + 2 * k]
    shown_begin = max(begin, edge)
    shown_end = min(begin + len(shown), last + 1)
    shown[:] = 0
    shown_count = shown_end - shown_begin
    decode(text, shown_begin * sign, sign, shown_count, shown[shown_begin - begin :])

    # A row of the matrix, by diagonals, and a diagonal that is too far.
    row = memory.row[: 2 * k + 2]
    row[:-1] = 0
    row[-1] = k + 1
    for i in range(m):
        mask = bases[letters[i]]
        least = k + 1
        left = k + 1
        for d in range(2 * k + 1):
            diagonal = row[d] if shown[i + d] & mask else row[d] + 1
            left = min(diagonal, left + 1, row[d + 1] + 1)
            row[d] = left
            least = min(least, left)
        if least > k:
            return
    for d in range(2 * k + 1):
        end = center - k + d
        if row[d] <= k and first_end <= end <= last_end:
            put(writer, end * sign, query, row[d])


STEP = 2 * WIDE  # words taken at a time

CACHED = 1024  # words of a plane that all pieces scan before the next: they stay in the L1 cache

HASTE = 8  # letters between looks at whether any lane is live


class Memory(NamedTuple):
    """The memory of a filter.

    out: uint64[STEP]; chains: int64, the offset of each letter's words from the words of its
    piece's position; letters: uint8, of the text around a survivor; row: int64, of the matrix
    there.
    """

    out: Words
    chains: Longs
    letters: Bytes
    row: Longs


@kernel
def _seek(planes, chain, size, at, end, out):
    """AND STEP words from at + chain[i] over all i < size, for `at`, at + STEP, … until a bit is
    set.

    Writes the result to `out` and returns its position, `end` or more if there is none. Words at
    `end` and beyond are read, but mean nothing in the result. planes, chain, out: pointers.
    """
    while at < end:
        a = load_wide(planes, at + chain[0])
        b = load_wide(planes, at + chain[0] + WIDE)
        i = 1
        alive = True
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
    """Verify the survivors in `many` words of the flat rows from `at` on, as found in memory.out.

    shift: from a survivor's position to the end it expects; left: how many survivors there
    may still be of all pieces. Returns how many there may be then: below 0 some are left out.
    """
    for i in range(many):
        survivors = memory.out[i]
        row, word = divmod(at + i, text.words)
        while survivors != 0 and left >= 0:
            lane = 64 * word + lowest(survivors)
            survivors &= survivors - ONE
            left -= 1
            position = lane * text.rows + row + shift
            _verify(text, pattern, pattern.sign * position, memory, writer)
    return left


@kernel
def _fill_chains(letters, bounds, plane_words, words, sign, chains):
    """Write the offset of each letter's words from the words of its piece's first position.

    letters: int8[m], plane numbers; bounds: int64[k + 2], of pieces; chains: int64[≥ m]. The text
    has a pattern that is read downwards last letter first.
    """
    for piece in range(bounds.size - 1):
        begin = bounds[piece]
        end = bounds[piece + 1]
        for i in range(end - begin):
            letter = letters[begin + i if sign > 0 else end - 1 - i]
            chains[begin + i] = letter * plane_words + i * words


@kernel
def new_memory(reach):
    """Return the Memory for queries of up to so many letters and k together."""
    chains, row = np.empty((2, 2 * reach), np.int64)
    return Memory(aligned(STEP), chains, np.empty(2 * reach, np.uint8), row)


@kernel
def filter_rows(text, rows, search, query, most, memory, writer):
    """Find the ends of one query in rows that lanes own; returns whether it did.

    text: Text; rows: (first, last), without the last; search: DifferenceQuery;
    query: its number; most: survivors up to which the filter pays; beyond, it returns False;
    memory: Memory. Many codes come twice.
    """
    codes, begins, backward, bases = search.reading
    letters = codes[begins[query] : begins[query + 1]]
    k = search.limits[query]
    sign = step_of(backward[query])
    m = letters.size
    bounds = np.arange(k + 2) * m // (k + 1)  # of pieces of nearly equal length
    pattern = Pattern(letters, bases, k, sign, query)
    _fill_chains(letters, bounds, text.plane_words, text.words, sign, memory.chains)
    planes = pointer(text.planes, 0)
    out = pointer(memory.out, 0)

    # The rows that alignments may read.
    skipped = 0 if sign < 0 else text.plane_words // text.words - text.rows - m - k
    begin = rows[0] + skipped
    end = rows[1] + skipped + m + k
    for at in range(begin * text.words, end * text.words, CACHED):
        for number in range(k + 1):
            first = bounds[number]
            size = bounds[number + 1] - first
            shift = m - first - 1 if sign > 0 else first + size - m
            chain = pointer(memory.chains, first)
            stop = min(at + CACHED, (end - size + 1) * text.words)
            found = _seek(planes, chain, size, at, stop, out)
            while found < stop:
                many = min(STEP, stop - found)
                most = _verify_words(text, pattern, found, many, shift, memory, most, writer)
                if most < 0:
                    return False
                found = _seek(planes, chain, size, found + STEP, stop, out)
    return True
