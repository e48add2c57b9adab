"""Rows of unequal length side by side: alignments, as words and by rows, and texts."""

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from kmatch.arrays import Bytes, Longs, bounds_of, gather
from kmatch.engine.types import Columns


class Texts(NamedTuple):
    """n texts side by side: text i is letters[ends[i] … ends[i+1]−1], ASCII; ends: int64[n+1]."""

    ends: Longs
    letters: Bytes


def cigars(columns: Columns) -> list[str]:
    """The CIGAR of each row."""
    ops, ends = columns.ops, columns.op_ends
    starts = np.ones(len(ops) + 1, bool)  # of runs of one letter, and the end of the last
    starts[1:-1] = ops[1:] != ops[:-1]
    starts[ends] = True
    first = np.flatnonzero(starts)
    letters = ops[first[:-1]].tobytes().decode()
    runs = [f"{size}{op}" for size, op in zip(np.diff(first).tolist(), letters, strict=True)]
    return ["".join(runs[a:b]) for a, b in pairwise(np.searchsorted(first, ends).tolist())]


def matches(columns: Columns) -> list[str]:
    """The text of each row, as the pattern reads it."""
    return words(Texts(columns.text_ends, columns.text))


def words(texts: Texts) -> list[str]:
    """Each text as a str."""
    letters = texts.letters.tobytes().decode()
    return [letters[a:b] for a, b in pairwise(texts.ends.tolist())]


def take_texts(texts: Texts, rows: Longs | slice) -> Texts:
    """The Texts of these rows: numbers, int64[n], or a slice of rows side by side."""
    ends, letters = texts
    if isinstance(rows, slice):
        first, last, _ = rows.indices(len(ends) - 1)
        ends = ends[first : max(first, last) + 1]
        return Texts(ends - ends[0], letters[ends[0] : ends[-1]])
    taken = bounds_of(np.diff(ends)[rows])
    return Texts(taken, gather(letters, ends[rows], taken))


def take_rows(columns: Columns, rows: Longs | slice) -> Columns:
    """The Columns of these rows, as `take_texts` does."""
    op_ends, ops, text_ends, text = columns
    return Columns(
        *take_texts(Texts(op_ends, ops), rows), *take_texts(Texts(text_ends, text), rows)
    )


def shortened(columns: Columns, less: Longs, at_begin: bool) -> Columns:
    """The Columns without the last matches of each row, or the first: less, int64[n]."""
    skipped = less * at_begin
    op_ends = bounds_of(np.diff(columns.op_ends) - less)
    text_ends = bounds_of(np.diff(columns.text_ends) - less)
    return Columns(
        op_ends,
        gather(columns.ops, columns.op_ends[:-1] + skipped, op_ends),
        text_ends,
        gather(columns.text, columns.text_ends[:-1] + skipped, text_ends),
    )


def join_texts(parts: list[Texts]) -> Texts:
    """Several Texts, one behind the other."""
    lengths = np.concatenate([np.diff(part.ends) for part in parts])
    return Texts(bounds_of(lengths), np.concatenate([part.letters for part in parts]))


def join_columns(parts: list[Columns]) -> Columns:
    """The rows of several Columns, one behind the other."""
    ops = join_texts([Texts(part.op_ends, part.ops) for part in parts])
    return Columns(*ops, *join_texts([Texts(part.text_ends, part.text) for part in parts]))
