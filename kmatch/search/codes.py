"""Hit codes taken apart, in compiled code: dense chunks hold millions of them."""

from collections.abc import Iterator

from kmatch.arrays import Longs
from kmatch.engine.codes import decode, encode
from kmatch.engine.workers import SLAB, fetch_add, next_item
from kmatch.jit import inlined, kernel

BATCH = 1 << 16  # codes taken apart at a time
SHARED = 1 << 18  # the same where more than two threads do it
LETTERS = 1 << 23  # of alignments that come together
DROPPED = -1  # in place of a query or record


def code_batches(codes: Longs, threads: int = 1, most: int = SHARED) -> Iterator[Longs]:
    """Sorted codes, int64[n], in stretches of `most` that so many threads take apart."""
    batch = min(SHARED if threads > 2 else BATCH, most)
    for first in range(0, len(codes), batch):
        yield codes[first : first + batch]


def rows_at_once(lengths: Longs, aligned: bool) -> int:
    """How many hits of patterns with such lengths come together, which bounds their letters."""
    return max(LETTERS // int(lengths.max()), 1) if aligned else SHARED


@kernel
def last_at(begins, position):
    """The last of the spans that begin at a position or before it, −1 for none.

    np.searchsorted does the same, but to load a kernel that has it imports much of Numba.
    """
    first, end = 0, len(begins)
    while first < end:
        middle = (first + end) // 2
        if begins[middle] <= position:
            first = middle + 1
        else:
            end = middle
    return first - 1


@inlined
def next_at(begins, position, span):
    """As `last_at`, for a position at or behind one that gave `span`."""
    while span + 1 < len(begins) and begins[span + 1] <= position:
        span += 1
    return span


@kernel
def split_windows(work, codes, k, ranks, spans, owned, whole, parts, dropped):
    """Take apart the codes of windows, of which each item of work is a slab.

    codes: int64[n], sorted; ranks: (pattern int32, minus uint8, lengths int64), by rank; spans:
    (begins, lengths), int64, of the records in the chunk; owned: positions of the chunk; whole:
    (start, end, record) int64[n], and parts: (position int64, rank int32, pattern int32, distance
    int32, minus uint8), [n] each, filled here. `record` counts from the first of the spans; it is
    DROPPED for a window that leaves its record or belongs to the next chunk; dropped, int64[1],
    counts these.
    """
    pattern, minus, lengths = ranks
    begins, sizes = spans
    start, end, record = whole
    positions, numbers, patterns, distances, strands = parts
    queries, factor = len(lengths), k + 1
    while True:
        item = next_item(work)
        if item < 0:
            return
        slab = item * SLAB
        position, _, _ = decode(codes[slab], queries, factor)
        left, span = 0, last_at(begins, position)
        for i in range(slab, min(slab + SLAB, len(codes))):
            position, rank, distance = decode(codes[i], queries, factor)
            span = next_at(begins, position, span)
            first = position - begins[span]
            if span < 0 or position >= owned or first + lengths[rank] > sizes[span]:
                record[i] = DROPPED
                left += 1
                continue
            start[i], end[i], record[i] = first, first + lengths[rank], span
            positions[i], numbers[i] = position, rank
            patterns[i], strands[i] = pattern[rank], minus[rank]
            distances[i] = distance
        if left:
            fetch_add(dropped, 0, left)


@kernel
def place_windows(work, codes, coding, sites, queries):
    """Turn codes of sites into those of windows in a chunk; each item of work is a slab.

    codes: int64[n], of a site and a pattern, changed here; those in order stay so; coding:
    (patterns, k + 1); sites: (position int64, minus uint8), where each is and whether it is on the
    second of the strands; queries: of the windows.
    """
    patterns, factor = coding
    position, second = sites
    while True:
        item = next_item(work)
        if item < 0:
            return
        for i in range(item * SLAB, min(item * SLAB + SLAB, len(codes))):
            site, number, distance = decode(codes[i], patterns, factor)
            rank = second[site] * patterns + number
            codes[i] = encode(position[site], rank, distance, queries, factor)


@kernel
def split_ends(work, codes, before, k, backward, spans, owned, ends, dropped):
    """Take apart the codes of anchored ends, of which each item of work is a slab.

    codes: int64[n], sorted, some of them twice; before: the code that precedes them; backward:
    uint8[Q]; spans: as for `split_windows`; owned: (halo, length) of the chunk; ends: (position,
    query, distance), int64[n] each, filled here. An end that came before, is outside of records or
    belongs to another chunk has DROPPED for its query; dropped, int64[1], counts these.
    """
    begins, sizes = spans
    halo, length = owned
    position, query, distance = ends
    queries, factor = len(backward), k + 1
    while True:
        item = next_item(work)
        if item < 0:
            return
        first = item * SLAB
        last = codes[first - 1] if first else before
        at, _, _ = decode(codes[first], queries, factor)
        left, span = 0, last_at(begins, at)
        for i in range(first, min(first + SLAB, len(codes))):
            at, number, apart = decode(codes[i], queries, factor)
            span = next_at(begins, at, span)
            own = 0 if backward[number] else halo
            keep = codes[i] != last and own <= at < own + length
            keep = keep and span >= 0 and at - begins[span] < sizes[span]
            last = codes[i]
            position[i], query[i], distance[i] = at, number if keep else DROPPED, apart
            left += not keep
        if left:
            fetch_add(dropped, 0, left)
