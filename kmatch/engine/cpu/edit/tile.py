"""One tile under one query: the recurrence over every text row, and the hits it owns.

A tile is WORDS words of the rows, so 64·WORDS lanes. Columns go in blocks, pattern rows in groups.
A group below one that stays above k, and with no value at most k of its own, is left alone, as in
Ukkonen's cut-off: whatever enters a group within k comes over the border above it. When it is
entered again it starts from upper bounds (the border's value and one more a row), which is enough:
values at most k come out exact, others above k.
"""

import numpy as np

from kmatch.engine.cpu.bits.buffer import put as keep
from kmatch.engine.cpu.bits.distances import (
    add,
    add_number,
    copy,
    follow,
    put,
    read,
    smallest,
    width,
)
from kmatch.engine.cpu.bits.vectors import WORDS, aligned, fill, load, lowest, nonzero, store
from kmatch.engine.cpu.edit.recurrence import PAIR, advance
from kmatch.jit import kernel

BLOCK = 64  # columns in a block: border and planes of a block stay in the first-level cache
GROUP = 32  # pattern rows in a group after the first
ONES = np.uint64(0xFFFFFFFFFFFFFFFF)


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
    """Pairs of zeros: no horizontal delta, or vertical deltas that grow by one a row."""
    for at in range(first, first + PAIR * pairs, WORDS):
        store(state, at, fill(np.uint64(0)))


@kernel
def _alive(state, above, spare, bits, top, bottom):
    """Whether a value of the rows top..bottom-1 of the last column is at most k in a lane."""
    copy(state, above, spare, bits)
    low = fill(np.uint64(0))
    for row in range(top, bottom):
        plus, minus = ~load(state, PAIR * row), load(state, PAIR * row + WORDS)
        low = low | add(state, spare, bits, plus, minus)
    return nonzero(low) != 0


@kernel
def _emit(state, counter, bits, row, place, limit, buffer, slot):
    """Keep the codes of the lanes at most k in the column of a text row."""
    lane, rows, queries, rank, scale = place
    sign = counter + (bits - 1) * WORDS
    for word in range(WORDS):
        left = state[sign + word]
        while left != 0:
            bit = lowest(left)
            left &= left - np.uint64(1)
            position = (lane + 64 * word + bit) * rows + row
            found = limit + 1 + read(state, counter, bits, word, bit)
            keep(buffer, slot, (position * queries + rank) * scale + found)


@kernel
def _lower(state, counters, bits, count, limit):
    """Lower k, limit[0], to the smallest distance of the last counter's lanes, one of them at most
    k."""
    low = smallest(state, counters + (count - 1) * bits * WORDS, bits)
    for group in range(count):
        add_number(state, counters + group * bits * WORDS, bits, -low)
    limit[0] += low


@kernel
def _finish(state, counter, bits, border, columns, row, step, place, limit, buffer, slot):
    """Follow the pattern's last row through a block; keep the hits of columns (first, end)."""
    owned, many = columns
    for c in range(many):
        h = border + PAIR * c
        sign = add(state, counter, bits, load(state, h), load(state, h + WORDS))
        if c >= owned and nonzero(sign) != 0:
            _emit(state, counter, bits, row + step * c, place, limit, buffer, slot)


@kernel
def _finish_lowering(state, counters, bits, count, border, columns, limit):
    """The same, but lower k below what is seen in place of keeping it."""
    owned, many = columns
    counter = counters + (count - 1) * bits * WORDS
    for c in range(many):
        h = border + PAIR * c
        sign = add(state, counter, bits, load(state, h), load(state, h + WORDS))
        if c >= owned and nonzero(sign) != 0:
            _lower(state, counters, bits, count, limit)
            if limit[0] < 0:
                return


@kernel
def search_tile(text, pattern, way, place, limit, lowering, buffer, slot):
    """Search one tile for one pattern.

    text: (planes, words, …) of a chunk; pattern: int64, for each letter the index in `planes` of
    its plane's row 0 at the tile's first word; way: (first text row read, 1 to read rows upwards or
    −1 downwards, columns read before the first whose hits are wanted, all that are read); place:
    (first lane, B, number of queries, rank of this query, factor of the codes); limit: int64[1], k;
    buffer, slot: receive the hits. With `lowering` nothing is kept, and k ends as one less than the
    smallest distance seen, so −1 says that the pattern occurs.
    """
    planes, words = text[0], text[1]
    row, step, warm, columns = way
    if limit[0] < 0:
        return
    length = pattern.size
    least = 0 if lowering else limit[0]
    ends = groups(length, least)
    bits = width(length, least)
    size = bits * WORDS
    border = PAIR * length
    carries = border + PAIR * BLOCK
    counters = carries + PAIR * BLOCK
    spare = counters + ends.size * size
    state = aligned(spare + size)
    _clear(state, 0, ends[0])
    put(state, counters, bits, ends[0] - limit[0] - 1)
    last = 0  # the lowest group that takes part
    for begin in range(0, columns, BLOCK):
        many = min(BLOCK, columns - begin)
        first = (row + step * begin) * words
        _clear(state, border, many)
        group = top = 0
        while True:
            advance(planes, state, pattern, top, ends[group], border, first, step * words, many)
            counter = counters + group * size
            copy(state, counter, spare, bits)
            low = follow(state, counter, bits, border, carries, many)
            if group == ends.size - 1:
                if low:
                    copy(state, spare, counter, bits)
                    seen = (warm - begin, many)
                    if lowering:
                        _finish_lowering(state, counters, bits, ends.size, border, seen, limit)
                        if limit[0] < 0:  # nothing is closer
                            return
                    else:
                        at, k = row + step * begin, limit[0]
                        _finish(
                            state, counter, bits, border, seen, at, step, place, k, buffer, slot
                        )
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
