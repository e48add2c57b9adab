"""Patterns and strands as queries, and the distances within which they are searched."""

from typing import NamedTuple

import numpy as np

from kmatch.arguments import STRANDS, check_choice, checked_count, checked_share
from kmatch.arrays import Bytes, Ints, Longs, bounds_of, gather, offsets_in_rows
from kmatch.engine.queries import QueryArrays, ReadingArrays, reading_arrays, window_arrays
from kmatch.errors import InputError, shown
from kmatch.search.query import Query
from kmatch.sequences.alphabet import complement, reverse_complement
from kmatch.sequences.patterns import PatternSet

_STRANDS: dict[str, tuple[int, ...]] = {"both": (0, 1), "+": (0,), "-": (1,)}


class Panel(NamedTuple):
    """Patterns to be searched for, one query a pattern and strand.

    patterns: of windows as hits span them; pattern, minus: int32[Q] and uint8[Q], the pattern and
    the strand of each query; lengths: int64[Q], its letters.
    """

    patterns: PatternSet
    pattern: Ints
    minus: Bytes
    lengths: Longs


def wanted_strands(strand: str) -> tuple[int, ...]:
    """0 for the strand `+` and 1 for `-`, as a tuple; InputError for another strand."""
    check_choice("strand", strand, STRANDS)
    return _STRANDS[strand]


def pattern_distances(patterns: PatternSet, k: int | str | Longs) -> Longs:
    """The k of each pattern, int64[P].

    k: of each, int64[P], or for all a whole number or a share of a pattern's length such as `10%`,
    rounded down. Raises InputError where it is none of these, or not smaller than each pattern.
    """
    if isinstance(k, np.ndarray):
        return k
    if isinstance(k, str):
        numerator, denominator = checked_share("k", k)
        return patterns.lengths * numerator // denominator
    k = checked_count("k", k)
    if len(short := np.flatnonzero(patterns.lengths <= k)):
        raise InputError(
            f"{patterns.told(short[0])}: k = {k} must be smaller, or it would match everywhere"
        )
    return np.full(len(patterns), k, np.int64)


def checked_distances(query: Query) -> Longs:
    """The k of each pattern of a Query, int64[P].

    Raises InputError for a panel of several lengths, for a pattern that is shorter than an end that
    must match, and for a k that does not fit.
    """
    patterns = query.patterns
    others = np.flatnonzero(patterns.lengths != patterns.lengths[0])
    if query.problem == "multi" and len(others):
        raise InputError(
            f"{patterns.told(others[0])} and the first one, '{shown(patterns.names[0])}', "
            f"{patterns.lengths[0]}: a panel has one length; search others with kmatch hamming"
        )
    for end, letters in zip(("first", "last"), query.ends, strict=True):
        if len(short := np.flatnonzero(patterns.lengths < letters)):
            raise InputError(
                f"{patterns.told(short[0])}, of which the {end} {letters} are to match"
            )
    return pattern_distances(patterns, query.k)


def each_strand(patterns: PatternSet, strand: str) -> Panel:
    """The Panel of all patterns on the wanted strands, strand by strand."""
    strands = np.array(wanted_strands(strand), np.uint8)
    numbers = np.tile(np.arange(len(patterns), dtype=np.int32), len(strands))
    minus = np.repeat(strands, len(patterns))
    return Panel(patterns, numbers, minus, patterns.lengths[numbers])


def build_panel(patterns: PatternSet, strand: str) -> Panel:
    """The same, ranked so that hits sorted by start and rank are sorted by start, end, strand and
    pattern."""
    _, numbers, minus, lengths = each_strand(patterns, strand)
    order = np.argsort(lengths, kind="stable")
    return Panel(patterns, numbers[order], minus[order], lengths[order])


def panel_letters(panel: Panel, k: int, ends: tuple[int, int] = (0, 0)) -> QueryArrays:
    """The QueryArrays of a Panel that is searched within k.

    ends: how many letters have to match, of a pattern's beginning and of its end; with k = 0 all
    have to.
    """
    masks, begins = panel.patterns.masks, panel.patterns.begins
    exact = np.full(len(masks), k == 0)
    if k and any(ends):
        offset, lengths = offsets_in_rows(begins), panel.patterns.lengths
        exact = (offset < ends[0]) | (offset >= np.repeat(lengths - ends[1], lengths))
    bounds = bounds_of(panel.lengths)
    # The reverse complement of them all, behind them, has that of each one in a piece.
    letters = np.concatenate([masks, reverse_complement(masks)])
    behind = len(letters) - begins[panel.pattern + 1]
    first = np.where(panel.minus == 1, behind, begins[panel.pattern])
    required = gather(np.concatenate([exact, exact[::-1]]), first, bounds)
    return window_arrays(gather(letters, first, bounds), bounds, required, k)


def panel_reading(panel: Panel, leads: bool = False) -> ReadingArrays:
    """The ReadingArrays of a Panel of each strand, the strand `-` read downwards.

    leads: whether the pattern's beginning is read last, and so anchored, instead of its end.
    """
    masks, begins = panel.patterns.masks, panel.patterns.begins
    if leads:
        masks = gather(masks[::-1].copy(), begins[-1] - begins[1:], begins)
    strands = panel.minus[:: len(panel.patterns)]
    written = np.concatenate([complement(masks) if minus else masks for minus in strands])
    backward = 1 - panel.minus if leads else panel.minus
    return reading_arrays(written, bounds_of(panel.lengths), backward)
