"""Which way a panel is searched for: all windows compared, or those found first that may match."""

from collections.abc import Generator, Iterable, Sequence
from functools import cached_property, lru_cache
from itertools import chain
from typing import Any, NamedTuple

from kmatch.engine.choice import SiteWork
from kmatch.engine.geometry import base_pairs, likeness, within
from kmatch.engine.protocol import SeedLookup, WindowCounts
from kmatch.results.batches import HitBatch
from kmatch.search.mismatches.compared import WindowSearch
from kmatch.search.mismatches.seeds import LONGEST, SeedSearch, some_codes
from kmatch.search.mismatches.sites import SiteSearch
from kmatch.search.mismatches.windows import WindowScans
from kmatch.search.panels.pam import RANDOM, Pam
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
        """The search: a filter where `filtering` says so, for several PAMs always, a scan where it
        says so or no filter serves; otherwise the one that the first chunk decides on."""
        if len(self.pams) > 1:
            return self.filter()
        if not self._can_filter or filtering is False:
            return self.scan()
        return self.filter() if filtering else ChosenSearch(self)

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

    def sites(self, chunk: PackedChunk | None = None) -> tuple[float, float]:
        """Beside PAMs (the share of positions that are sites, how likely a window is within k).

        chunk: of the text, which is like it all; without it as in random letters.
        """
        if not self.pams:
            return 1.0, 0.0
        pairs = base_pairs(chunk.plain) if chunk else RANDOM
        length, alike = len(self.request.patterns[0]), min(likeness(pairs.sum(axis=1)), 0.99)
        return share_beside(self.pams, pairs), within(length, self.request.k, alike)

    def filter_pays(self, sites: tuple[float, float], hits: float = 0.0) -> bool:
        """Whether filtering is faster where there are so many hits a position; sites: see there."""
        request, engine = self.request, self.engine
        if not self.pams:
            codes = some_codes(request.patterns)
            return bool(engine.seeds_pay(codes, request.k, self.queries, hits))
        panel = len(request.patterns), len(request.patterns[0]), request.k, self._strands
        return bool(engine.sites_pay(SiteWork(*panel, engine.letters or 0, *sites, hits)))

    @property
    def _strands(self) -> int:
        return len(wanted_strands(self.request.strand))

    @property
    def queries(self) -> int:
        """Patterns times strands."""
        return len(self.request.patterns) * self._strands


class ChosenSearch:
    """The search whose way the first chunk decides.

    Patterns alone do not say how many sites of a PAM a text holds, nor how many hits: these are
    counted in some rows of a chunk, where they matter.
    """

    def __init__(self, ways: Ways) -> None:
        self._ways = ways
        self._chosen: Any = None
        # Without a PAM all texts have one answer, and there may be many short ones.
        self._pays = lru_cache(maxsize=2)(ways.filter_pays)

    @property
    def queries(self) -> int:
        """Queries that a chunk is expected to be compared with: a PAM's sites are found by one."""
        ways = self._ways
        return 1 if ways.pams and ways.filter_pays(ways.sites()) else ways.queries

    def run(self, chunks: Iterable[PackedChunk]) -> Generator[HitBatch]:
        """Yield the HitBatches of an iterable of PackedChunks."""
        chunks = iter(chunks)
        for first in chunks:
            yield from self._choose(first).run(chain([first], chunks))

    def _choose(self, chunk: PackedChunk) -> Any:
        """The search; a text is scanned where its first chunk is too short to count in."""
        if self._chosen is not None:
            return self._chosen
        ways, sites = self._ways, self._ways.sites(chunk)
        if self._pays(sites):
            self._chosen = ways.filter()
        elif not self._hits_matter(sites):
            self._chosen = self._scan
        elif (hits := self._scan.count(chunk)) is None:
            return self._scan
        else:
            self._chosen = ways.filter() if ways.filter_pays(sites, hits) else self._scan
            if isinstance(self._chosen, WindowScans):
                self._chosen.expect(hits)
        return self._chosen

    def _hits_matter(self, sites: tuple[float, float]) -> bool:
        """Whether hits can be counted, and a scan may be slower because of them."""
        counts = isinstance(self._ways.engine, WindowCounts)
        return counts and self._pays(sites, MANY * self._ways.queries)

    @cached_property
    def _scan(self) -> WindowSearch:
        return self._ways.scan()
