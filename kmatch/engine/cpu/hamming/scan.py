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
    fill_wide,
    load_wide,
    lowest,
    nonzero,
    pointer,
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
def collect(counts, counter, text, at, words, query, writer):
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
        collect(counts, counter, text, at, (0, min(WIDE, end - at)), q, writer)
        at += WIDE


@kernel
def scan_by_letter(text, letters, queries, tile, counts, writer):
    """Scan a tile for some queries, letter by letter; queries: int64[n], their numbers."""
    at, whole = tile.row * text.words + tile.word, tile.words == text.words
    rows, words = (1, tile.rows * tile.words) if whole else (tile.rows, tile.words)
    for q in queries:
        for row in range(rows):
            here = at + row * text.words
            _scan_letters(text, letters, q, here, here + words, counts, writer)


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
def tile_of(tiling, text, item):
    down, across = divmod(item, tiling.across)
    row, word = down * tiling.rows, across * tiling.words
    rows = min(tiling.rows, text.rows - row)
    words = min(tiling.words, text.words - word)
    return Tile(row, rows, word, words, tiling.rows - rows)


@kernel
def letter_offsets(text, query):
    """The offsets of Letters."""
    offsets = np.empty(len(query.planes), np.int64)
    for i in range(len(offsets)):
        offsets[i] = query.planes[i] * text.plane_words + query.shifts[i] * text.words
    return offsets


@kernel
def new_counts(k):
    """Memory for the counters of two vectors."""
    return np.empty((1 + max(counter_of(k).bits, 4)) * WIDE, np.uint64)


@kernel
def _scan_tiles(work, text, query, offsets, k, tiling, counts, writer):
    """Scan tiles until none is left; its arrays outlive it, so what it calls takes pointers."""
    chunk = Text(pointer(text.planes), text.words, text.rows, text.plane_words)
    letters = Letters(pointer(offsets), pointer(query.bounds), counter_of(k))
    counts_at, queries = pointer(counts), np.arange(len(query.bounds))
    item = next_item(work)
    while item >= 0:
        tile = tile_of(tiling, text, item)
        scan_by_letter(chunk, letters, queries, tile, counts_at, writer)
        give_up(work, writer)
        item = next_item(work)


@kernel
def scan(work, text, query, k, tiling, buffer):
    """Find every window within k mismatches of each query, letter by letter.

    work: an item is a tile; text: Text; query: QueryArrays; k: counted letters that may mismatch;
    tiling: see `tiling_of`; buffer: HitBuffer, receives the codes.
    """
    offsets, counts = letter_offsets(text, query), new_counts(k)
    writer = new_writer(buffer, len(query.bounds), k)
    _scan_tiles(work, text, query, offsets, k, tiling, counts, writer)
    leave(writer)
