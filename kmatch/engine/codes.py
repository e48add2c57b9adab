"""Hit codes, which kernels write for the hits that they find in a chunk, and their buffers.

A hit code is an int64, (position·Q + query)·(k + 1) + distance with Q queries, so codes sort by
position, then by query.
"""

from typing import Any, NamedTuple

import numpy as np

from kmatch.arrays import Longs

CODES_AT_ONCE = 256  # in the block that a thread takes
NO_CODE: int = np.iinfo(np.int64).max  # of an entry that holds no hit


class HitBuffer(NamedTuple):
    """A buffer that threads fill block by block.

    codes: int64[c], c the capacity; tally: int64[3]: codes in the blocks taken, hits that did not
    fit, and the items of work begun when the first of these was found, 0 where all were.
    """

    codes: Longs
    tally: Longs


class Found(NamedTuple):
    """The hits that a kernel found.

    codes: int64[n], sorted; lost: hits that did not fit the buffer; share: of the work that was
    done when the buffer was full, 1 where all was done; 0 is a look-up that gave its chunk up,
    since too much of it has to be compared.
    """

    codes: Longs
    lost: int
    share: float


def found_in(codes: Longs, lost: int, share: float) -> Found:
    """Return a Found of codes in any order, int64[n], which are sorted in place; NO_CODE is left
    out.

    lost: hits beside them.
    """
    codes.sort()
    return Found(codes[: np.searchsorted(codes, NO_CODE)], lost, share)


def encode(position: Any, query: Any, distance: Any, queries: int, factor: int) -> Any:
    """Return the code of a hit of one of `queries` queries; factor: k + 1. Kernels inline it."""
    return (position * queries + query) * factor + distance


def marked(k: int) -> int:
    """Return the largest distance in codes of ends within k: one on a plateau before which, in
    reading direction, D is lower may be marked by k + 1 more than its distance. Kernels inline
    it."""
    return 2 * k + 1


class Coding(NamedTuple):
    """How hits of `queries` queries within k are encoded, for arrays of codes."""

    queries: int
    k: int

    def encode(self, position: Longs, query: Longs | int, distance: Longs) -> Longs:
        """Hit codes, int64[n]."""
        return encode(position, query, distance, self.queries, self.k + 1)

    def decode(self, codes: Longs) -> tuple[Longs, Longs, Longs]:
        """Return (position, query, distance) of hit codes, int64[n] each."""
        rest = codes // (self.k + 1)
        position = rest // self.queries
        return position, rest - position * self.queries, codes - rest * (self.k + 1)
