"""Tiles of text on their way to shared memory.

Where a GPU can, it copies in the background, without registers between: all of a thread's words are
under way at once, and so few blocks as find room in a multiprocessor keep device memory busy.
Indices are unsigned, as Numba would otherwise look at each whether to count from the end.
"""

from llvmlite import ir
from numba import types, uint64
from numba.extending import intrinsic

from kmatch.engine.cuda.driver import SIMULATED, cuda
from kmatch.engine.cuda.hits import NONE, smaller

GLOBAL, SHARED = 1, 3  # address spaces of NVVM

if SIMULATED:

    def start_copy(tile, to, text, at):
        """Begin to copy text[at] to tile[to], in shared memory."""
        tile[to] = text[at]

    def finish_copies():
        """Wait until what this thread began to copy is there."""

else:

    def _address(context, builder, kind, array, index, space):
        data = context.make_array(kind)(context, builder, value=array).data
        there = ir.PointerType(data.type.pointee, space)
        return builder.gep(builder.addrspacecast(data, there), [index])

    @intrinsic
    def start_copy(typing, tile, to, text, at):
        """Begin to copy text[at] to tile[to], in shared memory."""

        def generate(context, builder, signature, arguments):
            places = [
                _address(context, builder, signature.args[i], arguments[i], arguments[i + 1], space)
                for i, space in ((0, SHARED), (2, GLOBAL))
            ]
            kind = ir.FunctionType(ir.VoidType(), [place.type for place in places])
            code = "cp.async.ca.shared.global [$0], [$1], 8;"
            builder.call(ir.InlineAsm(kind, code, "l,l,~{memory}", side_effect=True), places)
            return context.get_dummy_value()

        return types.void(tile, types.uint64, text, types.uint64), generate

    @intrinsic
    def finish_copies(typing):
        """Wait until what this thread began to copy is there."""

        def generate(context, builder, signature, arguments):
            kind = ir.FunctionType(ir.VoidType(), [])
            code = "cp.async.wait_all;"
            builder.call(ir.InlineAsm(kind, code, "~{memory}", side_effect=True), [])
            return context.get_dummy_value()

        return types.void(), generate


@cuda.jit(device=True)
def _copy(background, tile, to, text, at):
    if background:
        start_copy(tile, to, text, at)
    else:
        tile[to] = text[at]


@cuda.jit(device=True)
def copy_tile(background, text, place, size, thread, threads, tile, to):
    """Begin to copy a thread's share of a tile of every plane to shared memory: words of a column.

    Copies in the background are there after `finish_copies` of all threads. background: whether the
    GPU has such, a constant of the kernel; text: uint64; place: (plane_words, words, row, end,
    column), the tile's first row, the end of those there are, beyond which nothing matches, and the
    thread's column; size: (planes, rows, width) of the tile; to: where it begins.
    """
    plane_words, words, row, end, column = place
    planes, rows, width = size
    first, apart = thread // width, threads // width
    near, step = smaller(end - row, rows), uint64(apart * words)
    for p in range(0, planes, 4):
        a, b = p, smaller(p + 1, planes - 1)
        c, d = smaller(p + 2, planes - 1), smaller(p + 3, planes - 1)
        at_a, at_b = uint64(a * plane_words), uint64(b * plane_words)
        at_c, at_d = uint64(c * plane_words), uint64(d * plane_words)
        to_a, to_b = uint64(to + a * rows * width), uint64(to + b * rows * width)
        to_c, to_d = uint64(to + c * rows * width), uint64(to + d * rows * width)
        at, into = uint64((row + first) * words + column), uint64(thread)
        for _ in range(first, near, apart):
            _copy(background, tile, to_a + into, text, at_a + at)
            _copy(background, tile, to_b + into, text, at_b + at)
            _copy(background, tile, to_c + into, text, at_c + at)
            _copy(background, tile, to_d + into, text, at_d + at)
            at += step
            into += uint64(threads)
        while into < uint64(rows * width):
            tile[to_a + into] = NONE
            tile[to_b + into] = NONE
            tile[to_c + into] = NONE
            tile[to_d + into] = NONE
            into += uint64(threads)
