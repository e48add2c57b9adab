"""Small functions of several kernels.

The simulator wants functions that name `cuda` beside their kernels, so there is none here.
"""

from numba import uint64

from kmatch.engine.cuda.driver import cuda

ALL = uint64(0xFFFFFFFFFFFFFFFF)
NONE = uint64(0)
ONE = uint64(1)


@cuda.jit(device=True)
def lowest(word):
    """Number of the lowest set bit of a uint64 that is not 0."""
    bit = 0
    for step in (32, 16, 8, 4, 2, 1):
        if word & ((ONE << uint64(step)) - ONE) == NONE:
            word >>= uint64(step)
            bit += step
    return bit


@cuda.jit(device=True)
def smaller(a, b):
    """The smaller of two numbers; Numba's CUDA compiler has no min() that works everywhere."""
    return a if a < b else b


@cuda.jit(device=True)
def larger(a, b):
    """The larger of two numbers; see `smaller`."""
    return a if a > b else b
