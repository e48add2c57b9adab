"""Patterns and strands as queries, and the distances within which they are searched."""

from typing import NamedTuple

import numpy as np

from kmatch.arguments import STRANDS, check_choice, checked_count, checked_share
from kmatch.arrays import Bools, Bytes, Ints, Longs, bounds_of, gather, offsets_in_rows
from kmatch.engine.queries import QueryArrays, ReadingArrays, reading_arrays, window_arrays
from kmatch.errors import InputError, shown
from kmatch.search.query import Query
from kmatch.sequences.alphabet import complement, reverse_complement
from kmatch.sequences.patterns import PatternSet

_STRANDS: dict[str, tuple[int, ...]] = {
    "both": (0, 1),
    "+": (0,),
    "-": (1,),
}


class Panel(NamedTuple):
    """Patterns to be searched for, one query a pattern and strand.

    patterns: all of them, in a scan of windows with their PAMs; pattern: int32[Q], the pattern of
    each query; minus: uint8[Q], its strand, 1 for `-`; lengths: int64[Q], its letters.
    """

    patterns: PatternSet
    pattern: Ints
    minus: Bytes
    lengths: Longs

    def take(self, queries: Longs) -> "Panel":
        """Return the Panel of some queries, by number, int64[n]."""
        return Panel(
            patterns=self.patterns,
            pattern=self.pattern[queries],
            minus=self.minus[queries],
            lengths=self.lengths[queries],
        )


def wanted_strands(strand: str) -> tuple[int, ...]:
    """Return 0 for the strand `+` and 1 for `-`, both for `both`.

    Raises InputError for another strand.
    """
    check_choice("strand", strand, STRANDS)
    return _STRANDS[strand]


def pattern_distances(patterns: PatternSet, k: int | str | Longs) -> Longs:
    """Return the k of each pattern, int64[P].

    k: of each, int64[P], or for all a whole number or a share of a pattern's length such as `10%`,
    rounded down. Raises InputError where it is none of these, or not smaller than each pattern.
    """
    if isinstance(k, np.ndarray):
        return k
    if isinstance(k, str):
        numerator, denominator = checked_share("k", k)
        return patterns.lengths * numerator // denominator

    k = checked_count("k", k)
    short = np.flatnonzero(patterns.lengths <= k)
    if len(short):
        told = patterns.told(short[0])
        raise InputError(f"{told}: k = {k} must be smaller, or it would match everywhere")
    return np.full(len(patterns), k, np.int64)


def checked_distances(query: Query) -> Longs:
    """Return the k of each pattern of a Query, int64[P].

    Raises InputError for a panel of several lengths, for a pattern that is shorter than an end that
    must match, and for a k that does not fit.
    """
    patterns = query.patterns
    first_length = patterns.lengths[0]
    others = np.flatnonzero(patterns.lengths != first_length)
    if query.problem == "multi" and len(others):
        told = patterns.told(others[0])
        first_name = shown(patterns.names[0])
        others_by = "kmatch hamming"
        if query.pam is not None:
            others_by = "kmatch edit --max-insertions 0 --max-deletions 0, or each length by itself"
        raise InputError(
            f"{told} and the first one, '{first_name}', {first_length}: "
            f"a panel has one length; search others with {others_by}"
        )

    for end, letters in zip(("first", "last"), query.ends, strict=True):
        short = np.flatnonzero(patterns.lengths < letters)
        if len(short):
            told = patterns.told(short[0])
            raise InputError(f"{told}, of which the {end} {letters} are to match")
    return pattern_distances(patterns, query.k)


def checked_unknown(query: Query, distances: Longs) -> int | None:
    """Return the most unknown letters of a hit; None where they match nothing.

    distances: int64[P], the k of each pattern. Raises InputError for what is no number, and where a
    pattern could match with unknown letters and differences alone.
    """
    if query.max_unknown is None:
        return None
    most = checked_count("max_unknown", query.max_unknown)
    patterns = query.patterns
    short = np.flatnonzero(patterns.lengths <= distances + most)
    if len(short):
        told = patterns.told(short[0])
        raise InputError(
            f"{told}: max_unknown = {most} and k = {distances[short[0]]} must be fewer together, "
            "or it would match unknown letters alone"
        )
    return most


def each_strand(patterns: PatternSet, strand: str) -> Panel:
    """Return the Panel of all patterns on the wanted strands, strand by strand."""
    strands = np.array(wanted_strands(strand), np.uint8)
    numbers = np.arange(len(patterns), dtype=np.int32)
    pattern = np.tile(numbers, len(strands))
    minus = np.repeat(strands, len(patterns))
    return Panel(patterns, pattern, minus, patterns.lengths[pattern])


def build_panel(patterns: PatternSet, strand: str) -> Panel:
    """Return the Panel of all patterns on the wanted strands, sorted by length.

    Hits that are sorted by start and query are then sorted by start, end, strand and pattern.
    """
    panel = each_strand(patterns, strand)
    return panel.take(np.argsort(panel.lengths, kind="stable"))


def panel_letters(panel: Panel, k: int, ends: tuple[int, int] = (0, 0)) -> QueryArrays:
    """Return the QueryArrays of a Panel that is searched within k.

    ends: how many letters have to match, of a pattern's beginning and of its end; with k = 0 all
    have to.
    """
    masks = panel.patterns.masks
    begins = panel.patterns.begins
    exact = _exact_letters(panel.patterns, k, ends)

    # Behind all patterns their reverse complement, which holds that of each pattern in one piece:
    #     patterns AAG CT  ->  A A G C T | A G C T T     of pattern 1: A G, of pattern 0: C T T
    letters = np.concatenate([masks, reverse_complement(masks)])
    is_exact = np.concatenate([exact, exact[::-1]])
    plus_begins = begins[panel.pattern]
    plus_ends = begins[panel.pattern + 1]
    minus_begins = len(letters) - plus_ends
    query_begins = np.where(panel.minus == 1, minus_begins, plus_begins)

    bounds = bounds_of(panel.lengths)
    query_letters = gather(letters, query_begins, bounds)
    query_exact = gather(is_exact, query_begins, bounds)
    return window_arrays(query_letters, bounds, query_exact, k)


def _exact_letters(patterns: PatternSet, k: int, ends: tuple[int, int]) -> Bools:
    """Return which letters of patterns have to match, bool[L]; k, ends: as for `panel_letters`.

    ends = (2, 1)     pattern  A C G T T A
                      exact    1 1 0 0 0 1
    """
    if k == 0:
        return np.ones(len(patterns.masks), np.bool_)
    if not any(ends):
        return np.zeros(len(patterns.masks), np.bool_)

    first, last = ends
    offset = offsets_in_rows(patterns.begins)
    length = np.repeat(patterns.lengths, patterns.lengths)
    is_first = offset < first
    is_last = offset >= length - last
    return is_first | is_last


def panel_reading(panel: Panel, leads: bool = False) -> ReadingArrays:
    """Return the ReadingArrays of a Panel of each strand.

    leads: whether the pattern's beginning is read last, and so anchored, instead of its end. The
    text is read downwards on the strand `-`, and with `leads` on the strand `+`.

        pattern AACG              strand +            strand -
        as it stands in the text  A A C G             C G T T
        read, its end last        A A C G  upwards    T T G C  downwards
        read, its beginning last  G C A A  downwards  C G T T  upwards
    """
    # The letters of each pattern, from the one that is read first on.
    masks = panel.patterns.masks
    begins = panel.patterns.begins
    if leads:
        reversed_masks = masks[::-1].copy()
        reversed_begins = begins[-1] - begins[1:]
        masks = gather(reversed_masks, reversed_begins, begins)

    # The same for each strand.
    strands: list[Bytes] = []
    for minus in panel.minus[:: len(panel.patterns)].tolist():
        strands.append(complement(masks) if minus else masks)
    letters = np.concatenate(strands)

    backward = 1 - panel.minus if leads else panel.minus
    return reading_arrays(letters, bounds_of(panel.lengths), backward)
