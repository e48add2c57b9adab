"""Tables of pieces of patterns and their neighbours, for look-ups.

A pattern is cut into pieces, counted from its anchor, and piece i is given errors[i] so that
errors[i] + 1 add up to k + 1: a hit with k differences has a piece with at most as many as it was
given. Table i lists patterns by the letters that the text may have where piece i begins. A letter
is two bits, a low and a high one: A 00, C 01, G 10, T 11. Up to 64 letters are two words, or three
for a text: the low bits, the high bits, and which letters are none of the four.
"""

from collections.abc import Callable
from itertools import pairwise
from math import factorial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kmatch.arrays import Bytes, Ints, Longs, Table, Words, bounds_of, distinct
from kmatch.engine.queries import DifferenceQuery
from kmatch.engine.types import COMPLEMENT, Constraints

LOOKED_UP = 10  # letters of a piece at the most: a table has 4^LOOKED_UP codes
MOST_ENTRIES = 1 << 24  # of all tables, 64 MB
MOST_ERRORS = 3  # of a piece
MOST_LOOKUPS = 64  # of a window: each has a bit of a word
WIDEST = 63  # letters of a PAM
ENTRY = 6e-8  # seconds, about, to list one
TAG_BITS = 2  # of an entry, pattern·2^TAG_BITS + differences
BLOCK = 4096  # pieces whose neighbours are listed at a time, a quarter for each difference
CODE_OF = np.array([0, 0, 1, 0, 2, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0], np.uint8)  # by mask
SINGLE = np.array([1, 2, 4, 8], np.uint8)  # masks of one base


class Piece(NamedTuple):
    """offset: letters between the anchor and the piece; size: of its letters that are looked up;
    errors: differences that it may have; gapless: whether these are mismatches alone."""

    offset: int
    size: int
    errors: int
    gapless: bool


class Seeds(NamedTuple):
    """P patterns by the neighbours of their pieces.

    lookups: int64[x, 4], of each the first letter and how many, where its table begins in `starts`,
    and the differences that the piece may have there; starts: int32[Σ(4^size + 1)], the entries of
    a code are starts[code] … starts[code+1] − 1 of its table; present: uint64, a bit for each of
    these codes, whether it has any; entries: int32, pattern·2^TAG_BITS + differences; low, high:
    uint64[P], letters from the anchor on; lengths, limits: int64[P], letters and k; k: the largest;
    gapless: the letters of windows that are compared for mismatches alone, otherwise 0; exact: a
    bit for each of them that has to match.
    """

    lookups: Table
    starts: Ints
    present: Words
    entries: Ints
    low: Words
    high: Words
    lengths: Longs
    limits: Longs
    k: int
    gapless: int = 0
    exact: np.uint64 = np.uint64(0)


class Tables(NamedTuple):
    """What a look-up needs of its queries.

    pams, sizes: see Constraints; strands: int64[S, 2], (minus, backward) of each strand that is
    searched.
    """

    pams: Bytes
    sizes: Longs
    strands: Longs
    seeds: Seeds


class Lookup(NamedTuple):
    """A look-up that may be made; seconds: that its Tables take, about; tables() makes them."""

    seconds: float
    tables: Callable[[], Tables]


def plan_lookup(
    query: DifferenceQuery, constraints: Constraints, gapless: bool = False
) -> Lookup | None:
    """How queries are looked up beside their PAMs, or everywhere where there is none; None where
    they cannot be. gapless: for mismatches alone, which takes patterns of one length."""
    reading, k = query.reading, query.k
    minus = distinct(constraints.minus)
    first = [int(np.argmax(constraints.minus == each)) for each in minus]
    strands = np.stack([minus, reading.backward[first]], axis=1).astype(np.int64)
    # Queries go strand by strand, and letters from the far end to the anchor. What is read upwards
    # is compared by its complement, as its window is the reverse complement of the text.
    count = len(query.limits) // len(strands)
    begins = reading.begins[: count + 1]
    masks = reading.bases[reading.letters[: begins[-1]]]
    masks = masks if reading.backward[0] else COMPLEMENT[masks]
    lengths, limits = np.diff(begins), query.limits[:count]
    longest = int(lengths.max())
    fits = constraints.pams.shape[2] <= WIDEST and longest + (0 if gapless else k) <= 64
    unequal = gapless and int(lengths.min()) < longest
    if not fits or unequal or not np.isin(masks, SINGLE).all():
        return None
    pieces = find_pieces(int(lengths.min()), k, count, gapless)
    if pieces is None:
        return None

    def tables() -> Tables:
        listed = _list_pieces(masks, begins, pieces, k)
        seeds = Seeds(*listed, lengths, limits, k)
        if gapless:
            offset = np.arange(64)
            exact = (offset < constraints.near) | (offset >= longest - constraints.far)
            bits = np.packbits(exact, bitorder="little").view(np.uint64)[0]
            seeds = seeds._replace(gapless=longest, exact=bits)
        return Tables(constraints.pams, constraints.sizes, strands, seeds)

    return Lookup(_entries(pieces, count) * ENTRY, tables)


def find_pieces(shortest: int, k: int, patterns: int, gapless: bool) -> list[Piece] | None:
    """Pieces that are looked up whole, or nearly so, None where all tables would be too large.

    shortest: letters of the shortest pattern.
    """
    counts = range(-(-(k + 1) // (MOST_ERRORS + 1)), min(k + 1, shortest) + 1)
    for count in sorted(counts, key=lambda count: abs(count - -(-shortest // LOOKED_UP))):
        pieces = _cut(shortest, k, count, gapless)
        lookups = sum(len(_shifts(piece, k)) for piece in pieces)
        if lookups <= MOST_LOOKUPS and _entries(pieces, patterns) <= MOST_ENTRIES:
            return pieces
    return None


def _cut(length: int, k: int, count: int, gapless: bool) -> list[Piece]:
    """Pieces of nearly equal length, among which k + 1 is shared out."""
    bounds = [length * i // count for i in range(count + 1)]
    sizes = [min(end - begin, LOOKED_UP) for begin, end in pairwise(bounds)]
    errors = [(k + count - i) // count - 1 for i in range(count)]
    return [Piece(*each, gapless) for each in zip(bounds[:-1], sizes, errors, strict=True)]


def _shifts(piece: Piece, k: int) -> range:
    """How far k differences may move a piece."""
    far = k if piece.offset and not piece.gapless else 0
    return range(-min(far, piece.offset), far + 1)


def _entries(pieces: list[Piece], patterns: int) -> int:
    """How many entries the tables of so many patterns have, about, and not many more."""
    count = 0
    for _, size, errors, gapless in pieces:
        count += patterns * ((3 if gapless else 8) * size) ** errors // factorial(errors)
    return count


def _list_pieces(
    masks: Bytes, begins: Longs, pieces: list[Piece], k: int
) -> tuple[Longs, Ints, Words, Ints, Words, Words]:
    """The lookups, starts, present, entries, low and high of Seeds.

    masks: uint8[L], letters of patterns side by side, from the far end to the anchor; begins:
    int64[P+1].
    """
    low, high = _words(CODE_OF[masks], begins)
    lookups: list[tuple[int, ...]] = []
    starts: list[Longs] = []
    entries: list[Ints] = []
    filled = codes = 0
    for piece in pieces:
        offset, size, _, _ = piece
        for shift in _shifts(piece, k):
            lookups.append((offset + shift, size, codes, min(k - abs(shift), piece.errors)))
        mask = np.uint64((1 << size) - 1)
        lows, highs = (each >> np.uint64(offset) & mask for each in (low, high))
        begin, found = _table((lows | highs << np.uint64(size)).astype(np.int64), piece)
        starts.append(begin + filled)
        entries.append(found)
        filled, codes = filled + len(found), codes + len(begin)
    every = np.concatenate(starts).astype(np.int32)
    present = np.pad(np.diff(every, append=filled) > 0, (0, -len(every) % 64))
    words = np.packbits(present, bitorder="little").view(np.uint64)
    tables = np.array(lookups, np.int64), every, words, np.concatenate(entries)
    return *tables, low, high


def _words(codes: Bytes, begins: Longs) -> tuple[Words, Words]:
    """The low and the high bits of patterns, uint64[P] each, last letter first."""
    lengths = np.diff(begins)
    flags = np.zeros((2, len(lengths), 64), np.uint8)
    row = np.repeat(np.arange(len(lengths)), lengths)
    at = np.repeat(begins[1:], lengths) - 1 - np.arange(begins[-1])
    flags[0, row, at], flags[1, row, at] = codes & 1, codes >> 1
    low, high = np.packbits(flags, axis=2, bitorder="little").view(np.uint64)[..., 0]
    return low.copy(), high.copy()


def _table(codes: Longs, piece: Piece) -> tuple[Longs, Ints]:
    """Where the entries of each code begin, int64[4^size + 1], and the entries by code.

    codes: int64[P], the letters of a piece of each pattern.
    """
    _, size, errors, gapless = piece
    listed, block = [], BLOCK >> 2 * errors
    for first in range(0, len(codes), block):
        part = codes[first : first + block]
        levels = [np.sort(np.arange(len(part)) << 2 * size | part).astype(np.uint32)]
        for _ in range(errors):
            levels.append(_neighbours(levels[-1], size, gapless))
        found = levels[-1].astype(np.int64)
        differences = np.full(len(found), errors)
        for number in reversed(range(errors)):
            differences[np.searchsorted(levels[-1], levels[number])] = number
        entry = (found >> 2 * size) + first << TAG_BITS | differences
        listed.append((found & 4**size - 1) << 32 | entry)
    every = np.sort(np.concatenate(listed))
    starts = bounds_of(np.bincount(every >> 32, minlength=4**size))
    return starts, every.astype(np.int32)


def _neighbours(codes: NDArray[np.uint32], size: int, gapless: bool) -> NDArray[np.uint32]:
    """The texts, distinct and sorted, that begin with one of some others but for one difference at
    most; any letter follows where one is left out. Bits in front of a code stay."""
    one, both = np.uint32(1), 1 | 1 << size  # the two bits of the first letter
    letters = np.array([[0], [1], [1 << size], [both]], np.uint32)
    every = np.empty((size, 1 if gapless else 3, 4, len(codes)), np.uint32)
    last = np.uint32(both << size - 1)
    for i in range(size):
        here, behind = np.uint32(both << i), np.uint32((both << size) - (both << i))
        kept, moved, letter = codes & ~behind, codes & behind, letters << np.uint32(i)
        every[i, 0] = codes & ~here | letter
        if gapless:
            continue
        every[i, 1] = kept | (moved & ~last) << one | letter
        every[i, 2] = kept | (moved & ~here) >> one | letters << np.uint32(size - 1)
    return distinct(every.reshape(-1))
