"""From anchored ends to sorted hits: records, minima, tracebacks, loci and order.

A coordinate is a position in the genome as it is laid out, record after record, so that coordinates
order hits as records do. A hit is yielded once no later one can precede it. A PAM may be outside of
the chunk of its end: behind it, so that the end waits for the next chunk, or in front of it, so
that some letters before each chunk are kept. So are those of plateaus that go on in the next chunk.
"""

from collections.abc import Generator, Iterable, Iterator
from typing import Any

import numpy as np

from kmatch.arrays import Bytes, Longs, Table, Triple, bounds_of, gather, order_of
from kmatch.engine.codes import Coding
from kmatch.engine.queries import DifferenceQuery
from kmatch.engine.types import Columns, Constraints, Ends, Texts, View
from kmatch.engine.workers import Workers, slabs
from kmatch.jit.entries import entry
from kmatch.results.batches import HitBatch, hit_batch, joined, no_hits
from kmatch.search.chunks import NO_LETTERS, PackedChunk
from kmatch.search.panel import Panel
from kmatch.search.plateaus import FOREVER, Plateaus, chains
from kmatch.search.rules import Rules, difference_search
from kmatch.search.scan import Scanner, code_batches, codes_ahead, rows_at_once
from kmatch.search.trial import DifferenceScans, keep_ends

read_view = entry("kmatch.engine.trace:read_view", tuple[View, int, int, int, Bytes])
trace = entry(
    "kmatch.engine.trace:trace",
    tuple[Longs, View, DifferenceQuery, Constraints, Ends, Triple, tuple[Longs, Bytes, Bytes]],
)

UNPACKED = 512  # positions for each of which there may be an end before a chunk is unpacked
NO_ENDS = np.zeros((3, 0), np.int64)  # positions, queries and distances


def trace_ends(
    workers: Workers,
    view: View,
    search: tuple[DifferenceQuery, Constraints],
    ends: Ends,
    aligned: bool,
) -> tuple[Longs, Longs, Columns | None]:
    """Where the hits of Ends start and end in a View, int64[n] each, and, if `aligned`, their
    alignments."""
    query, constraints = search
    most = query.lengths[ends.query] + ends.distance + constraints.pams.shape[2]
    room = bounds_of(most) if aligned else most[:0]
    ops, text = np.empty((2, room[-1] if aligned else 0), np.uint8)
    start, end, size = found = tuple(np.empty((3, len(most)), np.int64))
    workers.run(trace, slabs(len(most)), view, *search, ends, found, (room, ops, text))
    if not aligned:
        return start, end, None
    columns: list[Texts] = []
    for letters, sizes in ((ops, size), (text, end - start)):
        begins, bounds = room[:-1] if constraints.leads else room[1:] - sizes, bounds_of(sizes)
        columns.append(Texts(bounds, gather(letters, begins, bounds)))
    return start, end, Columns(*columns)


class DifferenceSearch:
    """A search for differences over the chunks of a genome.

    panel: Panel; limits: int64[Q], the k of each query; report: `minima`, `ends` or `loci`;
    rules: Rules; way: see `kmatch.engine.ways`, None to choose; aligned: whether hits come with
    their alignments.
    """

    def __init__(
        self,
        engine: Any,
        panel: Panel,
        limits: Longs,
        report: str,
        rules: Rules,
        way: str | None = None,
        aligned: bool = True,
    ) -> None:
        self._engine, self._panel = engine, panel
        self._query, self._constraints = difference_search(panel, rules, limits)
        self._report, self._aligned = report, aligned
        self._most = rows_at_once(panel.lengths + rules.reach, aligned)  # codes taken at a time
        self._coding = Coding(len(limits), self._query.k)
        self._scanner = Scanner(engine, self._coding)
        self._reach = rules.reach  # letters of a hit beyond its anchored end
        self._bound = bool(rules.pams) or rules.bind_alignments  # whether rules decide about ends
        self._backward = self._query.reading.backward != 0
        self._scans = DifferenceScans(engine, self._query, self._constraints, way)

    def run(self, chunks: Iterable[PackedChunk]) -> Generator[HitBatch]:
        """Yield the HitBatches of an iterable of PackedChunks."""
        self._plateaus = Plateaus(self._query.reading.backward)
        # Hits that a later one may precede, and their coordinates; see `chains`.
        self._waiting: tuple[HitBatch, Table] = no_hits(), np.zeros((4, 0), np.int64)
        self._before = np.zeros(self._reach, np.uint8)  # letters in front of the chunk
        self._held = NO_ENDS  # ends in it, behind which the one before did not show enough
        last: PackedChunk | None = None
        found = self._scanner.scan(chunks, self._scans.start)
        # What rules decide about holds on to chunks.
        made = found if self._bound else codes_ahead(found, self._engine.threads)
        for chunk, codes in made:
            if last:
                self._go_on(last)
            last = chunk
            if len(codes) * UNPACKED > chunk.length:
                chunk.unpack(self._engine)
            for ends in self._ends(chunk, codes):
                if len(hits := self._hits(chunk, *ends)):
                    yield hits
        if last:
            rest = self._kept(last, self._held, wait=False)
            if len(hits := self._hits(last, rest, FOREVER, FOREVER)):
                yield hits

    def _go_on(self, chunk: PackedChunk) -> None:
        """Go on from a chunk to the next one: with the letters that may be asked for there."""
        end = chunk.base + chunk.length
        wanted = end - self._plateaus.undecided().min(initial=end) + self._reach
        letters = np.empty(min(wanted, chunk.length), np.uint8)
        read_view(self._view(chunk), chunk.length - len(letters), 1, len(letters), letters)
        shown = np.concatenate([self._before, letters])
        self._before = shown[len(shown) - wanted :]
        self._held = self._held - [[chunk.length], [0], [0]]
        chunk.letters = NO_LETTERS

    def _view(self, chunk: PackedChunk) -> View:
        return chunk.view(self._before)

    def _ends(self, chunk: PackedChunk, codes: Longs) -> Iterator[tuple[Longs, int, int]]:
        """Yield (ends, forward_end, backward_end) of the codes of a chunk; see `_hits`."""
        base, halo, before = chunk.base, chunk.geometry.halo, -1
        begins, sizes = chunk.spans.begins, chunk.spans.lengths
        held, self._held = self._held, NO_ENDS
        yield self._kept(chunk, held), base, base
        for batch in code_batches(codes, self._engine.threads, self._most):
            fresh = batch[np.diff(batch, prepend=before) != 0]  # some ends come twice
            position, query, distance = self._coding.decode(fresh)
            before, last = batch[-1], self._coding.decode(batch[-1:])[0]
            own = np.where(self._backward[query], 0, halo)
            _, kept = chunk.records(position)
            kept &= (position >= own) & (position < own + chunk.length)
            ends = np.compress(kept, [position, query, distance], axis=1)
            seen = base + min(int(last[0]), chunk.length)  # more may come at its position
            yield self._kept(chunk, ends), seen, seen
        own = base + chunk.length
        ended = bool((begins + sizes == chunk.length).any())  # so that nothing follows
        yield NO_ENDS, own + halo - self._reach, own + ended

    def _kept(self, chunk: PackedChunk, ends: Longs, wait: bool = True) -> Longs:
        """The ends, of int64[3, n], that satisfy the rules, with their distances; those whose PAM
        the chunk may not show wait, if they can."""
        if not self._bound:
            return ends
        if wait:
            hidden = ends[0] + self._reach >= chunk.length + chunk.geometry.halo
            hidden &= ~self._backward[ends[1]]
            self._held = np.concatenate([self._held, ends[:, hidden]], axis=1)
            ends = ends[:, ~hidden]
        _, limit = self._records(chunk, ends)
        position, query, distance = ends = np.ascontiguousarray(ends)
        search = self._view(chunk), self._query, self._constraints
        given = *search, Ends(position, query, distance, limit)
        self._engine.workers.run(keep_ends, slabs(len(limit)), *given)
        return np.compress(distance >= 0, ends, axis=1)

    def _records(self, chunk: PackedChunk, ends: Longs) -> tuple[Longs, Longs]:
        """The records that ends are in, counted from the first of the chunk, and the last positions
        that alignments may use there, int64[n] each."""
        begins, sizes = chunk.spans.begins, chunk.spans.lengths
        span, _ = chunk.records(ends[0])
        last = np.minimum(begins[span] + sizes[span], chunk.geometry.letters) - 1
        return span, np.where(self._backward[ends[1]], last, np.maximum(begins[span], 0))

    def _hits(
        self, chunk: PackedChunk, ends: Longs, forward_end: int, backward_end: int
    ) -> HitBatch:
        """Take ends of a chunk, trace those that are decided now, and give the hits that no later
        one precedes.

        ends: (position, query, distance), int64[3, n]. All before forward_end have come then,
        backward_end if read so.
        """
        base = chunk.base
        if self._report != "ends":
            query, position, distance = self._plateaus.feed(
                ends[1], ends[0] + base, ends[2], forward_end, backward_end
            )
            ends = np.stack([position - base, query, distance])
        self._wait(chunk, ends)
        # A later hit starts behind what its halo shows, or where a minimum may be.
        begin = min(backward_end, forward_end - chunk.geometry.halo)
        undecided = self._plateaus.undecided().min(initial=FOREVER)
        return self._released(min(begin, undecided) - self._reach)

    def _wait(self, chunk: PackedChunk, ends: Longs) -> None:
        """Trace ends, and have their hits wait."""
        span, limit = self._records(chunk, ends)
        position, query, distance = ends
        start, end, columns = trace_ends(
            self._engine.workers,
            self._view(chunk),
            (self._query, self._constraints),
            Ends(position, query, distance, limit),
            self._aligned,
        )
        origin = chunk.spans.begins[span]
        kinds = self._panel.pattern[query], distance.astype(np.int32), self._panel.minus[query]
        hits = hit_batch(chunk.spans, (span, start - origin, end - origin), kinds, columns)
        place = chunk.base + np.stack([start, start, end, position])
        self._waiting = (
            joined([self._waiting[0], hits]),
            np.concatenate([self._waiting[1], place], axis=1),
        )

    def _released(self, coordinate: int) -> HitBatch:
        """The waiting hits that start before a coordinate, as no later hit does, sorted; of loci,
        those that stand for chains which no later hit can touch or precede."""
        hits, place = self._waiting
        if self._report == "loci" and len(hits):
            rows, place = chains(hits, place)
            hits = hits.picked(rows)
        start, first, reach, _ = place
        ready = start < coordinate
        if self._report == "loci":
            is_open = reach > coordinate
            ready = ~is_open & (start < first[is_open].min(initial=coordinate))
        self._waiting = hits.picked(np.flatnonzero(~ready)), place[:, ~ready]
        rows = np.flatnonzero(ready)
        keys = start[rows], hits.end[rows] - hits.start[rows], hits.minus[rows], hits.pattern[rows]
        return hits.picked(rows[order_of(*keys)])
