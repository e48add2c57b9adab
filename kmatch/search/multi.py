"""k mismatches of a panel of equal-length patterns, anywhere or beside a PAM."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from kmatch.engine.ways import LONGEST, window_way, work_of
from kmatch.errors import PAM_SIDES, InputError, check_choice, shown
from kmatch.genome import Genomes
from kmatch.published.registry import ENGINE, choose_algorithm
from kmatch.results.batches import HitBatch
from kmatch.search.chunks import Chunking, plan_chunks
from kmatch.search.edit import EditSearch
from kmatch.search.hamming import WindowsSearch, checked_ends
from kmatch.search.mismatches import SeedSearch, SiteSearch, WindowSearch
from kmatch.search.pam import Pam, load_pams
from kmatch.search.panel import Request, distinct_patterns, pattern_distances
from kmatch.search.query import RUN, Query, Run
from kmatch.search.regions import Regions
from kmatch.search.search import Search
from kmatch.sequences.patterns import PatternSet


class MultiSearch(WindowsSearch):
    """The search of a Query `multi`, whose patterns and whose PAMs have one length each."""

    def __init__(
        self, query: Query, genomes: Genomes, run: Run = RUN, regions: Regions | None = None
    ) -> None:
        super().__init__(genomes, run, regions)
        distinct, self._copies = distinct_patterns(query.patterns)
        _check_lengths(distinct)
        k = int(pattern_distances(distinct, query.k).max())
        pams = load_pams(query.pam, query.pam_side)
        ends = checked_ends(query.exact_5p, query.exact_3p)
        request = Request(distinct, k, query.strand, ends, run.aligned)
        work = work_of(genomes.expected_letters, distinct.lengths, query.strand)
        self.engine, published = choose_algorithm("multi", distinct, run, work)
        if published:
            search: Any = published.windows_search(request, pams)
        else:
            search = _search(self.engine, request, pams, run.way)
        self._longest = len(distinct[0]) + (len(pams[0]) if pams else 0)
        layout = (published or self.engine).layout
        plan = plan_chunks(self._longest, k, search.queries, layout)
        self._chunking, self._in_chunks = Chunking(plan, self.engine), search.run


def _search(engine: Any, request: Request, pams: Sequence[Pam], way: str | None) -> Any:
    """The search of the way that is asked for, where it serves, or of the fastest."""
    patterns, length, many = len(request.patterns), len(request.patterns[0]), len(pams)
    way = way or window_way(engine.name, patterns, length, request.k, many)
    if many > 1 or (many and way != "scan"):
        return SiteSearch(engine, request, pams)
    if way == "lookup" and engine.name == "cpu" and length <= LONGEST:
        return SeedSearch(engine, request)
    return WindowSearch(engine, request, pams[0] if pams else None)


def multi_search(
    query: Query, genomes: Genomes, run: Run = RUN, regions: Regions | None = None
) -> Search[HitBatch]:
    """The search of a Query `multi`; beside PAMs of several lengths it is that for differences,
    without insertions and deletions."""
    check_choice("side of the PAM", query.pam_side, PAM_SIDES)
    pams = load_pams(query.pam, query.pam_side)
    if len({len(pam) for pam in pams}) < 2:
        return MultiSearch(query, genomes, run, regions)
    _check_lengths(query.patterns)
    if run.algorithm != ENGINE:
        *others, last = (pam.sequence for pam in pams)
        raise InputError(
            f"the PAMs {', '.join(others)} and {last} have different lengths, which algorithm "
            f"'{run.algorithm}' does not search beside; use --algorithm {ENGINE}, or one PAM"
        )
    wanted = query._replace(report="ends", max_insertions=0, max_deletions=0)
    return EditSearch(wanted, genomes, run, regions)


def _check_lengths(patterns: PatternSet) -> None:
    if len(others := np.flatnonzero(patterns.lengths != patterns.lengths[0])):
        first, pattern = patterns[0], patterns[others[0]]
        raise InputError(
            f"pattern '{shown(pattern.name)}' has {len(pattern)} letters and the first one, "
            f"'{shown(first.name)}', {len(first)}: a panel has one length; "
            "search others with kmatch hamming"
        )
