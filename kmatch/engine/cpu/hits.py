"""Items of work, which threads take (see `kmatch.engine.workers`), and hit codes, which they leave
in a HitBuffer; every thread takes a block of it at a time."""

from typing import Any, NamedTuple

import numpy as np
from numba import types
from numba.extending import intrinsic

from kmatch.engine import codes
from kmatch.engine.codes import CODES_AT_ONCE, NO_CODE, HitBuffer
from kmatch.engine.cpu.vectors import pointer
from kmatch.jit.kernels import inlined, kernel

encode = inlined(codes.encode)
marked = inlined(codes.marked)


@intrinsic
def fetch_add(typingctx, array, index, amount):
    """Add to array[index] of a flat int64 array atomically; returns the number before."""

    def build(context, builder, signature, arguments):
        kind = signature.args[0]
        data = context.make_array(kind)(context, builder, arguments[0]).data
        offset = context.cast(builder, arguments[1], signature.args[1], types.int64)
        number = context.cast(builder, arguments[2], signature.args[2], types.int64)
        address = builder.gep(data, [offset])
        return builder.atomic_rmw("add", address, number, "monotonic")

    return types.int64(array, index, amount), build


@kernel
def next_item(work):
    """Return the next item of work, −1 when none is left."""
    item = fetch_add(work, 0, 1)
    return item if item < work[1] else -1


class Writer(NamedTuple):
    """The state of a thread that writes hit codes.

    slot: a pointer to int64[3], the index of the next code, the end of the thread's block, and the
    hits that did not fit; queries, factor: see `encode`.
    """

    buffer: HitBuffer
    slot: Any
    queries: int
    factor: int


@kernel
def new_slot():
    """Return the slot of a thread that has no block yet; it must outlive the Writer."""
    return np.zeros(3, np.int64)


@kernel
def new_writer(buffer, slot, queries, k):
    """Return the Writer of a thread."""
    return Writer(buffer, pointer(slot, 0), queries, k + 1)


@kernel
def _take_block(buffer, slot):
    size = min(CODES_AT_ONCE, len(buffer.codes))
    at = fetch_add(buffer.tally, 0, size)
    if at + size > len(buffer.codes):
        return False
    slot[0] = at
    slot[1] = at + size
    return True


@kernel
def put(writer, position, query, distance):
    """Write the code of a hit, or count the hit where the buffer is full."""
    buffer, slot, queries, factor = writer
    if slot[0] == slot[1] and (slot[2] > 0 or not _take_block(buffer, slot)):
        slot[2] += 1
    else:
        buffer.codes[slot[0]] = encode(position, query, distance, queries, factor)
        slot[0] += 1


@kernel
def give_up(work, writer):
    """Keep all threads from further items once the buffer is full; called after each item."""
    if writer.slot[2] > 0:
        begun = fetch_add(work, 0, work[1])
        if begun < work[1]:
            writer.buffer.tally[2] = begun


@kernel
def leave(buffer, slot):
    """Mark the rest of the thread's block as empty and add its lost hits; called at the end."""
    buffer.codes[slot[0] : slot[1]] = NO_CODE
    fetch_add(buffer.tally, 1, slot[2])
