"""From bit planes back to letters."""

import numpy as np

from kmatch.jit import kernel

BLOCK = 64  # rows unpacked at a time: one cache line of each lane
# What each base adds to the letter N; at most one of the four planes has the bit of a position set.
FROM_N = tuple(np.uint8((ord(base) - ord("N")) % 256) for base in "ACGT")


@kernel
def _write(a, c, g, t, lane, out):
    for r in range(len(out)):
        out[r] = (
            np.uint8(ord("N"))
            + np.uint8((a[r] >> lane) & np.uint64(1)) * FROM_N[0]
            + np.uint8((c[r] >> lane) & np.uint64(1)) * FROM_N[1]
            + np.uint8((g[r] >> lane) & np.uint64(1)) * FROM_N[2]
            + np.uint8((t[r] >> lane) & np.uint64(1)) * FROM_N[3]
        )


@kernel
def unpack(planes, words, rows, plane_words, letters):
    """Write the letters of a chunk: A, C, G, T, and N for anything else.

    planes: uint64, planes A, C, G, T as `kmatch.engine.geometry` lays them out, `words` words in a
    row, `rows` rows that a lane owns, plane_words words in a plane; letters: uint8[64·words·rows].
    """
    a, c = np.empty(BLOCK, np.uint64), np.empty(BLOCK, np.uint64)
    g, t = np.empty(BLOCK, np.uint64), np.empty(BLOCK, np.uint64)
    for row in range(0, rows, BLOCK):
        many = min(BLOCK, rows - row)
        for word in range(words):
            at = row * words + word
            for r in range(many):
                a[r] = planes[at + r * words]
                c[r] = planes[at + plane_words + r * words]
                g[r] = planes[at + 2 * plane_words + r * words]
                t[r] = planes[at + 3 * plane_words + r * words]
            for lane in range(64):
                to = (64 * word + lane) * rows + row
                _write(a, c, g, t, np.uint64(lane), letters[to : to + many])
