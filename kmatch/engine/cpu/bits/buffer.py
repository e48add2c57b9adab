"""Writing hit codes to a HitBuffer, of which every thread takes a block at a time."""

from typing import NamedTuple

import numpy as np

from kmatch.engine.hits import NO_CODE, HitBuffer
from kmatch.engine.host.sharing import fetch_add
from kmatch.jit import kernel

BLOCK = 256


class Writer(NamedTuple):
    """What a thread writes hit codes with: (position·queries + query)·factor + distance.

    buffer: HitBuffer; slot: int64[3], where the next code goes, where the thread's block ends, and
    the hits that did not fit; queries: int; factor: k + 1, k that of all queries.
    """

    buffer: HitBuffer
    slot: np.ndarray
    queries: int
    factor: int


@kernel
def new_writer(buffer, queries, k):
    """The Writer of a thread that has no block yet."""
    return Writer(buffer, np.zeros(3, np.int64), queries, k + 1)


@kernel
def _take_block(buffer, slot):
    size = min(BLOCK, len(buffer.codes))
    at = fetch_add(buffer.tally, 0, size)
    if at + size > len(buffer.codes):
        return False
    slot[0], slot[1] = at, at + size
    return True


@kernel
def put(writer, position, query, distance):
    """Keep the code of a hit, or count it where the buffer is full."""
    buffer, slot, queries, factor = writer
    if slot[0] == slot[1] and (slot[2] > 0 or not _take_block(buffer, slot)):
        slot[2] += 1
    else:
        buffer.codes[slot[0]] = (position * queries + query) * factor + distance
        slot[0] += 1


@kernel
def give_up(work, writer):
    """After an item: where the buffer is full, have all threads begin no more of them."""
    if writer.slot[2] > 0:
        begun = fetch_add(work, 0, work[1])
        if begun < work[1]:
            writer.buffer.tally[2] = begun


@kernel
def leave(writer):
    """At the end: mark what is left of the thread's block as empty, and add what was lost."""
    buffer, slot = writer.buffer, writer.slot
    buffer.codes[slot[0] : slot[1]] = NO_CODE
    fetch_add(buffer.tally, 1, slot[2])


def written(buffer):
    """The codes of a HitBuffer that threads took, empty ones among them."""
    size = min(BLOCK, len(buffer.codes))
    return buffer.codes[: min(int(buffer.tally[0]), len(buffer.codes) // size * size)]
