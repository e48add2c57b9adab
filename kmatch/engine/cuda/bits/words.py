"""Words of 64 lanes, and small functions of several kernels.

The simulator needs functions that use `cuda` in the modules of the kernels; those here do not use
it.
"""

from numba import int64, uint64

from kmatch.engine.cuda.gpu.driver import SIMULATED, cuda

ALL_ONES = uint64(0xFFFFFFFFFFFFFFFF)
NONE = uint64(0)
ONE = uint64(1)
WARP, WHOLE = 32, 0xFFFFFFFF

if SIMULATED:

    def lowest(word):
        """Number of the lowest set bit of a uint64 that is not 0."""
        return (int(word) & -int(word)).bit_length() - 1

    def any_of_warp(width, lanes):
        """Whether this thread has lanes, or another of its warp, if the warp is in step.

        width: threads that are, at least; no more than this thread where they are not all of it.
        """
        return lanes != NONE

else:

    @cuda.jit(device=True)
    def any_of_warp(width, lanes):
        """Whether this thread has lanes, or another of its warp, if the warp is in step.

        width: threads that are, at least; no more than this thread where they are not all of it.
        """
        if width % WARP == 0:
            return cuda.any_sync(WHOLE, lanes != NONE)
        return lanes != NONE

    @cuda.jit(device=True)
    def lowest(word):
        """Number of the lowest set bit of a uint64 that is not 0."""
        return int64(cuda.ffs(word)) - 1


@cuda.jit(device=True)
def any_live(depth, live):
    """Whether any lane is live in the words of `depth` rows, a constant of the kernel."""
    some = NONE
    for i in range(depth):
        some |= live[i]
    return some != NONE


@cuda.jit(device=True)
def smaller(a, b):
    """The smaller of two numbers; min() does not compile everywhere in Numba's CUDA target."""
    return a if a < b else b


@cuda.jit(device=True)
def larger(a, b):
    """The larger of two numbers; see `smaller`."""
    return a if a > b else b
