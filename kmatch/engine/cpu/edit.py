"""k differences over striped bit planes: every anchored end within k.

A tile is WORDS words of the rows, which are 64·WORDS lanes. Columns are taken in blocks, pattern
rows in groups. A group without a value within k, below one that stays above k, is skipped as in
Ukkonen's cut-off: values within k enter a group over its upper border only. When it is entered
again it starts from upper bounds (the border's value and one more a row). These are enough: values
within k come out exact, and others above k.
"""

from typing import NamedTuple

import numpy as np

from kmatch.engine.cpu.distances import (
    add,
    add_number,
    copy,
    counter_bits,
    follow,
    put_number,
    read,
)
from kmatch.engine.cpu.hits import give_up, leave, new_slot, new_writer, next_item, put
from kmatch.engine.cpu.pieces import filter_rows, new_memory
from kmatch.engine.cpu.recurrence import PAIR, advance
from kmatch.engine.cpu.vectors import (
    NONE,
    ONE,
    aligned,
    fill,
    load,
    lowest,
    nonzero,
    pointer,
    store,
)
from kmatch.engine.geometry import WORDS
from kmatch.jit.kernels import inlined, kernel

BLOCK = 64  # columns in a block, whose border and planes stay in the L1 cache

GROUP = 32  # pattern rows in a group after the first


class Way(NamedTuple):
    """Text rows that are read as columns of the matrix.

    row: the first; step: 1 to read upwards, −1 downwards; warm: columns of the warm-up, whose hits
    do not count; columns: all that are read.
    """

    row: int
    step: int
    warm: int
    columns: int


class Tile(NamedTuple):
    """A tile under a query: its first lane, the rows of a lane, and the number of the query."""

    lane: int
    rows: int
    query: int


@kernel
def groups(length, k):
    """Ends of the groups of pattern rows (int64); random text exceeds k within the first."""
    first = (2 * k + 24) // 8 * 8
    if first + GROUP // 2 > length:
        return np.array([length])
    count = 1 + (length - first + GROUP - 1) // GROUP
    ends = first + GROUP * np.arange(count)
    ends[-1] = length
    return ends


@kernel
def _clear(state, first, pairs):
    """Clear pairs: no horizontal deltas, or vertical deltas of a column that grows by one a row."""
    for at in range(first, first + PAIR * pairs, WORDS):
        store(state, at, fill(NONE))


@kernel
def _alive(state, above, spare, bits, top, bottom):
    """Whether a value of the rows top … bottom − 1 of the last column is at most k in a lane."""
    copy(state, above, spare, bits)
    low = fill(NONE)
    for row in range(top, bottom):
        plus, minus = ~load(state, PAIR * row), load(state, PAIR * row + WORDS)
        low = low | add(state, spare, bits, plus, minus)
    return nonzero(low) != 0


@kernel
def _emit(state, counter, bits, row, tile, limit, writer):
    """Write the codes of the lanes that are within k in the column of a text row."""
    sign = counter + (bits - 1) * WORDS
    words = nonzero(load(state, sign))
    while words != 0:
        word = lowest(words)
        words &= words - 1
        left = state[sign + word]
        while left != 0:
            bit = lowest(left)
            left &= left - ONE
            position = (tile.lane + 64 * word + bit) * tile.rows + row
            distance = limit + 1 + read(state, counter, bits, word, bit)
            put(writer, position, tile.query, distance)


@kernel
def _finish(state, counter, bits, border, seen, tile, limit, writer):
    """Follow the pattern's last row through a block, and write the hits; seen: a Way."""
    for c in range(seen.columns):
        h = border + PAIR * c
        sign = add(state, counter, bits, load(state, h), load(state, h + WORDS))
        if c >= seen.warm and nonzero(sign) != 0:
            _emit(state, counter, bits, seen.row + seen.step * c, tile, limit, writer)


@kernel
def _search_tile(planes, words, pattern, ends, bits, way, tile, limit, state, offsets, writer):
    """Search one tile for one pattern.

    planes, words: of the Text; pattern: for each letter the index in its planes of row 0 at the
    tile's first word; ends: of the groups; bits: of a counter; way: Way, of all columns; tile:
    Tile; limit: k; state, offsets: memory; writer: Writer, receives the hits. Of arrays but `ends`
    these are pointers: they are handed on with each block, which is short.
    """
    row, step, warm, columns = way
    size = bits * WORDS
    border = PAIR * ends[-1]
    carries = border + PAIR * BLOCK
    counters = carries + PAIR * BLOCK
    spare = counters + ends.size * size
    _clear(state, 0, ends[0])
    put_number(state, counters, bits, ends[0] - limit - 1)
    last = 0  # the lowest group that takes part
    for begin in range(0, columns, BLOCK):
        many = min(BLOCK, columns - begin)
        for c in range(many):
            offsets[c] = (row + step * (begin + c)) * words
        _clear(state, border, many)
        group = top = 0
        while True:
            deltas, bottom = PAIR * top, ends[group]
            given = deltas, border, border, offsets, many
            advance(planes, state, pattern, top, bottom, *given)
            counter = counters + group * size
            copy(state, counter, spare, bits)
            low = follow(state, counter, bits, border, carries, many)
            if group == ends.size - 1:
                if low:
                    copy(state, spare, counter, bits)
                    seen = Way(row + step * begin, step, warm - begin, many)
                    _finish(state, counter, bits, border, seen, tile, limit, writer)
                break
            if group == last:
                if not low:
                    break
                _clear(state, PAIR * ends[group], ends[group + 1] - ends[group])
                copy(state, spare, counter + size, bits)
                add_number(state, counter + size, bits, ends[group + 1] - ends[group])
                last += 1
            top = ends[group]
            group += 1
        while last > 0 and not _alive(
            state, counters + (last - 1) * size, spare, bits, ends[last - 1], ends[last]
        ):
            last -= 1


@inlined
def _search_rows(text, reading, query, rows, limit, writer):
    """Search rows first … last−1, (first, last), of all tiles for one query."""
    _, words, lane_rows, plane_words = text
    letters, begins, backward, _ = reading
    halo = plane_words // words - lane_rows
    first, last = rows
    pattern = letters[begins[query] : begins[query + 1]] * plane_words
    warm = min(halo, len(pattern) + limit)
    if backward[query]:
        way = Way(last - 1 + warm, -1, warm, warm + last - first)
    else:
        way = Way(first + halo - warm, 1, warm, warm + last - first)
    ends, bits = groups(len(pattern), limit), counter_bits(len(pattern), limit)
    state = aligned(PAIR * (len(pattern) + 2 * BLOCK) + (ends.size + 1) * bits * WORDS)
    offsets = np.empty(BLOCK, np.int64)
    for number in range(words // WORDS):
        tile = Tile(64 * WORDS * number, lane_rows, query)
        memory = pointer(state, 0), pointer(offsets, 0), writer
        given = pointer(pattern, 0), ends, bits, way, tile, limit, *memory
        _search_tile(pointer(text.planes, 0), words, *given)
        pattern += WORDS


@kernel
def scan_edit(work, text, search, budgets, parts, buffer):
    """Find every anchored end of each query within its limit.

    work: parts × queries; text: Text, words a multiple of WORDS; search: DifferenceQuery; budgets:
    int64[Q], the most survivors of the whole chunk with which a filter pays, 0 to scan at once;
    parts: see `stretches`; buffer: HitBuffer, receives the codes, some of them twice where there is
    a filter. See `Engine.start_edit` for the positions that a query owns.
    """
    rows, queries = text.rows, len(search.limits)
    slot = new_slot()
    writer = new_writer(buffer, slot, queries, search.k)
    memory = new_memory(search.reach)
    item = next_item(work)
    while item >= 0:
        part, query = item // queries, item % queries
        here, filtered = (rows * part // parts, rows * (part + 1) // parts), False
        limit = search.limits[query]
        if budgets[query] > 0:
            # A lone hit has k + 1 survivors at the most.
            most = limit + 1 + budgets[query] * (here[1] - here[0]) // rows
            filtered = filter_rows(text, here, search, query, most, memory, writer)
        if not filtered:
            _search_rows(text, search.reading, query, here, limit, writer)
        give_up(work, writer)
        item = next_item(work)
    leave(buffer, slot)
