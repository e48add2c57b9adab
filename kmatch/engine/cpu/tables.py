"""Tables of pieces of patterns and their neighbours, for look-ups at anchors.

A pattern is cut into pieces, counted from its anchor, and piece i is given errors[i] so that
errors[i] + 1 add up to k + 1: a hit with k differences has a piece with at most as many as it was
given. Table i lists patterns by the letters that the text may have where piece i begins. A letter
is two bits, as in `kmatch.engine.cpu.seeds`.
"""

from collections.abc import Callable, Iterator
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kmatch.arrays import Bools, Bytes, Ints, Longs, Words
from kmatch.engine.queries import DifferenceQuery
from kmatch.engine.types import COMPLEMENT, Constraints
from kmatch.jit import entry

fill_words = entry("kmatch.engine.cpu.tables_kernels", "fill_words")
list_codes = entry("kmatch.engine.cpu.tables_kernels", "list_codes")
sort_entries = entry("kmatch.engine.cpu.tables_kernels", "sort_entries")
walk = entry("kmatch.engine.cpu.tables_kernels", "walk")

LOOKED_UP = 10  # letters of a piece at the most: a table has 4^LOOKED_UP codes

MOST_ENTRIES = 1 << 24  # of all tables, 64 MB

MOST_ERRORS = 3  # of a piece

WIDEST = 63  # letters of a PAM
# Nanoseconds, about, to look a piece up, for one that is there, to compare what was found, and for
# an entry.
LOOKUP, BRANCH, CANDIDATE, ENTRY = 3.0, 50.0, 18.0, 70.0

CODES = 12  # of a table that cost as much as an entry

TAG_BITS = 2  # of an entry, pattern·2^TAG_BITS + differences

CODE_OF = np.array([0, 0, 1, 0, 2, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0], np.uint8)  # by mask

MOST_LOOKUPS = 64  # of a window: each has a bit of a word

SINGLE = np.array([1, 2, 4, 8], np.uint8)  # masks of one base


class Piece(NamedTuple):
    """offset: letters between the anchor and the piece; size: of its letters that are looked up;
    errors: differences that it may have."""

    offset: int
    size: int
    errors: int


class AnchorSeeds(NamedTuple):
    """P patterns by the neighbours of their pieces.

    lookups: int64[x, 4], of each the first letter and how many, where its table begins in `starts`,
    and the differences that the piece may have there; starts: int32[Σ(4^size + 1)], the entries of
    a code are starts[code] … starts[code+1] − 1 of its table; present: uint64, a bit for each of
    these codes, whether it has any; entries: int32, pattern·2^TAG_BITS + differences; low, high:
    uint64[P], letters from the anchor on; lengths, limits: int64[P], letters and k; k: the largest.
    """

    lookups: Longs
    starts: Ints
    present: Words
    entries: Ints
    low: Words
    high: Words
    lengths: Longs
    limits: Longs
    k: int


class Tables(NamedTuple):
    """What a look-up needs of its queries; strands: int64[S, 2], (minus, backward) of each strand
    that is searched."""

    constraints: Constraints
    seeds: AnchorSeeds
    strands: Longs


class Lookup(NamedTuple):
    """A look-up that may be made; seconds: that its Tables take, about; tables() makes them."""

    seconds: float
    tables: Callable[[], Tables]


def plan_lookup(
    query: DifferenceQuery, constraints: Constraints, alike: float, positions: int
) -> Lookup | None:
    """See `CpuEngine.lookup`."""
    strands = _strands_of(query, constraints)
    masks, begins = _anchored_masks(query, len(strands))
    lengths = np.diff(begins)
    if constraints.pams.shape[2] > WIDEST or not serve(masks, begins, query.k):
        return None
    sites = max(positions * len(strands) * _share(constraints), 1.0)
    pieces = find_pieces(int(lengths.min()), query.k, len(lengths), alike, sites)
    if pieces is None:
        return None

    def tables() -> Tables:
        seeds = anchor_seeds(masks, begins, query.limits[: len(lengths)], pieces)
        return Tables(constraints, seeds, strands)

    return Lookup(_paid(pieces, query.k, len(lengths), alike).entries * ENTRY * 1e-9, tables)


def _share(constraints: Constraints) -> float:
    """The share of random positions beside which a PAM stands: all where there is none to have."""
    bases = np.bitwise_count(constraints.pams[0]) / 4
    shares = [bases[i, :size].prod() for i, size in enumerate(constraints.sizes)]
    return min(float(sum(shares)), 1.0) if shares else 1.0


def _strands_of(query: DifferenceQuery, constraints: Constraints) -> Longs:
    """The strands of Tables."""
    strands = np.unique(constraints.minus)
    first = [int(np.argmax(constraints.minus == minus)) for minus in strands]
    return np.stack([strands, query.reading.backward[first]], axis=1).astype(np.int64)


def _anchored_masks(query: DifferenceQuery, strands: int) -> tuple[Bytes, Longs]:
    """(masks, begins) of the patterns of a DifferenceQuery whose queries go strand by strand.

    Those of a pattern go from its far end to the anchor. What is read upwards is compared by its
    complement, as the window of such a site is the reverse complement of the text.
    """
    reading = query.reading
    begins = reading.begins[: len(query.limits) // strands + 1]
    masks = reading.bases[reading.letters[: begins[-1]]]
    return masks if reading.backward[0] else COMPLEMENT[masks], begins


def find_pieces(
    shortest: int, k: int, patterns: int, alike: float, sites: float
) -> list[Piece] | None:
    """The pieces of the least cost for so many sites, None where all tables would be too large.

    shortest: letters of the shortest pattern; alike: see `geometry.likeness`, of the text.
    """
    best, least = None, float("inf")
    for pieces in _cuts(shortest, k):
        paid = _paid(pieces, k, patterns, alike)
        cost = LOOKUP * paid.lookups + BRANCH * paid.found + CANDIDATE * paid.candidates
        cost += ENTRY * paid.entries / sites
        if paid.entries <= MOST_ENTRIES and paid.lookups <= MOST_LOOKUPS and cost < least:
            best, least = pieces, cost
    return best


def _cuts(shortest: int, k: int) -> Iterator[list[Piece]]:
    """The ways to give k + 1 to pieces of nearly equal length, but for those of too many look-ups:
    each piece but the first takes more than k + 1."""
    most = 1 + MOST_LOOKUPS // (k + 2)
    for shares in _sums(k + 1, min(most, shortest)):
        count = len(shares)
        bounds = [shortest * i // count for i in range(count + 1)]
        yield [
            Piece(bounds[i], min(bounds[i + 1] - bounds[i], LOOKED_UP), shares[i] - 1)
            for i in range(count)
        ]


def _sums(total: int, most: int) -> Iterator[list[int]]:
    """The lists of at most so many numbers that add up to a total, each what a piece may get."""
    if not total:
        yield []
    elif total <= most * (MOST_ERRORS + 1):
        for first in range(1, min(total, MOST_ERRORS + 1) + 1):
            for rest in _sums(total - first, most - 1):
                yield [first, *rest]


class Paid(NamedTuple):
    """What pieces cost: look-ups at a site, those that find something, what they find, and entries
    of the tables."""

    lookups: int
    found: float
    candidates: float
    entries: float


def _paid(pieces: list[Piece], k: int, patterns: int, alike: float) -> Paid:
    """The Paid of pieces; alike: see `geometry.likeness`, of the text."""
    lookups, found, candidates, entries = 0, 0.0, 0.0, 0.0
    for piece in pieces:
        shifts = k + min(k, piece.offset) + 1 if piece.offset else 1
        many = patterns * neighbours(piece.size, piece.errors)
        each = many * alike**piece.size
        lookups += shifts
        found += shifts * min(each, 1.0)
        candidates += shifts * each
        entries += many + 4**piece.size / CODES
    return Paid(lookups, found, candidates, entries)


@cache
def neighbours(size: int, errors: int) -> int:
    """How many entries a piece of a pattern has, about."""
    letters = np.random.default_rng(1).integers(0, 2, (2, size)).astype(np.uint64)
    low, high = (letters << np.arange(size, dtype=np.uint64)).sum(axis=1, dtype=np.uint64)
    return int(walk((low, high), size, errors, _memory(size, errors), np.empty(0, np.int32)))


def serve(masks: Bytes, begins: Longs, k: int) -> bool:
    """Whether patterns can be looked up: A, C, G and T, and a window in a word.

    masks: uint8[L], their letters side by side, from the far end to the anchor; begins: int64[P+1].
    """
    return int(np.diff(begins).max()) + k <= 64 and bool(np.isin(masks, SINGLE).all())


def anchor_seeds(masks: Bytes, begins: Longs, limits: Longs, pieces: list[Piece]) -> AnchorSeeds:
    """The AnchorSeeds of patterns that `serve`.

    masks, begins: as for `serve`; limits: int64[P], the k of each; pieces: of them, found by
    `find_pieces`.
    """
    lengths, k = np.diff(begins), int(limits.max())
    low, high = np.zeros((2, len(lengths)), np.uint64)
    fill_words(CODE_OF[masks], begins, low, high)
    listed = [_table(low, high, piece) for piece in pieces]
    lookups: list[tuple[int, ...]] = []
    starts: list[Longs] = []
    entries: list[Ints] = []
    filled = codes = 0
    for piece, (begins, found) in zip(pieces, listed, strict=True):
        offset, size, errors = piece
        reach = k if offset else 0
        for shift in range(-min(reach, offset), reach + 1):
            left = min(k - abs(shift), errors)
            lookups.append((offset + shift, size, codes, left))
        starts.append(begins + filled)
        entries.append(found)
        filled, codes = filled + len(found), codes + len(begins)
    every = np.concatenate(starts).astype(np.int32)
    present = np.pad(np.diff(every, append=filled) > 0, (0, -len(every) % 64))
    words = np.packbits(present, bitorder="little").view(np.uint64)
    tables = np.array(lookups, np.int64), every, words, np.concatenate(entries)
    return AnchorSeeds(*tables, low, high, lengths, limits, k)


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


class SeedTables(NamedTuple):
    """Q queries of one length by the codes of their k + 1 pieces.

    first, size: int64[k+1], a piece's offset in a window and the letters of it that are looked up;
    origins: int64[k+1], where each table begins in `starts`; starts: int32[Σ(4^size + 1)], the
    entries of a code are starts[code] … starts[code+1] − 1 of its table; low, high:
    uint64[(k+1)·Q], the letters of an entry; ranks: int32[(k+1)·Q], its query; used: uint64, the
    letters of a window; exact: uint64[R], by rank, those that must match.
    """

    first: Longs
    size: Longs
    origins: Longs
    starts: Ints
    low: Words
    high: Words
    ranks: Ints
    used: np.uint64
    exact: Words


def cut_pieces(length: int, k: int, patterns: int) -> tuple[Longs, Longs]:
    """Where the pieces of a pattern begin and how many of their letters are looked up, int64[k+1].

    A table need not have many more codes than there are patterns.
    """
    bounds = np.arange(k + 2) * length // (k + 1)
    most = min(LOOKED_UP, int(np.log2(patterns + 1)) // 2 + 2)
    return bounds[:-1], np.minimum(np.diff(bounds), most)


def seed_tables(codes: Bytes, ranks: Longs, exact: Bools, k: int) -> SeedTables:
    """The SeedTables of queries; see `CpuEngine.seed_tables`."""
    count, length = codes.shape
    first, size = cut_pieces(length, k, count)
    low, high = _bits(codes & 1), _bits(codes >> 1)
    tables = [_seed_table(low, high, at, letters) for at, letters in zip(first, size, strict=True)]
    order = np.concatenate([entries for _, entries in tables])
    sizes = [len(starts) for starts, _ in tables]
    return SeedTables(
        first,
        size,
        np.cumsum([0, *sizes[:-1]]),
        np.concatenate([starts + i * count for i, (starts, _) in enumerate(tables)]).astype(
            np.int32
        ),
        low[order],
        high[order],
        ranks[order].astype(np.int32),
        _bits(np.ones((1, length), np.uint8))[0],
        _bits(exact),
    )


def _bits(flags: NDArray[Any]) -> Words:
    """Rows of up to 64 flags as words, the first flag in the lowest bit (uint64)."""
    octets = np.zeros((len(flags), 8), np.uint8)
    packed = np.packbits(flags.astype(np.uint8), axis=1, bitorder="little")
    octets[:, : packed.shape[1]] = packed
    return octets.view("<u8")[:, 0].astype(np.uint64)


def _seed_table(low: Words, high: Words, first: int, size: int) -> tuple[Longs, Longs]:
    """Where the entries of each code begin (int64[4^size + 1]), and the queries in their order."""
    mask, shift = np.uint64((1 << int(size)) - 1), np.uint64(first)
    codes = ((low >> shift) & mask) | ((high >> shift) & mask) << np.uint64(size)
    counts = np.bincount(codes.astype(np.int64), minlength=4 ** int(size))
    return np.concatenate([[0], np.cumsum(counts)]), np.argsort(codes, kind="stable")
