"""Sorting in linear time, lowest digit first.

Codes of a chunk are a few dozen bits wide, and there may be millions of them.
"""

import numpy as np

from kmatch.engine.hits import NO_CODE
from kmatch.jit import kernel

DIGIT = 11  # bits: the counters of a digit stay in the first-level cache
FEW = 1024  # codes that a comparing sort has done sooner


@kernel
def _passes(top):
    """Digits of the largest number."""
    digits = 1
    while top >> (DIGIT * digits) > 0 and DIGIT * digits < 63:
        digits += 1
    return digits


@kernel
def _count(keys, digits):
    """Where the keys with each value of a digit begin, int64[digits, 2^DIGIT]."""
    begins = np.zeros((digits, 1 << DIGIT), np.int64)
    for i in range(len(keys)):
        key = keys[i]
        for d in range(digits):
            begins[d, (key >> (DIGIT * d)) & ((1 << DIGIT) - 1)] += 1
    for d in range(digits):
        total = 0
        for value in range(1 << DIGIT):
            many = begins[d, value]
            begins[d, value] = total
            total += many
    return begins


@kernel
def sort_codes(codes, spare):
    """Sort hit codes, int64[n], in place, empty ones left out; returns how many are kept.

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
        codes[:] = source
    return count


@kernel
def sorted_order(keys):
    """The order, int64[n], that sorts keys, int64[n], none of them negative."""
    top = 0
    for i in range(len(keys)):
        top |= keys[i]
    digits = _passes(top)
    begins = _count(keys, digits)
    source, target = np.arange(len(keys)), np.empty(len(keys), np.int64)
    for d in range(digits):
        begin = begins[d]
        for i in range(len(keys)):
            value = (keys[source[i]] >> (DIGIT * d)) & ((1 << DIGIT) - 1)
            target[begin[value]] = source[i]
            begin[value] += 1
        source, target = target, source
    return source
