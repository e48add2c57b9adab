"""Slots: memory for the strips of a tile that have a left column, and the list of free ones."""

from typing import NamedTuple

import numpy as np

from kmatch.arrays import Longs, Words
from kmatch.engine.cpu.bits.vectors import aligned
from kmatch.jit import kernel


class Memory(NamedTuple):
    """Working memory.

    state: uint64, with all slots; versions: int64, by slot, the version of the bounds from which
    its masks were made; free: int64, the free slots.
    """

    state: Words
    versions: Longs
    free: Longs


class Strips(NamedTuple):
    """All strips of a tile.

    slots: int64, the slot of each strip that has a left column, else −1; marks: int64[5], the
    number of free slots, a strip from which on none has a left column, the version of the bounds,
    and the largest bound and limit of the lanes.
    """

    slots: Longs
    marks: Longs


@kernel
def grown(memory, size):
    """Memory with twice the slots, when no slot is free."""
    state, versions, _ = memory
    slots = versions.size
    more = aligned(state.size + slots * size)
    wider, free = np.empty(2 * slots, np.int64), np.empty(2 * slots, np.int64)
    for i in range(state.size):  # slices would take seconds to compile
        more[i] = state[i]
    for i in range(slots):
        wider[i], free[i] = versions[i], slots + i
    return Memory(more, wider, free)


@kernel
def release(strips, free, strip):
    """Forget a strip's left column."""
    slots, marks = strips
    free[marks[0]] = slots[strip]
    marks[0] += 1
    slots[strip] = -1
