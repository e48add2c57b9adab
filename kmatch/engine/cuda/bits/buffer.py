"""Memory for hit codes, which a warp takes at once.

A counter that every thread adds to takes one addition a clock. The threads of a warp that come here
together agree by ballots where each one's codes go, and one of them adds for all.
"""

import threading
from typing import Any, NamedTuple

from numba import int64, uint32

from kmatch.engine.cuda.gpu.driver import SIMULATED, cuda

BITS = 10  # of `many`; threads have fewer positions than 1,024


class HitBuffer(NamedTuple):
    """Where hit codes go, in any order, on the GPU.

    codes: int64[c]; count: int64[1], 0 before, of all hits, which may be more than c.
    """

    codes: Any
    count: Any


class Coding(NamedTuple):
    """What makes a hit code of a position and a distance, (position·queries + query)·factor +
    distance, and the limit of the query's distances."""

    queries: int
    query: int
    factor: int
    limit: int


if SIMULATED:  # which knows no ballots
    _alone = threading.Lock()

    def reserve(counts, at, many):
        """Add `many`, below 2^BITS, to counts[at]; returns what was there before.

        All threads of a warp that come together name the same counter.
        """
        with _alone:
            to = int(counts[at])
            counts[at] = to + many
        return to

else:

    @cuda.jit(device=True)
    def reserve(counts, at, many):
        """Add `many`, below 2^BITS, to counts[at]; returns what was there before.

        All threads of a warp that come together name the same counter.
        """
        threads = cuda.activemask()
        earlier = threads & ((uint32(1) << cuda.laneid) - uint32(1))
        before = total = 0
        for b in range(BITS):
            those = cuda.ballot_sync(threads, (many >> b) & 1)
            before += int64(cuda.popc(those & earlier)) << b
            total += int64(cuda.popc(those)) << b
        to = 0
        if earlier == 0:
            to = cuda.atomic.add(counts, at, total)
        return cuda.shfl_sync(threads, to, cuda.ffs(threads) - 1) + before
