"""A search for differences that filters some queries."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from kmatch.arrays import Longs
from kmatch.engine.cuda.bits.buffer import HitBuffer
from kmatch.engine.cuda.edit.filter import Filter
from kmatch.engine.cuda.edit.pieces import Survivors
from kmatch.engine.cuda.gpu import driver
from kmatch.engine.cuda.gpu.driver import DeviceArray
from kmatch.engine.cuda.gpu.scans import Scan, ScanningEngine
from kmatch.engine.geometry import Text
from kmatch.engine.hits import Found
from kmatch.errors import DeviceError


class FilteredScan(Scan):
    """A search for differences that filters some queries and scans for the rest.

    text: with planes on the GPU; start(chosen, buffer) starts the scan for some queries. Some codes
    come twice.
    """

    def __init__(
        self,
        engine: ScanningEngine,
        capacity: int,
        text: Text,
        queries: Filter,
        start: Callable[[Longs, HitBuffer], object],
    ) -> None:
        self._text, self._queries, self._start = text, queries, start
        self._kept: DeviceArray = None
        self._survivors: Survivors | None = None
        super().__init__(engine, capacity, self._launch)

    def _launch(self, buffer: HitBuffer) -> None:
        self._queries.sample(self._text)
        budgets = self._queries.budgets
        chosen, rest = np.flatnonzero(budgets), np.flatnonzero(budgets == 0)
        if len(chosen):
            self._filter(chosen, self._queries.memory, buffer)
        if len(rest):
            self._start(rest, buffer)

    def _filter(self, chosen: Longs, most: int, buffer: HitBuffer) -> None:
        """Filter the chosen queries, with memory for `most` survivors, or scan without that."""
        engine, queries = self._engine, self._queries
        self._chosen = chosen
        try:
            self._kept = engine.arrays.take(most)
        except DeviceError:  # the scan needs less
            self._chosen = chosen[:0]
            self._start(chosen, buffer)
            return
        counts = driver.on_device(np.zeros(len(queries.budgets), np.int64), engine.stream)
        self._survivors = Survivors(counts, self._kept[:most], engine.new_count())
        queries.sought.run(self._text, chosen, self._survivors, buffer)

    def found(self) -> Found:
        self._engine.use()
        while (survivors := self._survivors) is not None:
            stream = self._engine.stream
            counts = survivors.counts.copy_to_host(stream=stream)
            count = survivors.count.copy_to_host(stream=stream)
            stream.synchronize()
            if count[0] <= len(survivors.codes):
                break
            self._queries.expect(count[0])
            self._again(counts)
        return super().found()

    def _again(self, counts: Longs) -> None:
        """Filter again where it pays, with memory for all survivors, and scan for the rest."""
        chosen = self._chosen
        self._give_survivors()
        again, rest = self._queries.narrow(chosen, counts)
        with self._engine.timing(self._engine.stream):
            if len(rest):
                self._start(rest, self._buffer)
            self._chosen = again
            if len(again):
                self._filter(again, max(int(counts[again].sum()), 1), self._buffer)
        self._finish_launch()

    def _give_survivors(self) -> None:
        if self._kept is not None:
            self._engine.arrays.give(self._kept)
            self._kept = self._survivors = None

    def _give_back(self) -> None:
        self._give_survivors()
        super()._give_back()
