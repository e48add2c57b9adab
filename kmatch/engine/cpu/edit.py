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
from kmatch.engine.cpu.hits import give_up, leave, marked, new_slot, new_writer, next_item, put
from kmatch.engine.cpu.pieces import filter_rows, new_memory
from kmatch.engine.cpu.recurrence import PAIR, advance, load_pair
from kmatch.engine.cpu.vectors import (
    ALL_ONES,
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
from kmatch.engine.letters import step_of
from kmatch.jit.kernels import inlined, kernel

BLOCK = 64  # columns in a block, whose border and planes stay in the L1 cache

GROUP = 32  # pattern rows in a group after the first


class Way(NamedTuple):
    """Text rows that are read as columns of the matrix.

    row: the first; step: to the next one (see `step_of`); warm: columns of the warm-up, whose hits
    do not count; columns: all that are read.
    """

    row: int
    step: int
    warm: int
    columns: int


class Tile(NamedTuple):
    """A tile under a query: its first lane, the rows of a lane, the number of the query, and
    whether minima alone are wanted."""

    lane: int
    rows: int
    query: int
    minima: bool


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
def _emit(state, lanes, counter, bits, row, tile, above, writer):
    """Write the codes of lanes, set in the vector at `lanes`, in the column of a text row; above:
    what a counter is less than the distance."""
    words = nonzero(load(state, lanes))
    while words != 0:
        word = lowest(words)
        words &= words - 1
        left = state[lanes + word]
        while left != 0:
            bit = lowest(left)
            left &= left - ONE
            position = (tile.lane + 64 * word + bit) * tile.rows + row
            distance = above + read(state, counter, bits, word, bit)
            put(writer, position, tile.query, distance)


@kernel
def _finish(state, counter, bits, border, memory, block, way, tile, limit, writer):
    """Follow the pattern's last row through a block, (first column, columns), and write the hits.

    memory: of two vectors, the lanes in which D fell when it last changed, kept from block to
    block, and those whose codes are written. Where minima are wanted, ends are left out that are
    part of none and whose absence makes no other end look like one: D rose when it last changed,
    or D comes down from above k and falls on. The next lane, which does not see how D came to the
    last column, finds its end marked if D rose.
    """
    begin, columns = block
    lanes = memory + WORDS
    fell, before = load(state, memory), load(state, counter + (bits - 1) * WORDS)
    passed = fill(NONE)
    for c in range(columns):
        h = border + PAIR * c
        plus, minus = load_pair(state, h)
        low = add(state, counter, bits, plus, minus)
        if begin + c >= way.warm:
            row, ends = way.row + way.step * (begin + c), low
            if tile.minima:
                onward = fill(NONE)  # is not known of a block's last column, nor looked at
                if begin + c > way.warm and c + 1 < columns:
                    onward = load(state, h + PAIR + WORDS)
                fell = minus | (fell & ~plus)
                passed = minus & onward & (passed | ~before)
                ends = low & fell & ~passed
                if begin + c == way.columns - 1:
                    store(state, lanes, low & ~fell)
                    above = limit + 1 + writer.factor // 2
                    _emit(state, lanes, counter, bits, row, tile, above, writer)
            if nonzero(ends) != 0:
                store(state, lanes, ends)
                _emit(state, lanes, counter, bits, row, tile, limit + 1, writer)
        before = low
    store(state, memory, fell)


@kernel
def _search_tile(planes, words, pattern, ends, bits, way, tile, limit, state, offsets, writer):
    """Search one tile for one pattern.

    planes, words: of the Text; pattern: for each letter the index in its planes of row 0 at the
    tile's first word; ends: of the groups; bits: of a counter; way: Way, of all columns; tile:
    Tile; limit: k; state, offsets: memory; writer: Writer, receives the hits. Of arrays but `ends`
    these are pointers: they are handed on with each block, which is short.
    """
    row, step, _, columns = way
    size = bits * WORDS
    border = PAIR * ends[-1]
    carries = border + PAIR * BLOCK
    counters = carries + PAIR * BLOCK
    spare = counters + ends.size * size
    memory = spare + size
    store(state, memory, fill(ALL_ONES))
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
                    block = memory, (begin, many), way, tile, limit, writer
                    _finish(state, counter, bits, border, *block)
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
def _search_rows(text, reading, query, rows, limit, minima, writer):
    """Search rows first … last−1, (first, last), of all tiles for one query; minima: see Tile."""
    _, words, lane_rows, plane_words = text
    letters, begins, backward, _ = reading
    halo = plane_words // words - lane_rows
    first, last = rows
    pattern = letters[begins[query] : begins[query + 1]] * plane_words
    warm = min(halo, len(pattern) + limit)
    row = last - 1 + warm if backward[query] else first + halo - warm
    way = Way(row, step_of(backward[query]), warm, warm + last - first)
    ends, bits = groups(len(pattern), limit), counter_bits(len(pattern), limit)
    state = aligned(PAIR * (len(pattern) + 2 * BLOCK) + (ends.size + 1) * bits * WORDS + PAIR)
    offsets = np.empty(BLOCK, np.int64)
    for number in range(words // WORDS):
        tile = Tile(64 * WORDS * number, lane_rows, query, minima)
        memory = pointer(state, 0), pointer(offsets, 0), writer
        given = pointer(pattern, 0), ends, bits, way, tile, limit, *memory
        _search_tile(pointer(text.planes, 0), words, *given)
        pattern += WORDS


@kernel
def scan_edit(work, text, search, owned, budgets, parts, buffer):
    """Find every anchored end of each query within its limit.

    work: parts × queries; text: Text, words a multiple of WORDS; search: DifferenceQuery; owned:
    the positions of the chunk, where its minima alone are wanted, 0 for all ends; budgets:
    int64[Q], the most survivors of the whole chunk with which a filter pays, 0 to scan at once;
    parts: see `stretches`; buffer: HitBuffer, receives the codes, some of them twice where there is
    a filter. See `Engine.start_edit` for the positions that a query owns.
    """
    rows, queries = text.rows, len(search.limits)
    slot = new_slot()
    writer = new_writer(buffer, slot, queries, marked(search.k))
    memory = new_memory(search.reach)
    edge = (owned - 1) % rows + 1  # rows of a lane in which the chunk's own positions end
    item = next_item(work)
    while item >= 0:
        part, query = item // queries, item % queries
        first, last, filtered = rows * part // parts, rows * (part + 1) // parts, False
        limit = search.limits[query]
        if budgets[query] > 0:
            # A lone hit has k + 1 survivors at the most.
            most = limit + 1 + budgets[query] * (last - first) // rows
            filtered = filter_rows(text, (first, last), search, query, most, memory, writer)
        if not filtered:
            minima = owned > 0 and budgets[query] == 0  # a filter has left ends of any kind
            cut = edge if minima and first < edge < last else first
            for here in ((first, cut), (cut, last)):
                if here[0] < here[1]:
                    _search_rows(text, search.reading, query, here, limit, minima, writer)
        give_up(work, writer)
        item = next_item(work)
    leave(buffer, slot)
