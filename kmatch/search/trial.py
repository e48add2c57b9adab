"""Chunks searched for differences by look-ups or scans, whichever a trial shows to be faster."""

from collections.abc import Callable
from time import thread_time
from typing import Any

import numpy as np

from kmatch.arrays import Longs, distinct
from kmatch.engine import ways
from kmatch.engine.codes import Coding
from kmatch.engine.cpu.tables import plan_lookup
from kmatch.engine.devices import choose_engine
from kmatch.engine.engine import Scan
from kmatch.engine.queries import DifferenceQuery
from kmatch.engine.types import Constraints, Ends, View
from kmatch.engine.workers import slabs
from kmatch.jit.entries import entry
from kmatch.search.chunks import PackedChunk
from kmatch.search.scan import or_scan

keep_ends = entry(
    "kmatch.engine.trace:keep_ends", tuple[Longs, View, DifferenceQuery, Constraints, Ends]
)


class DifferenceScans:
    """Starts the searches of chunks for differences: look-ups where these are faster, or scans.

    A trial decides once, for all genomes: some positions are searched both ways. engine: of a
    device; way: see `kmatch.engine.ways`, None to choose.
    """

    def __init__(
        self,
        engine: Any,
        query: DifferenceQuery,
        constraints: Constraints,
        way: str | None,
    ) -> None:
        self._engine, self._query = engine, query
        self._constraints, self._way = constraints, way
        self._tables: Any = None
        strands = len(distinct(constraints.minus))
        patterns, pams = len(query.limits) // strands, len(constraints.sizes)
        tried = way is None and ways.try_lookup(engine.name, patterns, query.k, pams)
        self._open = tried or (way == "lookup" and engine.name == "cpu")

    def _choose(self, chunk: PackedChunk) -> None:
        """Choose the way by a chunk: if none is asked for, some of its positions are searched both
        ways, on one thread, and what takes less time is kept."""
        self._open = False
        lookup = plan_lookup(self._query, self._constraints)
        if lookup is None or self._way:
            self._tables = lookup and lookup.tables()
            return
        engine = choose_engine("cpu", threads=1)
        middle = (chunk.length - ways.TRIAL) // 2
        tiny, part = (chunk.part(middle, middle + n, engine) for n in (1, ways.TRIAL))

        def seconds(search: Callable[..., Any], *given: Any) -> float:
            """The seconds that a search of the chunk will take."""
            search(tiny, *given, engine)  # loads the kernels
            began = thread_time()
            search(part, *given, engine)
            return (thread_time() - began) * chunk.length / ways.TRIAL

        scanned = seconds(self._scan_beside)
        if lookup.seconds <= scanned:
            began = thread_time()
            tables = lookup.tables()
            made = thread_time() - began
            if made + seconds(self._look_up, tables) <= scanned:
                self._tables = tables

    def _scan_beside(self, chunk: PackedChunk, engine: Any) -> None:
        """Scan a chunk for ends, and look for PAMs beside these."""
        found = self._scan(chunk, engine, engine.capacity).found()
        if len(self._constraints.sizes):
            coding, view = Coding(len(self._query.limits), self._query.k), chunk.view()
            position, query, distance = coding.decode(found.codes)
            limit = np.where(self._query.reading.backward[query], view.shown - 1, 0)
            search = view, self._query, self._constraints
            ends = Ends(position, query, distance, limit)
            engine.workers.run(keep_ends, slabs(len(limit)), *search, ends)

    def _look_up(self, chunk: PackedChunk, tables: Any, engine: Any) -> None:
        self._start_lookup(chunk, tables, engine, engine.capacity).found()

    def start(self, chunk: PackedChunk, capacity: int) -> Scan:
        """Start the search of a chunk, or of a part of one."""
        engine = self._engine
        if self._open and (self._way or chunk.length >= ways.TRIAL):
            self._choose(chunk)
        if self._tables is None:
            return self._scan(chunk, engine, capacity)
        chunk.unpack(engine)
        return self._start_lookup(chunk, self._tables, engine, capacity)

    def _start_lookup(self, chunk: PackedChunk, tables: Any, engine: Any, capacity: int) -> Scan:
        scan = engine.start_lookup(chunk.view(), tables, capacity)
        return or_scan(scan, lambda: self._scan(chunk, engine, capacity))

    def _scan(self, chunk: PackedChunk, engine: Any, capacity: int) -> Scan:
        text = chunk.text(self._query.reading.masks, engine)
        scan: Scan = engine.start_edit(text, self._query, self._way, capacity)
        return scan
