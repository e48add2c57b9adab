"""k mismatches over striped bit planes: carry-save adders over vectors of lanes.

Mismatch counters are bit-sliced and kept complemented, because the text planes say where a letter
*matches*: both outputs of a full adder complement when all its inputs do. A counter starts at
2^bits − (k + 1), so that an overflow means more than k mismatches; a lane whose counter overflows
is no longer live.

A tuple (live, ones, twos, fours) holds vectors of lanes; `kept` is the number of the counter's bits
in use. With kept = BEYOND there are three or more, and the tuple holds the carry of the fours, for
`ripple`, instead of the live plane.
"""

from typing import NamedTuple

import numpy as np

from kmatch.arrays import Longs
from kmatch.engine.cpu.hits import give_up, leave, new_slot, new_writer, put
from kmatch.engine.cpu.vectors import (
    ALL_ONES,
    NONE,
    ONE,
    fill_wide,
    load_wide,
    lowest,
    nonzero,
    pointer,
    store,
)
from kmatch.engine.geometry import WIDE, Text
from kmatch.engine.workers import TILE
from kmatch.engine.workers_kernels import next_item
from kmatch.jit.kernels import inlined, kernel

BEYOND = 3


class Counter(NamedTuple):
    """A counter of mismatches: its bits, and the number it starts with to overflow past k."""

    bits: int
    first_count: int


@kernel
def counter_of(k):
    """The Counter that overflows past k."""
    bits = 1
    while (1 << bits) < k + 1:
        bits += 1
    return Counter(bits, (1 << bits) - (k + 1))


@inlined
def _full(a, b, c):
    """Sum and carry of three bits; the carry out of the sum, which spares copies of registers."""
    total = a ^ b ^ c
    return total, (a & b) | ((a ^ b) & ~total)


@inlined
def _half(a, b):
    """Sum and carry of two bits, the third being 0, all complemented."""
    return ~(a ^ b), a | b


@inlined
def begin_wide(first_count):
    """Counters at their start, all lanes live."""
    return (
        fill_wide(ALL_ONES),
        fill_wide(_start(first_count, 0)),
        fill_wide(_start(first_count, 1)),
        fill_wide(_start(first_count, 2)),
    )


@inlined
def _start(first_count, bit):
    return NONE if first_count >> bit & 1 else ALL_ONES


@inlined
def add_four(kept, counters, a, b, c, d):
    """Count the mismatches of four letters."""
    live, ones, twos, fours = counters
    ones, first = _full(a, b, ones)
    ones, second = _full(c, d, ones)
    if kept == 1:
        return live & first & second, ones, twos, fours
    twos, third = _full(first, second, twos)
    return _carry_twos(kept, live, ones, twos, fours, third)


@inlined
def add_one(kept, counters, a):
    """Count the mismatches of one letter."""
    live, ones, twos, fours = counters
    ones, carry = _half(ones, a)
    if kept == 1:
        return live & carry, ones, twos, fours
    twos, carry = _half(twos, carry)
    return _carry_twos(kept, live, ones, twos, fours, carry)


@inlined
def _carry_twos(kept, live, ones, twos, fours, carry):
    if kept == 2:
        return live & carry, ones, twos, fours
    fours, carry = _half(fours, carry)
    return live & carry, ones, twos, fours


@kernel
def begin_high(counts, counter):
    """Begin the bits from the fourth on: bit b is a vector at counts[(1 + b)·WIDE]."""
    for b in range(3, counter.bits):
        store(counts, (1 + b) * WIDE, fill_wide(_start(counter.first_count, b)))


@inlined
def ripple(counts, bits, live, counters):
    """Add the carry of the fours to the bits from the fourth on; returns (live, counters)."""
    carry, ones, twos, fours = counters
    for b in range(3, bits):
        count, carry = _half(load_wide(counts, (1 + b) * WIDE), carry)
        store(counts, (1 + b) * WIDE, count)
    return live & carry, (fill_wide(ALL_ONES), ones, twos, fours)


@inlined
def save(counts, at, live, counters):
    """Write the live plane to counts[at], and the bits up to the third every WIDE words behind."""
    _, ones, twos, fours = counters
    store(counts, at, live)
    store(counts, at + WIDE, ones)
    store(counts, at + 2 * WIDE, twos)
    store(counts, at + 3 * WIDE, fours)


class Letters(NamedTuple):
    """Queries in a chunk; pointers may take the place of the arrays.

    offsets: int64[L], of a letter's words from those of its window's start; bounds: see
    QueryArrays.
    """

    offsets: Longs
    bounds: Longs
    counter: Counter


def _make_seek(kept):
    @kernel
    def seek(planes, at, last, offsets, query, counter, counts):
        """Count the mismatches of one query, WIDE words at a time, until a lane is within k.

        planes, offsets, counts: pointers. Returns the index of these words, `last` or more if there
        are none; counts then holds their live plane and the bits of their counters, WIDE words
        each. query: its first counted letter, its first exact one, its end, and the letter from
        which on it pays to look whether any lane is live.
        """
        first, exact, end, look = query
        fours = first + (exact - first) // 4 * 4
        while at < last:
            counters = begin_wide(counter.first_count)
            live = fill_wide(ALL_ONES)
            some = True
            if kept == BEYOND:
                begin_high(counts, counter)
            for i in range(first, fours, 4):
                a = load_wide(planes, at + offsets[i])
                b = load_wide(planes, at + offsets[i + 1])
                c = load_wide(planes, at + offsets[i + 2])
                d = load_wide(planes, at + offsets[i + 3])
                counters = add_four(kept, counters, a, b, c, d)
                if kept == BEYOND:
                    live, counters = ripple(counts, counter.bits, live, counters)
                if i + 4 >= look:
                    some = nonzero(live if kept == BEYOND else counters[0]) != 0
                    if not some:
                        break
            if some:
                for i in range(fours, exact):
                    counters = add_one(kept, counters, load_wide(planes, at + offsets[i]))
                    if kept == BEYOND:
                        live, counters = ripple(counts, counter.bits, live, counters)
                if kept != BEYOND:
                    live = counters[0]
                for i in range(exact, end):
                    live = live & load_wide(planes, at + offsets[i])
                if nonzero(live) != 0:
                    save(counts, 0, live, counters)
                    break
            at += WIDE
        return at

    return seek


_seek_1, _seek_2, _seek_beyond = (_make_seek(kept) for kept in (1, 2, BEYOND))


@kernel
def _seek(planes, at, last, offsets, query, counter, counts):
    if counter.bits == 1:
        return _seek_1(planes, at, last, offsets, query, counter, counts)
    if counter.bits == 2:
        return _seek_2(planes, at, last, offsets, query, counter, counts)
    return _seek_beyond(planes, at, last, offsets, query, counter, counts)


@kernel
def _distance(counts, counter, word, bit):
    count = np.int64(0)
    for b in range(counter.bits):
        complemented = counts[(1 + b) * WIDE + word] >> np.uint64(bit)
        count |= (1 - np.int64(complemented & ONE)) << b
    return count - counter.first_count


@kernel
def _collect(counts, counter, text, at, many, query, writer):
    """Write the codes of the live lanes of `many` words from `at` on."""
    for w in range(many):
        live = counts[w]
        if live == NONE:
            continue
        row, word = divmod(at + w, text.words)
        while live != NONE:
            bit = lowest(live)
            live &= live - ONE
            position = (64 * word + bit) * text.rows + row
            put(writer, position, query, _distance(counts, counter, w, bit))


@kernel
def _scan_words(text, letters, q, at, end, counts, writer):
    """Scan words next to each other for one query."""
    bounds, counter = letters.bounds, letters.counter
    query = (bounds[4 * q], bounds[4 * q + 1], bounds[4 * q + 2], bounds[4 * q + 3])
    while True:
        at = _seek(text.planes, at, end, letters.offsets, query, counter, counts)
        if at >= end:
            break
        _collect(counts, counter, text, at, min(WIDE, end - at), q, writer)
        at += WIDE


@kernel
def _letter_offsets(text, query):
    """The offsets of Letters."""
    offsets = np.empty(len(query.planes), np.int64)
    for i in range(len(offsets)):
        offsets[i] = query.planes[i] * text.plane_words + query.shifts[i] * text.words
    return offsets


@kernel
def _scan_tiles(work, text, query, offsets, k, counts, writer):
    """Scan tiles until none is left; its arrays outlive it, so what it calls takes pointers."""
    chunk = Text(pointer(text.planes, 0), text.words, text.rows, text.plane_words)
    letters = Letters(pointer(offsets, 0), pointer(query.bounds, 0), counter_of(k))
    counts_at = pointer(counts, 0)
    item = next_item(work)
    while item >= 0:
        end = min(TILE * (item + 1), text.rows * text.words)
        for q in range(len(query.bounds)):
            _scan_words(chunk, letters, q, TILE * item, end, counts_at, writer)
        give_up(work, writer)
        item = next_item(work)


@kernel
def scan(work, text, query, k, buffer):
    """Find every window within k mismatches of each query.

    work: see `tiles`; text: Text; query: QueryArrays; k: counted letters that may mismatch; buffer:
    HitBuffer, receives the codes.
    """
    offsets = _letter_offsets(text, query)
    counts = np.empty((1 + max(counter_of(k).bits, 3)) * WIDE, np.uint64)
    slot = new_slot()
    writer = new_writer(buffer, slot, len(query.bounds), k)
    _scan_tiles(work, text, query, offsets, k, counts, writer)
    leave(buffer, slot)
