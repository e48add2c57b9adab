"""From letters to striped bit planes, and planes of IUPAC letters."""

from functools import cache
from typing import Any

from numba import uint64

from kmatch.arrays import Bytes
from kmatch.engine.cuda.bits.words import NONE
from kmatch.engine.cuda.gpu.driver import DeviceArray, Stream, cuda, multiprocessors, on_device
from kmatch.engine.geometry import Text

THREADS = 256
BLOCKS = 8  # for every multiprocessor
UPPER = 0xDF  # clears the bit that makes a letter lower case
UPPER_T_OR_U = 0xDE


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
