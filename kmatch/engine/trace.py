"""What stands beside anchored ends, and tracebacks: other ends, and the columns of alignments.

Where k alone bounds an alignment, the matrix of the pattern × the m + d text letters from the
anchored end on is kept as bits, by Myers' recurrence, 64 pattern letters to a word: for each cell
whether it equals its diagonal neighbour, and whether it is one more than its left one. These bits
decide every step. The window is large enough: an alignment of distance d reads no more letters, and
a traceback visits cells of optimal alignments only.

Where constraints bind, the matrix has a column for each state (see States) instead of each text
letter: a state and the pattern letters used so far determine the next text letter.

A diagonal step is preferred to a deletion, and a deletion to an insertion, from the anchor on.
"""

from typing import NamedTuple

import numpy as np

from kmatch.arrays import Bytes, Words
from kmatch.engine.cpu.vectors import ALL_ONES, NONE, ONE
from kmatch.engine.letters import decode
from kmatch.engine.types import COMPLEMENT, LETTERS, MATCH, MISMATCH, SKIP_PATTERN, SKIP_TEXT
from kmatch.engine.workers import SLAB
from kmatch.engine.workers_kernels import next_item
from kmatch.jit.kernels import inlined, kernel

NO_PAM = -1
NEVER = np.int64(1 << 40)


@inlined
def largest(numbers):
    """The largest of an array of integers, 0 if all are smaller."""
    most = 0
    for number in numbers:
        most = max(most, number)
    return most


@inlined
def longest(begins):
    """The largest distance between neighbours in an array that never decreases."""
    most = 0
    for i in range(1, len(begins)):
        most = max(most, begins[i] - begins[i - 1])
    return most


@kernel
def read_view(view, position, step, letters):
    """Fill `letters` with a View's from a position on, as masks, 0 where it shows none."""
    count = len(letters)
    last = position + step * (count - 1)
    inside = min(position, last) >= 0 and max(position, last) < view.shown
    if inside and len(view.letters) == 0:
        decode(view.text, position, step, count, letters)
    elif inside:
        for i in range(count):
            letters[i] = view.letters[position + step * i]
    else:
        for i in range(count):
            at = position + step * i
            if at < 0:
                letters[i] = view.before[at] if -at <= len(view.before) else 0
            elif at >= view.shown:
                letters[i] = 0
            elif len(view.letters) > 0:
                letters[i] = view.letters[at]
            else:
                decode(view.text, at, 1, 1, letters[i:])


@kernel
def _pam_beside(view, constraints, query, position, step, letters):
    """The number of the first PAM that is beside an anchor, NO_PAM where there is none.

    letters: uint8[≥ w], overwritten with those beside it, from the anchor outwards.
    """
    pams, sizes = constraints.pams[constraints.minus[query]], constraints.sizes
    if len(sizes) == 0:
        return NO_PAM
    read_view(view, position - step, -step, letters[: pams.shape[1]])
    for number in range(len(sizes)):
        size = sizes[number]
        i = 0
        while i < size and pams[number, i] & letters[i]:
            i += 1
        if i == size:
            return number
    return NO_PAM


@inlined
def _read_pattern(search, query, pattern):
    """The masks of a pattern from its anchored end on, written to `pattern`."""
    letters, begins, _, bases = search.reading
    begin, end = begins[query], begins[query + 1]
    for i in range(end - begin):
        pattern[i] = bases[letters[end - 1 - i]]
    return pattern[: end - begin]


@kernel
def stand_beside(work, view, search, constraints, ends, stands):
    """Note whether there is a PAM beside each anchored end, (position, query), and the required
    letters match.

    work: see `slabs`; view: View; search: DifferenceQuery; stands: bool[n], filled here.
    """
    positions, queries = ends
    near = constraints.near
    letters = np.empty(max(constraints.pams.shape[2], near), np.uint8)
    pattern = np.empty(longest(search.reading.begins), np.uint8)
    slab = next_item(work)
    while slab >= 0:
        for h in range(slab * SLAB, min((slab + 1) * SLAB, len(positions))):
            query, position = queries[h], positions[h]
            step = 1 if search.reading.backward[query] else -1
            pam = _pam_beside(view, constraints, query, position, step, letters)
            stands[h] = pam != NO_PAM or len(constraints.sizes) == 0
            if stands[h] and near > 0:
                read_view(view, position, step, letters[:near])
                _read_pattern(search, query, pattern)
                for i in range(near):
                    if not (pattern[i] & letters[i]):
                        stands[h] = False
        slab = next_item(work)


@inlined
def block(eq, pv, mv, plus, minus):
    """One column of one block: (pv, mv, horizontal +1, horizontal -1, diagonal 0), rows as bits.

    plus, minus: the horizontal delta that comes in at the top, as 0 or 1 each.
    """
    xv = eq | mv
    eq |= minus
    xh = (((eq & pv) + pv) ^ pv) | eq
    ph = mv | ~(xh | pv)
    mh = pv & xh
    up, down = (ph << ONE) | plus, (mh << ONE) | minus
    return down | ~(xv | up), up & xv, ph, mh, xh | mv


class Matrix(NamedTuple):
    """The matrix of a query and a window of text.

    table, begin, blocks: the query's Profile; text: uint8[n] masks, the anchored end first, so that
    column j of the matrix is text[n − 1 − j]; bits: uint64, those of all cells, block by block:
    diagonal 0 at 2·(b·n + j), left +1 next to it.
    """

    table: Words
    begin: int
    blocks: int
    text: Bytes
    bits: Words


@inlined
def _matrix_words(m, length):
    """Words of a Matrix's bits."""
    return (2 * ((m + 63) >> 6) + 1) * length


@kernel
def _fill(matrix):
    """Fill the bits of all cells.

    The horizontal deltas of a block's last row reach the next block through `bits` itself.
    """
    table, begin, blocks, text, bits = matrix
    length = len(text)
    minuses = 2 * blocks * length
    for b in range(blocks):
        pv, mv = ALL_ONES, NONE
        at = 2 * b * length
        plus = minus = NONE
        for j in range(length):
            if b > 0:
                plus = bits[at - 2 * length + 2 * j + 1] >> np.uint64(63)
                minus = bits[minuses + j]
            eq = table[begin + np.int64(text[length - 1 - j]) * blocks + b]
            pv, mv, ph, mh, zero = block(eq, pv, mv, plus, minus)
            bits[at + 2 * j] = zero
            bits[at + 2 * j + 1] = ph
            bits[minuses + j] = mh >> np.uint64(63)


@inlined
def _step(matrix, i, j):
    """The step from cell (i, j), i ≥ 1."""
    table, begin, blocks, text, bits = matrix
    length = len(text)
    if j == 0:
        return SKIP_PATTERN
    b, bit = (i - 1) >> 6, np.uint64((i - 1) & 63)
    at = 2 * (b * length + j - 1)
    if (table[begin + np.int64(text[length - j]) * blocks + b] >> bit) & ONE:
        return MATCH
    if not (bits[at] >> bit) & ONE:
        return MISMATCH
    return SKIP_TEXT if (bits[at + 1] >> bit) & ONE else SKIP_PATTERN


@kernel
def _walk_freely(search, query, text, distance, bits, ops):
    """Write the steps of the best alignment from its anchor on; returns (text letters, columns)."""
    begins, (table, tables) = search.reading.begins, search.profile
    m = begins[query + 1] - begins[query]
    if distance == 0:
        ops[:m] = MATCH
        return m, m
    matrix = Matrix(table, tables[query], (m + 63) >> 6, text, bits)
    _fill(matrix)
    i, j, columns = m, len(text), 0
    while i > 0:
        step = ops[columns] = _step(matrix, i, j)
        columns += 1
        if step != SKIP_TEXT:
            i -= 1
        if step != SKIP_PATTERN:
            j -= 1
    return len(text) - j, columns


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
def _walk_within(constraints, pattern, text, spare, ops):
    """Write the steps of an alignment from its anchor on; returns (text letters, columns).

    spare: as `_fill_spare` fills it.
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
def constrained_distances(work, view, search, constraints, ends):
    """Replace the distances of Ends by those of alignments within constraints, −1 where none is
    within the query's limit; other arguments as for `stand_beside`."""
    positions, queries, distances, limits = ends
    rows = longest(search.reading.begins)
    pattern, letters = np.empty(rows, np.uint8), np.empty(rows + search.k, np.uint8)
    spare = np.empty((rows + 1, len(constraints.states.offset)), np.int64)
    slab = next_item(work)
    while slab >= 0:
        for h in range(slab * SLAB, min((slab + 1) * SLAB, len(positions))):
            query, position = queries[h], positions[h]
            step = 1 if search.reading.backward[query] else -1
            k, wanted = search.limits[query], _read_pattern(search, query, pattern)
            text = letters[: min(len(wanted) + k, (limits[h] - position) * step + 1)]
            read_view(view, position, step, text)
            if not _fill_spare(constraints, wanted, text, k, spare):
                distances[h] = -1
            while 0 <= distances[h] < k:
                if _fill_spare(constraints, wanted, text, distances[h], spare):
                    break
                distances[h] += 1
        slab = next_item(work)


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
def trace(work, view, search, constraints, ends, traced, columns):
    """Find the other end of each of some Ends, and write the alignments if asked for.

    traced, columns: Traced and Columns, filled here; an empty op_ends asks for no alignments; other
    arguments as for `stand_beside`.
    """
    positions, queries, distances, limits = ends
    others, sizes, pam_sizes = traced
    op_ends, ops, text_ends, out = columns
    begins, backward = search.reading.begins, search.reading.backward
    rows = longest(begins)
    reach = rows + search.k
    letters, beside = np.empty(reach, np.uint8), np.empty(constraints.pams.shape[2], np.uint8)
    pattern, steps = np.empty(rows, np.uint8), np.empty(rows + reach, np.uint8)
    bound = constraints.near > 0 or constraints.far > 0 or constraints.states.apart
    spare = np.empty((rows + 1 if bound else 0, len(constraints.states.offset)), np.int64)
    bits = np.empty(0 if bound else _matrix_words(rows, reach), np.uint64)
    slab = next_item(work)
    while slab >= 0:
        for h in range(slab * SLAB, min((slab + 1) * SLAB, len(positions))):
            query, position, distance = queries[h], positions[h], distances[h]
            step = 1 if backward[query] else -1
            length = begins[query + 1] - begins[query] + distance
            text = letters[: min(length, (limits[h] - position) * step + 1)]
            if bound or len(op_ends) > 0 or distance > 0:
                read_view(view, position, step, text)
            if bound:
                wanted = _read_pattern(search, query, pattern)
                _fill_spare(constraints, wanted, text, distance, spare)
                used, count = _walk_within(constraints, wanted, text, spare, steps)
            else:
                used, count = _walk_freely(search, query, text, distance, bits, steps)
            pam = _pam_beside(view, constraints, query, position, step, beside)
            wide = constraints.sizes[pam] if pam != NO_PAM else 0
            others[h], sizes[h] = position + step * (used - 1), count + wide
            pam_sizes[h] = wide
            if len(op_ends) > 0:
                to = ops[op_ends[h] : op_ends[h + 1]], out[text_ends[h] : text_ends[h + 1]]
                minus = constraints.minus[query] != 0
                _write(constraints.leads, beside[:wide], steps[:count], text[:used], minus, to)
        slab = next_item(work)
