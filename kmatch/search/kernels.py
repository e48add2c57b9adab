"""Codes of windows taken apart, and minima among ends, of which dense chunks have millions."""

from kmatch.engine import codes as plain
from kmatch.engine.codes import DROPPED
from kmatch.engine.workers import SLAB
from kmatch.engine.workers_kernels import fetch_add, next_item
from kmatch.jit.kernels import inlined, kernel

decode = inlined(plain.decode)


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
    (start, end, record) int64[n], and parts: (position int64, pattern int32, distance int32, minus
    uint8), [n] each, filled here. `record` counts from the first of the spans; it is
    DROPPED for a window that leaves its record or belongs to the next chunk; dropped, int64[1],
    counts these.
    """
    pattern, minus, lengths = ranks
    begins, sizes = spans
    start, end, record = whole
    positions, patterns, distances, strands = parts
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
            positions[i], distances[i] = position, distance
            patterns[i], strands[i] = pattern[rank], minus[rank]
        if left:
            fetch_add(dropped, 0, left)


@inlined
def _note_minimum(state, q, out, many):
    """Write the plateau of a query as minimum number `many`; returns how many there are then."""
    plateau = state.plateaus[q]
    out[0, many], out[2, many] = q, plateau.height
    out[1, many] = plateau.first if state.backward[q] else plateau.last
    return many + 1


@kernel
def feed_plateaus(state, ends, stops, out):
    """Take ends, and write the minima that are certain then to the three rows of `out`, of n + Q
    numbers; returns how many there are.

    state: State; ends: (query, coordinate, distance), int64[n] each; stops: (forward, backward),
    see `Plateaus.feed`.
    """
    query, coordinate, distance = ends
    plateaus, many = state.plateaus, 0
    for i in range(len(query)):
        q, at, d = query[i], coordinate[i], distance[i]
        plateau = plateaus[q]
        beside = plateau.is_open and plateau.last + 1 == at
        if beside and d == plateau.height:
            plateau.last = at
            continue
        if plateau.is_open and plateau.fell and not (beside and d < plateau.height):
            many = _note_minimum(state, q, out, many)
        plateau.fell = not (beside and d > plateau.height)
        plateau.is_open, plateau.first, plateau.last, plateau.height = 1, at, at, d
    for q in range(len(plateaus)):
        plateau = plateaus[q]
        if plateau.is_open and plateau.last + 1 < stops[state.backward[q]]:
            plateau.is_open = 0
            if plateau.fell:
                many = _note_minimum(state, q, out, many)
    return many
