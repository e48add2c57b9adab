"""Letters of stretches of genomes, and the alignments of hits that were found without them."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np

from kmatch.arrays import Bytes, Longs, bounds_of, gather
from kmatch.engine.devices import choose_engine
from kmatch.engine.engine import Engine
from kmatch.engine.geometry import Text
from kmatch.engine.queries import DifferenceQuery
from kmatch.engine.types import MATCH, Columns, Constraints, Ends, Texts, View
from kmatch.errors import InputError
from kmatch.genome import Genomes
from kmatch.results.batches import HitBatch, join_rows, take_rows
from kmatch.search.chunks import NO_LETTERS
from kmatch.search.edit import trace_ends
from kmatch.search.panel import each_strand
from kmatch.search.query import Query
from kmatch.search.rules import difference_search, rules_of
from kmatch.sequences.alphabet import encode_text
from kmatch.sequences.circles import Circles
from kmatch.sequences.records import Letters, whole_records

NEAR = 20  # bits of a position, of which stretches that differ in others are read one by one
BESIDE = 100  # letters of a PAM and around a hit, at the most
ROWS = 1 << 15  # aligned at a time
NO_TEXT = Text(np.zeros(0, np.uint64), 1, 1, 1)


class GenomeTexts:
    """The letters of stretches of up to `longest` letters of records: circular ones go on behind
    their end.

    What is asked for in the order of the genomes is read once, a record at a time.
    """

    def __init__(self, genomes: Genomes, longest: int) -> None:
        self._genomes, self._longest = genomes, longest
        self._records = whole_records(())
        self._genome = self._record = -1  # by number, whose letters are at hand
        self._letters: Letters = NO_LETTERS

    def __reduce__(self) -> Any:
        return GenomeTexts, (self._genomes, self._longest)  # which another process reads anew

    def read(self, genome: int, record: Longs, start: Longs, end: Longs) -> Texts:
        """The letters of stretches, int64[n] each, sorted by record and start, side by side.

        Raises InputError where a record does not have them.
        """
        bounds = bounds_of(end - start)
        apart = (np.diff(record) != 0) | (np.diff(start >> NEAR) != 0)
        parts = [np.zeros(0, np.uint8)]
        for first, last in pairwise([0, *(np.flatnonzero(apart) + 1).tolist(), len(record)]):
            own = bounds[first : last + 1]
            begin, stop = int(start[first]), int(end[first:last].max())
            letters = self.letters(genome, int(record[first]), begin, stop)
            if len(letters) < stop - begin:
                raise _changed(self._genomes, genome)
            parts.append(gather(letters, start[first:last] - begin, own - own[0]))
        return Texts(bounds, np.concatenate(parts))

    def letters(self, genome: int, record: int, start: int, end: int) -> Bytes:
        """The letters of one stretch, as they are; those behind the record's end are left out."""
        if genome != self._genome or record < self._record:
            stretches, circular = self._genomes.genome(genome).parts(), self._genomes.circular
            if circular:
                stretches = Circles(circular, self._longest - 1).parts(stretches)
            self._records, self._genome, self._record = whole_records(stretches), genome, -1
        while self._record < record:
            self._record += 1
            _, self._letters = next(self._records, ("", NO_LETTERS))
        return self._letters[start:end]


def _changed(genomes: Genomes, genome: int) -> InputError:
    return InputError(f"{genomes.names[genome]} has changed since it was searched; search it again")


def with_alignments(
    batches: Sequence[HitBatch], query: Query, genomes: Genomes, threads: int | None
) -> Iterator[HitBatch]:
    """The HitBatches of a Query; what has no alignments yet is aligned with the letters between its
    ends. Raises InputError for a genome that is not the same any more."""
    reach = max((int((batch.end - batch.start).max(initial=1)) for batch in batches), default=1)
    k = max((int(batch.distance.max(initial=0)) for batch in batches), default=0)
    texts, rules = GenomeTexts(genomes, reach), rules_of(query)
    panel = each_strand(query.patterns, "both")
    sought = difference_search(panel, rules, np.full(len(panel.lengths), k))
    engine = choose_engine("cpu", threads)
    for batch in batches:
        if batch.columns is None and len(batch):
            order = np.lexsort((batch.start, batch.record))
            parts = []
            for first in range(0, len(order), ROWS):
                hits = batch.picked(order[first : first + ROWS])
                text = texts.read(batch.origin.number, hits.record, hits.start, hits.end)
                columns = _columns(hits, text, sought, rules.reach, engine)
                if columns is None:
                    raise _changed(genomes, batch.origin.number)
                parts.append(columns)
            columns = join_rows(parts)
            if (np.diff(order) < 0).any():
                columns = take_rows(columns, np.argsort(order))
            batch = replace(batch, columns=columns)
        yield batch


def _columns(
    hits: HitBatch,
    text: Texts,
    sought: tuple[DifferenceQuery, Constraints],
    reach: int,
    engine: Engine,
) -> Columns | None:
    """The Columns of hits and their text on the forward strand; None where they do not fit it.

    sought: what was searched for, of all patterns on both strands; reach: letters of the PAM.
    """
    search, _ = sought
    query = hits.pattern + len(search.limits) // 2 * hits.minus.astype(np.int64)
    begin, end = text.bounds[:-1], text.bounds[1:]
    backward = search.reading.backward[query] != 0
    anchor = np.where(backward, begin + reach, end - 1 - reach)
    limit = np.where(backward, end - 1, begin)
    ends = Ends(anchor, query, hits.distance.astype(np.int64), limit)
    view = View(NO_TEXT, encode_text(text.letters), NO_LETTERS, len(text.letters))
    *found, columns, _ = trace_ends(engine.workers, view, sought, ends, True)
    assert columns is not None
    # None has more differences than its distance.
    differences = np.count_nonzero(columns.ops.letters != MATCH)
    if differences != hits.distance.sum() or (np.stack(found) != (begin, end)).any():
        return None
    return columns
