"""Planes of text on the GPU: united, spread over more lanes, and copied to tiles.

A packed genome has rows of few words, which suits a CPU; a GPU needs broader rows for its threads.
Lane s of B rows becomes lanes 8·s … 8·s+7 of B/8 rows, so every position keeps its number.

Tiles are in shared memory. Where a GPU can, it copies there in the background, without registers in
between: all of a thread's words are under way at once, so that the few blocks which fit a
multiprocessor keep device memory busy. Copies of two words bypass the L1 cache, which makes them a
third faster than those of one. Indices are unsigned, as Numba checks signed ones for counting from
the end.
"""

from typing import NamedTuple

import numpy as np
from llvmlite import ir
from numba import types, uint64
from numba.extending import intrinsic
from numpy.typing import NDArray

from kmatch.arrays import Bytes, Ints, Planes
from kmatch.engine.cuda.driver import (
    SIMULATED,
    DeviceArray,
    Stream,
    cuda,
    multiprocessors,
    on_device,
)
from kmatch.engine.cuda.words import NONE, ONE, smaller
from kmatch.engine.geometry import Text, halo_of

THREADS = 256
BLOCKS = 32  # for every multiprocessor
PARTS = 8  # of a lane
NARROW = 8  # words in a row of planes that are spread
OCTET = uint64(0xFF)
GLOBAL, SHARED = 1, 3  # address spaces of NVVM


@cuda.jit(cache=True)
def _unite(planes, plane_words, masks, united):
    for at in range(cuda.grid(1), plane_words, cuda.gridsize(1)):
        for p in range(4):
            united[at + p * plane_words] = planes[at + p * plane_words]
        for x in range(len(masks)):
            union = NONE
            for p in range(4):
                union |= planes[at + p * plane_words] if (masks[x] >> p) & 1 else NONE
            united[at + (4 + x) * plane_words] = union


def unite(text: Text, masks: Bytes, united: DeviceArray, stream: Stream) -> None:
    """Copy planes A, C, G and T of a Text on the GPU and append those of IUPAC letters.

    masks: uint8[x] on the host, the bases of planes 4 … 4+x−1; united: uint64[≥ (4+x)·plane_words],
    filled here.
    """
    launch = _unite[BLOCKS * multiprocessors(), THREADS, stream]
    launch(text.planes, text.plane_words, on_device(masks, stream), united)


@cuda.jit(device=True)
def _apart(octet):
    """The eight bits of an octet, each the lowest of an octet of its own."""
    octet = (octet | octet << uint64(28)) & uint64(0x0000000F0000000F)
    octet = (octet | octet << uint64(14)) & uint64(0x0003000300030003)
    return (octet | octet << uint64(7)) & uint64(0x0101010101010101)


@cuda.jit(cache=True)
def _spread(text, words, rows, halo, out):
    broad, short = words * PARTS, rows // PARTS
    plane_words = (short + halo) * broad
    for i in range(cuda.grid(1), 4 * plane_words, cuda.gridsize(1)):
        plane, offset = i // plane_words, i % plane_words
        row, word = offset // broad, offset % broad
        at = (plane * (rows + halo) + row) * words + word // PARTS
        shift = uint64(8 * (word % PARTS))
        lanes = NONE
        for part in range(PARTS):
            octet = (text[at + part * short * words] >> shift) & OCTET
            lanes |= _apart(octet) << uint64(part)
        out[i] = lanes


def spreads(text: Text) -> bool:
    """Whether the planes of a Text need to be spread."""
    return text.words == NARROW and text.rows % PARTS == 0


def spread_text(text: Text, planes: DeviceArray) -> Text:
    """The Text that a text becomes when it is spread into some planes."""
    words, rows = text.words * PARTS, text.rows // PARTS
    return Text(planes, words, rows, (rows + halo_of(text)) * words)


def spread(text: Text, broad: Text, stream: Stream) -> None:
    """Fill planes A, C, G and T of `broad`, see `spread_text`; both are on the GPU."""
    launch = _spread[BLOCKS * multiprocessors(), THREADS, stream]
    launch(text.planes, text.words, text.rows, halo_of(text), broad.planes)


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


def tile_indices(planes: Planes, offsets: Ints, size: Size) -> NDArray[np.uint16]:
    """The index in a tile of the words of letters, less the thread's number; it means nothing for a
    letter that is not in the tile.

    planes: of each letter; offsets: from the window's first row.
    """
    at = planes.astype(np.uint16)
    at *= np.uint16(size.rows)
    at += offsets.astype(np.uint16)
    at *= np.uint16(size.width)
    return at


@cuda.jit(device=True)
def _copy(pairs, tile, to, text, at):
    if pairs:
        start_copy_pair(tile, to, text, at)
    else:
        tile[to] = text[at]


@cuda.jit(device=True)
def _clear(pairs, tile, to):
    tile[to] = NONE
    if pairs:
        tile[to + ONE] = NONE


@cuda.jit(device=True)
def _copy_planes(pairs, count, text, part, size, first, thread, threads, tile, to):
    """Copy `count` planes from plane `first` on, a constant: their copies share addresses."""
    many = 2 if pairs else 1
    across, plane = size.width // many, size.rows * size.width
    row, apart = thread // across, threads // across
    column = smaller(part.left + thread % across * many, text.words - many)
    at, into = uint64((part.row + row) * text.words + column), uint64(thread * many)
    for _ in range(row, smaller(part.end - part.row, size.rows), apart):
        for p in range(first, first + count):
            here, there = uint64(p * text.plane_words), uint64(to + p * plane)
            _copy(pairs, tile, there + into, text.planes, here + at)
        at += uint64(apart * text.words)
        into += uint64(threads * many)
    while into < uint64(plane):
        for p in range(first, first + count):
            _clear(pairs, tile, uint64(to + p * plane) + into)
        into += uint64(threads * many)


@cuda.jit(device=True)
def copy_tile(pairs, text, part, size, thread, threads, tile, to):
    """Begin to copy a thread's share of a tile of every plane to shared memory.

    pairs: a constant of the kernel, whether words are copied by twos in the background, which is
    done after `wait_for_copies` of all threads; their number in a row is even then; text: Text;
    part: Part; size: Size; to: where the tile begins.
    """
    for p in range(0, size.planes - 3, 4):
        _copy_planes(pairs, 4, text, part, size, p, thread, threads, tile, to)
    for p in range(size.planes // 4 * 4, size.planes):  # those of IUPAC letters
        _copy_planes(pairs, 1, text, part, size, p, thread, threads, tile, to)
