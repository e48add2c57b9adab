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
from kmatch.sequences.records import Stretch, stretches_apart

WINDOW = 1 << 25  # letters of records that are searched together
UNITS = 1 << 12  # and genomes or records that are asked apart, at the most
SPARED = 1 << 7  # patterns in units that are searched for in vain, to search fewer times


class WholeSearch(EditSearch):
    """The search of whole genomes, as all records decide which sites are closest."""

    narrows = False


class BestSearch(Search[HitBatch]):
    """The search of a Query `best`, in each genome or in each record apart.

    Warns of each pattern that matches nowhere.
    """

    def __init__(
        self, query: Query, genomes: Genomes, run: Run = RUN, regions: Regions | None = None
    ) -> None:
        super().__init__(genomes, run, regions)
        self._query = query
        self.narrows = not query.whole
        work = work_of(genomes.expected_letters, query.patterns.lengths, query.strand)
        self.engine = choose_algorithm("best", query.patterns, run, work)

    def _find(self, genome: Genome) -> Iterable[HitBatch]:
        if self._query.whole:
            return self._in_whole(genome)
        return self._in_records(genome)

    def _in_whole(self, genome: Genome) -> Iterator[HitBatch]:
        """Yield the hits that are closest in a genome."""
        query = self._query
        searches: list[WholeSearch] = []

        def find(part: Window, asked: Query) -> Iterable[HitBatch]:
            search = WholeSearch(asked, self.genomes, self.run, self.regions, self.engine)
            search.progress.tell = self.progress.hear
            searches.append(search)
            return search.hits_in(part.genome, asked.reported, self.run.aligned)

        whole = Window(genome, None, [genome.label])
        pattern_count = len(query.patterns)
        is_wanted = np.ones((1, pattern_count), np.bool_)
        batch = closest(whole, query, is_wanted, find)

        self.progress.join(searches[-1].progress)  # as each of them has met all records
        name = genome.label if self.genomes.named else None
        yield from closest_of([batch], query.patterns, name)

    def _in_records(self, genome: Genome) -> Iterator[HitBatch]:
        """Yield the hits that are closest in each record."""
        patterns = self._query.patterns
        missing = np.zeros(len(patterns), np.int64)  # records where each pattern has no hit
        run = self.run._replace(aligned=False)

        def find(part: Window, asked: Query) -> Iterable[HitBatch]:
            genomes = part.genomes(self.genomes.circular)
            return EditSearch(asked, genomes, run, engine=self.engine).everywhere()

        first = 0  # the number of the window's first record
        searched_count = 0
        for window in windows(records_apart(self.parts(genome))):
            record_count = len(window.names)
            is_missing = np.ones((record_count, len(patterns)), np.bool_)
            batch = closest(window, self._query, is_missing, find)
            is_missing[batch.record, batch.pattern] = False

            # Records that no region names are not searched.
            if self.narrow is not None:
                is_missing = is_missing[self.narrow.are_named(window.names)]
            missing += is_missing.sum(axis=0)
            searched_count += len(is_missing)
            if self.run.aligned:
                batch = self._aligned(batch, window)
            yield moved(batch, first + np.arange(record_count))
            first += record_count
        _warn_of_missing(patterns, missing, searched_count)

    def _aligned(self, batch: HitBatch, window: "Window") -> HitBatch:
        """Return the hits in a Window with their alignments."""
        genomes = window.genomes(self.genomes.circular)
        (batch,) = with_alignments([batch], self._query, genomes, self.run.threads)
        return batch


def closest_of(
    batches: list[HitBatch], patterns: PatternSet, genome: str | None
) -> Iterator[HitBatch]:
    """Yield the hits in a genome at the smallest distance of their pattern.

    genome: its name, None for the only one. Warns of patterns that are nowhere nearer than all
    their letters.
    """
    least = patterns.lengths.copy()
    for batch in batches:
        np.minimum.at(least, batch.pattern, batch.distance)

    where = "" if genome is None else f" in {genome}"
    for number in np.flatnonzero(least >= patterns.lengths).tolist():
        name = patterns.names[number]
        warn(f"pattern '{name}' matches nowhere{where}")

    for batch in batches:
        is_closest = batch.distance == least[batch.pattern]
        yield batch.picked(np.flatnonzero(is_closest))


def _warn_of_missing(patterns: PatternSet, missing: Longs, record_count: int) -> None:
    """Warn of patterns that match nowhere in some of so many records.

    missing: int64[P], in how many.
    """
    for number in np.flatnonzero(missing).tolist():
        name = patterns.names[number]
        count = int(missing[number])
        warn(f"pattern '{name}' matches nowhere in {count:,} of {record_count:,} records")


def records_apart(stretches: Iterable[Stretch]) -> Iterator[tuple[str, list[Stretch]]]:
    """Yield whole records as units, each with its name."""
    for stretch in stretches_apart(stretches):
        yield stretch.names[0], [stretch]


class Window(NamedTuple):
    """Some units, genomes or records that are asked each for its own, as one Genome.

    unit: int64[r], the unit that each record is in, None where all are in one; the Genome has a
    Stretch a record where there are several; names: of the units.
    """

    genome: Genome
    unit: Longs | None
    names: list[str]

    def genomes(self, circular: Circular | None) -> Genomes:
        """Return the Genome, some of whose records may be circular, as a sequence of genomes."""
        genomes = as_genomes(self.genome)
        genomes.circular = circular
        return genomes

    def units(self, record: Longs) -> Longs:
        """Return the units of records, by number, int64[n]."""
        if self.unit is None:
            return np.zeros_like(record)
        return self.unit[record]

    def part(self, units: Longs) -> "tuple[Window, Longs | None]":
        """Return the Window of some units, and the numbers that its records have here.

        units: int64[u]. The numbers are int64[r], None for the same ones.
        """
        if self.unit is None or len(units) == len(self.names):
            return self, None
        is_wanted = np.isin(self.unit, units)
        parts = self.genome.parts()
        records = list(compress(parts, is_wanted.tolist()))
        genome = Genome.of_stretches(self.genome.label, records)
        part = Window(genome, self.unit[is_wanted], self.names)
        return part, np.flatnonzero(is_wanted)


def windows(units: Iterable[tuple[str, list[Stretch] | Genome]]) -> Iterator[Window]:
    """Yield Windows of up to WINDOW letters and UNITS units, or of one that has more.

    units: names, and Stretches of a record each or the Genome of one that is not to be in memory.
    """
    held = _Held()
    for name, part in units:
        if isinstance(part, Genome):
            if held.names:
                yield held.window()
                held = _Held()
            yield Window(part, None, [name])
            continue

        letters = sum(len(record.letters) for record in part)
        letters_together = held.letters + letters
        has_room = letters_together <= WINDOW and len(held.names) < UNITS
        if held.names and not has_room:
            yield held.window()
            held = _Held()
        held.add(name, part, letters)
    if held.names:
        yield held.window()


class _Held:
    """Units that come together in a Window, and their letters."""

    def __init__(self) -> None:
        self.names: list[str] = []
        self.letters = 0
        self._records: list[Stretch] = []
        self._unit: list[int] = []  # of each of these

    def add(self, name: str, records: list[Stretch], letters: int) -> None:
        """Add a unit of so many letters."""
        self._records += records
        unit = len(self.names)
        self._unit += [unit] * len(records)
        self.names.append(name)
        self.letters += letters

    def window(self) -> Window:
        """Return the Window of these units."""
        genome = Genome.of_stretches("records", self._records)
        unit = np.array(self._unit, np.int64)
        return Window(genome, unit, self.names)


# Finds the hits of a Query in a Window.
Find = Callable[[Window, Query], Iterable[HitBatch]]


def closest(window: Window, query: Query, wanted: Bools, find: Find) -> HitBatch:
    """Return the hits of a Query `best` in units, each asked apart, sorted.

    wanted: bool[U, P], the units in which each pattern is looked for; find: within the k of a
    Query, int64[P].
    """
    least = np.where(wanted, query.patterns.lengths, -1)
    so_far = _approach(window, query, least, find)
    hits = joined([no_hits(), *so_far])

    # What is no farther than any other hit of its pattern in its unit.
    units = window.units(hits.record)
    is_closest = hits.distance == least[units, hits.pattern]
    return hits.picked(np.flatnonzero(is_closest)).in_order()


def _approach(window: Window, query: Query, least: Longs, find: Find) -> Iterator[HitBatch]:
    """Lower `least` to the smallest distance of each pattern in each unit; yield hits on the way.

    least: int64[U, P], a pattern's letters in units in which it is looked for, otherwise less. Hits
    are yielded at the smallest distance so far.
    """
    lengths = query.patterns.lengths
    for limits in _limits(lengths, are_many=window.unit is None):
        is_missing = least == lengths
        if not is_missing.any():
            return
        for units, patterns in rectangles(is_missing):
            part, records = window.part(units)
            for batch in find(part, query.take(patterns, limits)):
                pattern = patterns[batch.pattern]
                hits = replace(batch, pattern=pattern.astype(np.int32))
                if records is not None:
                    hits = moved(hits, records)
                yield _closest_so_far(hits, window, is_missing, least)


def _closest_so_far(hits: HitBatch, window: Window, is_missing: Bools, least: Longs) -> HitBatch:
    """Lower `least` to the distances of hits, and return the hits at the smallest so far.

    is_missing: bool[U, P], units and patterns that had no hit within a smaller limit; others are
    left out; least: see `_approach`.
    """
    units = window.units(hits.record)
    is_kept = is_missing[units, hits.pattern]
    if not is_kept.all():
        rows = np.flatnonzero(is_kept)
        hits = hits.picked(rows)
        units = units[rows]

    np.minimum.at(least, (units, hits.pattern), hits.distance)
    is_least = hits.distance == least[units, hits.pattern]
    return hits.picked(np.flatnonzero(is_least))


def _limits(lengths: Longs, are_many: bool) -> Iterator[Longs]:
    """Yield larger and larger limits of patterns, int64[P], up to all their letters but one.

    lengths: int64[P], of the patterns; are_many: whether the letters searched may be millions. In
    these patterns come closer by chance, and limits begin with one that costs little.

        letters of a pattern        20                      100
        in thousands                5 6 7 8 … 19            29 34 39 … 99
        in millions                 0 4 5 7 11 19           3 28 33 43 63 99
    """
    # About as close as a pattern comes by chance in some ten thousand letters.
    tenths = 3 * lengths - 6
    limits = np.maximum(tenths, 0) // 10
    steps = np.clip(lengths // 20, 1, 5)
    growth = 1
    if are_many:
        yield lengths // 32
        limits = np.maximum(limits - 1, 0)
        growth = 2

    most = lengths - 1
    while (limits < most).any():
        yield limits
        limits = np.minimum(limits + steps, most)
        steps = growth * steps
    yield most


def moved(batch: HitBatch, record: Longs) -> HitBatch:
    """Return the batch with other numbers for its records; record: int64[r], the new ones."""
    names = {int(record[number]): name for number, name in batch.names.items()}
    origin = batch.origin
    if origin.circles is not None:
        circles = {int(record[number]): size for number, size in origin.circles.items()}
        origin = origin._replace(circles=circles)
    return replace(batch, record=record[batch.record], names=names, origin=origin)


def rectangles(wanted: Bools) -> Iterator[tuple[Longs, Longs]]:
    """Yield (rows, columns), int64 each, that hold every flag that is set once together.

    wanted: bool[rows, columns]. None holds more other flags than SPARED and its own. Of many rows
    columns are put together.

            0 1 2 3
        0   . . . 1
        1   1 1 1 .      ->  ([0 2 3], [3]) and ([1], [0 1 2]), if SPARED is 0
        2   . . . 1
        3   . . . 1
    """
    if len(wanted) > wanted.shape[1]:
        for columns, rows in rectangles(wanted.T):
            yield rows, columns
        return

    filled_rows = np.flatnonzero(wanted.any(axis=1)).tolist()
    filled_rows.sort(key=lambda row: wanted[row].tobytes())  # so that like ones meet
    held: list[int] = []  # rows that come together,
    is_column = np.zeros(wanted.shape[1], np.bool_)  # where any of them has a flag,
    flag_count = 0  # and how many flags they have
    for row in filled_rows:
        is_in_row = wanted[row]
        is_either = is_column | is_in_row
        row_count = int(is_in_row.sum())
        column_count = int(is_either.sum())
        area = column_count * (len(held) + 1)
        most = 2 * (flag_count + row_count) + SPARED
        if held and area > most:
            yield np.sort(held), np.flatnonzero(is_column)
            held = []
            is_either = is_in_row
            flag_count = 0

        held.append(row)
        is_column = is_either
        flag_count += row_count
    if held:
        yield np.sort(held), np.flatnonzero(is_column)
