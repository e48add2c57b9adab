"""k mismatches over striped bit planes."""

from typing import NamedTuple

import numpy as np

from kmatch.arrays import Longs
from kmatch.engine.cpu.bits.buffer import give_up, leave, new_writer, put
from kmatch.engine.cpu.bits.counters import (
    BEYOND,
    Counter,
    add_four,
    add_one,
    begin,
    begin_high,
    counter_of,
    ripple,
    save,
)
from kmatch.engine.cpu.bits.vectors import (
    ALL_ONES,
    NONE,
    ONE,
    WIDE,
    fill_wide,
    load_wide,
    lowest,
    nonzero,
)
from kmatch.engine.host.sharing import next_item
from kmatch.jit import kernel

TILE = 512  # words of text that all queries scan before the next: they stay in the L1 cache


class Letters(NamedTuple):
    """Queries in a chunk.

    offsets: int64[L], of a letter's words from those of its window's start; bounds: see
    QueryArrays.
    """

    offsets: Longs
    bounds: Longs
    counter: Counter


def _make_seek(kept):
    @kernel
    def seek(planes, at, last, offsets, query, counter, counts):
        """Count the mismatches of one query, WIDE words at a time, until a lane is within k.

        Returns the index of these words, `last` or more if there are none; counts, uint64, then
        holds their live plane and the bits of their counters, WIDE words each. query: its first
        counted letter, its first exact one, its end, and the letter from which on it pays to look
        whether any lane is live.
        """
        first, exact, end, look = query
        fours = first + (exact - first) // 4 * 4
        while at < last:
            counters = begin(counter.first_count)
            live = fill_wide(ALL_ONES)
            some = True
            if kept == BEYOND:
                begin_high(counts, counter)
            for i in range(first, fours, 4):
                a = load_wide(planes, at + offsets[i])
                b = load_wide(planes, at + offsets[i + 1])
                c = load_wide(planes, at + offsets[i + 2])
                d = load_wide(planes, at + offsets[i + 3])
                counters = add_four(kept, counters, a, b, c, d)
                if kept == BEYOND:
                    live, counters = ripple(counts, counter.bits, live, counters)
                if i + 4 >= look:
                    some = nonzero(live if kept == BEYOND else counters[0]) != 0
                    if not some:
                        break
            if some:
                for i in range(fours, exact):
                    counters = add_one(kept, counters, load_wide(planes, at + offsets[i]))
                    if kept == BEYOND:
                        live, counters = ripple(counts, counter.bits, live, counters)
                if kept != BEYOND:
                    live = counters[0]
                for i in range(exact, end):
                    live = live & load_wide(planes, at + offsets[i])
                if nonzero(live) != 0:
                    save(counts, live, counters)
                    break
            at += WIDE
        return at

    return seek


_seek_1, _seek_2, _seek_3, _seek_4, _seek_beyond = (
    _make_seek(kept) for kept in (1, 2, 3, 4, BEYOND)
)


@kernel
def _seek(planes, at, last, offsets, query, counter, counts):
    if counter.bits == 1:
        return _seek_1(planes, at, last, offsets, query, counter, counts)
    if counter.bits == 2:
        return _seek_2(planes, at, last, offsets, query, counter, counts)
    if counter.bits == 3:
        return _seek_3(planes, at, last, offsets, query, counter, counts)
    if counter.bits == 4:
        return _seek_4(planes, at, last, offsets, query, counter, counts)
    return _seek_beyond(planes, at, last, offsets, query, counter, counts)


@kernel
def _distance(counts, counter, word, bit):
    count = np.int64(0)
    for b in range(counter.bits):
        complemented = counts[(1 + b) * WIDE + word] >> np.uint64(bit)
        count |= (1 - np.int64(complemented & ONE)) << b
    return count - counter.first_count


@kernel
def _collect(counts, counter, text, at, query, writer):
    """Write the codes of the live lanes of the words from `at` on."""
    words, rows = text.words, text.rows
    for w in range(min(WIDE, rows * words - at)):
        live = counts[w]
        if live == NONE:
            continue
        row, word = divmod(at + w, words)
        while live != NONE:
            bit = lowest(live)
            live &= live - ONE
            position = (64 * word + bit) * rows + row
            put(writer, position, query, _distance(counts, counter, w, bit))


@kernel
def _scan_tile(text, letters, tile, counts, writer):
    """Scan TILE words of the rows from word `tile` on for all queries."""
    planes, bounds, counter = text.planes, letters.bounds, letters.counter
    for q in range(len(bounds)):
        query = (bounds[q, 0], bounds[q, 1], bounds[q, 2], bounds[q, 3])
        at, end = tile, min(tile + TILE, text.words * text.rows)
        while True:
            at = _seek(planes, at, end, letters.offsets, query, counter, counts)
            if at >= end:
                break
            _collect(counts, counter, text, at, q, writer)
            at += WIDE


def tiles(words: int, rows: int) -> int:
    """Items of work in a scan of a chunk."""
    return -(-rows * words // TILE)


@kernel
def scan(work, text, query, k, buffer):
    """Find every window within k mismatches of each query.

    work: see `tiles`; text: Text; query: QueryArrays; k: counted letters that may mismatch; buffer:
    HitBuffer, receives the codes.
    """
    offsets = np.empty(len(query.planes), np.int64)
    for i in range(len(offsets)):
        offsets[i] = query.planes[i] * text.plane_words + query.shifts[i] * text.words
    letters = Letters(offsets, query.bounds, counter_of(k))
    counts = np.empty((1 + max(letters.counter.bits, 4)) * WIDE, np.uint64)
    writer = new_writer(buffer, len(query.bounds), k)
    tile = next_item(work)
    while tile >= 0:
        _scan_tile(text, letters, tile * TILE, counts, writer)
        give_up(work, writer)
        tile = next_item(work)
    leave(writer)
