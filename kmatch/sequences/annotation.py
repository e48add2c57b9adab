"""Features of records, read from GFF3, GTF, GenBank or BED: genes and their exons.

The type of a line, a name of the Sequence Ontology, tells what it is:

    gene         |-----------------------------------|     gene, pseudogene, ncRNA_gene …
    transcript   |-----------------------------------|     mRNA, tRNA, transcript …
    parts        |---|    |---------|         |------|     exon, CDS, five_prime_UTR …

Parts are exons. So is a gene or a transcript without parts, from end to end: genes of bacteria have
no introns. A transcript or part without a gene line is its own gene.

On a circle, positions behind the origin count on, as GFF3 has them, up to the last step: a feature
over the origin then becomes two.

    circle of 5386     3980 |-------------- 5522         gene A of phiX174
    features        0 |--| 136          3980 |--| 5386
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from typing import Any, NamedTuple
from urllib.parse import quote, unquote

from kmatch.errors import InputError
from kmatch.sequences import genbank
from kmatch.sequences.files import StrPath, is_comment, open_source

NO_NAME = "."
CIRCLE = "Is_circular"  # the tag of a record that is a circle
GENE = re.compile(r"(.+_)?(pseudo)?gene")
PART = re.compile(
    r"(.+_)?exon|cds|st(art|op)_codon|utr|[53]'?utr|(five|three)_prime_utr|selenocysteine",
    re.IGNORECASE,
)
TRANSCRIPT = re.compile(r"(.+_)?transcript|\w*RNA|\w+_gene_segment")
# The tags that may hold a name, the best first.
GENE_NAMES = ("Name", "gene_name", "gene", "locus_tag", "gene_id", "ID")
FEATURE_KEYS = ("Parent", "ID", "transcript_id", "locus_tag", "gene_id")  # of lines of one feature
OTHER_NAMES = ("gene", "gene_name", "Name", "gene_id", "locus_tag", "Parent", "ID")
UNFIT = re.compile(r"[\x00-\x1f\x7f,]")  # what would part cells or names


class Feature(NamedTuple):
    """A feature of a record; start, end: 0-based and half-open; name: of its gene, "" for none."""

    record: str
    start: int
    end: int
    name: str


class Features(NamedTuple):
    """The features of a file.

    label: how messages name it; genes: all lines of BED; exons: none of BED; tells_exons: whether
    the file tells exons, as BED and lists of genes alone do not; tells_genes: whether it tells
    genes, as BED does not, whose rows may be anything; records: that it has lines of, none of BED.
    """

    label: str
    genes: list[Feature]
    exons: list[Feature]
    tells_exons: bool
    tells_genes: bool = True
    records: frozenset[str] = frozenset()


class Line(NamedTuple):
    """A line of GFF3 or GTF.

    start, end: 0-based and half-open; tags: its last column. Of GenBank also feature: shared by the
    parts of a location; locus: what joins it with its gene line.
    """

    record: str
    start: int
    end: int
    kind: str
    tags: str
    feature: str = ""
    locus: str = ""

    @property
    def is_gene(self) -> bool:
        """Whether its type is a gene."""
        return GENE.fullmatch(self.kind) is not None

    @property
    def is_part(self) -> bool:
        """Whether its type is a part of a transcript."""
        return PART.fullmatch(self.kind) is not None

    @property
    def is_transcript(self) -> bool:
        """Whether its type is a transcript."""
        return TRANSCRIPT.fullmatch(self.kind) is not None


def read_features(path: StrPath) -> Features:
    """Return the Features of a file.

    Raises InputError for a file that is no GFF3, GTF, GenBank or BED, or has no features.
    """
    with open_source(path) as source:
        label = source.label
        if source.head.startswith(genbank.LOCUS):
            records = genbank.read_genbank(source, _lines_of)
            return _of_lines(label, list(chain.from_iterable(records)))
        beds: list[Feature] = []
        lines: list[Line] = []
        for row in _rows(source.handle, label):
            if isinstance(row, Line):
                lines.append(row)
            else:
                beds.append(row)
    if beds:
        return Features(label, beds, [], tells_exons=False, tells_genes=False)
    return _of_lines(label, lines)


def _rows(lines: Iterable[bytes], label: str) -> Iterator[Line | Feature]:
    """Yield the Lines of GFF3 and GTF, and of BED each line as a Feature."""
    for number, line in enumerate(lines, 1):
        text = line.decode("utf-8", "surrogateescape")
        if text.startswith((">", "##FASTA")):  # sequences follow
            return
        if is_comment(text):
            continue
        cells = text.rstrip("\r\n").split("\t")
        row: Line | Feature
        if len(cells) > 2 and cells[1].isdigit() and cells[2].isdigit():
            name = clean(cells[3]) if len(cells) > 3 else NO_NAME
            row = Feature(cells[0], int(cells[1]), int(cells[2]), name)
        elif len(cells) > 7 and cells[3].isdigit() and cells[4].isdigit():
            tags = cells[8] if len(cells) > 8 else ""
            row = Line(cells[0], int(cells[3]) - 1, int(cells[4]), cells[2], tags)
        else:
            raise InputError(
                f"{label}: line {number}: neither GFF3 or GTF (nine columns, the fourth and fifth "
                "are positions) nor BED (the second and third are)"
            )
        if row.start > row.end:
            raise InputError(
                f"{label}: line {number}: the feature ends before it begins; write the smaller "
                "position first, on the strand - too (over the origin of a circle GFF3 counts on)"
            )
        yield row


def clean(name: str) -> str:
    """Return a name without characters that would part cells or names of a table."""
    return UNFIT.sub("_", name)


def tag(tags: str, key: str) -> str:
    """Return the value of a key in the last column of GFF3 (`key=value;`) or GTF (`key "value";`).

    `%XX` stands for a character in GFF3 alone. Of a key that is not there the value is "".
    """
    begin = tags.find(key)
    while begin >= 0:
        end = begin + len(key)
        mark = tags[end : end + 1]
        if mark in ("=", " ") and (begin == 0 or tags[begin - 1] in "; "):
            value = tags[end + 1 :].lstrip()
            if value.startswith('"'):
                value = value[1:].partition('"')[0]
            else:
                value = value.partition(";")[0].strip()
            return unquote(value) if mark == "=" and "%" in value else value
        begin = tags.find(key, end)
    return ""


def name_of(tags: str, keys: Iterable[str]) -> str:
    """Return the first of some keys' values that there is, as a name."""
    for key in keys:
        value = tag(tags, key)
        if value:
            return clean(value.removeprefix("gene:") if key == "ID" else value)
    return NO_NAME


def identities(line: Line) -> list[str]:
    """Return the words by which lines below a line name it: ID of GFF3, gene_id and transcript_id
    of GTF, locus_tag of bacteria. They begin with the record, as other records may have the same.
    """
    words = {"ID": tag(line.tags, "ID")}
    if line.is_gene:
        words["gene"] = tag(line.tags, "gene_id")
        words["locus"] = line.locus or tag(line.tags, "locus_tag")
    else:
        words["transcript"] = tag(line.tags, "transcript_id")
    return [f"{line.record} {kind} {word}" for kind, word in words.items() if word]


def parents_of(line: Line) -> tuple[str, ...]:
    """Return the words by which a line names the lines right above it; see `identities`."""
    above = tag(line.tags, "Parent")
    if above:
        return tuple(f"{line.record} ID {word}" for word in above.split(","))
    if line.is_gene:
        return ()
    locus = line.locus or tag(line.tags, "locus_tag")
    words = {"gene": tag(line.tags, "gene_id"), "locus": locus}
    if line.is_part:
        words["transcript"] = tag(line.tags, "transcript_id")
    return tuple(f"{line.record} {kind} {word}" for kind, word in words.items() if word)


class Tree:
    """Which lines stand above others.

    Lines of one transcript name the same parents, so that the lines above these are found once.
    """

    def __init__(self, lines: Iterable[Line]) -> None:
        self._parents: dict[str, tuple[str, ...]] = {}
        for line in lines:
            if not line.is_part:
                for identity in identities(line):
                    self._parents[identity] = parents_of(line)
        self._above: dict[tuple[str, ...], frozenset[str]] = {(): frozenset()}

    def above(self, parents: tuple[str, ...]) -> frozenset[str]:
        """Return the identities of some lines and of all that stand above them."""
        found = self._above.get(parents)
        if found is None:
            met: dict[str, None] = {}
            waiting = list(parents)
            while waiting:
                identity = waiting.pop()
                if identity not in met and identity in self._parents:
                    met[identity] = None
                    waiting.extend(self._parents[identity])
            found = self._above[parents] = frozenset(met)
        return found


def _of_lines(label: str, lines: list[Line]) -> Features:
    """Return the Features that lines of GFF3 and GTF make."""
    tree = Tree(lines)
    relevant = [line for line in lines if line.is_gene or line.is_transcript or line.is_part]
    if not relevant:
        raise InputError(f"{label}: no features; give GFF3 or GTF with genes or exons, or BED")
    known = {each for line in relevant if not line.is_part for each in identities(line)}

    # What has something below it, and what has parts.
    has_lines: set[str] = set()
    has_parts: set[str] = set()
    for line in relevant:
        above = tree.above(parents_of(line))
        has_lines |= above
        if line.is_part:
            has_parts.update(above, parents_of(line))

    genes: list[Feature] = []
    others: list[Line] = []  # which are genes of their own
    exons: list[Line] = []
    for line in relevant:
        is_top = known.isdisjoint(tree.above(parents_of(line)))
        if is_top and line.is_gene:
            genes.append(Feature(*line[:3], name_of(line.tags, GENE_NAMES)))
        elif is_top:
            others.append(line)
        full = has_lines if is_top and line.is_gene else has_parts
        words = identities(line) or parents_of(line)
        if line.is_part or full.isdisjoint(words):
            exons.append(line)

    # A list of genes alone tells nothing of introns.
    tells_exons = len(genes) < len(relevant)
    parts = [Feature(*line[:3], "") for line in exons] if tells_exons else []
    circles = {line.record: line.end for line in lines if tag(line.tags, CIRCLE) == "true"}
    all_genes = _laid_on(circles, genes + _spans(others))
    records = frozenset(line.record for line in lines)
    return Features(label, all_genes, _laid_on(circles, parts), tells_exons, records=records)


def _laid_on(circles: Mapping[str, int], features: Iterable[Feature]) -> list[Feature]:
    """Return features between the ends of their records; one over the origin of a circle is two.

    circles: letters of the records that are circles.
    """
    laid = []
    for feature in features:
        size = circles.get(feature.record, feature.end)
        if feature.end <= size:
            laid.append(feature)
            continue
        length = min(feature.end - feature.start, size)
        start = feature.start % size
        laid.append(feature._replace(start=start, end=min(start + length, size)))
        if start + length > size:
            laid.append(feature._replace(start=0, end=start + length - size))
    return laid


def _spans(lines: list[Line]) -> list[Feature]:
    """Return a gene for each feature among lines without a gene line.

    A feature is the lines of one `_feature_of`. Features of one name that overlap are one gene, as
    transcripts of a gene are. Others of the name, such as copies, are genes of their own.

        transcript A.1   |---|     |---|
        transcript A.2        |-------|
        a copy of A                             |---|   |---|
        genes A, A       |-------------|        |-----------|
    """
    features: dict[tuple[str, str], Feature] = {}
    for number, line in enumerate(lines):
        key = line.record, _feature_of(line) or f"line {number}"
        name = name_of(line.tags, OTHER_NAMES)
        features[key] = _joined(features.get(key), Feature(*line[:3], name))

    genes: list[Feature] = []
    for feature in sorted(features.values(), key=lambda each: (each.record, each.name, each.start)):
        last = genes[-1] if genes else None
        is_same = last is not None and (last.record, last.name) == (feature.record, feature.name)
        if last is not None and is_same and feature.start < last.end:
            genes[-1] = _joined(last, feature)
        else:
            genes.append(feature)
    return sorted(genes, key=lambda gene: (gene.record, gene.start))


def _feature_of(line: Line) -> str:
    """Return the words that the lines of one feature share, "" for a line of its own.

    Without any, exons are of one feature if they have the same name.
    """
    if line.feature:
        return line.feature
    for key in FEATURE_KEYS:
        if value := tag(line.tags, key):
            return f"{key} {value}"
    is_exon = line.is_part and line.kind != "CDS"
    name = name_of(line.tags, OTHER_NAMES)
    return f"name {name}" if is_exon and name != NO_NAME else ""


def _joined(first: Feature | None, second: Feature) -> Feature:
    """Return a feature from the first letter of two to their last, with the name of the first."""
    if first is None:
        return second
    start = min(first.start, second.start)
    return first._replace(start=start, end=max(first.end, second.end))


def _lines_of(record: Any) -> list[Line]:
    """Return the features of a record of GenBank as lines of GFF3, parts of locations as lines of
    their own, and a line for a circle."""
    name = genbank.name_of(record)
    size = len(record)
    is_circle = genbank.is_circular(record)
    lines = [Line(name, 0, size, "region", f"{CIRCLE}=true")] if is_circle else []
    loci = _loci_of(record.features)
    for number, feature in enumerate(record.features):
        gene = feature.qualifiers.get("gene", [""])[0]
        locus_tag = feature.qualifiers.get("locus_tag", [""])[0]
        tags = f"gene={quote(gene)};locus_tag={quote(locus_tag)}"
        kind = feature.type
        counts_on = is_circle and "trans_splicing" not in feature.qualifiers
        for start, end in _places(feature.location, size if counts_on else 0):
            lines.append(Line(name, start, end, kind, tags, f"feature {number}", loci[number]))
    return lines


def _loci_of(features: list[Any]) -> list[str]:
    """Return what joins each of some features of GenBank with its gene line.

    This is its locus_tag. Without one it is the number of the first gene line of the same gene
    that it overlaps, as a gene may have copies in a record, and "" where there is none.
    """
    gene_lines: dict[str, list[tuple[int, Any]]] = {}
    for number, feature in enumerate(features):
        if GENE.fullmatch(feature.type) and feature.location:
            for name in feature.qualifiers.get("gene", [""])[:1]:
                gene_lines.setdefault(name, []).append((number, feature.location))

    loci = []
    for feature in features:
        tags = feature.qualifiers.get("locus_tag")
        if tags:
            loci.append(tags[0])
            continue
        place = feature.location
        same = gene_lines.get(feature.qualifiers.get("gene", [""])[0], ()) if place else ()
        above = (
            f"gene line {number}"
            for number, line in same
            if line.start < place.end and place.start < line.end
        )
        loci.append(next(above, ""))
    return loci


def _places(location: Any, size: int) -> Iterator[tuple[int, int]]:
    """Yield the start and the end of each part of a location of GenBank, in the order in which they
    are joined; size: of a circle, 0 for a line.

    join(91..100,1..5) of 100 letters     90-100, 100-105
    """
    parts = list(location.parts) if location else []
    is_one_way = location is not None and location.strand in (1, -1)
    if is_one_way and location.strand < 0:
        parts.reverse()
    laps = 0
    last = 0
    for part in parts:
        start = int(part.start)
        if is_one_way and start < last:
            laps += size
        last = start
        yield start + laps, int(part.end) + laps
