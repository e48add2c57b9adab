"""Windows beside the sites of a PAM, read out of a chunk's planes."""

import numpy as np
from numba import prange

from kmatch.engine.cpu.alignments import COMPLEMENT, LETTERS
from kmatch.jit import kernel, parallel_kernel


@kernel
def _read(planes, words, plane_words, at, bit, minus, window):
    for j in range(len(window)):
        base = np.uint64(0)
        for plane in range(4):
            base |= (planes[plane * plane_words + at] >> bit & np.uint64(1)) << np.uint64(plane)
        if minus:
            window[len(window) - 1 - j] = LETTERS[COMPLEMENT[base]]
        else:
            window[j] = LETTERS[base]
        at += words


@parallel_kernel
def read_sites(planes, words, rows, plane_words, positions, minus, length, letters):
    """Write windows of a chunk one after another, each in the direction of its strand.

    planes, words, rows, plane_words: a chunk, whose halo is at least `length`; positions: int64[n],
    where the windows start; minus: uint8[n], 1 reads the reverse complement; length: letters of a
    window; letters: uint8[≥ n·length], ACGT and N, filled here.
    """
    for i in prange(len(positions)):
        lane = min(positions[i] // rows, 64 * words - 1)
        at = (positions[i] - lane * rows) * words + (lane >> 6)
        window = letters[i * length : (i + 1) * length]
        _read(planes, words, plane_words, at, np.uint64(lane & 63), minus[i], window)
