"""Tables of pieces of patterns and their neighbours, for look-ups.

A pattern is cut into pieces, counted from its anchor, and piece i is given errors[i] so that
errors[i] + 1 add up to k + 1: a hit with k differences has a piece with at most as many as it was
given. Table i lists patterns by the letters that the text may have where piece i begins. A letter
is two bits, a low and a high one: A 00, C 01, G 10, T 11. Up to 64 letters are two words, or three
for a text: the low bits, the high bits, and which letters are none of the four.
"""

from collections.abc import Callable, Sequence
from functools import cache
from typing import Annotated, NamedTuple

import numpy as np

from kmatch.arrays import Bools, Bytes, Ints, Longs, Table, Words, distinct
from kmatch.engine.queries import DifferenceQuery
from kmatch.engine.types import COMPLEMENT, Constraints
from kmatch.jit.entries import entry

LOOKED_UP = 10  # letters of a piece at the most: a table has 4^LOOKED_UP codes
MOST_ENTRIES = 1 << 24  # of all tables, 64 MB
MOST_ERRORS = 3  # of a piece
MOST_LOOKUPS = 64  # of a window: each has a bit of a word
WIDEST = 63  # letters of a PAM
LOOKUP, CANDIDATE, ENTRY = 3.0, 18.0, 70.0  # nanoseconds, about, to look up, compare and list one
CODES = 12  # of a table that cost as much as an entry
TAG_BITS = 2  # of an entry, pattern·2^TAG_BITS + differences
CODE_OF = np.array([0, 0, 1, 0, 2, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0], np.uint8)  # by mask
SINGLE = np.array([1, 2, 4, 8], np.uint8)  # masks of one base


class Piece(NamedTuple):
    """offset: letters between the anchor and the piece; size: of its letters that are looked up;
    errors: differences that it may have."""

    offset: int
    size: int
    errors: int


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


Tree = tuple[Annotated[Words, 2], Longs]  # see `walk`
list_codes = entry(
    "kmatch.engine.cpu.lookup:list_codes", tuple[tuple[Words, Words], Piece, Tree, Ints, Longs]
)
sort_entries = entry("kmatch.engine.cpu.lookup:sort_entries", tuple[Ints, Longs, Longs, Ints])
walk = entry(
    "kmatch.engine.cpu.lookup:walk", tuple[tuple[np.uint64, np.uint64], int, int, Tree, Ints]
)


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
    query: DifferenceQuery, constraints: Constraints, alike: float, positions: int
) -> Lookup | None:
    """How queries are looked up beside their PAMs, or everywhere where there is none; None where
    they cannot be.

    alike: see `geometry.likeness`; positions: that are searched, about.
    """
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
    fits = constraints.pams.shape[2] <= WIDEST and int(lengths.max()) + k <= 64
    if not fits or not np.isin(masks, SINGLE).all():
        return None
    sites = max(positions * len(strands) * _share(constraints), 1.0)
    pieces = find_pieces(int(lengths.min()), k, count, alike, sites)
    if pieces is None:
        return None

    def tables() -> Tables:
        listed = _list_pieces(masks, begins, pieces, k)
        seeds = Seeds(*listed, lengths, limits, k)
        return Tables(constraints.pams, constraints.sizes, strands, seeds)

    _, _, entries = _paid(pieces, k, count, alike)
    return Lookup(entries * ENTRY * 1e-9, tables)


def _share(constraints: Constraints) -> float:
    """The share of random positions beside which a PAM stands: all where there is none to have."""
    bases = np.bitwise_count(constraints.pams[0]) / 4
    shares = [bases[i, :size].prod() for i, size in enumerate(constraints.sizes)]
    return min(float(sum(shares)), 1.0) if shares else 1.0


def window_tables(masks: Bytes, exact: Bools, k: int, strands: Sequence[int]) -> Tables:
    """The Tables for windows within k mismatches of P patterns of A, C, G and T.

    masks: uint8[P, m]; exact: bool[m], the letters that must match; strands: 0 for `+`, 1 for `-`,
    of which each has its queries behind those of the one before.
    """
    count, length = masks.shape
    most = min(LOOKED_UP, int(np.log2(count + 1)) // 2 + 2)  # codes, about as many as patterns
    pieces = [piece._replace(size=min(piece.size, most)) for piece in _cut(length, k, k + 1)]
    begins = length * np.arange(count + 1)
    listed = _list_pieces(masks[:, ::-1].reshape(-1), begins, pieces, 0)
    bits = np.packbits(np.pad(exact, (0, 64 - length)), bitorder="little").view(np.uint64)
    each = np.diff(begins), np.full(count, k), k
    seeds = Seeds(*listed, *each, length, bits[0])
    both = np.array([(minus, 1 - minus) for minus in strands], np.int64)
    return Tables(np.zeros((2, 0, 0), np.uint8), np.zeros(0, np.int64), both, seeds)


def find_pieces(
    shortest: int, k: int, patterns: int, alike: float, sites: float
) -> list[Piece] | None:
    """The pieces of the least cost for so many sites, None where all tables would be too large.

    shortest: letters of the shortest pattern; alike: see `geometry.likeness`, of the text.
    """
    best, least = None, float("inf")
    for count in range(-(-(k + 1) // (MOST_ERRORS + 1)), min(k + 1, shortest) + 1):
        pieces = _cut(shortest, k, count)
        lookups, candidates, entries = _paid(pieces, k, patterns, alike)
        cost = LOOKUP * lookups + CANDIDATE * candidates + ENTRY * entries / sites
        if entries <= MOST_ENTRIES and lookups <= MOST_LOOKUPS and cost < least:
            best, least = pieces, cost
    return best


def _cut(length: int, k: int, count: int) -> list[Piece]:
    """Pieces of nearly equal length, among which k + 1 is shared out."""
    bounds = [length * i // count for i in range(count + 1)]
    return [
        Piece(bounds[i], min(bounds[i + 1] - bounds[i], LOOKED_UP), (k + count - i) // count - 1)
        for i in range(count)
    ]


def _paid(pieces: list[Piece], k: int, patterns: int, alike: float) -> tuple[int, float, float]:
    """What pieces cost: look-ups at a site, what they find, and entries of the tables."""
    lookups, candidates, entries = 0, 0.0, 0.0
    for piece in pieces:
        shifts = k + min(k, piece.offset) + 1 if piece.offset else 1
        many = patterns * neighbours(piece.size, piece.errors)
        lookups += shifts
        candidates += shifts * many * alike**piece.size
        entries += many + 4**piece.size / CODES
    return lookups, candidates, entries


@cache
def neighbours(size: int, errors: int) -> int:
    """How many entries a piece of a pattern has, about."""
    letters = np.random.default_rng(1).integers(0, 2, (2, size)).astype(np.uint64)
    low, high = (letters << np.arange(size, dtype=np.uint64)).sum(axis=1, dtype=np.uint64)
    return int(walk((low, high), size, errors, _memory(size, errors), np.empty(0, np.int32)))


def _list_pieces(
    masks: Bytes, begins: Longs, pieces: list[Piece], reach: int
) -> tuple[Longs, Ints, Words, Ints, Words, Words]:
    """The lookups, starts, present, entries, low and high of Seeds.

    masks: uint8[L], letters of patterns side by side, from the far end to the anchor; begins:
    int64[P+1]; reach: how far differences may move a piece.
    """
    low, high = _words(CODE_OF[masks], begins)
    lookups: list[tuple[int, ...]] = []
    starts: list[Longs] = []
    entries: list[Ints] = []
    filled = codes = 0
    for piece in pieces:
        offset, size, errors = piece
        far = reach if offset else 0
        for shift in range(-min(far, offset), far + 1):
            lookups.append((offset + shift, size, codes, min(reach - abs(shift), errors)))
        begin, found = _table(low, high, piece)
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


def _table(low: Words, high: Words, piece: Piece) -> tuple[Longs, Ints]:
    """Where the entries of each code begin, int64[4^size + 1], and the entries by code."""
    _, size, errors = piece
    every = np.empty(len(low) * 2 * neighbours(size, errors) + 64, np.int32)
    bounds = np.zeros(len(low) + 1, np.int64)
    memory = _memory(size, errors)
    total = list_codes((low, high), piece, memory, every, bounds)
    if total > len(every):
        every = np.empty(total, np.int32)
        list_codes((low, high), piece, memory, every, bounds)
    starts = np.zeros(4**size + 2, np.int64)
    entries = np.empty(total, np.int32)
    sort_entries(every, bounds, starts, entries)
    return starts[:-1], entries


def _memory(size: int, errors: int) -> tuple[Words, Longs]:
    return np.zeros((size + 1, errors + 3), np.uint64), np.zeros(size + 1, np.int64)
