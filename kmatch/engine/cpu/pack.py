"""From letters to striped bit planes."""

import numpy as np

from kmatch.engine.cpu.hits import next_item
from kmatch.engine.cpu.vectors import pointer
from kmatch.engine.workers import PACK_ROWS
from kmatch.jit.kernels import kernel

UPPER = 0xDF  # clears the bit that makes a letter lower case

UPPER_T_OR_U = 0xDE


@kernel
def _add_letters(letters, count, bit, octets):
    """Set a bit, uint8, of the octets of each plane where a lane has that base.

    letters: pointer to `count` uint8; octets: pointer to PACK_ROWS of A, C, G and T, one after
    another.
    """
    for r in range(count):
        upper = letters[r] & UPPER
        octets[r] |= bit if upper == ord("A") else 0
        octets[r + PACK_ROWS] |= bit if upper == ord("C") else 0
        octets[r + 2 * PACK_ROWS] |= bit if upper == ord("G") else 0
        octets[r + 3 * PACK_ROWS] |= bit if letters[r] & UPPER_T_OR_U == ord("T") else 0


@kernel
def _add_masks(masks, count, bit, octets):
    """Set a bit of the octets of each plane, as `_add_letters`, where a mask has that base."""
    for r in range(count):
        for base in range(4):
            octets[r + base * PACK_ROWS] |= bit * (masks[r] >> base & 1)


@kernel
def _add_lanes(letters, add, first, rows, octets):
    """Add eight lanes to octets, as `add` does; first: the place of the first one's letters.

    Lanes are of a constant length, so that octets stay in registers, or end behind the letters.
    """
    if first + 7 * rows + PACK_ROWS <= len(letters):
        for i in range(8):
            add(pointer(letters, first + i * rows), PACK_ROWS, np.uint8(1 << i), octets)
        return
    for i in range(8):
        place = first + i * rows
        count = min(PACK_ROWS, len(letters) - place)
        add(pointer(letters, place), count, np.uint8(1 << i), octets)


@kernel
def _add_octets(octets, shift, column):
    """Add octets to words, from a bit on, of all planes: pointers to uint8 and uint64."""
    for r in range(4 * PACK_ROWS):
        column[r] |= np.uint64(octets[r]) << shift


@kernel
def _pack_rows(letters, add, text, row):
    """Fill PACK_ROWS rows, from `row` on, in all planes.

    letters: of `pack`, or the masks of `pack_masks`; add: `_add_letters` or `_add_masks`.

    octets    eight lanes, a bit each     rows of eight bits
    columns   eight octets side by side   rows of a word
    """
    planes, words, rows, plane_words = text
    plane_rows = plane_words // words
    octets = np.empty(4 * PACK_ROWS, np.uint8)
    columns = np.empty(4 * PACK_ROWS, np.uint64)
    for word in range(words):
        columns[:] = 0
        for first in range(0, 64, 8):
            octets[:] = 0
            place = (64 * word + first) * rows + row
            _add_lanes(letters, add, place, rows, pointer(octets, 0))
            _add_octets(pointer(octets, 0), np.uint64(first), pointer(columns, 0))
        for plane in range(4):
            at = (plane * plane_rows + row) * words + word
            for r in range(min(PACK_ROWS, plane_rows - row)):
                planes[at + r * words] = columns[plane * PACK_ROWS + r]


@kernel
def _pack_all(work, letters, add, text):
    """Fill planes as `pack` or `pack_masks`.

    An item is whole rows, as the words of a row share a cache line.
    """
    item = next_item(work)
    while item >= 0:
        _pack_rows(letters, add, text, item * PACK_ROWS)
        item = next_item(work)


@kernel
def pack(work, letters, text):
    """Fill planes A, C, G, T of a chunk.

    work: see `pack_items`; letters: uint8[n], ASCII in any case, 0 where there is no text; text:
    Text with planes of at least 4·plane_words words, filled here. No text is behind the letters.
    """
    _pack_all(work, letters, _add_letters, text)


@kernel
def pack_masks(work, masks, text):
    """Fill planes as `pack` for letters as masks, uint8[n]: each is in the plane of all its
    bases."""
    _pack_all(work, masks, _add_masks, text)


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
