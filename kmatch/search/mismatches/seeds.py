"""k mismatches of a large panel by the exact pieces that a hit must contain."""

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np

from kmatch.arrays import Longs
from kmatch.engine.codes import Coding, Found
from kmatch.engine.protocol import Scan
from kmatch.engine.queries import QueryArrays
from kmatch.search.mismatches.windows import WindowScans
from kmatch.search.panels.panel import Request, exact_ends, panel_letters, rank_panel
from kmatch.search.scanning.chunks import PackedChunk
from kmatch.search.scanning.scan import OrScan, Scanner
from kmatch.sequences.patterns import pattern_set

CODES = np.zeros(16, np.uint8)  # of the masks of one base; of others that of A
CODES[[1, 2, 4, 8]] = range(4)


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
