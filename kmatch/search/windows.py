"""k mismatches: all windows of chunks compared, or those found first that may match.

A way of searching has the `panel` that ranks its queries, `queries`, how many a chunk is compared
with, and run(chunks), which yields the HitBatches of PackedChunks.
"""

from collections.abc import Generator, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property, partial
from typing import Any

import numpy as np

from kmatch.arrays import Bytes, Longs, bounds_of
from kmatch.engine.codes import Coding
from kmatch.engine.cpu.tables import window_tables
from kmatch.engine.engine import Engine, Scan
from kmatch.engine.geometry import LANES_PER_WORD, SPARE, Geometry, Text
from kmatch.engine.queries import QueryArrays, window_arrays
from kmatch.engine.types import Columns, Texts
from kmatch.engine.ways import LONGEST, window_way, work_of
from kmatch.engine.workers import slabs
from kmatch.genome import Genome, Genomes
from kmatch.jit.entries import entry
from kmatch.published.registry import choose_algorithm
from kmatch.results.batches import HitBatch, hit_batch, joined, sizes_of
from kmatch.search.chunks import NO_LETTERS, Chunking, PackedChunk, plan_chunks, round_up
from kmatch.search.panel import (
    Panel,
    build_panel,
    checked_distances,
    exact_ends,
    panel_letters,
    wanted_strands,
)
from kmatch.search.query import RUN, Query, Run
from kmatch.search.regions import Regions
from kmatch.search.rules import Pam, load_pams, united
from kmatch.search.scan import (
    Scanner,
    ahead,
    code_batches,
    codes_ahead,
    or_scan,
    rows_at_once,
)
from kmatch.search.search import Search
from kmatch.sequences.circles import Circles

read_windows = entry(
    "kmatch.engine.letters:read_windows",
    tuple[Longs, Text, Bytes, Longs, Bytes, Longs, tuple[Bytes, Longs, Bytes], Bytes],
)

UNPACKED = 256  # positions for each of which there may be a site before a chunk is unpacked


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
        self._ways: list[tuple[Longs, Any]] = []  # numbers of patterns, and how they are searched
        for k in sorted(set(distances.tolist())):
            numbers = np.flatnonzero(distances == k)
            part = query._replace(patterns=patterns.take(numbers), k=k)
            for some, way in _ways(self.engine, part, pams, run):
                self._ways.append((numbers[some], way))
        self._longest = max(int(way.panel.lengths.max()) for _, way in self._ways)
        queries = sum(way.queries for _, way in self._ways)
        plan = plan_chunks(self._longest, int(distances.max()), queries, self.engine.layout)
        self._chunking = Chunking(plan, self.engine)

    def _find(self, genome: Genome) -> Iterable[HitBatch]:
        circular, threads = self.genomes.circular, self.engine.threads
        circles = None if circular is None else Circles(circular, self._longest - 1)
        batches = ahead(self._in_chunks(self.chunks(self._chunking, genome, circles)), threads)
        return _windows_once(batches, circles) if circles else batches

    def _in_chunks(self, chunks: Iterable[PackedChunk]) -> Generator[HitBatch]:
        """Yield the hits in chunks: those of several ways chunk by chunk, put in order."""
        if len(self._ways) == 1:
            yield from self._ways[0][1].run(chunks)
            return
        for chunk in chunks:
            batches = [
                replace(batch, pattern=numbers[batch.pattern].astype(np.int32))
                for numbers, way in self._ways
                for batch in way.run([chunk])
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


def _ways(
    engine: Any, query: Query, pams: Sequence[Pam], run: Run
) -> Iterator[tuple[Any, "Windows | Sites"]]:
    """Yield how patterns are searched within one k, by the way that is asked for where it serves,
    or else the fastest, each with the numbers of the patterns that it is for."""
    patterns, way, everything = query.patterns, "scan", slice(None)
    if query.problem == "multi":
        length, k = len(patterns[0]), int(query.k)
        way = run.way or window_way(engine.name, len(patterns), length, k, len(pams))
        if way == "lookup" and (engine.name != "cpu" or length > LONGEST):
            way = "scan"
    if len(pams) > 1 or (pams and way != "scan"):
        yield everything, Sites(engine, query, run.aligned, pams)
    elif way != "lookup":
        yield everything, Windows(engine, query, run.aligned, pams)
    else:
        masks = patterns.masks.reshape(len(patterns), -1)
        plain = (masks & (masks - 1) == 0).all(axis=1)  # of A, C, G and T alone
        for numbers in filter(len, (np.flatnonzero(plain), np.flatnonzero(~plain))):
            part = query._replace(patterns=patterns.take(numbers))
            yield numbers, Windows(engine, part, run.aligned, (), bool(plain[numbers[0]]))


class Windows:
    """Compares every window of chunks with every pattern.

    engine: of a device; query: of patterns within one k; pams: one that must stand beside every
    pattern, or none; looked_up: whether patterns of A, C, G and T, of one length, are looked up, on
    the CPU, where a scan would compare all.
    """

    def __init__(
        self,
        engine: Any,
        query: Query,
        aligned: bool,
        pams: Sequence[Pam] = (),
        looked_up: bool = False,
    ) -> None:
        patterns = query.patterns
        self._engine, self._k, self._aligned = engine, int(query.k), aligned
        self._exact = exact_ends(patterns, self._k, query.ends)
        self._tables = None
        if looked_up:
            length, strands = len(patterns[0]), wanted_strands(query.strand)
            masks = patterns.masks.reshape(-1, length)
            self._tables = window_tables(masks, self._exact[:length], self._k, strands)
        for pam in pams:
            self._exact = pam.beside(self._exact, True, len(patterns))
            patterns = pam.join(patterns)
        self.panel = build_panel(patterns, query.strand)
        self.queries = len(self.panel.lengths)
        self._scanner = Scanner(engine, Coding(self.queries, self._k))

    @cached_property
    def _letters(self) -> QueryArrays:
        return panel_letters(self.panel, self._k, self._exact)

    def run(self, chunks: Iterable[PackedChunk]) -> Iterator[HitBatch]:
        """Yield the HitBatches of an iterable of PackedChunks."""
        found = self._scanner.scan(chunks, self._start)
        for chunk, codes in codes_ahead(found, self._engine.threads):
            yield from window_batches(
                codes, chunk, self.panel, self._k, self._engine, self._aligned
            )

    def _start(self, chunk: PackedChunk, capacity: int) -> Scan:
        def scan() -> Scan:
            return start_scan(self._engine, self._letters, self._k, chunk, capacity)

        if self._tables is None:
            return scan()
        chunk.unpack(self._engine)
        return or_scan(self._engine.start_lookup(chunk.view(), self._tables, capacity), scan)


def start_scan(engine: Any, letters: QueryArrays, k: int, chunk: Any, capacity: int) -> Scan:
    """Start the scan of a PackedChunk, or of a SiteChunk, for queries within k."""
    scan: Scan = engine.start_scan(chunk.text(letters.masks, engine), letters, k, capacity)
    return scan


def window_batches(
    codes: Longs, chunk: PackedChunk, panel: Panel, k: int, engine: Engine, aligned: bool
) -> Iterator[HitBatch]:
    """Yield the HitBatches of a PackedChunk's sorted codes, whose queries are ranks of a Panel."""
    coding, begins = Coding(len(panel.lengths), k), chunk.spans.begins
    for part in code_batches(codes, engine.threads, rows_at_once(panel.lengths, aligned)):
        position, rank, distance = coding.decode(part)
        record, kept = chunk.records(position, panel.lengths[rank])
        kept &= position < chunk.length  # others are of the next chunk
        if not kept.all():
            columns = (column[kept] for column in (position, rank, distance, record))
            position, rank, distance, record = columns
        pattern, minus = panel.pattern[rank], panel.minus[rank]
        start = position - begins[record]
        end = start + panel.lengths[rank]
        if len(start):
            found = None
            if aligned:
                bounds, patterns = bounds_of(end - start), panel.patterns
                ops, text = np.empty((2, bounds[-1]), np.uint8)
                found = Columns(Texts(bounds, ops), Texts(bounds, text))
                compared = patterns.masks, patterns.begins[pattern], ops
                windows = chunk.plain, chunk.letters, position, minus, bounds, compared, text
                engine.workers.run(read_windows, slabs(len(start)), *windows)
            kinds = pattern, distance.astype(np.int32), minus
            yield hit_batch(chunk.spans, (record, start, end), kinds, found)


class Sites:
    """Finds PAMs first, and compares the windows beside them.

    engine: of a device; query: of patterns of one length; pams: of one length, any of which may be
    there.
    """

    queries = 1  # the sites of a PAM are few, however many the patterns

    def __init__(self, engine: Any, query: Query, aligned: bool, pams: Sequence[Pam]) -> None:
        self.pam, patterns = united(pams), query.patterns
        self.engine, self._aligned, self._kinds = engine, aligned, len(pams)
        self._k, self.length = int(query.k), len(patterns[0])
        self.panel = build_panel(self.pam.join(patterns), query.strand)
        self._strands = np.array(wanted_strands(query.strand), np.uint8)
        sites = [pam.site(self.length, minus) for minus in self._strands for pam in pams]
        masks, shifts = (np.concatenate(column) for column in zip(*sites, strict=True))
        bounds = bounds_of([len(each) for each, _ in sites])
        self._pams = window_arrays(masks, bounds, np.ones(len(masks), bool), 0, shifts)
        exact = exact_ends(patterns, self._k, query.ends)
        self._letters = window_arrays(patterns.masks, patterns.begins, exact, self._k)
        self._coding, self._site_coding = Coding(len(patterns), self._k), Coding(len(sites), 0)
        self._sites = Scanner(engine, self._site_coding)
        self._hits = Scanner(engine, self._coding)

    def run(self, chunks: Iterable[PackedChunk]) -> Iterator[HitBatch]:
        """Yield the HitBatches of an iterable of PackedChunks."""
        start = partial(start_scan, self.engine, self._letters, self._k)
        found = self._hits.scan(self._site_chunks(chunks), start)
        coding = Coding(len(self.panel.lengths), self._k)
        for sites, codes in codes_ahead(found, self.engine.threads):
            for part in code_batches(codes, self.engine.threads):
                site, number, distance = self._coding.decode(part)
                second = sites.minus[site] != self._strands[0]  # of the strands
                rank = number + self._coding.queries * second
                part = coding.encode(sites.position[site], rank, distance)
                rest = (self.panel, self._k, self.engine, self._aligned)
                yield from window_batches(part, sites.chunk, *rest)

    def _site_chunks(self, chunks: Iterable[PackedChunk]) -> Iterator["SiteChunk"]:
        """Yield the SiteChunks of PackedChunks, in order."""
        most = max(self.engine.layout.site_letters // self.length, 1)
        start = partial(start_scan, self.engine, self._pams, 0)
        for chunk, codes in self._sites.scan(chunks, start):
            position, query, _ = self._site_coding.decode(codes)
            strand = query // self._kinds
            if self._kinds > 1:  # several PAMs at one site
                new = (np.diff(position, prepend=-1) != 0) | (np.diff(strand, prepend=-1) != 0)
                position, strand = position[new], strand[new]
            own = np.searchsorted(position, chunk.length)
            if own * UNPACKED > chunk.length:
                chunk.unpack(self.engine)
            for first in range(0, own, most):
                rows = slice(first, min(first + most, own))
                yield SiteChunk(self, chunk, position[rows], self._strands[strand[rows]])
            chunk.letters = NO_LETTERS


class SiteChunk:
    """Windows beside some sites of a PAM: a site is a lane, so that all are compared at once.

    chunk: the PackedChunk of the windows; position: int64[n], where they and their PAMs start in
    it; minus: uint8[n], their strand. `length` is the number of sites.
    """

    def __init__(self, sites: Sites, chunk: PackedChunk, position: Longs, minus: Bytes) -> None:
        self._sites, self.chunk, self.position, self.minus = sites, chunk, position, minus
        self.length, engine, letters = len(position), sites.engine, sites.length
        lanes = round_up(self.length, 2 * LANES_PER_WORD)  # even words: a GPU copies two at once
        geometry = Geometry(lanes // LANES_PER_WORD, letters, 0)
        windows = np.zeros(geometry.letters + LANES_PER_WORD, np.uint8)
        begins = position + sites.pam.skipped(minus)
        bounds = letters * np.arange(self.length + 1)
        compared = NO_LETTERS, begins, NO_LETTERS  # none are
        given = chunk.plain, chunk.letters, begins, minus, bounds, compared, windows
        engine.workers.run(read_windows, slabs(self.length), *given)
        self._text = geometry.text(engine.planes(4 * geometry.plane_words + SPARE))
        engine.pack(windows, self._text)

    def text(self, masks: Bytes, engine: Engine) -> Text:
        """The Text of one row, with the planes of `masks` behind A, C, G and T."""
        return engine.unite(self._text, masks)._replace(rows=1)

    def part(self, begin: int, end: int, engine: Engine) -> "SiteChunk":
        """The SiteChunk of sites begin … end−1."""
        rows = slice(begin, end)
        return SiteChunk(self._sites, self.chunk, self.position[rows], self.minus[rows])
