"""Chunks searched for differences by look-ups or scans, and ends that satisfy the rules.

A PAM may be outside of the chunk of its end: behind it, so that the end waits for the next chunk,
or in front of it, so that some letters before each chunk are kept.
"""

from time import thread_time
from typing import Any

import numpy as np

from kmatch.arrays import Bytes, Longs, distinct
from kmatch.engine import ways
from kmatch.engine.codes import Coding
from kmatch.engine.cpu.tables import plan_lookup
from kmatch.engine.devices import choose_engine
from kmatch.engine.engine import Scan
from kmatch.engine.geometry import likeness
from kmatch.engine.queries import DifferenceQuery
from kmatch.engine.types import Columns, Constraints, Ends, Traced, View
from kmatch.engine.workers import slabs
from kmatch.jit import entry
from kmatch.search.chunks import NO_LETTERS, PackedChunk
from kmatch.search.plateaus import RowArray, make_rows
from kmatch.search.rules import Rules
from kmatch.search.scan import or_scan

read_view = entry("kmatch.engine.trace", "read_view")
stand_beside = entry("kmatch.engine.trace", "stand_beside")
constrained_distances = entry("kmatch.engine.trace", "constrained_distances")
trace = entry("kmatch.engine.trace", "trace")

NO_COLUMNS = Columns(*(np.zeros(0, np.int64), np.zeros(0, np.uint8)) * 2)
NO_ENDS = np.zeros((3, 0), np.int64)  # positions, queries and distances


def view_of(chunk: PackedChunk, before: Bytes = NO_LETTERS) -> View:
    """The View of a chunk, with its letters if it is unpacked; before: letters in front of it."""
    return View(chunk.plain, chunk.letters, before, chunk.length + chunk.geometry.halo)


class DifferenceScans:
    """Starts the searches of chunks for differences: look-ups where these are faster, or scans.

    A trial decides once, for all genomes: some positions are searched both ways. engine: of a
    device; masks: of IUPAC letters of the query; way: see `kmatch.engine.ways`, None to choose.
    """

    def __init__(
        self,
        engine: Any,
        query: DifferenceQuery,
        masks: Bytes,
        constraints: Constraints,
        way: str | None,
    ) -> None:
        self._engine, self._query, self._masks = engine, query, masks
        self._constraints, self._way = constraints, way
        self._tables: Any = None
        strands = len(distinct(constraints.minus))
        patterns, pams = len(query.limits) // strands, len(constraints.sizes)
        tried = way is None and ways.try_lookup(engine.name, patterns, query.k, pams)
        self._open = tried or (way == "lookup" and engine.name == "cpu")

    def look(self, chunk: PackedChunk) -> float:
        """Choose the way, if that is open; returns the ends at a position that a scan will find, 0
        where that is not known."""
        if not self._open or (self._way is None and chunk.length < ways.TRIAL):
            return 0.0
        self._open = False
        alike = likeness(chunk.plain)
        lookup = plan_lookup(self._query, self._constraints, alike, chunk.length)
        if lookup is None:
            return 0.0
        if self._way:
            self._tables = lookup.tables()
            return 0.0
        return self._try(lookup, chunk)

    def _try(self, lookup: Any, chunk: PackedChunk) -> float:
        """Search some positions both ways, on one thread, and keep what takes less time."""
        engine = choose_engine("cpu", threads=1)
        middle = (chunk.length - ways.TRIAL) // 2
        tiny, part = (chunk.part(middle, middle + n, engine) for n in (1, ways.TRIAL))
        self._scan_beside(tiny, engine)  # loads the kernels
        began = thread_time()
        ends = self._scan_beside(part, engine)
        scanned = (thread_time() - began) * chunk.length / ways.TRIAL
        density = ends / ways.TRIAL
        if lookup.seconds > scanned:
            return density
        began = thread_time()
        tables = lookup.tables()
        looked_up = thread_time() - began
        self._look_up(tiny, tables, engine)
        began = thread_time()
        self._look_up(part, tables, engine)
        looked_up += (thread_time() - began) * chunk.length / ways.TRIAL
        if looked_up > scanned:
            return density
        self._tables = tables
        return 0.0

    def _scan_beside(self, chunk: PackedChunk, engine: Any) -> int:
        """Scan a chunk for ends, and look for PAMs beside these; returns how many there are."""
        found = self._scan(chunk, engine, engine.capacity).found()
        if len(self._constraints.sizes):
            position, query, _ = Coding(len(self._query.limits), self._query.k).decode(found.codes)
            stands = np.empty(len(position), np.bool_)
            search = view_of(chunk), self._query, self._constraints
            given = *search, (position, query), stands
            engine.workers.run(stand_beside, slabs(len(stands)), *given)
        return len(found.codes) + found.lost

    def _look_up(self, chunk: PackedChunk, tables: Any, engine: Any) -> None:
        self._start_lookup(chunk, tables, engine, engine.capacity).found()

    def start(self, chunk: PackedChunk, capacity: int) -> Scan:
        """Start the search of a chunk, or of a part of one."""
        engine = self._engine
        if self._tables is None:
            return self._scan(chunk, engine, capacity)
        chunk.unpack(engine)
        return self._start_lookup(chunk, self._tables, engine, capacity)

    def _start_lookup(self, chunk: PackedChunk, tables: Any, engine: Any, capacity: int) -> Scan:
        scan = engine.start_lookup(view_of(chunk), tables, capacity)
        return or_scan(scan, lambda: self._scan(chunk, engine, capacity))

    def _scan(self, chunk: PackedChunk, engine: Any, capacity: int) -> Scan:
        text = chunk.text(self._masks, engine)
        scan: Scan = engine.start_edit(text, self._query, self._way, capacity)
        return scan


class AnchoredEnds:
    """What becomes of ends, chunk by chunk: whether they satisfy the rules, the rows of their hits,
    and alignments.

    engine: of a device; query, constraints, rules: of the search; bound: whether rules decide.
    """

    def __init__(
        self, engine: Any, query: DifferenceQuery, constraints: Constraints, rules: Rules
    ) -> None:
        self._engine, self._query, self._binding = engine, query, rules.bind_alignments
        self.bound, self._reach = bool(rules.pams) or self._binding, rules.reach
        self._backward, self._constraints = query.reading.backward != 0, constraints
        self.begin_genome()

    def begin_genome(self) -> None:
        """Begin with a genome."""
        # By number of a chunk the letters in front of it; its hits are read back later.
        self._before: dict[int, Bytes] = {}
        self._next = np.zeros(self._reach, np.uint8)  # those in front of the chunk to come
        self._held = NO_ENDS  # ends of the last chunk, which does not show enough behind them
        self._owned = 0  # its positions

    def begin(self, number: int, chunk: PackedChunk) -> Longs:
        """Go on to a chunk; returns the ends that waited for it, int64[3, n]."""
        if not self.bound:
            return NO_ENDS
        self._before[number] = self._next
        owned = np.empty(min(self._reach, chunk.length), np.uint8)
        view = self._view(number, chunk)
        read_view(view, chunk.length - len(owned), 1, owned)
        self._next = np.concatenate([self._next, owned])[len(owned) :]
        held, self._held = self._held, NO_ENDS
        held = held - np.array([[self._owned], [0], [0]])
        self._owned = chunk.length
        return self.kept(number, chunk, held)

    def rest(self, number: int, chunk: PackedChunk) -> Longs:
        """The ends that wait, where no chunk comes after this one; as `kept` gives them."""
        return self._chosen(number, chunk, self._held) if self.bound else NO_ENDS

    def kept(self, number: int, chunk: PackedChunk, ends: Longs) -> Longs:
        """The ends, of int64[3, n], that satisfy the rules, with their distances."""
        if not self.bound:
            return ends
        hidden = ends[0] + self._reach >= chunk.length + chunk.geometry.halo
        hidden &= ~self._backward[ends[1]]
        if hidden.any():
            self._held = np.concatenate([self._held, ends[:, hidden]], axis=1)
            ends = ends[:, ~hidden]
        return self._chosen(number, chunk, ends)

    def _chosen(self, number: int, chunk: PackedChunk, ends: Longs) -> Longs:
        ends = np.ascontiguousarray(ends)
        search = (self._view(number, chunk), self._query, self._constraints)
        stands = np.empty(ends.shape[1], np.bool_)
        workers = self._engine.workers
        workers.run(stand_beside, slabs(len(stands)), *search, (ends[0], ends[1]), stands)
        ends = np.compress(stands, ends, axis=1)
        if self._binding and ends.size:
            given = *search, self._limited(chunk, ends)
            workers.run(constrained_distances, slabs(ends.shape[1]), *given)
            ends = np.ascontiguousarray(ends[:, ends[2] >= 0])
        return ends

    def rows(self, number: int, chunk: PackedChunk, ends: Longs) -> RowArray:
        """ROW[n] of ends in a chunk, int64[3, n], with their other ends and their PAMs."""
        wanted, traced = self._trace(number, chunk, ends, NO_COLUMNS)
        return make_rows(number, chunk.base, self._backward, wanted, traced)

    def align(self, number: int, chunk: PackedChunk, ends: Any, columns: Columns) -> None:
        """Fill the Columns of ends, (position, query, distance)."""
        self._trace(number, chunk, ends, columns)

    def _trace(
        self, number: int, chunk: PackedChunk, ends: Any, columns: Columns
    ) -> tuple[Ends, Traced]:
        wanted, traced = self._limited(chunk, ends), Traced(*np.empty((3, len(ends[0])), np.int64))
        search = (self._view(number, chunk), self._query, self._constraints)
        given = *search, wanted, traced, columns
        self._engine.workers.run(trace, slabs(len(ends[0])), *given)
        return wanted, traced

    def _limited(self, chunk: PackedChunk, ends: Any) -> Ends:
        """Ends with the last positions that alignments may use, in the records that they are in."""
        position, query, distance = ends
        span = np.searchsorted(chunk.spans.begins, position, side="right") - 1
        begin = chunk.spans.begins[span]
        last = np.minimum(begin + chunk.spans.lengths[span], chunk.geometry.letters) - 1
        limit = np.where(self._backward[query], last, np.maximum(begin, 0))
        return Ends(position, query, distance, limit)

    def _view(self, number: int, chunk: PackedChunk) -> View:
        return view_of(chunk, self._before.get(number, NO_LETTERS))
