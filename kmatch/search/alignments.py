"""Letters of stretches of genomes, and the alignments of hits that were found without them."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np

from kmatch.arrays import Bytes, Longs, bounds_of, gather, order_of, run_starts
from kmatch.engine.devices import choose_engine
from kmatch.engine.engine import Engine
from kmatch.engine.geometry import Text
from kmatch.engine.types import MATCH, Columns, Ends, Texts, View
from kmatch.errors import InputError
from kmatch.genome import Genomes
from kmatch.results.batches import HitBatch, join_rows, take_rows
from kmatch.search.chunks import NO_LETTERS
from kmatch.search.panel import each_strand
from kmatch.search.query import Query
from kmatch.search.rules import Sought, rules_of, sought_of
from kmatch.search.tracing import trace_ends
from kmatch.sequences.alphabet import encode_sets, encode_text
from kmatch.sequences.circles import Circles
from kmatch.sequences.records import Letters, whole_records

NEAR = 20  # bits of a position, of which stretches that differ in others are read one by one
BESIDE = 100  # letters of a PAM and around a hit, at the most
ROWS = 1 << 15  # aligned at a time
NO_TEXT = Text(np.zeros(0, np.uint64), 1, 1, 1)


class GenomeTexts:
    """The letters of stretches of records; circular records go on behind their end.

    longest: letters of a stretch, at the most. Stretches that are asked for in the order of the
    genomes are read once, a record at a time.
    """

    def __init__(self, genomes: Genomes, longest: int) -> None:
        self._genomes = genomes
        self._longest = longest
        self._records = whole_records(())
        self._letters: Letters = NO_LETTERS  # of the record at hand
        self._genome = -1  # the number of its genome
        self._record = -1  # its number there

    def __reduce__(self) -> Any:
        return GenomeTexts, (self._genomes, self._longest)  # which another process reads anew

    def read(self, genome: int, record: Longs, start: Longs, end: Longs) -> Texts:
        """Return the letters of stretches, side by side.

        record, start, end: int64[n], of a genome by number, sorted by record and start.

        Raises InputError where a record does not have them.
        """
        bounds = bounds_of(end - start)
        parts = [np.zeros(0, np.uint8)]
        firsts = run_starts(record, start >> NEAR)
        for first, last in pairwise([*firsts.tolist(), len(record)]):
            # Stretches that are near to one another, out of the letters from the first one on.
            near_start = int(start[first])
            near_end = int(end[first:last].max())
            letters = self.letters(genome, int(record[first]), near_start, near_end)
            if len(letters) < near_end - near_start:
                raise _changed(self._genomes, genome)
            rel_start = start[first:last] - near_start
            rel_bounds = bounds[first : last + 1] - bounds[first]
            parts.append(gather(letters, rel_start, rel_bounds))
        return Texts(bounds, np.concatenate(parts))

    def letters(self, genome: int, record: int, start: int, end: int) -> Bytes:
        """Return the letters of one stretch as they are, up to the record's end."""
        if genome != self._genome or record < self._record:
            self._begin(genome)
        while self._record < record:
            self._record += 1
            _, self._letters = next(self._records, ("", NO_LETTERS))
        return self._letters[start:end]

    def _begin(self, genome: int) -> None:
        """Go to the first record of a genome, by number."""
        stretches = self._genomes.genome(genome).parts()
        circular = self._genomes.circular
        if circular:
            circles = Circles(circular, self._longest - 1)
            stretches = circles.parts(stretches)
        self._records = whole_records(stretches)
        self._genome = genome
        self._record = -1


def _changed(genomes: Genomes, genome: int) -> InputError:
    return InputError(f"{genomes.names[genome]} has changed since it was searched; search it again")


def with_alignments(
    batches: Sequence[HitBatch], query: Query, genomes: Genomes, threads: int | None
) -> Iterator[HitBatch]:
    """Yield the HitBatches of a Query with their alignments.

    A hit without an alignment is aligned with the letters between its ends. Raises InputError for a
    genome that is not the same any more.
    """
    longest = 1
    k = 0
    for batch in batches:
        lengths = batch.end - batch.start
        longest = max(longest, int(lengths.max(initial=0)))
        k = max(k, int(batch.distance.max(initial=0)))

    texts = GenomeTexts(genomes, longest)
    panel = each_strand(query.patterns, "both")
    limits = np.full(len(panel.lengths), k)
    sought = sought_of(panel, rules_of(query), limits)
    sought = sought._replace(most_unknown=query.max_unknown)
    engine = choose_engine("cpu", threads)
    for batch in batches:
        if batch.columns is None and len(batch):
            columns = _aligned(batch, texts, sought, engine)
            if columns is None:
                raise _changed(genomes, batch.origin.number)
            batch = replace(batch, columns=columns)
        yield batch


def _aligned(batch: HitBatch, texts: GenomeTexts, sought: Sought, engine: Engine) -> Columns | None:
    """Return the Columns of a batch; None where its hits do not fit the genome."""
    order = order_of(batch.record, batch.start)
    parts: list[Columns] = []
    for first in range(0, len(order), ROWS):
        hits = batch.picked(order[first : first + ROWS])
        text = texts.read(batch.origin.number, hits.record, hits.start, hits.end)
        columns = _columns(hits, text, sought, engine)
        if columns is None:
            return None
        parts.append(columns)

    # In the order of the batch.
    together: Columns = join_rows(parts)
    is_turned = order[1:] < order[:-1]
    if is_turned.any():
        together = take_rows(together, np.argsort(order))
    return together


def _columns(hits: HitBatch, text: Texts, sought: Sought, engine: Engine) -> Columns | None:
    """Return the Columns of hits; None where they do not fit their text.

    text: of each hit, on the forward strand; sought: of all patterns on both strands.

        text of hit 0  |N G G = = =|= = = N G G|  text of hit 1, and where each is anchored
                              ^         ^
    """
    ends = _anchored_ends(hits, text, sought)
    encoded = encode_text if sought.most_unknown is None else encode_sets
    masks = encoded(text.letters)
    view = View(NO_TEXT, masks, NO_LETTERS, len(masks))
    found = trace_ends(engine.workers, view, sought, ends, aligned=True)
    columns = found.columns
    assert columns is not None

    # None has more differences than its distance.
    differences = np.count_nonzero(columns.ops.letters != MATCH)
    begins_there = (found.start == text.bounds[:-1]).all()
    ends_there = (found.end == text.bounds[1:]).all()
    fits = begins_there and ends_there and differences == hits.distance.sum()
    return columns if fits else None


def _anchored_ends(hits: HitBatch, text: Texts, sought: Sought) -> Ends:
    """Return where hits are anchored in their texts side by side; see `_columns`."""
    first = text.bounds[:-1]
    last = text.bounds[1:] - 1
    minus = hits.minus.astype(np.int64)
    query = hits.pattern + len(sought.panel.patterns) * minus
    is_backward = sought.query.reading.backward[query] != 0
    pam_length = sought.rules.reach
    return Ends(
        position=np.where(is_backward, first + pam_length, last - pam_length),
        query=query,
        distance=hits.distance.astype(np.int64),
        limit=np.where(is_backward, last, first),
    )
