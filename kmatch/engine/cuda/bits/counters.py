"""Bit-sliced mismatch counters in registers: carry-save adders for the rows of one thread.

Counters are kept complemented, as on the CPU: text planes say where a letter *matches*, and both
outputs of a full adder complement when all its inputs do. `counters` has `bits` words a row, and
`live` one. A counter starts at 2^bits − (k + 1); a lane whose counter overflows is no longer live.

`bits` is a constant of the calling kernel: once these functions are inlined, their loops unroll and
the counters stay in registers.
"""

from numba import uint64

from kmatch.engine.cuda.bits.logic import all_of, majority, parity
from kmatch.engine.cuda.bits.words import ALL_ONES, NONE, ONE
from kmatch.engine.cuda.gpu.driver import cuda


@cuda.jit(device=True)
def begin(live, counters, bits, row, first_count):
    """Begin a row: every lane is live, every counter at its start."""
    live[row] = ALL_ONES
    for b in range(bits):
        counters[row * bits + b] = NONE if (first_count >> b) & 1 else ALL_ONES


@cuda.jit(device=True)
def add_four(live, counters, bits, row, a, b, c, d):
    """Count the mismatches of four letters."""
    at = row * bits
    ones = counters[at]
    first = majority(ones, a, b)
    ones = parity(ones, a, b)
    second = majority(ones, c, d)
    counters[at] = parity(ones, c, d)
    if bits == 1:
        live[row] = all_of(live[row], first, second)
    else:
        twos = counters[at + 1]
        carry = majority(twos, first, second)
        counters[at + 1] = parity(twos, first, second)
        # Half adders, complemented: the sum is an XNOR, the carry an OR.
        for i in range(2, bits):
            count = counters[at + i]
            counters[at + i] = ~(count ^ carry)
            carry = count | carry
        live[row] &= carry


@cuda.jit(device=True)
def mismatches(counters, bits, row, bit, first_count):
    """The count of a live lane."""
    count = 0
    for b in range(bits):
        complemented = (counters[row * bits + b] >> uint64(bit)) & ONE
        count += (1 - int(complemented)) << b
    return count - first_count
