"""What pictures are made of: hits and primers as columns, whether found or read from a table."""

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from kmatch.arrays import Bools, Floats, Ints, Longs

if TYPE_CHECKING:
    from kmatch.results.hits import Hits
    from kmatch.results.primers import Primers


class Records(NamedTuple):
    """Records by number, and the letters of each, int64; where unknown, to its last hit."""

    names: list[str]
    lengths: Longs


class HitColumns(NamedTuple):
    """Hits, n rows; record and pattern number `records` and `patterns`."""

    records: Records
    patterns: list[str]
    record: Ints
    start: Longs
    end: Longs
    pattern: Ints
    distance: Ints
    minus: Bools

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
    """The columns of Hits: the records that have any, as long as the genomes tell."""
    numbers, searched = hits.record_number, hits.searched
    several = searched is not None and searched.named
    whole = hits.genome_number if several else np.zeros(len(numbers), np.int64)
    each, first, record = np.unique(
        np.stack([whole, numbers]), axis=1, return_index=True, return_inverse=True
    )
    record = record.reshape(-1)
    names = [str(name) for name in hits.record[first]]
    lengths = last_ends(record, hits.end, len(names))
    if searched is not None and searched.can_reread:
        for number in np.unique(each[0]).tolist():
            rows = each[0] == number
            known = searched.genome(number).lengths[each[1, rows]]
            lengths[rows] = np.maximum(lengths[rows], known)
    if several:
        names = [f"{hits.genome[row]} {name}" for row, name in zip(first, names, strict=True)]
    return HitColumns(
        Records(names, lengths),
        [pattern.name for pattern in hits.patterns],
        record.astype(np.int32),
        hits.start,
        hits.end,
        hits.pattern_number,
        hits.distance,
        hits.strand == "-",
    )


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
