"""Primers as tables of columns."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from kmatch.results.hits import Found
from kmatch.results.melting import gc_fractions, melting_temperatures


@dataclass(frozen=True)
class PrimerBatch:
    """Primers of one target record, n rows, sorted by start, end and strand.

    record: the record's number; name; start, end: int64[n], 0-based and half-open on the forward
    strand; minus: uint8[n], 1 for the strand `-`; codes: uint8, the record's letters, 0 to 3 and 4
    for any other; regions: int64[r, 3], stretches (start, end, minus) in which every position has a
    primer within the length limits, sorted.
    """

    record: int
    name: str
    start: np.ndarray
    end: np.ndarray
    minus: np.ndarray
    codes: np.ndarray
    regions: np.ndarray

    def __len__(self):
        return len(self.start)

    @cached_property
    def first(self):
        """Where the first letter of each primer is, int64[n]."""
        return np.where(self.minus, self.end - 1, self.start)

    @cached_property
    def gc(self):
        """Share of G and C, float64[n]; see `gc_fractions`."""
        return gc_fractions(self.codes, self.start, self.end)

    @cached_property
    def tm(self):
        """Melting temperatures in °C, float64[n]; see `melting_temperatures`."""
        return melting_temperatures(self.codes, self.start, self.end)


class Primers(Found):
    """The primers of a search, in order of target record, start, end and strand.

    NumPy arrays of one length: `record` holds names (object), `start`, `end` and `length` int64,
    `strand` `+` or `-`, `gc` shares and `tm` °C as float64. `record_number` counts from 0.
    """

    def __init__(self, batches, k, both_strands=False):
        super().__init__(batches)
        self.k, self.both_strands = k, both_strands
        self.record_number = np.repeat(
            np.array([batch.record for batch in self.batches], np.int64), self._sizes()
        )
        self.start = self._column("start", np.int64)
        self.end = self._column("end", np.int64)
        self.strand = np.array(["+", "-"])[self._column("minus", np.uint8)]

    @property
    def length(self):
        return self.end - self.start

    @cached_property
    def record(self):
        return np.repeat(np.array([batch.name for batch in self.batches], object), self._sizes())

    @cached_property
    def gc(self):
        return self._column("gc", np.float64)

    @cached_property
    def tm(self):
        return self._column("tm", np.float64)

    def regions_to_bed(self, handle):
        """Write the stretches in which every position has a primer as BED lines."""
        from kmatch.results.primer_tables import RegionWriter

        self._write(RegionWriter(handle, self.both_strands))

    def _writer(self, form, handle):
        from kmatch.results.primer_tables import PrimerWriter

        return PrimerWriter(handle, form, self.k, self.both_strands)

    def _sizes(self):
        return [len(batch) for batch in self.batches]
