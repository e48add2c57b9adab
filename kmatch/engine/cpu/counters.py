"""Bit-sliced mismatch counters: carry-save adders over vectors of lanes.

Counters are kept complemented, because the text planes say where a letter *matches*: both outputs
of a full adder complement when all its inputs do. A counter starts at 2^bits − (k + 1), so that an
overflow means more than k mismatches; a lane whose counter overflows is no longer live.

A tuple (live, ones, twos, fours, eights) holds vectors of lanes; `kept` is the number of the
counter's bits in use. With kept = BEYOND there are more than four, and the tuple holds the carry of
the eights, for `ripple`, instead of the live plane.
"""

from typing import NamedTuple

from kmatch.engine.cpu.items import WIDE
from kmatch.engine.cpu.vectors import ALL_ONES, NONE, carry_of, fill_wide, load_wide, parity, store
from kmatch.jit.kernels import inlined, kernel

BEYOND = 5


class Counter(NamedTuple):
    """A counter of mismatches: its bits, and the number it starts with to overflow past k."""

    bits: int
    first_count: int


@kernel
def counter_of(k):
    """The Counter that overflows past k."""
    bits = counter_bits(k)
    return Counter(bits, (1 << bits) - (k + 1))


@kernel
def counter_bits(k):
    """Bits of a counter that overflows past k."""
    bits = 1
    while (1 << bits) < k + 1:
        bits += 1
    return bits


@inlined
def _full(a, b, c):
    """Sum and carry of three bits; the carry out of the sum, which spares copies of registers."""
    total = parity(a, b, c)
    return total, carry_of(a, b, total)


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
        fill_wide(_start(first_count, 3)),
    )


@inlined
def _start(first_count, bit):
    return NONE if first_count >> bit & 1 else ALL_ONES


@inlined
def add_four(kept, counters, a, b, c, d):
    """Count the mismatches of four letters."""
    live, ones, twos, fours, eights = counters
    ones, first = _full(a, b, ones)
    ones, second = _full(c, d, ones)
    if kept == 1:
        return live & first & second, ones, twos, fours, eights
    twos, third = _full(first, second, twos)
    return _carry_twos(kept, live, ones, twos, fours, eights, third)


@inlined
def add_one(kept, counters, a):
    """Count the mismatches of one letter."""
    live, ones, twos, fours, eights = counters
    ones, carry = _half(ones, a)
    if kept == 1:
        return live & carry, ones, twos, fours, eights
    twos, carry = _half(twos, carry)
    return _carry_twos(kept, live, ones, twos, fours, eights, carry)


@inlined
def _carry_twos(kept, live, ones, twos, fours, eights, carry):
    if kept == 2:
        return live & carry, ones, twos, fours, eights
    fours, carry = _half(fours, carry)
    if kept == 3:
        return live & carry, ones, twos, fours, eights
    eights, carry = _half(eights, carry)
    return live & carry, ones, twos, fours, eights


@kernel
def begin_high(counts, counter):
    """Begin the bits from the fifth on: bit b is a vector at counts[(1 + b)·WIDE]."""
    for b in range(4, counter.bits):
        store(counts, (1 + b) * WIDE, fill_wide(_start(counter.first_count, b)))


@inlined
def ripple(counts, bits, live, counters):
    """Add the carry of the eights to the bits from the fifth on; returns (live, counters)."""
    carry, ones, twos, fours, eights = counters
    for b in range(4, bits):
        count, carry = _half(load_wide(counts, (1 + b) * WIDE), carry)
        store(counts, (1 + b) * WIDE, count)
    return live & carry, (fill_wide(ALL_ONES), ones, twos, fours, eights)


@inlined
def save(counts, at, live, counters):
    """Write the live plane to counts[at], and the bits up to the fourth every WIDE words behind."""
    _, ones, twos, fours, eights = counters
    store(counts, at, live)
    store(counts, at + WIDE, ones)
    store(counts, at + 2 * WIDE, twos)
    store(counts, at + 3 * WIDE, fours)
    store(counts, at + 4 * WIDE, eights)
