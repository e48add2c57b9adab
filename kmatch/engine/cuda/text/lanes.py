"""Few long lanes become many short ones.

A packed genome has rows of few words, which suits a CPU; threads of a GPU want more of them side by
side. Lane s of B rows becomes lanes 8·s … 8·s+7 of B/8 rows, so every position keeps its number.
"""

from functools import cache

from numba import uint64

from kmatch.engine.cuda.bits.words import NONE
from kmatch.engine.cuda.gpu.driver import cuda

PARTS = 8  # of a lane
NARROW = 8  # words in a row that is spread
THREADS = 256
BLOCKS = 4096  # at the most; a thread takes more than one word then
OCTET = uint64(0xFF)


@cuda.jit(device=True)
def _apart(octet):
    """The eight bits of an octet, each the lowest of an octet of its own."""
    octet = (octet | octet << uint64(28)) & uint64(0x0000000F0000000F)
    octet = (octet | octet << uint64(14)) & uint64(0x0003000300030003)
    return (octet | octet << uint64(7)) & uint64(0x0101010101010101)


@cache
def make_spread():
    """The kernel that writes planes with more lanes."""

    @cuda.jit(cache=True)
    def kernel(text, planes, words, rows, halo, out):
        broad, short = words * PARTS, rows // PARTS
        plane_words = (short + halo) * broad
        for i in range(cuda.grid(1), planes * plane_words, cuda.gridsize(1)):
            plane, place = i // plane_words, i % plane_words
            row, word = place // broad, place % broad
            at = (plane * (rows + halo) + row) * words + word // PARTS
            shift = uint64(8 * (word % PARTS))
            lanes = NONE
            for part in range(PARTS):
                octet = (text[at + part * short * words] >> shift) & OCTET
                lanes |= _apart(octet) << uint64(part)
            out[i] = lanes

    return kernel


def spreads(words, rows):
    """Whether planes of such rows are spread."""
    return words == NARROW and rows % PARTS == 0


def spread_shape(words, rows, plane_words):
    """(words, rows, plane_words) of planes once spread."""
    halo = plane_words // words - rows
    return words * PARTS, rows // PARTS, (rows // PARTS + halo) * words * PARTS


def spread(text, shape, out, stream):
    """Spread planes.

    text, out: uint64, on the GPU, with the planes of a chunk as `kmatch.engine.geometry` lays them
    out before and after; shape: (words, rows, plane_words) of the text.
    """
    words, rows, plane_words = shape
    halo = plane_words // words - rows
    planes = len(out) // spread_shape(*shape)[2]
    blocks = min(-(-len(out) // THREADS), BLOCKS)
    make_spread()[blocks, THREADS, stream](text, planes, words, rows, halo, out)
