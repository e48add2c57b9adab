"""Hits of kmatch and of Sassy in one form, so that sets of them can be compared."""

from typing import NamedTuple

import numpy as np


class Anchors(NamedTuple):
    """Hits by their anchored ends, int64[n] each.

    pattern: its number; minus: 1 for the strand -; position: the hit's end on the strand +, its
    start on -; distance.
    """

    pattern: np.ndarray
    minus: np.ndarray
    position: np.ndarray
    distance: np.ndarray

    @classmethod
    def of_hits(cls, hits, beyond=0):
        """Of a kmatch.Hits. beyond: letters of a hit after its pattern."""
        strands = hits.strand == "-"
        return cls._of(hits.pattern_number, strands, hits.start, hits.end, hits.distance, beyond)

    @classmethod
    def of_bed(cls, rows, beyond=0):
        """Of rows of `read_bed`."""
        columns = np.array([row[1:] for row in rows], np.int64).reshape(-1, 5).T
        return cls._of(*columns, beyond)

    @classmethod
    def _of(cls, number, minus, start, end, distance, beyond):
        position = np.where(minus, start + beyond, end - beyond)
        columns = (number, minus, position, distance)
        return cls(*(np.asarray(column, np.int64) for column in columns))

    @classmethod
    def of_matches(cls, matches, pattern=None):
        """Of Sassy's matches. pattern: its number where all are of one pattern."""
        rows = [
            (
                m.pattern_idx if pattern is None else pattern,
                m.strand == "-",
                m.text_start if m.strand == "-" else m.text_end,
                m.cost,
            )
            for m in matches
        ]
        return cls(*np.array(rows, np.int64).reshape(-1, 4).T)

    def only(self, rows):
        """The hits that an index or a mask selects."""
        return Anchors(*(column[rows] for column in self))

    def sorted(self):
        """int64[4, n], equal for equal sets."""
        return np.array(self)[:, np.lexsort(self)]


def read_bed(path, patterns):
    """Yield (record, number of the pattern, on the strand -, start, end, distance) of each row."""
    numbers = {pattern: number for number, pattern in enumerate(patterns)}
    with open(path) as table:
        for line in table:
            record, start, end, name, _, strand, distance = line.rstrip("\n").split("\t")
            yield record, numbers[name], strand == "-", int(start), int(end), int(distance)
