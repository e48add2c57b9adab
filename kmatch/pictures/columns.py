"""What pictures are made of: columns of hits, products and primers, found or read from a table."""

import os
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from kmatch.arrays import Bools, Floats, Ints, Longs

if TYPE_CHECKING:
    from kmatch.results.hits import Hits
    from kmatch.results.primers import Primers
    from kmatch.results.products import Products


class Records(NamedTuple):
    """Records by number, and the letters of each, int64; where unknown, to its last hit."""

    names: list[str]
    lengths: Longs


class Nouns(NamedTuple):
    """What rows are called, and what they are rows of."""

    row: str
    pattern: str


HITS, PRODUCTS = Nouns("hit", "pattern"), Nouns("product", "pair")


class HitColumns(NamedTuple):
    """Hits, n rows, or products by pair; record and pattern number `records` and `patterns`.

    distance: of a product, that of both primers together.
    """

    records: Records
    patterns: list[str]
    record: Ints
    start: Longs
    end: Longs
    pattern: Ints
    distance: Ints
    minus: Bools
    nouns: Nouns = HITS

    @property
    def size(self) -> int:
        return len(self.start)


class PrimerColumns(NamedTuple):
    """Primers, n rows; gc (shares) and tm (°C) hold NaN where they are unknown."""

    records: Records
    record: Ints
    start: Longs
    end: Longs
    minus: Bools
    gc: Floats
    tm: Floats

    @property
    def size(self) -> int:
        return len(self.start)


def columns_of_hits(hits: "Hits") -> HitColumns:
    """The columns of Hits: the records that have any, as long as their only genome tells."""
    searched = hits.searched
    records, record, numbers = _records(hits, searched is not None and searched.named)
    if searched is not None and not searched.named and searched.can_reread:
        lengths = np.maximum(records.lengths, searched.genome(0).lengths[numbers])
        records = records._replace(lengths=lengths)
    return HitColumns(
        records,
        [pattern.name for pattern in hits.patterns],
        record,
        hits.start,
        hits.end,
        hits.pattern_number,
        hits.distance,
        hits.strand == "-",
    )


def columns_of_products(products: "Products") -> HitColumns:
    """The columns of Products: the records and the pairs that have any."""
    records, record, _ = _records(products, products.named)
    pairs, pair = np.unique(products.name.astype(str), return_inverse=True)
    return HitColumns(
        records,
        pairs.tolist(),
        record,
        products.start,
        products.end,
        pair.astype(np.int32),
        products.distance_forward + products.distance_reverse,
        products.strand == "-",
        PRODUCTS,
    )


def _records(found: Any, several: bool) -> tuple[Records, Ints, Longs]:
    """The records of hits or products, the one of each row, and their numbers in the genome.

    several: whether they come from several genomes, in each of which records count anew.
    """
    record = found.record_number
    if several:
        record = record + found.genome_number * (int(record.max(initial=0)) + 1)
    numbers, first, record = np.unique(record, return_index=True, return_inverse=True)
    names = [str(name) for name in found.record[first]]
    if several:
        genomes = within_folder([str(name) for name in found.genome[first]])
        names = [f"{genome} {name}" for genome, name in zip(genomes, names, strict=True)]
    records = Records(names, last_ends(record, found.end, len(names)))
    return records, record.astype(np.int32), numbers


def columns_of_primers(primers: "Primers") -> PrimerColumns:
    """The columns of Primers: the target's records that have any, in full."""
    sizes = {batch.record: len(batch.codes) for batch in primers.batches}
    numbers, first, record = np.unique(
        primers.record_number, return_index=True, return_inverse=True
    )
    lengths = np.array([sizes[number] for number in numbers.tolist()], np.int64)
    return PrimerColumns(
        Records([str(name) for name in primers.record[first]], lengths),
        record.astype(np.int32),
        primers.start,
        primers.end,
        primers.strand == "-",
        primers.gc,
        primers.tm,
    )


def last_ends(record: Longs | Ints, end: Longs, records: int) -> Longs:
    """Where the last row of each record ends, int64[records]."""
    ends = np.zeros(records, np.int64)
    np.maximum.at(ends, record, end)
    return ends


def measured(records: Records, sizes: tuple[list[str], Longs]) -> Records:
    """The records with their lengths out of a genome's names and lengths, where it names them."""
    known: dict[str, int] = {}
    for name, length in zip(sizes[0], sizes[1].tolist(), strict=True):
        known.setdefault(name, length)
    found = zip(records.names, records.lengths.tolist(), strict=True)
    return records._replace(
        lengths=np.array([max(known.get(name, 0), end) for name, end in found], np.int64)
    )


def within_folder(paths: list[str]) -> list[str]:
    """Names of genomes without the folder that all are in."""
    prefix = os.path.commonprefix(paths)  # noqa: RUF071, cut at a slash
    return [path[prefix.rfind("/") + 1 :] for path in paths]
