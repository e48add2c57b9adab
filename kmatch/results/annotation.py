"""The columns `gene` and `region`: which features of a file rows overlap."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from kmatch.arrays import Bools, Floats, Longs, distinct, order_of, ranked
from kmatch.errors import listed, warn
from kmatch.results.batches import RECORD, Batch, sizes_of
from kmatch.results.lines import Named, Names, same
from kmatch.sequences.annotation import Feature, Features, read_features
from kmatch.sequences.files import StrPath

REGIONS = Names(("intergenic", "", "intron", "exon"))
INTERGENIC = 0  # their numbers
UNTOLD = 1  # in a gene of a file that tells no exons, or in a record of no file
INTRON = 2
EXON = 3
NOWHERE = -RECORD * RECORD >> 1  # before all places
FAR = RECORD  # more letters than a record has


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
        """Return for each interval the genes of its set, and then the genes of its set in
        others."""
        count = len(others.sets)
        pairs, which = ranked(self.which * count + others.which)
        sets = []
        for pair in pairs.tolist():
            first, second = divmod(pair, count)
            sets.append(self.sets[first] + others.sets[second])
        return GeneSets(sets, which)


class Genes:
    """Genes, sorted by their starts, found by intervals.

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


class Nearest(NamedTuple):
    """The genes that are nearest to n intervals.

    sets: numbers of genes, in the order in which they begin; which: int64[n], the set of each;
    distance: int64[n], letters from one to the other and 1, as `bedtools closest -d` counts: 0
    where they overlap, 1 where they touch; −1 where the record has no gene.
    """

    sets: list[list[int]]
    which: Longs
    distance: Longs

    def or_nearer(self, others: "Nearest") -> "Nearest":
        """Return for each interval the nearer one of its own answer and the answer of others."""
        has_other = others.distance >= 0
        is_nearer = has_other & ((self.distance < 0) | (others.distance < self.distance))
        which = np.where(is_nearer, others.which + len(self.sets), self.which)
        distance = np.where(is_nearer, others.distance, self.distance)
        return Nearest(self.sets + others.sets, which, distance)


class Neighbours:
    """Genes, sorted by their starts, beside which intervals lie.

    genes       |---|       |----|      |-----|
    interval                       |--|
    distance                     ^3^  ^3^            both are nearest
    """

    def __init__(self, genes: Intervals) -> None:
        self._genes = genes
        self._by_end = order_of(genes.end)
        self._ends = genes.end[self._by_end]

    def nearest(self, intervals: Intervals) -> Nearest:
        """Return the nearest genes of intervals that overlap none."""
        record_start = intervals.start // RECORD * RECORD
        genes = self._genes

        # The gene before each interval with the last end, and its distance.
        before = np.searchsorted(self._ends, intervals.start, "right") - 1
        end_before = np.append(self._ends, NOWHERE)[before]
        is_before = (before >= 0) & (end_before > record_start)
        distance_before = np.where(is_before, intervals.start - end_before + 1, FAR)

        # The gene behind each interval with the first start, and its distance.
        behind = np.searchsorted(genes.start, intervals.end)
        start_behind = np.append(genes.start, -NOWHERE)[behind]
        is_behind = start_behind < record_start + RECORD
        distance_behind = np.where(is_behind, start_behind - intervals.end + 1, FAR)

        # Equal pairs of a gene before and a gene behind have equal sets.
        distance = np.minimum(distance_before, distance_behind)
        pair_before = np.where(is_before & (distance_before == distance), before + 1, 0)
        pair_behind = np.where(is_behind & (distance_behind == distance), behind + 1, 0)
        count = len(genes.start) + 2
        pairs, which = ranked(pair_before * count + pair_behind)
        sets = [self._set(*divmod(pair, count)) for pair in pairs.tolist()]
        return Nearest(sets, which, np.where(distance < FAR, distance, -1))

    def _set(self, before: int, behind: int) -> list[int]:
        """Return the genes that end at one gene's end, and the genes that start at another's start;
        each is counted from 1 by end or by start, 0 for none."""
        found: list[int] = []
        if before:
            low, high = np.searchsorted(self._ends, self._ends[before - 1] + np.array([0, 1]))
            found += sorted(self._by_end[low:high].tolist())
        if behind:
            starts = self._genes.start
            low, high = np.searchsorted(starts, starts[behind - 1] + np.array([0, 1]))
            found += range(int(low), int(high))
        return found


class Exons:
    """Exons, sorted by their starts, found by intervals.

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


def _region_of(features: Features) -> int:
    """Return the region of a row in a gene of a file and in no exon."""
    if features.tells_exons:
        return INTRON
    return UNTOLD if features.tells_genes else INTERGENIC


class Annotation:
    """The features of files, by the names of records."""

    def __init__(self, paths: Sequence[StrPath]) -> None:
        """Raises InputError for a file that is no GFF3, GTF, GenBank or BED, or has no features."""
        files = [read_features(path) for path in paths]
        all_genes = [gene for features in files for gene in features.genes]
        all_exons = [exon for features in files for exon in features.exons]
        self._label = ", ".join(features.label for features in files)
        self._tells_exons = any(features.tells_exons for features in files)
        # The records with features, and those of which a file tells exons, if they have any.
        told = [record for features in files if features.tells_exons for record in features.records]
        all_features = [*all_genes, *all_exons]
        records = dict.fromkeys([*(each.record for each in all_features), *told])
        self._numbers = {record: number for number, record in enumerate(records)}
        self._is_told = np.isin(list(records), told)
        self._records: dict[str, None] = {}  # of rows so far
        genes, order = self._sorted(all_genes)
        self._names = [all_genes[number].name for number in order.tolist()]
        regions = [_region_of(features) for features in files for _ in features.genes]
        self._regions = [regions[number] for number in order.tolist()]
        self._genes = Genes(genes)
        self._neighbours = Neighbours(genes)
        exons, _ = self._sorted(all_exons)
        self._exons = Exons(exons)

    def _sorted(self, features: list[Feature]) -> tuple[Intervals, Longs]:
        """Return the intervals of features, by start and end, and the order of the features.

        A feature without letters, such as an insertion in BED, reaches a letter to either side, as
        bedtools has it.
        """
        numbers = [self._numbers[each.record] for each in features]
        record_starts = np.array(numbers, np.int64) * RECORD
        first = np.array([each.start for each in features], np.int64)
        behind = np.array([each.end for each in features], np.int64)
        is_empty = first == behind
        start = record_starts + np.maximum(first - is_empty, 0)
        end = record_starts + behind + is_empty
        order = order_of(start, end)
        return Intervals(start[order], end[order]), order

    def columns(self, batch: Batch) -> tuple[Named, Named]:
        """Return the columns `gene` and `region` of rows.

        gene: the names of the genes that a row overlaps, or of the features of BED, in order of
        their starts; region: `exon`, `intron` or `intergenic`, empty where no file tells exons of
        the record. Beside a file that does, rows of BED are no genes.
        """
        intervals = self._intervals(batch)
        genes = self._overlapped(batch, intervals)
        is_exon = self._exons.overlap(intervals)
        if batch.origin.circles:
            behind = intervals.moved(sizes_of(batch.record, batch.origin.circles))
            is_exon |= self._exons.overlap(behind)
        words = map(self._joined_names, genes.sets)
        names = Named(Names(words), genes.which)
        if not self._tells_exons:
            return names, same("", batch)
        outside = []  # regions of the sets, where there is no exon
        for each in genes.sets:
            outside.append(max((self._regions[gene] for gene in each), default=INTERGENIC))
        regions = np.array(outside, np.int64)[genes.which]

        # The record of no file is −1, behind all others.
        is_told = np.append(self._is_told, False)[intervals.start // RECORD]
        regions = np.where(is_told, regions, UNTOLD)
        return names, Named(REGIONS, np.where(is_exon, EXON, regions))

    def _overlapped(self, batch: Batch, intervals: Intervals) -> GeneSets:
        """Return the genes that rows overlap, which begin again behind the origin of a circle."""
        genes = self._genes.overlapping(intervals)
        if batch.origin.circles:
            behind = intervals.moved(sizes_of(batch.record, batch.origin.circles))
            genes = genes.followed_by(self._genes.overlapping(behind))
        return genes

    def nearest(self, batch: Batch) -> tuple[Named, Floats]:
        """Return the columns `nearest_gene` and `nearest_distance` of rows; see Nearest. Where the
        record has no gene, the distance is NaN.

        A row over the origin of a circle is as near as the nearer of its two parts.
        """
        intervals = self._intervals(batch)
        overlapped = self._overlapped(batch, intervals)
        nearest = self._neighbours.nearest(intervals)
        if batch.origin.circles:
            size = sizes_of(batch.record, batch.origin.circles)
            is_over = batch.end > size
            record_start = intervals.start - batch.start
            start = np.where(is_over, record_start, intervals.start)
            end = np.where(is_over, intervals.end - size, intervals.end)
            nearest = nearest.or_nearer(self._neighbours.nearest(Intervals(start, end)))

        # What is overlapped is nearest, at the distance 0.
        is_filled = np.array([len(genes) > 0 for genes in overlapped.sets], bool)
        is_overlapped = is_filled[overlapped.which]
        sets = overlapped.sets + nearest.sets
        behind = nearest.which + len(overlapped.sets)
        which = np.where(is_overlapped, overlapped.which, behind)
        distance = np.where(is_overlapped, 0, nearest.distance)
        names = Named(Names(map(self._joined_names, sets)), which)
        return names, np.where(distance < 0, np.nan, distance)

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
