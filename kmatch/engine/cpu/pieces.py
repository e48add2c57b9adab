"""Filter for small k/m: a hit within k differences contains one of k + 1 pieces exactly.

An exact piece is a chain of ANDs over the striped planes: the text shifted by j letters begins j·W
words further on, so planes are read as one flat array of words. Survivors are verified, in windows
of text around them, by Myers' recurrence, 64 pattern letters to a word. Windows are in reading
coordinates, which always grow while reading: the position in the chunk where the text is read
upwards, its negative where it is read downwards.
"""

from typing import NamedTuple

import numpy as np

from kmatch.arrays import Longs, Words
from kmatch.engine.cpu.hits import put
from kmatch.engine.cpu.items import WORDS
from kmatch.engine.cpu.vectors import ALL_ONES, NONE, ONE, aligned, load, lowest, nonzero, store
from kmatch.engine.letters import decode
from kmatch.engine.trace import block
from kmatch.jit.kernels import inlined, kernel

STRETCH = 256  # letters decoded at a time


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
def _column(table, at, blocks, last, pv, mv):
    """Advance all blocks by one text letter; returns the change of the last row (int64)."""
    plus = minus = NONE
    ph = mh = NONE
    for b in range(blocks):
        pv[b], mv[b], ph, mh, _ = block(table[at + b], pv[b], mv[b], plus, minus)
        plus, minus = ph >> np.uint64(63), mh >> np.uint64(63)
    return np.int64((ph >> last) & ONE) - np.int64((mh >> last) & ONE)


@kernel
def _window(text, pattern, limits, memory, writer):
    """Read start … high and write the ends within k in low … high."""
    start, low, high = limits
    table, begin, m, k, sign, query = pattern
    letters, vertical = memory
    blocks = (m + 63) >> 6
    last = np.uint64((m - 1) & 63)
    pv, mv = vertical[:blocks], vertical[blocks : 2 * blocks]
    pv[:], mv[:] = ALL_ONES, NONE
    distance = m
    for at in range(start, high + 1, STRETCH):
        many = min(STRETCH, high + 1 - at)
        decode(text, at * sign, sign, many, letters)
        for i in range(many):
            distance += _column(table, begin + np.int64(letters[i]) * blocks, blocks, last, pv, mv)
            if distance <= k and at + i >= low:
                put(writer, (at + i) * sign, query, distance)


@kernel
def verify(text, pattern, survivors, writer):
    """Write the codes of all ends within k in [s − k, s + k] for each survivor s.

    text: Text; pattern: Pattern; survivors: int64, ascending reading coordinates. Windows close
    together are read as one, with the ends between them.
    """
    m, k, sign = pattern.length, pattern.k, pattern.sign
    size = 64 * text.words * text.rows
    halo = text.plane_words // text.words - text.rows
    own = (halo, halo + size) if sign > 0 else (1 - size, 1)
    edge = 0 if sign > 0 else 1 - size - halo  # nothing to read before
    memory = (np.empty(STRETCH, np.uint8), np.empty(2 * ((m + 63) >> 6), np.uint64))
    i = 0
    while i < survivors.size:
        low, high = survivors[i] - k, survivors[i] + k
        i += 1
        while i < survivors.size and survivors[i] - 2 * k - m <= high:
            high = survivors[i] + k
            i += 1
        low, high = max(low, own[0]), min(high, own[1] - 1)
        if low <= high:
            limits = (max(edge, low - m - k + 1), low, high)
            _window(text, pattern, limits, memory, writer)


STEP = 4 * WORDS  # words taken at a time

CACHED = 1024  # words of a plane that all pieces scan before the next: they stay in the L1 cache

HASTE = 8  # letters between looks at whether any lane is live

TOP = np.uint64(1 << 63)  # the last lane of a word


class Piece(NamedTuple):
    """A piece of a query.

    chain: int64, the offset of each letter's words from those of the piece's position; sign: 1
    reads upwards, −1 downwards; shift: from a survivor's row to that of the end it expects.
    """

    chain: Longs
    sign: int
    shift: int


class Memory(NamedTuple):
    """What a filter works with. out: uint64[STEP]; chains: int64, a Piece's of all pieces; centers:
    int64, where survivors expect their ends."""

    out: Words
    chains: Longs
    centers: Longs


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


@kernel
def _note(word, first, text, piece, centers, count):
    """Write the reading coordinate at which each survivor of a word expects its end."""
    row, lane = first // text.words, 64 * (first % text.words)
    while word != 0:
        bit = lowest(word)
        word &= word - ONE
        if count < centers.size:
            centers[count] = piece.sign * ((lane + bit) * text.rows + row + piece.shift)
        count += 1
    return count


@inlined
def _owned(word, at, words, own):
    """Beyond the owned rows only the last lane counts: other lanes repeat letters there."""
    if at < own:
        return word
    return word & TOP if at % words == words - 1 else word & NONE


@kernel
def _survivors(text, piece, at, end, out, centers, count):
    """Survivors of one piece among words at … end−1 of the flat rows; returns the count so far."""
    planes, words = text.planes, text.words
    own = text.rows * words
    while count <= centers.size:
        at = _seek(planes, piece.chain, at, end, out)
        for i in range(min(STEP, end - at)):
            if out[i] != 0:
                word = _owned(out[i], at + i, words, own)
                count = _note(word, at + i, text, piece, centers, count)
        if at >= end:
            break
        at += STEP
    return count


@kernel
def _fill_chains(letters, bounds, plane_words, words, sign, chains):
    """The offset of each letter's words from those of its piece's first position, int64[≥ m]."""
    for piece in range(bounds.size - 1):
        a, b = bounds[piece], bounds[piece + 1]
        for i in range(b - a):  # the text has a pattern that is read downwards last letter first
            chains[a + i] = letters[a + i if sign > 0 else b - 1 - i] * plane_words + i * words


@kernel
def new_memory(letters, most):
    """The Memory for queries of so many letters and survivors at the most."""
    return Memory(aligned(STEP), np.empty(letters, np.int64), np.empty(most, np.int64))


@kernel
def _sort(numbers, count):
    """Sort the first `count` numbers by a heap, in place and without more memory."""
    begin, end = count // 2, count
    while end > 1:
        if begin > 0:
            begin -= 1
        else:
            end -= 1
            numbers[0], numbers[end] = numbers[end], numbers[0]
        root, child = begin, 2 * begin + 1
        while child < end:
            if child + 1 < end and numbers[child + 1] > numbers[child]:
                child += 1
            if numbers[root] >= numbers[child]:
                break
            numbers[root], numbers[child] = numbers[child], numbers[root]
            root, child = child, 2 * child + 1


@kernel
def filter_rows(text, rows, search, query, most, memory, writer):
    """Search the rows first … last−1, (first, last), for one query; returns whether it did.

    text: Text; search: DifferenceQuery; query: its number; most: survivors up to which the filter
    pays; beyond, it writes nothing and returns False; memory: Memory.
    """
    words, plane_words = text.words, text.plane_words
    codes, begins, backward, _ = search.reading
    letters, k = codes[begins[query] : begins[query + 1]], search.limits[query]
    sign = -1 if backward[query] else 1
    m, all_rows = letters.size, plane_words // words
    bounds, chains, centers = cut(m, k), memory.chains, memory.centers[:most]
    _fill_chains(letters, bounds, plane_words, words, sign, chains)
    count = 0
    end = rows[1] * words
    if rows[1] == text.rows:  # the last lane extends into the halo
        end = plane_words
    for at in range(rows[0] * words, end, CACHED):
        for number in range(k + 1):
            a, b = bounds[number], bounds[number + 1]
            stop = min(at + CACHED, end, (all_rows - (b - a) + 1) * words)
            piece = Piece(chains[a:b], sign, m - a - 1 if sign > 0 else b - m)
            count = _survivors(text, piece, at, stop, memory.out, centers, count)
        if count > most:
            return False
    if count > 0:
        _sort(centers, count)
        profile = search.profile
        pattern = Pattern(profile.table, profile.begins[query], m, k, sign, query)
        verify(text, pattern, centers[:count], writer)
    return True
