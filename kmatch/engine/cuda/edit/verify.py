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


@cache
def make_verify(most: int) -> Any:
    """The kernel for patterns of up to `most` words."""

    @cuda.jit(cache=True)
    def kernel(text, shape, patterns, survivors, survivor_count, codes, count):
        words, lane_rows, plane_rows, queries, factor = shape
        table, begins, searches, pieces = patterns
        pv = cuda.local.array(most, uint64)
        mv = cuda.local.array(most, uint64)
        plane_words = plane_rows * words
        lanes, halo = 64 * words, plane_rows - lane_rows
        size = lanes * lane_rows
        many = survivor_count[0]
        if many > len(survivors):  # the filter is to run again
            many = 0
        for i in range(cuda.grid(1), many, cuda.gridsize(1)):
            position, piece = survivors[i] // len(pieces), survivors[i] % len(pieces)
            query = pieces[piece, 3]
            m, k, backward = searches[query, 0], searches[query, 1], searches[query, 2]
            coding = Coding(queries, query, factor, k)
            # The first coordinate that is owned, and the first that can be read.
            sign, own, edge = int64(1), halo, 0
            if backward:
                sign, own, edge = int64(-1), 1 - size, 1 - size - halo
            center = sign * position + pieces[piece, 4]
            low, high = center - k, smaller(center + k, own + size - 1)
            low = own if low < own else low
            start = low - m - k + 1
            start = edge if start < edge else start
            blocks = 1 if most == 1 else (m + 63) >> 6
            last = uint64((m - 1) & 63)
            for b in range(most):
                pv[b], mv[b] = ALL_ONES, NONE
            distance = int64(m)
            lane = smaller(start * sign // lane_rows, lanes - 1)
            row = start * sign - lane * lane_rows
            at = start
            while at <= high:
                mask = _letter(text, plane_words, row * words + (lane >> 6), lane & 63)
                distance += _column(table, begins[query] + mask * blocks, blocks, last, pv, mv)
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
