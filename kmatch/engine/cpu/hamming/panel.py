"""k mismatches of many queries: by sums of triplets where these serve, the others by letter."""

from kmatch.engine.cpu.bits.buffer import give_up, leave, new_writer
from kmatch.engine.cpu.bits.counters import counter_of
from kmatch.engine.cpu.bits.vectors import WORDS, aligned, pointer
from kmatch.engine.cpu.hamming.scan import (
    Letters,
    collect,
    letter_offsets,
    new_counts,
    scan_by_letter,
    tile_of,
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
from kmatch.engine.geometry import Text
from kmatch.engine.host.sharing import next_item
from kmatch.jit import kernel


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
                            collect(counts, letters.counter, text, here - by, words, q, writer)
                    g += 2


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
        tile = tile_of(tiling, text, item)
        if number > 0:
            _scan_planned(chunk, letters, pointing, tile, needed, sums_at, counts_at, writer)
        scan_by_letter(chunk, letters, others, tile, counts_at, writer)
        give_up(work, writer)
        item = next_item(work)


@kernel
def scan_panel(work, text, query, k, tiling, buffer):
    """Find every window within k mismatches of each query; see `scan`."""
    offsets, counts = letter_offsets(text, query), new_counts(k)
    plan = plan_triplets(query, offsets, tiling)
    sums = aligned(len(plan[2]) * SUMS)
    writer = new_writer(buffer, len(query.bounds), k)
    _scan_tiles(work, text, query, offsets, k, tiling, (plan, sums, counts), writer)
    leave(writer)
