"""k mismatches: windows of chunks that are near to a pattern, anywhere or beside a PAM."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from kmatch.arrays import Bools, Bytes, Longs, bounds_of, distinct
from kmatch.engine.codes import Coding, Found, found_in
from kmatch.engine.engine import Scan, UnderWay
from kmatch.engine.queries import QueryArrays
from kmatch.engine.types import Columns, Ends, Texts, View, unit_states
from kmatch.engine.ways import work_of
from kmatch.engine.workers import slabs
from kmatch.genome import Genome, Genomes
from kmatch.jit.entries import entry
from kmatch.results.batches import HitBatch, hit_batch, sizes_of
from kmatch.search.algorithms import choose_algorithm
from kmatch.search.chunks import NO_LETTERS, Chunking, PackedChunk, plan_chunks
from kmatch.search.edit import keep_ends
from kmatch.search.panel import Panel, build_panel, checked_distances, each_strand, panel_letters
from kmatch.search.query import RUN, Query, Run
from kmatch.search.regions import Regions
from kmatch.search.rules import difference_search, rules_of, united
from kmatch.search.scan import Scanner, code_batches, rows_at_once
from kmatch.search.search import Search
from kmatch.search.trial import Scans
from kmatch.sequences.circles import Circles

read_windows = entry(
    "kmatch.engine.letters:read_windows",
    tuple[Longs, View, Longs, Bytes, Longs, tuple[Bytes, Longs, Bytes], Bytes],
)


class WindowSearch(Search[HitBatch]):
    """The search of a Query `hamming`, or `multi`, whose patterns and whose PAMs have one length
    each."""

    def __init__(
        self, query: Query, genomes: Genomes, run: Run = RUN, regions: Regions | None = None
    ) -> None:
        super().__init__(genomes, run, regions)
        patterns, distances, rules = query.patterns, checked_distances(query), rules_of(query)
        work = work_of(genomes.expected_letters, patterns.lengths, query.strand)
        self.engine = engine = choose_algorithm(query.problem, patterns, run, work)
        each, k = each_strand(patterns, query.strand), int(distances.max())
        self._search = difference_search(each, rules, distances[each.pattern])
        letters = self.expected_letters
        self._scans = Scans(engine, self._scan, self._search, run.way, letters, gapless=True)
        self._ends, self._several = query.ends, len(rules.pams) > 1
        if rules.pams:
            pam = united(rules.pams)  # which is scanned for
            patterns, (five, three) = pam.join(patterns), query.ends
            self._ends = (five + len(pam), three) if pam.leads else (five, three + len(pam))
        self._panel = panel = build_panel(patterns, query.strand)
        self._limits, self._coding = distances[panel.pattern], Coding(len(panel.lengths), k)
        self._scanner, self._longest = Scanner(engine), int(panel.lengths.max())
        plan = plan_chunks(self._longest, k, engine.layout)
        self._chunking = Chunking(plan, engine, engine.layout.words)

    @cached_property
    def _queries(self) -> list[tuple[Longs, int, QueryArrays]]:
        """The queries within each k: their ranks, k and letters."""
        found, panel = [], self._panel
        for k in distinct(self._limits).tolist():
            ranks = np.flatnonzero(self._limits == k)
            own = panel.pattern[ranks], panel.minus[ranks], panel.lengths[ranks]
            found.append((ranks, k, panel_letters(Panel(panel.patterns, *own), k, self._ends)))
        return found

    def _scan(self, chunk: PackedChunk, engine: Any, capacity: int) -> Scan:
        scans: list[Scan] = [
            engine.start_scan(chunk.plain, letters, k, capacity) for _, k, letters in self._queries
        ]
        if len(scans) == 1:
            return scans[0]

        def found() -> Found:
            parts, codes = [scan.found() for scan in scans], []
            for (ranks, k, _), part in zip(self._queries, parts, strict=True):
                position, query, distance = Coding(len(ranks), k).decode(part.codes)
                codes.append(self._coding.encode(position, ranks[query], distance))
            lost, share = sum(part.lost for part in parts), min(part.share for part in parts)
            return found_in(np.concatenate(codes), lost, share)

        return UnderWay(found, lambda: [scan.stop() for scan in scans])

    def _find(self, genome: Genome) -> Iterable[HitBatch]:
        return self.hits_in(genome, aligned=self.run.aligned)

    def hits_in(
        self, genome: Genome, report: str = "ends", aligned: bool = False, united: bool = False
    ) -> Iterable[HitBatch]:
        """Return the HitBatches of one genome, some without rows.

        report: means nothing here, as windows are all reported; aligned: whether hits come with
        their alignments; united: whether the genome may have letters for sets of bases (see SET).
        """
        circular = self.genomes.circular
        circles = None if circular is None else Circles(circular, self._longest - 1)
        chunks = self.chunks(self._chunking._replace(united=united), genome, circles)
        batches = self._in_chunks(chunks, aligned)
        return _windows_once(batches, circles) if circles else batches

    def _in_chunks(self, chunks: Iterable[PackedChunk], aligned: bool) -> Iterator[HitBatch]:
        """Yield the HitBatches of an iterable of PackedChunks, some without rows."""
        most = rows_at_once(self._panel.lengths, aligned)
        for chunk, codes in self._scanner.scan(chunks, self._scans.start):
            for part in code_batches(codes, self.engine.threads, most):
                yield self._hits(part, chunk, aligned)
            chunk.letters = NO_LETTERS

    def _hits(self, codes: Longs, chunk: PackedChunk, aligned: bool) -> HitBatch:
        """The hits that a PackedChunk's sorted codes are."""
        panel = self._panel
        position, rank, distance = self._coding.decode(codes)
        record, kept = chunk.records(position, panel.lengths[rank])
        kept &= position < chunk.length  # others are of the next chunk
        if self._several:
            kept[kept] = self._beside(chunk, position[kept], rank[kept], distance[kept])
        if not kept.all():
            columns = (column[kept] for column in (position, rank, distance, record))
            position, rank, distance, record = columns
        pattern, minus = panel.pattern[rank], panel.minus[rank]
        start = position - chunk.spans.begins[record]
        end = start + panel.lengths[rank]
        found = None
        if aligned and len(start):
            bounds, patterns = bounds_of(end - start), panel.patterns
            ops, text = np.empty((2, bounds[-1]), np.uint8)
            found = Columns(Texts(bounds, ops), Texts(bounds, text))
            compared = patterns.masks, patterns.begins[pattern], ops
            windows = chunk.view(), position, minus, bounds, compared, text
            self.engine.workers.run(read_windows, slabs(len(start)), *windows)
        kinds = pattern, distance.astype(np.int32), minus
        return hit_batch(chunk.spans, (record, start, end), kinds, found)

    def _beside(self, chunk: PackedChunk, position: Longs, rank: Longs, distance: Longs) -> Bools:
        """Which windows that start at some positions of a PackedChunk have a PAM beside them.

        distance: of each, int64[n], overwritten.
        """
        query, constraints = self._search
        reach, last = constraints.pams.shape[2], position + self._longest - 1
        backward = query.reading.backward[rank] != 0
        anchor, limit = np.where(backward, [position + reach, last], [last - reach, position])
        ends = Ends(anchor, rank, distance, limit)
        free = constraints._replace(near=0, far=0, states=unit_states(query.k))
        self.engine.workers.run(keep_ends, slabs(len(rank)), chunk.view(), query, free, ends)
        return distance >= 0


def _windows_once(batches: Iterable[HitBatch], circles: Circles) -> Iterator[HitBatch]:
    """The hits whose windows begin in the letters of a record, and are no longer than it."""
    for batch in batches:
        size = sizes_of(batch.record, circles.lengths)
        kept = np.flatnonzero((batch.start < size) & (batch.end - batch.start <= size))
        batch = replace(batch, origin=batch.origin._replace(circles=circles.lengths))
        yield batch if len(kept) == len(batch) else batch.picked(kept)
