"""k mismatches in chunks: all windows compared, or those found first that may match."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from kmatch.arrays import Bytes, Ints, Longs, bounds_of
from kmatch.engine.codes import DROPPED, Coding, Found
from kmatch.engine.engine import Engine, Scan
from kmatch.engine.geometry import LANES_PER_WORD, SPARE, Geometry, Text
from kmatch.engine.queries import QueryArrays, window_arrays
from kmatch.engine.types import Columns, Windows
from kmatch.engine.workers import Workers, slabs
from kmatch.jit import entry
from kmatch.results.batches import HitBatch, hit_batch
from kmatch.search.chunks import NO_LETTERS, PackedChunk, round_up
from kmatch.search.pam import Pam, united
from kmatch.search.panel import (
    Panel,
    Request,
    build_panel,
    exact_ends,
    panel_letters,
    rank_panel,
    wanted_strands,
)
from kmatch.search.scan import OrScan, Scanner, code_batches, codes_ahead, rows_at_once
from kmatch.sequences.patterns import pattern_set

place_windows = entry("kmatch.search.kernels", "place_windows")
split_windows = entry("kmatch.search.kernels", "split_windows")

CODES = np.zeros(16, np.uint8)  # of the masks of one base; of others that of A
CODES[[1, 2, 4, 8]] = range(4)
UNPACKED = 256  # positions for each of which there may be a site before a chunk is unpacked


class WindowScans(ABC):
    """Base of searches whose codes are windows of a chunk; `panel` ranks their queries.

    A search sets `_engine`, `_request` and `_scanner`.
    """

    panel: Panel
    _engine: Any
    _request: Request
    _scanner: Scanner

    @property
    def queries(self) -> int:
        """Queries that a chunk is compared with."""
        return len(self.panel.lengths)

    @abstractmethod
    def _start(self, chunk: PackedChunk, capacity: int) -> Scan:
        """Begin the scan of a chunk."""

    def run(self, chunks: Iterable[PackedChunk]) -> Generator[HitBatch]:
        """Yield the HitBatches of an iterable of PackedChunks."""
        found = self._scanner.scan(chunks, self._start)
        for chunk, codes in codes_ahead(found, self._engine.threads):
            yield from window_batches(codes, chunk, self.panel, self._request, self._engine)


def window_batches(
    codes: Longs, chunk: PackedChunk, panel: Panel, request: Request, engine: Engine
) -> Iterator[HitBatch]:
    """Yield the HitBatches of a PackedChunk's sorted codes, whose queries are ranks of a Panel.

    request: within whose k they are, and whether they are to be aligned.
    """
    ranks = (panel.pattern, panel.minus, panel.lengths)
    records = (chunk.spans.begins, chunk.spans.lengths)
    workers, most = Workers(engine.threads), rows_at_once(panel.lengths, request.aligned)
    for part in code_batches(codes, engine.threads, most):
        whole, dropped = tuple(np.empty((3, len(part)), np.int64)), np.zeros(1, np.int64)
        kinds = (np.int64, np.int32, np.int32, np.int32, np.uint8)
        parts = tuple(np.empty(len(part), kind) for kind in kinds)
        split = part, request.k, ranks, records, chunk.length, whole, parts, dropped
        workers.run(split_windows, slabs(len(part)), *split)
        columns = [*whole, *parts]
        if dropped[0]:
            kept = whole[2] != DROPPED
            columns = [column[kept] for column in columns]
        if len(columns[0]):
            yield _batch(columns, chunk, panel, engine if request.aligned else None)


def _batch(columns: Any, chunk: PackedChunk, panel: Panel, engine: Engine | None) -> HitBatch:
    """The HitBatch of columns, aligned where an engine is given for that."""
    start, end, record, position, rank, *kinds = columns
    aligned = None if engine is None else _align(position, rank, chunk, panel, engine)
    return hit_batch(chunk.spans, (record, start, end), kinds, aligned)


def _align(
    position: Longs, rank: Ints, chunk: PackedChunk, panel: Panel, engine: Engine
) -> Columns:
    ends = bounds_of(panel.lengths[rank])
    columns = Columns(ends, np.empty(ends[-1], np.uint8), ends, np.empty(ends[-1], np.uint8))
    windows = Windows(position, panel.pattern[rank], panel.minus[rank])
    engine.align_gapless(chunk.plain, windows, panel.written, columns)
    return columns


class WindowSearch(WindowScans):
    """Compares every window of chunks with every pattern.

    engine: of a device; pam: a Pam that must stand beside every pattern, or
    None.
    """

    def __init__(self, engine: Any, request: Request, pam: Pam | None = None) -> None:
        self._engine, self._request = engine, request
        patterns = pattern_set(request.patterns)
        exact = exact_ends(patterns, request.k, request.ends)
        if pam:
            exact = pam.beside_each(exact, pam.every_letter, len(patterns))
            patterns = pam.join_all(patterns)
        self.panel = build_panel(patterns, request.k, request.strand, exact)
        self._scanner = Scanner(engine, Coding(len(self.panel.lengths), request.k))

    def _start(self, chunk: PackedChunk, capacity: int) -> Any:
        letters = self.panel.letters
        text = chunk.text(letters.masks, self._engine)
        return self._engine.start_scan(text, letters, self._request.k, capacity)


class SeedSearch(WindowScans):
    """Looks patterns of A, C, G and T up; patterns with other letters are compared one by one.

    engine: of a device; request: patterns of one length.
    """

    def __init__(self, engine: Any, request: Request) -> None:
        self._engine, self._request = engine, request
        k, patterns = request.k, pattern_set(request.patterns)
        self.panel = panel = rank_panel(patterns, request.strand)
        length = len(patterns[0])
        exact_each = exact_ends(patterns, k, request.ends)
        exact = exact_each[:length]
        masks = panel.written[0].reshape(-1, length)
        plain = (masks & (masks - 1) == 0).all(axis=1)[panel.pattern]
        ranks, self._others = np.flatnonzero(plain), np.flatnonzero(~plain)
        codes = CODES[masks[panel.pattern[ranks]]]
        minus = panel.minus[ranks] == 1
        codes[minus] = 3 - codes[minus, ::-1]
        by_rank = np.stack([exact, exact[::-1]])[panel.minus]
        self._tables = engine.seed_tables(codes, ranks, by_rank, k)
        self._patterns, self._exact = patterns, exact_each
        self._letters = panel_letters(panel, patterns, self._others, k, exact_each)
        self._coding = Coding(len(panel.lengths), k)
        self._scanner = Scanner(engine, self._coding)

    def _start(self, chunk: PackedChunk, capacity: int) -> Scan:
        engine, k = self._engine, self._request.k
        text = chunk.text(self._letters.masks, engine)
        lookup = engine.start_seeds(text, self._tables, k, capacity)
        if len(self._others):
            others = engine.start_scan(text, self._letters, k, capacity)
            lookup = _Both(lookup, others, self._ranked)
        return OrScan(lookup, lambda: engine.start_scan(text, self._all, k, capacity))

    @cached_property
    def _all(self) -> QueryArrays:
        """All queries, to be compared one by one; these have the masks of the others."""
        every = np.arange(len(self.panel.lengths))
        return panel_letters(self.panel, self._patterns, every, self._request.k, self._exact)

    def _ranked(self, codes: Longs) -> Longs:
        """Codes of the patterns that are compared one by one, with their ranks in the panel."""
        position, number, distance = Coding(len(self._others), self._request.k).decode(codes)
        return self._coding.encode(position, self._others[number], distance)


class _Both:
    """Two scans of a chunk as one; `ranked` gives the codes of the second the first one's ranks."""

    def __init__(self, first: Scan, second: Scan, ranked: Callable[[Longs], Longs]) -> None:
        self._scans, self._ranked = (first, second), ranked

    def found(self) -> Found:
        first, second = (scan.found() for scan in self._scans)
        codes = np.sort(np.concatenate([first.codes, self._ranked(second.codes)]))
        # Where one of them exceeded its capacity, the other is taken to have done as much.
        share = min(first.share, second.share)
        return Found(codes, first.lost + second.lost, share)

    def stop(self) -> None:
        for scan in self._scans:
            scan.stop()


class SiteSearch:
    """The search for patterns of one length beside a PAM.

    engine: of a device; pams: of one length, any of which may be there.
    """

    queries = 1  # the sites of a PAM are few, however many the patterns

    def __init__(self, engine: Any, request: Request, pams: Sequence[Pam]) -> None:
        self._pam = pam = united(pams)
        self._engine, self._request, self._kinds = engine, request, len(pams)
        k, strand = request.k, request.strand
        patterns = pattern_set(request.patterns)
        self._length = len(patterns[0])
        self.panel = rank_panel(pam.join_all(patterns), strand)
        self._strands = np.array(wanted_strands(strand), np.uint8)
        sites = [each.site(self._length, minus) for minus in self._strands for each in pams]
        masks, shifts = (np.concatenate(column) for column in zip(*sites, strict=True))
        bounds = bounds_of([len(each) for each, _ in sites])
        self._pams = window_arrays(masks, bounds, np.ones(len(masks), bool), 0, shifts)
        exact = exact_ends(patterns, k, request.ends)
        self._letters = window_arrays(patterns.masks, patterns.begins, exact, k)
        self._patterns = len(patterns)
        self._site_coding = Coding(len(sites), 0)
        self._sites = Scanner(engine, self._site_coding)
        self._hits = Scanner(engine, Coding(len(patterns), k))

    def run(self, chunks: Iterable[PackedChunk]) -> Iterator[HitBatch]:
        """Yield the HitBatches of an iterable of PackedChunks."""
        found = self._hits.scan(self._site_chunks(chunks), self._match)
        for sites, codes in codes_ahead(found, self._engine.threads):
            if len(codes):  # otherwise there are kernels to load for nothing
                self._place(codes, sites)
                yield from window_batches(
                    codes, sites.chunk, self.panel, self._request, self._engine
                )

    def _site_chunks(self, chunks: Iterable[PackedChunk]) -> Iterator["SiteChunk"]:
        """Yield the SiteChunks of PackedChunks, in order."""
        most = max(self._engine.layout.site_letters // self._length, 1)
        for chunk, codes in self._sites.scan(chunks, self._find):
            position, query, _ = self._site_coding.decode(codes)
            strand = query // self._kinds
            if self._kinds > 1:  # several PAMs at one site
                new = (np.diff(position, prepend=-1) != 0) | (np.diff(strand, prepend=-1) != 0)
                position, strand = position[new], strand[new]
            own = np.searchsorted(position, chunk.length)
            if own * UNPACKED > chunk.length:
                chunk.unpack(self._engine)
            for first in range(0, own, most):
                rows = slice(first, min(first + most, own))
                minus = self._strands[strand[rows]]
                yield SiteChunk(chunk, position[rows], minus, self._pam, self._length, self._engine)
            chunk.letters = NO_LETTERS

    def _find(self, chunk: PackedChunk, capacity: int) -> Scan:
        """Start the scan for the PAMs of a PackedChunk."""
        pams = self._pams
        text = chunk.text(pams.masks, self._engine)
        return self._engine.start_scan(text, pams, 0, capacity)

    def _match(self, sites: "SiteChunk", capacity: int) -> Scan:
        """Start the scan of a SiteChunk for all patterns."""
        letters = self._letters
        text = sites.text(letters.masks, self._engine)
        return self._engine.start_scan(text, letters, self._request.k, capacity)

    def _place(self, codes: Longs, sites: "SiteChunk") -> None:
        """Turn codes of sites and patterns into those of windows in the chunk."""
        at = sites.position, sites.minus - self._strands[0]
        coding, queries = (self._patterns, self._request.k + 1), len(self.panel.lengths)
        workers = Workers(self._engine.threads)
        workers.run(place_windows, slabs(len(codes)), codes, coding, at, queries)


class SiteChunk:
    """Windows beside some sites of a PAM: a site is a lane, so that all are compared at once.

    chunk: the PackedChunk of the windows; position: int64[n], where they and their PAMs start in
    it; minus: uint8[n], their strand. `length` is the number of sites.
    """

    def __init__(
        self,
        chunk: PackedChunk,
        position: Longs,
        minus: Bytes,
        pam: Pam,
        letters: int,
        engine: Engine,
    ) -> None:
        self.chunk, self.position, self.minus = chunk, position, minus
        self.length = len(position)
        self._pam, self._letters = pam, letters
        lanes = round_up(self.length, 2 * LANES_PER_WORD)  # even words: a GPU copies two at once
        geometry = Geometry(lanes // LANES_PER_WORD, letters, 0)
        windows = np.zeros(geometry.letters + LANES_PER_WORD, np.uint8)
        begins = position + pam.skipped(minus)
        engine.read_sites(chunk.plain, chunk.letters, begins, minus, letters, windows)
        self._text = geometry.text(engine.planes(4 * geometry.plane_words + SPARE))
        engine.pack(windows, self._text)

    def text(self, masks: Bytes, engine: Engine) -> Text:
        """The Text of one row, with the planes of `masks` behind A, C, G and T."""
        return engine.unite(self._text, masks)._replace(rows=1)

    def part(self, begin: int, end: int, engine: Engine) -> "SiteChunk":
        """The SiteChunk of sites begin … end−1."""
        rows = slice(begin, end)
        sites = (self.position[rows], self.minus[rows])
        return SiteChunk(self.chunk, *sites, self._pam, self._letters, engine)
