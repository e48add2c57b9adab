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
    begin_high,
    begin_wide,
    counter_of,
    ripple,
    save,
)
from kmatch.engine.cpu.bits.vectors import (
    ALL_ONES,
    NONE,
    ONE,
    WIDE,
    WORDS,
    aligned,
    fill_wide,
    load_wide,
    lowest,
    nonzero,
    pointer,
)
from kmatch.engine.cpu.hamming.triplets import (
    BATCH,
    SUMS,
    Planned,
    fill_sums,
    finish_pair,
    plan_triplets,
    seek_pair,
)
from kmatch.engine.geometry import Text, base_pairs, likeness
from kmatch.engine.host.sharing import next_item
from kmatch.engine.queries import letters_enough
from kmatch.jit import kernel

TILE = 512  # words of text in a tile, at the most
FEWEST = 75  # queries that make up for a row of sums of triplets
NEVER = 1 << 62
TILE_ROWS = 32  # of one whose sums of triplets stay in the L2 cache


class Letters(NamedTuple):
    """Queries in a chunk; pointers may take the place of the arrays.

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
    """Scan words next to each other for one query, letter by letter."""
    bounds, counter = letters.bounds, letters.counter
    query = (bounds[4 * q], bounds[4 * q + 1], bounds[4 * q + 2], bounds[4 * q + 3])
    while True:
        at = _seek(text.planes, at, end, letters.offsets, query, counter, counts)
        if at >= end:
            break
        _collect(counts, counter, text, at, (0, min(WIDE, end - at)), q, writer)
        at += WIDE


@kernel
def _scan_others(text, letters, others, tile, counts, writer):
    """Scan a tile for the queries that are not planned."""
    at, whole = tile.row * text.words + tile.word, tile.words == text.words
    rows, words = (1, tile.rows * tile.words) if whole else (tile.rows, tile.words)
    for q in others:
        for row in range(rows):
            here = at + row * text.words
            _scan_letters(text, letters, q, here, here + words, counts, writer)


@kernel
def _scan_planned(text, letters, planned, tile, needed, sums, counts, writer):
    """Scan a tile for the planned queries, WORDS words of its rows at a time."""
    end = tile.word + tile.words
    for word in range(tile.word, end, WORDS):
        # The last vector of a row begins in the one before it where the row has no more words.
        begin = min(word, text.words - WORDS)
        fresh, stop = word - begin, min(end - begin, WORDS)
        at = tile.row * text.words + begin
        fill_sums(text, at, needed[: len(needed) - tile.missing], sums)
        for first in range(0, planned.number, BATCH):
            last = min(first + BATCH, planned.number)
            for row in range(tile.rows):
                here, g = at + row * text.words, first
                while True:
                    g = seek_pair(sums, row * SUMS, planned, letters.counter, (g, last), counts)
                    if g >= last:
                        break
                    pair = (g, min(g + 2, last))
                    found = finish_pair(text.planes, here, letters, planned, pair, counts)
                    for half in range(2):
                        if found >> half & 1:
                            by, q = half * WORDS, planned.queries[g + half]
                            words = (by + fresh, by + stop)
                            _collect(counts, letters.counter, text, here - by, words, q, writer)
                    g += 2


class Tile(NamedTuple):
    """Rows and words of a chunk that all queries scan before the next: they stay in the L1 cache.

    missing: rows that it has fewer than others.
    """

    row: int
    rows: int
    word: int
    words: int
    missing: int


class Tiling(NamedTuple):
    """A chunk cut into tiles of so many rows and words, `across` of them beside each other; fewest:
    queries that make up for a row of sums of triplets; enough: letters after which few lanes are
    within k."""

    rows: int
    words: int
    across: int
    fewest: int
    enough: int


def tiling_of(text: Text, queries: int, k: int) -> tuple[Tiling, int]:
    """The Tiling of a Text for so many queries, and how many tiles it has."""
    wide = text.words >= WORDS
    able = wide and queries >= FEWEST and k < 1 << (BEYOND - 1)
    enough = 0
    if able:
        enough = letters_enough(k, likeness(base_pairs(text).sum(axis=1)))
    rows = min(TILE_ROWS if wide else TILE // text.words, text.rows)
    words = min(text.words, TILE // rows)
    across = -(-text.words // words)
    tiling = Tiling(rows, words, across, FEWEST if able else NEVER, enough)
    return tiling, -(-text.rows // rows) * across


@kernel
def _tile_of(tiling, text, item):
    down, across = divmod(item, tiling.across)
    row, word = down * tiling.rows, across * tiling.words
    rows = min(tiling.rows, text.rows - row)
    words = min(tiling.words, text.words - word)
    return Tile(row, rows, word, words, tiling.rows - rows)


@kernel
def _scan_tiles(work, text, query, offsets, k, tiling, memory, writer):
    """Scan tiles until none is left.

    What it is given outlives it, so that what it calls takes pointers. offsets: see Letters;
    memory: what `plan_triplets` returns, sums, counts.
    """
    (planned, others, needed), sums, counts = memory
    chunk = Text(pointer(text.planes), text.words, text.rows, text.plane_words)
    letters = Letters(pointer(offsets), pointer(query.bounds), counter_of(k))
    number, queries, count, stride, triplets, rests = planned
    pointing = Planned(number, pointer(queries), count, stride, pointer(triplets), pointer(rests))
    sums_at, counts_at = pointer(sums), pointer(counts)
    item = next_item(work)
    while item >= 0:
        tile = _tile_of(tiling, text, item)
        if number > 0:
            _scan_planned(chunk, letters, pointing, tile, needed, sums_at, counts_at, writer)
        _scan_others(chunk, letters, others, tile, counts_at, writer)
        give_up(work, writer)
        item = next_item(work)


@kernel
def scan(work, text, query, k, tiling, buffer):
    """Find every window within k mismatches of each query.

    work: an item is a tile; text: Text; query: QueryArrays; k: counted letters that may mismatch;
    tiling: see `tiling_of`; buffer: HitBuffer, receives the codes.
    """
    offsets = np.empty(len(query.planes), np.int64)
    for i in range(len(offsets)):
        offsets[i] = query.planes[i] * text.plane_words + query.shifts[i] * text.words
    plan = plan_triplets(query, offsets, tiling)
    sums = aligned(len(plan[2]) * SUMS)
    counts = np.empty((1 + max(counter_of(k).bits, 4)) * WIDE, np.uint64)
    writer = new_writer(buffer, len(query.bounds), k)
    _scan_tiles(work, text, query, offsets, k, tiling, (plan, sums, counts), writer)
    leave(writer)
