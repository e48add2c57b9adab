"""The text of hits, read back from the planes, and how it aligns with the pattern."""

import numpy as np
from numba import prange

from kmatch.jit import kernel, parallel_kernel

LETTERS = np.frombuffer(b"NACNGNNNTNNNNNNN", np.uint8)  # by mask; several bases cannot occur
COMPLEMENT = np.array([0, 8, 4, 12, 2, 10, 6, 14, 1, 9, 5, 13, 3, 11, 7, 15], np.uint8)
MATCH, MISMATCH = np.uint8(ord("=")), np.uint8(ord("X"))


@kernel
def base_at(planes, words, rows, plane_words, position):
    """The mask of the text's base at a position of the chunk, 0 where it is not A, C, G or T."""
    lane = min(position // rows, 64 * words - 1)
    at = (position - lane * rows) * words + (lane >> 6)
    bit = np.uint64(lane & 63)
    mask = np.uint64(0)
    for base in range(4):
        mask |= (planes[base * plane_words + at] >> bit & np.uint64(1)) << np.uint64(base)
    return np.uint8(mask)


@parallel_kernel
def align_gapless(
    planes, words, rows, plane_words, positions, patterns, minus, masks, begins, ends, text, ops
):
    """Text and alignment columns of windows, in the direction of the pattern.

    planes, words, rows, plane_words: a chunk; positions: int64[n], where windows start in it;
    patterns, minus: int32[n] and uint8[n]; masks: uint8, all patterns' letters, those of pattern p
    from begins[p] to begins[p+1]; ends: int64[n+1], where window i's columns begin and end in
    text (ACGT and N) and ops (= and X), both uint8[ends[n]] and filled here.
    """
    for i in prange(len(positions)):
        length = ends[i + 1] - ends[i]
        for j in range(length):
            offset = length - 1 - j if minus[i] else j
            base = base_at(planes, words, rows, plane_words, positions[i] + offset)
            if minus[i]:
                base = COMPLEMENT[base]
            text[ends[i] + j] = LETTERS[base]
            ops[ends[i] + j] = MATCH if base & masks[begins[patterns[i]] + j] else MISMATCH
