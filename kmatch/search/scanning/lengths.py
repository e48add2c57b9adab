"""The records and letters that a search has covered, counted on the way."""

import numpy as np

from kmatch.arrays import Longs
from kmatch.sequences.chunks import Spans


class Heard:
    """The records of a search; `longest`: letters of the longest so far.

    A search that reads the genome twice counts it once.
    """

    def __init__(self) -> None:
        self.longest = 0
        self._first = self._gone = 0  # the first of those in the last chunk, letters before it
        self._before: dict[int, int] = {}  # letters before the first record of each chunk
        self._lengths: Longs = np.zeros(0, np.int64)

    def hear(self, spans: Spans) -> None:
        """Take the records in a chunk."""
        self.longest = max(self.longest, int(spans.lengths.max(initial=0)))
        if spans.first not in self._before:
            gone = self._gone + int(self._lengths[: spans.first - self._first].sum())
            self._before[spans.first] = gone
        self._first, self._lengths = spans.first, spans.lengths
        self._gone = self._before[spans.first]

    @property
    def records(self) -> int:
        """How many records there were."""
        return self._first + len(self._lengths)

    @property
    def letters(self) -> int:
        """How many letters they have."""
        return self._gone + int(self._lengths.sum())
