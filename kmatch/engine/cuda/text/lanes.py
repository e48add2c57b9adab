"""Few long lanes become many short ones.

A packed genome has rows of few words, which suits a CPU; a GPU needs broader rows for its threads.
Lane s of B rows becomes lanes 8·s … 8·s+7 of B/8 rows, so every position keeps its number.
"""

from functools import cache
from typing import Any

from numba import uint64

from kmatch.engine.cuda.bits.words import NONE
from kmatch.engine.cuda.gpu.driver import DeviceArray, Stream, cuda
from kmatch.engine.geometry import Text, halo_of

PARTS = 8  # of a lane
NARROW = 8  # words in a row of planes that are spread
THREADS = 256
BLOCKS = 4096  # at the most; beyond, a thread takes more than one word
OCTET = uint64(0xFF)


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
    blocks = min(-(-len(broad.planes) // THREADS), BLOCKS)
    make_spread()[blocks, THREADS, stream](planes, many, words, rows, halo_of(text), broad.planes)
