"""Genes and regions that hits overlap, from GFF3, GTF or BED."""

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple
from urllib.parse import unquote

import numpy as np

from kmatch.arrays import Bools, Longs, distinct, ranked
from kmatch.errors import InputError, listed, warn
from kmatch.results.batches import Batch
from kmatch.results.lines import Named, Names, same
from kmatch.sequences.files import StrPath, open_source

GENE, BED = "gene", "bed"  # kinds, beside these of parts
EXONS = ("exon", "CDS")
PARTS = (*EXONS, "transcript", "mRNA")  # whose span is a gene's where no gene is listed
NAMES = ("gene_name", "Name", "gene", "gene_id", "locus_tag", "Parent", "ID")  # the best first
GENES = re.compile(r"(.+_)?(pseudo)?gene")
ATTRIBUTE = re.compile(r'\s*([^\s=;]+)(?:=|\s+)("[^"]*"|[^;]*)')
REGIONS = Names(("intergenic", "intron", "exon"))


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
    """The genes and exons of one record, for look-ups; on a circle of so many letters, once more
    behind its end, as rows run over the origin."""

    def __init__(self, genes: list[Feature], exons: list[Feature], circle: int | None) -> None:
        genes = sorted(genes, key=lambda gene: (gene.start, gene.end))
        self._names = [gene.name for gene in genes] * (1 if circle is None else 2)
        start, end = _intervals(genes, circle)
        # The borders of genes part the record into stretches, each of them under the same genes.
        self._borders = distinct(np.concatenate([start, end]))
        self._over: list[list[int]] = [[] for _ in range(len(self._borders) + 1)]
        first, last = (np.searchsorted(self._borders, each) + 1 for each in (start, end))
        for number, (a, b) in enumerate(zip(first.tolist(), last.tolist(), strict=True)):
            for stretch in range(a, b):
                self._over[stretch].append(number)
        start, end = _intervals(sorted(exons, key=lambda exon: exon.start), circle)
        self._exon_starts, self._exon_reach = start, np.maximum.accumulate(np.append(-1, end))

    def genes(self, start: Longs, end: Longs) -> tuple[list[str], Longs]:
        """Names of genes, in order of their starts, and which of these each interval overlaps."""
        first, last = (np.searchsorted(self._borders, at, "right") for at in (start, end - 1))
        size = len(self._over)
        kinds, which = ranked(first * size + last)
        words = []
        for kind in kinds.tolist():
            over = self._over[kind // size : kind % size + 1]
            numbers = sorted({number for stretch in over for number in stretch})
            words.append(",".join(dict.fromkeys(self._names[number] for number in numbers)))
        return words, which

    def in_exon(self, start: Longs, end: Longs) -> Bools:
        """Which intervals overlap an exon."""
        before = np.searchsorted(self._exon_starts, end)  # exons that begin before the end
        return np.asarray(self._exon_reach[before] > start)


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
        self._features: dict[str, tuple[list[Feature], list[Feature]]] = {}
        for gene in genes or (features if self._of_bed else _spans(features)):
            self._features.setdefault(gene.record, ([], []))[0].append(gene)
        for each in features:
            if each.kind in EXONS:
                self._features.setdefault(each.record, ([], []))[1].append(each)
        self._records: dict[tuple[str, int | None], _Record] = {}
        self._missed: dict[str, None] = {}  # records of rows that are not in the file

    def columns(self, batch: Batch) -> tuple[Named, Named]:
        """The columns `gene` and `region` of rows.

        gene: the names of the genes that a row overlaps, or of the features of BED, in order of
        their starts; region: `exon`, `intron` or `intergenic`, of BED empty.
        """
        names, which = batch.record_names()
        words, (gene, exon) = [""], np.zeros((2, len(batch)), np.int64)
        rows = np.split(np.argsort(which, kind="stable"), np.cumsum(np.bincount(which))[:-1])
        for name, own in zip(names, rows, strict=True):
            if name not in self._features:
                self._missed[name] = None
                continue
            place = name, (batch.origin.circles or {}).get(int(batch.record[own[0]]))
            if place not in self._records:
                self._records[place] = _Record(*self._features[name], place[1])
            record, start, end = self._records[place], batch.start[own], batch.end[own]
            found, numbers = record.genes(start, end)
            gene[own] = numbers + len(words)
            words += found
            exon[own] = record.in_exon(start, end)
        if self._of_bed:
            return Named(Names(words), gene), same("", batch)
        in_gene = np.array([word != "" for word in words])[gene]
        return Named(Names(words), gene), Named(REGIONS, np.where(exon, 2, in_gene))

    def check(self) -> None:
        """Warn where none of the records with rows so far is in the file."""
        if self._missed and not self._records:
            warn(
                f"{self._label}: no feature is in a record of the table; the file has "
                f"{listed(list(self._features), 3)}, the table {listed(list(self._missed), 3)}: "
                "names of records have to be the same in both"
            )


def _intervals(features: list[Feature], circle: int | None) -> Longs:
    """Starts and ends, int64[2, n]; those on a circle once more behind its end, int64[2, 2n]."""
    found = np.array([(each.start, each.end) for each in features], np.int64).reshape(-1, 2).T
    return found if circle is None else np.concatenate([found, found + circle], axis=1)


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
