"""k mismatches over striped bit planes, three letters at a time.

There are 64 triplets of bases. How many letters of each mismatch at a position, two bits, is worked
out once for all queries, as planes of sums; a query of five triplets then adds five numbers where
it would have added fifteen bits, which takes half of the operations.
"""

from typing import NamedTuple

import numpy as np

from kmatch.arrays import Ints, Longs
from kmatch.engine.cpu.bits.counters import (
    BEYOND,
    add_four,
    add_one,
    add_sum,
    add_sums,
    begin_sum,
    save,
    saved,
    sum_of,
)
from kmatch.engine.cpu.bits.vectors import WORDS, load, nonzero, store
from kmatch.jit import inlined, kernel

LETTERS = 3
SUMS = 4**LETTERS * 2 * WORDS  # words of a row of sums: two vectors a triplet
FURTHEST = 96  # offset of a triplet in its window; as many rows of sums precede those of a tile
BATCH = 1024  # queries whose triplets stay in the L1 cache while the rows of a tile are read


class Planned(NamedTuple):
    """Queries that are scanned by triplets; pointers may take the place of the arrays.

    number: how many, G; queries: int64[G], which; before_look: triplets of each after which it
    pays to look whether any lane is live; stride: the same or one more, those that are planned;
    triplets: int32[G·stride], where the sums of them lie, from the row of the window's start on;
    rests: int64[G], the first letter of each that is in no triplet.
    """

    number: int
    queries: Longs
    before_look: int
    stride: int
    triplets: Ints
    rests: Longs


@kernel
def _is_triplet(query, i):
    planes, shifts = query.planes, query.shifts
    for j in range(LETTERS):
        if planes[i + j] >= 4 or shifts[i + j] != shifts[i] + j:
            return False
    return shifts[i] <= FURTHEST


@kernel
def _usual_counts(bounds):
    """How many triplets most queries have before it pays to look for live lanes, and how many of
    theirs are planned: one more where all of these queries have it."""
    looks = (bounds[:, 3] - bounds[:, 0]) // LETTERS
    seen = np.zeros(looks.max() + 1, np.int64)
    for count in looks:
        seen[count] += 1
    count = np.argmax(seen)
    for q in range(len(bounds)):
        if looks[q] == count and bounds[q, 1] - bounds[q, 0] < LETTERS * (count + 1):
            return count, count
    return count, count + 1


@kernel
def _find_triplets(query, q, count, stops, found):
    """Fill `found` with the first letters of a query's triplets; returns whether it is planned.

    It is not if it has fewer, not `count` before it pays to look, or if it would stop too often
    only to count the rest.
    """
    first, exact, look = query.bounds[q, 0], query.bounds[q, 1], query.bounds[q, 3]
    if (look - first) // LETTERS != count or (stops and exact - first > LETTERS * count):
        return False
    had, i = 0, first
    while had < len(found) and i + LETTERS <= exact:
        if _is_triplet(query, i):
            found[had] = i
            had += 1
            i += LETTERS
        else:
            i += 1
    return had == len(found)


@kernel
def _move_rest(offsets, first, exact, found):
    """Move the letters in [first, exact) that are in no triplet behind those that are; returns
    where they begin."""
    rest, last = exact, len(found) - 1
    for i in range(exact - 1, first - 1, -1):
        while last >= 0 and found[last] > i:
            last -= 1
        if last < 0 or i >= found[last] + LETTERS:
            rest -= 1
            offsets[rest], offsets[i] = offsets[i], offsets[rest]
    return rest


@kernel
def _sum_offset(query, i):
    code = 0
    for j in range(LETTERS):
        code = 4 * code + query.planes[i + j]
    return query.shifts[i] * SUMS + code * 2 * WORDS


@kernel
def plan_triplets(query, offsets, tiling):
    """Share QueryArrays out: (Planned, the other queries, which rows of sums a tile needs).

    offsets, tiling: see Letters and Tiling in `kmatch.engine.cpu.hamming.scan`; letters that are in
    no triplet of their query move behind the others. Other queries: int64[Q−G]; rows: uint8[x].
    """
    number, count, stride = len(query.bounds), 0, 0
    if number >= tiling.fewest:
        count, stride = _usual_counts(query.bounds)
    stops = LETTERS * count < tiling.enough
    queries, others = np.empty(number, np.int64), np.empty(number, np.int64)
    triplets, rests = np.empty(number * stride, np.int32), np.empty(number, np.int64)
    firsts, rows = np.empty(stride, np.int64), np.zeros(tiling.rows + FURTHEST, np.uint8)
    planned = 0
    for q in range(number):
        if count == 0 or not _find_triplets(query, q, count, stops, firsts):
            others[q - planned] = q
            continue
        for i in range(stride):
            triplets[planned * stride + i] = _sum_offset(query, firsts[i])
            rows[query.shifts[firsts[i]] : query.shifts[firsts[i]] + tiling.rows] = 1
        queries[planned] = q
        rests[planned] = _move_rest(offsets, query.bounds[q, 0], query.bounds[q, 1], firsts)
        planned += 1
    if planned * tiling.rows < tiling.fewest * rows.sum():
        planned, others[:] = 0, np.arange(number)
    needed = 0
    for row in range(len(rows)):
        needed = row + 1 if rows[row] else needed
    found = Planned(planned, queries, count, stride, triplets, rests)
    return found, others[: number - planned], rows[:needed]


@kernel
def fill_sums(text, at, rows, sums):
    """Fill the rows of sums that a tile needs, for the lanes of WORDS words.

    at: index in a plane of these words in the first row; rows: uint8, which to fill.
    """
    planes, size, words = text.planes, text.plane_words, text.words
    for row in range(len(rows)):
        if rows[row]:
            out = row * SUMS
            for a in range(4):
                first = load(planes, a * size + at)
                for b in range(4):
                    second = load(planes, b * size + at + words)
                    for c in range(4):
                        third = load(planes, c * size + at + 2 * words)
                        low, high = sum_of(first, second, third)
                        store(sums, out, low)
                        store(sums, out + WORDS, high)
                        out += 2 * WORDS
        at += words


def _make_seek(kept):
    @inlined
    def first(sums, row, triplet, first_count):
        here = row + triplet
        return begin_sum(kept, first_count, load(sums, here), load(sums, here + WORDS))

    @inlined
    def add(counters, sums, row, triplet):
        here = row + triplet
        return add_sum(kept, counters, load(sums, here), load(sums, here + WORDS))

    @inlined
    def add_two(counters, sums, row, triplet, other):
        here, there = row + triplet, row + other
        low, high = load(sums, here), load(sums, here + WORDS)
        other_low, other_high = load(sums, there), load(sums, there + WORDS)
        return add_sums(kept, counters, low, high, other_low, other_high)

    @kernel
    def seek(sums, row, planned, first_count, queries, counts):
        """Add the sums of two queries after two more in WORDS words, until a lane is within k.

        sums, counts: pointers; row: index of the sums of the windows' first letters; planned: with
        pointers; first_count: what counters begin with; queries: (first, last) of the planned ones.
        Returns the first of the two, `last` or more if there is none; counts then holds what `save`
        writes, of the second one WORDS behind the first. The last query may stand alone, and is
        then both.
        """
        triplets, count, stride = planned.triplets, planned.before_look, planned.stride
        g, last = queries
        while g < last:
            i = g * stride
            end, step = i + count, stride if g + 1 < last else 0
            a = first(sums, row, triplets[i], first_count)
            b = first(sums, row, triplets[i + step], first_count)
            i += 1
            while i + 1 < end:
                a = add_two(a, sums, row, triplets[i], triplets[i + 1])
                b = add_two(b, sums, row, triplets[i + step], triplets[i + step + 1])
                i += 2
            if i < end:
                a = add(a, sums, row, triplets[i])
                b = add(b, sums, row, triplets[i + step])
            if nonzero(a[0] | b[0]) != 0:
                if count < stride:
                    a = add(a, sums, row, triplets[end])
                    b = add(b, sums, row, triplets[end + step])
                if nonzero(a[0] | b[0]) != 0:
                    save(counts, 0, a[0], a)
                    save(counts, WORDS, b[0], b)
                    break
            g += 2
        return g

    return seek


def _make_finish(kept):
    @inlined
    def add_letters(counters, planes, at, offsets, letters):
        first, exact, end = letters
        while first + 4 <= exact:
            a, b = load(planes, at + offsets[first]), load(planes, at + offsets[first + 1])
            c, d = load(planes, at + offsets[first + 2]), load(planes, at + offsets[first + 3])
            counters = add_four(kept, counters, a, b, c, d)
            first += 4
        while first < exact:
            counters = add_one(kept, counters, load(planes, at + offsets[first]))
            first += 1
        live, ones, twos, fours, eights = counters
        while first < end:
            live = live & load(planes, at + offsets[first])
            first += 1
        return live, ones, twos, fours, eights

    @kernel
    def finish(planes, at, letters, planned, pair, counts):
        """Count the letters that are in no triplet, of the two queries that `seek` stopped for.

        planes, counts: pointers; at: index of the words in a plane; letters, planned: with
        pointers; pair: (first, last) of the planned queries. Returns a bit for each query that has
        a lane within k; their counters are saved again.
        """
        found = 0
        for g in range(*pair):
            half = g - pair[0]
            counters = saved(counts, half * WORDS)
            if nonzero(counters[0]) == 0:
                continue
            bounds = 4 * planned.queries[g]
            rest = (planned.rests[g], letters.bounds[bounds + 1], letters.bounds[bounds + 2])
            counters = add_letters(counters, planes, at, letters.offsets, rest)
            if nonzero(counters[0]) != 0:
                save(counts, half * WORDS, counters[0], counters)
                found |= 1 << half
        return found

    return finish


_seek_1, _seek_2, _seek_3, _seek_4 = (_make_seek(kept) for kept in range(1, BEYOND))
_finish_1, _finish_2, _finish_3, _finish_4 = (_make_finish(kept) for kept in range(1, BEYOND))


@kernel
def seek_pair(sums, row, planned, counter, queries, counts):
    """See `seek`."""
    if counter.bits == 1:
        return _seek_1(sums, row, planned, counter.first_count, queries, counts)
    if counter.bits == 2:
        return _seek_2(sums, row, planned, counter.first_count, queries, counts)
    if counter.bits == 3:
        return _seek_3(sums, row, planned, counter.first_count, queries, counts)
    return _seek_4(sums, row, planned, counter.first_count, queries, counts)


@kernel
def finish_pair(planes, at, letters, planned, pair, counts):
    """See `finish`."""
    if letters.counter.bits == 1:
        return _finish_1(planes, at, letters, planned, pair, counts)
    if letters.counter.bits == 2:
        return _finish_2(planes, at, letters, planned, pair, counts)
    if letters.counter.bits == 3:
        return _finish_3(planes, at, letters, planned, pair, counts)
    return _finish_4(planes, at, letters, planned, pair, counts)
