"""Chunks searched by look-ups or scans, whichever a trial shows to be faster."""

from collections.abc import Callable
from functools import partial
from time import thread_time
from typing import Any

from kmatch.engine import ways
from kmatch.engine.codes import Found
from kmatch.engine.cpu.tables import Lookup, Tables, plan_lookup
from kmatch.engine.devices import choose_engine
from kmatch.engine.engine import Scan, UnderWay
from kmatch.engine.types import View
from kmatch.search.chunks import PackedChunk
from kmatch.search.rules import Sought
from kmatch.search.scan import Start

# Starts a scan of a chunk: (chunk, engine, capacity) → Scan.
StartScan = Callable[[PackedChunk, Any, int], Scan]


class Scans:
    """Starts the searches of chunks: look-ups where these are faster, or scans.

    A trial decides once, for all genomes: some positions are searched both ways.

    engine: of a device; sought: the queries; way: see `kmatch.engine.ways`, None to choose;
    letters: of all genomes, about, None where the number is unknown; gapless: whether mismatches
    alone are looked for.
    """

    def __init__(
        self,
        engine: Any,
        sought: Sought,
        way: str | None,
        letters: int | None,
        gapless: bool = False,
    ) -> None:
        self._engine = engine
        self._way = way
        self._letters = letters or 0
        self._lookup: Lookup | None = None  # until it is decided on
        self._tables: Tables | None = None  # of look-ups that are faster

        patterns = len(sought.panel.patterns)
        pams = len(sought.rules.pams)
        is_tried = way is None and ways.try_lookup(patterns, sought.query.k, pams, gapless)
        if engine.name == "cpu" and (is_tried or way == "lookup"):
            self._lookup = plan_lookup(sought.query, sought.constraints, gapless)

    def starting(self, start_scan: StartScan) -> Start:
        """Return the function that starts the search of a chunk; start_scan where a scan is
        faster."""
        return partial(self._start, start_scan)

    def _start(self, start_scan: StartScan, chunk: PackedChunk, capacity: int) -> Scan:
        """Start the search of a chunk, or of a part of one."""
        lookup = self._lookup
        if lookup and (self._way or chunk.length >= ways.TRIAL):
            self._lookup = None
            if self._way:
                self._tables = lookup.tables()
            else:
                self._tables = self._tried(lookup, start_scan, chunk)
        if self._tables is None:
            return start_scan(chunk, self._engine, capacity)
        return _look_up(self._tables, start_scan, chunk, self._engine, capacity)

    def _tried(self, lookup: Lookup, start_scan: StartScan, chunk: PackedChunk) -> Tables | None:
        """Return the Tables of a look-up if it is faster, otherwise None.

        Some positions of a chunk are searched both ways, on one thread. The time of look-ups
        in all letters, with the time of making tables, is compared with the time of a scan.
        """
        # Letters of the chunk, which all threads read, and of parts of it.
        chunk.unpack(self._engine)
        engine = choose_engine("cpu", threads=1)
        middle = (chunk.length - ways.TRIAL) // 2
        one_position = chunk.part(middle, middle + 1)
        part = chunk.part(middle, middle + ways.TRIAL)
        parts_in_all = max(self._letters, chunk.length) / ways.TRIAL

        start_scan(one_position, engine, engine.capacity).found()  # warms up
        scanning = partial(start_scan, part, engine, engine.capacity)
        scan_seconds = parts_in_all * _seconds_of(scanning)
        if lookup.seconds > scan_seconds:
            return None

        began = thread_time()
        tables = lookup.tables()
        lookup_seconds = thread_time() - began

        looking_up = partial(_look_up, tables, start_scan, part, engine, engine.capacity)
        looking_up().found()  # warms up
        lookup_seconds += parts_in_all * _seconds_of(looking_up)
        return tables if lookup_seconds <= scan_seconds else None


def _seconds_of(start: Callable[[], Scan]) -> float:
    """Return the seconds of this thread from the start of a search to its hits."""
    began = thread_time()
    start().found()
    return thread_time() - began


def _look_up(
    tables: Tables, start_scan: StartScan, chunk: PackedChunk, engine: Any, capacity: int
) -> Scan:
    """Start a look-up of a chunk; a scan takes over where it gives the chunk up."""

    def read() -> View:
        return chunk.view()._replace(letters=chunk.unpack(engine))

    lookup: Scan = engine.start_lookup(read, chunk.shown, tables, capacity)

    def found() -> Found:
        found = lookup.found()
        is_given_up = not found.share
        return start_scan(chunk, engine, capacity).found() if is_given_up else found

    return UnderWay(found, lookup.stop)
