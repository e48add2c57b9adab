"""Primers and probes that are searched apart.

The last letters of a primer may have to match, as a polymerase begins there. A probe has no such
end, so that it is searched without:

    sites of primers    |==>  |    <==|   ==> |     exact_3p as it was asked for
    sites of probes     | (=) |  (=)  |       |     exact_3p 0
    together            |==> (=)|(=) <==|==>  |     whole records
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import groupby
from typing import Any, NamedTuple

import numpy as np

from kmatch.apps.searches import begin_search
from kmatch.arrays import Bools, Longs
from kmatch.genome import Genomes
from kmatch.results.batches import HitBatch, joined
from kmatch.search.query import Query, Run
from kmatch.search.regions import Regions
from kmatch.search.search import by_record


def queries_apart(query: Query, is_probe: Bools) -> list[tuple[Longs, Query]]:
    """Return the oligos of a Query that are searched together, int64[n], and what for.

    is_probe: bool[P], of its oligos. There is one part, unless last letters have to match and there
    are both primers and probes.
    """
    if not query.exact_3p or not is_probe.any():
        return [(np.arange(len(is_probe)), query)]

    parts: list[tuple[Longs, Query]] = []
    primers = np.flatnonzero(~is_probe)
    if len(primers):
        parts.append((primers, query.take(primers, query.k)))
    probes = np.flatnonzero(is_probe)
    parts.append((probes, query.take(probes, query.k)._replace(exact_3p=0)))
    return parts


def needs_two_readings(exact_3p: int, is_probe: Bools) -> bool:
    """Return whether primers and probes are searched apart, so that a genome is read twice."""
    return exact_3p > 0 and bool(is_probe.any())


def begin_apart(
    query: Query,
    is_probe: Bools,
    genomes: Genomes,
    run: Run,
    regions: Regions | None = None,
) -> Any:
    """Return the search of a Query for primers and probes; arguments as `begin_search` has them."""
    parts = queries_apart(query, is_probe)
    if len(parts) == 1:
        (_, query) = parts[0]
        return begin_search(query, genomes, run, regions)
    return SearchesApart(parts, genomes, run, regions)


class SearchesApart:
    """Searches for some oligos each, iterated and asked as a Search.

    engine, progress: those of the first one.
    """

    def __init__(
        self,
        parts: list[tuple[Longs, Query]],
        genomes: Genomes,
        run: Run,
        regions: Regions | None,
    ) -> None:
        self._oligos = [oligos for oligos, _ in parts]
        self._searches = [begin_search(query, genomes, run, regions) for _, query in parts]
        self.genomes = genomes
        self.engine = self._searches[0].engine
        self.progress = self._searches[0].progress

    def __iter__(self) -> Iterator[HitBatch]:
        return self._together(self._searches)

    def everywhere(self) -> Iterator[HitBatch]:
        """Yield the batches of one genome after another, inside regions and elsewhere."""
        return self._together([search.everywhere() for search in self._searches])

    def _together(self, found: list[Iterable[HitBatch]]) -> Iterator[HitBatch]:
        """Yield the hits of all searches in order, in batches of whole records.

        Records come as far as all searches have them:

            next hits of primers    |0|1 1|
            next hits of probes     |1|2 2|3|
            yielded, and left       |0|1 1 1|  and  |2 2|3|
        """
        searches = list(map(_numbered, self._oligos, found))

        # The next hits of each search, None behind the last ones.
        heads = [next(search, None) for search in searches]
        while left := [head for head in heads if head is not None]:
            # The hits up to the last record that all searches have whole.
            end = min(map(_last_place, left))
            parts = []
            for number, head in enumerate(heads):
                if head is None or head.origin.number > end.genome:
                    continue
                count = int(np.searchsorted(head.record, end.record, side="right"))
                parts.append(head.picked(slice(count)))
                rest = head.picked(slice(count, None))
                heads[number] = rest if len(rest) else next(searches[number], None)
            yield joined(parts).in_order()


class Place(NamedTuple):
    """A record of a genome, both by number."""

    genome: int
    record: int


def _numbered(oligos: Longs, batches: Iterable[HitBatch]) -> Iterator[HitBatch]:
    """Yield the hits of some oligos in whole records, by the numbers among all oligos."""
    numbers = oligos.astype(np.int32)
    for _, of_genome in groupby(filter(len, batches), key=lambda batch: batch.origin.number):
        for hits in by_record(of_genome):
            yield replace(hits, pattern=numbers[hits.pattern])


def _last_place(hits: HitBatch) -> Place:
    """Return the Place of the last of some hits."""
    return Place(hits.origin.number, int(hits.record[-1]))
