"""k mismatches over striped bit planes."""

from typing import NamedTuple

import numpy as np

from kmatch.arrays import Longs
from kmatch.engine.cpu.counters import (
    BEYOND,
    Counter,
    add_four,
    add_one,
    begin_high,
    begin_wide,
    counter_of,
    ripple,
    save,
)
from kmatch.engine.cpu.hits import give_up, leave, new_writer, put
from kmatch.engine.cpu.items import WIDE
from kmatch.engine.cpu.vectors import (
    ALL_ONES,
    NONE,
    ONE,
    fill_wide,
    load_wide,
    lowest,
    nonzero,
    pointer,
)
from kmatch.engine.geometry import Text
from kmatch.engine.workers_kernels import next_item
from kmatch.jit.kernels import kernel


class Letters(NamedTuple):
    """Queries in a chunk; pointers may take the place of the arrays.

    offsets: int64[L], of a letter's words from those of its window's start; bounds: see
    QueryArrays; queries: how many there are.
    """

    offsets: Longs
    bounds: Longs
    queries: int
    counter: Counter


def _make_seek(kept):
    @kernel
    def seek(planes, at, last, offsets, query, counter, counts):
        """Count the mismatches of one query, WIDE words at a time, until a lane is within k.

        planes, offsets, counts: pointers. Returns the index of these words, `last` or more if there
        are none; counts then holds their live plane and the bits of their counters, WIDE words
        each. query: its first counted letter, its first exact one, its end, and the letter from
        which on it pays to look whether any lane is live.
        """
        first, exact, end, look = query
        fours = first + (exact - first) // 4 * 4
        while at < last:
            counters = begin_wide(counter.first_count)
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
                    save(counts, 0, live, counters)
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
def _collect(counts, counter, text, at, words, query, writer):
    """Write the codes of the live lanes of some words; words: (first, last) of a vector at `at`."""
    for w in range(*words):
        live = counts[w]
        if live == NONE:
            continue
        row, word = divmod(at + w, text.words)
        while live != NONE:
            bit = lowest(live)
            live &= live - ONE
            position = (64 * word + bit) * text.rows + row
            put(writer, position, query, _distance(counts, counter, w, bit))


@kernel
def _scan_letters(text, letters, q, at, end, counts, writer):
    """Scan words next to each other for one query."""
    bounds, counter = letters.bounds, letters.counter
    query = (bounds[4 * q], bounds[4 * q + 1], bounds[4 * q + 2], bounds[4 * q + 3])
    while True:
        at = _seek(text.planes, at, end, letters.offsets, query, counter, counts)
        if at >= end:
            break
        _collect(counts, counter, text, at, (0, min(WIDE, end - at)), q, writer)
        at += WIDE


@kernel
def _scan_tile(text, letters, tile, counts, writer):
    """Scan a tile for all queries."""
    at, whole = tile.row * text.words + tile.word, tile.words == text.words
    rows, words = (1, tile.rows * tile.words) if whole else (tile.rows, tile.words)
    for q in range(letters.queries):
        for row in range(rows):
            here = at + row * text.words
            _scan_letters(text, letters, q, here, here + words, counts, writer)


class Tile(NamedTuple):
    """Rows and words of a chunk that all queries scan before the next, in the L1 cache."""

    row: int
    rows: int
    word: int
    words: int


@kernel
def _tile_of(tiling, text, item):
    down, across = divmod(item, tiling.across)
    row, word = down * tiling.rows, across * tiling.words
    return Tile(row, min(tiling.rows, text.rows - row), word, min(tiling.words, text.words - word))


@kernel
def _letter_offsets(text, query):
    """The offsets of Letters."""
    offsets = np.empty(len(query.planes), np.int64)
    for i in range(len(offsets)):
        offsets[i] = query.planes[i] * text.plane_words + query.shifts[i] * text.words
    return offsets


@kernel
def _new_counts(k):
    """Memory for the counters of a wide vector."""
    return np.empty((1 + max(counter_of(k).bits, 4)) * WIDE, np.uint64)


@kernel
def _scan_tiles(work, text, query, offsets, k, tiling, counts, writer):
    """Scan tiles until none is left; its arrays outlive it, so what it calls takes pointers."""
    chunk = Text(pointer(text.planes), text.words, text.rows, text.plane_words)
    queries = len(query.bounds)
    letters = Letters(pointer(offsets), pointer(query.bounds), queries, counter_of(k))
    counts_at = pointer(counts)
    item = next_item(work)
    while item >= 0:
        tile = _tile_of(tiling, text, item)
        _scan_tile(chunk, letters, tile, counts_at, writer)
        give_up(work, writer)
        item = next_item(work)


@kernel
def scan(work, text, query, k, tiling, buffer):
    """Find every window within k mismatches of each query.

    work: an item is a tile; text: Text; query: QueryArrays; k: counted letters that may mismatch;
    tiling: see `tiling_of`; buffer: HitBuffer, receives the codes.
    """
    offsets, counts = _letter_offsets(text, query), _new_counts(k)
    writer = new_writer(buffer, len(query.bounds), k)
    _scan_tiles(work, text, query, offsets, k, tiling, counts, writer)
    leave(writer)
