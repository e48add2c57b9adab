"""k mismatches over striped bit planes: carry-save adders over vectors of lanes.

Mismatch counters are bit-sliced and kept complemented, because the text planes say where a letter
*matches*: both outputs of a full adder complement when all its inputs do. A counter starts at
2^bits − (k + 1), so that an overflow means more than k mismatches; a lane whose counter overflows
is no longer live.

A tuple (ones, twos, fours) holds the lowest bits of the counters, vectors of lanes; `kept` says how
many of these are used. Where there are more, the others are in memory.
"""

from typing import NamedTuple

import numpy as np

from kmatch.engine.cpu.hits import give_up, leave, new_slot, new_writer, next_item, put
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
from kmatch.engine.geometry import WIDE
from kmatch.engine.workers import TILE
from kmatch.jit.kernels import inlined, kernel

KEPT = 3  # bits of a counter in registers, at the most


class Counter(NamedTuple):
    """A counter of mismatches: its bits, and the number it starts with to overflow past k."""

    bits: int
    first_count: int


@kernel
def counter_of(k):
    """Return the Counter that overflows past k."""
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
def _start(first_count, bit):
    """Return a bit of counters at their start."""
    return fill_wide(NONE if first_count >> bit & 1 else ALL_ONES)


@inlined
def _add_four(kept, counters, a, b, c, d):
    """Count the mismatches of four letters; returns (counters, carry)."""
    ones, twos, fours = counters
    ones, first = _full(a, b, ones)
    ones, second = _full(c, d, ones)
    if kept == 1:
        return (ones, twos, fours), first & second
    twos, carry = _full(first, second, twos)
    if kept == KEPT:
        fours, carry = _half(fours, carry)
    return (ones, twos, fours), carry


@inlined
def _add_one(kept, counters, a):
    """Return the same of one letter."""
    ones, twos, fours = counters
    ones, carry = _half(ones, a)
    if kept > 1:
        twos, carry = _half(twos, carry)
    if kept == KEPT:
        fours, carry = _half(fours, carry)
    return (ones, twos, fours), carry


@inlined
def _add_high(counts, bits, carry):
    """Add a carry to the bits in memory, of which bit b is a vector at counts[(1 + b)·WIDE];
    returns the carry out of them."""
    for at in range((1 + KEPT) * WIDE, (1 + bits) * WIDE, WIDE):
        count, carry = _half(load_wide(counts, at), carry)
        store(counts, at, count)
    return carry


def _make_seek(kept):
    @kernel
    def seek(planes, at, last, offsets, query, counter, counts):
        """Count the mismatches of one query, WIDE words at a time, until a lane is within k.

        planes, offsets, counts: pointers; offsets: of a letter's words from the words of its
        window's start. Returns the index of these words, `last` or more if there are none; counts
        then holds their live plane and the bits of their counters, WIDE words each. query: its
        first counted letter, its first exact one, its end, and the letter from which on it pays to
        look whether any lane is live.
        """
        first, exact, end, look = query
        rest = first + (exact - first) // 4 * 4  # letters that make no four
        bits = counter.bits
        start = counter.first_count
        while at < last:
            live = fill_wide(ALL_ONES)
            counters = (_start(start, 0), _start(start, 1), _start(start, 2))
            for bit in range(KEPT, bits):
                store(counts, (1 + bit) * WIDE, _start(start, bit))
            for i in range(first, rest, 4):
                a = load_wide(planes, at + offsets[i])
                b = load_wide(planes, at + offsets[i + 1])
                c = load_wide(planes, at + offsets[i + 2])
                d = load_wide(planes, at + offsets[i + 3])
                counters, carry = _add_four(kept, counters, a, b, c, d)
                if kept == KEPT:
                    carry = _add_high(counts, bits, carry)
                live = live & carry
                if i + 4 >= look and nonzero(live) == 0:
                    break
            else:
                for i in range(rest, exact):
                    a = load_wide(planes, at + offsets[i])
                    counters, carry = _add_one(kept, counters, a)
                    if kept == KEPT:
                        carry = _add_high(counts, bits, carry)
                    live = live & carry
                for i in range(exact, end):
                    live = live & load_wide(planes, at + offsets[i])
                if nonzero(live) != 0:
                    store(counts, 0, live)
                    store(counts, WIDE, counters[0])
                    store(counts, 2 * WIDE, counters[1])
                    store(counts, 3 * WIDE, counters[2])
                    break
            at += WIDE
        return at

    return seek


_seek_1, _seek_2, _seek_more = (_make_seek(kept) for kept in (1, 2, KEPT))


@kernel
def _seek(planes, at, last, offsets, query, counter, counts):
    if counter.bits == 1:
        return _seek_1(planes, at, last, offsets, query, counter, counts)
    if counter.bits == 2:
        return _seek_2(planes, at, last, offsets, query, counter, counts)
    return _seek_more(planes, at, last, offsets, query, counter, counts)


@kernel
def _distance(counts, counter, word, bit):
    count = np.int64(0)
    for b in range(counter.bits):
        complemented = counts[(1 + b) * WIDE + word] >> np.uint64(bit)
        count |= (1 - np.int64(complemented & ONE)) << b
    return count - counter.first_count


@kernel
def _collect(counts, counter, words, rows, at, many, query, writer):
    """Write the codes of the live lanes of `many` words from `at` on."""
    for w in range(many):
        live = counts[w]
        if live == NONE:
            continue
        row, word = divmod(at + w, words)
        while live != NONE:
            bit = lowest(live)
            live &= live - ONE
            position = (64 * word + bit) * rows + row
            put(writer, position, query, _distance(counts, counter, w, bit))


@kernel
def scan(work, text, query, k, buffer):
    """Find every window within k mismatches of each query.

    work: see `tiles`; text: Text; query: QueryArrays; k: counted letters that may mismatch; buffer:
    HitBuffer, receives the codes.
    """
    planes, words, rows, plane_words = text
    counter = counter_of(k)
    offsets = np.empty(len(query.planes), np.int64)
    for i in range(len(offsets)):
        offsets[i] = query.planes[i] * plane_words + query.shifts[i] * words
    counts = np.empty((1 + max(counter.bits, KEPT)) * WIDE, np.uint64)
    slot = new_slot()
    writer = new_writer(buffer, slot, len(query.bounds), k)
    item = next_item(work)
    while item >= 0:
        # Pointers are taken inside the loop, whose next turn keeps their arrays alive.
        last = min(TILE * (item + 1), rows * words)
        found = pointer(counts, 0)
        for q in range(len(query.bounds)):
            bounds = query.bounds[q, 0], query.bounds[q, 1], query.bounds[q, 2], query.bounds[q, 3]
            given = pointer(offsets, 0), bounds, counter, found
            at = _seek(pointer(planes, 0), TILE * item, last, *given)
            while at < last:
                many = min(WIDE, last - at)
                _collect(found, counter, words, rows, at, many, q, writer)
                at = _seek(pointer(planes, 0), at + WIDE, last, *given)
        give_up(work, writer)
        item = next_item(work)
    leave(buffer, slot)
