"""Hit codes (see `kmatch.engine.hits`), and a buffer of which a warp reserves a part at once.

A counter takes one addition per clock. So the threads of a warp that come here together find out by
ballots where the codes of each go, and one of them adds for all.
"""

import threading
from typing import NamedTuple

from numba import int64, uint32

from kmatch.engine.cuda.gpu.driver import SIMULATED, DeviceArray, cuda

BITS = 10  # of `many`: a thread has fewer than 1,024 positions


class HitBuffer(NamedTuple):
    """A buffer of hit codes, in any order, on the GPU.

    codes: int64[c], c the capacity; count: int64[1], 0 before, the number of all hits, which may
    exceed c.
    """

    codes: DeviceArray
    count: DeviceArray


class Coding(NamedTuple):
    """What a hit code of one query needs besides position and distance.

    queries: how many there are; query: its number; factor: k + 1, k the largest of all queries;
    limit: the k of this one.
    """

    queries: int
    query: int
    factor: int
    limit: int


@cuda.jit(device=True)
def encode(position, distance, coding):
    """The code of a hit."""
    return (position * coding.queries + coding.query) * coding.factor + distance


if SIMULATED:  # without ballots
    _alone = threading.Lock()

    def reserve(counts, at, many):
        """Add `many`, below 2^BITS, to counts[at]; returns the count before.

        All threads of a warp that come here together name the same counter.
        """
        with _alone:
            to = int(counts[at])
            counts[at] = to + many
        return to

else:

    @cuda.jit(device=True)
    def reserve(counts, at, many):
        """Add `many`, below 2^BITS, to counts[at]; returns the count before.

        All threads of a warp that come here together name the same counter.
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
