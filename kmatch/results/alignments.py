"""Alignments of hits, Columns, as words; and those of some of their rows."""

from itertools import pairwise

import numpy as np

from kmatch.arrays import Longs, bounds_of, gather
from kmatch.engine.alignments import Columns

NONE = Columns(*(np.zeros(1, np.int64), np.zeros(0, np.uint8)) * 2)  # of no row


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
    text = columns.text.tobytes().decode()
    return [text[a:b] for a, b in pairwise(columns.text_ends.tolist())]


def take_rows(columns: Columns, rows: Longs | slice) -> Columns:
    """The Columns of these rows: numbers, int64[n], or a slice of rows side by side."""
    if isinstance(rows, slice):
        first, last, _ = rows.indices(len(columns.op_ends) - 1)
        ops, text = columns.op_ends[first : last + 1], columns.text_ends[first : last + 1]
        if not len(ops):
            return NONE
        return Columns(
            ops - ops[0],
            columns.ops[ops[0] : ops[-1]],
            text - text[0],
            columns.text[text[0] : text[-1]],
        )
    op_ends = bounds_of(np.diff(columns.op_ends)[rows])
    text_ends = bounds_of(np.diff(columns.text_ends)[rows])
    return Columns(
        op_ends,
        gather(columns.ops, columns.op_ends[rows], op_ends),
        text_ends,
        gather(columns.text, columns.text_ends[rows], text_ends),
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


def joined(parts: list[Columns]) -> Columns:
    """The rows of several Columns, one behind the other."""
    return Columns(
        bounds_of(np.concatenate([np.diff(part.op_ends) for part in parts])),
        np.concatenate([part.ops for part in parts]),
        bounds_of(np.concatenate([np.diff(part.text_ends) for part in parts])),
        np.concatenate([part.text for part in parts]),
    )
