"""The text of hits, read back from the planes, and its alignment with the pattern."""

import numpy as np

from kmatch.engine.host.letters import LETTERS, read_window
from kmatch.engine.host.sharing import SLAB, next_item
from kmatch.jit import kernel

MATCH, MISMATCH = np.uint8(ord("=")), np.uint8(ord("X"))
SKIP_TEXT, SKIP_PATTERN = np.uint8(ord("D")), np.uint8(ord("I"))


@kernel
def align_gapless(work, text, windows, written, columns):
    """Write the alignments of Windows of a chunk; see `Engine.align_gapless`.

    work: see `slabs`; columns: Columns whose op_ends and text_ends are the same, filled here.
    """
    positions, patterns, minus = windows
    ends, ops, _, letters = columns
    slab = next_item(work)
    while slab >= 0:
        for i in range(slab * SLAB, min((slab + 1) * SLAB, len(positions))):
            window = letters[ends[i] : ends[i + 1]]
            read_window(text, positions[i], minus[i], window)
            first = written.begins[patterns[i]]
            for j in range(len(window)):
                matches = window[j] & written.masks[first + j]
                ops[ends[i] + j] = MATCH if matches else MISMATCH
                window[j] = LETTERS[window[j]]
        slab = next_item(work)
