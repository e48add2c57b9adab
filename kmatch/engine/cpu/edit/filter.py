"""Filter or full scan: an estimate of both for each query, and of the ends that either finds."""

import math
from typing import NamedTuple

import numpy as np

from kmatch.arrays import Floats
from kmatch.engine.cpu.edit.pieces import HASTE, STEP, cut_at
from kmatch.engine.cpu.edit.tile import groups
from kmatch.jit import inlined, kernel

SAMPLES = 64  # rows of a chunk in which letters are counted
EDIT = 1.4  # ways to differ in a letter, as likely as a letter that is the same


class Shares(NamedTuple):
    """How often letters stand in a text. alone: float64[P], share of the positions that are in a
    plane; after: float64[P, P], of those that follow one of plane a, the share in plane b."""

    alone: Floats
    after: Floats


class Extent(NamedTuple):
    """Positions that a chunk owns, rows that a lane owns, rows of a plane, and the `parts` of the
    rows that are searched apart."""

    positions: int
    rows: int
    plane_rows: int
    parts: int


@kernel
def extent_of(text, parts):
    """The Extent of a Text."""
    return Extent(64 * text.words * text.rows, text.rows, text.plane_words // text.words, parts)


@kernel
def _ones(word):
    word = word - ((word >> np.uint64(1)) & np.uint64(0x5555555555555555))
    pairs = np.uint64(0x3333333333333333)
    word = (word & pairs) + ((word >> np.uint64(2)) & pairs)
    word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int64((word * np.uint64(0x0101010101010101)) >> np.uint64(56))


@kernel
def letter_shares(text, count):
    """The Shares of the first `count` planes of a Text, counted in some of its rows."""
    planes, words, plane_words = text.planes, text.words, text.plane_words
    last = plane_words // words - 1  # no row follows it
    every = max(1, last // SAMPLES)
    alone, after = np.zeros(count), np.zeros((count, count))
    for first in range(0, last * words, every * words):
        for at in range(first, first + words):
            for a in range(count):
                word = planes[a * plane_words + at]
                alone[a] += _ones(word)
                for b in range(count):
                    after[a, b] += _ones(word & planes[b * plane_words + at + words])
    looked = 64.0 * words * ((last + every - 1) // every)
    for a in range(count):
        for b in range(count):
            after[a, b] /= max(alone[a], 1.0)
        alone[a] /= max(looked, 1.0)
    return Shares(alone, after)


@inlined
def _chance(letters, begin, end, backward, shares):
    """The share of positions at which the letters begin … end − 1 of a query stand."""
    first, last, step = (end - 1, begin, -1) if backward else (begin, end - 1, 1)
    chance = shares.alone[letters[first]]
    for i in range(first, last, step):
        chance *= shares.after[letters[i], letters[i + step]]
    return chance


@kernel
def estimate(letters, k, backward, shares, extent, costs):
    """Nanoseconds of a query: a scan, pieces and survivors for each position, and a survivor.

    letters: planes; backward: whether it is read downwards; shares: Shares; extent: Extent; costs:
    CpuCosts.recurrence and .pieces.
    """
    recurrence, pieces = costs
    m = letters.size
    depth = min(m, groups(m, k)[0] + recurrence.deeper)
    survivors = read = stops = 0.0
    begin = 0
    for piece in range(1, k + 2):
        end = cut_at(piece, m, k)
        chance = _chance(letters, begin, end, backward, shares)
        survivors += chance
        stops += (1.0 - math.exp(-chance * 64 * STEP)) / (64 * STEP)
        read += min(end - begin, HASTE + 1)
        begin = end
    items = extent.parts / extent.positions
    warm = 1.0 + (m + k) * extent.parts / extent.rows
    scan = (depth * recurrence.cell + recurrence.column) * warm + recurrence.query * items
    sought = read * pieces.letter + (k + 1) * pieces.look + stops * pieces.stop
    sought *= extent.plane_rows / extent.rows
    sought += (pieces.query + (k + 1) * pieces.piece) * items
    window = pieces.window + (m + 3 * k) * (pieces.column + pieces.block * ((m + 63) // 64))
    return scan, sought, survivors * window, window


@kernel
def ends_within(m, k, likely):
    """About the share of positions that are ends within k of m letters, of which each is as likely
    as `likely`: C(m, k) · EDIT^k · likely^(m − k). EDIT is fitted to random letters, m from 12 to
    32."""
    ways = 1.0
    for i in range(k):
        ways *= EDIT * (m - i) / (i + 1)
    return min(ways * likely ** (m - k), 1.0)


@kernel
def expected_time(search, shares, extent, costs):
    """Nanoseconds at a position to search for the ends of all queries.

    search: DifferenceQuery; other arguments: as for `estimate`.
    """
    letters, begins, backward, _ = search.reading
    spent = 0.0
    for q in range(len(search.limits)):
        pattern, k = letters[begins[q] : begins[q + 1]], search.limits[q]
        scan, sought, survivors, _ = estimate(pattern, k, backward[q], shares, extent, costs)
        spent += min(scan, sought + survivors)
    return spent


@kernel
def expected_ends(search, shares):
    """Ends of all queries at a position; search: DifferenceQuery; shares: Shares."""
    letters, begins, backward, _ = search.reading
    ends = 0.0
    for q in range(len(search.limits)):
        m = begins[q + 1] - begins[q]
        stands = _chance(letters, begins[q], begins[q + 1], backward[q], shares)
        ends += ends_within(m, search.limits[q], stands ** (1 / m))
    return ends


@kernel
def choose(text, search, parts, always, costs):
    """The most survivors with which a filter pays, for each query, int64[Q]; 0 to scan at once.

    text: Text; search: DifferenceQuery; parts: of the text's rows; always: filter whatever it
    costs; costs: as for `estimate`.
    """
    letters, begins, backward, bases = search.reading
    limits, whole = search.limits, extent_of(text, parts)
    shares = letter_shares(text, len(bases))
    budgets = np.zeros(len(limits), np.int64)
    for q in range(len(limits)):
        pattern = letters[begins[q] : begins[q + 1]]
        scan, sought, survivors, window = estimate(
            pattern, limits[q], backward[q], shares, whole, costs
        )
        if always:
            budgets[q] = 1 << 40
        elif sought + survivors < scan:
            budgets[q] = 1 + np.int64(whole.positions * scan / window)
    return budgets
