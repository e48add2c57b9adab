"""Genes and regions that hits overlap, from GFF3, GTF or BED."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple
from urllib.parse import unquote

import numpy as np

from kmatch.arrays import Bools, Longs, Objects
from kmatch.errors import InputError, listed, warn
from kmatch.results.batches import Batch
from kmatch.sequences.files import StrPath, open_source

GENE, BED = "gene", "bed"  # kinds, beside these of parts
EXONS = ("exon", "CDS")
PARTS = (*EXONS, "transcript", "mRNA")  # whose span is a gene's where no gene is listed
NAMES = ("gene_name", "Name", "gene", "gene_id", "locus_tag", "Parent", "ID")  # the best first
GENES = re.compile(r"(.+_)?(pseudo)?gene")
ATTRIBUTE = re.compile(r'\s*([^\s=;]+)(?:=|\s+)("[^"]*"|[^;]*)')
REGIONS = np.array(["intergenic", "intron", "exon"], object)


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


class _Record:
    """The features of one record, for look-ups."""

    def __init__(self, genes: list[Feature], exons: list[Feature]) -> None:
        genes.sort(key=lambda gene: (gene.start, gene.end))
        self._names = [gene.name for gene in genes]
        start, end = _intervals(genes)
        # The borders of genes part the record into stretches, each of them under the same genes.
        self._borders = np.unique(np.concatenate([start, end]))
        self._over: list[list[int]] = [[] for _ in range(len(self._borders) + 1)]
        first, last = (np.searchsorted(self._borders, each) + 1 for each in (start, end))
        for number, (a, b) in enumerate(zip(first.tolist(), last.tolist(), strict=True)):
            for stretch in range(a, b):
                self._over[stretch].append(number)
        start, end = _intervals(sorted(exons, key=lambda exon: exon.start))
        self._exon_starts, self._exon_reach = start, np.maximum.accumulate(end)

    def genes(self, start: Longs, end: Longs) -> tuple[list[tuple[int, ...]], Longs]:
        """Sets of genes, by number in order of their starts, and which each interval overlaps."""
        first, last = (np.searchsorted(self._borders, at, "right") for at in (start, end - 1))
        size = len(self._over)
        kinds, which = np.unique(first * size + last, return_inverse=True)
        found = []
        for kind in kinds.tolist():
            over = self._over[kind // size : kind % size + 1]
            found.append(tuple(sorted({number for stretch in over for number in stretch})))
        return found, which

    def names(self, genes: Sequence[int]) -> str:
        return ",".join(dict.fromkeys(self._names[number] for number in genes))

    def in_exon(self, start: Longs, end: Longs) -> Bools:
        """Which intervals overlap an exon."""
        before = np.searchsorted(self._exon_starts, end)  # exons that begin before the end
        reach = np.concatenate([[-1], self._exon_reach])[before]
        return np.asarray(reach > start)


class Annotation:
    """The features of a file, by the names of records."""

    def __init__(self, path: StrPath) -> None:
        """Read GFF3, GTF or BED, compressed or not, or standard input for `-`.

        Raises InputError for a file without genes or exons and for lines that are neither.
        """
        with open_source(path) as source:
            self._label = source.label
            features = list(_features(source.handle, source.label))
        genes = [each for each in features if each.kind == GENE]
        exons = [each for each in features if each.kind in EXONS]
        if not features:
            raise InputError(
                f"{self._label}: no features; give GFF3 or GTF with genes or exons, or BED"
            )
        self.of_bed = features[0].kind == BED
        by_record: dict[str, tuple[list[Feature], list[Feature]]] = defaultdict(lambda: ([], []))
        for gene in genes or (features if self.of_bed else _spans(features)):
            by_record[gene.record][0].append(gene)
        for exon in exons:
            by_record[exon.record][1].append(exon)
        self._records = {name: _Record(*both) for name, both in by_record.items()}
        self._met = False  # whether any record with rows was among them
        self._missed: dict[str, None] = {}  # those that were not

    def columns(self, batch: Batch) -> tuple[Objects, Objects]:
        """The columns `gene` and `region` of n rows, str (object).

        gene: the names of the genes that a row overlaps, or of the features of BED, in order of
        their starts; region: `exon`, `intron` or `intergenic`, of BED empty.
        """
        names, which = batch.record_names()
        gene, region = np.full(len(batch), "", object), np.zeros(len(batch), np.int64)
        for number, name in enumerate(names):
            if (record := self._records.get(name)) is None:
                self._missed[name] = None
                continue
            self._met = True
            rows = np.flatnonzero(which == number)
            start, end = batch.start[rows], batch.end[rows]
            exon, (genes, which_genes) = record.in_exon(start, end), record.genes(start, end)
            found = np.array([*map(record.names, genes), ""], object)[which_genes]
            circle = (batch.origin.circles or {}).get(int(batch.record[rows[0]]))
            if circle is not None:  # rows over the origin overlap what is at the beginning too
                over = np.flatnonzero(end > circle)
                begin = np.zeros(len(over), np.int64)
                more, which_more = record.genes(begin, end[over] - circle)
                for row, others in zip(over.tolist(), which_more.tolist(), strict=True):
                    found[row] = record.names(genes[which_genes[row]] + more[others])
                exon[over] |= record.in_exon(begin, end[over] - circle)
            gene[rows] = found
            region[rows] = np.where(exon, 2, found != "")
        if self.of_bed:
            return gene, np.full(len(batch), "", object)
        return gene, REGIONS[region]

    def check(self) -> None:
        """Warn where none of the records with rows so far is in the file."""
        if self._missed and not self._met:
            warn(
                f"{self._label}: no feature is in a record of the table; the file has "
                f"{listed(list(self._records), 3)}, the table {listed(list(self._missed), 3)}: "
                "names of records have to be the same in both"
            )


def _intervals(features: list[Feature]) -> Longs:
    """Starts and ends, int64[2, n]."""
    return np.array([(each.start, each.end) for each in features], np.int64).reshape(-1, 2).T


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
        if text.startswith(("#", "track", "browser")) or not text.strip():
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
