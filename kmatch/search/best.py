"""The closest occurrences of each pattern: the smallest distance to any substring, and where it is.

In a genome a first pass keeps the smallest distance of each pattern, a second one finds the hits at
it; no pass for every k. Where many records, or small genomes, are asked each for its own, many are
searched together, within larger and larger shares of the patterns' letters until each has hits.
"""

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from kmatch.arrays import Bools, Longs
from kmatch.engine.engine import UnderWay
from kmatch.engine.ways import work_of
from kmatch.errors import warn
from kmatch.genome import Genome, Genomes, as_genomes
from kmatch.published.registry import choose_algorithm
from kmatch.results.batches import HitBatch, Origin, joined, no_hits
from kmatch.search.alignments import with_alignments
from kmatch.search.chunks import Chunking, PackedChunk, plan_reading
from kmatch.search.circles import Reading
from kmatch.search.ends import DifferenceSearch
from kmatch.search.panel import (
    ReadingPanel,
    build_reading_panel,
    select_patterns,
    warn_of_missing,
)
from kmatch.search.query import RUN, Query, Run
from kmatch.search.regions import Regions
from kmatch.search.rules import Rules
from kmatch.search.scan import DEEP
from kmatch.search.search import Search, begin_search
from kmatch.sequences.chunks import Spans
from kmatch.sequences.circles import Circles, Circular
from kmatch.sequences.records import Stretch, gathered, stretch_of, whole_stretches

WINDOW = 1 << 25  # letters of records that are searched together
UNITS = 1 << 12  # and genomes or records that are asked apart, at the most
SHARES = ("15%", "25%", "35%", "50%", "99.9999%")  # the last is all letters but one
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
        self._patterns, self._strand = query.patterns, query.strand
        self._rules = Rules(ends=query.ends)
        work = work_of(genomes.expected_letters, self._patterns.lengths, query.strand)
        self.engine = choose_algorithm("best", self._patterns, run, work)
        self._panel = build_reading_panel(self._patterns, query.strand)

    def _find(self, genome: Genome) -> Iterable[HitBatch]:
        distances = self._distances(genome)
        label = genome.label if self.genomes.named else None
        warn_of_missing(self._patterns, distances, label)
        return self._hits(genome, distances)

    def _distances(self, genome: Genome) -> Longs:
        """The smallest distance of each pattern, int64[P]; m where none is less."""
        panel, patterns, engine = self._panel, len(self._patterns), self.engine
        circular, longest = self.genomes.circular, int(panel.lengths.max())
        circles = Circles(circular, 2 * longest, unrolled=True) if circular else None
        chunks = self.chunks(self._chunking(longest, longest), genome, circles)
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
        # An alignment across the gap between records costs at least the gap.
        plan = plan_reading(longest, k, int(self._panel.lengths.max()), self.engine.layout)
        return Chunking(plan, self.engine, self.engine.layout.reading_words)

    def _within(
        self, genome: Genome, panel: ReadingPanel, limits: Longs, report: str
    ) -> Iterable[HitBatch]:
        """The hits of a panel within limits, int64[Q]."""
        longest, k = int(panel.lengths.max()), int(limits.max())
        chunking, circular = self._chunking(longest, k), self.genomes.circular
        make = partial(self._search, panel, limits, aligned=self.run.aligned and report == "minima")
        if circular is None:
            return make(report).run(self.chunks(chunking, genome))
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
            for batch in self._within(genome, panel, limits[panel.pattern], "ends"):
                np.minimum.at(distances, batch.pattern, batch.distance)
            wanted &= (distances == lengths) & (limits < most)
            if step == 1 and (long := lengths[wanted].max(initial=0)) >= LONG:
                warn(
                    f"a pattern of {long} letters is not found with its ends at the distance that "
                    "it has without them: larger ones are tried, which takes some times as long"
                )
            limits, step = np.minimum(limits + step, most), 2 * step
        return distances


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


class RecordBestSearch(Search[HitBatch]):
    """The search of a Query `best` in each record apart.

    Warns of each pattern that matches nowhere in some.
    """

    def __init__(
        self, query: Query, genomes: Genomes, run: Run = RUN, regions: Regions | None = None
    ) -> None:
        super().__init__(genomes, run, regions)
        self._query, self.engine = query, BestSearch(query, genomes, run).engine

    def _find(self, genome: Genome) -> Iterable[HitBatch]:
        patterns, first = self._query.patterns, 0
        missing = np.zeros(len(patterns), np.int64)
        for window in windows(self._records(genome)):
            apart = np.ones((len(window.names), len(patterns)), bool)
            batch = closest(window, self._query, apart, self.genomes.circular, self.run)
            apart[batch.record, batch.pattern] = False
            missing += apart.sum(axis=0)
            if self.run.aligned:
                genomes = window.genomes(self.genomes.circular)
                (batch,) = with_alignments([batch], self._query, genomes, self.run.threads)
            yield moved(batch, first + np.arange(len(window.names)))
            first += len(window.names)
        for number in np.flatnonzero(missing).tolist():
            warn(
                f"pattern '{patterns.names[number]}' matches nowhere in {missing[number]:,} of "
                f"{first:,} records"
            )

    def _records(self, genome: Genome) -> Iterator[tuple[list[str], list[Stretch]]]:
        first = 0
        for stretch in whole_stretches(self.parts(genome)):
            spans = Spans(first, stretch.names, np.zeros_like(stretch.lengths), stretch.lengths)
            self.progress.add(spans)
            if self.regions:
                self.regions.meet(spans)
            yield stretch.names, [stretch]
            first += len(stretch.names)


class Window(NamedTuple):
    """Some units, genomes or records that are asked each for its own, as one Genome.

    unit: int64[r], the unit that each record is in, None where all are in one; names: of the units.
    """

    genome: Genome
    unit: Longs | None
    names: list[str]

    def genomes(self, circular: Circular | None) -> Genomes:
        """The Genome, of which some records may be circular, as what is searched."""
        genomes = as_genomes(self.genome)
        genomes.circular = circular
        return genomes

    def units(self, record: Longs) -> Longs:
        """The units of records, by number, int64[n]."""
        return np.zeros_like(record) if self.unit is None else self.unit[record]

    def part(self, units: Longs) -> "tuple[Window, Longs | None]":
        """The Window of some units, and the numbers that its records have here, None for the same
        ones."""
        if self.unit is None or len(units) == len(self.names):
            return self, None
        wanted = np.isin(self.unit, units)
        chosen = [
            stretch_of(*record)
            for record, is_one in zip(self.genome.records(), wanted.tolist(), strict=True)
            if is_one
        ]
        genome = Genome.of_stretches(self.genome.label, gathered(chosen))
        return Window(genome, self.unit[wanted], self.names), np.flatnonzero(wanted)


def windows(parts: Iterable[tuple[list[str], "list[Stretch] | Genome"]]) -> Iterator[Window]:
    """Gather units to Windows of up to WINDOW letters and UNITS units, or of one that has more.

    parts: names of units and whole records, a unit a record or, with one name, all of them; or the
    Genome of one that is not to be in memory.
    """
    stretches: list[Stretch] = []
    unit: list[int] = []
    names: list[str] = []
    letters = 0
    for more, part in parts:
        whole = [] if isinstance(part, Genome) else part
        size = sum(len(stretch.letters) for stretch in whole)
        full = letters + size > WINDOW or len(names) + len(more) > UNITS
        if names and (full or part is not whole):
            yield _window(stretches, unit, names)
            stretches, unit, names, letters = [], [], [], 0
        if isinstance(part, Genome):
            yield Window(part, None, more)
            continue
        count = sum(len(stretch.names) for stretch in part)
        unit += [len(names)] * count if len(more) == 1 else range(len(names), len(names) + count)
        names += more
        stretches += part
        letters += size
    if names:
        yield _window(stretches, unit, names)


def _window(stretches: list[Stretch], unit: list[int], names: list[str]) -> Window:
    return Window(Genome.of_stretches("records", stretches), np.array(unit, np.int64), names)


def closest(
    window: Window,
    query: Query,
    wanted: Bools,
    circular: Circular | None,
    run: Run,
) -> HitBatch:
    """The hits of a Query `best` in units, each asked apart, sorted, without alignments.

    wanted: bool[U, P], the units in which each pattern is looked for.
    """
    patterns, run = query.patterns, run._replace(aligned=False)
    least = np.tile(patterns.lengths, (len(wanted), 1))
    held = [no_hits()]
    for share in SHARES:
        for units, numbers in rectangles(wanted & (least == patterns.lengths)):
            part, record = window.part(units)
            asked = query._replace(
                problem="edit", patterns=patterns.take(numbers), k=share, report="minima"
            )
            for batch in begin_search(asked, part.genomes(circular), run).everywhere():
                batch = batch if record is None else moved(batch, record)
                batch = replace(batch, pattern=numbers[batch.pattern].astype(np.int32))
                pairs = window.units(batch.record), batch.pattern
                np.minimum.at(least, pairs, batch.distance)
                held.append(batch.picked(np.flatnonzero(batch.distance == least[pairs])))
    batch = joined(held)
    circles: dict[int, int] = {}
    for each in held:
        circles |= each.origin.circles or {}
    batch = replace(batch, origin=Origin(circles=circles if circular else None))
    nearest = batch.distance == least[window.units(batch.record), batch.pattern]
    batch = batch.picked(np.flatnonzero(nearest))
    keys = (batch.pattern, batch.minus, batch.end, batch.start, batch.record)
    return batch.picked(np.lexsort(keys))


def moved(batch: HitBatch, record: Longs) -> HitBatch:
    """The batch with other numbers for its records; record: int64[r], the new ones."""
    names = {int(record[number]): name for number, name in batch.names.items()}
    circles = batch.origin.circles
    if circles is not None:
        circles = {int(record[number]): size for number, size in circles.items()}
    origin = batch.origin._replace(circles=circles)
    return replace(batch, record=record[batch.record], names=names, origin=origin)


def rectangles(wanted: Bools) -> Iterator[tuple[Longs, Longs]]:
    """Yield (rows, columns), int64 each, which hold every flag that is set once together."""
    by_row, by_column = alike(wanted), alike(wanted.T)
    if len(by_row) <= len(by_column):
        for rows in by_row:
            yield rows, np.flatnonzero(wanted[rows[0]])
    else:
        for columns in by_column:
            yield np.flatnonzero(wanted[:, columns[0]]), columns


def alike(flags: Bools) -> list[Longs]:
    """The numbers of rows that have the same flags, of which some are set, together."""
    groups: dict[bytes, list[int]] = {}
    for number in np.flatnonzero(flags.any(axis=1)).tolist():
        groups.setdefault(flags[number].tobytes(), []).append(number)
    return [np.array(numbers) for numbers in groups.values()]
