"""k mismatches beside a PAM: its sites are found first, and windows are compared only there."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from kmatch.arrays import Bytes, Longs
from kmatch.engine.codes import Coding
from kmatch.engine.geometry import LANES_PER_WORD, SPARE, Geometry, Text
from kmatch.engine.protocol import Engine, Scan
from kmatch.engine.queries import query_arrays, window_arrays
from kmatch.engine.workers import Workers, slabs
from kmatch.results.batches import HitBatch
from kmatch.search.mismatches.windows import window_batches
from kmatch.search.panels.pam import Pam
from kmatch.search.panels.pams import united
from kmatch.search.panels.panel import Request, exact_ends, rank_panel, wanted_strands
from kmatch.search.scanning.chunks import NO_LETTERS, PackedChunk, round_up
from kmatch.search.scanning.codes import place_windows
from kmatch.search.scanning.dense import codes_ahead
from kmatch.search.scanning.scan import Scanner
from kmatch.sequences.patterns import pattern_set

UNPACKED = 256  # positions for each of which there may be a site before a chunk is unpacked


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
        queries = [each.query(self._length, minus) for minus in self._strands for each in pams]
        self._pams = query_arrays(queries, 0)
        exact = exact_ends(patterns, k, request.ends)
        self._letters = window_arrays(patterns.masks, patterns.begins, exact, k)
        self._patterns = len(patterns)
        self._site_coding = Coding(len(queries), 0)
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
