"""The text of hits, read back from the planes, and how it aligns with the pattern."""

import numpy as np

from kmatch.engine.cpu.letters import LETTERS, read_window
from kmatch.engine.cpu.sharing import SLAB, next_item
from kmatch.jit import kernel

MATCH, MISMATCH = np.uint8(ord("=")), np.uint8(ord("X"))


@kernel
def align_gapless(work, chunk, positions, patterns, minus, written, ends, text, ops):
    """Text and alignment columns of windows, in the direction of the pattern.

    work: see `slabs`; chunk: (planes, words, rows, plane_words); positions: int64[n], where windows
    start in it; patterns, minus: int32[n] and uint8[n]; written: (masks uint8, begins int64), all
    patterns' letters, those of pattern p from begins[p] to begins[p+1]; ends: int64[n+1], where
    window i's columns begin and end in text (ACGT and N) and ops (= and X), both uint8[ends[n]] and
    filled here.
    """
    planes, words, rows, plane_words = chunk
    masks, begins = written
    slab = next_item(work)
    while slab >= 0:
        for i in range(slab * SLAB, min((slab + 1) * SLAB, len(positions))):
            window = text[ends[i] : ends[i + 1]]
            read_window(planes, words, rows, plane_words, positions[i], minus[i], window)
            for j in range(len(window)):
                matches = window[j] & masks[begins[patterns[i]] + j]
                ops[ends[i] + j] = MATCH if matches else MISMATCH
                window[j] = LETTERS[window[j]]
        slab = next_item(work)
