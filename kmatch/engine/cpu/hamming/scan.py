"""k mismatches over striped bit planes."""

import numpy as np

from kmatch.engine.cpu.bits.buffer import give_up, leave, new_slot, put
from kmatch.engine.cpu.bits.counters import (
    ALL,
    BEYOND,
    add_four,
    add_one,
    begin,
    begin_high,
    ripple,
    save,
)
from kmatch.engine.cpu.bits.vectors import WIDE, fill_wide, load_wide, lowest, nonzero
from kmatch.engine.host.sharing import next_item
from kmatch.jit import kernel

TILE = 512  # words of text that all queries go over before the next: they stay in the L1 cache


def _make_seek(kept):
    @kernel
    def seek(text, at, last, offsets, query, bits, first_count, counts):
        """Count one query on WIDE words of lanes after the other until one is within k.

        Returns where those words are, `last` or more if there are none; counts, uint64, then holds
        their live plane and the bits of their counters, WIDE words each.
        query: its first counted letter, first exact one, end, and the letter from which on it pays
        to look whether any lane is live.
        """
        first, exact, end, look = query
        fours = first + (exact - first) // 4 * 4
        while at < last:
            counters = begin(first_count)
            live = fill_wide(ALL)
            some = True
            if kept == BEYOND:
                begin_high(counts, bits, first_count)
            for i in range(first, fours, 4):
                a = load_wide(text, at + offsets[i])
                b = load_wide(text, at + offsets[i + 1])
                c = load_wide(text, at + offsets[i + 2])
                d = load_wide(text, at + offsets[i + 3])
                counters = add_four(kept, counters, a, b, c, d)
                if kept == BEYOND:
                    live, counters = ripple(counts, bits, live, counters)
                if i + 4 >= look:
                    some = nonzero(live if kept == BEYOND else counters[0]) != 0
                    if not some:
                        break
            if some:
                for i in range(fours, exact):
                    counters = add_one(kept, counters, load_wide(text, at + offsets[i]))
                    if kept == BEYOND:
                        live, counters = ripple(counts, bits, live, counters)
                if kept != BEYOND:
                    live = counters[0]
                for i in range(exact, end):
                    live = live & load_wide(text, at + offsets[i])
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
def _seek(text, at, last, offsets, query, bits, first_count, counts):
    if bits == 1:
        return _seek_1(text, at, last, offsets, query, bits, first_count, counts)
    if bits == 2:
        return _seek_2(text, at, last, offsets, query, bits, first_count, counts)
    if bits == 3:
        return _seek_3(text, at, last, offsets, query, bits, first_count, counts)
    if bits == 4:
        return _seek_4(text, at, last, offsets, query, bits, first_count, counts)
    return _seek_beyond(text, at, last, offsets, query, bits, first_count, counts)


@kernel
def _distance(counts, bits, first_count, word, bit):
    count = 0
    for b in range(bits):
        complemented = counts[(1 + b) * WIDE + word] >> np.uint64(bit)
        count |= (1 - np.int64(complemented & np.uint64(1))) << b
    return count - first_count


@kernel
def _collect(counts, bits, k, at, shape, rank, ranks, buffer, slot):
    """Keep the codes of the live lanes of the words from `at` on."""
    words, rows = shape
    first_count = (1 << bits) - (k + 1)
    for w in range(min(WIDE, rows * words - at)):
        row, word = divmod(at + w, words)
        live = counts[w]
        while live != np.uint64(0):
            bit = lowest(live)
            live &= live - np.uint64(1)
            position = (64 * word + bit) * rows + row
            distance = _distance(counts, bits, first_count, w, bit)
            put(buffer, slot, (position * ranks + rank) * (k + 1) + distance)


@kernel
def _scan_tile(text, shape, offsets, bounds, k, tile, counts, buffer, slot):
    """Scan TILE words of the rows from word `tile` on for all queries."""
    bits = _bits(k)
    first_count = (1 << bits) - (k + 1)
    for q in range(len(bounds)):
        query = (bounds[q, 0], bounds[q, 1], bounds[q, 2], bounds[q, 3])
        at, end = tile, min(tile + TILE, shape[0] * shape[1])
        while True:
            at = _seek(text, at, end, offsets, query, bits, first_count, counts)
            if at >= end:
                break
            _collect(counts, bits, k, at, shape, q, len(bounds), buffer, slot)
            at += WIDE


@kernel
def _bits(k):
    """Bits of a counter that overflows past k."""
    bits = 1
    while (1 << bits) < k + 1:
        bits += 1
    return bits


def tiles(words, rows):
    """Items of work in a scan of a chunk."""
    return -(-rows * words // TILE)


@kernel
def scan(work, text, query, k, buffer):
    """Find every window within k mismatches of each query.

    work: the tiles of the chunk, see `tiles`; text: Text; query: QueryArrays; k: int, counted
    letters that may mismatch; buffer: HitBuffer, receives the codes.
    """
    planes, words, rows, plane_words = text
    letters, shifts, bounds, _ = query
    offsets = np.empty(len(letters), np.int64)
    for i in range(len(letters)):
        offsets[i] = letters[i] * plane_words + shifts[i] * words
    counts = np.empty((1 + max(_bits(k), 4)) * WIDE, np.uint64)
    slot = new_slot()
    tile = next_item(work)
    while tile >= 0:
        shape = (words, rows)
        _scan_tile(planes, shape, offsets, bounds, k, tile * TILE, counts, buffer, slot)
        give_up(work, buffer, slot)
        tile = next_item(work)
    leave(buffer, slot)
