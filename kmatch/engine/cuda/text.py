"""Planes of text on the GPU: spread over more lanes, united, and copied to tiles.

A packed genome has rows of few words, which suits a CPU; a GPU needs broader rows for its threads.
Lane s of B rows becomes lanes 8·s … 8·s+7 of B/8 rows, so every position keeps its number.

Tiles are in shared memory. Where a GPU can, it copies there in the background, without registers in
between: all of a thread's words are under way at once, so that the few blocks which fit a
multiprocessor keep device memory busy. Copies of two words bypass the L1 cache, which makes them a
third faster than those of one. Indices are unsigned, as Numba checks signed ones for counting from
the end.
"""

from typing import NamedTuple

from llvmlite import ir
from numba import types, uint64
from numba.extending import intrinsic

from kmatch.arrays import Bytes
from kmatch.engine.cuda import driver
from kmatch.engine.cuda.driver import SIMULATED, Stream, cuda, kept
from kmatch.engine.cuda.words import NONE, ONE, smaller
from kmatch.engine.geometry import Text, halo_of

THREADS = 256
BLOCKS = 32  # for every multiprocessor
PARTS = 8  # of a lane
NARROW = 8  # words in a row of planes that are spread
OCTET = uint64(0xFF)
GLOBAL, SHARED = 1, 3  # address spaces of NVVM


@cuda.jit(device=True)
def _apart(octet):
    """The eight bits of an octet, each the lowest of an octet of its own."""
    octet = (octet | octet << uint64(28)) & uint64(0x0000000F0000000F)
    octet = (octet | octet << uint64(14)) & uint64(0x0003000300030003)
    return (octet | octet << uint64(7)) & uint64(0x0101010101010101)


@cuda.jit(device=True)
def _spread(planes, at, short, word):
    """A word of more lanes, from those at `at` and at every `short` words from there on."""
    shift, lanes = uint64(8 * (word % PARTS)), NONE
    for part in range(PARTS):
        lanes |= _apart((planes[at + part * short] >> shift) & OCTET) << uint64(part)
    return lanes


@kept()
def fill(planes, words, rows, halo, parts, masks, filled):
    bases = cuda.local.array(4, uint64)
    broad, short = words * parts, rows // parts
    plane_words = (short + halo) * broad
    for to in range(cuda.grid(1), plane_words, cuda.gridsize(1)):
        row, word = to // broad, to % broad
        for p in range(4):
            at = (p * (rows + halo) + row) * words + word // parts
            bases[p] = planes[at] if parts == 1 else _spread(planes, at, short * words, word)
            filled[to + p * plane_words] = bases[p]
        for x in range(len(masks)):
            union = NONE
            for p in range(4):
                union |= bases[p] if (masks[x] >> p) & 1 else NONE
            filled[to + (4 + x) * plane_words] = union


def broad_text(text: Text) -> Text:
    """A Text as a GPU takes it, spread over more lanes where its rows have few words."""
    if text.words != NARROW or text.rows % PARTS:
        return text
    words, rows = text.words * PARTS, text.rows // PARTS
    return Text(text.planes, words, rows, (rows + halo_of(text)) * words)


def fill_broad(text: Text, broad: Text, masks: Bytes, stream: Stream) -> None:
    """Fill the planes of `broad`, see `broad_text`, and behind them those of IUPAC letters.

    Planes are on the GPU; masks: uint8[x] on the host, the bases of planes 4 … 4+x−1.
    """
    launch = fill[BLOCKS * driver.multiprocessors(), THREADS, stream]
    parts, given = broad.words // text.words, driver.on_device(masks, stream)
    launch(text.planes, text.words, text.rows, halo_of(text), parts, given, broad.planes)


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
