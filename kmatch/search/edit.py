"""Every occurrence within k differences of a pattern, anywhere or beside a PAM: from hit codes to
sorted hits.

    hit codes of a chunk
      → anchored ends      `ends_of`; ends behind the chunk are held for the next one
      → ends within rules  `distances_within_rules`, where rules decide of ends
      → minima             `Plateaus`, unless the report is `ends`
      → hits               `trace_ends`, an item of work for one of several threads
      → hits in order      `WaitingHits`

A coordinate is a position in the genome as it is laid out, record after record, so that coordinates
order hits as records do. A hit is yielded once no later one can precede it. Some letters before
each chunk are kept, for the hits of ends near its beginning and for plateaus that go on there.
"""

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from kmatch.arguments import REPORTS, check_choice
from kmatch.arrays import Longs
from kmatch.engine.codes import Coding, marked
from kmatch.engine.engine import Engine, Scan
from kmatch.engine.types import COLUMN_BITS, MOST_EDITS, Beside, Ends, View
from kmatch.engine.ways import work_of
from kmatch.engine.workers import ALONE, Workers, slabs
from kmatch.genome import Genome, Genomes
from kmatch.results.batches import HitBatch, hit_batch
from kmatch.search.algorithms import choose_algorithm
from kmatch.search.chunks import NO_LETTERS, Chunking, PackedChunk, plan_reading
from kmatch.search.ends import NO_ENDS, AnchoredEnds, ends_of, shown_before
from kmatch.search.panel import checked_distances, checked_unknown, each_strand
from kmatch.search.plateaus import FOREVER, Plateaus, places_of
from kmatch.search.query import RUN, Query, Run
from kmatch.search.regions import Regions
from kmatch.search.rules import Sought, checked_rules, sought_of
from kmatch.search.scan import Scanner, code_batches, rows_at_once
from kmatch.search.search import Search, by_record
from kmatch.search.tracing import distances_within_rules, gaps_of, limit_ends, trace_ends
from kmatch.search.trial import Scans
from kmatch.search.waiting import NONE, PlacedHits, WaitingHits
from kmatch.sequences.circles import Circles

UNPACKED = 512  # positions for each of which there may be an end before a chunk is unpacked


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
        distances = checked_distances(query)
        rules, k = checked_rules(query, int(distances.max()))
        self._report = query.reported
        check_choice("report", self._report, REPORTS)

        if engine is None:
            work = work_of(genomes.expected_letters, query.patterns.lengths, query.strand)
            engine = choose_algorithm("edit", query.patterns, run, work)
        self.engine = engine

        # What is looked for: each pattern on each strand, within its k.
        panel = each_strand(query.patterns, query.strand)
        limits = np.minimum(distances, k)[panel.pattern]
        most_unknown = checked_unknown(query, distances)
        self._sought = sought_of(panel, rules, limits)._replace(most_unknown=most_unknown)

        # How chunks are cut and searched.
        gap = max(k + 1, rules.reach)
        plan = plan_reading(self._sought.longest, k, gap, engine.layout, len(limits))
        words = engine.layout.reading_words
        self._chunking = Chunking(plan, engine, words, most_unknown=most_unknown)
        self._scans = Scans(engine, self._sought, run.way, self.expected_letters)
        self._scanner = Scanner(engine)

    def _find(self, genome: Genome) -> Iterable[HitBatch]:
        return self.hits_in(genome, self._report, self.run.aligned)

    def hits_in(
        self, genome: Genome, report: str = "ends", aligned: bool = False, united: bool = False
    ) -> Iterable[HitBatch]:
        """Return the HitBatches of one genome, some without rows.

        report: `minima`, `ends` or `loci`; aligned: whether hits come with their alignments;
        united: whether the genome may have letters for sets of bases (see SET).
        """
        chunking = self._chunking._replace(united=united)
        if self.genomes.circular is None:
            return self._in_chunks(self.chunks(chunking, genome), report, aligned)
        return self._in_circles(genome, chunking, report, aligned)

    def _in_circles(
        self, genome: Genome, chunking: Chunking, report: str, aligned: bool
    ) -> Iterator[HitBatch]:
        """Yield the HitBatches of linear and of circular records by turns."""
        from kmatch.search.turns import hits_on_circles, on_circles

        circular = self.genomes.circular
        assert circular is not None
        circles = Circles(circular, self._sought.longest_hit, unrolled=True)
        for is_circular, first, parts in circles.runs(self.parts(genome)):
            chunks = chunking.fresh(parts, first)
            if not is_circular:
                for batch in self._in_chunks(chunks, report, aligned):
                    yield on_circles(batch, circles)
                continue
            for batch in by_record(self._in_chunks(chunks, "ends", aligned)):
                hits = hits_on_circles(batch, circles, self._sought, report)
                yield on_circles(hits, circles)

    def _in_chunks(
        self, chunks: Iterable[PackedChunk], report: str, aligned: bool
    ) -> Iterator[HitBatch]:
        """Yield the HitBatches of an iterable of PackedChunks, some without rows."""
        waiting = WaitingHits(are_loci=report == "loci")
        for found in self.engine.workers.ahead(self._items(chunks, report, aligned)):
            yield from waiting.released(found.hits, found.first_later)

    def _items(self, chunks: Iterable[PackedChunk], report: str, aligned: bool) -> Iterator["Item"]:
        """Yield the Items of an iterable of PackedChunks."""
        is_limited = self._sought.is_bound or self._sought.most_unknown is not None
        are_all_wanted = report == "ends" or is_limited
        start = self._scans.starting(partial(self._start_scan, are_all_wanted))
        current: ChunkPass | None = None
        for chunk, codes in self._scanner.scan(chunks, start):
            if current and not current.goes_on_with(chunk):  # what lies between is in no region
                yield current.rest()
                current = None
            if current is None:
                current = ChunkPass(self._sought, self.engine, report, aligned)
            yield from current.items(chunk, codes)
        if current:
            yield current.rest()

    def _start_scan(
        self, are_all_wanted: bool, chunk: PackedChunk, engine: Any, capacity: int
    ) -> Scan:
        """Start the scan of a chunk; are_all_wanted: whether ends that are no minima are, too."""
        owned = 0 if are_all_wanted else chunk.length
        query = self._sought.query
        beside = None
        if self._sought.rules.pams and self._sought.most_unknown is None:
            beside = Beside(self._sought.constraints, shown=chunk.shown)
        way = self.run.way
        text = chunk.packed(engine)
        scan: Scan = engine.start_edit(text, query, way, capacity, owned, beside)
        return scan


class TracedHits(NamedTuple):
    """Sorted hits that were traced together; first_later: no hit of a later Item starts before."""

    hits: PlacedHits
    first_later: int


# Traces some ends; threads do several of them side by side.
Item = Callable[[], TracedHits]


class ChunkPass:
    """One pass over chunks that follow one another, from their codes to hits.

    report: `minima`, `ends` or `loci`; aligned: whether hits come with their alignments.
    """

    def __init__(self, sought: Sought, engine: Engine, report: str, aligned: bool) -> None:
        query = sought.query
        self._sought = sought
        self._engine = engine
        self._report = report
        # Alignments alone say which of several PAMs stands beside a hit.
        self._aligned = aligned or sought.rules.unequal
        self._coded = not self._aligned and _fit_numbers(sought)
        self._coding = Coding(len(query.limits), marked(query.k))
        self._is_backward = query.reading.backward != 0
        lengths = sought.panel.lengths + sought.rules.reach
        self._most_at_once = rows_at_once(lengths, self._aligned)

        self._chunk: PackedChunk | None = None  # the last one so far
        self._before = NO_LETTERS  # in front of it
        self._held = NO_ENDS  # that lie behind it
        self._plateaus = Plateaus(query.reading.backward, mark=query.k + 1)

    def goes_on_with(self, chunk: PackedChunk) -> bool:
        """Return whether a chunk begins where the last one ends."""
        last = self._chunk
        return last is None or chunk.base <= last.base + last.length

    def items(self, chunk: PackedChunk, codes: Longs) -> Iterator[Item]:
        """Yield the Items of the ends that are decided once the codes of the next chunk are known.

        codes: int64[n], sorted.
        """
        if self._chunk:
            self._leave(self._chunk)
        self._chunk = chunk
        if len(codes) * UNPACKED > chunk.length:
            chunk.unpack(self._engine)

        # Ends that the chunk before has found come first, then the ends that this chunk finds.
        held = self._held
        self._held = NO_ENDS
        chunk_end = chunk.base + chunk.length
        for ends, seen in chain([(held, chunk.base)], self._ends_in(chunk, codes)):
            # Ends behind the chunk wait until the next one shows what lies around them.
            inside, behind = ends.split_at(chunk_end)
            self._held = self._held.followed_by(behind)
            yield self._decide(inside, seen)

        yield self._decide(NO_ENDS, chunk_end)

    def _ends_in(self, chunk: PackedChunk, codes: Longs) -> Iterator[tuple[AnchoredEnds, int]]:
        """Yield the ends that a chunk finds, and the coordinate before which all have come then."""
        code_before = -1
        for batch in code_batches(codes, self._most_at_once):
            ends = ends_of(batch, code_before, self._coding, self._is_backward, chunk)
            code_before = int(batch[-1])
            yield ends, shown_before(batch, self._coding, chunk)

    def rest(self) -> Item:
        """Return the Item of the ends that are left, as no chunk goes on."""
        return self._decide(NO_ENDS, FOREVER)

    def _leave(self, chunk: PackedChunk) -> None:
        """Keep the letters of a chunk that may be asked for once the next one is at hand.

        These are the halo before its end, and before a minimum that may be found in it only then:

            chunk                [--------------------------------------)
            plateau                                [ of a query that is read backward, undecided
            letters kept                   [ halo )[--------------------)
        """
        end = chunk.base + chunk.length
        undecided = int(self._plateaus.undecided().min(initial=end))
        wanted = end - undecided + chunk.halo
        letters = chunk.last_letters(min(wanted, chunk.length))
        before = np.concatenate([self._before, letters])
        self._before = before[-wanted:]
        chunk.letters = NO_LETTERS

    def _within_rules(
        self, ends: AnchoredEnds, chunk: PackedChunk, view: View, workers: Workers
    ) -> AnchoredEnds:
        """Return the ends in a View of their chunk that the rules let be."""
        sought = self._sought
        if not len(ends) or not (sought.is_bound or sought.most_unknown is not None):
            return ends

        # Ends within rules.
        _, chunk_ends = self._chunk_ends(ends, chunk, view, workers)
        distance = chunk_ends.distance.copy()
        if sought.is_bound:
            distance = distances_within_rules(workers, view, sought, chunk_ends)

        # Near unknown letters their distances are those of alignments with few enough of these.
        rows = self._rows_near_unknown(chunk_ends, chunk)
        if len(rows):
            near_ends = chunk_ends.take(rows)
            distance[rows] = distances_within_rules(workers, view, sought.by_states, near_ends)
        ruled = AnchoredEnds(ends.coordinate, ends.query, distance)
        return ruled.take(np.flatnonzero(distance >= 0))

    def _rows_near_unknown(self, ends: Ends, chunk: PackedChunk) -> Longs:
        """Return the rows of ends whose hits may have unknown letters, where these count.

        Letters before the chunk count as unknown, since the chunk does not say which of them are.
        """
        if self._sought.most_unknown is None:
            return np.zeros(0, np.int64)
        reach = self._sought.longest_hit
        is_near = chunk.unknown.are_near(ends.position, reach)
        return np.flatnonzero(is_near | (ends.position < reach))

    def _chunk_ends(
        self, ends: AnchoredEnds, chunk: PackedChunk, view: View, workers: Workers
    ) -> tuple[Longs, Ends]:
        """Return the records of ends in a View of their chunk, and the ends as kernels take them.

        Records are counted from the first one of the chunk, int64[n].
        """
        position = ends.coordinate - chunk.base
        span, _ = chunk.records(position)

        # How far alignments may go in their record, as far as the chunk shows it.
        record_start = chunk.spans.begins[span]
        record_end = record_start + chunk.spans.lengths[span]
        last = np.minimum(record_end, chunk.shown) - 1
        limit = np.where(self._is_backward[ends.query], last, record_start)
        chunk_ends = Ends(position, ends.query, ends.distance, limit)

        # How far they may go over unknown letters, which the kernel writes to near_ends.limit.
        rows = self._rows_near_unknown(chunk_ends, chunk)
        if len(rows):
            near_ends = chunk_ends.take(rows)
            sought = self._sought
            workers.run(
                limit_ends,
                slabs(len(rows)),
                view,
                sought.query,
                sought.constraints,
                sought.most_unknown,
                near_ends,
            )
            chunk_ends.limit[rows] = near_ends.limit
        return span, chunk_ends

    def _decide(self, ends: AnchoredEnds, seen: int) -> Item:
        """Take ends; return the Item of the ends that are decided then.

        seen: all ends before this coordinate have come then.
        """
        chunk = self._chunk
        assert chunk is not None
        view = chunk.view(self._before)
        if self._report != "ends":  # of ends the Item sees to the rules
            ends = self._within_rules(ends, chunk, view, self._engine.workers)
            ends = self._plateaus.feed(ends, seen)

        # A later hit begins behind what the halo shows, or where a minimum may be.
        undecided = int(self._plateaus.undecided().min(initial=FOREVER))
        first_later = min(seen - chunk.halo, undecided) - self._sought.rules.reach
        if not len(ends):
            return partial(TracedHits, NONE, first_later)
        return partial(self._traced, ends, chunk, view, first_later)

    def _traced(
        self, ends: AnchoredEnds, chunk: PackedChunk, view: View, first_later: int
    ) -> TracedHits:
        """Return the hits of ends in a View of their chunk."""
        if self._report == "ends":
            ends = self._within_rules(ends, chunk, view, ALONE)
        span, chunk_ends = self._chunk_ends(ends, chunk, view, ALONE)
        found = trace_ends(
            ALONE, view, self._sought, chunk_ends, self._aligned, self._coded, in_order=True
        )
        ends = ends.take(found.rows)
        span = span[found.rows]

        # The hits in their records.
        record_start = chunk.spans.begins[span]
        panel = self._sought.panel
        distance = ends.distance.astype(np.int32)
        hits = hit_batch(
            chunk.spans,
            (span, found.start - record_start, found.end - record_start),
            (panel.pattern[ends.query], distance, panel.minus[ends.query]),
            found.columns,
            found.edits,
            gaps_of(found, panel.lengths[ends.query], self._sought.rules),
        )

        # Where they are in the genome as it is laid out.
        start = chunk.base + found.start
        end = chunk.base + found.end
        places = places_of(start, end, ends.coordinate)
        return TracedHits(PlacedHits(hits, places), first_later)


def _fit_numbers(sought: Sought) -> bool:
    """Return whether each alignment fits a number (see KINDS)."""
    few_edits = sought.query.k <= MOST_EDITS
    few_columns = sought.longest_hit < 1 << COLUMN_BITS
    return few_edits and few_columns and not sought.rules.bind_alignments
