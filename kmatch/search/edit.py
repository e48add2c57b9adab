"""Every occurrence within k differences of a pattern, anywhere or beside a PAM: from anchored ends
to sorted hits.

A coordinate is a position in the genome as it is laid out, record after record, so that coordinates
order hits as records do. A hit is yielded once no later one can precede it. Some letters before
each chunk are kept, for the hits of ends near its beginning and for plateaus that go on there.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from kmatch.arguments import REPORTS, check_choice
from kmatch.arrays import Bytes, Longs, Table, bounds_of, gather, order_of
from kmatch.engine.codes import Coding, marked
from kmatch.engine.engine import Engine, Scan
from kmatch.engine.queries import DifferenceQuery
from kmatch.engine.types import (
    COLUMN_BITS,
    MOST_EDITS,
    Columns,
    Constraints,
    Ends,
    Texts,
    View,
)
from kmatch.engine.ways import work_of
from kmatch.engine.workers import Workers, slabs
from kmatch.genome import Genome, Genomes
from kmatch.jit.entries import entry
from kmatch.results.batches import HitBatch, hit_batch, joined, letters_beside, no_hits, sizes_of
from kmatch.search.algorithms import choose_algorithm
from kmatch.search.chunks import NO_LETTERS, Chunking, PackedChunk, plan_reading
from kmatch.search.panel import checked_distances, each_strand
from kmatch.search.plateaus import FOREVER, Plateaus, chains, loci_on_circles, lowest_on_circles
from kmatch.search.query import RUN, Query, Run
from kmatch.search.regions import Regions
from kmatch.search.rules import checked_rules, difference_search
from kmatch.search.scan import Scanner, code_batches, rows_at_once
from kmatch.search.search import Search, by_record
from kmatch.search.trial import Scans
from kmatch.sequences.circles import Circles

Found = tuple[Longs, Longs, Longs, Longs]
read_view = entry("kmatch.engine.letters:read_view", tuple[View, int, int, int, Bytes])
keep_ends = entry(
    "kmatch.engine.pams:keep_ends", tuple[Longs, View, DifferenceQuery, Constraints, Ends]
)
trace = entry(
    "kmatch.engine.alignments:trace",
    tuple[Longs, View, DifferenceQuery, Constraints, Ends, Found, tuple[Longs, Bytes, Bytes]],
)

UNPACKED = 512  # positions for each of which there may be an end before a chunk is unpacked
NO_ENDS = np.zeros((3, 0), np.int64)  # positions, queries and distances


def trace_ends(
    workers: Workers,
    view: View,
    search: tuple[DifferenceQuery, Constraints],
    ends: Ends,
    aligned: bool,
    coded: bool = False,
) -> tuple[Longs, Longs, Columns | None, Longs | None]:
    """Where the hits of Ends start and end in a View, int64[n] each, and their alignments if
    `aligned`, or, if `coded`, as numbers (see KINDS), int64[n]."""
    query, constraints = search
    most = query.lengths[ends.query] + ends.distance + constraints.pams.shape[2]
    room = bounds_of(most) if aligned else most[:0]
    ops, text = np.empty((2, room[-1] if aligned else 0), np.uint8)
    start, end, size = np.empty((3, len(most)), np.int64)
    edits = np.empty(len(most) * coded, np.int64)
    found = start, end, size, edits
    workers.run(trace, slabs(len(most)), view, *search, ends, found, (room, ops, text))
    if not aligned:
        return start, end, None, edits if coded else None
    columns: list[Texts] = []
    for letters, sizes in ((ops, size), (text, end - start)):
        begins, bounds = room[:-1] if constraints.leads else room[1:] - sizes, bounds_of(sizes)
        columns.append(Texts(bounds, gather(letters, begins, bounds)))
    return start, end, Columns(*columns), None


class EditSearch(Search[HitBatch]):
    """The search of a Query `edit`, `multi` beside PAMs of several lengths, or `best` within its
    k.

    engine: None for the one that `run` asks for.
    """

    def __init__(
        self,
        query: Query,
        genomes: Genomes,
        run: Run = RUN,
        regions: Regions | None = None,
        engine: Engine | None = None,
    ) -> None:
        super().__init__(genomes, run, regions)
        lengths, distances = query.patterns.lengths, checked_distances(query)
        self._rules, k = checked_rules(query, int(distances.max()))
        self._report = query.reported
        check_choice("report", self._report, REPORTS)
        if engine is None:
            work = work_of(genomes.expected_letters, lengths, query.strand)
            engine = choose_algorithm("edit", query.patterns, run, work)
        self.engine = engine
        self._panel = panel = each_strand(query.patterns, query.strand)
        limits, reach = np.minimum(distances, k)[panel.pattern], self._rules.reach
        self._query, self._constraints = difference_search(panel, self._rules, limits)
        self._coding = Coding(len(limits), marked(self._query.k))
        self._bound = bool(self._rules.pams) or self._rules.bind_alignments  # rules decide of ends
        self._backward = self._query.reading.backward != 0
        self._scanner = Scanner(engine)
        search = self._query, self._constraints
        self._scans = Scans(engine, self._scan, search, run.way, self.expected_letters)
        longest, gap = int(lengths.max()) + reach, max(k + 1, reach)
        self._most = longest + k  # letters of an occurrence
        fits = k <= MOST_EDITS and self._most < 1 << COLUMN_BITS
        self._coded = fits and not self._rules.bind_alignments
        plan = plan_reading(longest, k, gap, engine.layout, len(limits))
        self._chunking = Chunking(plan, engine, engine.layout.reading_words)

    def _scan(self, chunk: PackedChunk, engine: Any, capacity: int) -> Scan:
        owned = 0 if self._bound or self._now == "ends" else chunk.length
        scan: Scan = engine.start_edit(chunk.plain, self._query, self.run.way, capacity, owned)
        return scan

    def _find(self, genome: Genome) -> Iterable[HitBatch]:
        return self.hits_in(genome, self._report, self.run.aligned)

    def hits_in(
        self, genome: Genome, report: str = "ends", aligned: bool = False, united: bool = False
    ) -> Iterable[HitBatch]:
        """Return the HitBatches of one genome, some without rows.

        report: `minima`, `ends` or `loci`; aligned: whether hits come with their alignments;
        united: whether the genome may have letters for sets of bases (see SET).
        """
        circular, chunking = self.genomes.circular, self._chunking._replace(united=united)
        if circular is None:
            return self._in_chunks(self.chunks(chunking, genome), report, aligned)
        circles = Circles(circular, self._most, unrolled=True)
        return self._in_circles(genome, circles, chunking, report, aligned)

    def _in_circles(
        self, genome: Genome, circles: Circles, chunking: Chunking, report: str, aligned: bool
    ) -> Iterator[HitBatch]:
        """Yield the HitBatches of linear and of circular records by turns."""
        for turns, first, parts in circles.runs(self.parts(genome)):
            chunks = chunking.fresh(parts, first)
            found = self._in_chunks(chunks, "ends" if turns else report, aligned)
            for batch in by_record(found) if turns else found:
                batch = replace(batch, origin=batch.origin._replace(circles=circles.lengths))
                yield self._on_circles(batch, circles, report) if turns else batch

    def _on_circles(self, hits: HitBatch, circles: Circles, report: str) -> HitBatch:
        """The hits of circular records out of all ends in them and in the letters behind them."""
        rules, lengths = self._rules, self._panel.patterns.lengths
        record, start, end, minus = hits.record, hits.start, hits.end, hits.minus
        pattern, distance = hits.pattern, hits.distance.astype(np.int64)
        size, reach = sizes_of(record, circles.lengths), rules.reach
        backward = minus != rules.leads
        beside = letters_beside(hits.aligned, lengths[pattern]) if rules.unequal else reach
        anchor = np.where(backward, start + beside, end - beside)
        # Only there is an end warmed up by as many letters as an alignment can take.
        first = np.where(backward, reach, circles.more - reach + 1)
        own = (anchor >= first) & (anchor < first + size) & (end - start <= size)
        place = np.where(backward, size - 1 - anchor, anchor - 1) % size
        rows = np.flatnonzero(own)
        rows = rows[np.lexsort((place[rows], minus[rows], pattern[rows], record[rows]))]
        if report != "ends" and len(rows):
            same = [np.diff(column[rows], prepend=-1) != 0 for column in (record, pattern, minus)]
            group = np.cumsum(np.any(same, axis=0)) - 1
            low = lowest_on_circles(group, place[rows], distance[rows], size[rows])
            rows, group = rows[low], group[low]
            if report == "loci":
                begin = np.where(minus == 1, size - end, start) % size
                met = np.where(minus == 1, end - anchor, anchor - start)
                arcs = np.stack([begin, end - start, met])[:, rows]
                rows = rows[loci_on_circles(group, arcs, distance[rows], size[rows])]
        turned = start // size * size
        start, end, anchor = start - turned, end - turned, anchor - turned
        order = (column[rows] for column in (anchor, pattern, minus, end, start, record))
        return replace(hits, start=start, end=end).picked(rows[np.lexsort(tuple(order))])

    def _in_chunks(
        self, chunks: Iterable[PackedChunk], report: str, aligned: bool
    ) -> Iterator[HitBatch]:
        """Yield the HitBatches of an iterable of PackedChunks, some without rows."""
        self._now = report
        # Alignments alone say which of several PAMs stands beside a hit.
        self._aligned = aligned or self._rules.unequal
        self._at_once = rows_at_once(self._panel.lengths + self._rules.reach, self._aligned)
        self._start()
        last: PackedChunk | None = None
        for chunk, codes in self._scanner.scan(chunks, self._scans.start):
            if last and chunk.base > last.base + last.length:  # what lies between is in no region
                yield self._hits(last, NO_ENDS, FOREVER)
                self._start()
            elif last:
                self._go_on(last)
            last = chunk
            if len(codes) * UNPACKED > chunk.length:
                chunk.unpack(self.engine)
            for ends, seen in self._ends(chunk, codes):
                yield self._hits(chunk, ends, seen)
        if last:
            yield self._hits(last, NO_ENDS, FOREVER)

    def _start(self) -> None:
        """Start where no chunk comes before."""
        self._plateaus = Plateaus(self._query.reading.backward, self._query.k + 1)
        # Hits that a later one may precede, and their coordinates; see `chains`.
        self._waiting: tuple[HitBatch, Table] = no_hits(), np.zeros((5, 0), np.int64)
        self._before = NO_LETTERS  # in front of the chunk
        self._held = NO_ENDS  # coordinates in it that the one before has shown

    def _go_on(self, chunk: PackedChunk) -> None:
        """Go on from a chunk to the next one: with the letters that may be asked for there."""
        end = chunk.base + chunk.length
        wanted = end - self._plateaus.undecided().min(initial=end) + chunk.halo
        letters = np.empty(min(wanted, chunk.length), np.uint8)
        view = chunk.view(self._before)
        read_view(view, chunk.length - len(letters), 1, len(letters), letters)
        self._before = np.concatenate([self._before, letters])[-wanted:]
        chunk.letters = NO_LETTERS

    def _ends(self, chunk: PackedChunk, codes: Longs) -> Iterator[tuple[Longs, int]]:
        """Yield (ends, seen) of the codes of a chunk; see `_hits`. Ends that are read forward are
        found with what the chunk shows of the next one, and held until that shows their PAM."""
        length, halo, before = chunk.length, chunk.halo, -1
        held = self._held - [[chunk.base], [0], [0]]
        self._held = NO_ENDS
        yield self._own(chunk, held), chunk.base
        for batch in code_batches(codes, self.engine.threads, self._at_once):
            position, query, distance = self._coding.decode(batch)
            ends = batch - distance  # some ends come twice, first with their own distance
            fresh, before = np.diff(ends, prepend=before) != 0, ends[-1]
            first = np.where(self._backward[query], 0, halo)
            _, kept = chunk.records(position)
            kept &= fresh & (position >= first) & (position < first + length)
            ends = np.compress(kept, [position, query, distance], axis=1)
            yield self._own(chunk, ends), chunk.base + min(int(position[-1]), length)
        yield NO_ENDS, chunk.base + length

    def _own(self, chunk: PackedChunk, ends: Longs) -> Longs:
        """The ends, of int64[3, n], that the chunk owns and that satisfy the rules, with their
        distances; those behind are held."""
        later = ends[0] >= chunk.length
        more = ends[:, later] + [[chunk.base], [0], [0]]
        self._held = np.concatenate([self._held, more], axis=1)
        position, query, distance = ends = np.compress(~later, ends, axis=1)
        if not self._bound:
            return ends
        _, limit = self._records(chunk, ends)
        search = chunk.view(self._before), self._query, self._constraints
        given = *search, Ends(position, query, distance, limit)
        self.engine.workers.run(keep_ends, slabs(len(limit)), *given)
        return np.compress(distance >= 0, ends, axis=1)

    def _records(self, chunk: PackedChunk, ends: Longs) -> tuple[Longs, Longs]:
        """The records that ends are in, counted from the first of the chunk, and the last positions
        that alignments may use there, int64[n] each."""
        begins, sizes = chunk.spans.begins, chunk.spans.lengths
        span, _ = chunk.records(ends[0])
        last = np.minimum(begins[span] + sizes[span], chunk.length + chunk.halo) - 1
        return span, np.where(self._backward[ends[1]], last, begins[span])

    def _hits(self, chunk: PackedChunk, ends: Longs, seen: int) -> HitBatch:
        """Take ends of a chunk, trace those that are decided now, and give the hits that no later
        one precedes.

        ends: (position, query, distance), int64[3, n]; all before coordinate `seen` have come then.
        """
        base = chunk.base
        if self._now != "ends":
            found = self._plateaus.feed(ends[1], ends[0] + base, ends[2], seen)
            query, position, distance = found
            ends = np.stack([position - base, query, distance])
        if ends.shape[1]:
            self._trace(chunk, ends)
        # A later hit starts behind what its halo shows, or where a minimum may be.
        undecided = self._plateaus.undecided().min(initial=FOREVER)
        return self._released(min(seen - chunk.halo, undecided) - self._rules.reach)

    def _trace(self, chunk: PackedChunk, ends: Longs) -> None:
        """Trace ends, and have their hits wait."""
        span, limit = self._records(chunk, ends)
        position, query, distance = ends
        start, end, columns, edits = trace_ends(
            self.engine.workers,
            chunk.view(self._before),
            (self._query, self._constraints),
            Ends(position, query, distance, limit),
            self._aligned,
            self._coded and not self._aligned,
        )
        origin = chunk.spans.begins[span]
        kinds = self._panel.pattern[query], distance.astype(np.int32), self._panel.minus[query]
        hits = hit_batch(chunk.spans, (span, start - origin, end - origin), kinds, columns, edits)
        place = chunk.base + np.stack([start, end, position, start, end])
        self._waiting = (
            joined([self._waiting[0], hits]),
            np.concatenate([self._waiting[1], place], axis=1),
        )

    def _released(self, coordinate: int) -> HitBatch:
        """The waiting hits that start before a coordinate, as no later hit does, sorted; of loci,
        those that stand for chains which no later hit can touch or precede."""
        hits, place = self._waiting
        if not len(hits):
            return hits
        loci = self._now == "loci"
        if loci:
            query = 2 * hits.pattern.astype(np.int64) + hits.minus
            rows, place = chains(query, hits.minus != 0, hits.distance, place)
            hits = hits.picked(rows)
        start, end, _, first, reach = place
        ready = start < coordinate
        if loci:
            is_open = reach > coordinate
            ready = ~is_open & (start < first[is_open].min(initial=coordinate))
        self._waiting = hits.picked(np.flatnonzero(~ready)), place[:, ~ready]
        rows = np.flatnonzero(ready)
        keys = start[rows], (end - start)[rows], hits.minus[rows], hits.pattern[rows]
        return hits.picked(rows[order_of(*keys)])
