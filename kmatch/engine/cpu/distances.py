"""Bit-sliced counters of D − (k + 1), a number a lane: the sign bit set means at most k.

A counter is `bits` vectors of a flat uint64 array, lowest first, in two's complement.
"""

import numpy as np

from kmatch.engine.cpu.vectors import ALL_ONES, NONE, fill, load, nonzero, store
from kmatch.engine.geometry import WORDS
from kmatch.jit.kernels import inlined, kernel


@kernel
def counter_bits(length, k):
    """Bits of a counter that holds every D − (k + 1), 0 ≤ D ≤ length: a multiple of three."""
    bits = 3
    while (1 << (bits - 1)) < max(k + 1, length - k):
        bits += 3
    return bits


@inlined
def add(state, counter, bits, plus, minus):
    """Add 1 in the lanes of `plus` and −1 in the lanes of `minus`; returns the sign vector."""
    sign = plus
    for address in range(counter, counter + bits * WORDS, WORDS):
        old = load(state, address)
        sign = old ^ (plus | minus)
        store(state, address, sign)
        plus = plus & old
        minus = minus & ~old
    return sign


@kernel
def copy(state, source, target, bits):
    """Copy one counter over another."""
    for i in range(0, bits * WORDS, WORDS):
        store(state, target + i, load(state, source + i))


@kernel
def put_number(state, counter, bits, number):
    """Set every lane to a number."""
    for i in range(bits):
        store(state, counter + i * WORDS, fill(_spread(number, i)))


@kernel
def add_number(state, counter, bits, number):
    """Add one number to every lane."""
    carry = fill(NONE)
    for i in range(bits):
        old = load(state, counter + i * WORDS)
        bit = fill(_spread(number, i))
        store(state, counter + i * WORDS, old ^ bit ^ carry)
        carry = (old & bit) | (carry & (old | bit))


@inlined
def _spread(number, i):
    return ALL_ONES if (number >> i) & 1 else NONE


@kernel
def read(state, counter, bits, word, bit):
    """Return the number in one lane (int64)."""
    number = np.int64(0)
    for i in range(bits):
        number |= (
            np.int64((state[counter + i * WORDS + word] >> np.uint64(bit)) & np.uint64(1)) << i
        )
    return number - ((number >> (bits - 1)) << bits)


@kernel
def _add_three(state, counter, source, target, columns, highest):
    """Add a block of columns, (plus, minus) each, to three bits; writes their carries to `target`,
    or for the highest three the lanes in which the sign was ever set."""
    a = load(state, counter)
    b = load(state, counter + WORDS)
    c = load(state, counter + 2 * WORDS)
    low = c
    for h in range(source, source + 2 * WORDS * columns, 2 * WORDS):
        plus = load(state, h)
        minus = load(state, h + WORDS)
        plus1 = plus & a
        minus1 = minus & ~a
        a = a ^ (plus | minus)
        plus2 = plus1 & b
        minus2 = minus1 & ~b
        b = b ^ (plus1 | minus1)
        if not highest:
            store(state, target, plus2 & c)
            store(state, target + WORDS, minus2 & ~c)
            target += 2 * WORDS
        c = c ^ (plus2 | minus2)
        low = low | c
    store(state, counter, a)
    store(state, counter + WORDS, b)
    store(state, counter + 2 * WORDS, c)
    if highest:
        store(state, target, low)


@kernel
def follow(state, counter, bits, border, spare, columns):
    """Add a block of columns (plus, minus a column, at `border`) to a counter.

    Returns whether a lane was negative before or after any column; writes these lanes to `spare`,
    which has space for as many columns.
    """
    for i in range(0, bits, 3):
        _add_three(state, counter + i * WORDS, border, spare, columns, i == bits - 3)
        border = spare
    return nonzero(load(state, spare)) != 0
