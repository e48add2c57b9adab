"""From the bit planes of one chunk to those of another, without letters between them.

What lies in between are bits by position, a row of words for each of A, C, G and T.
"""

import numpy as np

from kmatch.arrays import Words
from kmatch.jit import kernel

BLOCK = 64  # rows of a square of bits
SQUARES = 8  # in a tile: a cache line of each lane
TILE = SQUARES * BLOCK  # rows and words of a tile
ONE, ALL = np.uint64(1), np.uint64(0xFFFFFFFFFFFFFFFF)


@kernel
def _swap(low, high, shift, mask):
    """Swap the upper bits of `low` with the lower ones of `high`, in pieces of `shift` bits."""
    for i in range(len(low)):
        other = ((low[i] >> shift) ^ high[i]) & mask
        high[i] ^= other
        low[i] ^= other << shift


@kernel
def _transpose(tile):
    """Transpose SQUARES squares side by side: uint64[TILE], word s of row r at r·SQUARES + s."""
    step, mask = 32, ALL >> np.uint64(32)
    while step:
        size = step * SQUARES
        for first in range(0, TILE, 2 * size):
            middle = first + size
            low, high = tile[first:middle], tile[middle : middle + size]
            _swap(low, high, np.uint64(step), mask)
        step >>= 1
        mask ^= mask << np.uint64(step)


@kernel
def _write(bits, at, word, many):
    """Write the first bits of a word, `many` of them, into bits that are 0, from position `at`."""
    if many < 64:
        word &= (ONE << np.uint64(many)) - ONE
    shift = np.uint64(at & 63)
    bits[at >> 6] |= word << shift
    # In two steps, since a word is never shifted by 64.
    bits[(at >> 6) + 1] |= word >> ONE >> (np.uint64(63) - shift)


@kernel
def bits_of(text, first, last, at, bits):
    """Write positions first … last − 1 of a chunk to bits, position `first` to bit `at`.

    text: Text; bits: uint64[4, n] with zeros; positions are those that lanes own.
    """
    planes, words, rows, plane_words = text
    low, high = first // (BLOCK * rows), -(-last // (BLOCK * rows))
    tile = np.empty(TILE, np.uint64)
    for plane in range(4):
        for row in range(0, rows, TILE):
            for word in range(low, high):
                source = plane * plane_words + row * words + word
                for r in range(TILE):
                    known = row + r < rows
                    tile[r % BLOCK * SQUARES + r // BLOCK] = (
                        planes[source + r * words] if known else np.uint64(0)
                    )
                _transpose(tile)
                for lane in range(BLOCK):
                    begin = (BLOCK * word + lane) * rows + row
                    end = min(begin - row + rows, last)
                    column = tile[lane * SQUARES :]
                    for i in range(SQUARES):
                        skipped = max(first - begin, 0)
                        left = min(end - begin, BLOCK) - skipped
                        if left > 0:
                            some = column[i] >> np.uint64(skipped)
                            _write(bits[plane], at + begin + skipped - first, some, left)
                        begin += BLOCK


@kernel
def planes_of(bits, text):
    """Fill the planes of a chunk from bits, of which bit 0 is position 0.

    bits: uint64[4, n] as `empty_bits` makes them; text: Text.
    """
    planes, words, rows, plane_words = text
    plane_rows = plane_words // words
    tile = np.empty(TILE, np.uint64)
    for plane in range(4):
        for row in range(0, plane_rows, TILE):
            for word in range(words):
                for lane in range(BLOCK):
                    begin = (BLOCK * word + lane) * rows + row
                    shift = np.uint64(begin & 63)
                    source = bits[plane][begin >> 6 :]
                    column = tile[lane * SQUARES :]
                    for i in range(SQUARES):
                        some = source[i] >> shift
                        column[i] = some | source[i + 1] << ONE << (np.uint64(63) - shift)
                _transpose(tile)
                out = plane * plane_words + row * words + word
                for r in range(min(TILE, plane_rows - row)):
                    planes[out + r * words] = tile[r % BLOCK * SQUARES + r // BLOCK]


def empty_bits(positions: int) -> Words:
    """Bits of so many positions, all 0, as `planes_of` reads them."""
    return np.zeros((4, -(-positions // BLOCK) + SQUARES + 2), np.uint64)
