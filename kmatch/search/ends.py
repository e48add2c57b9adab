"""From anchored ends to sorted hits: records, minima, tracebacks, loci and order.

A coordinate is a position in the genome as it is laid out, record after record, so that coordinates
order hits as records do. A hit is yielded once no later one can precede it.
"""

from collections.abc import Generator, Iterable, Iterator
from typing import NamedTuple

import numpy as np

from kmatch.arrays import Longs, bounds_of, distinct
from kmatch.engine.codes import DROPPED, Coding
from kmatch.engine.engine import Engine
from kmatch.engine.queries import difference_query
from kmatch.engine.types import Columns
from kmatch.engine.workers import slabs
from kmatch.jit import entry
from kmatch.results.batches import HitBatch, hit_batch
from kmatch.search.chunks import NO_LETTERS, PackedChunk
from kmatch.search.constrained import (
    NO_ENDS,
    AnchoredEnds,
    DifferenceScans,
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
    split_rows,
)
from kmatch.search.rules import Rules, make_constraints
from kmatch.search.scan import Scanner, ahead, code_batches, codes_ahead, rows_at_once

fill_columns = entry("kmatch.search.kernels", "fill_columns")
join_chains = entry("kmatch.search.kernels", "join_chains")
split_ends = entry("kmatch.search.kernels", "split_ends")

UNPACKED = 512  # positions for each of which there may be an end before a chunk is unpacked


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
        self._workers = engine.workers
        self._plateaus = Plateaus(panel.letters.backward, self._workers)
        constraints = make_constraints(rules, panel, self._query.k)
        self._anchored = AnchoredEnds(engine, self._query, constraints, rules)
        masks = panel.letters.masks
        self._scans = DifferenceScans(engine, self._query, masks, constraints, way)
        self._begin()

    def _begin(self) -> None:
        """Begin with a genome."""
        self._anchored.begin_genome()
        # By number, as long as hits of theirs wait, or ends that may or may not be minima.
        self._chunks: dict[int, PackedChunk] = {}
        self._waiting = NO_ROWS  # hits that a later one may precede

    def run(self, chunks: Iterable[PackedChunk]) -> Generator[HitBatch]:
        """Yield the HitBatches of an iterable of PackedChunks."""
        released = self._released(chunks)
        for rows, sources in ahead(released, self._engine.threads, "kmatch rows", _rows_of):
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
            for ends in self._ends(number, codes):
                yield self._report_ends(number, *ends)
            self._forget(number)
        if number >= 0:
            rest = self._anchored.rest(number, self._chunks[number])
            yield self._report_ends(number, rest, FOREVER, FOREVER)

    def find_codes(self, chunks: Iterable[PackedChunk]) -> Iterator[tuple[PackedChunk, Longs]]:
        """Yield (chunk, codes): chunks or parts of them, in order, and their sorted codes."""

        def looked_at() -> Iterator[PackedChunk]:
            for chunk in chunks:
                self._scanner.expect(self._scans.look(chunk))
                yield chunk

        found = self._scanner.scan(looked_at(), self._scans.start)
        # What rules decide about holds on to chunks.
        return found if self._anchored.bound else codes_ahead(found, self._engine.threads)

    def smallest(self, chunks: Iterable[PackedChunk]) -> Longs:
        """The smallest distance of each query over all chunks that is within its limit, int64[Q];
        one more than the limit where none is."""
        found = self._query.limits + 1
        self._begin()
        for number, (chunk, codes) in enumerate(self.find_codes(chunks)):
            self._chunks = {number: chunk}
            for ends, _, _ in self._ends(number, codes):
                np.minimum.at(found, ends[1], ends[2])
        for number, chunk in self._chunks.items():
            rest = self._anchored.rest(number, chunk)
            np.minimum.at(found, rest[1], rest[2])
        return found

    def _ends(self, number: int, codes: Longs) -> Iterator[tuple[Longs, int, int]]:
        """Yield (ends, forward_end, backward_end) of a chunk's codes; see `_report_ends`."""
        chunk, k = self._chunks[number], self._query.k
        halo, base = chunk.geometry.halo, chunk.base
        spans = (chunk.spans.begins, chunk.spans.lengths)
        before, owned, backward = -1, (halo, chunk.length), self._panel.letters.backward
        yield self._anchored.begin(number, chunk), base, base
        for batch in code_batches(codes, self._engine.threads):
            ends, dropped = np.empty((3, len(batch)), np.int64), np.zeros(1, np.int64)
            split = batch, before, k, backward, spans, owned, tuple(ends), dropped
            self._workers.run(split_ends, slabs(len(batch)), *split)
            before = batch[-1]
            last, _, _ = self._coding.decode(batch[-1:])
            seen = base + min(int(last[0]), chunk.length)  # more may come at its position
            if dropped[0]:
                ends = np.compress(ends[1] != DROPPED, ends, axis=1)
            yield self._anchored.kept(number, chunk, ends), seen, seen
        own = base + chunk.length
        yield NO_ENDS, own + halo - self._reach, own

    def _report_ends(
        self, number: int, ends: Longs, forward_end: int, backward_end: int
    ) -> Released:
        """Take ends of a chunk, trace those that are decided now, and release the hits that no
        later one precedes.

        ends: (position, query, distance), int64[3, n]. All before forward_end have come then,
        backward_end if read so.
        """
        chunk = self._chunks[number]
        position = ends[0] + chunk.base
        if self._report != "ends":
            query, position, distance = self._plateaus.feed(
                ends[1], position, ends[2], forward_end, backward_end
            )
            ends = np.stack([position - chunk.base, query, distance])
        for earlier in sorted(self._chunks):
            source = self._chunks[earlier]
            stop = source.base + source.length if earlier < number else FOREVER
            inside = (position >= source.base) & (position < stop)
            if inside.any():
                some = np.ascontiguousarray(ends if inside.all() else ends[:, inside])
                some[0] += chunk.base - source.base
                rows = self._anchored.rows(earlier, source, some)
                self._waiting = join_rows(self._waiting, rows)
        # A later hit starts behind what its halo shows, or where a minimum may be.
        begin = min(backward_end, forward_end - chunk.geometry.halo)
        undecided = self._plateaus.undecided().min(initial=FOREVER)
        return self._release(min(begin, undecided) - self._reach)

    def _forget(self, number: int) -> None:
        """Let go of the chunks of which nothing waits."""
        numbers = np.array(sorted(self._chunks))
        bases = np.array([self._chunks[each].base for each in numbers.tolist()])
        undecided = numbers[np.searchsorted(bases, self._plateaus.undecided(), side="right") - 1]
        used = {number, *distinct(np.concatenate([self._waiting["source"], undecided])).tolist()}
        for unused in self._chunks.keys() - used:
            self._chunks.pop(unused).letters = NO_LETTERS

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
        self._anchored.align(number, chunk, (position, query, distance), columns)
        return columns


def _rows_of(released: Released) -> int:
    return len(released.rows)
