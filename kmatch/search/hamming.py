"""Every window within k mismatches of a pattern."""

from collections.abc import Generator, Iterable
from functools import partial
from typing import Any

import numpy as np

from kmatch.arrays import Longs
from kmatch.engine.ways import work_of
from kmatch.errors import checked_count
from kmatch.genome import Genome, Genomes
from kmatch.published.registry import choose_algorithm
from kmatch.results.batches import HitBatch
from kmatch.search.chunks import Chunking, PackedChunk, plan_chunks
from kmatch.search.circles import circular_chunks, window_circles, windows_once
from kmatch.search.mismatches import WindowSearch
from kmatch.search.panel import (
    Copies,
    Request,
    distinct_patterns,
    merged,
    pattern_distances,
    renumbered,
    with_copies,
)
from kmatch.search.query import RUN, Query, Run
from kmatch.search.regions import Regions
from kmatch.search.scan import hits_ahead
from kmatch.search.search import Search


class WindowsSearch(Search[HitBatch]):
    """A search whose hits are windows of up to `_longest` letters in the chunks of a Chunking."""

    _in_chunks: Any  # gives the HitBatches of an iterable of PackedChunks
    _chunking: Chunking
    _longest: int
    _copies: Copies

    def _find(self, genome: Genome) -> Iterable[HitBatch]:
        chunking, threads = self._chunking, self.engine.threads
        if self.genomes.circular is None:
            chunks = self.noted(chunking.chunks(genome, self.progress.hear))
            return with_copies(hits_ahead(self._in_chunks(chunks), threads), self._copies)
        circles = window_circles(self.genomes.circular, self._longest)
        chunks = circular_chunks(chunking, genome, circles, self.progress.hear)
        batches = hits_ahead(self._in_chunks(self.noted(chunks, circles)), threads)
        return with_copies(windows_once(batches, circles), self._copies)


class HammingSearch(WindowsSearch):
    """The search of a Query `hamming`."""

    def __init__(
        self, query: Query, genomes: Genomes, run: Run = RUN, regions: Regions | None = None
    ) -> None:
        super().__init__(genomes, run, regions)
        distinct, self._copies = distinct_patterns(query.patterns)
        distances = pattern_distances(distinct, query.k)
        k, ends = int(distances.max()), checked_ends(query.exact_5p, query.exact_3p)
        work = work_of(genomes.expected_letters, distinct.lengths, query.strand)
        self.engine, published = choose_algorithm("hamming", distinct, run, work)
        searches = []
        for each in np.unique(distances):
            numbers = np.flatnonzero(distances == each)
            part = Request(distinct.take(numbers), int(each), query.strand, ends, run.aligned)
            search = (
                published.windows_search(part) if published else WindowSearch(self.engine, part)
            )
            searches.append((numbers, search))
        lengths = np.concatenate([search.panel.lengths for _, search in searches])
        layout = (published or self.engine).layout
        self._longest = int(lengths.max())
        plan = plan_chunks(self._longest, k, len(lengths), layout)
        self._chunking = Chunking(plan, self.engine)
        self._in_chunks = searches[0][1].run if len(searches) == 1 else partial(_each_k, searches)


def _each_k(
    searches: list[tuple[Longs, Any]], chunks: Iterable[PackedChunk]
) -> Generator[HitBatch]:
    """Yield the hits of several searches, each of patterns with one k, chunk by chunk.

    searches: (the numbers of a search's patterns, the search).
    """
    for chunk in chunks:
        batches = [
            renumbered(batch, numbers)
            for numbers, search in searches
            for batch in search.run([chunk])
        ]
        if batches:
            yield merged(batches)


def checked_ends(exact_5p: int, exact_3p: int) -> tuple[int, int]:
    """How many letters must match at a pattern's beginning and at its end, as ints.

    Raises InputError for what is no such number.
    """
    return checked_count("exact_5p", exact_5p), checked_count("exact_3p", exact_3p)
