"""The closest occurrences of each pattern: the smallest distance to any substring, and where it is.

A first pass over a genome keeps the smallest distance of each pattern, a second one finds the hits
at it; no pass for every k.
"""

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from kmatch.arrays import Longs
from kmatch.engine.protocol import Smallest
from kmatch.engine.ways import work_of
from kmatch.genome import Genome, Genomes, as_genomes
from kmatch.published.run import Run, choose_algorithm
from kmatch.published.search import difference_search, published_distances
from kmatch.results.batches import HitBatch
from kmatch.search.circles import Reading, circular_chunks, reading_circles
from kmatch.search.differences.rules import Rules
from kmatch.search.hamming import checked_ends
from kmatch.search.panels.panel import ReadingPanel, build_reading_panel, select_patterns
from kmatch.search.panels.repeats import distinct_patterns, with_copies
from kmatch.search.running import HOOKS, RUNNING, Hooks, Running
from kmatch.search.scanning.chunks import Chunking, PackedChunk, plan_reading
from kmatch.search.scanning.scan import DEEP
from kmatch.search.several import over_genomes
from kmatch.sequences.circles import Circular
from kmatch.sequences.patterns import Pattern, PatternSet


class BestOptions(NamedTuple):
    """strand: `both`, `+` or `-`; exact_5p, exact_3p: first and last letters that must match."""

    strand: str = "both"
    exact_5p: int = 0
    exact_3p: int = 0


OPTIONS = BestOptions()


def best_batches(
    genome: Genome | Genomes,
    patterns: Sequence[Pattern],
    options: BestOptions = OPTIONS,
    running: Running = RUNNING,
    hooks: Hooks = HOOKS,
) -> Iterator[HitBatch]:
    """Yield the hits as HitBatches, in order.

    genome: it is read twice if it is not kept; running.on_warning hears of each pattern that
    matches nowhere. Raises InputError and DeviceError as `kmatch.best` does, at the first batch.
    """
    genomes = as_genomes(genome)
    distinct, copies = distinct_patterns(patterns)
    closest = _closest(genomes, distinct, options, running, hooks)

    def find(each: Genome, running: Running) -> Iterable[HitBatch]:
        read = Read(each, genomes.circular, running)
        distances = closest.distances(read)
        found = distances < distinct.lengths
        where = f" in {each.label}" if genomes.named else ""
        for name in copies.names_of(~found):
            running.on_warning(f"pattern '{name}' matches nowhere{where}")
        return with_copies(closest.hits(read, distances), copies)

    yield from over_genomes(genomes, running, find)


def _closest(
    genomes: Genomes, patterns: PatternSet, options: BestOptions, running: Running, hooks: Hooks
) -> "Closest":
    rules = Rules(ends=checked_ends(options.exact_5p, options.exact_3p))
    work = work_of(genomes.expected_letters, patterns.lengths, options.strand)
    algorithm = choose_algorithm("best", patterns, running, work)
    return Closest(patterns, options.strand, rules, algorithm, hooks, running.aligned)


class Read(NamedTuple):
    """A genome that is read more than once, which of its records are circular, and how it runs."""

    genome: Genome
    circular: Circular | None
    running: Running


class Closest:
    """What finds the closest occurrences of distinct patterns in one genome after another.

    algorithm: the engine, and a published one's Run or None; aligned: whether hits come with their
    alignments.
    """

    def __init__(
        self,
        patterns: PatternSet,
        strand: str,
        rules: Rules,
        algorithm: tuple[Any, Run | None],
        hooks: Hooks,
        aligned: bool,
    ) -> None:
        self._aligned = aligned
        self._patterns, self._strand, self._rules = patterns, strand, rules
        self._engine, self._run, self._hooks = *algorithm, hooks
        self._panel = build_reading_panel(patterns, strand)

    def distances(self, read: Read) -> Longs:
        """The smallest distance of each pattern, int64[P]; m where none is less."""
        panel, patterns, engine = self._panel, len(self._patterns), self._engine
        longest = int(panel.lengths.max())
        chunking = self._chunking(longest, longest)
        if read.circular is None:
            circles, chunks = None, chunking.chunks(read.genome, read.running)
        else:
            circles = reading_circles(read.circular, 2 * longest)
            chunks = circular_chunks(chunking, read.genome, circles, read.running)
        if self._run:
            found = published_distances(chunks, panel, patterns, engine, self._run)
        else:
            found = smallest_distances(chunks, panel, patterns, engine)
        # An alignment may have gone round a short circle more than once.
        if self._rules.bind_alignments or (circles and 0 < circles.shortest < 2 * longest):
            found = self._kept(read, found)
        return found

    def hits(self, read: Read, distances: Longs) -> Iterable[HitBatch]:
        """The HitBatches of the minima at these distances."""
        wanted = distances < self._patterns.lengths
        if not wanted.any():
            return []
        panel = select_patterns(self._patterns, wanted, self._strand)
        return self._within(read, panel, distances[panel.pattern], "minima")

    def _chunking(self, longest: int, k: int) -> Chunking:
        """The Chunking for occurrences of up to `longest` letters within k: often one for all."""
        layout, length = (self._run or self._engine).layout, self._hooks.chunk_length
        # An alignment across the gap between records costs at least the gap.
        plan = plan_reading(longest, k, int(self._panel.lengths.max()), length, layout)
        return Chunking(plan, self._engine, self._engine.layout.reading_words)

    def _within(
        self, read: Read, panel: ReadingPanel, limits: Longs, report: str
    ) -> Iterable[HitBatch]:
        """The hits of a panel within limits, int64[Q]."""
        longest, k = int(panel.lengths.max()), int(limits.max())
        chunking = self._chunking(longest, k)
        make = partial(self._search, panel, limits, aligned=self._aligned and report == "minima")
        if read.circular is None:
            return make(report).run(chunking.chunks(read.genome, read.running))
        reading = Reading(longest + k, self._patterns.lengths, self._rules, make)
        return reading.run(read.genome, read.circular, chunking, read.running, report)

    def _search(
        self,
        panel: ReadingPanel,
        limits: Longs,
        report: str,
        aligned: bool = False,
    ) -> Any:
        how = (report, self._rules, self._hooks, aligned)
        return difference_search(self._engine, self._run, panel, limits, *how)

    def _kept(self, read: Read, least: Longs) -> Longs:
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
            self._lower(distances, read, panel, limits[panel.pattern])
            wanted &= (distances == lengths) & (limits < most)
            limits, step = np.minimum(limits + step, most), 2 * step
        return distances

    def _lower(self, distances: Longs, read: Read, panel: ReadingPanel, limits: Longs) -> None:
        """Lower distances to those that a panel's patterns have somewhere within limits."""
        if read.circular is not None:
            for batch in self._within(read, panel, limits, "ends"):
                np.minimum.at(distances, batch.pattern, batch.distance)
            return
        k = int(limits.max())
        chunking = self._chunking(int(panel.lengths.max()), k)
        search = self._search(panel, limits, "ends")
        found = search.smallest(chunking.chunks(read.genome, read.running))
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
    pending: deque[tuple[Any, Smallest]] = deque()  # planes stay as long as they are read

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
