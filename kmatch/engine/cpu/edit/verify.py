"""Exact ends in windows of text around survivors: Myers' recurrence, 64 pattern letters to a word.

Windows are in reading coordinates, which always grow while reading: the position in the chunk where
the text is read upwards, its negative where it is read downwards.
"""

from typing import NamedTuple

import numpy as np

from kmatch.arrays import Words
from kmatch.engine.cpu.bits.buffer import put
from kmatch.engine.host.blocks import ALL_ONES, NONE, ONE, block
from kmatch.engine.host.letters import decode
from kmatch.jit import inlined, kernel

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
