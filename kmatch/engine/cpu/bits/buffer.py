"""Writing hit codes to a HitBuffer, of which every thread takes a block at a time.

A thread's `slot` is int64[3]: where its next code goes, where its block ends, and the hits for
which there was no room.
"""

import numpy as np

from kmatch.engine.hits import NO_CODE
from kmatch.engine.host.sharing import fetch_add
from kmatch.jit import kernel

BLOCK = 256


@kernel
def new_slot():
    """The slot of a thread that has no block yet."""
    return np.zeros(3, np.int64)


@kernel
def _take_block(buffer, slot):
    size = min(BLOCK, len(buffer.codes))
    at = fetch_add(buffer.tally, 0, size)
    if at + size > len(buffer.codes):
        return False
    slot[0], slot[1] = at, at + size
    return True


@kernel
def put(buffer, slot, code):
    """Keep a hit code, or count it where there is no room."""
    if slot[0] == slot[1] and (slot[2] > 0 or not _take_block(buffer, slot)):
        slot[2] += 1
    else:
        buffer.codes[slot[0]] = code
        slot[0] += 1


@kernel
def give_up(work, buffer, slot):
    """After an item: where room ran out, tell all threads to begin no more of them."""
    if slot[2] > 0:
        begun = fetch_add(work, 0, work[1])
        if begun < work[1]:
            buffer.tally[2] = begun


@kernel
def leave(buffer, slot):
    """At the end: mark what is left of the thread's block as empty, and tell what was lost."""
    buffer.codes[slot[0] : slot[1]] = NO_CODE
    fetch_add(buffer.tally, 1, slot[2])


def written(buffer):
    """The codes of a HitBuffer that threads took, empty ones among them."""
    size = min(BLOCK, len(buffer.codes))
    return buffer.codes[: min(int(buffer.tally[0]), len(buffer.codes) // size * size)]
