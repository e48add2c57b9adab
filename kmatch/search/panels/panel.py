"""Patterns and strands become queries, ranked in the order in which hits are reported."""

from collections.abc import Callable, Sequence
from typing import NamedTuple, cast

import numpy as np

from kmatch.arrays import Bools, Bytes, Ints, Longs, bounds_of, gather, offsets_in_rows
from kmatch.engine.queries import (
    QueryArrays,
    ReadingArrays,
    reading_arrays,
    window_arrays,
)
from kmatch.engine.types import Written
from kmatch.errors import STRANDS, InputError, check_choice, checked_count, shown
from kmatch.sequences.alphabet import complement, reverse_complement
from kmatch.sequences.patterns import Pattern, PatternSet, pattern_set

Exact = Bools | Callable[[Pattern], Bools]  # letters that have to match
_STRANDS: dict[str, tuple[int, ...]] = {"both": (0, 1), "+": (0,), "-": (1,)}


class Request(NamedTuple):
    """What is searched for: patterns within k, on strands.

    strand: `both`, `+` or `-`; ends: letters that must match, of a pattern's beginning and of its
    end; aligned: whether hits come with their alignments.
    """

    patterns: PatternSet
    k: int
    strand: str
    ends: tuple[int, int]
    aligned: bool = True


class Panel(NamedTuple):
    """Patterns as the engine reads them.

    written: Written; letters:
    QueryArrays; pattern, minus: int32[Q] and uint8[Q], the pattern and the strand of each query;
    lengths: int64[Q], letters in a query's window. Queries are ranked so that hits sorted by start
    and rank are sorted by start, end, strand and pattern.
    """

    written: Written
    letters: QueryArrays
    pattern: Ints
    minus: Bytes
    lengths: Longs


class ReadingPanel(NamedTuple):
    """Patterns as the recurrence reads them, one query a pattern and strand.

    letters: ReadingArrays, the strand `-` read downwards; pattern: int32[Q]; minus: uint8[Q];
    lengths: int64[Q].
    """

    letters: ReadingArrays
    pattern: Ints
    minus: Bytes
    lengths: Longs


def check_distance(patterns: Sequence[Pattern], k: int) -> int:
    """k as int; InputError unless it is a whole number with 0 ≤ k < m for every pattern."""
    k = checked_count("k", k)
    panel = pattern_set(patterns)
    if len(short := np.flatnonzero(panel.lengths <= k)):
        pattern = panel[int(short[0])]
        raise InputError(
            f"pattern '{shown(pattern.name)}' has {len(pattern)} letters: "
            f"k = {k} must be smaller, or it would match everywhere"
        )
    return k


def exact_ends(patterns: PatternSet, k: int, ends: tuple[int, int]) -> Bools:
    """Which letters of patterns have to match, bool[L], side by side as they are written.

    ends: how many must, of a pattern's beginning and of its end; with k = 0 all must.
    """
    begins, lengths = patterns.begins, patterns.lengths
    if k == 0 or not any(ends):
        return np.full(begins[-1], k == 0)
    offset = offsets_in_rows(begins)
    return (offset < ends[0]) | (offset >= np.repeat(lengths - ends[1], lengths))


def build_panel(patterns: Sequence[Pattern], k: int, strand: str, exact: Exact) -> Panel:
    """The Panel of all patterns on the wanted strands, to be searched within k.

    exact: the letters that have to match, bool[L], those of all patterns as written, side by side;
    or a function that gives bool[m] of a Pattern. Raises InputError for a strand other than `both`,
    `+` and `-`.
    """
    panel = rank_panel(patterns, strand)
    everything = np.arange(len(panel.lengths))
    return panel._replace(letters=panel_letters(panel, patterns, everything, k, exact))


def rank_panel(patterns: Sequence[Pattern], strand: str) -> Panel:
    """The Panel of all patterns on the wanted strands, without letters.

    Raises InputError for a strand other than `both`, `+` and `-`.
    """
    panel = pattern_set(patterns)
    numbers, minus = _each_strand(len(panel), strand)
    lengths = panel.lengths[numbers]
    order = np.argsort(lengths, kind="stable")
    written = Written(panel.masks, panel.begins)
    return Panel(written, cast(QueryArrays, None), numbers[order], minus[order], lengths[order])


def panel_letters(
    panel: Panel, patterns: Sequence[Pattern], ranks: Longs, k: int, exact: Exact
) -> QueryArrays:
    """QueryArrays of the queries with the given ranks, to be searched within k."""
    masks, begins = panel.written
    pattern, minus = panel.pattern[ranks], panel.minus[ranks] == 1
    if callable(exact):
        exact = _ask_each(patterns, begins, np.unique(pattern), exact)
    bounds = bounds_of(panel.lengths[ranks])
    # The reverse complement of them all, behind them, has that of each one in a piece.
    letters = np.concatenate([masks, reverse_complement(masks)])
    first = np.where(minus, len(letters) - begins[pattern + 1], begins[pattern])
    windows = gather(letters, first, bounds)
    required = gather(np.concatenate([exact, exact[::-1]]), first, bounds)
    return window_arrays(windows, bounds, required, k)


def _ask_each(
    patterns: Sequence[Pattern],
    begins: Longs,
    numbers: Ints,
    is_exact: Callable[[Pattern], Bools],
) -> Bools:
    exact = np.zeros(begins[-1], bool)
    for number in numbers:
        exact[begins[number] : begins[number + 1]] = is_exact(patterns[number])
    return exact


def build_reading_panel(
    patterns: Sequence[Pattern], strand: str, leads: bool = False
) -> ReadingPanel:
    """The ReadingPanel of all patterns on the wanted strands.

    leads: whether the pattern's beginning is read last, and so anchored, instead of its end.
    Raises InputError for a strand other than `both`, `+` and `-`.
    """
    panel = pattern_set(patterns)
    numbers, minus = _each_strand(len(panel), strand)
    masks = _turned(panel) if leads else panel.masks
    letters = {0: masks, 1: complement(masks)}
    joined = np.concatenate([letters[turned] for turned in wanted_strands(strand)])
    lengths = panel.lengths[numbers]
    backward = 1 - minus if leads else minus
    reading = reading_arrays(joined, bounds_of(lengths), backward)
    return ReadingPanel(reading, numbers, minus, lengths)


def _turned(panel: PatternSet) -> Bytes:
    """The letters of each pattern from its end to its beginning, side by side."""
    begins = panel.begins
    return gather(panel.masks[::-1].copy(), begins[-1] - begins[1:], begins)


def _each_strand(patterns: int, strand: str) -> tuple[Ints, Bytes]:
    """Pattern and strand of queries, int32[Q] and uint8[Q]: all patterns, strand by strand."""
    strands = np.array(wanted_strands(strand), np.uint8)
    numbers = np.tile(np.arange(patterns, dtype=np.int32), len(strands))
    return numbers, np.repeat(strands, patterns)


def select_patterns(patterns: Sequence[Pattern], wanted: Bools, strand: str) -> ReadingPanel:
    """The ReadingPanel of the patterns for which `wanted`, bool[P], is set."""
    numbers = np.flatnonzero(wanted)
    panel = build_reading_panel(pattern_set(patterns).take(numbers), strand)
    return panel._replace(pattern=numbers[panel.pattern].astype(np.int32))


def wanted_strands(strand: str) -> tuple[int, ...]:
    """0 for the strand `+` and 1 for `-`, as a tuple; InputError for another strand."""
    check_choice("strand", strand, STRANDS)
    return _STRANDS[strand]
