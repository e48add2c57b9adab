"""What stands beside anchored ends, and alignments that keep to constraints, from their anchors on.

An alignment is followed from its anchored end, so that a state (see States) and the pattern letters
used so far determine the next text letter; the matrix has a column for each state, not for each
text letter.
"""

import numpy as np

from kmatch.engine.letters import decode
from kmatch.engine.trace import largest, longest, matrix_words, walk_back
from kmatch.engine.types import COMPLEMENT, LETTERS, MATCH, MISMATCH, SKIP_PATTERN, SKIP_TEXT
from kmatch.engine.workers import SLAB
from kmatch.engine.workers_kernels import next_item
from kmatch.jit.kernels import inlined, kernel

NO_PAM = -1


@kernel
def read_view(view, position, step, count, out):
    """Write `count` letters from a position on as masks, 0 where the view shows none."""
    last = position + step * (count - 1)
    inside = min(position, last) >= 0 and max(position, last) < view.shown
    if inside and len(view.letters) == 0:
        decode(view.text, position, step, count, out)
        return
    for i in range(count):
        at = position + step * i
        if at < 0:
            out[i] = view.before[at] if -at <= len(view.before) else 0
        elif at >= view.shown:
            out[i] = 0
        elif len(view.letters) > 0:
            out[i] = view.letters[at]
        else:
            decode(view.text, at, 1, 1, out[i:])


@kernel
def read_stretch(view, position, letters):
    """Fill `letters`, uint8[n], with the masks of a View's letters from a position on."""
    read_view(view, position, 1, len(letters), letters)


@kernel
def pam_at(view, constraints, query, position, step, out):
    """The number of the first PAM that is beside an anchor, NO_PAM where there is none."""
    pams, sizes = constraints.pams[constraints.minus[query]], constraints.sizes
    if len(sizes) == 0:
        return NO_PAM
    read_view(view, position - step, -step, pams.shape[1], out)
    for number in range(len(sizes)):
        size = sizes[number]
        i = 0
        while i < size and pams[number, i] & out[i]:
            i += 1
        if i == size:
            return number
    return NO_PAM


@kernel
def letter_at(search, query, i):
    """The mask of pattern letter i, counted from the anchor, from 0."""
    letters, begins, _, bases = search.reading
    return bases[letters[begins[query + 1] - 1 - i]]


@kernel
def stand_beside(work, view, search, constraints, ends, beside):
    """Count the letters of the PAM beside each anchored end at which all required letters match.

    work: see `slabs`; view: View; search: DifferenceQuery; constraints: Constraints; ends:
    (position, query), int64[n] each; beside: int64[n], filled here, −1 where there is no PAM, or a
    required letter does not match.
    """
    positions, queries = ends
    wide, near = constraints.pams.shape[2], constraints.near
    out = np.empty(max(wide, near, 1), np.uint8)
    slab = next_item(work)
    while slab >= 0:
        for h in range(slab * SLAB, min((slab + 1) * SLAB, len(positions))):
            query, position = queries[h], positions[h]
            step = 1 if search.reading.backward[query] else -1
            beside[h] = 0
            if len(constraints.sizes) > 0:
                pam = pam_at(view, constraints, query, position, step, out)
                beside[h] = constraints.sizes[pam] if pam != NO_PAM else -1
            if beside[h] >= 0 and near > 0:
                read_view(view, position, step, near, out)
                for i in range(near):
                    if not (letter_at(search, query, i) & out[i]):
                        beside[h] = -1
        slab = next_item(work)


NEVER = np.int64(1 << 40)


@inlined
def _is_exact(near, far, i, m):
    return i < near or i >= m - far


@inlined
def _has_gap(near, far, i, m):
    """Whether text may be skipped once i pattern letters are used."""
    return i < m and not (near > 0 and i <= near) and not (far > 0 and i >= m - far)


@inlined
def _read_pattern(search, query, pattern):
    """Write the masks of a pattern from its anchored end on; returns how many there are."""
    letters, begins, _, bases = search.reading
    begin, end = begins[query], begins[query + 1]
    for i in range(end - begin):
        pattern[i] = bases[letters[end - 1 - i]]
    return end - begin


@kernel
def _smallest_total(constraints, pattern, text, limit, rows):
    """The smallest cost of an alignment that keeps to the constraints, NEVER above the limit.

    pattern, text: uint8, letters from the anchored end on; rows: int64[2, S], overwritten.
    """
    offset, inserted, deleted, cost, start, gap, _ = constraints.states
    near, far, most = constraints.near, constraints.far, constraints.mismatches
    m, length, many = len(pattern), len(text), len(offset)
    row, below = rows[0], rows[1]
    for s in range(many):
        row[s] = NEVER
    row[start] = 0
    for i in range(m):
        mask, exact, fits = pattern[i], _is_exact(near, far, i, m), _has_gap(near, far, i, m)
        for s in range(many):
            below[s] = NEVER
        alive = False
        for s in range(many):
            here, at = row[s], i + offset[s]
            if here > most or here + cost[s] > limit:
                continue
            alive = True
            if at < length:
                same = (mask & text[at]) != 0
                if same or not exact:
                    below[s] = min(below[s], here + (not same))
                if fits and deleted[s] >= 0:
                    row[deleted[s]] = min(row[deleted[s]], here + gap)
            if not exact and inserted[s] >= 0:
                below[inserted[s]] = min(below[inserted[s]], here + gap)
        if not alive:
            return NEVER
        row, below = below, row
    best = NEVER
    for s in range(many):
        if row[s] <= most:
            best = min(best, row[s] + cost[s])
    return best if best <= limit else NEVER


@kernel
def _free_walk(search, query, text, distance, bits, steps):
    """Write the alignment that `trace` finds, from the anchor on, to steps[0]; returns as
    `_walk_out`."""
    ops, reverse = steps
    used, count = walk_back(search, query, text, distance, bits, reverse, len(reverse))
    for i in range(count):
        ops[i] = reverse[len(reverse) - 1 - i]
    return used, count


@kernel
def _keeps(constraints, ops, m, distance):
    """Whether an alignment of a pattern of m letters, its columns from the anchor on, has so many
    differences and keeps to the constraints."""
    _, inserted, deleted, _, s, _, _ = constraints.states
    near, far = constraints.near, constraints.far
    i = mismatches = gaps = 0
    for op in ops:
        if op == SKIP_TEXT:
            if not _has_gap(near, far, i, m):
                return False
            s = deleted[s]
        elif op != MATCH and _is_exact(near, far, i, m):
            return False
        elif op == SKIP_PATTERN:
            s = inserted[s]
        if s < 0:
            return False
        mismatches += op == MISMATCH
        gaps += op in (SKIP_TEXT, SKIP_PATTERN)
        i += op != SKIP_TEXT
    return mismatches <= constraints.mismatches and mismatches + gaps == distance


@kernel
def constrained_distances(work, view, search, constraints, ends):
    """Put the cost of the best alignment that keeps to the constraints in ends.distance, or −1.

    The alignment that `trace` finds often keeps to them, and none costs less.

    work: see `slabs`; ends: Ends; other arguments as for `stand_beside`.
    """
    positions, queries, distances, limits = ends
    backward, allowed, rows = search.reading.backward, search.limits, longest(search.reading.begins)
    reach = rows + largest(constraints.states.offset)
    pattern, letters = np.empty(rows, np.uint8), np.empty(reach, np.uint8)
    costs = np.empty((2, len(constraints.states.offset)), np.int64)
    steps, bits = (
        np.empty((2, 2 * rows + reach), np.uint8),
        np.empty(matrix_words(rows, reach), np.uint64),
    )
    slab = next_item(work)
    while slab >= 0:
        for h in range(slab * SLAB, min((slab + 1) * SLAB, len(positions))):
            query, position = queries[h], positions[h]
            step = 1 if backward[query] else -1
            text = letters[: min(reach, (limits[h] - position) * step + 1)]
            read_view(view, position, step, len(text), text)
            m = search.reading.begins[query + 1] - search.reading.begins[query]
            _, count = _free_walk(search, query, text, distances[h], bits, steps)
            if _keeps(constraints, steps[0, :count], m, distances[h]):
                continue
            _read_pattern(search, query, pattern)
            total = _smallest_total(constraints, pattern[:m], text, allowed[query], costs)
            distances[h] = total if total < NEVER else -1
        slab = next_item(work)


@kernel
def _fill_spare(constraints, pattern, text, total, spare):
    """Fill spare[i, s]: an alignment that has come to state s with i letters, and at no more cost
    beside its state than that, can be finished within the total and all bounds.

    spare: int64[m + 1, S], negative where none can.
    """
    offset, inserted, deleted, cost, _, gap, _ = constraints.states
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


@kernel
def _walk_out(constraints, pattern, text, spare, ops):
    """Write the steps of an alignment from its anchor on; returns (text letters, columns).

    spare: see `_fill_spare`. A diagonal step is preferred to a deletion, and a deletion to an
    insertion.
    """
    offset, inserted, deleted, _, s, gap, _ = constraints.states
    near, far = constraints.near, constraints.far
    m, length = len(pattern), len(text)
    i = count = spent = 0
    while i < m:
        at, to = i + offset[s], deleted[s]
        inside = at < length
        same = inside and (pattern[i] & text[at]) != 0
        diagonal = same or (inside and not _is_exact(near, far, i, m))
        if diagonal and spent + (not same) <= spare[i + 1, s]:
            ops[count] = MATCH if same else MISMATCH
            spent += not same
            i += 1
        elif inside and to >= 0 and _has_gap(near, far, i, m) and spent + gap <= spare[i, to]:
            ops[count] = SKIP_TEXT
            spent += gap
            s = to
        else:
            ops[count] = SKIP_PATTERN
            spent += gap
            i, s = i + 1, inserted[s]
        count += 1
    return m + offset[s], count


@kernel
def _write(leads, beside, ops, text, minus, to):
    """Write PAM and alignment, both from the anchor on, as the pattern is read."""
    out_ops, out_text = to
    for i in range(len(beside) + len(ops)):
        op = MATCH if i < len(beside) else ops[i - len(beside)]
        out_ops[i if leads else len(out_ops) - 1 - i] = op
    for i in range(len(beside) + len(text)):
        base = beside[len(beside) - 1 - i] if i < len(beside) else text[i - len(beside)]
        letter = LETTERS[COMPLEMENT[base] if minus else base]
        out_text[i if leads else len(out_text) - 1 - i] = letter


@kernel
def trace_constrained(work, view, search, constraints, ends, traced, columns):
    """Find the other end of n hits, and write their alignments where they are wanted.

    As `trace`, but for alignments that keep to the constraints. traced: (other, size, beside),
    int64[n] each, the last of them letters of the PAM, which count among the columns.
    """
    positions, queries, distances, limits = ends
    others, sizes, pam_sizes = traced
    op_ends, ops, text_ends, out = columns
    backward, rows = search.reading.backward, longest(search.reading.begins)
    reach = rows + largest(constraints.states.offset)
    letters, beside = np.empty(reach, np.uint8), np.empty(constraints.pams.shape[2], np.uint8)
    pattern, steps = np.empty(rows, np.uint8), np.empty((2, 2 * rows + reach), np.uint8)
    spare = np.empty((rows + 1, len(constraints.states.offset)), np.int64)
    bits = np.empty(matrix_words(rows, reach), np.uint64)
    bound = constraints.near > 0 or constraints.far > 0 or constraints.states.apart
    slab = next_item(work)
    while slab >= 0:
        for h in range(slab * SLAB, min((slab + 1) * SLAB, len(positions))):
            query, position = queries[h], positions[h]
            step = 1 if backward[query] else -1
            text = letters[: min(reach, (limits[h] - position) * step + 1)]
            read_view(view, position, step, len(text), text)
            m = search.reading.begins[query + 1] - search.reading.begins[query]
            used, count = _free_walk(search, query, text, distances[h], bits, steps)
            # Where `bound` is false all alignments within k keep to the constraints.
            if bound and not _keeps(constraints, steps[0, :count], m, distances[h]):
                wanted = pattern[: _read_pattern(search, query, pattern)]
                _fill_spare(constraints, wanted, text, distances[h], spare)
                used, count = _walk_out(constraints, wanted, text, spare, steps[0])
            pam = pam_at(view, constraints, query, position, step, beside)
            wide = constraints.sizes[pam] if pam != NO_PAM else 0
            others[h], sizes[h] = position + step * (used - 1), count + wide
            pam_sizes[h] = wide
            if len(op_ends) > 0:
                to = (ops[op_ends[h] : op_ends[h + 1]], out[text_ends[h] : text_ends[h + 1]])
                minus = constraints.minus[query] != 0
                _write(constraints.leads, beside[:wide], steps[0, :count], text[:used], minus, to)
        slab = next_item(work)
