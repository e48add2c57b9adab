"""Anchored ends: minima among them, what stands beside them, and tracebacks, which find other ends
and the columns of alignments.

Where k alone bounds an alignment, how far a diagonal of the matrix of pattern × text leads with e
differences follows from its neighbours with e − 1 (Landau and Vishkin 1989, from the far end on),
and decides each step. With as many mismatches on the main diagonal as differences in all, that
diagonal is the alignment.

Where constraints bind, the matrix has a column for each state (see States) instead of each text
letter: a state and the pattern letters used so far determine the next text letter.

A diagonal step is preferred to a deletion, and a deletion to an insertion, from the anchor on.
"""

import numpy as np

from kmatch.engine.cpu.hits import next_item
from kmatch.engine.cpu.vectors import NONE, bits_alike, highest, pointer
from kmatch.engine.letters import read_view
from kmatch.engine.types import (
    COLUMN_BITS,
    COMPLEMENT,
    KIND_BITS,
    KINDS,
    LETTERS,
    MATCH,
    MISMATCH,
    SKIP_PATTERN,
    SKIP_TEXT,
)
from kmatch.engine.workers import SLAB
from kmatch.jit.kernels import inlined, kernel

NEVER = np.int64(1 << 40)
READ_AS = np.stack([LETTERS, LETTERS[COMPLEMENT]])  # by strand and mask


@inlined
def longest(begins):
    """The largest distance between neighbours in an array that never decreases."""
    most = 0
    for i in range(1, len(begins)):
        most = max(most, begins[i] - begins[i - 1])
    return most


@kernel
def _pam_beside(view, constraints, query, position, step, letters):
    """How many letters the first PAM that is beside an anchor has, 0 where there is none.

    letters: uint8[≥ w], overwritten with those beside it, from the anchor outwards.
    """
    pams, sizes = constraints.pams[constraints.minus[query]], constraints.sizes
    read_view(view, position - step, -step, pams.shape[1], letters)
    for number, size in enumerate(sizes):
        i = 0
        while i < size and pams[number, i] & letters[i]:
            i += 1
        if i == size:
            return size
    return 0


@inlined
def _read_pattern(search, query, pattern):
    """Write the masks of a pattern from its anchored end on to `pattern`; returns how many."""
    letters, begins, _, bases = search.reading
    begin, end = begins[query], begins[query + 1]
    for i in range(end - begin):
        pattern[i] = bases[letters[end - 1 - i]]
    return end - begin


@inlined
def _put(out, to, column, item):
    """Write a step or a letter; to: (index, step): where the first from the anchor on goes, and how
    far those behind it are apart."""
    out[to[0] + to[1] * column] = item


@inlined
def _differ(ops, to, marks, number, column, kind):
    """Write the step of a difference, and note it by its number; kind: which of KINDS."""
    _put(ops, to, column, KINDS[kind])
    marks[number] = column << KIND_BITS | kind


@inlined
def _packed(marks, many, count, wide, leads):
    """An alignment of `count` columns, and `wide` letters beside it, as a number (see KINDS);
    marks: its differences, so many from the anchor on."""
    code = 0
    for i in range(many):
        mark = marks[many - 1 - i if leads else i]
        column, kind = mark >> KIND_BITS, mark & ((1 << KIND_BITS) - 1)
        column = wide + column if leads else count - 1 - column
        code = (code << COLUMN_BITS | column) << KIND_BITS | kind
    return code << COLUMN_BITS | (count + wide)


@inlined
def _descend(words, at, row):
    """The row behind the last one before `row` whose bit is set from words[at] on, 0 for none."""
    while row > 0:
        left = words[at + ((row - 1) >> 6)] << np.uint64(-row & 63)
        if left != NONE:
            return row - 63 + highest(left)
        row = (row - 1) & ~63
    return 0


@kernel
def _fill_reached(pattern, m, text, shown, distance, memory):
    """Fill `reached`, at e·(2·distance + 1) + distance + o: the most pattern letters, counted from
    the far end, that e differences suffice for on the diagonal that o more text letters than others
    lead to; negative where the text has too few. Arguments as for `_walk_freely`."""
    reached, differ = memory
    across, blocks = 2 * distance + 1, (m + 63) >> 6
    for d in range(across):
        for b in range(blocks):
            differ[d * blocks + b] = ~bits_alike(pattern, 64 * b, text, 64 * b + d - distance)
    for e in range(distance):
        for d in range(e, 2 * distance - e + 1):
            shift = m + d - distance
            row = 0 if shift <= shown else -NEVER
            if e > 0:
                at = (e - 1) * across + d
                row = min(max(reached[at] + 1, reached[at + 1], reached[at - 1] + 1), m)
            if row >= 0:
                row = m - _descend(differ, d * blocks, m - row)
            reached[e * across + d] = row


@kernel
def _walk_freely(pattern, m, text, shown, distance, memory, ops, to, marks):
    """Write the steps of the best alignment from its anchor on; returns (text letters, columns).

    pattern, text: pointers to m and to `shown` masks, from the anchor on, and others behind them,
    and before the text; memory: pointers to int64 and uint64; ops, to: see `_put`, with matches
    everywhere; marks: a pointer, see `_differ`.
    """
    differ = 0 if shown >= m else m
    for i in range(min(m, shown)):
        differ += pattern[i] & text[i] == 0
    if differ == distance:  # nothing is to be gained by gaps
        differ = 0
        for i in range(m):
            if pattern[i] & text[i] == 0:
                _differ(ops, to, marks, differ, i, 1)
                differ += 1
        return m, m
    _fill_reached(pattern, m, text, shown, distance, memory)
    reached = memory[0]
    i = at = column = 0  # letters used, of the pattern and of the text
    for e in range(distance - 1, -2, -1):
        while i < m and at < shown and pattern[i] & text[at]:
            i, at, column = i + 1, at + 1, column + 1
        if i == m:
            return at, column
        if e < 0:
            break
        rest, beside = m - i, e * (2 * distance + 1) + distance + at - i
        if at < shown and reached[beside] >= rest - 1:
            _differ(ops, to, marks, distance - 1 - e, column, 1)
            i, at = i + 1, at + 1
        elif at < shown and reached[beside + 1] >= rest:
            _differ(ops, to, marks, distance - 1 - e, column, 3)
            at += 1
        elif reached[beside - 1] >= rest - 1:
            _differ(ops, to, marks, distance - 1 - e, column, 2)
            i += 1
        else:
            break
        column += 1
    for row in range(m):
        _put(ops, to, row, SKIP_PATTERN)  # the text is not what the distance was found in
    return 0, m


@inlined
def is_bound(constraints):
    """Whether constraints bind the alignments within k."""
    return constraints.near > 0 or constraints.far > 0 or constraints.states.apart


@inlined
def _is_exact(near, far, i, m):
    return i < near or i >= m - far


@inlined
def _has_gap(near, far, i, m):
    """Whether text may be skipped once i pattern letters are used."""
    return i < m and not (near > 0 and i <= near) and not (far > 0 and i >= m - far)


@kernel
def _fill_spare(constraints, pattern, text, total, spare):
    """Fill spare[i, s]: an alignment that has come to state s with i letters, and at no more cost
    beside its state than that, can be finished within the total and all bounds.

    spare: int64[m + 1, S], negative where none can. Returns whether there is an alignment.
    """
    offset, inserted, deleted, cost, start, gap, _ = constraints.states
    near, far, bound = constraints.near, constraints.far, constraints.mismatches
    m, length, many = len(pattern), len(text), len(offset)
    for s in range(many):
        inside = 0 <= m + offset[s] <= length
        spare[m, s] = min(bound, total - cost[s]) if inside else -NEVER
    for i in range(m - 1, -1, -1):
        mask, exact, fits = pattern[i], _is_exact(near, far, i, m), _has_gap(near, far, i, m)
        for s in range(many - 1, -1, -1):
            at, most = i + offset[s], -NEVER
            if 0 <= at < length:
                same = (mask & text[at]) != 0
                if same or not exact:
                    most = spare[i + 1, s] - (not same)
                if fits and deleted[s] >= 0:
                    most = max(most, spare[i, deleted[s]] - gap)
            if 0 <= at <= length and not exact and inserted[s] >= 0:
                most = max(most, spare[i + 1, inserted[s]] - gap)
            spare[i, s] = most
    return spare[0, start] >= 0


@kernel
def _walk_within(constraints, pattern, text, spare, ops, to):
    """Write the steps of an alignment from its anchor on; returns (text letters, columns).

    spare: as `_fill_spare` fills it; ops, to: see `_put`.
    """
    offset, inserted, deleted, _, s, gap, _ = constraints.states
    near, far = constraints.near, constraints.far
    m, length = len(pattern), len(text)
    i = count = spent = 0
    while i < m:
        at, skipped = i + offset[s], deleted[s]
        inside = at < length
        same = inside and (pattern[i] & text[at]) != 0
        diagonal = same or (inside and not _is_exact(near, far, i, m))
        if diagonal and spent + (not same) <= spare[i + 1, s]:
            _put(ops, to, count, MATCH if same else MISMATCH)
            spent += not same
            i += 1
        elif (
            inside
            and skipped >= 0
            and _has_gap(near, far, i, m)
            and spent + gap <= spare[i, skipped]
        ):
            _put(ops, to, count, SKIP_TEXT)
            spent += gap
            s = skipped
        else:
            _put(ops, to, count, SKIP_PATTERN)
            spent += gap
            i, s = i + 1, inserted[s]
        count += 1
    return m + offset[s], count


@kernel
def keep_ends(work, view, search, constraints, ends):
    """Replace the distances of Ends by those of alignments within constraints, −1 where none is
    within the query's limit, or no PAM stands beside the anchor.

    work: see `slabs`; view: View; search: DifferenceQuery.
    """
    positions, queries, distances, limits = ends
    rows, near = longest(search.reading.begins), constraints.near
    beside = np.empty(constraints.pams.shape[2], np.uint8)
    pattern, letters = np.empty(rows, np.uint8), np.empty(rows + search.k, np.uint8)
    bound, states = is_bound(constraints), len(constraints.states.offset)
    spare = np.empty((rows + 1 if bound else 0, states), np.int64)
    slab = next_item(work)
    while slab >= 0:
        for h in range(slab * SLAB, min((slab + 1) * SLAB, len(positions))):
            query, position = queries[h], positions[h]
            step = 1 if search.reading.backward[query] else -1
            anywhere = len(constraints.sizes) == 0
            if not (anywhere or _pam_beside(view, constraints, query, position, step, beside)):
                distances[h] = -1
            if not bound or distances[h] < 0:
                continue
            k, wanted = search.limits[query], pattern[: _read_pattern(search, query, pattern)]
            text = letters[: min(len(wanted) + k, (limits[h] - position) * step + 1)]
            read_view(view, position, step, len(text), text)
            for i in range(min(near, len(text))):
                if not (wanted[i] & text[i]):
                    distances[h] = -1
            while distances[h] >= 0:
                if _fill_spare(constraints, wanted, text, distances[h], spare):
                    break
                distances[h] = distances[h] + 1 if distances[h] < k else -1
        slab = next_item(work)


@kernel
def trace(work, view, search, constraints, ends, found, columns):
    """Find where the hit of each of some Ends starts and ends, and write alignments if asked for.

    found: (start, end, size, edits) int64[n], filled here, size being the number of columns, edits
    the alignment as a number (see KINDS), empty where k does not alone bound it; columns: (bounds
    int64[n+1], ops, text), uint8: what is between two bounds is filled with one alignment and its
    text, from the anchor on, be that at the first bound or at the second; empty bounds ask for
    none. Other arguments as for `keep_ends`.
    """
    positions, queries, distances, limits = ends
    starts, stops, sizes, edits = found
    bounds, ops, out = columns
    begins, backward = search.reading.begins, search.reading.backward
    rows, k, leads, aligned = longest(begins), search.k, constraints.leads, len(bounds) > 0
    bound, states = is_bound(constraints), len(constraints.states.offset)
    beside, pattern = np.empty(constraints.pams.shape[2], np.uint8), np.empty(rows + 64, np.uint8)
    spare = np.empty((rows + 1 if bound else 0, states), np.int64)
    letters, steps = np.empty(rows + 2 * k + 64, np.uint8), np.empty(2 * rows + k, np.uint8)
    reached, marks = np.empty(k * (2 * k + 1), np.int64), np.empty(k, np.int64)
    differ = np.empty((2 * k + 1) * ((rows + 63) >> 6), np.uint64)
    slab = next_item(work)
    while slab >= 0:
        # Pointers are taken inside the loop, whose next turn keeps their arrays alive.
        wanted, text = pointer(pattern, 0), pointer(letters, k)
        memory, noted = (pointer(reached, 0), pointer(differ, 0)), pointer(marks, 0)
        for h in range(slab * SLAB, min((slab + 1) * SLAB, len(positions))):
            query, position, distance = queries[h], positions[h], distances[h]
            step, minus = 1 if backward[query] else -1, constraints.minus[query]
            m = begins[query + 1] - begins[query]
            shown = min(m + distance, (limits[h] - position) * step + 1)
            wide = 0
            if len(constraints.sizes) > 0:
                wide = _pam_beside(view, constraints, query, position, step, beside)
            here, to = pointer(steps, 0), (0, 1)
            if aligned:
                here = pointer(ops, 0)
                for i in range(bounds[h], bounds[h + 1]):
                    here[i] = MATCH
                to = (bounds[h] + wide, 1) if leads else (bounds[h + 1] - 1 - wide, -1)
            used = count = m
            if aligned or bound or distance > 0:
                _read_pattern(search, query, wanted)
                read_view(view, position, step, shown, text)
            if bound:
                within = pattern[:m], letters[k : k + shown]
                _fill_spare(constraints, *within, distance, spare)
                used, count = _walk_within(constraints, *within, spare, here, to)
            elif distance > 0:
                given = wanted, m, text, shown, distance, memory, here, to, noted
                used, count = _walk_freely(*given)
            first, last = position - step * wide, position + step * (used - 1)
            starts[h], stops[h], sizes[h] = min(first, last), max(first, last) + 1, count + wide
            if len(edits) > 0:
                edits[h] = _packed(noted, distance, count, wide, leads)
            if aligned:
                for i in range(used):
                    _put(out, to, i, READ_AS[minus, text[i]])
                for i in range(wide):
                    _put(out, to, -1 - i, READ_AS[minus, beside[i]])
        slab = next_item(work)


@inlined
def _note_minimum(plateau, backward, q, out, many):
    """Write the plateau of a query as minimum number `many`; returns how many there are then."""
    out[0, many], out[2, many] = q, plateau.height
    out[1, many] = plateau.first if backward[q] else plateau.last
    return many + 1


@kernel
def feed_plateaus(backward, plateaus, apart, ends, seen, out):
    """Take ends, and write the minima that are certain then to the three rows of `out`, of n + Q
    numbers; returns how many there are.

    backward: uint8[Q]; plateaus: PLATEAU[Q]; apart: see `Plateaus`; ends: (query, coordinate,
    distance), int64[n] each; seen: see `Plateaus.feed`.
    """
    query, coordinate, distance = ends
    many = 0
    for i in range(len(query)):
        q, at, d = query[i], coordinate[i], distance[i]
        plateau, rose = plateaus[q], d >= apart
        d -= apart * rose
        beside = plateau.is_open and plateau.last + 1 == at
        if beside and d == plateau.height:
            plateau.last = at
            plateau.fell &= not rose
            continue
        if plateau.is_open and plateau.fell and not (beside and d < plateau.height):
            many = _note_minimum(plateau, backward, q, out, many)
        plateau.fell = not (rose or (beside and d > plateau.height))
        plateau.is_open, plateau.first, plateau.last, plateau.height = 1, at, at, d
    for q in range(len(plateaus)):
        plateau = plateaus[q]
        if plateau.is_open and plateau.last + 1 < seen:
            plateau.is_open = 0
            if plateau.fell:
                many = _note_minimum(plateau, backward, q, out, many)
    return many
