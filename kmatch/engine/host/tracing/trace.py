"""Traceback of hits: the other end, and the columns of the alignment.

The matrix of the pattern × the m + d text letters before the anchored end is kept as bits: for each
cell whether it equals its diagonal neighbour, and whether it is one more than its left one. These
bits decide every step. The window is large enough: an alignment of distance d reads no more
letters, and a traceback visits cells of optimal alignments only. Where just the other end of a hit
with few differences is wanted, `diagonals` takes the same steps with less work.
"""

from typing import NamedTuple

import numpy as np

from kmatch.arrays import Bytes, Words
from kmatch.engine.host.alignments import MATCH, MISMATCH, SKIP_PATTERN, SKIP_TEXT
from kmatch.engine.host.blocks import ALL_ONES, NONE, ONE, block
from kmatch.engine.host.extremes import longest
from kmatch.engine.host.letters import COMPLEMENT, LETTERS, decode
from kmatch.engine.host.sharing import SLAB, next_item
from kmatch.engine.host.tracing.bits import SEEN
from kmatch.engine.host.tracing.diagonals import MOST, bits_between, new_band, walk_near
from kmatch.jit import inlined, kernel


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
