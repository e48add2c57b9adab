"""Tiles of text on their way to shared memory.

Where a GPU can, it copies in the background, without registers in between: all of a thread's words
are under way at once, so that the few blocks which fit a multiprocessor keep device memory busy.
Copies of two words, which bypass the L1 cache, are a third faster than those of one. Indices are
unsigned, as Numba checks signed ones for counting from the end.
"""

from typing import NamedTuple

import numpy as np
from llvmlite import ir
from numba import types, uint64
from numba.extending import intrinsic
from numpy.typing import NDArray

from kmatch.arrays import Planes
from kmatch.engine.cuda.bits.words import NONE, ONE, smaller
from kmatch.engine.cuda.gpu.driver import SIMULATED, cuda

GLOBAL, SHARED = 1, 3  # address spaces of NVVM

if SIMULATED:

    def start_copy(tile, to, text, at):
        """Begin to copy text[at] to tile[to], in shared memory."""
        tile[to] = text[at]

    def start_copy_pair(tile, to, text, at):
        """Begin to copy text[at] and text[at + 1] to tile[to] and tile[to + 1]; at, to: even."""
        tile[to] = text[at]
        tile[to + 1] = text[at + 1]

    def wait_for_copies():
        """Wait until all copies that this thread began are done."""

else:

    def _address(context, builder, kind, array, index, space):
        data = context.make_array(kind)(context, builder, value=array).data
        there = ir.PointerType(data.type.pointee, space)
        return builder.gep(builder.addrspacecast(data, there), [index])

    def _copies(code):
        """The code of an intrinsic that copies from text[at] to tile[to]."""

        def generate(context, builder, signature, arguments):
            addresses = [
                _address(context, builder, signature.args[i], arguments[i], arguments[i + 1], space)
                for i, space in ((0, SHARED), (2, GLOBAL))
            ]
            kind = ir.FunctionType(ir.VoidType(), [address.type for address in addresses])
            builder.call(ir.InlineAsm(kind, code, "l,l,~{memory}", side_effect=True), addresses)
            return context.get_dummy_value()

        return generate

    @intrinsic
    def start_copy(typing, tile, to, text, at):
        """Begin to copy text[at] to tile[to], in shared memory."""
        generate = _copies("cp.async.ca.shared.global [$0], [$1], 8;")
        return types.void(tile, types.uint64, text, types.uint64), generate

    @intrinsic
    def start_copy_pair(typing, tile, to, text, at):
        """Begin to copy text[at] and text[at + 1] to tile[to] and tile[to + 1]; at, to: even."""
        generate = _copies("cp.async.cg.shared.global [$0], [$1], 16;")
        return types.void(tile, types.uint64, text, types.uint64), generate

    @intrinsic
    def wait_for_copies(typing):
        """Wait until all copies that this thread began are done."""

        def generate(context, builder, signature, arguments):
            kind = ir.FunctionType(ir.VoidType(), [])
            code = "cp.async.wait_all;"
            builder.call(ir.InlineAsm(kind, code, "~{memory}", side_effect=True), [])
            return context.get_dummy_value()

        return types.void(), generate


class Part(NamedTuple):
    """The part of a text that a tile takes: its first row and column, and where the rows end,
    beyond which nothing matches; columns beyond the text's repeat the last one."""

    row: int
    left: int
    end: int


class Size(NamedTuple):
    """Planes, rows and words in a row of a tile."""

    planes: int
    rows: int
    width: int


def tile_indices(
    planes: Planes, offsets: NDArray[np.integer], rows: int, width: int
) -> NDArray[np.uint16]:
    """The index in a tile of the words of letters, less the thread's number; it means nothing for a
    letter that is not in the tile.

    planes: of each letter; offsets: from the window's first row; rows, width: see Size.
    """
    at = planes.astype(np.uint16)
    at *= np.uint16(rows)
    at += offsets.astype(np.uint16)
    at *= np.uint16(width)
    return at


@cuda.jit(device=True)
def _copy(grain, tile, to, text, at):
    if grain == 2:
        start_copy_pair(tile, to, text, at)
    elif grain == 1:
        start_copy(tile, to, text, at)
    else:
        tile[to] = text[at]


@cuda.jit(device=True)
def _clear(grain, tile, to):
    tile[to] = NONE
    if grain == 2:
        tile[to + ONE] = NONE


@cuda.jit(device=True)
def copy_tile(grain, text, part, size, thread, threads, tile, to):
    """Begin to copy a thread's share of a tile of every plane to shared memory.

    Copies in the background are done after `finish_copies` of all threads. grain: a constant of the
    kernel, see `background_grain`; text: Text; part: Part; size: Size; to: where the tile begins.
    """
    words, plane_words = text.words, text.plane_words
    row, left, end = part
    planes, rows, width = size
    many = 2 if grain == 2 else 1
    across = width // many
    first, apart = thread // across, threads // across
    column = smaller(left + thread % across * many, words - many)
    near, step = smaller(end - row, rows), uint64(apart * words)
    fours = planes // 4 * 4
    for p in range(0, fours, 4):
        at_a, at_b = uint64(p * plane_words), uint64((p + 1) * plane_words)
        at_c, at_d = uint64((p + 2) * plane_words), uint64((p + 3) * plane_words)
        to_a, to_b = uint64(to + p * rows * width), uint64(to + (p + 1) * rows * width)
        to_c, to_d = uint64(to + (p + 2) * rows * width), uint64(to + (p + 3) * rows * width)
        at, into = uint64((row + first) * words + column), uint64(thread * many)
        for _ in range(first, near, apart):
            _copy(grain, tile, to_a + into, text.planes, at_a + at)
            _copy(grain, tile, to_b + into, text.planes, at_b + at)
            _copy(grain, tile, to_c + into, text.planes, at_c + at)
            _copy(grain, tile, to_d + into, text.planes, at_d + at)
            at += step
            into += uint64(threads * many)
        while into < uint64(rows * width):
            _clear(grain, tile, to_a + into)
            _clear(grain, tile, to_b + into)
            _clear(grain, tile, to_c + into)
            _clear(grain, tile, to_d + into)
            into += uint64(threads * many)
    for p in range(fours, planes):  # those of IUPAC letters
        at_p, to_p = uint64(p * plane_words), uint64(to + p * rows * width)
        at, into = uint64((row + first) * words + column), uint64(thread * many)
        for _ in range(first, near, apart):
            _copy(grain, tile, to_p + into, text.planes, at_p + at)
            at += step
            into += uint64(threads * many)
        while into < uint64(rows * width):
            _clear(grain, tile, to_p + into)
            into += uint64(threads * many)


@cuda.jit(device=True)
def finish_copies(grain):
    """Wait until all copies that this thread began are done."""
    if grain:
        wait_for_copies()
