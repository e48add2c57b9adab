"""Patterns and strands as queries, the distances within which they are searched, and repeats."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from kmatch.arrays import Bools, Bytes, Ints, Longs, bounds_of, gather, offsets_in_rows
from kmatch.engine.queries import QueryArrays, ReadingArrays, reading_arrays, window_arrays
from kmatch.errors import STRANDS, InputError, check_choice, checked_count, checked_share, shown
from kmatch.results.batches import HitBatch, joined
from kmatch.search.query import Query
from kmatch.sequences.alphabet import complement, reverse_complement
from kmatch.sequences.patterns import PatternSet

_STRANDS: dict[str, tuple[int, ...]] = {"both": (0, 1), "+": (0,), "-": (1,)}


class Panel(NamedTuple):
    """Windows to be compared, one a pattern and strand.

    patterns: as hits span them; pattern, minus: int32[Q] and uint8[Q], the pattern and the strand
    of each query; lengths: int64[Q], letters of its window. Queries are ranked so that hits sorted
    by start and rank are sorted by start, end, strand and pattern.
    """

    patterns: PatternSet
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


def wanted_strands(strand: str) -> tuple[int, ...]:
    """0 for the strand `+` and 1 for `-`, as a tuple; InputError for another strand."""
    check_choice("strand", strand, STRANDS)
    return _STRANDS[strand]


def pattern_distances(patterns: PatternSet, k: int | str) -> Longs:
    """The k of each pattern, int64[P].

    k: a whole number, or a share of a pattern's length such as `10%`, rounded down. Raises
    InputError where it is neither, or not smaller than each pattern.
    """
    if isinstance(k, str):
        numerator, denominator = checked_share("k", k)
        return patterns.lengths * numerator // denominator
    k = checked_count("k", k)
    if len(short := np.flatnonzero(patterns.lengths <= k)):
        pattern = patterns[int(short[0])]
        raise InputError(
            f"pattern '{shown(pattern.name)}' has {len(pattern)} letters: "
            f"k = {k} must be smaller, or it would match everywhere"
        )
    return np.full(len(patterns), k, np.int64)


def check_lengths(patterns: PatternSet) -> None:
    """Raise InputError for patterns of several lengths."""
    if len(others := np.flatnonzero(patterns.lengths != patterns.lengths[0])):
        first, pattern = patterns[0], patterns[others[0]]
        raise InputError(
            f"pattern '{shown(pattern.name)}' has {len(pattern)} letters and the first one, "
            f"'{shown(first.name)}', {len(first)}: a panel has one length; "
            "search others with kmatch hamming"
        )


def exact_ends(patterns: PatternSet, k: int, ends: tuple[int, int]) -> Bools:
    """Which letters of patterns have to match, bool[L], side by side as they are written.

    ends: how many must, of a pattern's beginning and of its end; with k = 0 all must.
    """
    begins, lengths = patterns.begins, patterns.lengths
    if k == 0 or not any(ends):
        return np.full(begins[-1], k == 0)
    offset = offsets_in_rows(begins)
    return (offset < ends[0]) | (offset >= np.repeat(lengths - ends[1], lengths))


def build_panel(patterns: PatternSet, strand: str) -> Panel:
    """The Panel of all patterns on the wanted strands."""
    numbers, minus = _each_strand(len(patterns), strand)
    lengths = patterns.lengths[numbers]
    order = np.argsort(lengths, kind="stable")
    return Panel(patterns, numbers[order], minus[order], lengths[order])


def panel_letters(panel: Panel, k: int, exact: Bools) -> QueryArrays:
    """The QueryArrays of a Panel that is searched within k; exact: see `exact_ends`."""
    masks, begins = panel.patterns.masks, panel.patterns.begins
    bounds = bounds_of(panel.lengths)
    # The reverse complement of them all, behind them, has that of each one in a piece.
    letters = np.concatenate([masks, reverse_complement(masks)])
    behind = len(letters) - begins[panel.pattern + 1]
    first = np.where(panel.minus == 1, behind, begins[panel.pattern])
    required = gather(np.concatenate([exact, exact[::-1]]), first, bounds)
    return window_arrays(gather(letters, first, bounds), bounds, required, k)


def build_reading_panel(patterns: PatternSet, strand: str, leads: bool = False) -> ReadingPanel:
    """The ReadingPanel of all patterns on the wanted strands.

    leads: whether the pattern's beginning is read last, and so anchored, instead of its end.
    """
    numbers, minus = _each_strand(len(patterns), strand)
    masks, begins = patterns.masks, patterns.begins
    if leads:
        masks = gather(masks[::-1].copy(), begins[-1] - begins[1:], begins)
    letters = (masks, complement(masks))
    written = np.concatenate([letters[turned] for turned in wanted_strands(strand)])
    lengths = patterns.lengths[numbers]
    backward = 1 - minus if leads else minus
    return ReadingPanel(
        reading_arrays(written, bounds_of(lengths), backward), numbers, minus, lengths
    )


def _each_strand(patterns: int, strand: str) -> tuple[Ints, Bytes]:
    """Pattern and strand of queries, int32[Q] and uint8[Q]: all patterns, strand by strand."""
    strands = np.array(wanted_strands(strand), np.uint8)
    numbers = np.tile(np.arange(patterns, dtype=np.int32), len(strands))
    return numbers, np.repeat(strands, patterns)


def select_patterns(patterns: PatternSet, wanted: Bools, strand: str) -> ReadingPanel:
    """The ReadingPanel of the patterns for which `wanted`, bool[P], is set."""
    numbers = np.flatnonzero(wanted)
    panel = build_reading_panel(patterns.take(numbers), strand)
    return panel._replace(pattern=numbers[panel.pattern].astype(np.int32))


class Copies(NamedTuple):
    """The patterns of a panel that have the letters of each distinct one.

    names: of all patterns; numbers: int32[P], those of copies of distinct pattern d, ascending,
    from bounds[d] to bounds[d+1], int64[D+1].
    """

    names: list[str]
    numbers: Ints
    bounds: Longs

    def names_of(self, wanted: Bools) -> list[str]:
        """Names of all copies, in the panel's order, of the patterns for which `wanted` is set."""
        each = np.repeat(wanted, np.diff(self.bounds))
        return [self.names[number] for number in np.sort(self.numbers[each])]


def distinct_patterns(patterns: PatternSet) -> tuple[PatternSet, Copies]:
    """The PatternSet without patterns of the same letters, case and U apart, and its Copies."""
    letters = "\n".join(patterns.sequences).upper().replace("U", "T").split("\n")
    if len(set(letters)) == len(letters):
        everything = np.arange(len(letters) + 1)
        return patterns, Copies(patterns.names, everything[:-1].astype(np.int32), everything)
    kinds: dict[str, int] = {}
    kind = np.array([kinds.setdefault(word, len(kinds)) for word in letters])
    numbers = np.argsort(kind, kind="stable").astype(np.int32)
    bounds = bounds_of(np.bincount(kind))
    distinct = patterns.take(numbers[bounds[:-1]].astype(np.int64))
    return distinct, Copies(patterns.names, numbers, bounds)


def searched_panel(query: Query) -> tuple[PatternSet, Copies, Longs]:
    """The distinct patterns of a Query, their Copies, and the k of each, int64[D].

    Raises InputError for a panel of several lengths and for a k that does not fit.
    """
    distinct, copies = distinct_patterns(query.patterns)
    if query.problem == "multi":
        check_lengths(distinct)
    return distinct, copies, pattern_distances(distinct, query.k)


def with_copies(batches: Iterable[HitBatch], copies: Copies) -> Iterable[HitBatch]:
    """The HitBatches of a panel, in order, out of those of its distinct patterns.

    Hits of one interval may be spread over several of these.
    """
    none = len(copies.bounds) > len(copies.numbers)
    return batches if none else (_copied(*part, copies) for part in _whole_intervals(batches))


def _whole_intervals(batches: Iterable[HitBatch]) -> Iterator[tuple[HitBatch, Longs]]:
    """Yield the same hits in batches that do not part those of one interval, and the number of each
    hit's interval in its batch."""
    held: list[HitBatch] = []  # hits of the last interval so far
    for batch in filter(len, batches):
        batch = joined([*held, batch])
        number = _intervals(batch)
        cut = int(np.searchsorted(number, number[-1]))
        if cut:
            yield batch.picked(slice(cut)), number[:cut]
        held = [batch.picked(slice(cut, None))]
    for batch in held:
        yield batch, _intervals(batch)


def _intervals(batch: HitBatch) -> Longs:
    """The number of each hit's interval, int64[n], sorted."""
    columns = np.stack([batch.record, batch.start, batch.end, batch.minus])
    return np.cumsum(np.any(np.diff(columns, prepend=columns[:, :1]), axis=0))


def _copied(batch: HitBatch, interval: Longs, copies: Copies) -> HitBatch:
    """All copies of hits, by interval and then by pattern."""
    begins = copies.bounds[batch.pattern]
    counts = copies.bounds[batch.pattern + 1] - begins
    pattern = gather(copies.numbers, begins, bounds_of(counts))
    row = np.repeat(np.arange(len(batch)), counts)
    order = np.argsort(interval[row] * len(copies.names) + pattern, kind="stable")  # nearly there
    return replace(batch.picked(row[order]), pattern=pattern[order])
