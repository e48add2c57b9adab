"""Hit codes put in order: a few dozen bits wide, and there may be millions of them.

Which of two sorts is faster depends on the processor: beside a radix sort, lowest digit first,
NumPy's takes a third of the time on an Intel Xeon and six times as long on an AMD EPYC, both with
AVX-512. So it is tried.
"""

from collections.abc import Callable
from functools import cache
from time import perf_counter

import numpy as np

from kmatch.arrays import Longs
from kmatch.engine.hits import NO_CODE, Found
from kmatch.jit import kernel
from kmatch.threads import pool

DIGIT = 9  # bits: the lines that a pass writes to stay in the first-level cache
FEW = 1024  # codes below which a comparison sort is faster
TRIAL = 1 << 14  # numbers that are sorted both ways, TRIALS times
TRIALS = 3
SAMPLE = 1 << 16  # codes that show where a chunk is to be cut
SHARED = 1 << 18  # codes that pay for several threads


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


def found_in(codes: Longs, lost: int, share: float, threads: int = 1) -> Found:
    """A Found of codes in any order, int64[n], which may be overwritten; NO_CODE is left out.

    lost: hits beside them; where there are some, a sample of the codes is kept. threads: that sort.
    """
    given = len(codes)
    if lost and given > SAMPLE:
        codes = codes[:: given // SAMPLE].copy()
    sampled = len(codes)
    kept = in_order(codes, threads)
    hits = given * len(kept) // max(sampled, 1)
    return Found(kept, lost + hits - len(kept), share)


def in_order(codes: Longs, threads: int = 1) -> Longs:
    """Sorted codes without NO_CODE; codes: int64[n], overwritten; threads: that sort."""
    if len(codes) < SHARED or threads <= 2:
        return _in_order(codes)
    run_all = pool(threads, "kmatch sort").map
    runs = list(run_all(_in_order, np.array_split(codes, threads)))
    some = _in_order(np.concatenate([run[:: len(run) // threads + 1] for run in runs]))
    cuts = some[threads::threads]
    bounds = np.array([[0, *np.searchsorted(run, cuts), len(run)] for run in runs])
    ends = bounds.sum(axis=0)
    ordered = np.empty(ends[-1], np.int64)

    def merge(part: int) -> None:
        pieces = [run[at[part] : at[part + 1]] for run, at in zip(runs, bounds, strict=True)]
        ordered[ends[part] : ends[part + 1]] = _in_order(np.concatenate(pieces))

    list(run_all(merge, range(len(ends) - 1)))
    return ordered


def _in_order(codes: Longs) -> Longs:
    if len(codes) < TRIAL:
        codes = codes[codes != NO_CODE]
        codes.sort()
        return codes
    if _numpy_is_faster():
        codes.sort()
        return codes[: np.searchsorted(codes, NO_CODE)]
    return codes[: sort_codes(codes, np.empty_like(codes))]


@cache
def _numpy_is_faster() -> bool:
    """Whether NumPy sorts faster than `sort_codes` here."""
    numbers = np.arange(TRIAL) * 0x9E3779B1 & (1 << 40) - 1  # in no order
    spare = np.empty_like(numbers)

    def seconds(sort: Callable[[Longs], object]) -> float:
        copied = numbers.copy()
        began = perf_counter()
        sort(copied)
        return perf_counter() - began

    sort_codes(spare, numbers.copy())  # compiles it, or loads it
    by_numpy = min(seconds(np.ndarray.sort) for _ in range(TRIALS))
    return by_numpy < min(seconds(lambda codes: sort_codes(codes, spare)) for _ in range(TRIALS))
