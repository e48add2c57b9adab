"""From letters to striped bit planes."""

import numpy as np

from kmatch.engine.cpu.hits import next_item
from kmatch.engine.cpu.vectors import pointer
from kmatch.engine.workers import PACK_ROWS
from kmatch.jit.kernels import kernel

UPPER = 0xDF  # clears the bit that makes a letter lower case

UPPER_T_OR_U = 0xDE


@kernel
def _add_lane(letters, bit, octets):
    """Set a bit, uint8, of the octets of each plane where a lane has that base.

    letters: pointer to PACK_ROWS uint8; octets: pointer to those of A, C, G and T, one after
    another.
    """
    for r in range(PACK_ROWS):
        upper = letters[r] & UPPER
        octets[r] |= bit if upper == ord("A") else 0
        octets[r + PACK_ROWS] |= bit if upper == ord("C") else 0
        octets[r + 2 * PACK_ROWS] |= bit if upper == ord("G") else 0
        octets[r + 3 * PACK_ROWS] |= bit if letters[r] & UPPER_T_OR_U == ord("T") else 0


@kernel
def _add_octets(octets, shift, column):
    """Add octets to words, from a bit on, of all planes: pointers to uint8 and uint64."""
    for r in range(4 * PACK_ROWS):
        column[r] |= np.uint64(octets[r]) << shift


@kernel
def _pack_block(letters, text, word, row):
    """Fill PACK_ROWS rows of a word, from `row` on, in all planes.

    octets    eight lanes, a bit each     rows of eight bits
    columns   eight octets side by side   rows of a word
    """
    planes, words, rows, plane_words = text
    plane_rows = plane_words // words
    octets = np.empty(4 * PACK_ROWS, np.uint8)
    columns = np.zeros(4 * PACK_ROWS, np.uint64)
    for first in range(0, 64, 8):
        octets[:] = 0
        for i in range(8):
            lane = 64 * word + first + i
            _add_lane(pointer(letters, lane * rows + row), np.uint8(1 << i), pointer(octets, 0))
        _add_octets(pointer(octets, 0), np.uint64(first), pointer(columns, 0))
    for plane in range(4):
        at = (plane * plane_rows + row) * words + word
        for r in range(min(PACK_ROWS, plane_rows - row)):
            planes[at + r * words] = columns[plane * PACK_ROWS + r]


@kernel
def pack(work, letters, text):
    """Fill planes A, C, G, T of a chunk.

    work: see `pack_items`; letters: uint8[≥ 64·words·rows + halo + 64], ASCII in any case, 0 beyond
    the text; text: Text with planes of at least 4·plane_words words, filled here.
    """
    block = next_item(work)
    while block >= 0:
        _pack_block(letters, text, block % text.words, block // text.words * PACK_ROWS)
        block = next_item(work)


@kernel
def add_sets(masks, places, text):
    """Set the bits of letters that stand for several bases in planes that `pack` filled.

    masks: uint8[n], these bases, beside which SET may stand; places: int64[n], of the letters.
    """
    planes, words, rows, plane_words = text
    for i in range(len(places)):
        place = places[i]
        # The lane that owns it, and lanes before that, which repeat it in their halos.
        lane = min(place // rows, 64 * words - 1)
        at = (place - lane * rows) * words
        while lane >= 0 and at < plane_words:
            for plane in range(4):
                bit = np.uint64(masks[i] >> plane & 1) << np.uint64(lane % 64)
                planes[plane * plane_words + at + lane // 64] |= bit
            lane -= 1
            at += rows * words
