"""Primers as tables of columns."""

from collections.abc import Iterable
from dataclasses import replace
from functools import cached_property
from typing import Any, NamedTuple, Self

import numpy as np

from kmatch.arrays import Floats, Longs, Objects, Strings, bounds_of
from kmatch.results.batches import PrimerBatch
from kmatch.results.hits import SIGNS
from kmatch.results.table import Table


class Primer(NamedTuple):
    """A row of Primers; start and end are 0-based and half-open on the forward strand."""

    record: str
    start: int
    end: int
    length: int
    strand: str
    gc: float
    tm: float


class Primers(Table[PrimerBatch, Primer]):
    """The primers of a search, in order of target record, start, end and strand.

    Columns are NumPy arrays of one length: `record` holds names (object), `start`, `end` and
    `length` int64, `strand` `+` or `-`, `gc` shares and `tm` °C as float64. `record_number` counts
    from 0.

    Iteration gives rows, `primers[3]` a row, as a Primer; `primers[:10]`,
    `primers[primers.tm > 60]` and `primers[numbers]` give Primers.
    """

    _row = Primer
    _shown = _columns = ("record", "start", "end", "length", "strand", "gc", "tm")
    _lazy = ("record", "gc", "tm")
    _noun = "primer"

    def __init__(self, batches: Iterable[PrimerBatch], k: int, both_strands: bool = False) -> None:
        super().__init__(batches)
        self.k, self.both_strands = k, both_strands
        self._searched = self.batches  # whose regions are reported, whatever rows are selected
        self.record_number: Longs = np.repeat(
            np.array([batch.record for batch in self.batches], np.int64), self._sizes()
        )
        self.start: Longs = self._column("start", np.int64)
        self.end: Longs = self._column("end", np.int64)
        self.strand: Strings = SIGNS[self._column("minus", np.uint8)]

    @property
    def length(self) -> Longs:
        """Letters of each primer."""
        return self.end - self.start

    @cached_property
    def record(self) -> Objects:
        """Names of the target's records."""
        return np.repeat(np.array([batch.name for batch in self.batches], object), self._sizes())

    @cached_property
    def gc(self) -> Floats:
        """Shares of G and C."""
        return np.asarray(self._column("gc", np.float64), np.float64)

    @cached_property
    def tm(self) -> Floats:
        """Melting temperatures in °C; NaN for a primer with an N."""
        return np.asarray(self._column("tm", np.float64), np.float64)

    def regions_to_bed(self, target: Any) -> None:
        """Write the stretches in which every position has a primer as BED, as `to_bed` does.

        They are those of the whole search, whichever of its rows are here.
        """
        from kmatch.results.tables import RegionWriter

        self._write_to(target, lambda file: RegionWriter(file, self.both_strands), self._searched)

    def plot(self, *, records: int | None = None) -> Any:
        """A Matplotlib Figure: length, GC and Tm of the primers along the target.

        records: how many of the target, those with the most primers, are drawn; 12 by default.
        Raises OutputError where Matplotlib is not installed.
        """
        from kmatch.pictures.columns import columns_of_primers
        from kmatch.pictures.primers import draw_primers

        return draw_primers(columns_of_primers(self), records)

    def _taken(self, rows: Longs) -> Self:
        bounds = bounds_of(self._sizes())
        source = np.searchsorted(bounds, rows, side="right") - 1
        parts = np.split(np.arange(len(rows)), np.flatnonzero(np.diff(source)) + 1)
        batches = []
        for part in parts if len(rows) else ():
            number = int(source[part[0]])
            batch, mine = self.batches[number], rows[part] - bounds[number]
            chosen = {name: getattr(batch, name)[mine] for name in ("start", "end", "minus")}
            batches.append(replace(batch, **chosen))
        found = type(self)(batches, self.k, self.both_strands)
        found._searched = self._searched
        return found

    def _writer(self, form: str, handle: Any) -> Any:
        from kmatch.results.tables import PrimerWriter

        return PrimerWriter(handle, form, self.k, self.both_strands)

    def _sizes(self) -> list[int]:
        return [len(batch) for batch in self.batches]
