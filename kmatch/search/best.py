"""The closest occurrences of each pattern: the smallest distance to any substring, and where it is.

Patterns are searched within larger and larger distances until each has hits. Many records, or small
genomes, that are asked each for its own are searched together.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import compress
from typing import NamedTuple

import numpy as np

from kmatch.arrays import Bools, Longs
from kmatch.engine.ways import work_of
from kmatch.errors import warn
from kmatch.genome import Genome, Genomes, as_genomes
from kmatch.results.batches import HitBatch, joined, no_hits
from kmatch.search.algorithms import choose_algorithm
from kmatch.search.alignments import with_alignments
from kmatch.search.edit import EditSearch
from kmatch.search.query import RUN, Query, Run
from kmatch.search.regions import Regions
from kmatch.search.search import Search
from kmatch.sequences.circles import Circular
from kmatch.sequences.patterns import PatternSet
from kmatch.sequences.records import Stretch, stretch_of, whole_records

WINDOW = 1 << 25  # letters of records that are searched together
UNITS = 1 << 12  # and genomes or records that are asked apart, at the most
SPARED = 1 << 7  # patterns in units that are searched for in vain, to search fewer times


class BestSearch(Search[HitBatch]):
    """The search of a Query `best`, in each genome or in each record apart.

    Warns of each pattern that matches nowhere.
    """

    def __init__(
        self, query: Query, genomes: Genomes, run: Run = RUN, regions: Regions | None = None
    ) -> None:
        super().__init__(genomes, run, regions)
        self._query, self.narrows = query, not query.whole
        work = work_of(genomes.expected_letters, query.patterns.lengths, query.strand)
        self.engine = choose_algorithm("best", query.patterns, run, work)

    def _find(self, genome: Genome) -> Iterable[HitBatch]:
        return self._in_whole(genome) if self._query.whole else self._in_records(genome)

    def _in_whole(self, genome: Genome) -> Iterator[HitBatch]:
        query = self._query
        lengths, window = query.patterns.lengths, Window(genome, None, [genome.label])

        searches: list[EditSearch] = []

        def find(part: Window, asked: Query) -> Iterable[HitBatch]:
            search = EditSearch(asked, self.genomes, self.run, self.regions, self.engine)
            search.progress.tell, search.narrows = self.progress.hear, False
            searches.append(search)
            return search._find(part.genome)

        batch = closest(window, query, np.ones((1, len(lengths)), bool), find)
        self.progress.join(searches[-1].progress)  # as each of them has met all records
        yield from closest_of([batch], query.patterns, genome.label if self.genomes.named else None)

    def _in_records(self, genome: Genome) -> Iterator[HitBatch]:
        patterns, first = self._query.patterns, 0
        missing = np.zeros(len(patterns), np.int64)
        run = self.run._replace(aligned=False)

        def find(part: Window, asked: Query) -> Iterable[HitBatch]:
            genomes = part.genomes(self.genomes.circular)
            return EditSearch(asked, genomes, run, engine=self.engine).everywhere()

        for window in windows(records_apart(self.parts(genome))):
            apart = np.ones((len(window.names), len(patterns)), bool)
            batch = closest(window, self._query, apart, find)
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


def closest_of(
    batches: list[HitBatch], patterns: PatternSet, genome: str | None
) -> Iterator[HitBatch]:
    """Of the hits in a genome yield those at the smallest distance of their pattern, and warn of
    patterns that are nowhere nearer than all their letters; genome: its name, None for the only
    one."""
    least, where = patterns.lengths.copy(), "" if genome is None else f" in {genome}"
    for batch in batches:
        np.minimum.at(least, batch.pattern, batch.distance)
    for number in np.flatnonzero(least >= patterns.lengths).tolist():
        warn(f"pattern '{patterns.names[number]}' matches nowhere{where}")
    for batch in batches:
        yield batch.picked(np.flatnonzero(batch.distance == least[batch.pattern]))


def records_apart(stretches: Iterable[Stretch]) -> Iterator[tuple[str, list[Stretch]]]:
    """Yield whole records as units, each with its name."""
    for record in whole_records(stretches):
        yield record.name, [stretch_of(*record)]


class Window(NamedTuple):
    """Some units, genomes or records that are asked each for its own, as one Genome.

    unit: int64[r], the unit that each record is in, None where all are in one, otherwise the Genome
    has a Stretch a record; names: of the units.
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
        records = list(compress(self.genome.parts(), wanted.tolist()))
        genome = Genome.of_stretches(self.genome.label, records)
        return Window(genome, self.unit[wanted], self.names), np.flatnonzero(wanted)


def windows(units: Iterable[tuple[str, list[Stretch] | Genome]]) -> Iterator[Window]:
    """Gather units to Windows of up to WINDOW letters and UNITS units, or of one that has more.

    units: names, and Stretches of a record each or the Genome of one that is not to be in memory.
    """
    records: list[Stretch] = []
    unit: list[int] = []
    names: list[str] = []
    letters = 0
    for name, part in units:
        whole = [] if isinstance(part, Genome) else part
        size = sum(len(record.letters) for record in whole)
        if names and (letters + size > WINDOW or len(names) == UNITS or part is not whole):
            yield _window(records, unit, names)
            records, unit, names, letters = [], [], [], 0
        if isinstance(part, Genome):
            yield Window(part, None, [name])
            continue
        records += part
        unit += [len(names)] * len(part)
        names.append(name)
        letters += size
    if names:
        yield _window(records, unit, names)


def _window(records: list[Stretch], unit: list[int], names: list[str]) -> Window:
    return Window(Genome.of_stretches("records", records), np.array(unit, np.int64), names)


# The hits of a Query in a Window.
Find = Callable[[Window, Query], Iterable[HitBatch]]


def closest(window: Window, query: Query, wanted: Bools, find: Find) -> HitBatch:
    """The hits of a Query `best` in units, each asked apart, sorted.

    wanted: bool[U, P], the units in which each pattern is looked for; find: within the k of a
    Query, int64[P].
    """
    least = np.where(wanted, query.patterns.lengths, -1)
    held = [no_hits(), *approach(window, query, least, find)]
    return nearest(held, least, window)


def approach(window: Window, query: Query, least: Longs, find: Find) -> Iterator[HitBatch]:
    """Lower `least` to the smallest distance of each pattern in each unit, and yield the hits at
    what is the smallest so far.

    least: int64[U, P], a pattern's letters in units in which it is looked for, otherwise less.
    """
    lengths = query.patterns.lengths
    for limits in _limits(window, query, least):
        missing = least == lengths
        for units, numbers in rectangles(missing):
            part, record = window.part(units)
            for batch in find(part, query.take(numbers, limits)):
                batch = replace(batch, pattern=numbers[batch.pattern].astype(np.int32))
                batch = batch if record is None else moved(batch, record)
                kept = missing[window.units(batch.record), batch.pattern]
                batch = batch if kept.all() else batch.picked(np.flatnonzero(kept))
                pairs = window.units(batch.record), batch.pattern
                np.minimum.at(least, pairs, batch.distance)
                yield batch.picked(np.flatnonzero(batch.distance == least[pairs]))


def _limits(window: Window, query: Query, least: Longs) -> Iterator[Longs]:
    """Yield larger and larger limits of patterns, int64[P], up to all their letters but one; in a
    large genome they begin with what is found at little cost."""
    lengths = query.patterns.lengths
    # About as close as a pattern comes by chance in some ten thousand letters.
    limits, steps, growth = np.maximum(3 * lengths - 6, 0) // 10, np.clip(lengths // 20, 1, 5), 1
    if window.unit is None:
        yield lengths // 32
        limits, growth = np.maximum(limits - 1, 0), 2  # in millions
    while (least == lengths).any():
        yield limits
        if (limits == lengths - 1).all():
            return
        limits, steps = np.minimum(limits + steps, lengths - 1), growth * steps


def nearest(held: list[HitBatch], least: Longs, window: Window) -> HitBatch:
    """The hits at the smallest distance of their pattern in their unit, sorted."""
    batch = joined(held)
    near = batch.distance == least[window.units(batch.record), batch.pattern]
    return batch.picked(np.flatnonzero(near)).in_order()


def moved(batch: HitBatch, record: Longs) -> HitBatch:
    """The batch with other numbers for its records; record: int64[r], the new ones."""
    names = {int(record[number]): name for number, name in batch.names.items()}
    circles = batch.origin.circles
    if circles is not None:
        circles = {int(record[number]): size for number, size in circles.items()}
    origin = batch.origin._replace(circles=circles)
    return replace(batch, record=record[batch.record], names=names, origin=origin)


def rectangles(wanted: Bools) -> Iterator[tuple[Longs, Longs]]:
    """Yield (rows, columns), int64 each, which hold every flag that is set once together, each with
    no more other flags than SPARED and its own. Of many rows columns are put together."""
    if len(wanted) > wanted.shape[1]:
        yield from (pair[::-1] for pair in rectangles(wanted.T))
        return
    held: list[int] = []
    columns, own = wanted[0] & False, 0
    rows = np.flatnonzero(wanted.any(axis=1)).tolist()
    for row in sorted(rows, key=lambda row: wanted[row].tobytes()):  # so that like ones meet
        both, size = columns | wanted[row], int(wanted[row].sum())
        if held and both.sum() * (len(held) + 1) > 2 * (own + size) + SPARED:
            yield np.sort(held), np.flatnonzero(columns)
            held, both, own = [], wanted[row], 0
        held.append(row)
        columns, own = both, own + size
    if held:
        yield np.sort(held), np.flatnonzero(columns)
