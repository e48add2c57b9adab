"""Every occurrence within k differences of a pattern, anywhere or beside a PAM."""

from collections.abc import Iterable, Iterator
from dataclasses import replace

import numpy as np

from kmatch.engine.engine import Engine
from kmatch.engine.ways import work_of
from kmatch.errors import REPORTS, check_choice
from kmatch.genome import Genome, Genomes
from kmatch.published.registry import choose_algorithm
from kmatch.results.batches import HitBatch
from kmatch.search.chunks import Chunking, plan_reading
from kmatch.search.circles import by_record, hits_on_circles
from kmatch.search.ends import DifferenceSearch
from kmatch.search.panel import checked_distances, each_strand
from kmatch.search.query import RUN, Query, Run
from kmatch.search.regions import Regions
from kmatch.search.rules import checked_rules
from kmatch.search.scan import ahead
from kmatch.search.search import Search
from kmatch.sequences.circles import Circles


class EditSearch(Search[HitBatch]):
    """The search of a Query `edit`, `multi` beside PAMs of several lengths, or `best` within its
    k.

    engine: None for the one that `run` asks for.
    """

    def __init__(
        self,
        query: Query,
        genomes: Genomes,
        run: Run = RUN,
        regions: Regions | None = None,
        engine: Engine | None = None,
    ) -> None:
        super().__init__(genomes, run, regions)
        lengths, distances = query.patterns.lengths, checked_distances(query)
        self._rules, k = checked_rules(query, int(distances.max()))
        self._report = query.report or ("ends" if self._rules.pams else "minima")
        check_choice("report", self._report, REPORTS)
        if engine is None:
            work = work_of(genomes.expected_letters, lengths, query.strand)
            engine = choose_algorithm("edit", query.patterns, run, work)
        self.engine = engine
        reach = self._rules.reach
        self._panel = panel = each_strand(query.patterns, query.strand)
        self._limits = np.minimum(distances, k)[panel.pattern]
        longest, gap = int(panel.lengths.max()) + reach, max(k + 1, reach)
        plan = plan_reading(longest, k, gap, self.engine.layout)
        self._chunking = Chunking(plan, self.engine, self.engine.layout.reading_words)
        self._search = self._make(self._report)
        self._most, self._lengths = longest + k, lengths  # letters of an occurrence at the most

    def _make(self, report: str) -> DifferenceSearch:
        # Alignments alone say which of several PAMs stands beside a hit.
        aligned = bool(self.run.aligned) or self._rules.unequal
        search = (self._panel, self._limits, report, self._rules)
        return DifferenceSearch(self.engine, *search, self.run.way, aligned)

    def _find(self, genome: Genome) -> Iterable[HitBatch]:
        circular = self.genomes.circular
        if circular is None:
            chunks = self.chunks(self._chunking, genome)
            return ahead(self._search.run(chunks), self.engine.threads)
        return self._in_circles(genome, Circles(circular, self._most, unrolled=True))

    def _in_circles(self, genome: Genome, circles: Circles) -> Iterator[HitBatch]:
        """Yield the HitBatches of linear and of circular records by turns."""
        for turns, first, parts in circles.runs(self.parts(genome)):
            search = self._make("ends" if turns else self._report)
            chunks = self.noted(self._chunking.fresh(parts, first), circles)
            batches = (
                replace(batch, origin=batch.origin._replace(circles=circles.lengths))
                for batch in search.run(chunks)
            )
            if turns:
                for ends in by_record(batches):
                    found = hits_on_circles(ends, circles, self._rules, self._lengths, self._report)
                    yield from found
            else:
                yield from batches
