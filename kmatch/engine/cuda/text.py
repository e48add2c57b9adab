"""Planes of text on the GPU: made of letters, united, spread over more lanes, and copied to tiles.

A packed genome has rows of few words, which suits a CPU; a GPU needs broader rows for its threads.
Lane s of B rows becomes lanes 8·s … 8·s+7 of B/8 rows, so every position keeps its number.

Tiles are in shared memory. Where a GPU can, it copies there in the background, without registers in
between: all of a thread's words are under way at once, so that the few blocks which fit a
multiprocessor keep device memory busy. Copies of two words, which bypass the L1 cache, are a third
faster than those of one. Indices are unsigned, as Numba checks signed ones for counting from the
end.
"""

from functools import cache
from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir
from numba import types, uint64
from numba.extending import intrinsic
from numpy.typing import NDArray

from kmatch.arrays import Bytes, Planes
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
BLOCKS = 8  # for every multiprocessor, of kernels that pack and unite
SPREAD_BLOCKS = 4096  # at the most; beyond, a thread takes more than one word
PARTS = 8  # of a lane
NARROW = 8  # words in a row of planes that are spread
OCTET = uint64(0xFF)
UPPER = 0xDF  # clears the bit that makes a letter lower case
UPPER_T_OR_U = 0xDE
GLOBAL, SHARED = 1, 3  # address spaces of NVVM


@cache
def make_pack() -> Any:
    """The kernel that packs: a thread makes one word of each plane.

    Neighbouring threads take neighbouring rows, so that the letters that they read are contiguous.
    """

    @cuda.jit(cache=True)
    def kernel(letters, words, rows, plane_rows, planes):
        plane_words = plane_rows * words
        for task in range(cuda.grid(1), plane_words, cuda.gridsize(1)):
            word, row = task // plane_rows, task % plane_rows
            a = c = g = t = NONE
            at = 64 * word * rows + row
            for lane in range(64):
                letter = letters[uint64(at)]
                upper, bit = letter & UPPER, uint64(lane)
                a |= uint64(upper == ord("A")) << bit
                c |= uint64(upper == ord("C")) << bit
                g |= uint64(upper == ord("G")) << bit
                t |= uint64(letter & UPPER_T_OR_U == ord("T")) << bit
                at += rows
            to = row * words + word
            planes[to] = a
            planes[to + plane_words] = c
            planes[to + 2 * plane_words] = g
            planes[to + 3 * plane_words] = t

    return kernel


def pack(letters: DeviceArray, text: Text, stream: Stream) -> None:
    """Fill planes A, C, G, T of a Text on the GPU.

    letters: uint8[≥ 64·words·rows + halo] on the GPU, ASCII in any case, 0 beyond the text.
    """
    planes, words, rows, plane_words = text
    launch = make_pack()[BLOCKS * multiprocessors(), THREADS, stream]
    launch(letters, words, rows, plane_words // words, planes)


@cache
def make_unite() -> Any:
    """The kernel that copies planes and adds unions of them."""

    @cuda.jit(cache=True)
    def kernel(planes, plane_words, masks, united):
        for at in range(cuda.grid(1), plane_words, cuda.gridsize(1)):
            a, c = planes[at], planes[at + plane_words]
            g, t = planes[at + 2 * plane_words], planes[at + 3 * plane_words]
            united[at] = a
            united[at + plane_words] = c
            united[at + 2 * plane_words] = g
            united[at + 3 * plane_words] = t
            for x in range(len(masks)):
                mask = masks[x]
                union = a if mask & 1 else NONE
                union |= c if mask & 2 else NONE
                union |= g if mask & 4 else NONE
                union |= t if mask & 8 else NONE
                united[at + (4 + x) * plane_words] = uint64(union)

    return kernel


def unite(text: Text, masks: Bytes, united: DeviceArray, stream: Stream) -> None:
    """Copy planes A, C, G, T of a Text on the GPU and append those of IUPAC letters.

    masks: uint8[x] on the host, the bases of planes 4 … 4+x−1; united: uint64[≥ (4+x)·plane_words],
    filled here.
    """
    launch = make_unite()[BLOCKS * multiprocessors(), THREADS, stream]
    launch(text.planes, text.plane_words, on_device(masks, stream), united)


@cuda.jit(device=True)
def _apart(octet):
    """The eight bits of an octet, each the lowest of an octet of its own."""
    octet = (octet | octet << uint64(28)) & uint64(0x0000000F0000000F)
    octet = (octet | octet << uint64(14)) & uint64(0x0003000300030003)
    return (octet | octet << uint64(7)) & uint64(0x0101010101010101)


@cache
def make_spread() -> Any:
    """The kernel that writes planes with more lanes."""

    @cuda.jit(cache=True)
    def kernel(text, planes, words, rows, halo, out):
        broad, short = words * PARTS, rows // PARTS
        plane_words = (short + halo) * broad
        for i in range(cuda.grid(1), planes * plane_words, cuda.gridsize(1)):
            plane, offset = i // plane_words, i % plane_words
            row, word = offset // broad, offset % broad
            at = (plane * (rows + halo) + row) * words + word // PARTS
            shift = uint64(8 * (word % PARTS))
            lanes = NONE
            for part in range(PARTS):
                octet = (text[at + part * short * words] >> shift) & OCTET
                lanes |= _apart(octet) << uint64(part)
            out[i] = lanes

    return kernel


def spreads(text: Text) -> bool:
    """Whether the planes of a Text need to be spread."""
    return text.words == NARROW and text.rows % PARTS == 0


def spread_text(text: Text, planes: DeviceArray) -> Text:
    """The Text that a text becomes when it is spread into some planes."""
    words, rows = text.words * PARTS, text.rows // PARTS
    return Text(planes, words, rows, (rows + halo_of(text)) * words)


def spread(text: Text, broad: Text, stream: Stream) -> None:
    """Fill the planes of `broad`, see `spread_text`; both are on the GPU."""
    planes, words, rows, _ = text
    many = len(broad.planes) // broad.plane_words
    blocks = min(-(-len(broad.planes) // THREADS), SPREAD_BLOCKS)
    make_spread()[blocks, THREADS, stream](planes, many, words, rows, halo_of(text), broad.planes)


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
