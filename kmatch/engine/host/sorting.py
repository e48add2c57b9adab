"""Radix sort, lowest digit first.

The codes of a chunk are a few dozen bits wide, and there may be millions of them.
"""

import numpy as np

from kmatch.engine.hits import NO_CODE
from kmatch.jit import kernel

DIGIT = 9  # bits: the lines that a pass writes to stay in the first-level cache
FEW = 1024  # codes below which a comparison sort is faster


@kernel
def _passes(top):
    """Digits of the largest number."""
    digits = 1
    while top >> (DIGIT * digits) > 0 and DIGIT * digits < 63:
        digits += 1
    return digits


@kernel
def _count(numbers, digits):
    """Where the numbers with each value of a digit begin, int64[digits, 2^DIGIT]."""
    begins = np.zeros((digits, 1 << DIGIT), np.int64)
    for i in range(len(numbers)):
        number = numbers[i]
        for d in range(digits):
            begins[d, (number >> (DIGIT * d)) & ((1 << DIGIT) - 1)] += 1
    for d in range(digits):
        total = 0
        for value in range(1 << DIGIT):
            many = begins[d, value]
            begins[d, value] = total
            total += many
    return begins


@kernel
def sort_codes(codes, spare):
    """Sort hit codes, int64[n], in place and leave empty ones out; returns how many are kept.

    spare: int64[≥ n], overwritten.
    """
    count = top = 0
    for i in range(len(codes)):
        code = codes[i]
        if code != NO_CODE:
            codes[count] = code
            top |= code
            count += 1
    codes = codes[:count]
    if count < FEW:
        codes.sort()
        return count
    digits = _passes(top)
    begins = _count(codes, digits)
    source, target = codes, spare[:count]
    for d in range(digits):
        begin = begins[d]
        for i in range(count):
            value = (source[i] >> (DIGIT * d)) & ((1 << DIGIT) - 1)
            target[begin[value]] = source[i]
            begin[value] += 1
        source, target = target, source
    if digits % 2:
        for i in range(count):
            codes[i] = source[i]
    return count


@kernel
def sorted_order(numbers):
    """The order, int64[n], that sorts numbers, int64[n], none of them negative."""
    top = 0
    for i in range(len(numbers)):
        top |= numbers[i]
    digits = _passes(top)
    begins = _count(numbers, digits)
    source, target = np.arange(len(numbers)), np.empty(len(numbers), np.int64)
    for d in range(digits):
        begin = begins[d]
        for i in range(len(numbers)):
            value = (numbers[source[i]] >> (DIGIT * d)) & ((1 << DIGIT) - 1)
            target[begin[value]] = source[i]
            begin[value] += 1
        source, target = target, source
    return source
