"""Buffers for hit codes, which kernels write for the hits that they find in a chunk.

A hit code is an int64, (position·Q + query)·(k + 1) + distance with Q queries, so codes sort by
position, then by query. `kmatch.engine.host.codes` encodes and decodes them on the CPU,
`kmatch.engine.cuda.words` encodes them on a GPU.
"""

from typing import NamedTuple

import numpy as np

from kmatch.arrays import Longs

NO_CODE: int = np.iinfo(np.int64).max  # of an entry that holds no hit


class HitBuffer(NamedTuple):
    """A buffer of which threads take blocks.

    codes: int64[c], c the capacity; tally: int64[3]: codes in the blocks taken, hits that did not
    fit, and the items of work begun when the first of these was found, 0 where all were.
    """

    codes: Longs
    tally: Longs


class Found(NamedTuple):
    """What a kernel found.

    codes: int64[n], sorted; lost: hits that did not fit the buffer; share: of the work that was
    done when the buffer was full, 1 where all was. Below 1 the codes are a sample.
    """

    codes: Longs
    lost: int
    share: float


def make_buffer(capacity: int) -> HitBuffer:
    """A HitBuffer for `capacity` codes; the system grants its memory as it fills."""
    return HitBuffer(np.empty(max(capacity, 1), np.int64), np.zeros(3, np.int64))
