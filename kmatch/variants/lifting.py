"""Hits in windows of haplotypes, taken back to the reference."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from kmatch.arrays import (
    Bytes,
    Longs,
    Objects,
    Table,
    Words,
    distinct,
    first_of_each,
    order_of,
    run_starts,
)
from kmatch.results.batches import HitBatch, joined
from kmatch.results.lines import Carriers, Names
from kmatch.sequences.alphabet import encode_text
from kmatch.variants.alleles import FOREVER, NONE, Block
from kmatch.variants.genotypes import COPIES
from kmatch.variants.haplotypes import carriers
from kmatch.variants.reference import ReferenceDistances
from kmatch.variants.windows import Lifted, Windows


class Samples(NamedTuple):
    """The samples of a file, among those of all files.

    names: of all, each behind a comma; numbers: int64[s], of the file's samples among them.
    """

    names: Names
    numbers: Longs

    def copies_among_all(self, words: Words) -> Bytes:
        """Return a set of copies of the file's samples as one of all samples.

        words: uint64[W]; it is uint8, a bit a copy.
        """
        copy_count = COPIES * len(self.numbers)
        flags = np.unpackbits(words.view(np.uint8), count=copy_count, bitorder="little")
        shape = (len(self.names.words), COPIES)
        among_all = np.zeros(shape, np.uint8)
        among_all[self.numbers] = flags.reshape(-1, COPIES)
        return np.packbits(among_all, bitorder="little")


class WindowHits(NamedTuple):
    """Hits in windows, n rows.

    hits: in the coordinates of their windows, whose numbers are their records; pattern_end:
    int64[n], the position there of the letter at their pattern ends; anchors: int64[n], of this
    letter in the record; lifted: where they are in the record; reference_distance: int64[n], the
    reference's at their pattern ends, FOREVER where it has no hit; rows: int64[n, D], the alleles
    under each in order, NONE between them.
    """

    hits: HitBatch
    pattern_end: Longs
    anchors: Longs
    lifted: Lifted
    reference_distance: Longs
    rows: Table

    def take(self, numbers: Longs) -> "WindowHits":
        """Return some of the hits."""
        return WindowHits(
            hits=self.hits.picked(numbers),
            pattern_end=self.pattern_end[numbers],
            anchors=self.anchors[numbers],
            lifted=self.lifted.take(numbers),
            reference_distance=self.reference_distance[numbers],
            rows=self.rows[numbers],
        )


def window_hits(
    windows: Windows, hits: HitBatch, reference: ReferenceDistances, every: bool
) -> WindowHits:
    """Return the hits in windows that are closer than the reference's at their pattern ends.

    every: whether the others are returned, too.
    """
    # Where their patterns end, in windows and in the record.
    ends = reference.ends
    span = ends.spans(hits)
    pattern_end = ends.choose(hits.minus, *span)
    lifted_pattern = windows.lift(hits.record, *span)
    position = ends.choose(hits.minus, lifted_pattern.start, lifted_pattern.end)

    reference_distance = reference.nearest(hits, position)
    rows = np.flatnonzero(every | (hits.distance < reference_distance))
    hits = hits.picked(rows)
    return WindowHits(
        hits=hits,
        pattern_end=pattern_end[rows],
        anchors=position[rows],
        lifted=windows.lift(hits.record, hits.start, hits.end),
        reference_distance=reference_distance[rows],
        rows=windows.alleles_under(hits.record, hits.start, hits.end),
    )


def over_anchors_first(windows: Windows, found: WindowHits) -> WindowHits:
    """Return the hits whose first allele in the file is the anchor of their window.

    Each hit over several alleles is in windows around all of these, and so it is taken from one.
    """
    first_row = np.where(found.rows == NONE, FOREVER, found.rows).min(axis=1)
    is_anchor = first_row == windows.anchors[found.hits.record]
    found = found.take(np.flatnonzero(is_anchor))
    is_used = (found.rows != NONE).any(axis=0)
    return found._replace(rows=found.rows[:, is_used])


def each_once(windows: Windows, found: WindowHits) -> WindowHits:
    """Return the hits that alleles make, in order, each once, whatever is around these.

    window around a haplotype         A C[G]T T A C     the same hit is made by G alone,
    and around another one            A C[G]T T A[T]    whether or not T is behind it
    a hit                             └─────┘
    """
    hits = found.hits
    anchor_start = windows.anchor_starts[hits.record]
    rows = np.sort(found.rows, axis=1)
    keys = [
        *found.lifted,
        hits.minus,
        hits.pattern,
        *rows.T,
        hits.end - hits.start,
        hits.start - anchor_start,
        found.pattern_end - anchor_start,
    ]
    order = order_of(*keys)
    return found.take(first_of_each(order, *keys))


def carried(block: Block, found: WindowHits) -> tuple[WindowHits, Words]:
    """Return the hits that some copy may have, and the copies of each, uint64[n, W].

    Such a copy has the alleles under a hit, and no others there.
    """
    lifted = found.lifted
    copies = carriers(block, found.rows, lifted.exact_start, lifted.exact_end)
    numbers = np.flatnonzero(copies.any(axis=1))
    return found.take(numbers), copies[numbers]


def batch_of(
    block: Block, record_number: int, found: WindowHits, copies: Words, samples: Samples
) -> HitBatch:
    """Return hits as rows of a table, in the coordinates of their record.

    record_number: of the block's record in the genome; copies: uint64[n, W], which may have each.
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
        anchors=found.anchors,
    )


def allele_names(block: Block, rows: Table) -> Objects:
    """Return the names of the alleles of each row, int64[n, D], comma separated."""
    names = block.names(distinct(rows[rows != NONE]))
    joined_names: list[str] = []
    for numbers in rows.tolist():
        words = [names[number] for number in numbers if number != NONE]
        joined_names.append(",".join(words))
    return np.array(joined_names, object)


def carriers_of(copies: Words, samples: Samples) -> Objects:
    """Return the Carriers of sets of copies, uint64[n, W]; equal sets share theirs."""
    shared: dict[bytes, Carriers] = {}
    each: list[Carriers] = []
    for words in copies:
        key = words.tobytes()
        if key not in shared:
            shared[key] = Carriers(samples.names, samples.copies_among_all(words))
        each.append(shared[key])
    return np.array(each, object)


class MadeHits(NamedTuple):
    """Hits that alleles make, n rows.

    hits: in the coordinates of their record; rows: the alleles under each, in ascending order;
    letters: of each, as sets of bases; inset: int64[n], their letters up to the pattern end.
    """

    hits: HitBatch
    rows: list[tuple[int, ...]]
    letters: list[bytes]
    inset: Longs


def made_hits(windows: Windows, found: WindowHits, hits: HitBatch) -> MadeHits:
    """Return the MadeHits of hits in windows; hits: the same in the coordinates of their record."""
    rows = [tuple(row for row in sorted(rows) if row != NONE) for rows in found.rows.tolist()]
    window_start = windows.bounds[found.hits.record]
    start = (window_start + found.hits.start).tolist()
    end = (window_start + found.hits.end).tolist()
    letters = [
        encode_text(windows.letters[first:stop]).tobytes()
        for first, stop in zip(start, end, strict=True)
    ]
    return MadeHits(hits, rows, letters, found.pattern_end - found.hits.start)


def said_once(found: Sequence[MadeHits]) -> HitBatch:
    """Return the hits that alleles make, those as one that have all in common but their alleles.

    In one place hits with fewer alleles come first, then the ones with earlier alleles.

        position      0 1 2 3 4 5 6
        record        T C A A A G T
        alleles         CA A                of two lines, an A more each
        a hit         T C A A A A G T       by the first or by the second: one row, `first|second`
    """
    hits = joined([made.hits for made in found])
    assert hits.reference_distance is not None

    # Rows are sorted by what they say, and those that say the same by their alleles.
    ways = [(len(rows), rows) for made in found for rows in made.rows]
    way_number = numbers_of(ways)
    letters = [each for made in found for each in made.letters]
    keys = [
        hits.start,
        hits.end - hits.start,
        hits.minus,
        hits.pattern,
        np.concatenate([made.inset for made in found]),
        hits.distance,
        hits.distance >= hits.reference_distance,
        numbers_of(letters),
    ]
    order = order_of(*keys, way_number)
    starts = run_starts(*(key[order] for key in keys))
    once = united(hits.picked(order), np.append(starts, len(order)))

    # In order, in one place those with few alleles first.
    way_number = way_number[order[starts]]
    size = once.end - once.start
    return once.picked(order_of(once.start, size, once.minus, once.pattern, way_number))


def numbers_of(keys: Sequence[Any]) -> Longs:
    """Return for each key how many distinct ones come before it, int64[n]."""
    numbers = {key: number for number, key in enumerate(sorted(set(keys)))}
    return np.array([numbers[key] for key in keys], np.int64)


def united(hits: HitBatch, bounds: Longs) -> HitBatch:
    """Return a row for each run of hits that differ in their alleles alone.

    bounds: int64[runs+1], of the runs. A row has the names of all alleles, the samples of all, the
    greatest frequency and the reference's smallest distance.
    """
    first = bounds[:-1]
    once = hits.picked(first)
    assert once.variants is not None and once.samples is not None
    assert hits.af is not None and hits.reference_distance is not None
    for number in np.flatnonzero(np.diff(bounds) > 1).tolist():
        run = hits.picked(slice(bounds[number], bounds[number + 1]))
        assert run.variants is not None and run.samples is not None
        once.variants[number] = "|".join(dict.fromkeys(run.variants))
        once.samples[number] = carriers_of_any(run.samples.tolist())
    return replace(
        once,
        af=np.fmax.reduceat(hits.af, first),
        reference_distance=np.fmin.reduceat(hits.reference_distance, first),
    )


def carriers_of_any(samples: Sequence[Carriers]) -> Carriers:
    """Return the Carriers of one allele or another."""
    copies = np.bitwise_or.reduce([each.copies for each in samples])
    return Carriers(samples[0].names, copies)


def in_one_order(of_reference: Sequence[HitBatch], of_haplotypes: HitBatch) -> HitBatch:
    """Return the hits of a block's record in one order, in one place the reference's first."""
    return joined([*of_reference, of_haplotypes]).in_order()
