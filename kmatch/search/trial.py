"""Chunks searched by look-ups or scans, whichever a trial shows to be faster."""

from collections.abc import Callable
from time import thread_time
from typing import Any

import numpy as np

from kmatch.engine import ways
from kmatch.engine.codes import Found
from kmatch.engine.cpu.tables import Lookup, Tables, plan_lookup
from kmatch.engine.devices import choose_engine
from kmatch.engine.engine import Scan, UnderWay
from kmatch.engine.queries import DifferenceQuery
from kmatch.engine.types import Constraints
from kmatch.search.chunks import PackedChunk


class Scans:
    """Starts the searches of chunks: look-ups where these are faster, or scans.

    A trial decides once, for all genomes: some positions are searched both ways. engine: of a
    device; scan(chunk, engine, capacity): starts a scan; search: what is looked for; way: see
    `kmatch.engine.ways`, None to choose; letters: of all genomes, about, None where that is
    unknown; gapless: whether mismatches alone are looked for.
    """

    def __init__(
        self,
        engine: Any,
        scan: Callable[[PackedChunk, Any, int], Scan],
        search: tuple[DifferenceQuery, Constraints],
        way: str | None,
        letters: int | None,
        gapless: bool = False,
    ) -> None:
        self._engine, self._scan, self._way = engine, scan, way
        self._letters = letters or 0
        self._lookup: Lookup | None = None
        self._tables: Tables | None = None
        query, constraints = search
        patterns, pams = int(np.sum(constraints.minus == constraints.minus[0])), constraints.sizes
        tried = way is None and ways.try_lookup(patterns, query.k, len(pams), gapless)
        if engine.name == "cpu" and (tried or way == "lookup"):
            self._lookup = plan_lookup(query, constraints, gapless)

    def start(self, chunk: PackedChunk, capacity: int) -> Scan:
        """Start the search of a chunk, or of a part of one."""
        lookup = self._lookup
        if lookup and (self._way or chunk.length >= ways.TRIAL):
            self._lookup = None
            self._tables = lookup.tables() if self._way else self._tried(lookup, chunk)
        if self._tables is None:
            return self._scan(chunk, self._engine, capacity)
        return self._look_up(chunk, self._engine, capacity, self._tables)

    def _tried(self, lookup: Lookup, chunk: PackedChunk) -> Tables | None:
        """The Tables of a look-up, if it is faster: some positions of a chunk are searched both
        ways, on one thread, and what takes less time is kept."""
        engine = choose_engine("cpu", threads=1)
        middle = (chunk.length - ways.TRIAL) // 2
        tiny, part = (chunk.part(middle, middle + n, engine) for n in (1, ways.TRIAL))

        def seconds(start: Callable[..., Scan], *tables: Tables) -> float:
            """The seconds that a search of all letters will take."""
            start(part if tables else tiny, engine, engine.capacity, *tables).found()  # warms up
            began = thread_time()
            start(part, engine, engine.capacity, *tables).found()
            return (thread_time() - began) * max(self._letters, chunk.length) / ways.TRIAL

        scanned = seconds(self._scan)
        if lookup.seconds > scanned:
            return None
        began = thread_time()
        tables = lookup.tables()
        made = thread_time() - began
        return tables if made + seconds(self._look_up, tables) <= scanned else None

    def _look_up(self, chunk: PackedChunk, engine: Any, capacity: int, tables: Tables) -> Scan:
        """Start a look-up of a chunk; a scan takes over where it gives the chunk up."""
        view = chunk.view()._replace(letters=chunk.unpack(engine))
        lookup: Scan = engine.start_lookup(view, tables, capacity)

        def found() -> Found:
            found = lookup.found()
            return found if found.share else self._scan(chunk, engine, capacity).found()

        return UnderWay(found, lookup.stop)
