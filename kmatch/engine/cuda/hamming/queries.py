"""Queries as the GPU's kernels read them: which letters a tile in shared memory can answer."""

from typing import NamedTuple

import numpy as np

THREADS = 64
GROUP = 4  # letters are counted in fours
SHARED_BYTES = 48 * 1024  # what a block may have without asking the driver
NEAREST = 16  # a tile that reaches fewer letters is not worth its planes
BEYOND_LOOK = 16  # letters that a tile holds after those at which hardly a window is within k
ALWAYS = -1  # plane number of letters that fill up a group and match everywhere


class Tile(NamedTuple):
    """The part of the text that a block of threads keeps: words of a row, and rows a thread has."""

    words: int
    depth: int

    @property
    def rows(self):
        """Rows whose windows the block searches."""
        return THREADS // self.words * self.depth

    @property
    def ones(self):
        """All-matching words before the tile, one for each that a thread reads."""
        return THREADS * self.depth

    def reach(self, planes):
        """How far behind a window's start a letter may be, with so many planes in the tile."""
        rows = (SHARED_BYTES // 8 - self.ones) // self.words
        return rows // planes - self.rows - 1


# The fastest, for queries that are decided after a few letters: with no more rows than these need,
# six blocks find room in a multiprocessor of an H200, and some copy while others count.
BROAD = Tile(16, 14)
DEEP = Tile(8, 8)  # reaches further, and has registers for wider counters


class QueryPlan(NamedTuple):
    """Queries over a tile of `planes` planes and `tile_rows` rows.

    bits: of a counter; ones: all-matching words before the tile, where any letter is ALWAYS;
    codes: uint64[G], four letters each, 16 bits a letter: where its word is in shared memory, less
    the thread's number; steps: int32[Q, 6], groups of four: begin, end of those counted without
    looking, of those counted in the tile, of all counted, of those required in the tile, of all;
    letters, shifts: int64[4·G], plane numbers or ALWAYS, and offsets from the window's start;
    shared_bytes: of a block.
    """

    tile: Tile
    bits: int
    planes: int
    tile_rows: int
    ones: int
    letters: np.ndarray
    shifts: np.ndarray
    codes: np.ndarray
    steps: np.ndarray
    shared_bytes: int


def plan_queries(query, k):
    """The QueryPlan for QueryArrays, to be searched within k."""
    letters, shifts, bounds, _ = query
    bits = max(int(k).bit_length(), 1)
    looks = bounds[:, 3] - bounds[:, 0]
    before_look = np.arange(len(letters)) < np.repeat(bounds[:, 3], bounds[:, 2] - bounds[:, 0])
    needed = int(shifts[before_look].max(initial=0))
    tile, planes, reach = _tile(letters, shifts, needed, bits)
    tile_rows = tile.rows + reach
    letters, shifts, begin, exact, end = _in_groups(letters, shifts, bounds)
    near = (letters == ALWAYS) | ((letters < planes) & (shifts <= reach))
    ones = tile.ones if (letters == ALWAYS).any() else 0
    near = near.reshape(-1, GROUP).all(axis=1)
    at = ones + (letters * tile_rows + shifts) * tile.words
    at = np.where(np.repeat(near, GROUP) & (letters != ALWAYS), at, 0)
    codes = at.astype("<u2").view("<u8").astype(np.uint64)
    counted = np.minimum(_first_far(near, begin), exact)
    required = np.minimum(_first_far(near, exact), end)
    unseen = np.minimum(begin + looks // GROUP, counted)
    steps = np.stack([begin, unseen, counted, exact, required, end], axis=1).astype(np.int32)
    shared = 8 * (ones + planes * tile_rows * tile.words)
    return QueryPlan(tile, bits, planes, tile_rows, ones, letters, shifts, codes, steps, shared)


def _tile(letters, shifts, needed, bits):
    """A tile, and the planes and the reach it has for such queries, `needed` or more."""
    planes = max(int(letters.max(initial=0)) + 1, 4)
    furthest = int(shifts.max(initial=0))
    if planes == 4 and bits <= 2 and needed <= BROAD.reach(planes):
        return BROAD, planes, needed
    furthest = min(furthest, needed + BEYOND_LOOK)
    if DEEP.reach(planes) < min(furthest, NEAREST):
        planes = 4
    return DEEP, planes, min(furthest, DEEP.reach(planes))


def _in_groups(letters, shifts, bounds):
    """Letters and shifts with parts filled up to whole groups, and where parts' groups begin."""
    sizes = np.diff(bounds[:, :3], axis=1).reshape(-1)
    ends = np.cumsum(-(-sizes // GROUP))
    begins = ends - -(-sizes // GROUP)
    part = np.repeat(np.arange(len(sizes)), sizes)
    source = bounds[:, :2].reshape(-1)
    place = GROUP * begins[part] + np.arange(len(letters)) - source[part]
    filled = np.full(GROUP * int(ends[-1]), ALWAYS, np.int64)
    moved = np.zeros(len(filled), np.int64)
    filled[place], moved[place] = letters, shifts
    return filled, moved, begins[0::2], begins[1::2], ends[1::2]


def _first_far(near, begin):
    """The first group from `begin` on that a tile cannot answer."""
    far = np.append(np.flatnonzero(~near), len(near))
    return far[np.searchsorted(far, begin)]
