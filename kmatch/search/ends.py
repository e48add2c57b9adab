"""From anchored ends to sorted hits: records, minima, tracebacks, loci and order.

A coordinate is a position in the genome as it is laid out, record after record, so that coordinates
order hits as records do. A hit is yielded once no later one can precede it. A PAM may be outside of
the chunk of its end: behind it, so that the end waits for the next chunk, or in front of it, so
that some letters before each chunk are kept.
"""

from collections.abc import Generator, Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np

from kmatch.arrays import Bytes, Longs, distinct
from kmatch.engine.codes import Coding
from kmatch.engine.queries import DifferenceQuery, difference_query
from kmatch.engine.types import NO_COLUMNS, Columns, Constraints, Ends, Traced, View, make_columns
from kmatch.engine.workers import slabs
from kmatch.jit.entries import entry
from kmatch.results.batches import HitBatch, hit_batch
from kmatch.search.chunks import NO_LETTERS, PackedChunk
from kmatch.search.panel import ReadingPanel
from kmatch.search.plateaus import (
    FOREVER,
    NO_ROWS,
    Plateaus,
    RowArray,
    by_source,
    in_order,
    join_chains,
    join_rows,
    make_rows,
)
from kmatch.search.rules import Rules, make_constraints
from kmatch.search.scan import Scanner, ahead, code_batches, codes_ahead, rows_at_once
from kmatch.search.trial import DifferenceScans, stand_beside

read_view = entry("kmatch.engine.trace:read_view", tuple[View, int, int, int, Bytes])
constrained_distances = entry(
    "kmatch.engine.trace:constrained_distances",
    tuple[Longs, View, DifferenceQuery, Constraints, Ends],
)
trace = entry(
    "kmatch.engine.trace:trace",
    tuple[Longs, View, DifferenceQuery, Constraints, Ends, Traced, Columns],
)

UNPACKED = 512  # positions for each of which there may be an end before a chunk is unpacked
NO_ENDS = np.zeros((3, 0), np.int64)  # positions, queries and distances


class Source(NamedTuple):
    """A chunk, and letters in front of it."""

    chunk: PackedChunk
    before: Bytes

    @property
    def view(self) -> View:
        """Its View."""
        return self.chunk.view(self.before)


# Rows that no later one precedes, in any order, and by number the chunks that they are in.
Released = tuple[RowArray, dict[int, Source]]


class DifferenceSearch:
    """A search for differences over the chunks of a genome.

    panel: ReadingPanel; limits: int64[Q], the k of each query; report: `minima`, `ends` or `loci`;
    rules: Rules; way: see `kmatch.engine.ways`, None to choose;
    aligned: whether hits come with their alignments.
    """

    def __init__(
        self,
        engine: Any,
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
        self._binding = rules.bind_alignments
        self._bound = bool(rules.pams) or self._binding  # whether rules decide about ends
        self._backward = panel.letters.backward != 0
        self._workers = engine.workers
        self._plateaus = Plateaus(panel.letters.backward)
        self._constraints = make_constraints(rules, panel, self._query.k)
        masks = panel.letters.masks
        self._scans = DifferenceScans(engine, self._query, masks, self._constraints, way)
        self._begin()

    def _begin(self) -> None:
        """Begin with a genome."""
        # By number, as long as hits of theirs wait, or ends that may or may not be minima.
        self._sources: dict[int, Source] = {}
        self._waiting = NO_ROWS  # hits that a later one may precede
        self._next = np.zeros(self._reach, np.uint8)  # letters in front of the chunk to come
        self._held = NO_ENDS  # ends of the last chunk, which does not show enough behind them
        self._owned = 0  # its positions

    def run(self, chunks: Iterable[PackedChunk]) -> Generator[HitBatch]:
        """Yield the HitBatches of an iterable of PackedChunks."""
        released = self._released(chunks)
        threads = self._engine.threads
        for rows, sources in ahead(released, threads, "kmatch rows", lambda each: len(each[0])):
            for part in by_source(in_order(rows, len(self._query.limits))):
                for first in range(0, len(part), self._most):
                    yield self._batch(sources, part[first : first + self._most])

    def _released(self, chunks: Iterable[PackedChunk]) -> Generator[Released]:
        """Yield rows, none of which starts before one that came earlier, and their chunks."""
        number = -1
        self._begin()
        found = self._scanner.scan(chunks, self._scans.start)
        # What rules decide about holds on to chunks.
        made = found if self._bound else codes_ahead(found, self._engine.threads)
        for number, (chunk, codes) in enumerate(made):
            if len(codes) * UNPACKED > chunk.length:
                chunk.unpack(self._engine)
            for ends in self._ends(number, chunk, codes):
                yield self._report_ends(number, *ends)
            self._forget(number)
        if number >= 0:
            rest = self._kept(self._sources[number], self._held, wait=False)
            yield self._report_ends(number, rest, FOREVER, FOREVER)

    def _ends(
        self, number: int, chunk: PackedChunk, codes: Longs
    ) -> Iterator[tuple[Longs, int, int]]:
        """Go on to a chunk, and yield (ends, forward_end, backward_end) of its codes; see
        `_report_ends`."""
        source = self._sources[number] = Source(chunk, self._next)
        base, halo, before = chunk.base, chunk.geometry.halo, -1
        begins, sizes = chunk.spans.begins, chunk.spans.lengths
        yield self._waited(source), base, base
        for batch in code_batches(codes, self._engine.threads):
            fresh = batch[np.diff(batch, prepend=before) != 0]  # some ends come twice
            position, query, distance = self._coding.decode(fresh)
            before, last = batch[-1], self._coding.decode(batch[-1:])[0]
            own = np.where(self._backward[query], 0, halo)
            span = np.searchsorted(begins, position, side="right") - 1
            kept = (position >= own) & (position < own + chunk.length) & (span >= 0)
            kept &= position - begins[span] < sizes[span]
            ends = np.compress(kept, [position, query, distance], axis=1)
            seen = base + min(int(last[0]), chunk.length)  # more may come at its position
            yield self._kept(source, ends), seen, seen
        own = base + chunk.length
        yield NO_ENDS, own + halo - self._reach, own

    def _waited(self, source: Source) -> Longs:
        """The ends of the chunk before that waited for this one, int64[3, n]."""
        if not self._bound:
            return NO_ENDS
        length = source.chunk.length
        letters = np.empty(min(self._reach, length), np.uint8)
        read_view(source.view, length - len(letters), 1, len(letters), letters)
        self._next = np.concatenate([self._next, letters])[len(letters) :]
        held, self._held = self._held - np.array([[self._owned], [0], [0]]), NO_ENDS
        self._owned = length
        return self._kept(source, held)

    def _kept(self, source: Source, ends: Longs, wait: bool = True) -> Longs:
        """The ends, of int64[3, n], that satisfy the rules, with their distances; those whose PAM
        the chunk may not show wait, if they can."""
        if not self._bound:
            return ends
        chunk = source.chunk
        if wait:
            hidden = ends[0] + self._reach >= chunk.length + chunk.geometry.halo
            hidden &= ~self._backward[ends[1]]
            self._held = np.concatenate([self._held, ends[:, hidden]], axis=1)
            ends = ends[:, ~hidden]
        ends = np.ascontiguousarray(ends)
        search = (source.view, self._query, self._constraints)
        stands = np.empty(ends.shape[1], np.bool_)
        self._workers.run(stand_beside, slabs(len(stands)), *search, (ends[0], ends[1]), stands)
        ends = np.compress(stands, ends, axis=1)
        if self._binding and ends.size:
            given = *search, self._limited(chunk, ends)
            self._workers.run(constrained_distances, slabs(ends.shape[1]), *given)
            ends = np.ascontiguousarray(ends[:, ends[2] >= 0])
        return ends

    def _report_ends(
        self, number: int, ends: Longs, forward_end: int, backward_end: int
    ) -> Released:
        """Take ends of a chunk, trace those that are decided now, and release the hits that no
        later one precedes.

        ends: (position, query, distance), int64[3, n]. All before forward_end have come then,
        backward_end if read so.
        """
        chunk = self._sources[number].chunk
        position = ends[0] + chunk.base
        if self._report != "ends":
            query, position, distance = self._plateaus.feed(
                ends[1], position, ends[2], forward_end, backward_end
            )
            ends = np.stack([position - chunk.base, query, distance])
        for earlier in sorted(self._sources):
            source = self._sources[earlier]
            base = source.chunk.base
            stop = base + source.chunk.length if earlier < number else FOREVER
            inside = (position >= base) & (position < stop)
            if inside.any():
                some = np.ascontiguousarray(ends if inside.all() else ends[:, inside])
                some[0] += chunk.base - base
                traced = self._trace(source, some, NO_COLUMNS)
                rows = make_rows(earlier, base, self._backward, *traced)
                self._waiting = join_rows(self._waiting, rows)
        # A later hit starts behind what its halo shows, or where a minimum may be.
        begin = min(backward_end, forward_end - chunk.geometry.halo)
        undecided = self._plateaus.undecided().min(initial=FOREVER)
        return self._release(min(begin, undecided) - self._reach)

    def _trace(self, source: Source, ends: Any, columns: Columns) -> tuple[Ends, Traced]:
        """The other ends of hits, by their anchored ones (position, query, distance); Columns are
        filled, if there are any."""
        wanted = self._limited(source.chunk, ends)
        traced = Traced(*np.empty((3, len(ends[0])), np.int64))
        given = source.view, self._query, self._constraints, wanted, traced, columns
        self._workers.run(trace, slabs(len(ends[0])), *given)
        return wanted, traced

    def _limited(self, chunk: PackedChunk, ends: Any) -> Ends:
        """Ends with the last positions that alignments may use, in the records that they are in."""
        position, query, distance = ends
        span = np.searchsorted(chunk.spans.begins, position, side="right") - 1
        begin = chunk.spans.begins[span]
        last = np.minimum(begin + chunk.spans.lengths[span], chunk.geometry.letters) - 1
        limit = np.where(self._backward[query], last, np.maximum(begin, 0))
        return Ends(position, query, distance, limit)

    def _forget(self, number: int) -> None:
        """Let go of the chunks of which nothing waits."""
        numbers = np.array(sorted(self._sources))
        bases = np.array([self._sources[each].chunk.base for each in numbers.tolist()])
        undecided = numbers[np.searchsorted(bases, self._plateaus.undecided(), side="right") - 1]
        used = {number, *distinct(np.concatenate([self._waiting["source"], undecided])).tolist()}
        for unused in self._sources.keys() - used:
            self._sources.pop(unused).chunk.letters = NO_LETTERS

    def _release(self, coordinate: int) -> Released:
        """The waiting hits that start before a coordinate, as no later hit does; of loci, those
        that stand for chains which no later hit can touch or precede."""
        rows = self._waiting
        ready = rows["start"] < coordinate
        if self._report == "loci":
            rows = rows.take(np.lexsort((rows["first"], rows["query"])))
            rows = join_chains(rows, self._panel.minus)
            is_open = rows["reach"] > coordinate
            ready = ~is_open & (rows["start"] < rows["first"][is_open].min(initial=coordinate))
        self._waiting = rows.compress(~ready)
        return rows.compress(ready), dict(self._sources)

    def _batch(self, sources: dict[int, Source], rows: RowArray) -> HitBatch:
        """The hits of rows, sorted, of one chunk; sources: chunks by number, with that one."""
        source = sources[int(rows["source"][0])]
        chunk = source.chunk
        begins, query = chunk.spans.begins, rows["query"]
        span = np.searchsorted(begins, rows["anchor"] - chunk.base, side="right") - 1
        origin = chunk.base + begins[span]
        intervals = span, rows["start"] - origin, rows["end"] - origin
        kinds = (
            self._panel.pattern[query],
            rows["distance"].astype(np.int32),
            self._panel.minus[query],
        )
        columns = None
        if self._aligned:
            columns = make_columns(rows["size"], rows["end"] - rows["start"])
            position, query, distance = (
                rows[name].copy() for name in ("anchor", "query", "distance")
            )
            self._trace(source, (position - chunk.base, query, distance), columns)
        return hit_batch(chunk.spans, intervals, kinds, columns)
