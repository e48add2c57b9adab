"""Hit codes taken apart, minima among ends, and rows of hits that wait, of which dense chunks have
millions."""

from kmatch.engine import codes as plain
from kmatch.engine.codes import DROPPED
from kmatch.engine.workers import SLAB
from kmatch.engine.workers_kernels import fetch_add, next_item
from kmatch.jit.kernels import inlined, kernel

encode, decode = inlined(plain.encode), inlined(plain.decode)


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


@kernel
def fill_columns(rows, base, spans, panel, intervals, kinds):
    """Columns of hits from rows of one chunk, whose first letter has the coordinate `base`.

    spans: (begins, lengths) of its records; panel: (pattern int32, minus uint8), by query;
    intervals: (record, start, end), int64[n], and kinds: (pattern int32, distance int32, minus
    uint8), [n] each, filled here. `record` counts from the first of the spans.
    """
    begins = spans[0]
    record, start, end = intervals
    pattern, distance, minus = kinds
    span = last_at(begins, rows[0]["anchor"] - base)
    for i in range(len(rows)):
        row = rows[i]
        position = row["anchor"] - base
        span = next_at(begins, position, span)
        while begins[span] > position:
            span -= 1
        record[i] = span
        start[i] = row["start"] - base - begins[span]
        end[i] = row["end"] - base - begins[span]
        pattern[i], minus[i] = panel[0][row["query"]], panel[1][row["query"]]
        distance[i] = row["distance"]


@inlined
def _note_minimum(state, q, out, many):
    """Write the plateau of a query as minimum number `many`; returns how many there are then."""
    plateau = state.plateaus[q]
    out[0, many], out[2, many] = q, plateau.height
    out[1, many] = plateau.first if state.backward[q] else plateau.last
    return many + 1


@kernel
def feed_plateaus(work, state, ends, stops, out, counts):
    """Take ends, and write the minima that are certain then.

    Each item of work takes the ends of as many queries, which no other item looks at, and fills its
    three rows of `out`, of n + Q numbers, and its number in `counts`; state: State; ends: (query,
    coordinate, distance), int64[n] each; stops: (forward, backward), see `Plateaus.feed`.
    """
    groups, queries = work[1], len(state.plateaus)
    group = next_item(work)
    while group >= 0:
        begin, end = group * queries // groups, (group + 1) * queries // groups
        counts[group] = _feed_some(begin, end, state, ends, stops, out[3 * group : 3 * group + 3])
        group = next_item(work)


@kernel
def _feed_some(begin, end, state, ends, stops, out):
    """The same for the queries begin … end−1; returns how many minima there are."""
    query, coordinate, distance = ends
    plateaus, many = state.plateaus, 0
    for i in range(len(query)):
        q = query[i]
        if q < begin or q >= end:
            continue
        at, d, plateau = coordinate[i], distance[i], plateaus[q]
        beside = plateau.is_open and plateau.last + 1 == at
        if beside and d == plateau.height:
            plateau.last = at
            continue
        if plateau.is_open and plateau.fell and not (beside and d < plateau.height):
            many = _note_minimum(state, q, out, many)
        plateau.fell = not (beside and d > plateau.height)
        plateau.is_open, plateau.first, plateau.last, plateau.height = 1, at, at, d
    for q in range(begin, end):
        plateau = plateaus[q]
        if plateau.is_open and plateau.last + 1 < stops[state.backward[q]]:
            plateau.is_open = 0
            if plateau.fell:
                many = _note_minimum(state, q, out, many)
    return many


@kernel
def _stands_before(minus, one, other):
    """Whether a hit stands for a chain rather than another one: the smaller distance, then the
    smaller start, end and anchor, in this order, on the strand `-` the larger end, start and
    anchor. Beside PAMs of several lengths hits may have both ends in common, never their anchors.
    """
    if one.distance != other.distance:
        return one.distance < other.distance
    if minus:
        return (other.end, other.start, other.anchor) < (one.end, one.start, one.anchor)
    return (one.start, one.end, one.anchor) < (other.start, other.end, other.anchor)


@kernel
def join_chains(minus, rows, standing):
    """Join chains of overlapping hits of a query.

    minus: uint8[Q], whether a query is on the strand `-`; rows: ROW[n], sorted by query and first;
    standing: bool[n], receives which hit stands for a chain, whose first and reach become those of
    the chain.
    """
    begin = 0
    while begin < len(rows):
        first, best, stop = rows[begin], begin, begin + 1
        furthest = first.reach
        while stop < len(rows) and rows[stop].query == first.query and rows[stop].first < furthest:
            furthest = max(furthest, rows[stop].reach)
            if _stands_before(minus[first.query], rows[stop], rows[best]):
                best = stop
            stop += 1
        standing[begin:stop] = False
        standing[best] = True
        rows[best].first, rows[best].reach = first.first, furthest
        begin = stop
