"""k mismatches: windows of chunks that are near to a pattern, anywhere or beside a PAM."""

from collections.abc import Generator, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from kmatch.arrays import Bools, Bytes, Longs, bounds_of
from kmatch.engine.codes import Coding
from kmatch.engine.engine import Scan
from kmatch.engine.geometry import Text
from kmatch.engine.queries import QueryArrays
from kmatch.engine.types import Columns, Texts
from kmatch.engine.ways import work_of
from kmatch.engine.workers import slabs
from kmatch.genome import Genome, Genomes
from kmatch.jit.entries import entry
from kmatch.published.registry import choose_algorithm
from kmatch.results.batches import HitBatch, hit_batch, joined, sizes_of
from kmatch.search.chunks import NO_LETTERS, Chunking, PackedChunk, plan_chunks
from kmatch.search.panel import (
    build_panel,
    checked_distances,
    each_strand,
    panel_letters,
)
from kmatch.search.query import RUN, Query, Run
from kmatch.search.regions import Regions
from kmatch.search.rules import Pam, difference_search, load_pams, rules_of, united
from kmatch.search.scan import Scanner, ahead, code_batches, rows_at_once
from kmatch.search.search import Search
from kmatch.search.trial import Scans
from kmatch.sequences.circles import Circles

read_windows = entry(
    "kmatch.engine.letters:read_windows",
    tuple[Longs, Text, Bytes, Longs, Bytes, Longs, tuple[Bytes, Longs, Bytes], Bytes],
)


class WindowSearch(Search[HitBatch]):
    """The search of a Query `hamming`, or `multi`, whose patterns and whose PAMs have one length
    each."""

    def __init__(
        self, query: Query, genomes: Genomes, run: Run = RUN, regions: Regions | None = None
    ) -> None:
        super().__init__(genomes, run, regions)
        patterns, distances = query.patterns, checked_distances(query)
        pams = load_pams(query.pam, query.pam_side)
        work = work_of(genomes.expected_letters, patterns.lengths, query.strand)
        self.engine = choose_algorithm(query.problem, patterns, run, work)
        self._parts: list[tuple[Longs, Windows]] = []  # numbers of patterns within one k
        for k in sorted(set(distances.tolist())):
            numbers = np.flatnonzero(distances == k)
            part = query._replace(patterns=patterns.take(numbers), k=k)
            self._parts.append((numbers, Windows(self.engine, part, pams, run)))
        self._longest = max(int(part.panel.lengths.max()) for _, part in self._parts)
        queries = sum(part.queries for _, part in self._parts)
        plan = plan_chunks(self._longest, int(distances.max()), queries, self.engine.layout)
        self._chunking = Chunking(plan, self.engine, self.engine.layout.words)

    def _find(self, genome: Genome) -> Iterable[HitBatch]:
        circular, threads = self.genomes.circular, self.engine.threads
        circles = None if circular is None else Circles(circular, self._longest - 1)
        batches = ahead(self._in_chunks(self.chunks(self._chunking, genome, circles)), threads)
        return _windows_once(batches, circles) if circles else batches

    def _in_chunks(self, chunks: Iterable[PackedChunk]) -> Generator[HitBatch]:
        """Yield the hits in chunks: those of several k chunk by chunk, put in order."""
        if len(self._parts) == 1:
            yield from self._parts[0][1].run(chunks)
            return
        for chunk in chunks:
            batches = [
                replace(batch, pattern=numbers[batch.pattern].astype(np.int32))
                for numbers, part in self._parts
                for batch in part.run([chunk])
            ]
            if batches:
                yield joined(batches).in_order()


def _windows_once(batches: Iterable[HitBatch], circles: Circles) -> Iterator[HitBatch]:
    """The hits whose windows begin in the letters of a record, and are no longer than it."""
    for batch in batches:
        if not len(batch):
            continue
        size = sizes_of(batch.record, circles.lengths)
        kept = np.flatnonzero((batch.start < size) & (batch.end - batch.start <= size))
        batch = replace(batch, origin=batch.origin._replace(circles=circles.lengths))
        yield batch if len(kept) == len(batch) else batch.picked(kept)


class Windows:
    """Finds the windows of chunks that are near to patterns, all within one k.

    engine: of a device; query: of the patterns; pams: of one length, any of which must stand beside
    a pattern, or none. `panel` ranks the queries; `queries`: how many a chunk is compared with.
    """

    def __init__(self, engine: Any, query: Query, pams: Sequence[Pam], run: Run) -> None:
        patterns = query.patterns
        self._engine, self._k, self._aligned = engine, int(query.k), run.aligned
        self._ends, self._pams = query.ends, pams
        each = each_strand(patterns, query.strand)
        limits = np.full(len(each.lengths), self._k)
        search = difference_search(each, rules_of(query), limits)
        self._scans = Scans(engine, self._scan, search, run.way, gapless=True)
        if pams:
            pam = united(pams)  # which is scanned for
            patterns, (five, three) = pam.join(patterns), query.ends
            self._ends = (five + len(pam), three) if pam.leads else (five, three + len(pam))
        self.panel = build_panel(patterns, query.strand)
        self.queries = 1 if self._scans.many else len(self.panel.lengths)
        self._coding = Coding(len(self.panel.lengths), self._k)
        self._scanner = Scanner(engine)

    @cached_property
    def _letters(self) -> QueryArrays:
        return panel_letters(self.panel, self._k, self._ends)

    def _scan(self, chunk: PackedChunk, engine: Any, capacity: int) -> Scan:
        scan: Scan = engine.start_scan(chunk.plain, self._letters, self._k, capacity)
        return scan

    def run(self, chunks: Iterable[PackedChunk]) -> Iterator[HitBatch]:
        """Yield the HitBatches of an iterable of PackedChunks."""
        most = rows_at_once(self.panel.lengths, self._aligned)
        for chunk, codes in self._scanner.scan(chunks, self._scans.start):
            for part in code_batches(codes, self._engine.threads, most):
                if len(hits := self._hits(part, chunk)):
                    yield hits
            chunk.letters = NO_LETTERS

    def _hits(self, codes: Longs, chunk: PackedChunk) -> HitBatch:
        """The hits that a PackedChunk's sorted codes are."""
        panel, engine = self.panel, self._engine
        position, rank, distance = self._coding.decode(codes)
        record, kept = chunk.records(position, panel.lengths[rank])
        kept &= position < chunk.length  # others are of the next chunk
        if len(self._pams) > 1:
            kept[kept] = self._beside(chunk, position[kept], panel.minus[rank[kept]])
        if not kept.all():
            columns = (column[kept] for column in (position, rank, distance, record))
            position, rank, distance, record = columns
        pattern, minus = panel.pattern[rank], panel.minus[rank]
        start = position - chunk.spans.begins[record]
        end = start + panel.lengths[rank]
        found = None
        if self._aligned and len(start):
            bounds, patterns = bounds_of(end - start), panel.patterns
            ops, text = np.empty((2, bounds[-1]), np.uint8)
            found = Columns(Texts(bounds, ops), Texts(bounds, text))
            compared = patterns.masks, patterns.begins[pattern], ops
            windows = chunk.plain, chunk.letters, position, minus, bounds, compared, text
            engine.workers.run(read_windows, slabs(len(start)), *windows)
        kinds = pattern, distance.astype(np.int32), minus
        return hit_batch(chunk.spans, (record, start, end), kinds, found)

    def _beside(self, chunk: PackedChunk, position: Longs, minus: Bytes) -> Bools:
        """Which windows that start at some positions of a PackedChunk have a PAM beside them."""
        letters, found = chunk.unpack(self._engine), np.zeros(len(position), np.bool_)
        for strand in (0, 1):
            rows = np.flatnonzero(minus == strand)
            for pam in self._pams:
                masks, shifts = pam.site(strand, int(self.panel.lengths[0]))
                alike = letters[position[rows, np.newaxis] + shifts] & masks
                found[rows] |= (alike != 0).all(axis=1)
        return found
