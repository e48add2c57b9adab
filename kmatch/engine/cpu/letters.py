"""Letters back out of striped planes."""

import numpy as np

from kmatch.jit import kernel

LETTERS = np.frombuffer(b"NACNGNNNTNNNNNNN", np.uint8)  # by mask; several bases cannot occur
COMPLEMENT = np.array([0, 8, 4, 12, 2, 10, 6, 14, 1, 9, 5, 13, 3, 11, 7, 15], np.uint8)


@kernel
def decode(planes, rows, words, lane_rows, position, step, count, letters):
    """Write the text's letters at position, position + step, … as masks of bases.

    planes: a chunk with `rows` rows a plane, the halo among them; position: of the chunk, every one
    from 0 to 64·words·lane_rows + halo − 1; step: 1 or −1; letters: uint8[≥ count].
    """
    plane = rows * words
    lane = min(position // lane_rows, 64 * words - 1)
    row = position - lane * lane_rows
    for i in range(count):
        at, bit = row * words + (lane >> 6), np.uint64(lane & 63)
        letter = (planes[at] >> bit) & np.uint64(1)
        letter |= ((planes[at + plane] >> bit) & np.uint64(1)) << np.uint64(1)
        letter |= ((planes[at + 2 * plane] >> bit) & np.uint64(1)) << np.uint64(2)
        letter |= ((planes[at + 3 * plane] >> bit) & np.uint64(1)) << np.uint64(3)
        letters[i] = letter
        row += step
        if row < 0:
            lane, row = lane - 1, lane_rows - 1
        elif row == lane_rows and lane < 64 * words - 1:
            lane, row = lane + 1, 0


@kernel
def read_window(planes, words, rows, plane_words, position, minus, window):
    """Fill a window, uint8[m], with the masks of its bases in the direction of its strand.

    position: where the window starts in the chunk; minus: not 0 reads the reverse complement.
    """
    length = len(window)
    first, step = (position + length - 1, -1) if minus else (position, 1)
    decode(planes, plane_words // words, words, rows, first, step, length, window)
    if minus:
        for j in range(length):
            window[j] = COMPLEMENT[window[j]]
