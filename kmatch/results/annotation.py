"""Genes and regions that hits overlap, from GFF3, GTF or BED."""

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple
from urllib.parse import unquote

import numpy as np

from kmatch.arrays import Bools, Longs, Triple, distinct, ranked
from kmatch.errors import InputError, listed, warn
from kmatch.results.batches import RECORD, Batch, sizes_of
from kmatch.results.lines import Named, Names, same
from kmatch.sequences.files import StrPath, is_comment, open_source

GENE, BED = "gene", "bed"  # kinds, beside these of parts
EXONS = ("exon", "CDS")
PARTS = (*EXONS, "transcript", "mRNA")  # whose span is a gene's where no gene is listed
NAMES = ("gene_name", "Name", "gene", "gene_id", "locus_tag", "Parent", "ID")  # the best first
GENES = re.compile(r"(.+_)?(pseudo)?gene")
ATTRIBUTE = re.compile(r'\s*([^\s=;]+)(?:=|\s+)("[^"]*"|[^;]*)')
REGIONS = Names(("intergenic", "intron", "exon"))
NOWHERE = -RECORD * RECORD >> 1  # before all places


class Feature(NamedTuple):
    """A feature of a record: 0-based and half-open; tags: the last column, of BED the name."""

    record: str
    start: int
    end: int
    tags: str
    kind: str

    @property
    def name(self) -> str:
        """Of its gene."""
        return self.tags if self.kind == BED else gene_name(self.tags)


class Annotation:
    """The features of a file, by the names of records."""

    def __init__(self, path: StrPath) -> None:
        """Raises InputError for a file that is no GFF3, GTF or BED, or has no features."""
        with open_source(path) as source:
            self._label = source.label
            features = list(_features(source.handle, source.label))
        if not features:
            raise InputError(
                f"{self._label}: no features; give GFF3 or GTF with genes or exons, or BED"
            )
        self._of_bed = features[0].kind == BED
        genes = [each for each in features if each.kind == GENE]
        genes = genes or (features if self._of_bed else _spans(features))
        exons = [each for each in features if each.kind in EXONS]
        records = dict.fromkeys(each.record for each in (*genes, *exons))
        self._numbers = {record: number for number, record in enumerate(records)}
        self._records: dict[str, None] = {}  # of rows so far
        start, end, order = self._places(genes)
        self._names = [genes[number].name for number in order.tolist()]
        # The borders of genes part records into stretches, each of them under the same genes.
        self._borders = distinct(np.concatenate([start, end]))
        self._over: list[list[int]] = [[] for _ in range(len(self._borders) + 1)]
        first, last = (np.searchsorted(self._borders, each) + 1 for each in (start, end))
        for number, (a, b) in enumerate(zip(first.tolist(), last.tolist(), strict=True)):
            for stretch in range(a, b):
                self._over[stretch].append(number)
        self._exon_starts, end, _ = self._places(exons)
        self._exon_reach = np.maximum.accumulate(np.append(NOWHERE, end))

    def _places(self, features: list[Feature]) -> Triple:
        """Starts and ends of features, sorted, record behind record, and their order."""
        rows = [(self._numbers[each.record], each.start, each.end) for each in features]
        record, start, end = np.array(rows, np.int64).reshape(-1, 3).T
        start, end = record * RECORD + start, record * RECORD + end
        order = np.lexsort((end, start))
        return start[order], end[order], order

    def columns(self, batch: Batch) -> tuple[Named, Named]:
        """The columns `gene` and `region` of rows.

        gene: the names of the genes that a row overlaps, or of the features of BED, in order of
        their starts; region: `exon`, `intron` or `intergenic`, of BED empty.
        """
        names, which = batch.record_names()
        self._records |= dict.fromkeys(names)
        record = np.array([self._numbers.get(name, -1) for name in names], np.int64)[which]
        start, end = record * RECORD + batch.start, record * RECORD + batch.end
        genes, gene = self._genes(start, end)
        exon = self._in_exon(start, end)
        if batch.origin.circles:  # behind whose origins features begin again
            size = sizes_of(batch.record, batch.origin.circles)
            exon |= self._in_exon(start - size, end - size)
            behind, number = self._genes(start - size, end - size)
            pairs, gene = ranked(gene * len(behind) + number)
            both = (divmod(pair, len(behind)) for pair in pairs.tolist())
            genes = [[*genes[before], *behind[after]] for before, after in both]
        words = (",".join(dict.fromkeys(self._names[n] for n in numbers)) for numbers in genes)
        named = Named(Names(words), gene)
        if self._of_bed:
            return named, same("", batch)
        in_gene = np.array([len(numbers) > 0 for numbers in genes], bool)[gene]
        return named, Named(REGIONS, np.where(exon, 2, in_gene))

    def _genes(self, start: Longs, end: Longs) -> tuple[list[list[int]], Longs]:
        """Sets of genes, by number, in order of their starts, and which each interval overlaps."""
        first, last = (np.searchsorted(self._borders, at, "right") for at in (start, end - 1))
        size = len(self._over)
        kinds, which = ranked(first * size + last)
        parts = [self._over[kind // size : kind % size + 1] for kind in kinds.tolist()]
        return [sorted({number for stretch in over for number in stretch}) for over in parts], which

    def _in_exon(self, start: Longs, end: Longs) -> Bools:
        """Which intervals overlap an exon."""
        before = np.searchsorted(self._exon_starts, end)  # exons that begin before the end
        return np.asarray(self._exon_reach[before] > start)

    def check(self) -> None:
        """Warn where none of the records with rows so far is in the file."""
        if self._records and self._records.keys().isdisjoint(self._numbers):
            warn(
                f"{self._label}: no feature is in a record of the table; the file has "
                f"{listed(list(self._numbers), 3)}, the table {listed(list(self._records), 3)}: "
                "names of records have to be the same in both"
            )


def _spans(features: list[Feature]) -> list[Feature]:
    """A gene for all parts with one name in one record."""
    spans: dict[tuple[str, str], Feature] = {}
    for each in features:
        place = each.record, each.name
        known = spans.get(place, each)
        start, end = min(known.start, each.start), max(known.end, each.end)
        spans[place] = each._replace(start=start, end=end)
    return list(spans.values())


def _features(lines: Iterable[bytes], label: str) -> Iterator[Feature]:
    """The genes and parts of genes of GFF3 and GTF; all lines of BED."""
    for number, line in enumerate(lines, 1):
        text = line.decode("utf-8", "surrogateescape")
        if text.startswith("##FASTA"):
            return
        if is_comment(text):
            continue
        cells = text.rstrip("\r\n").split("\t")
        if len(cells) > 2 and cells[1].isdigit() and cells[2].isdigit():
            name = cells[3] if len(cells) > 3 else "."
            yield Feature(cells[0], int(cells[1]), int(cells[2]), name, BED)
        elif len(cells) > 7 and cells[3].isdigit() and cells[4].isdigit():
            kind = GENE if GENES.fullmatch(cells[2]) else cells[2]
            if kind == GENE or kind in PARTS:
                tags = "".join(cells[8:9])
                yield Feature(cells[0], int(cells[3]) - 1, int(cells[4]), tags, kind)
        else:
            raise InputError(
                f"{label}: line {number}: neither GFF3 or GTF (nine columns, the fourth and fifth "
                "are positions) nor BED (the second and third are)"
            )


def gene_name(attributes: str) -> str:
    """The gene's name in the last column of GFF3 (`key=value;`) or GTF (`key "value";`)."""
    known = {key: value.strip().strip('"') for key, value in ATTRIBUTE.findall(attributes)}
    name = next((known[key] for key in NAMES if known.get(key)), ".")
    return unquote(name) if "%" in name else name
