"""Words of 64 lanes: logic on them, small functions of several kernels, and hit codes.

Three-input logic is two LOP3 instructions each. The assembler finds most of them by itself, but
splits some of them again: written out, the adders and the recurrence keep the number of operations
that they are counted to have.

The simulator needs functions that use `cuda` in the modules of the kernels, so functions here that
use it have others in their place there.
"""

from typing import NamedTuple

from llvmlite import ir
from numba import int64, types, uint64
from numba.extending import intrinsic

from kmatch.engine import codes, queries
from kmatch.engine.cuda.driver import SIMULATED, DeviceArray, cuda

ALL_ONES = uint64(0xFFFFFFFFFFFFFFFF)
NONE = uint64(0)
ONE = uint64(1)
WHOLE = 0xFFFFFFFF  # all threads of a warp
INPUTS = 0xF0, 0xCC, 0xAA  # truth tables of the three inputs of LOP3


class HitBuffer(NamedTuple):
    """A buffer of hit codes (see `kmatch.engine.codes`), in any order, on the GPU.

    codes: int64[c], c the capacity; count: int64[1], 0 before, the number of all hits, which may
    exceed c.
    """

    codes: DeviceArray
    count: DeviceArray


encode = cuda.jit(device=True)(codes.encode)
step_of = cuda.jit(device=True)(queries.step_of)


@cuda.jit(device=True)
def any_live(depth, live):
    """Return whether any lane is live in the words of `depth` rows, a constant of the kernel."""
    some = NONE
    for i in range(depth):
        some |= live[i]
    return some != NONE


@cuda.jit(device=True)
def smaller(a, b):
    """Return the smaller of two numbers; min() does not compile everywhere in Numba's CUDA
    target."""
    return a if a < b else b


@cuda.jit(device=True)
def larger(a, b):
    """Return the larger of two numbers; see `smaller`."""
    return a if a > b else b


def _lop3(function):
    """Return a function of three words as an operation of the GPU's."""
    table = function(*INPUTS) & 0xFF
    code = (
        "{ .reg .b32 a, b, c, d, e, f; "
        "mov.b64 {a, b}, $1; mov.b64 {c, d}, $2; mov.b64 {e, f}, $3; "
        f"lop3.b32 a, a, c, e, {table}; lop3.b32 b, b, d, f, {table}; "
        "mov.b64 $0, {a, b}; }"
    )

    @intrinsic
    def operation(typing, a, b, c):
        def generate(context, builder, signature, arguments):
            word = ir.IntType(64)
            kind = ir.FunctionType(word, [word] * 3)
            return builder.call(ir.InlineAsm(kind, code, "=l,l,l,l"), arguments)

        return types.uint64(types.uint64, types.uint64, types.uint64), generate

    return operation


_FUNCTIONS = (
    lambda a, b, c: a ^ b ^ c,
    lambda a, b, c: (a & b) | (c & (a | b)),  # the bits that are set in two of them
    lambda a, b, c: a | b | c,
    lambda a, b, c: a & b & c,
    lambda a, b, c: a | ~(b | c),
    lambda a, b, c: a & ~(b ^ c),
    lambda a, b, c: a | (b & c),
)
parity, majority, any_of, all_of, or_neither, and_alike, or_both = (
    _FUNCTIONS if SIMULATED else map(_lop3, _FUNCTIONS)
)


if SIMULATED:

    def lowest(word):
        """Number of the lowest set bit of a uint64 that is not 0."""
        return (int(word) & -int(word)).bit_length() - 1

    def any_of_warp(lanes):
        """Return whether this thread has lanes; a warp is never in step here."""
        return lanes != NONE

else:

    @cuda.jit(device=True)
    def lowest(word):
        """Number of the lowest set bit of a uint64 that is not 0."""
        return int64(cuda.ffs(word)) - 1

    @cuda.jit(device=True)
    def any_of_warp(lanes):
        """Return whether a thread of the warp has lanes; the whole warp is in step."""
        return cuda.any_sync(WHOLE, lanes != NONE)
