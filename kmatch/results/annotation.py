"""The columns `gene` and `region`: which features of a file rows overlap."""

from typing import NamedTuple

import numpy as np

from kmatch.arrays import Bools, Longs, distinct, order_of, ranked
from kmatch.errors import listed, warn
from kmatch.results.batches import RECORD, Batch, sizes_of
from kmatch.results.lines import Named, Names, same
from kmatch.sequences.annotation import Feature, read_features
from kmatch.sequences.files import StrPath

REGIONS = Names(("intergenic", "intron", "exon"))
EXON = 2  # its number among these; where there is no exon, 1 in a gene and 0 elsewhere
NOWHERE = -RECORD * RECORD >> 1  # before all places


class Intervals(NamedTuple):
    """n intervals of a genome; start, end: int64[n], the record's number times RECORD, and the
    position in it."""

    start: Longs
    end: Longs

    def moved(self, by: Longs) -> "Intervals":
        """Return the intervals so many letters, int64[n], farther left."""
        return Intervals(self.start - by, self.end - by)


class GeneSets(NamedTuple):
    """The genes of n intervals.

    sets: numbers of genes, in the order in which they begin; which: int64[n], the set of each.
    """

    sets: list[list[int]]
    which: Longs

    def followed_by(self, others: "GeneSets") -> "GeneSets":
        """Return for each interval the genes of its set and then those of its set in others."""
        count = len(others.sets)
        pairs, which = ranked(self.which * count + others.which)
        sets = []
        for pair in pairs.tolist():
            first, second = divmod(pair, count)
            sets.append(self.sets[first] + others.sets[second])
        return GeneSets(sets, which)


class Genes:
    """Genes, sorted by their starts, of which intervals are asked.

    The borders of genes part the genome into stretches, each of them under the same genes.

    genes       A |------------|
                B        |----------|
    borders       0      1     2    3
    stretches   0 |  1   |  2  | 3  | 4
    under       - |  A   | A B | B  | -
    """

    def __init__(self, genes: Intervals) -> None:
        self._borders = distinct(np.concatenate(genes))
        stretch_count = len(self._borders) + 1
        self._under: list[list[int]] = [[] for _ in range(stretch_count)]
        first_stretches = (np.searchsorted(self._borders, genes.start) + 1).tolist()
        end_stretches = (np.searchsorted(self._borders, genes.end) + 1).tolist()
        pairs = zip(first_stretches, end_stretches, strict=True)
        for gene, (first, end) in enumerate(pairs):
            for stretch in range(first, end):
                self._under[stretch].append(gene)

    def overlapping(self, intervals: Intervals) -> GeneSets:
        """Return the genes that each of n intervals overlaps."""
        first_stretches = np.searchsorted(self._borders, intervals.start, "right")
        last_stretches = np.searchsorted(self._borders, intervals.end - 1, "right")
        # Intervals from one stretch to another overlap the same genes.
        count = len(self._under)
        pairs, which = ranked(first_stretches * count + last_stretches)
        sets = []
        for pair in pairs.tolist():
            first, last = divmod(pair, count)
            stretches = self._under[first : last + 1]
            sets.append(sorted({gene for genes in stretches for gene in genes}))
        return GeneSets(sets, which)


class Exons:
    """Exons, sorted by their starts, of which intervals are asked.

    exons   2 |------| 9        15 |---| 19
                4 |--| 7
    reach     9   9                19             the farthest end so far
    """

    def __init__(self, exons: Intervals) -> None:
        self._starts = exons.start
        self._reach = np.maximum.accumulate(np.append(NOWHERE, exons.end))

    def overlap(self, intervals: Intervals) -> Bools:
        """Return which of n intervals overlap an exon, bool[n]."""
        exons_before_end = np.searchsorted(self._starts, intervals.end)
        return np.asarray(self._reach[exons_before_end] > intervals.start)


class Annotation:
    """The features of a file, by the names of records."""

    def __init__(self, path: StrPath) -> None:
        """Raises InputError for a file that is no GFF3, GTF or BED, or has no features."""
        features = read_features(path)
        self._label = features.label
        self._is_bed = features.is_bed
        all_features = [*features.genes, *features.exons]
        records = dict.fromkeys(each.record for each in all_features)
        self._numbers = {record: number for number, record in enumerate(records)}
        self._records: dict[str, None] = {}  # of rows so far
        genes, order = self._sorted(features.genes)
        self._names = [features.genes[number].name for number in order.tolist()]
        self._genes = Genes(genes)
        exons, _ = self._sorted(features.exons)
        self._exons = Exons(exons)

    def _sorted(self, features: list[Feature]) -> tuple[Intervals, Longs]:
        """Return the intervals of features, by start and end, and the order of the features."""
        numbers = [self._numbers[each.record] for each in features]
        record_starts = np.array(numbers, np.int64) * RECORD
        start = record_starts + np.array([each.start for each in features], np.int64)
        end = record_starts + np.array([each.end for each in features], np.int64)
        order = order_of(start, end)
        return Intervals(start[order], end[order]), order

    def columns(self, batch: Batch) -> tuple[Named, Named]:
        """Return the columns `gene` and `region` of rows.

        gene: the names of the genes that a row overlaps, or of the features of BED, in order of
        their starts; region: `exon`, `intron` or `intergenic`, of BED empty.
        """
        intervals = self._intervals(batch)
        genes = self._genes.overlapping(intervals)
        is_exon = self._exons.overlap(intervals)
        if batch.origin.circles:  # behind whose origins features begin again
            behind = intervals.moved(sizes_of(batch.record, batch.origin.circles))
            genes = genes.followed_by(self._genes.overlapping(behind))
            is_exon |= self._exons.overlap(behind)
        words = map(self._joined_names, genes.sets)
        names = Named(Names(words), genes.which)
        if self._is_bed:
            return names, same("", batch)
        counts = np.array([len(each) for each in genes.sets], np.int64)
        is_gene = counts[genes.which] > 0
        regions = np.where(is_exon, EXON, is_gene)
        return names, Named(REGIONS, regions)

    def _joined_names(self, genes: list[int]) -> str:
        names = dict.fromkeys(self._names[gene] for gene in genes)
        return ",".join(names)

    def _intervals(self, batch: Batch) -> Intervals:
        """Return the intervals of rows; in a record without features they overlap none."""
        names, which = batch.record_names()
        self._records |= dict.fromkeys(names)
        numbers = [self._numbers.get(name, -1) for name in names]
        record_starts = np.array(numbers, np.int64)[which] * RECORD
        return Intervals(record_starts + batch.start, record_starts + batch.end)

    def check(self) -> None:
        """Warn where none of the records with rows so far is in the file."""
        if self._records and self._records.keys().isdisjoint(self._numbers):
            warn(
                f"{self._label}: no feature is in a record of the table; the file has "
                f"{listed(list(self._numbers), 3)}, the table {listed(list(self._records), 3)}: "
                "names of records have to be the same in both"
            )
