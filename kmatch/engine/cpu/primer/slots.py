"""Slots: the working memory of strips that have a left column, and which of them are free."""

from typing import NamedTuple

import numpy as np

from kmatch.engine.cpu.bits.vectors import aligned
from kmatch.jit import kernel


class Memory(NamedTuple):
    """Working memory: state: uint64; versions: int64, by slot, that of the bounds which its masks
    were made from; free: int64, the free slots."""

    state: np.ndarray
    versions: np.ndarray
    free: np.ndarray


class Strips(NamedTuple):
    """All strips of a tile: slots: int64, that of each strip that has a left column, else −1;
    marks: int64[5], how many slots are free, a strip below which none has a left column, the
    version of the bounds, and the largest bound and limit of its
    lanes."""

    slots: np.ndarray
    marks: np.ndarray


@kernel
def grown(memory, size):
    """Memory with twice the slots, when no slot is free."""
    state, versions, _ = memory
    slots = versions.size
    more = aligned(state.size + slots * size)
    wider, free = np.empty(2 * slots, np.int64), np.empty(2 * slots, np.int64)
    for i in range(state.size):  # not by slices, which take seconds to compile
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
