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
    """A tile under a query: its first lane, the rows of a lane, the number of the query, its limit,
    whether minima alone are wanted, and the index in the planes of where a PAM stands beside row 0,
    −1 where none has to."""

    lane: int
    rows: int
    query: int
    limit: int
    minima: bool
    beside: int


class Areas(NamedTuple):
    """Where in the state of a tile things are: indices of vectors, in this order.

    From 0 on vertical deltas of all rows; border: horizontal deltas of a block's columns; carries:
    of a counter; counters: one for each group, of its last row; spare: one more; fell: the lanes in
    which D fell when it last changed, and memory for lanes. bits: of a counter.
    """

    border: int
    carries: int
    counters: int
    spare: int
    fell: int
    bits: int


@inlined
def _areas_of(ends, bits):
    """Return the Areas for groups of rows that end so, with counters of so many bits."""
    border = PAIR * ends[-1]
    carries = border + PAIR * BLOCK
    counters = carries + PAIR * BLOCK
    spare = counters + len(ends) * bits * WORDS
    return Areas(border, carries, counters, spare, spare + bits * WORDS, bits)


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
    """Return whether a value of the rows top … bottom − 1 of the last column is at most k in a
    lane; above: the counter of the row before them; spare: memory for one."""
    copy(state, above, spare, bits)
    low = fill(NONE)
    for row in range(top, bottom):
        plus = ~load(state, PAIR * row)
        minus = load(state, PAIR * row + WORDS)
        low = low | add(state, spare, bits, plus, minus)
    return nonzero(low) != 0


@kernel
def _emit(state, lanes, counter, bits, row, tile, above, writer):
    """Write the codes of lanes, set in the vector at `lanes`, in the column of a text row; above:
    the distance less the counter."""
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
def _finish(planes, words, state, counter, areas, block, way, tile, writer):
    """Follow the pattern's last row through a block, (first column, columns), and write the hits.

    planes, words: of the Text.

    Where minima are wanted, ends are left out that are part of none and whose absence makes no
    other end look like one: D rose when it last changed, or D comes down from above k and falls on.
    The next lane, which does not see how D came to the last column, finds its end marked if D rose.
    With k = 2:

        D            3 3 2 1 0 1 2 2 3 2 2 1 1 2
        left out         2 1   1 2 2           2
        written              0         2 2 1 1
    """
    begin, columns = block
    lanes = areas.fell + WORDS
    fell = load(state, areas.fell)
    before = load(state, counter + (areas.bits - 1) * WORDS)
    passed = fill(NONE)
    for c in range(columns):
        plus, minus = load_pair(state, areas.border + PAIR * c)
        low = add(state, counter, areas.bits, plus, minus)
        if begin + c >= way.warm:
            row = way.row + way.step * (begin + c)
            ends = low
            if tile.minima:
                onward = fill(NONE)  # is not known of a block's last column, nor looked at
                if begin + c > way.warm and c + 1 < columns:
                    onward = load(state, areas.border + PAIR * (c + 1) + WORDS)
                fell = minus | (fell & ~plus)
                passed = minus & onward & (passed | ~before)
                ends = low & fell & ~passed
                if begin + c == way.columns - 1:
                    store(state, lanes, low & ~fell)
                    above = tile.limit + 1 + writer.factor // 2
                    _emit(state, lanes, counter, areas.bits, row, tile, above, writer)
            if tile.beside >= 0:
                ends = ends & load(planes, tile.beside + row * words)
            if nonzero(ends) != 0:
                store(state, lanes, ends)
                _emit(state, lanes, counter, areas.bits, row, tile, tile.limit + 1, writer)
        before = low
    store(state, areas.fell, fell)


@kernel
def _search_tile(planes, words, pattern, ends, way, tile, areas, state, offsets, writer):
    """Search one tile for one pattern.

    planes, words: of the Text; pattern: for each letter the index in its planes of row 0 at the
    tile's first word; ends: of the groups; way: Way, of all columns; tile: Tile; areas: Areas;
    state, offsets: memory; writer: Writer, receives the hits. Of arrays but `ends` these are
    pointers: they are handed on with each block, which is short.

                  block 0   block 1   block 2
        group 0   ─────────────────────────────     is always taken
        group 1             ──────────               as long as group 0 leads to values within k
        group 2                                      is left out
    """
    border = areas.border
    size = areas.bits * WORDS
    store(state, areas.fell, fill(ALL_ONES))
    _clear(state, 0, ends[0])
    put_number(state, areas.counters, areas.bits, ends[0] - tile.limit - 1)
    last = 0  # the lowest group that takes part
    for begin in range(0, way.columns, BLOCK):
        many = min(BLOCK, way.columns - begin)
        for c in range(many):
            offsets[c] = (way.row + way.step * (begin + c)) * words
        _clear(state, border, many)
        top = 0
        for group in range(ends.size):
            bottom = ends[group]
            deltas = PAIR * top
            advance(planes, state, pattern, top, bottom, deltas, border, border, offsets, many)
            counter = areas.counters + group * size
            copy(state, counter, areas.spare, areas.bits)
            is_low = follow(state, counter, areas.bits, border, areas.carries, many)
            if group == ends.size - 1:
                if is_low:
                    copy(state, areas.spare, counter, areas.bits)
                    block = begin, many
                    _finish(planes, words, state, counter, areas, block, way, tile, writer)
                break
            if group == last:
                if not is_low:
                    break
                # The next group begins anew, with upper bounds.
                more = ends[group + 1] - bottom
                _clear(state, PAIR * bottom, more)
                copy(state, areas.spare, counter + size, areas.bits)
                add_number(state, counter + size, areas.bits, more)
                last += 1
            top = bottom
        # Groups at whose end nothing is within k are left out of the next block.
        while last > 0:
            above = areas.counters + (last - 1) * size
            if _alive(state, above, areas.spare, areas.bits, ends[last - 1], ends[last]):
                break
            last -= 1


@kernel
def _search_rows(text, reading, query, rows, limit, minima, pam_plane, writer):
    """Search rows first … last−1, (first, last), of all tiles for one query.

    minima: see Tile; pam_plane: the number of the plane of where PAMs stand, −1 for none.
    """
    _, words, lane_rows, plane_words = text
    first, last = rows
    letters = reading.letters[reading.begins[query] : reading.begins[query + 1]]
    pattern = letters * plane_words
    backward = reading.backward[query]
    halo = plane_words // words - lane_rows
    warm = min(halo, len(pattern) + limit)
    row = last - 1 + warm if backward else first + halo - warm
    way = Way(row, step_of(backward), warm, warm + last - first)
    ends = groups(len(pattern), limit)
    areas = _areas_of(ends, counter_bits(len(pattern), limit))
    state = aligned(areas.fell + PAIR)
    offsets = np.empty(BLOCK, np.int64)
    for number in range(words // WORDS):
        beside = pam_plane * plane_words + WORDS * number if pam_plane >= 0 else -1
        tile = Tile(64 * WORDS * number, lane_rows, query, limit, minima, beside)
        memory = pointer(state, 0), pointer(offsets, 0), writer
        planes = pointer(text.planes, 0)
        _search_tile(planes, words, pointer(pattern, 0), ends, way, tile, areas, *memory)
        pattern += WORDS


@kernel
def scan_edit(work, text, search, owned, pam_planes, budgets, parts, buffer):
    """Find every anchored end of each query within its limit.

    work: parts × queries; text: Text, words a multiple of WORDS; search: DifferenceQuery; owned:
    the positions of the chunk, where its minima alone are wanted, 0 for all ends; pam_planes:
    int64[Q], the plane of where PAMs stand beside ends, −1 for none; budgets: int64[Q], the most
    survivors of the whole chunk with which a filter pays, 0 to scan at once; parts: see
    `stretches`; buffer: HitBuffer, receives the codes, some of them twice where there is a filter.
    See `Engine.start_edit` for the positions that a query owns.
    """
    lane_rows = text.rows
    queries = len(search.limits)
    slot = new_slot()
    writer = new_writer(buffer, slot, queries, marked(search.k))
    memory = new_memory(search.reach)
    edge = (owned - 1) % lane_rows + 1  # rows of a lane in which the chunk's own positions end
    item = next_item(work)
    while item >= 0:
        part, query = divmod(item, queries)
        first = lane_rows * part // parts
        last = lane_rows * (part + 1) // parts
        limit = search.limits[query]
        is_filtered = False
        if budgets[query] > 0:
            # A lone hit has k + 1 survivors at the most.
            most = limit + 1 + budgets[query] * (last - first) // lane_rows
            is_filtered = filter_rows(text, (first, last), search, query, most, memory, writer)
        if not is_filtered:
            minima = owned > 0 and budgets[query] == 0  # a filter has left ends of any kind
            # A lane that ends with the chunk's own positions does so at a part's end.
            cut = edge if minima and first < edge < last else first
            reading = search.reading
            pam_plane = pam_planes[query]
            for rows in ((first, cut), (cut, last)):
                if rows[0] < rows[1]:
                    _search_rows(text, reading, query, rows, limit, minima, pam_plane, writer)
        give_up(work, writer)
        item = next_item(work)
    leave(buffer, slot)
