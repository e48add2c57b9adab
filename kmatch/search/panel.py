"""Patterns and strands as queries, their repeats, their distances, and checks of them."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
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
from kmatch.errors import (
    PAM_SIDES,
    STRANDS,
    InputError,
    check_choice,
    checked_count,
    checked_share,
    shown,
    warn,
)
from kmatch.results.batches import HitBatch, joined
from kmatch.search.pam import Pam, load_pams
from kmatch.sequences.alphabet import complement, reverse_complement
from kmatch.sequences.patterns import Pattern, PatternSet, pattern_set

Exact = Bools | Callable[[Pattern], Bools]  # letters that have to match
_STRANDS: dict[str, tuple[int, ...]] = {"both": (0, 1), "+": (0,), "-": (1,)}
Part = tuple[HitBatch, int, int]  # of a batch: its first row, and where it ends


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


def pattern_distances(patterns: Sequence[Pattern], k: int | str) -> Longs:
    """The k of each pattern, int64[P].

    k: a whole number, or a share of a pattern's length such as `10%`, rounded down. Raises
    InputError where it is neither, or not smaller than each pattern.
    """
    panel = pattern_set(patterns)
    if isinstance(k, str):
        numerator, denominator = checked_share("k", k)
        return panel.lengths * numerator // denominator
    return np.full(len(panel), check_distance(panel, k), np.int64)


def renumbered(batch: HitBatch, numbers: Longs) -> HitBatch:
    """A HitBatch of some patterns as one of the panel; numbers: int64[P], theirs in the panel."""
    return replace(batch, pattern=numbers[batch.pattern].astype(np.int32))


def merged(batches: list[HitBatch]) -> HitBatch:
    """The hits of several HitBatches of a chunk in order, as one."""
    hits = joined(batches)
    return hits.picked(np.lexsort((hits.pattern, hits.minus, hits.end, hits.start, hits.record)))


def check_ends(panel: PatternSet, ends: Mapping[str, int]) -> None:
    """Raise InputError for a pattern that is shorter than one of its ends that must match.

    ends: how many letters of each must, by the names that their options have.
    """
    for option, letters in ends.items():
        if len(short := np.flatnonzero(panel.lengths < checked_count(option, letters))):
            pattern = panel[int(short[0])]
            raise InputError(
                f"pattern '{shown(pattern.name)}' has {len(pattern)} letters: {option} {letters} "
                "asks for more to match"
            )


def check_pam(
    panel: PatternSet,
    given: str | Sequence[str] | None,
    side: str,
) -> None:
    """Check whether the patterns contain the PAM, or one of the PAMs, that is to be beside them.

    Raises InputError where two or more all do; a single one, which may by chance, is a warning.
    """
    check_choice("side of the PAM", side, PAM_SIDES)
    pams = [pam for pam in load_pams(given, side) if not (pam.masks == 15).all()]
    if not pams or not all(any(_holds(pattern, pam) for pam in pams) for pattern in panel):
        return
    where, ends = ("begin", "begins") if pams[0].leads else ("end", "ends")
    named = " or ".join(pam.sequence for pam in pams)
    what = f"the PAM {named}" if len(pams) == 1 else f"a PAM, {named}"
    if len(panel) > 1:
        raise InputError(
            f"all {len(panel):,} patterns {where} with {what}, which would have to "
            "stand there twice; leave it out of the patterns, or search without a PAM"
        )
    warn(f"pattern '{panel[0].name}' {ends} with {what}; only where it stands there twice is a hit")


def _holds(pattern: Pattern, pam: Pam) -> bool:
    size = len(pam)
    if len(pattern) <= size:
        return False
    letters: Bytes = pattern.masks[:size] if pam.leads else pattern.masks[-size:]
    return not (letters & ~pam.masks).any()


class Copies(NamedTuple):
    """The patterns of a panel that have the letters of each distinct one.

    names: of all patterns; numbers: int32[P], those of copies of distinct pattern d, ascending,
    from bounds[d] to bounds[d+1], int64[D+1].
    """

    names: list[str]
    numbers: Ints
    bounds: Longs

    @property
    def none(self) -> bool:
        """Whether no pattern repeats."""
        return len(self.bounds) > len(self.numbers)

    def names_of(self, wanted: Bools) -> list[str]:
        """Names of all copies, in the panel's order, of the patterns for which `wanted` is set."""
        each = np.repeat(wanted, np.diff(self.bounds))
        return [self.names[number] for number in np.sort(self.numbers[each])]


def distinct_patterns(patterns: Sequence[Pattern]) -> tuple[PatternSet, Copies]:
    """The PatternSet without patterns of the same letters, case and U apart, and its Copies."""
    panel = pattern_set(patterns)
    letters = "\n".join(panel.sequences).upper().replace("U", "T").split("\n")
    if len(set(letters)) == len(letters):
        everything = np.arange(len(letters) + 1)
        return panel, Copies(panel.names, everything[:-1].astype(np.int32), everything)
    kinds: dict[str, int] = {}
    kind = np.array([kinds.setdefault(word, len(kinds)) for word in letters])
    numbers = np.argsort(kind, kind="stable").astype(np.int32)
    bounds = bounds_of(np.bincount(kind))
    return panel.take(numbers[bounds[:-1]].astype(np.int64)), Copies(panel.names, numbers, bounds)


def with_copies(batches: Iterable[HitBatch], copies: Copies) -> Iterable[HitBatch]:
    """The HitBatches of a panel out of those of its distinct patterns, in order, one by one.

    batches: an iterable of HitBatches; hits of one interval may be spread over several of them.
    """
    return batches if copies.none else _with_copies(batches, copies)


def _with_copies(batches: Iterable[HitBatch], copies: Copies) -> Iterator[HitBatch]:
    waiting: list[
        Part
    ] = []  # parts of batches, (batch, first, end), that the next one may belong between
    for batch in batches:
        if not len(batch):
            continue
        first = _rows_at(batch, waiting[-1]) if waiting else 0
        if first:
            if len(waiting) == 1:
                before, waiting = _without_last_interval(*waiting[0])
                if before:
                    yield _expanded(*before, copies)
            waiting.append((batch, 0, first))
            if first == len(batch):
                continue
        yield from _ordered(waiting, copies)
        waiting = [(batch, first, len(batch))]
    yield from _ordered(waiting, copies)


def _intervals(batch: HitBatch, rows: slice) -> Longs:
    return np.stack([batch.record[rows], batch.start[rows], batch.end[rows], batch.minus[rows]])


def _rows_at(batch: HitBatch, part: Part) -> int:
    """How many rows a batch begins with that are at the last interval of a part of another."""
    other, _, end = part
    if (_intervals(batch, slice(1)) != _intervals(other, slice(end - 1, end))).any():
        return 0
    same = (_intervals(batch, slice(None)) == _intervals(other, slice(end - 1, end))).all(axis=0)
    return len(batch) if same.all() else int(np.argmin(same))


def _without_last_interval(batch: HitBatch, first: int, end: int) -> tuple[Part | None, list[Part]]:
    """A part of a batch without the rows of its last interval, or None, and a list of the rest."""
    intervals = _intervals(batch, slice(first, end))
    rest = first + int(np.argmax((intervals == intervals[:, -1:]).all(axis=0)))
    return (batch, first, rest) if rest > first else None, [(batch, rest, end)]


def _copied(batch: HitBatch, first: int, end: int, copies: Copies) -> tuple[Longs, Ints]:
    """(row, pattern) of all copies of the hits of a part, int64[n] and int32[n], in order."""
    distinct = batch.pattern[first:end]
    begins = copies.bounds[distinct]
    counts = copies.bounds[distinct + 1] - begins
    pattern = gather(copies.numbers, begins, bounds_of(counts))
    row = np.repeat(np.arange(end - first), counts)
    intervals = _intervals(batch, slice(first, end))
    number = np.cumsum(np.any(np.diff(intervals, prepend=intervals[:, :1]), axis=0))[row]
    order = np.argsort(number * len(copies.names) + pattern, kind="stable")  # nearly in order
    return first + row[order], pattern[order]


def _expanded(batch: HitBatch, first: int, end: int, copies: Copies) -> HitBatch:
    row, pattern = _copied(batch, first, end, copies)
    return replace(batch.picked(row), pattern=pattern)


def _ordered(parts: list[Part], copies: Copies) -> Iterator[HitBatch]:
    """Yield the hits of a part with their copies, or of several parts with one interval."""
    if len(parts) < 2:
        yield from (_expanded(*part, copies) for part in parts)
        return
    copied = [_copied(*part, copies) for part in parts]
    source = np.repeat(np.arange(len(parts)), [len(row) for row, _ in copied])
    row, pattern = (np.concatenate(column) for column in zip(*copied, strict=True))
    order = np.argsort(pattern, kind="stable")
    for run in np.split(order, np.flatnonzero(np.diff(source[order])) + 1):
        batch, *_ = parts[source[run[0]]]
        yield replace(batch.picked(row[run]), pattern=pattern[run])
