"""The closest occurrences of each pattern: the smallest distance to any substring, and where it is.

A first pass over a genome keeps the smallest distance of each pattern, a second one finds the hits
at it; no pass for every k.
"""

from collections import deque
from collections.abc import Iterable
from functools import partial
from typing import Any

import numpy as np

from kmatch.arrays import Longs
from kmatch.engine.engine import UnderWay
from kmatch.engine.ways import work_of
from kmatch.errors import warn
from kmatch.genome import Genome, Genomes
from kmatch.published.registry import choose_algorithm
from kmatch.results.batches import HitBatch
from kmatch.search.chunks import Chunking, PackedChunk, plan_reading
from kmatch.search.circles import Reading
from kmatch.search.ends import DifferenceSearch
from kmatch.search.panel import (
    ReadingPanel,
    build_reading_panel,
    distinct_patterns,
    select_patterns,
    with_copies,
)
from kmatch.search.query import RUN, Query, Run
from kmatch.search.regions import Regions
from kmatch.search.rules import Rules
from kmatch.search.scan import DEEP
from kmatch.search.search import Search
from kmatch.sequences.circles import Circles

LONG = 256  # letters of a pattern for which larger and larger distances cost seconds


class BestSearch(Search[HitBatch]):
    """The search of a Query `best`, which reads a genome twice.

    Warns of each pattern that matches nowhere.
    """

    narrows = False  # the whole genome decides what is closest

    def __init__(
        self, query: Query, genomes: Genomes, run: Run = RUN, regions: Regions | None = None
    ) -> None:
        super().__init__(genomes, run, regions)
        self._patterns, self._copies = distinct_patterns(query.patterns)
        self._strand = query.strand
        self._rules = Rules(ends=query.ends)
        work = work_of(genomes.expected_letters, self._patterns.lengths, query.strand)
        self.engine, self._published = choose_algorithm("best", self._patterns, run, work)
        self._panel = build_reading_panel(self._patterns, query.strand)

    def _find(self, genome: Genome) -> Iterable[HitBatch]:
        distances = self._distances(genome)
        where = f" in {genome.label}" if self.genomes.named else ""
        for name in self._copies.names_of(distances >= self._patterns.lengths):
            warn(f"pattern '{name}' matches nowhere{where}")
        return with_copies(self._hits(genome, distances), self._copies)

    def _distances(self, genome: Genome) -> Longs:
        """The smallest distance of each pattern, int64[P]; m where none is less."""
        panel, patterns, engine = self._panel, len(self._patterns), self.engine
        circular = self.genomes.circular
        longest = int(panel.lengths.max())
        chunking, hear = self._chunking(longest, longest), self.progress.hear
        if circular is None:
            circles, chunks = None, self.noted(chunking.chunks(genome, hear))
        else:
            circles = Circles(circular, 2 * longest, unrolled=True)
            chunks = self.noted(chunking.fresh(circles.parts(genome.parts(hear))), circles)
        if self._published:
            found = self._published.smallest_distances(chunks, panel, patterns)
        else:
            found = smallest_distances(chunks, panel, patterns, engine)
        # An alignment may have gone round a short circle more than once.
        if self._rules.bind_alignments or (circles and 0 < circles.shortest < 2 * longest):
            found = self._kept(genome, found)
        return found

    def _hits(self, genome: Genome, distances: Longs) -> Iterable[HitBatch]:
        """The HitBatches of the minima at these distances."""
        wanted = distances < self._patterns.lengths
        if not wanted.any():
            return []
        panel = select_patterns(self._patterns, wanted, self._strand)
        return self._within(genome, panel, distances[panel.pattern], "minima")

    def _chunking(self, longest: int, k: int) -> Chunking:
        """The Chunking for occurrences of up to `longest` letters within k: often one for all."""
        layout = (self._published or self.engine).layout
        # An alignment across the gap between records costs at least the gap.
        plan = plan_reading(longest, k, int(self._panel.lengths.max()), layout)
        return Chunking(plan, self.engine, self.engine.layout.reading_words)

    def _within(
        self, genome: Genome, panel: ReadingPanel, limits: Longs, report: str
    ) -> Iterable[HitBatch]:
        """The hits of a panel within limits, int64[Q]."""
        longest, k = int(panel.lengths.max()), int(limits.max())
        chunking, circular = self._chunking(longest, k), self.genomes.circular
        make = partial(self._search, panel, limits, aligned=self.run.aligned and report == "minima")
        if circular is None:
            return make(report).run(self.noted(chunking.chunks(genome, self.progress.hear)))
        reading = Reading(longest + k, self._patterns.lengths, self._rules, make)
        return reading.run(genome, circular, chunking, self, report)

    def _search(
        self,
        panel: ReadingPanel,
        limits: Longs,
        report: str,
        aligned: bool = False,
    ) -> DifferenceSearch:
        search = (panel, limits, report, self._rules)
        if self._published:
            return self._published.difference_search(*search, aligned)
        return DifferenceSearch(self.engine, *search, self.run.way, aligned)

    def _kept(self, genome: Genome, least: Longs) -> Longs:
        """The smallest distance of each pattern that a hit keeps to the rules at; m where none is.

        least: int64[P], the distances without rules, from which larger ones are tried.
        """
        lengths, ends = self._patterns.lengths, self._rules.ends
        # What does not have to match can be left out, unless letters lie between two ends that do.
        most = lengths - 1 if all(ends) else np.minimum(lengths - sum(ends), lengths - 1)
        distances, limits, step = lengths.copy(), least, 1
        wanted = limits <= most
        while wanted.any():
            panel = select_patterns(self._patterns, wanted, self._strand)
            self._lower(distances, genome, panel, limits[panel.pattern])
            wanted &= (distances == lengths) & (limits < most)
            if step == 1 and (long := lengths[wanted].max(initial=0)) >= LONG:
                warn(
                    f"a pattern of {long} letters is not found with its ends at the distance that "
                    "it has without them: larger ones are tried, which takes some times as long"
                )
            limits, step = np.minimum(limits + step, most), 2 * step
        return distances

    def _lower(self, distances: Longs, genome: Genome, panel: ReadingPanel, limits: Longs) -> None:
        """Lower distances to those that a panel's patterns have somewhere within limits."""
        if self.genomes.circular is not None:
            for batch in self._within(genome, panel, limits, "ends"):
                np.minimum.at(distances, batch.pattern, batch.distance)
            return
        k = int(limits.max())
        chunking = self._chunking(int(panel.lengths.max()), k)
        search = self._search(panel, limits, "ends")
        found = search.smallest(self.noted(chunking.chunks(genome, self.progress.hear)))
        near = found <= limits
        np.minimum.at(distances, panel.pattern[near], found[near])


def smallest_distances(
    chunks: Iterable[PackedChunk], panel: ReadingPanel, patterns: int, engine: Any
) -> Longs:
    """The smallest distance of each pattern over all chunks, int64[patterns]; m where none is less.

    chunks: PackedChunks whose records are further apart than any pattern is long.
    """
    reading = panel.letters
    distances = np.zeros(patterns, np.int64)
    distances[panel.pattern] = panel.lengths
    pending: deque[tuple[Any, UnderWay[Longs]]] = deque()  # planes stay as long as they are read

    def finish_all_but(many: int) -> None:
        while len(pending) > many:
            np.minimum.at(distances, panel.pattern, pending.popleft()[1].found())

    try:
        for chunk in chunks:
            text = chunk.text(reading.masks, engine)
            bounds = distances[panel.pattern] - 1
            pending.append((text, engine.start_smallest(text, reading, bounds)))
            finish_all_but(DEEP * (engine.queues - 1))
        finish_all_but(0)
    finally:
        for _, search in pending:
            search.stop()
    return distances
