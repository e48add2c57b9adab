"""Myers' recurrence in Hyyrö's form, bit-sliced: one bit of a word is one lane.

A row of the matrix is a pattern letter, a column a text position. A thread keeps the vertical
deltas pv, mv (+1, −1) of its rows in registers and takes COLUMNS columns at a time down the rows,
so that what a row costs in addresses is shared by them; ph, mh are the horizontal deltas of these
columns. A cell's diagonal delta is 0 where d = eq | mv | mh, which leaves five three-input
operations a cell.

Counters of D − (k + 1) are bit-sliced too, in two's complement: the sign bit says at most k.

Nothing here uses `cuda` beyond its decorator: the simulator wants that beside the kernels.
"""

from numba import uint64

from kmatch.engine.cuda.bits.logic import and_alike, any_of, or_neither
from kmatch.engine.cuda.bits.words import ALL, NONE, ONE, lowest
from kmatch.engine.cuda.gpu.driver import cuda

THREADS = 64
COLUMNS = 4


@cuda.jit(device=True)
def stage(text, plane_words, planes, at, step, left, tile, thread):
    """Copy COLUMNS rows of the text planes to shared memory.

    Plane p, column c goes to (p·COLUMNS + c)·THREADS. at: where this thread's word of the first
    row is; step: words to the next row, negative where the text is read downwards; left: columns
    there are. What is beyond repeats the last one.
    """
    for c in range(COLUMNS):
        for p in range(4):
            to = uint64(thread) + uint64((p * COLUMNS + c) * THREADS)
            tile[to] = text[uint64(at + p * plane_words)]
        for p in range(4, planes):
            to = uint64(thread) + uint64((p * COLUMNS + c) * THREADS)
            tile[to] = text[uint64(at + p * plane_words)]
        at += step if c + 1 < left else 0


@cuda.jit(device=True)
def cell(eq, i, c, pv, mv, ph, mh):
    """Take column c down row i; eq: the lanes in which pattern and text letter are the same."""
    d = any_of(eq, mv[i], mh[c])
    up = or_neither(mv[i], d, pv[i])
    down = pv[i] & d
    pv[i] = or_neither(mh[c], d, ph[c])
    mv[i] = ph[c] & d
    ph[c] = up
    mh[c] = down


@cuda.jit(device=True)
def _row(tile, places, thread, i, pv, mv, ph, mh):
    at = uint64(places[i] + thread)
    for c in range(COLUMNS):
        cell(tile[at + uint64(c * THREADS)], i, c, pv, mv, ph, mh)


@cuda.jit(device=True)
def _rows_2(tile, places, thread, i, pv, mv, ph, mh):
    _row(tile, places, thread, i, pv, mv, ph, mh)
    _row(tile, places, thread, i + 1, pv, mv, ph, mh)


@cuda.jit(device=True)
def _rows_4(tile, places, thread, i, pv, mv, ph, mh):
    _rows_2(tile, places, thread, i, pv, mv, ph, mh)
    _rows_2(tile, places, thread, i + 2, pv, mv, ph, mh)


@cuda.jit(device=True)
def _rows_8(tile, places, thread, i, pv, mv, ph, mh):
    _rows_4(tile, places, thread, i, pv, mv, ph, mh)
    _rows_4(tile, places, thread, i + 4, pv, mv, ph, mh)


@cuda.jit(device=True)
def _rows_16(tile, places, thread, i, pv, mv, ph, mh):
    _rows_8(tile, places, thread, i, pv, mv, ph, mh)
    _rows_8(tile, places, thread, i + 8, pv, mv, ph, mh)


@cuda.jit(device=True)
def advance(rows, tile, places, thread, pv, mv, ph, mh):
    """Take COLUMNS columns down `rows` rows, a constant of the kernel, at most 32.

    The rows are written out by halves: the compiler gives up unrolling a loop of so many, and
    deltas that are reached by an index it does not know leave the registers.
    """
    i = 0
    if rows & 32:
        _rows_16(tile, places, thread, 0, pv, mv, ph, mh)
        _rows_16(tile, places, thread, 16, pv, mv, ph, mh)
        i += 32
    if rows & 16:
        _rows_16(tile, places, thread, i, pv, mv, ph, mh)
        i += 16
    if rows & 8:
        _rows_8(tile, places, thread, i, pv, mv, ph, mh)
        i += 8
    if rows & 4:
        _rows_4(tile, places, thread, i, pv, mv, ph, mh)
        i += 4
    if rows & 2:
        _rows_2(tile, places, thread, i, pv, mv, ph, mh)
        i += 2
    if rows & 1:
        _row(tile, places, thread, i, pv, mv, ph, mh)


@cuda.jit(device=True)
def put(bits, counter, number):
    """Set a counter of `bits` bits to a number in every lane."""
    for b in range(bits):
        counter[b] = ALL if (number >> b) & 1 else NONE


@cuda.jit(device=True)
def add(bits, counter, plus, minus):
    """Add 1 in the lanes of plus, −1 in those of minus; returns the sign plane."""
    flip = plus | minus
    for b in range(bits - 1):
        old = counter[b]
        counter[b] = old ^ flip
        flip = and_alike(flip, old, plus)
    counter[bits - 1] ^= flip
    return counter[bits - 1]


@cuda.jit(device=True)
def _read(bits, counter, bit):
    """The number in a lane whose sign is set."""
    number = 0
    for b in range(bits - 1):
        number += int((counter[b] >> uint64(bit)) & ONE) << b
    return number - (1 << (bits - 1))


@cuda.jit(device=True)
def least(bits, left, counter):
    """The smallest number in the lanes set in left, whose signs are set."""
    number = 0
    for i in range(bits - 1):
        b = bits - 2 - i
        lower = left & ~counter[b]
        if lower:
            left = lower
        else:
            number += 1 << b
    return number - (1 << (bits - 1))


@cuda.jit(device=True)
def write(bits, left, counter, first, lane_rows, place, limit, codes, to):
    """Write the codes of the lanes set in left from codes[to] on, where there is room.

    first: the position of the word's first lane; place: (queries, query, factor of the codes);
    limit: the number in a counter is the distance less limit + 1.
    """
    ranks, rank, factor = place
    code = (first * ranks + rank) * factor + limit + 1
    apart = lane_rows * ranks * factor
    while left:
        bit = lowest(left)
        left &= left - ONE
        if to < len(codes):
            codes[to] = code + bit * apart + _read(bits, counter, bit)
        to += 1


def counter_bits(rows, k):
    """Bits of a counter that holds every D − (k + 1) of `rows` rows.

    An even number: half as many kernels to compile are worth an operation a column.
    """
    bits = max(k + 1, rows - k).bit_length() + 1
    return bits + bits % 2
