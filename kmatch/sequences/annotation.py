"""Features of records, read from GFF3, GTF or BED: genes and their exons."""

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple
from urllib.parse import unquote

from kmatch.errors import InputError
from kmatch.sequences.files import StrPath, is_comment, open_source

GENE = "gene"  # kinds of features, beside those of PARTS
BED = "bed"
EXONS = ("exon", "CDS")
PARTS = (*EXONS, "transcript", "mRNA")  # whose span is a gene's where no gene is listed
NAMES = ("gene_name", "Name", "gene", "gene_id", "locus_tag", "Parent", "ID")  # the best first
NO_NAME = "."
_GENES = re.compile(r"(.+_)?(pseudo)?gene")
_ATTRIBUTE = re.compile(r'\s*([^\s=;]+)(?:=|\s+)("[^"]*"|[^;]*)')


class Feature(NamedTuple):
    """A feature of a record.

    start, end: 0-based and half-open; tags: the last column, of BED the name; kind: GENE, BED or
    one of PARTS.
    """

    record: str
    start: int
    end: int
    tags: str
    kind: str

    @property
    def name(self) -> str:
        """The name of its gene."""
        return self.tags if self.kind == BED else gene_name(self.tags)


class Features(NamedTuple):
    """The features of a file.

    label: how messages name it; genes: all lines of BED; exons: none of BED; is_bed: whether it
    tells nothing of exons.
    """

    label: str
    genes: list[Feature]
    exons: list[Feature]
    is_bed: bool


def read_features(path: StrPath) -> Features:
    """Return the Features of a file.

    Where it lists parts of genes alone, a gene is the span of those with its name. Raises
    InputError for a file that is no GFF3, GTF or BED, or has no features.
    """
    with open_source(path) as source:
        label = source.label
        features = list(_features(source.handle, label))
    if not features:
        raise InputError(f"{label}: no features; give GFF3 or GTF with genes or exons, or BED")
    is_bed = features[0].kind == BED
    genes = [each for each in features if each.kind == GENE]
    if not genes:
        genes = features if is_bed else _spans(features)
    exons = [each for each in features if each.kind in EXONS]
    return Features(label, genes, exons, is_bed)


def _features(lines: Iterable[bytes], label: str) -> Iterator[Feature]:
    """Yield the genes and parts of genes of GFF3 and GTF, and all lines of BED."""
    for number, line in enumerate(lines, 1):
        text = line.decode("utf-8", "surrogateescape")
        if text.startswith("##FASTA"):
            return
        if is_comment(text):
            continue
        cells = text.rstrip("\r\n").split("\t")
        if len(cells) > 2 and cells[1].isdigit() and cells[2].isdigit():
            name = cells[3] if len(cells) > 3 else NO_NAME
            yield Feature(cells[0], int(cells[1]), int(cells[2]), name, BED)
        elif len(cells) > 7 and cells[3].isdigit() and cells[4].isdigit():
            kind = GENE if _GENES.fullmatch(cells[2]) else cells[2]
            if kind == GENE or kind in PARTS:
                tags = cells[8] if len(cells) > 8 else ""
                yield Feature(cells[0], int(cells[3]) - 1, int(cells[4]), tags, kind)
        else:
            raise InputError(
                f"{label}: line {number}: neither GFF3 or GTF (nine columns, the fourth and fifth "
                "are positions) nor BED (the second and third are)"
            )


def _spans(features: list[Feature]) -> list[Feature]:
    """Return a gene for all parts with one name in one record.

    parts of A   |---|     |---|
    of B             |-------------|
    genes A, B   |-------------|
                     |-------------|
    """
    spans: dict[tuple[str, str], Feature] = {}
    for part in features:
        gene = (part.record, part.name)
        span = spans.get(gene, part)
        start = min(span.start, part.start)
        end = max(span.end, part.end)
        spans[gene] = part._replace(start=start, end=end)
    return list(spans.values())


def gene_name(attributes: str) -> str:
    """Return the gene's name in the last column of GFF3 (`key=value;`) or GTF (`key "value";`)."""
    values = {key: value.strip().strip('"') for key, value in _ATTRIBUTE.findall(attributes)}
    name = next((values[key] for key in NAMES if values.get(key)), NO_NAME)
    return unquote(name) if "%" in name else name
