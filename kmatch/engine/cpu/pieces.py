"""Filter for small k/m: a hit within k differences contains one of k + 1 pieces exactly.

An exact piece is a chain of ANDs over the striped planes: the text shifted by j letters begins j·W
words further on, so planes are read as one flat array of words. Each survivor is verified, in the
text around it, by Myers' recurrence, 64 pattern letters to a word. Coordinates there are reading
coordinates, which always grow while reading: the position in the chunk where the text is read
upwards, its negative where it is read downwards.
"""

from typing import NamedTuple

import numpy as np

from kmatch.arrays import Bytes, Longs, Words
from kmatch.engine.cpu.hits import put
from kmatch.engine.cpu.items import WORDS
from kmatch.engine.cpu.vectors import ALL_ONES, NONE, ONE, aligned, load, lowest, nonzero, store
from kmatch.engine.letters import decode
from kmatch.jit.kernels import inlined, kernel


class Pattern(NamedTuple):
    """A query whose ends are verified.

    table, begin: of its Profile; length: its letters; k: its limit; sign: 1 reads upwards, −1
    downwards; query: its number.
    """

    table: Words
    begin: int
    length: int
    k: int
    sign: int
    query: int


@inlined
def _block(eq, pv, mv, plus, minus):
    """One column of one block: (pv, mv, horizontal +1, horizontal -1), rows as bits.

    plus, minus: the horizontal delta that comes in at the top, as 0 or 1 each.
    """
    xv = eq | mv
    eq |= minus
    xh = (((eq & pv) + pv) ^ pv) | eq
    ph = mv | ~(xh | pv)
    mh = pv & xh
    up, down = (ph << ONE) | plus, (mh << ONE) | minus
    return down | ~(xv | up), up & xv, ph, mh


@inlined
def _column(table, at, blocks, last, pv, mv):
    """Advance all blocks by one text letter; returns the change of the last row (int64)."""
    plus = minus = NONE
    ph = mh = NONE
    for b in range(blocks):
        pv[b], mv[b], ph, mh = _block(table[at + b], pv[b], mv[b], plus, minus)
        plus, minus = ph >> np.uint64(63), mh >> np.uint64(63)
    return np.int64((ph >> last) & ONE) - np.int64((mh >> last) & ONE)


@kernel
def _verify(text, pattern, center, memory, writer):
    """Write the codes of all ends within k in [center − k, center + k].

    text: Text; pattern: Pattern; center: where a survivor expects its end.
    """
    table, begin, m, k, sign, query = pattern
    size = 64 * text.words * text.rows
    halo = text.plane_words // text.words - text.rows
    first, last = (halo, halo + size - 1) if sign > 0 else (1 - size, 0)
    edge = 0 if sign > 0 else 1 - size - halo  # nothing to read before
    low, high = max(center - k, first), min(center + k, last)
    if low > high:
        return
    start, blocks, top = max(edge, low - m - k + 1), (m + 63) >> 6, np.uint64((m - 1) & 63)
    pv, mv = memory.vertical[:blocks], memory.vertical[blocks : 2 * blocks]
    pv[:], mv[:] = ALL_ONES, NONE
    letters, distance = memory.letters[: high + 1 - start], m
    decode(text, start * sign, sign, len(letters), letters)
    for i in range(len(letters)):
        distance += _column(table, begin + np.int64(letters[i]) * blocks, blocks, top, pv, mv)
        if distance <= k and start + i >= low:
            put(writer, (start + i) * sign, query, distance)


STEP = 4 * WORDS  # words taken at a time

CACHED = 1024  # words of a plane that all pieces scan before the next: they stay in the L1 cache

HASTE = 8  # letters between looks at whether any lane is live

TOP = np.uint64(1 << 63)  # the last lane of a word


class Piece(NamedTuple):
    """A piece of a query.

    chain: int64, the offset of each letter's words from those of the piece's position; sign: 1
    reads upwards, −1 downwards; shift: from a survivor's position to that of the end it expects.
    """

    chain: Longs
    sign: int
    shift: int


class Memory(NamedTuple):
    """What a filter works with. out: uint64[STEP]; chains: int64, a Piece's of all pieces; letters:
    uint8, of the text around a survivor; vertical: uint64, deltas of a column there."""

    out: Words
    chains: Longs
    letters: Bytes
    vertical: Words


@inlined
def cut_at(piece, length, k):
    """Where one of k + 1 pieces of nearly equal length begins."""
    return piece * length // (k + 1)


@kernel
def cut(length, k):
    """Bounds of k + 1 pieces of nearly equal length (int64[k + 2])."""
    return cut_at(np.arange(k + 2), length, k)


@kernel
def _seek(planes, chain, at, end, out):
    """AND STEP words from at + chain[i] over all i, for `at`, at + STEP, … until a bit is set.

    Writes the result to `out` and returns its position, `end` or more if there is none. Words at
    `end` and beyond are read, but those of the result mean nothing.
    """
    while at < end:
        a, b, c, d = _four(planes, at + chain[0])
        i, alive = 1, True
        while alive and i < chain.size:
            stop = min(chain.size, i + HASTE)
            while i < stop:
                e, f, g, h = _four(planes, at + chain[i])
                a, b, c, d = a & e, b & f, c & g, d & h
                i += 1
            alive = nonzero(a | b | c | d) != 0
        if alive and nonzero(a | b | c | d) != 0:
            store(out, 0, a)
            store(out, WORDS, b)
            store(out, 2 * WORDS, c)
            store(out, 3 * WORDS, d)
            break
        at += STEP
    return at


@inlined
def _four(planes, at):
    return (
        load(planes, at),
        load(planes, at + WORDS),
        load(planes, at + 2 * WORDS),
        load(planes, at + 3 * WORDS),
    )


@inlined
def _owned(word, at, words, own):
    """Beyond the owned rows only the last lane counts: other lanes repeat letters there."""
    if at < own:
        return word
    return word & TOP if at % words == words - 1 else word & NONE


@kernel
def _verify_piece(text, piece, pattern, at, end, memory, left, writer):
    """Verify the survivors of one piece among words at … end−1 of the flat rows; returns how many
    more there may be of all pieces: below 0 some are left out."""
    planes, words, rows, _ = text
    while left >= 0:
        at = _seek(planes, piece.chain, at, end, memory.out)
        for i in range(min(STEP, end - at)):
            word = memory.out[i]
            if word != 0:
                word = _owned(word, at + i, words, rows * words)
            row, lane = (at + i) // words, 64 * ((at + i) % words)
            while word != 0 and left >= 0:
                position = (lane + lowest(word)) * rows + row + piece.shift
                word &= word - ONE
                left -= 1
                _verify(text, pattern, piece.sign * position, memory, writer)
        if at >= end:
            break
        at += STEP
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
    letters, vertical = np.empty(3 * reach, np.uint8), np.empty(2 * (reach // 64 + 1), np.uint64)
    return Memory(aligned(STEP), np.empty(reach, np.int64), letters, vertical)


@kernel
def filter_rows(text, rows, search, query, most, memory, writer):
    """Search the rows first … last−1, (first, last), for one query; returns whether it did.

    text: Text; search: DifferenceQuery; query: its number; most: survivors up to which the filter
    pays; beyond, it returns False; memory: Memory. Many codes come twice.
    """
    words, plane_words = text.words, text.plane_words
    codes, begins, backward, _ = search.reading
    letters, k = codes[begins[query] : begins[query + 1]], search.limits[query]
    sign = -1 if backward[query] else 1
    m, all_rows = letters.size, plane_words // words
    bounds, chains, profile = cut(m, k), memory.chains, search.profile
    pattern = Pattern(profile.table, profile.begins[query], m, k, sign, query)
    _fill_chains(letters, bounds, plane_words, words, sign, chains)
    end = rows[1] * words
    if rows[1] == text.rows:  # the last lane extends into the halo
        end = plane_words
    for at in range(rows[0] * words, end, CACHED):
        for number in range(k + 1):
            a, b = bounds[number], bounds[number + 1]
            stop = min(at + CACHED, end, (all_rows - (b - a) + 1) * words)
            piece = Piece(chains[a:b], sign, m - a - 1 if sign > 0 else b - m)
            most = _verify_piece(text, piece, pattern, at, stop, memory, most, writer)
            if most < 0:
                return False
    return True
