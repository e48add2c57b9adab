"""Tables of pieces of patterns and their neighbours, for look-ups at anchors.

A pattern is cut into pieces, counted from its anchor, and piece i is given errors[i] so that
errors[i] + 1 add up to k + 1: a hit with k differences has a piece with at most as many as it was
given. Table i lists patterns by the letters that the text may have where piece i begins. A letter
is two bits, as in `kmatch.engine.cpu.seeds`.
"""

from collections.abc import Callable, Iterator
from functools import cache
from typing import NamedTuple

import numpy as np

from kmatch.arrays import Bytes, Ints, Longs, Words
from kmatch.engine.cpu.vectors import NONE, ONE, lowest
from kmatch.engine.letters import COMPLEMENT
from kmatch.engine.queries import DifferenceQuery
from kmatch.engine.types import Constraints
from kmatch.jit import inlined, kernel

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
    return int(_walk((low, high), size, errors, _memory(size, errors), np.empty(0, np.int32)))


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
    _fill_words(CODE_OF[masks], begins, low, high)
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
    total = _list((low, high), piece, memory, every, bounds)
    if total > len(every):
        every = np.empty(total, np.int32)
        _list((low, high), piece, memory, every, bounds)
    starts = np.zeros(4**size + 2, np.int64)
    entries = np.empty(total, np.int32)
    _sort(every, bounds, starts, entries)
    return starts[:-1], entries


def _memory(size: int, errors: int) -> tuple[Words, Longs]:
    return np.zeros((size + 1, errors + 3), np.uint64), np.zeros(size + 1, np.int64)


@kernel
def _fill_words(codes, begins, low, high):
    for p in range(len(low)):
        last = begins[p + 1] - 1
        for i in range(begins[p + 1] - begins[p]):
            code = np.uint64(codes[last - i])
            low[p] |= (code & ONE) << np.uint64(i)
            high[p] |= (code >> ONE) << np.uint64(i)


@inlined
def _ones(count):
    return (ONE << np.uint64(count)) - ONE


@kernel
def _continue(words, state, code, depth, size, differences, found, count):
    """Note the texts that match a piece from letter `state` on; code: (low, high) of the letters
    up to `depth`. Letters behind the piece may be any. Returns the count."""
    left = np.int64(min(size - depth, size - state))
    low = code[0] | ((words[0] >> np.uint64(state)) & _ones(left)) << np.uint64(depth)
    high = code[1] | ((words[1] >> np.uint64(state)) & _ones(left)) << np.uint64(depth)
    free = np.uint64(size - depth - left)
    behind = np.uint64(depth + left)
    for filling in range(np.int64(ONE << (free + free))):
        rest = np.uint64(filling)
        lows, highs = low | (rest & _ones(free)) << behind, high | (rest >> free) << behind
        count = _note(lows, highs, size, differences, found, count)
    return count


@inlined
def _note(low, high, size, differences, found, count):
    if count < len(found):
        found[count] = np.int64(low | high << np.uint64(size)) << TAG_BITS | differences
    return count + 1


@inlined
def _step(rows, depth, letters, end):
    """The states after one more text letter; letters: where the piece has it; returns the fewest
    differences of any, and the states with the most."""
    errors = rows.shape[1] - 3
    fewest = errors + 1
    above = new = NONE
    for t in range(errors + 1):
        here = rows[depth, t]
        new = (here & letters) << ONE | here & end | above | above << ONE | new << ONE
        new &= end | (end - ONE)
        rows[depth + 1, t] = new
        if new != NONE and t < fewest:
            fewest = t
        above = here
    return fewest, new


@kernel
def _walk(words, size, errors, memory, found):
    """Note all texts of `size` letters that begin with a piece within some differences.

    words: (low, high) of the piece. Some come twice. A letter more in `rows` are the code's two
    words; returns how many there are, of which `found` holds code·2^TAG_BITS + differences.
    """
    rows, tried = memory
    end, count = ONE << np.uint64(size), 0
    low, high = words
    start = (NONE, NONE)
    for t in range(errors + 1):
        rows[0, t] = _ones(min(t, size) + 1)
    rows[0, errors + 1] = rows[0, errors + 2] = NONE
    if errors == 0:
        return _continue(words, 0, start, 0, size, 0, found, count)
    depth = tried[0] = 0
    while depth >= 0:
        letter = tried[depth]
        tried[depth] += 1
        if letter == 4:
            depth -= 1
            continue
        one, two = np.uint64(letter & 1), np.uint64(letter >> 1)
        same = ~(low ^ (NONE - one)) & ~(high ^ (NONE - two)) & (end - ONE)
        fewest, states = _step(rows, depth, same, end)
        lows = rows[depth, errors + 1] | one << np.uint64(depth)
        highs = rows[depth, errors + 2] | two << np.uint64(depth)
        depth += 1
        rows[depth, errors + 1], rows[depth, errors + 2] = lows, highs
        tried[depth] = 0
        if fewest < errors and depth < size:
            continue
        if depth == size:
            if fewest <= errors:
                count = _note(lows, highs, size, fewest, found, count)
        else:
            while states != NONE:
                state = lowest(states)
                states &= states - ONE
                count = _continue(words, state, (lows, highs), depth, size, errors, found, count)
        depth -= 1
    return count


@inlined
def _piece(words, p, piece):
    mask = _ones(piece[1])
    offset = np.uint64(piece[0])
    return (words[0][p] >> offset) & mask, (words[1][p] >> offset) & mask


@kernel
def _list(words, piece, memory, every, bounds):
    """List what `_walk` notes of each pattern; returns how much. bounds: int64[P+1], filled."""
    for p in range(len(words[0])):
        here = _piece(words, p, piece)
        beyond = every[min(bounds[p], len(every)) :]
        bounds[p + 1] = bounds[p] + _walk(here, piece[1], piece[2], memory, beyond)
    return bounds[-1]


@kernel
def _sort(every, bounds, starts, entries):
    """Write the entries in the order of their codes. every, bounds: from `_list`; starts: zeros,
    then where the entries of each code begin."""
    for i in range(len(entries)):
        starts[(every[i] >> TAG_BITS) + 2] += 1
    for code in range(2, len(starts)):
        starts[code] += starts[code - 1]
    for p in range(len(bounds) - 1):
        for i in range(bounds[p], bounds[p + 1]):
            code = (every[i] >> TAG_BITS) + 1
            entries[starts[code]] = (p << TAG_BITS) | (every[i] & MOST_ERRORS)
            starts[code] += 1
