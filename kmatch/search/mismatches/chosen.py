"""Which way a panel is searched for: all windows compared, or those found first that may match."""

from collections.abc import Generator, Iterable, Sequence
from itertools import chain
from typing import Any, NamedTuple

from kmatch.engine.geometry import base_pairs
from kmatch.engine.protocol import SeedLookup, WindowCounts
from kmatch.results.batches import HitBatch
from kmatch.search.mismatches.compared import WindowSearch
from kmatch.search.mismatches.seeds import LONGEST, SeedSearch, some_codes
from kmatch.search.mismatches.sites import SiteSearch
from kmatch.search.mismatches.windows import WindowScans
from kmatch.search.panels.pam import Pam
from kmatch.search.panels.pams import share_beside
from kmatch.search.panels.panel import Request, wanted_strands
from kmatch.search.scanning.chunks import PackedChunk

MANY = 0.01  # of the windows compared with a pattern are hits, at the most


class Ways(NamedTuple):
    """The ways to search for a panel of patterns of one length, with or without PAMs beside them.

    engine: of a device; capacity: see Scanner.
    """

    engine: Any
    request: Request
    pams: Sequence[Pam]
    capacity: int | None = None

    def search(self, filtering: bool | None) -> Any:
        """The search: a filter where `filtering` or the engine says so, for several PAMs always.

        Its first chunk decides where the hits in it matter.
        """
        if len(self.pams) > 1:
            return self.filter()
        if not self._can_filter or filtering is False:
            return self.scan()
        if filtering or self.filter_pays():
            return self.filter()
        if isinstance(self.engine, WindowCounts) and self.filter_pays(MANY * self._queries):
            return ChosenSearch(self)
        return self.scan()

    @property
    def _can_filter(self) -> bool:
        if self.pams:
            return True
        return isinstance(self.engine, SeedLookup) and len(self.request.patterns[0]) <= LONGEST

    def scan(self) -> WindowSearch:
        """The search that compares all windows; with one PAM at most."""
        pam = self.pams[0] if self.pams else None
        return WindowSearch(self.engine, self.request, self.capacity, pam)

    def filter(self) -> SiteSearch | SeedSearch:
        """The search that finds the sites of PAMs first, or pieces of the patterns."""
        if self.pams:
            return SiteSearch(self.engine, self.request, self.pams, self.capacity)
        return SeedSearch(self.engine, self.request, self.capacity)

    def filter_pays(self, hits: float = 0.0, chunk: PackedChunk | None = None) -> bool:
        """Whether filtering is faster where there are so many hits a position.

        chunk: of the text, in which PAMs are as frequent; without it as in random letters.
        """
        request = self.request
        if self.pams:
            share = self.pams[0].share
            if chunk:
                share = share_beside(self.pams, base_pairs(chunk.plain))
            panel = self._queries, len(request.patterns[0]), self._strands
            return bool(self.engine.sites_pay(*panel, share, hits))
        codes = some_codes(request.patterns)
        return bool(self.engine.seeds_pay(codes, request.k, self._queries, hits))

    @property
    def _strands(self) -> int:
        return len(wanted_strands(self.request.strand))

    @property
    def _queries(self) -> int:
        return len(self.request.patterns) * self._strands


class ChosenSearch:
    """The search whose way the first chunk decides.

    Patterns alone do not say how many hits a text holds, or how many sites of a PAM: they are
    counted in some rows of a chunk.
    """

    def __init__(self, ways: Ways) -> None:
        self._ways, self._scan = ways, ways.scan()
        self.panel = self._scan.panel
        self._chosen: Any = None

    def run(self, chunks: Iterable[PackedChunk]) -> Generator[HitBatch]:
        """Yield the HitBatches of an iterable of PackedChunks."""
        chunks = iter(chunks)
        for first in chunks:
            yield from self._choose(first).run(chain([first], chunks))

    def _choose(self, chunk: PackedChunk) -> Any:
        """The search; a text is scanned where its first chunk is too short to count in."""
        if self._chosen is None:
            hits = self._scan.count(chunk)
            if hits is None:
                return self._scan
            pays = self._ways.filter_pays(hits, chunk)
            self._chosen = self._ways.filter() if pays else self._scan
            if isinstance(self._chosen, WindowScans):
                self._chosen.expect(hits)
        return self._chosen
