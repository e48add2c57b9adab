"""Bit-sliced counters of D − (k + 1), in two's complement: the sign bit means at most k.

`bits` is a constant of the calling kernel. Functions here use `cuda` only as their decorator: the
simulator needs any other use in the modules of the kernels.
"""

from typing import NamedTuple

from numba import uint64

from kmatch.engine.cuda.bits.buffer import encode
from kmatch.engine.cuda.bits.logic import and_alike, any_of, or_both
from kmatch.engine.cuda.bits.words import ALL_ONES, NONE, ONE, lowest
from kmatch.engine.cuda.gpu.driver import cuda

LOW = 3  # bits of a counter that `add_four` counts in before it carries


class Ends(NamedTuple):
    """The ends that a word's lanes have in one column.

    first: the position in the first lane; step: to the position in the next column; lane_rows: to
    that in the next lane; owned: the lanes whose ends are reported.
    """

    first: int
    step: int
    lane_rows: int
    owned: int


def counter_bits(length: int, least: int, most: int) -> int:
    """Bits of a counter that holds every D − (k + 1) of `length` rows, least ≤ k ≤ most.

    An even number: compiling half as many kernels is worth one more operation a column.
    """
    bits = max(most + 1, length - least).bit_length() + 1
    return bits + bits % 2


@cuda.jit(device=True)
def put_number(counter, bits, number):
    """Set a counter of `bits` bits to a number in every lane."""
    for b in range(bits):
        counter[b] = ALL_ONES if (number >> b) & 1 else NONE


@cuda.jit(device=True)
def add(counter, bits, plus, minus):
    """Add 1 in the lanes of plus, −1 in those of minus; returns the sign plane."""
    flip = plus | minus
    for b in range(bits - 1):
        old = counter[b]
        counter[b] = old ^ flip
        flip = and_alike(flip, old, plus)
    counter[bits - 1] ^= flip
    return counter[bits - 1]


@cuda.jit(device=True)
def add_four(counter, bits, plus, minus):
    """As `add` four times, of plus[c] and minus[c]; returns the lanes whose number was negative at
    any time, before that too.

    The lowest bits count by themselves, from −4 to 11 in four bits of which 10xx are 8 and more,
    and what they exceed 0 … 7 by goes to the others once.
    """
    outside, below = NONE, NONE
    for c in range(4):
        flip = plus[c] | minus[c]
        for b in range(LOW):
            old = counter[b]
            counter[b] = old ^ flip
            flip = and_alike(flip, old, plus[c])
        outside ^= flip
        below = or_both(below, outside, counter[LOW - 1])
    some, before = NONE, counter[bits - 1]
    for b in range(LOW, bits):
        some |= counter[b]
    flip, up = outside, outside & ~counter[LOW - 1]
    for b in range(LOW, bits - 1):
        old = counter[b]
        counter[b] = old ^ flip
        flip = and_alike(flip, old, up)
    counter[bits - 1] ^= flip
    return any_of(before, counter[bits - 1], below & ~some)


@cuda.jit(device=True)
def read(counter, bits, bit):
    """The number in a lane, whose sign is set."""
    number = 0
    for b in range(bits - 1):
        number += int((counter[b] >> uint64(bit)) & ONE) << b
    return number - (1 << (bits - 1))


@cuda.jit(device=True)
def smallest(counter, bits, left):
    """The smallest number in the lanes set in left; their signs are set."""
    number = 0
    for i in range(bits - 1):
        b = bits - 2 - i
        lower = left & ~counter[b]
        if lower:
            left = lower
        else:
            number += 1 << b
    return number - (1 << (bits - 1))


@cuda.jit(device=True)
def write(counter, bits, left, ends, column, coding, buffer, to):
    """Write the codes of the lanes set in left from codes[to] on, as far as the buffer goes.

    ends: Ends of column 0; the number in a counter is the distance less the query's limit + 1.
    """
    first = ends.first + ends.step * column
    while left:
        bit = lowest(left)
        left &= left - ONE
        if to < len(buffer.codes):
            distance = coding.limit + 1 + read(counter, bits, bit)
            buffer.codes[to] = encode(first + bit * ends.lane_rows, distance, coding)
        to += 1
