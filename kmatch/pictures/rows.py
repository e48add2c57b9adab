"""Rows of a picture: the records with the most rows of a table, and one for all others."""

from typing import NamedTuple

import numpy as np

from kmatch.arguments import checked_count
from kmatch.arrays import Ints, Longs
from kmatch.pictures.columns import Records


class Lines(NamedTuple):
    """Which line of a picture each hit is on, int64[n], and where: its offset on that line.

    shown: the records of the first lines, in order; others: how many more share a last line, one
    behind another, and how many letters these have. The scale of a line is that of the longest
    record shown, and on the line of the others as many letters as they have.
    """

    line: Longs
    offset: Longs
    shown: Longs
    others: int
    letters: int

    @property
    def size(self) -> int:
        return len(self.shown) + (self.others > 0)


def lines_of(records: Records, record: Ints, most: int) -> Lines:
    """Lines for the records, the `most` with the most hits by themselves; record: of each hit."""
    most = checked_count("records", most, 1)
    counts = np.bincount(record, minlength=len(records.names))
    chosen = np.sort(np.argsort(-counts, kind="stable")[:most])
    lines = np.full(len(counts), len(chosen), np.int64)
    lines[chosen] = np.arange(len(chosen))
    lengths = np.where(lines == len(chosen), records.lengths, 0)
    offsets = np.where(lengths > 0, np.cumsum(lengths) - lengths, 0)
    others = len(counts) - len(chosen)
    return Lines(lines[record], offsets[record], chosen, others, int(lengths.sum()))
