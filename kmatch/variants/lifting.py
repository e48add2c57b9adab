"""Hits in windows of haplotypes, taken back to the reference."""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from kmatch.arrays import Longs, Objects, Table, Words, distinct, first_of_each, order_of
from kmatch.results.batches import HitBatch, joined, letters_beside
from kmatch.results.lines import Carriers, Names
from kmatch.variants.alleles import FOREVER, NONE, Block
from kmatch.variants.haplotypes import carriers
from kmatch.variants.hits import PatternEnds
from kmatch.variants.reference import ReferenceDistances
from kmatch.variants.windows import Lifted, Windows


class WindowHits(NamedTuple):
    """Hits in windows, n rows.

    hits: in the coordinates of their windows, whose numbers are their records; lifted: where they
    are in the record; reference_distance: int64[n], the reference's at their pattern ends, FOREVER
    where it has no hit; rows: int64[n, D], the alleles under each in order, NONE between them.
    """

    hits: HitBatch
    lifted: Lifted
    reference_distance: Longs
    rows: Table

    def take(self, numbers: Longs) -> "WindowHits":
        """Return some of the hits."""
        return WindowHits(
            self.hits.picked(numbers),
            self.lifted.take(numbers),
            self.reference_distance[numbers],
            self.rows[numbers],
        )


def closer_hits(windows: Windows, hits: HitBatch, reference: ReferenceDistances) -> WindowHits:
    """Return the hits in windows that are closer than the reference's at their pattern ends."""
    lifted = windows.lift(hits.record, hits.start, hits.end)
    in_record = replace(hits, start=lifted.start, end=lifted.end)
    reference_distance = reference.at(in_record)
    closer = np.flatnonzero(hits.distance < reference_distance)
    hits = hits.picked(closer)
    rows = windows.alleles_under(hits.record, hits.start, hits.end)
    return WindowHits(hits, lifted.take(closer), reference_distance[closer], rows)


def over_anchors_first(windows: Windows, found: WindowHits) -> WindowHits:
    """Return the hits whose first allele in the file is the anchor of their window.

    Each hit over several alleles is in windows around all of these, and so it is taken from one.
    """
    first_row = np.where(found.rows == NONE, FOREVER, found.rows).min(axis=1)
    is_anchor = first_row == windows.anchors[found.hits.record]
    found = found.take(np.flatnonzero(is_anchor))
    is_used = (found.rows != NONE).any(axis=0)
    return found._replace(rows=found.rows[:, is_used])


def each_once(
    windows: Windows, found: WindowHits, ends: PatternEnds, pattern_lengths: Longs
) -> WindowHits:
    """Return the hits that alleles make, in order, each once, whatever is around these.

    pattern_lengths: int64[P].

        window around a haplotype         A C[G]T T A C     the same hit is made by G alone,
        and around another one            A C[G]T T A[T]    whether or not T is behind it
        a hit                             └─────┘
    """
    hits = found.hits
    anchor_start = windows.anchor_starts[hits.record]
    pattern_end = pattern_end_positions(hits, ends, pattern_lengths)
    rows = np.sort(found.rows, axis=1)
    keys = [
        *found.lifted,
        hits.minus,
        hits.pattern,
        *rows.T,
        hits.end - hits.start,
        hits.start - anchor_start,
        pattern_end - anchor_start,
    ]
    order = order_of(*keys)
    return found.take(first_of_each(order, *keys))


def pattern_end_positions(hits: HitBatch, ends: PatternEnds, pattern_lengths: Longs) -> Longs:
    """Return where the pattern end of each hit is, int64[n], without the letters of its PAM.

    Hits of one place may differ in that where PAMs have several lengths; these hits are aligned.
    """
    if hits.columns is None:
        return ends.choose(hits.minus, hits.start, hits.end)
    pam_length = letters_beside(hits.columns, pattern_lengths[hits.pattern])
    return ends.choose(hits.minus, hits.start + pam_length, hits.end - pam_length)


def carried(block: Block, found: WindowHits) -> tuple[WindowHits, Words]:
    """Return the hits that some copy may have, and the copies of each, uint64[n, W].

    Such a copy has the alleles under a hit, and no others there.
    """
    lifted = found.lifted
    copies = carriers(block, found.rows, lifted.exact_start, lifted.exact_end)
    numbers = np.flatnonzero(copies.any(axis=1))
    return found.take(numbers), copies[numbers]


def batch_of(
    block: Block, record_number: int, found: WindowHits, copies: Words, samples: Names
) -> HitBatch:
    """Return hits as rows of a table, in the coordinates of their record.

    record_number: of the block's record in the genome; copies: uint64[n, W], which may have each;
    samples: the names of all, each behind a comma.
    """
    rows = found.rows
    frequencies = np.where(rows == NONE, np.inf, block.frequencies[rows])
    is_unknown = found.reference_distance == FOREVER
    return replace(
        found.hits,
        record=np.full(len(rows), record_number),
        start=found.lifted.start,
        end=found.lifted.end,
        names={record_number: block.record},
        variants=allele_names(block, rows),
        af=frequencies.min(axis=1, initial=np.inf),
        samples=carriers_of(copies, samples),
        reference_distance=np.where(is_unknown, np.nan, found.reference_distance),
    )


def allele_names(block: Block, rows: Table) -> Objects:
    """Return the names of the alleles of each row, int64[n, D], comma separated."""
    names = block.names(distinct(rows[rows != NONE]))
    joined_names: list[str] = []
    for numbers in rows.tolist():
        words = [names[number] for number in numbers if number != NONE]
        joined_names.append(",".join(words))
    return np.array(joined_names, object)


def carriers_of(copies: Words, samples: Names) -> Objects:
    """Return the Carriers of sets of copies, uint64[n, W]; equal sets share theirs."""
    shared: dict[bytes, Carriers] = {}
    each: list[Carriers] = []
    for words in copies:
        key = words.tobytes()
        if key not in shared:
            shared[key] = Carriers(samples, np.frombuffer(key, np.uint8))
        each.append(shared[key])
    return np.array(each, object)


def in_one_order(of_reference: Sequence[HitBatch], of_haplotypes: Sequence[HitBatch]) -> HitBatch:
    """Return the hits of a block's record in one order.

    In one place hits with fewer alleles come first, then the ones with earlier alleles.
    """
    hits = joined([*of_reference, *of_haplotypes])
    allele_counts: list[int] = []
    for batch in of_haplotypes:
        assert batch.variants is not None
        allele_counts += [names.count(",") + 1 for names in batch.variants]
    allele_count = np.zeros(len(hits), np.int64)
    allele_count[len(hits) - len(allele_counts) :] = allele_counts
    size = hits.end - hits.start
    return hits.picked(order_of(hits.start, size, hits.minus, hits.pattern, allele_count))
