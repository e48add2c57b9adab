"""Alignments that keep to constraints, from their anchors on.

An alignment is followed from its anchored end, so that a state (see States) and the pattern letters
used so far determine the next text letter; the matrix has a column for each state, not for each
text letter.
"""

import numpy as np

from kmatch.engine.host.alignments import MATCH, MISMATCH, SKIP_PATTERN, SKIP_TEXT
from kmatch.engine.host.extremes import largest, longest
from kmatch.engine.host.letters import COMPLEMENT, LETTERS
from kmatch.engine.host.pams import NO_PAM, letter_at, pam_at, read_view
from kmatch.engine.host.sharing import SLAB, next_item
from kmatch.engine.host.tracing.trace import matrix_words, walk_back
from kmatch.jit import kernel

NEVER = np.int64(1 << 40)


@kernel
def _has_gap(constraints, i, m):
    """Whether text may be skipped once i pattern letters are used."""
    near, far = constraints.near, constraints.far
    return i < m and not (near > 0 and i <= near) and not (far > 0 and i >= m - far)


@kernel
def _is_exact(constraints, i, m):
    return i < constraints.near or i >= m - constraints.far


@kernel
def _skip_text(states, fits, used, length, row):
    """Deletions within a row of the matrix."""
    if not fits:
        return
    for s in range(len(row)):
        to = states.deleted[s]
        if to >= 0 and row[s] < NEVER and used + states.offset[to] <= length:
            row[to] = min(row[to], row[s] + states.gap)


@kernel
def _smallest_total(search, constraints, query, text, rows, limit):
    """The smallest cost of an alignment that keeps to the constraints, NEVER above the limit.

    text: uint8, the letters from the anchored end on; rows: int64[2, S], overwritten.
    """
    states, most = constraints.states, constraints.mismatches
    begins = search.reading.begins
    m, length = begins[query + 1] - begins[query], len(text)
    row, below = rows[0], rows[1]
    row[:] = NEVER
    row[states.start] = 0
    _skip_text(states, _has_gap(constraints, 0, m), 0, length, row)
    for i in range(m):
        mask, exact = letter_at(search, query, i), _is_exact(constraints, i, m)
        below[:] = NEVER
        alive = False
        for s in range(len(row)):
            here = row[s]
            if here == NEVER:
                continue
            at = i + states.offset[s]
            if 0 <= at < length:
                same = (mask & text[at]) != 0
                if same or not exact:
                    below[s] = min(below[s], here if same else here + 1)
            to = states.inserted[s]
            if to >= 0 and not exact and i + 1 + states.offset[to] >= 0:
                below[to] = min(below[to], here + states.gap)
        for s in range(len(row)):
            if below[s] > most or below[s] + states.cost[s] > limit:
                below[s] = NEVER
            alive = alive or below[s] < NEVER
        if not alive:
            return NEVER
        _skip_text(states, _has_gap(constraints, i + 1, m), i + 1, length, below)
        row, below = below, row
    best = NEVER
    for s in range(len(row)):
        best = min(best, row[s] + states.cost[s])
    return best if best <= limit else NEVER


@kernel
def constrained_distances(work, view, search, constraints, ends):
    """Put the cost of the best alignment that keeps to the constraints in ends.distance, or −1.

    work: see `slabs`; ends: Ends; other arguments as for `stand_beside`.
    """
    positions, queries, distances, limits = ends
    states = constraints.states
    out = np.empty(longest(search.reading.begins) + largest(states.offset), np.uint8)
    rows = np.empty((2, len(states.offset)), np.int64)
    slab = next_item(work)
    while slab >= 0:
        for h in range(slab * SLAB, min((slab + 1) * SLAB, len(positions))):
            query, position = queries[h], positions[h]
            step = 1 if search.reading.backward[query] else -1
            length = min(len(out), (limits[h] - position) * step + 1)
            text = out[:length]
            read_view(view, position, step, length, text)
            limit = search.limits[query]
            total = _smallest_total(search, constraints, query, text, rows, limit)
            distances[h] = total if total < NEVER else -1
        slab = next_item(work)


@kernel
def _fill_back(search, constraints, query, text, goal, matrix):
    """Fill matrix[i, s] with the smallest cost from state s, with i letters used, to a goal.

    goal: the last state, or −1 for any.
    """
    states = constraints.states
    begins = search.reading.begins
    m, length = begins[query + 1] - begins[query], len(text)
    many = len(states.offset)
    for i in range(m, -1, -1):
        fits = _has_gap(constraints, i, m)
        mask, exact = np.uint8(0), False
        if i < m:
            mask, exact = letter_at(search, query, i), _is_exact(constraints, i, m)
        for s in range(many - 1, -1, -1):
            at, least = i + states.offset[s], NEVER
            if at < 0 or at > length:
                matrix[i, s] = NEVER
                continue
            if i == m:
                matrix[i, s] = 0 if goal < 0 or goal == s else NEVER
                continue
            if at < length:
                same = (mask & text[at]) != 0
                if same or not exact:
                    least = matrix[i + 1, s] + (not same)
                to = states.deleted[s]
                if fits and to >= 0:
                    least = min(least, matrix[i, to] + states.gap)
            to = states.inserted[s]
            if to >= 0 and not exact:
                least = min(least, matrix[i + 1, to] + states.gap)
            matrix[i, s] = min(least, NEVER)


@kernel
def _walk_out(search, constraints, query, text, left, matrix, ops):
    """Write steps from the anchor whose total cost is `left`; returns (text letters, columns).

    A diagonal step is preferred to a deletion, and a deletion to an insertion.
    """
    states = constraints.states
    begins = search.reading.begins
    m, length = begins[query + 1] - begins[query], len(text)
    i, s, count = 0, states.start, 0
    while i < m:
        at, to = i + states.offset[s], states.deleted[s]
        exact = _is_exact(constraints, i, m)
        same = at < length and (letter_at(search, query, i) & text[at]) != 0
        if at < length and (same or not exact) and matrix[i + 1, s] + (not same) <= left:
            ops[count] = MATCH if same else MISMATCH
            left -= not same
            i += 1
        elif (
            at < length
            and to >= 0
            and _has_gap(constraints, i, m)
            and matrix[i, to] + states.gap <= left
        ):
            ops[count] = SKIP_TEXT
            left -= states.gap
            s = to
        else:
            ops[count] = SKIP_PATTERN
            left -= states.gap
            i, s = i + 1, states.inserted[s]
        count += 1
    return m + states.offset[s], count


@kernel
def _comes_before(ops, count, others, many):
    """Whether an alignment is preferred to another, by the first step in which they differ."""
    for i in range(min(count, many)):
        if ops[i] != others[i]:
            return others[i] == SKIP_PATTERN or (others[i] == SKIP_TEXT and ops[i] != SKIP_PATTERN)
    return False


@kernel
def _binds_nothing(constraints):
    """Whether all alignments within k keep to the constraints."""
    return constraints.near == 0 and constraints.far == 0 and not constraints.states.apart


@kernel
def _best_walk(search, constraints, query, text, distance, memory):
    """Write the preferred alignment of a distance, from the anchor on, to the first array of ops.

    memory: (matrix, words of one in bits, ops of two alignments); returns (text letters, columns).
    """
    states = constraints.states
    matrix, bits, ops, others = memory
    if _binds_nothing(constraints):
        used, columns = walk_back(search, query, text, distance, bits, others, len(others))
        for i in range(columns):
            ops[i] = others[len(others) - 1 - i]
        return used, columns
    if not states.apart:
        _fill_back(search, constraints, query, text, -1, matrix)
        return _walk_out(search, constraints, query, text, distance, matrix, ops)
    used = columns = 0
    for goal in range(len(states.offset)):
        left = distance - states.cost[goal]
        if left < 0 or left > constraints.mismatches:
            continue
        _fill_back(search, constraints, query, text, goal, matrix)
        if matrix[0, states.start] > left:
            continue
        found = _walk_out(search, constraints, query, text, left, matrix, others)
        if columns == 0 or _comes_before(others, found[1], ops, columns):
            used, columns = found
            for i in range(columns):
                ops[i] = others[i]
    return used, columns


@kernel
def _write(constraints, beside, ops, text, minus, to):
    """Write PAM and alignment, both from the anchor on, as the pattern is read."""
    out_ops, out_text = to
    for i in range(len(beside) + len(ops)):
        op = MATCH if i < len(beside) else ops[i - len(beside)]
        out_ops[i if constraints.leads else len(out_ops) - 1 - i] = op
    for i in range(len(beside) + len(text)):
        base = beside[len(beside) - 1 - i] if i < len(beside) else text[i - len(beside)]
        letter = LETTERS[COMPLEMENT[base] if minus else base]
        out_text[i if constraints.leads else len(out_text) - 1 - i] = letter


@kernel
def trace_constrained(work, view, search, constraints, ends, traced, columns):
    """Find the other end of n hits, and write their alignments where they are wanted.

    As `trace`, but for alignments that keep to the constraints. traced: (other, size, beside),
    int64[n] each, the last of them letters of the PAM, which count among the columns.
    """
    positions, queries, distances, limits = ends
    others, sizes, pam_sizes = traced
    op_ends, ops, text_ends, out = columns
    rows = longest(search.reading.begins)
    states = constraints.states
    reach = rows + largest(states.offset)
    letters, beside = np.empty(reach, np.uint8), np.empty(constraints.pams.shape[2], np.uint8)
    steps = np.empty((2, 2 * rows + reach), np.uint8)
    matrix = np.empty((rows + 1, len(states.offset)), np.int64)
    bits = np.empty(matrix_words(rows, reach), np.uint64)
    memory = (matrix, bits, steps[0], steps[1])
    slab = next_item(work)
    while slab >= 0:
        for h in range(slab * SLAB, min((slab + 1) * SLAB, len(positions))):
            query, position = queries[h], positions[h]
            step = 1 if search.reading.backward[query] else -1
            length = min(reach, (limits[h] - position) * step + 1)
            text = letters[:length]
            read_view(view, position, step, length, text)
            used, count = _best_walk(search, constraints, query, text, distances[h], memory)
            pam = pam_at(view, constraints, query, position, step, beside)
            wide = constraints.sizes[pam] if pam != NO_PAM else 0
            others[h], sizes[h] = position + step * (used - 1), count + wide
            pam_sizes[h] = wide
            if len(op_ends) > 0:
                to = (ops[op_ends[h] : op_ends[h + 1]], out[text_ends[h] : text_ends[h + 1]])
                minus = constraints.minus[query] != 0
                _write(constraints, beside[:wide], steps[0, :count], text[:used], minus, to)
        slab = next_item(work)
