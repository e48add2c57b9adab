"""Exact ends in windows of text around survivors: Myers' recurrence, 64 pattern letters to a word.

Windows are in reading coordinates, which always grow while reading: the position in the chunk where
the text is read upwards, its negative where it is read downwards.
"""

from functools import cache
from typing import Any, NamedTuple

from numba import int64, uint64

from kmatch.engine.cuda.bits.buffer import Coding, HitBuffer, encode, reserve
from kmatch.engine.cuda.bits.words import ALL_ONES, NONE, ONE, smaller
from kmatch.engine.cuda.edit.pieces import Survivors
from kmatch.engine.cuda.gpu.driver import DeviceArray, Stream, cuda, multiprocessors
from kmatch.engine.geometry import Text

THREADS = 64
BLOCKS = 16  # for every multiprocessor
MOST_WORDS = 16  # of a pattern, 64 letters each


@cuda.jit(device=True)
def _letter(text, plane_words, at, bit):
    """The mask of the base at a bit of a word, 0 where there is none."""
    mask = int64(0)
    for p in range(4):
        mask |= int64((text[uint64(at + p * plane_words)] >> uint64(bit)) & ONE) << p
    return mask


@cuda.jit(device=True)
def _column(table, at, blocks, last, pv, mv):
    """Advance all words by one text letter; returns the change of the last row."""
    plus = minus = ph = mh = NONE
    for b in range(blocks):
        eq = table[at + b]
        xv = eq | mv[b]
        eq |= minus
        xh = (((eq & pv[b]) + pv[b]) ^ pv[b]) | eq
        ph = mv[b] | ~(xh | pv[b])
        mh = pv[b] & xh
        up, down = (ph << ONE) | plus, (mh << ONE) | minus
        pv[b], mv[b] = down | ~(xv | up), up & xv
        plus, minus = ph >> uint64(63), mh >> uint64(63)
    return int64((ph >> last) & ONE) - int64((mh >> last) & ONE)


class Shape(NamedTuple):
    """A chunk and its hit codes as the kernel takes them.

    rows: that a lane owns; plane_rows: with those of the halo; queries, factor: see Coding.
    """

    words: int
    rows: int
    plane_rows: int
    queries: int
    factor: int


class Patterns(NamedTuple):
    """Queries to verify, on the GPU.

    table, begins: a Profile; searches: int32[Q, 3], a query's length, limit and whether it is read
    downwards; pieces: see PiecePlan.
    """

    table: DeviceArray
    begins: DeviceArray
    searches: DeviceArray
    pieces: DeviceArray


@cuda.jit(device=True)
def _cut_at(piece, length, k):
    """Where one of k + 1 pieces of nearly equal length begins."""
    return piece * length // (k + 1)


@cuda.jit(device=True)
def _decode(survivor, patterns):
    """(position, query, number of the piece, length, limit, whether the text is read downwards)."""
    position, piece = survivor // len(patterns.pieces), survivor % len(patterns.pieces)
    query, number = patterns.pieces[piece, 3], patterns.pieces[piece, 4]
    search = patterns.searches[query]
    return position, query, number, search[0], search[1], search[2]


@cuda.jit(device=True)
def _has_another_further_on(text, shape, patterns, survivor):
    """Whether a piece of the same query matches further on in the text, on the same diagonal.

    It survived as well, and its window is the same, so of such survivors the last one is enough.
    """
    words, lane_rows, plane_rows = shape.words, shape.rows, shape.plane_rows
    position, query, number, m, k, backward = _decode(survivor, patterns)
    table, blocks = patterns.begins[query], (m + 63) >> 6
    lane = smaller(position // lane_rows, 64 * words - 1)
    begin, end = _cut_at(number, m, k), _cut_at(number + 1, m, k)
    row = position - lane * lane_rows + end - begin
    # The pattern's letters that follow in the text.
    letter, step = end, 1
    if backward:
        letter, step = begin - 1, -1
    while letter >= 0 and letter < m:
        number += step
        end = _cut_at(number, m, k) - 1 if backward else _cut_at(number + 1, m, k)
        matches = True
        while matches and letter != end:
            mask = int64(0)
            if row < plane_rows:
                mask = _letter(text, plane_rows * words, row * words + (lane >> 6), lane & 63)
            eq = patterns.table[table + mask * blocks + (letter >> 6)]
            matches = (eq >> uint64(letter & 63)) & ONE != NONE
            letter += step
            row += 1
        if matches:
            return True
        row += (end - letter) * step
        letter = end
    return False


@cache
def make_verify(most: int) -> Any:
    """The kernel for patterns of up to `most` words."""

    @cuda.jit(cache=True)
    def kernel(text, shape, patterns, survivors, survivor_count, codes, count):
        words, lane_rows, plane_rows, queries, factor = shape
        pv = cuda.local.array(most, uint64)
        mv = cuda.local.array(most, uint64)
        plane_words = plane_rows * words
        lanes, halo = 64 * words, plane_rows - lane_rows
        size = lanes * lane_rows
        many = survivor_count[0]
        if many > len(survivors):  # the filter is to run again
            many = 0
        i = cuda.grid(1)
        while True:
            # In a loop of its own: a warp goes on when all of its threads have something to do.
            while i < many and _has_another_further_on(text, shape, patterns, survivors[i]):
                i += cuda.gridsize(1)
            if i >= many:
                break
            position, query, number, m, k, backward = _decode(survivors[i], patterns)
            coding = Coding(queries, query, factor, k)
            # The first coordinate that is owned, and the first that can be read.
            sign, own, edge = int64(1), halo, 0
            # From either end of the piece to the end of a hit: the letters the pattern has there.
            after = m - 1 - _cut_at(number, m, k)
            if backward:
                sign, own, edge = int64(-1), 1 - size, 1 - size - halo
                after = m - _cut_at(number + 1, m, k)
            center = sign * position + after
            low, high = center - k, smaller(center + k, own + size - 1)
            low = own if low < own else low
            start = low - m - k + 1
            start = edge if start < edge else start
            table, blocks = patterns.begins[query], 1 if most == 1 else (m + 63) >> 6
            last = uint64((m - 1) & 63)
            for b in range(most):
                pv[b], mv[b] = ALL_ONES, NONE
            distance = int64(m)
            lane = smaller(start * sign // lane_rows, lanes - 1)
            row = start * sign - lane * lane_rows
            at = start
            while at <= high:
                mask = _letter(text, plane_words, row * words + (lane >> 6), lane & 63)
                distance += _column(patterns.table, table + mask * blocks, blocks, last, pv, mv)
                if distance <= k and at >= low:
                    to = reserve(count, 0, 1)
                    if to < len(codes):
                        codes[to] = encode(at * sign, distance, coding)
                row += sign
                if row < 0:
                    lane, row = lane - 1, lane_rows - 1
                elif row == lane_rows and lane < lanes - 1:
                    lane, row = lane + 1, row - lane_rows
                at += 1
            i += cuda.gridsize(1)

    return kernel


def verify(
    text: Text,
    patterns: Patterns,
    longest: int,
    survivors: Survivors,
    coding: tuple[int, int],
    buffer: HitBuffer,
    stream: Stream,
) -> None:
    """Write the codes of all ends within k around survivors; an end may be written several times.

    text: a chunk whose planes are on the GPU; longest: letters of the longest pattern; coding: the
    queries and the factor of a Coding.
    """
    blocks = 1
    while 64 * blocks < longest:
        blocks *= 2
    planes, words, rows, plane_words = text
    shape = Shape(words, rows, plane_words // words, *coding)
    launch = make_verify(blocks)[BLOCKS * multiprocessors(), THREADS, stream]
    launch(planes, shape, patterns, survivors.codes, survivors.count, *buffer)
