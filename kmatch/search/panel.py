"""Patterns and strands become queries, ranked in the order in which hits are reported."""

from typing import NamedTuple

import numpy as np

from kmatch.engine.queries import (
    Query,
    QueryArrays,
    ReadingArrays,
    query_arrays,
    reading_arrays,
)
from kmatch.errors import InputError
from kmatch.sequences.alphabet import complement, reverse_complement

STRANDS = {"both": (0, 1), "+": (0,), "-": (1,)}


class Panel(NamedTuple):
    """Patterns as the engine reads them.

    written: the masks of all patterns, uint8, and where each begins, int64[P+1]; letters:
    QueryArrays; pattern, minus: int32[Q] and uint8[Q], the pattern and the strand of each query;
    lengths: int64[Q], letters in a query's window. Queries are ranked so that hits sorted by start
    and rank are sorted by start, end, strand and pattern.
    """

    written: tuple
    letters: QueryArrays
    pattern: np.ndarray
    minus: np.ndarray
    lengths: np.ndarray


class ReadingPanel(NamedTuple):
    """Patterns as the recurrence reads them, one query a pattern and strand.

    letters: ReadingArrays, the strand `-` read downwards; pattern: int32[Q]; minus: uint8[Q];
    lengths: int64[Q].
    """

    letters: ReadingArrays
    pattern: np.ndarray
    minus: np.ndarray
    lengths: np.ndarray


def check_distance(patterns, k):
    """Raise InputError unless 0 ≤ k < m for every pattern."""
    if k < 0:
        raise InputError(f"k is {k}; it counts mismatches and cannot be negative")
    for pattern in patterns:
        if k >= len(pattern):
            raise InputError(
                f"pattern '{pattern.name}' has {len(pattern)} letters: "
                f"k = {k} must be smaller, or it would match everywhere"
            )


def build_panel(patterns, k, strand, is_exact):
    """The Panel of all patterns on the wanted strands, to be searched within k.

    is_exact(pattern) gives bool[m], the letters of the pattern as written that have to match.
    Raises InputError for a strand other than `both`, `+` and `-`.
    """
    panel = rank_panel(patterns, strand)
    everything = np.arange(len(panel.lengths))
    return panel._replace(letters=panel_letters(panel, patterns, everything, k, is_exact))


def rank_panel(patterns, strand):
    """The Panel of all patterns on the wanted strands, without letters.

    Raises InputError for a strand other than `both`, `+` and `-`.
    """
    ranked = sorted(
        (len(pattern), minus, number)
        for number, pattern in enumerate(patterns)
        for minus in wanted_strands(strand)
    )
    lengths, minus, numbers = zip(*ranked, strict=True)
    written = np.concatenate([pattern.masks for pattern in patterns])
    begins = np.cumsum([0] + [len(pattern) for pattern in patterns])
    return Panel(
        (written, begins),
        None,
        np.array(numbers, np.int32),
        np.array(minus, np.uint8),
        np.array(lengths, np.int64),
    )


def panel_letters(panel, patterns, ranks, k, is_exact):
    """QueryArrays of the queries with the given ranks, to be searched within k."""
    places = zip(panel.pattern[ranks], panel.minus[ranks], strict=True)
    return query_arrays([_query(patterns[number], minus, is_exact) for number, minus in places], k)


def build_reading_panel(patterns, strand):
    """The ReadingPanel of all patterns on the wanted strands.

    Raises InputError for a strand other than `both`, `+` and `-`.
    """
    queries = [
        (minus, number) for minus in wanted_strands(strand) for number in range(len(patterns))
    ]
    minus, numbers = (np.array(column) for column in zip(*queries, strict=True))
    letters = [
        complement(patterns[number].masks) if minus else patterns[number].masks
        for minus, number in queries
    ]
    return ReadingPanel(
        reading_arrays(letters, minus),
        numbers.astype(np.int32),
        minus.astype(np.uint8),
        np.array([len(masks) for masks in letters], np.int64),
    )


def select_patterns(patterns, wanted, strand):
    """The ReadingPanel of the patterns for which `wanted`, bool[P], is set."""
    numbers = np.flatnonzero(wanted)
    panel = build_reading_panel([patterns[number] for number in numbers], strand)
    return panel._replace(pattern=numbers[panel.pattern].astype(np.int32))


def wanted_strands(strand):
    """0 for the strand `+` and 1 for `-`, as a tuple; InputError for another strand."""
    if strand not in STRANDS:
        raise InputError(f"unknown strand '{strand}'; use both, + or -")
    return STRANDS[strand]


def _query(pattern, minus, is_exact):
    masks, exact = pattern.masks, is_exact(pattern)
    if minus:
        masks, exact = reverse_complement(masks), exact[::-1]
    return window_query(masks, exact)


def window_query(masks, exact):
    """The Query of a window's letters, uint8[m], of which those in `exact`, bool[m], must match."""
    letters = list(enumerate(masks.tolist()))
    return Query(
        [letter for letter in letters if not exact[letter[0]]],
        [letter for letter in letters if exact[letter[0]]],
    )
