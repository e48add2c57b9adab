"""Traceback of hits: the other end, and the columns of the alignment.

The matrix of the pattern × the m + d text letters before the anchored end is kept as bits, by
Myers' recurrence, 64 pattern letters to a word: for each cell whether it equals its diagonal
neighbour, and whether it is one more than its left one. These bits decide every step. The window is
large enough: an alignment of distance d reads no more letters, and a traceback visits cells of
optimal alignments only.

Where just the other end of a hit with few differences is wanted, the same steps are taken by
diagonals, within d of the one that it ends on. A word says for each of them where pattern and text
differ. The row that a diagonal reaches with e differences follows from those that its neighbours
reach with e − 1, and goes on to the next such bit (Landau and Vishkin). These rows decide all d
steps of the walk back that are no matches.
"""

from typing import NamedTuple

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from kmatch.arrays import Bytes, Longs, Words
from kmatch.engine.cpu.vectors import ALL_ONES, NONE, ONE, lowest
from kmatch.engine.letters import decode
from kmatch.engine.types import COMPLEMENT, LETTERS, MATCH, MISMATCH, SKIP_PATTERN, SKIP_TEXT
from kmatch.engine.workers import SLAB
from kmatch.engine.workers_kernels import next_item
from kmatch.jit.kernels import inlined, kernel


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


SEEN = 64  # letters in a word


def _matcher(backward):
    @intrinsic
    def matching(typingctx, letters, at, mask):
        """Which of letters[at] … letters[at + SEEN − 1], uint8, have a bit of a mask: a uint64.

        Bit 0 is the first of them, or the last where they are read backward.
        """

        def build(context, builder, signature, arguments):
            data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
            at = context.cast(builder, arguments[1], signature.args[1], types.int64)
            mask = context.cast(builder, arguments[2], signature.args[2], types.uint8)
            octets = ir.VectorType(ir.IntType(8), SEEN)
            numbers = ir.VectorType(ir.IntType(32), SEEN)
            empty = ir.Constant(octets, ir.Undefined)
            address = builder.bitcast(builder.gep(data, [at]), octets.as_pointer())
            order = range(SEEN)[::-1] if backward else range(SEEN)
            read = builder.load(address, align=1)
            read = builder.shuffle_vector(read, empty, ir.Constant(numbers, list(order)))
            one = builder.insert_element(empty, mask, ir.Constant(ir.IntType(32), 0))
            every = builder.shuffle_vector(one, empty, ir.Constant(numbers, [0] * SEEN))
            bits = builder.icmp_unsigned("!=", builder.and_(read, every), ir.Constant(octets, None))
            return builder.bitcast(bits, ir.IntType(SEEN))

        return types.uint64(letters, at, mask), build

    return matching


matching, matching_backward = _matcher(False), _matcher(True)


@intrinsic
def width(typingctx, word):
    """Bits of a word up to its highest one, 0 where none is set (int64)."""

    def build(context, builder, signature, arguments):
        unsigned = context.cast(builder, arguments[0], signature.args[0], types.uint64)
        zeros = builder.ctlz(unsigned, ir.Constant(ir.IntType(1), 0))
        return builder.sub(ir.Constant(ir.IntType(64), 64), zeros)

    return types.int64(word), build


MOST = 8  # differences; the work grows with their square

DIAGONALS = 2 * MOST + 1


class Band(NamedTuple):
    """The diagonals beside the one that a hit with d differences ends on, which is number d.

    wrong: uint64[DIAGONALS], the rows in which pattern and text differ; far: int64[MOST·DIAGONALS],
    at e·DIAGONALS + x the row that diagonal x reaches with e differences.
    """

    wrong: Words
    far: Longs


@kernel
def new_band():
    """A Band to be filled."""
    return Band(np.empty(DIAGONALS, np.uint64), np.empty(MOST * DIAGONALS, np.int64))


@inlined
def bits_between(letters, at, length, backward):
    """Where each base is among `length` letters, a word each of A, C, G and T.

    letters: uint8, masks, of which SEEN are read from `at` on; the last of them is bit 0 of the
    words where they are read backward.
    """
    kept = ALL_ONES >> np.uint64(SEEN - length)
    if backward:
        a, c = matching_backward(letters, at, 1), matching_backward(letters, at, 2)
        g, t = matching_backward(letters, at, 4), matching_backward(letters, at, 8)
    else:
        a, c = matching(letters, at, 1), matching(letters, at, 2)
        g, t = matching(letters, at, 4), matching(letters, at, 8)
    return a & kept, c & kept, g & kept, t & kept


@inlined
def _compare(table, begin, bits, d, wrong):
    """Note the rows in which pattern and text differ; the row behind the pattern is one."""
    a, c, g, t = table[begin + 1], table[begin + 2], table[begin + 4], table[begin + 8]
    of_a, of_c, of_g, of_t = bits
    for x in range(2 * d + 1):
        by = np.uint64(x)
        same = (of_a >> by & a) | (of_c >> by & c) | (of_g >> by & g) | (of_t >> by & t)
        wrong[x] = ~same


@inlined
def _reach(m, d, band):
    """Note the rows that diagonals reach with fewer than d differences."""
    wrong, far = band
    for x in range(2 * d + 1):
        far[x] = lowest(wrong[x])
    for e in range(1, d):
        for x in range(e, 2 * d + 1 - e):
            at = (e - 1) * DIAGONALS + x
            row = min(max(max(far[at] + 1, far[at - 1]), far[at + 1] + 1), m)
            far[at + DIAGONALS] = row + lowest(wrong[x] >> np.uint64(row))


@inlined
def walk_near(profile, bits, hit, band):
    """Walk from an anchored end back, as `trace` does; returns (text letters used, columns).

    profile: (table, begin) of the query, whose m letters are one block; bits: of the m + d text
    letters up to the end, see `bits_between`; hit: (m, d), 0 < d ≤ MOST; band: Band, overwritten.
    """
    m, d = hit
    wrong, far = band
    _compare(profile[0], profile[1], bits, d, wrong)
    _reach(m, d, band)
    i, x, deleted = m, d, 0
    for e in range(d - 1, -1, -1):
        i = width(wrong[x] & ((ONE << np.uint64(i)) - ONE))
        at = e * DIAGONALS + x
        if far[at] >= i - 1:
            i -= 1
        elif far[at - 1] >= i:
            x, deleted = x - 1, deleted + 1
        else:
            i, x = i - 1, x + 1
    return m + d - x, m + deleted


class Matrix(NamedTuple):
    """The matrix of a query and a window of text.

    table, begin, blocks: the query's Profile; text: uint8 masks, the anchored end first, so that
    column j of the matrix is text[length − 1 − j]; length: letters of the text; bits: uint64, those
    of all cells, block by block: diagonal 0 at 2·(b·length + j), left +1 next to it.
    """

    table: Words
    begin: int
    blocks: int
    text: Bytes
    length: int
    bits: Words


@kernel
def _fill(matrix):
    """Fill the bits of all cells.

    The horizontal deltas of a block's last row reach the next block through `bits` itself.
    """
    table, begin, blocks, text, length, bits = matrix
    for b in range(blocks):
        pv, mv = ALL_ONES, NONE
        at = 2 * b * length
        above = at - 2 * length
        plus = minus = NONE
        for j in range(length):
            if b > 0:
                plus, minus = (
                    bits[above + 2 * j + 1] >> np.uint64(63),
                    bits[2 * blocks * length + j],
                )
            eq = table[begin + np.int64(text[length - 1 - j]) * blocks + b]
            pv, mv, ph, mh, zero = block(eq, pv, mv, plus, minus)
            bits[at + 2 * j] = zero
            bits[at + 2 * j + 1] = ph
            bits[2 * blocks * length + j] = mh >> np.uint64(63)


@inlined
def _step(matrix, i, j):
    """The step from cell (i, j), i ≥ 1: a diagonal one is preferred to D, and D to I."""
    table, begin, blocks, text, length, bits = matrix
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
def _walk(matrix, m, ops, last):
    """Walk from the anchored end back; returns (text letters used, columns).

    Writes the operations to ops[last − 1], ops[last − 2], …, unless `last` is 0.
    """
    i, j, columns = m, matrix.length, 0
    while i > 0:
        step = _step(matrix, i, j)
        columns += 1
        if last > 0:
            ops[last - columns] = step
        if step != SKIP_TEXT:
            i -= 1
        if step != SKIP_PATTERN:
            j -= 1
    return matrix.length - j, columns


@kernel
def _write_text(text, used, minus, out, first):
    for i in range(used):
        base = text[used - 1 - i]
        out[first + i] = LETTERS[COMPLEMENT[base] if minus else base]


@kernel
def _read(chunk, letters, position, step, length, text):
    """Read the text from the anchored end back, out of the letters where there are any."""
    if len(letters) == 0:
        decode(chunk, position, step, length, text)
        return
    for i in range(length):
        text[i] = letters[position + i * step]


@inlined
def matrix_words(m, length):
    """Words of a Matrix's bits."""
    return (2 * ((m + 63) >> 6) + 1) * length


@kernel
def walk_back(search, query, text, distance, bits, ops, last):
    """Walk the alignment of a hit from its anchored end back; returns (text letters, columns).

    text: uint8 masks, the anchored end first; bits: uint64[matrix_words], overwritten; ops, last:
    as for `_walk`.
    """
    begins = search.reading.begins
    table, tables = search.profile
    m = begins[query + 1] - begins[query]
    if distance == 0:
        if last > 0:
            ops[last - m : last] = MATCH
        return m, m
    length = min(m + distance, len(text))
    matrix = Matrix(table, tables[query], (m + 63) >> 6, text, length, bits)
    _fill(matrix)
    return _walk(matrix, m, ops, last)


@kernel
def _trace_hit(h, chunk, letters, search, ends, memory, columns):
    """Trace hit number h; returns (text letters used, columns)."""
    _, begins, backward, _ = search.reading
    positions, queries, distances, limits = ends
    text, bits = memory
    op_ends, ops, text_ends, out = columns
    query, position = queries[h], positions[h]
    step = 1 if backward[query] else -1
    writes = len(op_ends) > 0
    length = begins[query + 1] - begins[query] + distances[h]
    length = min(length, (limits[h] - position) * step + 1)
    if writes or distances[h] > 0:
        _read(chunk, letters, position, step, length, text)
    last = op_ends[h + 1] if writes else 0
    used, size = walk_back(search, query, text[:length], distances[h], bits, ops, last)
    if writes:
        _write_text(text, used, backward[query] != 0, out, text_ends[h])
    return used, size


@kernel
def trace(work, chunk, letters, search, ends, traced, columns):
    """Find the other end of n hits, and write their alignments if asked for.

    work: see `slabs`; chunk: Text; letters: uint8, the chunk's letters as masks, empty to read them
    from the planes; search: DifferenceQuery; ends: Ends; traced: Traced, filled here; columns:
    Columns, filled here, with empty ends where alignments are not wanted.
    """
    _, begins, backward, _ = search.reading
    positions, queries, distances, limits = ends
    others, sizes = traced
    table, tables = search.profile
    rows = longest(begins)
    text = np.empty(rows + search.k, np.uint8)
    memory = (text, np.empty(matrix_words(rows, rows + search.k), np.uint64))
    band, most, seen = new_band(), MOST if len(columns.op_ends) == 0 else 0, len(letters) - SEEN
    slab = next_item(work)
    while slab >= 0:
        for h in range(slab * SLAB, min((slab + 1) * SLAB, len(positions))):
            query, position, d = queries[h], positions[h], distances[h]
            m, step = begins[query + 1] - begins[query], 1 if backward[query] else -1
            reach = m + d
            at = position + reach - SEEN if step > 0 else position - reach + 1
            whole = reach <= min(SEEN, (limits[h] - position) * step + 1)
            if whole and 0 < d <= most and 0 <= at <= seen:
                bits = bits_between(letters, at, reach, step > 0)
                used, size = walk_near((table, tables[query]), bits, (m, d), band)
            else:
                used, size = _trace_hit(h, chunk, letters, search, ends, memory, columns)
            others[h] = position + step * (used - 1)
            sizes[h] = size
        slab = next_item(work)
