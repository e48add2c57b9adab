"""Hit codes taken apart, in compiled code: dense chunks hold millions of them."""

from collections.abc import Iterator

from kmatch.arrays import Longs
from kmatch.engine.host.codes import decode
from kmatch.jit import kernel

BATCH = 1 << 16  # codes taken apart at a time


def code_batches(codes: Longs) -> Iterator[Longs]:
    """Sorted codes, int64[n], in stretches of up to BATCH."""
    for first in range(0, len(codes), BATCH):
        yield codes[first : first + BATCH]


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


@kernel
def split_windows(codes, k, ranks, spans, owned, whole, parts):
    """Take apart the codes of windows; returns how many are kept.

    codes: int64[n], sorted; ranks: (pattern int32, minus uint8, lengths int64), by rank; spans:
    (begins, lengths), int64, of the records in the chunk; owned: positions of the chunk; whole:
    (start, end, record) int64[n], and parts: (position int64, rank int32, pattern int32, distance
    int32, minus uint8), [n] each, filled here. Windows that leave their record, or that belong to
    the next chunk, are left out. `record` counts from the first of the spans.
    """
    pattern, minus, lengths = ranks
    begins, sizes = spans
    start, end, record = whole
    positions, numbers, patterns, distances, strands = parts
    queries, factor = len(lengths), k + 1
    first_position, _, _ = decode(codes[0], queries, factor)
    count, span = 0, last_at(begins, first_position)
    for i in range(len(codes)):
        position, rank, distance = decode(codes[i], queries, factor)
        while span + 1 < len(begins) and begins[span + 1] <= position:
            span += 1
        if span < 0 or position >= owned:
            continue
        first = position - begins[span]
        if first + lengths[rank] > sizes[span]:
            continue
        start[count], end[count], record[count] = first, first + lengths[rank], span
        positions[count], numbers[count] = position, rank
        patterns[count], strands[count] = pattern[rank], minus[rank]
        distances[count] = distance
        count += 1
    return count


@kernel
def split_ends(codes, before, k, backward, spans, owned, ends):
    """Take apart the codes of anchored ends; returns how many are kept.

    codes: int64[n], sorted, some of them twice; before: the code that precedes them; backward:
    uint8[Q]; spans: as for `split_windows`; owned: (halo, length) of the chunk; ends: (position,
    query, distance), int64[n] each, filled here. Ends outside of records, or that belong to another
    chunk, are left out.
    """
    begins, sizes = spans
    halo, length = owned
    position, query, distance = ends
    queries, factor = len(backward), k + 1
    first_position, _, _ = decode(codes[0], queries, factor)
    count, span = 0, last_at(begins, first_position)
    for i in range(len(codes)):
        if codes[i] == before:
            continue
        before = codes[i]
        at, number, apart = decode(codes[i], queries, factor)
        while span + 1 < len(begins) and begins[span + 1] <= at:
            span += 1
        if span < 0 or at - begins[span] >= sizes[span]:
            continue
        first = 0 if backward[number] else halo
        if at < first or at >= first + length:
            continue
        position[count], query[count] = at, number
        distance[count] = apart
        count += 1
    return count
