"""Planes of text on the GPU: united for IUPAC letters, and copied to tiles.

Tiles are in shared memory. Where a GPU can, it copies there in the background, without registers in
between: all of a thread's words are under way at once, so that the few blocks which fit a
multiprocessor keep device memory busy. Copies of two words bypass the L1 cache, which makes them a
third faster than copies of one word. Indices are unsigned, as Numba checks signed ones for counting
from the end.
"""

from typing import NamedTuple

from llvmlite import ir
from numba import types, uint64
from numba.extending import intrinsic

from kmatch.arrays import Bytes
from kmatch.engine.cuda import driver
from kmatch.engine.cuda.driver import SIMULATED, DeviceArray, Stream, cuda, kept
from kmatch.engine.cuda.words import NONE, smaller

THREADS = 256
BLOCKS = 32  # for every multiprocessor
GLOBAL, SHARED = 1, 3  # address spaces of NVVM


@kept()
def fill(planes, plane_words, masks, united):
    bases = cuda.local.array(4, uint64)
    for at in range(cuda.grid(1), plane_words, cuda.gridsize(1)):
        for p in range(4):
            bases[p] = united[at + p * plane_words] = planes[at + p * plane_words]
        for x in range(len(masks)):
            union = NONE
            for p in range(4):
                union |= bases[p] if (masks[x] >> p) & 1 else NONE
            united[at + (4 + x) * plane_words] = union


def unite(
    planes: DeviceArray, plane_words: int, masks: Bytes, united: DeviceArray, stream: Stream
) -> None:
    """Copy the planes A, C, G and T, and put the planes of IUPAC letters behind them.

    All are on the GPU; masks: uint8[x] on the host, the bases of planes 4 … 4+x−1.
    """
    launch = fill[BLOCKS * driver.multiprocessors(), THREADS, stream]
    launch(planes, plane_words, driver.cuda.to_device(masks, stream), united)


if SIMULATED:

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

    def _run(builder, code, constraints, arguments):
        kind = ir.FunctionType(ir.VoidType(), [argument.type for argument in arguments])
        builder.call(ir.InlineAsm(kind, code, constraints, side_effect=True), arguments)

    @intrinsic
    def start_copy_pair(typing, tile, to, text, at):
        """Begin to copy text[at] and text[at + 1] to tile[to] and tile[to + 1]; at, to: even."""

        def generate(context, builder, signature, arguments):
            addresses = [
                _address(context, builder, signature.args[i], arguments[i], arguments[i + 1], space)
                for i, space in ((0, SHARED), (2, GLOBAL))
            ]
            code = "cp.async.cg.shared.global [$0], [$1], 16;"
            _run(builder, code, "l,l,~{memory}", addresses)
            return context.get_dummy_value()

        return types.void(tile, types.uint64, text, types.uint64), generate

    @intrinsic
    def wait_for_copies(typing):
        """Wait until all copies that this thread began are done."""

        def generate(context, builder, signature, arguments):
            _run(builder, "cp.async.wait_all;", "~{memory}", [])
            return context.get_dummy_value()

        return types.void(), generate


class Size(NamedTuple):
    """Planes of a tile, and words of each."""

    planes: int
    words: int


@cuda.jit(device=True)
def _copy(pairs, tile, to, text, at):
    if pairs:
        start_copy_pair(tile, to, text, at)
    else:
        tile[to] = text[at]


@cuda.jit(device=True)
def _copy_planes(pairs, count, text, begin, size, first, thread, threads, tile, to):
    """Copy `count` planes from plane `first` on, a constant: their copies share addresses."""
    many = 2 if pairs else 1
    for i in range(many * thread, size.words, many * threads):
        at = smaller(begin + i, text.plane_words - many)
        for p in range(first, first + count):
            here, there = uint64(at + p * text.plane_words), uint64(to + i + p * size.words)
            _copy(pairs, tile, there, text.planes, here)


@cuda.jit(device=True)
def copy_tile(pairs, text, row, size, thread, threads, tile, to):
    """Begin to copy a thread's share of a tile of every plane to shared memory.

    pairs: a constant of the kernel, whether words are copied by twos in the background, which is
    done after `wait_for_copies` of all threads; all numbers of words are even then; text: Text;
    row: its first one in the tile; rows beyond the last, which no window of the text reaches, end
    with it; size: Size; to: where the tile begins.
    """
    begin = row * text.words
    for p in range(0, size.planes - 3, 4):
        _copy_planes(pairs, 4, text, begin, size, p, thread, threads, tile, to)
    for p in range(size.planes // 4 * 4, size.planes):  # those of IUPAC letters
        _copy_planes(pairs, 1, text, begin, size, p, thread, threads, tile, to)
