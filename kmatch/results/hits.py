"""Hits as tables of columns."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from kmatch.sequences.chunks import Spans


@dataclass(frozen=True)
class HitBatch:
    """Hits of one chunk, n rows, sorted by record, start, end, strand and pattern.

    record: int64, the record's number in the genome; start, end: int64, 0-based and half-open on
    the record's forward strand; pattern: int32, the pattern's number; distance: int32; minus:
    uint8, 1 for the strand `-`. `spans` names the records; `align(rows)` gives the Columns of a
    slice of rows.
    """

    record: np.ndarray
    start: np.ndarray
    end: np.ndarray
    pattern: np.ndarray
    distance: np.ndarray
    minus: np.ndarray
    spans: Spans
    align: object

    def __len__(self):
        return len(self.start)


def hit_batch(spans, places, kinds, align):
    """A HitBatch of hits in a chunk; spans: its Spans, from whose first the records count.

    places: (record, start, end), kinds: (pattern, distance, minus), as HitBatch has them.
    """
    (record, start, end), (pattern, distance, minus) = places, kinds
    return HitBatch(spans.first + record, start, end, pattern, distance, minus, spans, align)


class Found:
    """Rows of batches, as columns and as tables; a subclass says what writes them."""

    def __init__(self, batches):
        self.batches = list(batches)

    def __len__(self):
        return len(self.start)

    def to_bed(self, handle):
        """Write BED lines to a text or binary handle."""
        self._write(self._writer("bed", handle))

    def to_tsv(self, handle):
        """Write a header line and TSV lines to a text or binary handle."""
        self._write(self._writer("tsv", handle))

    def _write(self, writer):
        for batch in self.batches:
            writer.write(batch)

    def _column(self, name, kind):
        parts = [getattr(batch, name) for batch in self.batches]
        return np.concatenate(parts) if parts else np.zeros(0, kind)


class Hits(Found):
    """The hits of a search, in order of record, start, end, strand and pattern.

    NumPy arrays of one length: `record` and `pattern` are names (object), `start` and `end` int64,
    `distance` int32, `strand` `+` or `-`. `record_number` and `pattern_number` count from 0 in the
    order of the genome and of the patterns, for names that repeat.
    """

    def __init__(self, batches, patterns):
        super().__init__(batches)
        self.patterns = patterns
        self.record_number = self._column("record", np.int64)
        self.start = self._column("start", np.int64)
        self.end = self._column("end", np.int64)
        self.pattern_number = self._column("pattern", np.int32)
        self.distance = self._column("distance", np.int32)
        self.strand = np.array(["+", "-"])[self._column("minus", np.uint8)]

    @cached_property
    def record(self):
        names = [
            np.array(batch.spans.names, object)[batch.record - batch.spans.first]
            for batch in self.batches
        ]
        return np.concatenate(names) if names else np.zeros(0, object)

    @cached_property
    def pattern(self):
        return np.array([pattern.name for pattern in self.patterns], object)[self.pattern_number]

    def _writer(self, form, handle):
        from kmatch.results.tables import TableWriter

        return TableWriter(handle, form, self.patterns)
