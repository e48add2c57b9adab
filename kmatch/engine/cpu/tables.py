"""Tables of pieces of patterns and their neighbours, for look-ups.

A pattern is cut into pieces, counted from its anchor, and piece i is given errors[i] so that
errors[i] + 1 add up to k + 1: a hit with k differences has a piece with at most as many as it was
given. Table i lists patterns by the letters that the text may have where piece i begins. A letter
is two bits, a low and a high one: A 00, C 01, G 10, T 11. Up to 64 letters are two words, or three
for a text: the low bits, the high bits, and which letters are none of the four.
"""

from collections.abc import Callable
from math import factorial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kmatch.arrays import Bytes, Ints, Longs, Table, Words, bounds_of, distinct
from kmatch.engine.queries import DifferenceQuery, ReadingArrays
from kmatch.engine.types import COMPLEMENT, Constraints

LOOKED_UP = 10  # letters of a piece at the most: a table has 4^LOOKED_UP codes
MOST_ENTRIES = 1 << 24  # of all tables, 64 MB
MOST_ERRORS = 3  # of a piece
MOST_LOOKUPS = 64  # of a window: each has a bit of a word
WIDEST = 63  # letters of a PAM
ENTRY = 6e-8  # seconds, about, to list one
TAG_BITS = 2  # of an entry, pattern·2^TAG_BITS + differences
CODE_SHIFT = 32  # bits of an entry below its code, where texts are sorted
ENTRY_MASK = (1 << CODE_SHIFT) - 1
BLOCK = 4096  # pieces whose neighbours are listed at a time, a quarter for each difference
CODE_OF = np.array([0, 0, 1, 0, 2, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0], np.uint8)  # by mask
SINGLE = np.array([1, 2, 4, 8], np.uint8)  # masks of one base


class Piece(NamedTuple):
    """A piece of patterns.

    offset: letters between the anchor and the piece; size: of its letters that are looked up;
    errors: differences that it may have; gapless: whether these are mismatches alone.
    """

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
    window_length: the letters of windows that are compared for mismatches alone, otherwise 0;
    exact: a bit for each of them that has to match.
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
    window_length: int = 0
    exact: np.uint64 = np.uint64(0)


class Tables(NamedTuple):
    """The facts about queries that a look-up needs.

    pams, sizes: see Constraints; strands: int64[S, 2], (minus, backward) of each strand that is
    searched.
    """

    pams: Bytes
    sizes: Longs
    strands: Table
    seeds: Seeds


class Lookup(NamedTuple):
    """A look-up that may be made; seconds: that its Tables take, about; tables() makes them."""

    seconds: float
    tables: Callable[[], Tables]


def plan_lookup(
    query: DifferenceQuery, constraints: Constraints, gapless: bool = False
) -> Lookup | None:
    """Return how queries are looked up, beside their PAMs if they have any.

    gapless: for mismatches alone, which takes patterns of one length. None where they cannot be.
    """
    strands = _strands_of(query.reading, constraints)
    count = len(query.limits) // len(strands)  # of patterns
    masks, begins = _patterns_of(query.reading, count)
    longest = int(np.diff(begins).max())
    shortest = int(np.diff(begins).min())
    if gapless and shortest < longest:
        return None
    is_short = longest + (0 if gapless else query.k) <= 64 and constraints.pams.shape[2] <= WIDEST
    if not is_short or not np.isin(masks, SINGLE).all():
        return None
    pieces = find_pieces(shortest, query.k, count, gapless)
    if pieces is None:
        return None

    def tables() -> Tables:
        seeds = _list_pieces(masks, begins, pieces, query.limits[:count], query.k)
        if gapless:
            exact = _exact_letters(longest, constraints.near, constraints.far)
            seeds = seeds._replace(window_length=longest, exact=exact)
        return Tables(constraints.pams, constraints.sizes, strands, seeds)

    return Lookup(_entries(pieces, count) * ENTRY, tables)


def _strands_of(reading: ReadingArrays, constraints: Constraints) -> Table:
    """Return (minus, backward) of each strand that is searched, int64[S, 2]."""
    minus = distinct(constraints.minus)
    first = [int(np.argmax(constraints.minus == each)) for each in minus]
    return np.stack([minus, reading.backward[first]], axis=1).astype(np.int64)


def _patterns_of(reading: ReadingArrays, count: int) -> tuple[Bytes, Longs]:
    """Return so many patterns from the far end to the anchor, uint8[L], and int64[P+1].

    Queries go strand by strand, and the queries of the first strand are taken. A query that is read
    upwards is compared by its complement, as its window is the reverse complement of the text.
    """
    begins = reading.begins[: count + 1]
    masks = reading.bases[reading.letters[: begins[-1]]]
    return (masks if reading.backward[0] else COMPLEMENT[masks]), begins


def _exact_letters(letters: int, near: int, far: int) -> Any:
    """Return a bit for each letter from the anchor on that has to match; near, far: how many."""
    offset = np.arange(64)
    is_exact = (offset < near) | (offset >= letters - far)
    return np.packbits(is_exact, bitorder="little").view(np.uint64)[0]


def find_pieces(shortest: int, k: int, patterns: int, gapless: bool) -> list[Piece] | None:
    """Return pieces that are looked up whole, or nearly so.

    shortest: letters of the shortest pattern. None where all tables would be too large.
    """
    fewest = -(-(k + 1) // (MOST_ERRORS + 1))
    counts = range(fewest, min(k + 1, shortest) + 1)
    wanted = -(-shortest // LOOKED_UP)
    for count in sorted(counts, key=lambda count: abs(count - wanted)):
        pieces = _cut(shortest, k, count, gapless)
        lookups = sum(len(_shifts(piece, k)) for piece in pieces)
        if lookups <= MOST_LOOKUPS and _entries(pieces, patterns) <= MOST_ENTRIES:
            return pieces
    return None


def _cut(length: int, k: int, count: int, gapless: bool) -> list[Piece]:
    """Return pieces of nearly equal length, among which k + 1 is shared out.

    _cut(20, 4, 2, True)   letters  0 … 9   with 2 differences, as 3 + 2 = k + 1
                           letters 10 … 19  with 1 difference
    """
    pieces = []
    for number in range(count):
        begin = length * number // count
        end = length * (number + 1) // count
        share = (k + count - number) // count
        pieces.append(Piece(begin, min(end - begin, LOOKED_UP), share - 1, gapless))
    return pieces


def _shifts(piece: Piece, k: int) -> range:
    """Return how far k differences may move a piece."""
    far = k if piece.offset and not piece.gapless else 0
    return range(-min(far, piece.offset), far + 1)


def _entries(pieces: list[Piece], patterns: int) -> int:
    """Return how many entries the tables of so many patterns have, about, and not many more."""
    count = 0
    for piece in pieces:
        single = (3 if piece.gapless else 8) * piece.size  # texts with one difference
        count += patterns * single**piece.errors // factorial(piece.errors)
    return count


def _list_pieces(masks: Bytes, begins: Longs, pieces: list[Piece], limits: Longs, k: int) -> Seeds:
    """Return the Seeds of patterns.

    masks: uint8[L], letters of patterns side by side, from the far end to the anchor; begins,
    limits: int64[P+1] and int64[P].
    """
    low, high = _words(CODE_OF[masks], begins)
    starts: list[Longs] = []
    entries: list[Ints] = []
    entry_count = 0
    for piece in pieces:
        begin, found = _table(_codes(low, high, piece), piece)
        starts.append(begin + entry_count)
        entries.append(found)
        entry_count += len(found)

    # A bit for each code that has entries.
    all_starts = np.concatenate(starts).astype(np.int32)
    has_entries = np.diff(all_starts, append=entry_count) > 0
    bits = np.pad(has_entries, (0, -len(all_starts) % 64))
    return Seeds(
        lookups=_lookups_of(pieces, k),
        starts=all_starts,
        present=np.packbits(bits, bitorder="little").view(np.uint64),
        entries=np.concatenate(entries),
        low=low,
        high=high,
        lengths=np.diff(begins),
        limits=limits,
        k=k,
    )


def _lookups_of(pieces: list[Piece], k: int) -> Table:
    """Return the lookups of Seeds: a piece's table is read wherever it may have been moved to."""
    lookups = []
    table_begin = 0
    for piece in pieces:
        for shift in _shifts(piece, k):
            errors = min(k - abs(shift), piece.errors)
            lookups.append((piece.offset + shift, piece.size, table_begin, errors))
        table_begin += 4**piece.size + 1
    return np.array(lookups, np.int64)


def _words(codes: Bytes, begins: Longs) -> tuple[Words, Words]:
    """Return the low and the high bits of patterns, uint64[P] each, last letter first.

    codes: uint8[L], of letters side by side; begins: int64[P+1].

        letters CTA, codes 01 11 00    →    low 110, high 010
    """
    lengths = np.diff(begins)
    rows = np.repeat(np.arange(len(lengths)), lengths)
    offsets = np.repeat(begins[1:], lengths) - 1 - np.arange(begins[-1])
    bits = np.zeros((2, len(lengths), 64), np.uint8)
    bits[0, rows, offsets] = codes & 1
    bits[1, rows, offsets] = codes >> 1
    low, high = np.packbits(bits, axis=2, bitorder="little").view(np.uint64)[..., 0]
    return low.copy(), high.copy()


def _codes(low: Words, high: Words, piece: Piece) -> Longs:
    """Return the letters of a piece of each pattern as a number, int64[P]."""
    offset = np.uint64(piece.offset)
    size = np.uint64(piece.size)
    mask = np.uint64((1 << piece.size) - 1)
    return (low >> offset & mask | (high >> offset & mask) << size).astype(np.int64)


def _table(codes: Longs, piece: Piece) -> tuple[Longs, Ints]:
    """Return where the entries of each code begin, int64[4^size + 1], and the entries by code.

    codes: int64[P], the letters of a piece of each pattern.
    """
    listed = []
    block = BLOCK >> 2 * piece.errors
    for first in range(0, len(codes), block):
        listed.append(_list_texts(codes[first : first + block], first, piece))

    # The entries by code, which is left out once they are in order.
    ordered = np.sort(np.concatenate(listed))
    counts = np.bincount(ordered >> CODE_SHIFT, minlength=4**piece.size)
    entries = (ordered & ENTRY_MASK).astype(np.int32)
    return bounds_of(counts), entries


def _list_texts(codes: Longs, first: int, piece: Piece) -> Longs:
    """Return the texts near to a piece of some patterns, int64[n].

    codes: of the patterns from number `first` on. A text is its code and the entry of one of the
    patterns (see Seeds):

        numbered, uint32     pattern − first │ code             2·size bits of code
        returned, int64      code            │ entry            CODE_SHIFT bits of entry
    """
    size = piece.size
    # Texts with up to 0, 1, … differences, each behind the number of its pattern among the codes.
    numbered = np.arange(len(codes)) << 2 * size | codes
    levels = [np.sort(numbered).astype(np.uint32)]
    for _ in range(piece.errors):
        levels.append(_neighbours(levels[-1], size, piece.gapless))

    # The fewest differences of each.
    differences = np.full(len(levels[-1]), piece.errors)
    for number in reversed(range(piece.errors)):
        differences[np.searchsorted(levels[-1], levels[number])] = number

    texts = levels[-1].astype(np.int64)
    patterns = (texts >> 2 * size) + first
    entries = patterns << TAG_BITS | differences
    return (texts & 4**size - 1) << CODE_SHIFT | entries


def _neighbours(codes: NDArray[np.uint32], size: int, gapless: bool) -> NDArray[np.uint32]:
    """Return the texts that begin with one of some others but for one difference at most.

    They are distinct and sorted. Any letter follows where one is left out; bits in front of a code
    stay. Of ACG, at its second letter:

        another letter     A?G
        one more letter    A?C
        a letter less      AG?
    """
    one = np.uint32(1)
    both = 1 | 1 << size  # the two bits of the first letter
    letters = np.array([[0], [1], [1 << size], [both]], np.uint32)
    last = np.uint32(both << size - 1)
    at_last = letters << np.uint32(size - 1)
    found = np.empty((size, 1 if gapless else 3, 4, len(codes)), np.uint32)
    for i in range(size):
        here = np.uint32(both << i)
        from_here = np.uint32((both << size) - (both << i))
        at_here = letters << np.uint32(i)
        found[i, 0] = codes & ~here | at_here
        if gapless:
            continue
        before = codes & ~from_here
        behind = codes & from_here
        found[i, 1] = before | (behind & ~last) << one | at_here
        found[i, 2] = before | (behind & ~here) >> one | at_last
    return distinct(found.reshape(-1))
