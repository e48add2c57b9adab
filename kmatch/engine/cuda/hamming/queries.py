"""Queries as the GPU's kernels read them: which letters are in the tile in shared memory."""

from typing import NamedTuple

import numpy as np

from kmatch.arrays import Bools, Ints, Longs, Planes, Words
from kmatch.engine.cuda.text.tiles import tile_indices
from kmatch.engine.queries import QueryArrays

THREADS = 64
GROUP = 4  # letters are counted in fours
SHARED_BYTES = 48 * 1024  # of shared memory, which a block may have without asking the driver
NEAREST = 16  # letters that a tile has to reach for its planes to pay
BEYOND_LOOK = 16  # letters that a tile holds beyond the one at which a look pays
ALL_OF_GROUP = np.uint32(0x01010101)  # four bools that are true
ALWAYS = -1  # plane number of letters that fill a group up and match everywhere


class Tile(NamedTuple):
    """The part of the text that a block of threads keeps: words of a row, and rows a thread has."""

    words: int
    depth: int

    @property
    def rows(self) -> int:
        """Rows whose windows the block searches."""
        return THREADS // self.words * self.depth

    @property
    def ones(self) -> int:
        """Words before the tile that match everywhere, one for each that a thread reads."""
        return THREADS * self.depth

    def reach(self, planes: int) -> int:
        """The largest offset of a letter from its window's start in a tile of `planes` planes."""
        rows = (SHARED_BYTES // 8 - self.ones) // self.words
        return rows // planes - self.rows - 1


# The fastest for queries that are decided after a few letters: with no more rows than these need,
# six blocks fit a multiprocessor of an H200, and some copy while others count.
BROAD = Tile(16, 14)
DEEP = Tile(8, 8)  # reaches further, and leaves registers for wider counters


class QueryPlan(NamedTuple):
    """Queries over a tile of `planes` planes and `tile_rows` rows.

    bits: of a counter; ones: words before the tile that match everywhere, 0 unless a letter is
    ALWAYS; letters, shifts: int8[4·G] and int32[4·G], plane numbers or ALWAYS, and offsets from the
    window's start; codes: uint64[G], four letters each, 16 bits a letter: the index of its word in
    shared memory, less the thread's number; steps: int32[Q, 6], groups of four letters: the first,
    and the ends of those counted without a look, of those counted in the tile, of all counted, of
    those required in the tile, and of all; shared_bytes: of a block.
    """

    tile: Tile
    bits: int
    planes: int
    tile_rows: int
    ones: int
    letters: Planes
    shifts: Ints
    codes: Words
    steps: Ints
    shared_bytes: int


def plan_queries(query: QueryArrays, k: int) -> QueryPlan:
    """The QueryPlan of queries that are searched within k."""
    bounds, bits = query.bounds, max(int(k).bit_length(), 1)
    last_unseen = bounds[:, 3] - 1  # counted letters come first, in the order of their offsets
    needed = int(query.shifts[last_unseen[last_unseen >= bounds[:, 0]]].max(initial=0))
    tile, planes, reach = _tile(query, needed, bits)
    tile_rows = tile.rows + reach
    letters, shifts, (begin, exact, end) = _in_groups(query)
    ones = 0 if len(letters) == len(query.planes) else tile.ones
    near = ((letters < planes) & (shifts <= reach)).view(np.uint32) == ALL_OF_GROUP
    at = tile_indices(letters, shifts, tile_rows, tile.words) + np.uint16(ones)
    at[letters == ALWAYS] = 0
    codes = at.view(np.uint64)
    codes[~near] = 0
    counted = np.minimum(_first_far(near, begin), exact)
    required = np.minimum(_first_far(near, exact), end)
    unseen = np.minimum(begin + (bounds[:, 3] - bounds[:, 0]) // GROUP, counted)
    steps = np.stack([begin, unseen, counted, exact, required, end], axis=1).astype(np.int32)
    shared = 8 * (ones + planes * tile_rows * tile.words)
    return QueryPlan(tile, bits, planes, tile_rows, ones, letters, shifts, codes, steps, shared)


def _tile(query: QueryArrays, needed: int, bits: int) -> tuple[Tile, int, int]:
    """The tile for some queries, its planes and its reach, which is at least `needed` if it can."""
    planes = max(int(query.planes.max(initial=0)) + 1, 4)
    furthest = int(query.shifts.max(initial=0))
    if planes == 4 and bits <= 2 and needed <= BROAD.reach(planes):
        return BROAD, planes, needed
    furthest = min(furthest, needed + BEYOND_LOOK)
    if DEEP.reach(planes) < min(furthest, NEAREST):
        planes = 4
    return DEEP, planes, min(furthest, DEEP.reach(planes))


def _in_groups(query: QueryArrays) -> tuple[Planes, Ints, tuple[Longs, Longs, Longs]]:
    """Letters and shifts in whole groups, and where the groups of each query begin.

    These are the first counted ones, the first exact ones, and the ends.
    """
    sizes = np.diff(query.bounds[:, :3], axis=1).reshape(-1)
    ends = np.cumsum(-(-sizes // GROUP))
    begins = ends - -(-sizes // GROUP)
    groups = begins[0::2], begins[1::2], ends[1::2]
    own = np.ones(GROUP * int(ends[-1]), bool)
    for many in range(1, GROUP):  # letters that fill the last group up
        own[GROUP * ends[-sizes % GROUP >= many] - many] = False
    if len(own) == len(query.planes):
        return query.planes, query.shifts, groups
    filled, moved = np.full(len(own), ALWAYS, np.int8), np.zeros(len(own), np.int32)
    filled[own], moved[own] = query.planes, query.shifts
    return filled, moved, groups


def _first_far(near: Bools, begin: Longs) -> Longs:
    """The first group from `begin` on that is not in the tile."""
    far = np.append(np.flatnonzero(~near), len(near))
    return far[np.searchsorted(far, begin)]
