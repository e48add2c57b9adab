"""Words of 64 lanes, and small functions of several kernels.

The simulator wants functions that name `cuda` beside their kernels, so there is none here for it.
"""

from numba import int64, uint64

from kmatch.engine.cuda.gpu.driver import SIMULATED, cuda

ALL_ONES = uint64(0xFFFFFFFFFFFFFFFF)
NONE = uint64(0)
ONE = uint64(1)

if SIMULATED:

    def lowest(word):
        """Number of the lowest set bit of a uint64 that is not 0."""
        return (int(word) & -int(word)).bit_length() - 1

else:

    @cuda.jit(device=True)
    def lowest(word):
        """Number of the lowest set bit of a uint64 that is not 0."""
        return int64(cuda.ffs(word)) - 1


@cuda.jit(device=True)
def any_live(depth, live):
    """Whether any lane is set in the words of `depth` rows, a constant of the kernel."""
    some = NONE
    for i in range(depth):
        some |= live[i]
    return some != NONE


@cuda.jit(device=True)
def smaller(a, b):
    """The smaller of two numbers; Numba's CUDA compiler has no min() that works everywhere."""
    return a if a < b else b


@cuda.jit(device=True)
def larger(a, b):
    """The larger of two numbers; see `smaller`."""
    return a if a > b else b
