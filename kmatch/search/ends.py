"""From anchored ends to sorted hits: records, minima, tracebacks, loci and order.

A coordinate is a position in the genome as it is laid out, record after record, so that coordinates
order hits as records do. A hit is yielded once no later one can precede it.
"""

from collections.abc import Generator, Iterable, Iterator
from typing import NamedTuple

import numpy as np

from kmatch.arrays import Longs, bounds_of
from kmatch.engine.codes import DROPPED, Coding
from kmatch.engine.engine import Engine
from kmatch.engine.queries import difference_query
from kmatch.engine.types import Columns, Ends, Traced
from kmatch.engine.workers import Workers, slabs
from kmatch.jit import entry
from kmatch.results.batches import HitBatch, hit_batch
from kmatch.search.chunks import NO_LETTERS, PackedChunk
from kmatch.search.constrained import (
    NO_COLUMNS,
    NO_ENDS,
    ConstrainedEnds,
    DifferenceScans,
    record_limits,
)
from kmatch.search.panel import ReadingPanel
from kmatch.search.plateaus import (
    FOREVER,
    NO_ROWS,
    Chains,
    Plateaus,
    RowArray,
    by_source,
    in_order,
    join_rows,
    make_rows,
    split_rows,
)
from kmatch.search.rules import Rules, make_constraints
from kmatch.search.scan import Scanner, code_batches, codes_ahead, rows_ahead, rows_at_once

fill_columns = entry("kmatch.search.kernels", "fill_columns")
join_chains = entry("kmatch.search.kernels", "join_chains")
split_ends = entry("kmatch.search.kernels", "split_ends")

UNPACKED = 512  # positions for each of which there may be an end before a chunk is unpacked


class Decided(NamedTuple):
    """Ends that are to be reported, as `DifferenceSearch._decide` takes them, int64[3 or 4, n],
    and a place before which no later hit begins.
    """

    ends: Longs
    begin: int


class Released(NamedTuple):
    """Rows that no later one precedes, in any order, and by number the chunks that they are in."""

    rows: RowArray
    chunks: dict[int, PackedChunk]


class DifferenceSearch:
    """A search for differences over the chunks of a genome.

    panel: ReadingPanel; limits: int64[Q], the k of each query; report: `minima`, `ends` or `loci`;
    rules: Rules; way: see `kmatch.engine.ways`, None to choose;
    aligned: whether hits come with their alignments.
    """

    def __init__(
        self,
        engine: Engine,
        panel: ReadingPanel,
        limits: Longs,
        report: str,
        rules: Rules,
        way: str | None = None,
        aligned: bool = True,
    ) -> None:
        self._engine, self._panel = engine, panel
        self._query = difference_query(panel.letters, limits)
        self._report, self._aligned = report, aligned
        self._most = rows_at_once(panel.lengths + rules.reach, aligned)  # rows of a batch
        self._coding = Coding(len(limits), self._query.k)
        self._scanner = Scanner(engine, self._coding)
        self._reach = rules.reach  # letters of a hit beyond its anchored end
        self._workers = Workers(engine.threads)
        self._plateaus = Plateaus(panel.letters.backward, self._workers)
        self._constrained = None
        constraints = make_constraints(rules, panel, self._query.k)
        if rules.pams or rules.bind_alignments:
            self._constrained = ConstrainedEnds(engine, self._query, constraints, rules)
        masks = panel.letters.masks
        self._scans = DifferenceScans(engine, self._query, masks, constraints, way)
        self._begin()

    def _begin(self) -> None:
        """Begin with a genome."""
        if self._constrained:
            self._constrained.begin_genome()
        self._chunks: dict[int, PackedChunk] = {}  # by number, as long as rows of theirs wait
        self._waiting = NO_ROWS  # hits that a later one may precede
        self._suspended = NO_ROWS  # ends that may or may not be minima

    def run(self, chunks: Iterable[PackedChunk]) -> Generator[HitBatch]:
        """Yield the HitBatches of an iterable of PackedChunks."""
        for rows, sources in rows_ahead(self._released(chunks), self._engine.threads):
            for part in by_source(in_order(rows, len(self._query.limits))):
                for first in range(0, len(part), self._most):
                    yield self._batch(sources, part[first : first + self._most])

    def _released(self, chunks: Iterable[PackedChunk]) -> Generator[Released]:
        """Yield rows, none of which starts before one that came earlier, and their chunks."""
        number = -1
        self._begin()
        for number, (chunk, codes) in enumerate(self.find_codes(chunks)):
            self._chunks[number] = chunk
            if len(codes) * UNPACKED > chunk.length:
                chunk.unpack(self._engine)
            yield from self._take(number, codes)
            self._suspend(number)
            self._forget(number)
        if number >= 0 and self._constrained:
            rest = self._constrained.rest(number, self._chunks[number])
            yield self._report_ends(number, self._decide(number, rest, FOREVER, FOREVER))
        elif number >= 0:
            yield self._report_ends(number, self._decide(number, NO_ENDS, FOREVER, FOREVER))

    def find_codes(self, chunks: Iterable[PackedChunk]) -> Iterator[tuple[PackedChunk, Longs]]:
        """Yield (chunk, codes): chunks or parts of them, in order, and their sorted codes."""

        def looked_at() -> Iterator[PackedChunk]:
            for chunk in chunks:
                self._scanner.expect(self._scans.look(chunk))
                yield chunk

        found = self._scanner.scan(looked_at(), self._scans.start)
        if self._constrained:  # which holds on to chunks
            return found
        return codes_ahead(found, self._engine.threads)

    def smallest(self, chunks: Iterable[PackedChunk]) -> Longs:
        """The smallest distance of each query over all chunks that is within its limit, int64[Q];
        one more than the limit where none is."""
        found = self._query.limits + 1
        self._begin()
        for number, (chunk, codes) in enumerate(self.find_codes(chunks)):
            self._chunks = {number: chunk}
            for ends, _, _ in self._ends(number, codes):
                np.minimum.at(found, ends[1], ends[2])
        if self._chunks and self._constrained:
            ((number, chunk),) = self._chunks.items()
            _, query, distance, _ = self._constrained.rest(number, chunk)
            np.minimum.at(found, query, distance)
        return found

    def _take(self, number: int, codes: Longs) -> Iterator[Released]:
        """Report the hits that the ends in a chunk make certain."""
        # Two cores are busy without that; a constrained search holds on to ends.
        threads = 1 if self._constrained or self._engine.threads <= 2 else self._engine.threads
        for decided in rows_ahead(self._decide_all(number, codes), threads, "kmatch minima"):
            yield self._report_ends(number, decided)

    def _decide_all(self, number: int, codes: Longs) -> Generator[Decided]:
        for ends in self._ends(number, codes):
            yield self._decide(number, *ends)

    def _ends(self, number: int, codes: Longs) -> Iterator[tuple[Longs, int, int]]:
        """Yield (ends, forward_end, backward_end) of a chunk's codes; see `_decide`."""
        chunk, k = self._chunks[number], self._query.k
        halo, base = chunk.geometry.halo, chunk.base
        spans = (chunk.spans.begins, chunk.spans.lengths)
        before, owned, backward = -1, (halo, chunk.length), self._panel.letters.backward
        if self._constrained:
            held = self._constrained.begin(number, chunk)
            yield held, base, base
        for batch in code_batches(codes, self._engine.threads):
            ends, dropped = np.empty((3, len(batch)), np.int64), np.zeros(1, np.int64)
            split = batch, before, k, backward, spans, owned, tuple(ends), dropped
            self._workers.run(split_ends, slabs(len(batch)), *split)
            before = batch[-1]
            last, _, _ = self._coding.decode(batch[-1:])
            seen = base + min(int(last[0]), chunk.length)  # more may come at its position
            if dropped[0]:
                ends = np.compress(ends[1] != DROPPED, ends, axis=1)
            if self._constrained:
                ends = self._constrained.kept(number, chunk, ends)
            yield ends, seen, seen
        own = base + chunk.length
        yield NO_ENDS, own + halo - self._reach, own

    def _decide(self, number: int, ends: Longs, forward_end: int, backward_end: int) -> Decided:
        """Take ends of a chunk; all before forward_end have come then, backward_end if read so.

        ends: (position, query, distance), int64[3, n]; where rules select them, a fourth row says
        what is beside them.
        """
        chunk = self._chunks[number]
        if self._report != "ends":
            position, query, distance, *_ = ends
            query, coordinate, distance = self._plateaus.feed(
                query, position + chunk.base, distance, forward_end, backward_end
            )
            ends = np.stack([coordinate - chunk.base, query, distance])
        # A later hit starts behind what its halo shows, or where a minimum may be.
        _, undecided, _ = self._plateaus.undecided()
        begin = min(backward_end, forward_end - chunk.geometry.halo)
        return Decided(ends, min(begin, undecided.min(initial=FOREVER)) - self._reach)

    def _report_ends(self, number: int, decided: Decided) -> Released:
        """Trace what is decided in a chunk, and release the hits that no later one precedes."""
        ends, begin = decided
        position, query, *_ = ends
        known = position >= 0
        resumed = np.isin(self._suspended["query"], query[~known])
        rows = self._traced(number, *(column[known] for column in ends))
        again, self._suspended = self._suspended[resumed], self._suspended[~resumed]
        # Those of a query by their anchors, as beside PAMs of several lengths ends may be equal.
        self._waiting = join_rows(self._waiting, again, rows)
        return self._release(begin)

    def _suspend(self, number: int) -> None:
        """Trace ends that may become minima while their chunk is at hand."""
        query, coordinate, distance = self._plateaus.undecided()
        base = self._chunks[number].base
        new = coordinate >= base
        kept = self._suspended[np.isin(self._suspended["query"], query[~new])]
        rows = self._traced(number, coordinate[new] - base, query[new], distance[new])
        self._suspended = join_rows(kept, rows)

    def _forget(self, number: int) -> None:
        sources = np.concatenate([rows["source"] for rows in (self._waiting, self._suspended)])
        used = {number, *np.unique(sources).tolist()}
        for unused in self._chunks.keys() - used:
            self._chunks.pop(unused).letters = NO_LETTERS

    def _traced(self, number: int, *ends: Longs) -> RowArray:
        """Rows of ends in a chunk, as `_report_ends` takes them, with their other ends."""
        if not len(ends[0]):
            return NO_ROWS
        chunk = self._chunks[number]
        if self._constrained:
            return self._constrained.rows(number, chunk, ends)
        position, query, distance = ends
        traced = self._trace(chunk, position, query, distance, NO_COLUMNS)
        return make_rows(number, chunk.base, (position, query, distance), traced)

    def _trace(
        self,
        chunk: PackedChunk,
        position: Longs,
        query: Longs,
        distance: Longs,
        columns: Columns,
    ) -> Traced:
        """The other ends and the numbers of columns of ends in a chunk; fills columns, if any."""
        limit = record_limits(chunk, position, self._panel.letters.backward[query] != 0)
        ends = Ends(position, query, distance, limit)
        traced = Traced(*np.empty((2, len(position)), np.int64))
        self._engine.trace(chunk.plain, chunk.letters, self._query, ends, traced, columns)
        return traced

    def _release(self, coordinate: int) -> Released:
        """The waiting hits that start before a coordinate; no later hit does."""
        ready = self._loci(coordinate) if self._report == "loci" else self._before(coordinate)
        return Released(ready, dict(self._chunks))

    def _before(self, coordinate: int) -> RowArray:
        before = self._waiting["start"] < coordinate
        rows, self._waiting = split_rows(self._waiting, before)
        return rows

    def _loci(self, coordinate: int) -> RowArray:
        """The hits that stand for chains which no later hit can touch or precede."""
        rows = self._waiting[np.lexsort((self._waiting["first"], self._waiting["query"]))]
        chains = Chains(*(rows[name].copy() for name in Chains._fields))
        standing = np.empty(len(rows), np.bool_)
        join_chains(self._panel.minus, chains, standing)
        rows["first"], rows["reach"] = chains.first, chains.reach
        rows = rows[standing]
        is_open = rows["reach"] > coordinate
        ready = ~is_open & (rows["start"] < rows["first"][is_open].min(initial=coordinate))
        ready, self._waiting = split_rows(rows, ready)
        return ready

    def _batch(self, sources: dict[int, PackedChunk], rows: RowArray) -> HitBatch:
        """The hits of rows, sorted, of one chunk; sources: chunks by number, with that one."""
        number = int(rows["source"][0])
        chunk = sources[number]
        intervals = tuple(np.empty((3, len(rows)), np.int64))
        kinds = tuple(np.empty(len(rows), kind) for kind in (np.int32, np.int32, np.uint8))
        spans = (chunk.spans.begins, chunk.spans.lengths)
        queries = (self._panel.pattern, self._panel.minus)
        fill_columns(rows, chunk.base, spans, queries, intervals, kinds)

        aligned = self._align(number, chunk, rows) if self._aligned else None
        return hit_batch(chunk.spans, intervals, kinds, aligned)

    def _align(self, number: int, chunk: PackedChunk, rows: RowArray) -> Columns:
        op_ends, text_ends = bounds_of(rows["size"]), bounds_of(rows["end"] - rows["start"])
        ops, text = np.empty(op_ends[-1], np.uint8), np.empty(text_ends[-1], np.uint8)
        columns = Columns(op_ends, ops, text_ends, text)
        query, distance = (rows[name].copy() for name in ("query", "distance"))
        position = rows["anchor"] - chunk.base
        if self._constrained:
            self._constrained.align(number, chunk, (position, query, distance), columns)
        else:
            self._trace(chunk, position, query, distance, columns)
        return columns
