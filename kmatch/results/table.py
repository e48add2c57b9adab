"""Hits, products, primers and guides: their columns, in Python and in every format."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from math import nan
from typing import Any, NamedTuple

import numpy as np

from kmatch.arrays import Floats, Longs
from kmatch.errors import InputError
from kmatch.genome import Genome, Genomes, as_genomes
from kmatch.results.batches import (
    GuideBatch,
    HitBatch,
    PrimerBatch,
    ProductBatch,
    SomeBatch,
)
from kmatch.results.columns import Column, Row, Table, named_row, opened, write_line
from kmatch.results.lines import (
    CarrierNames,
    Edits,
    Named,
    Names,
    TextCells,
    record_cells,
    same,
    shared,
    words_of,
)
from kmatch.results.sites import Letters, cuts, differences, flanks
from kmatch.sequences.oligos import PROBE, PrimerPairs
from kmatch.sequences.patterns import PatternSet

VARIANTS = ("variants", "af", "samples", "reference_distance")
FLANKS = ("flank_5p", "flank_3p")
FLANK = 10  # letters of a flank
LAST = 5  # letters of a pattern's end
_STRANDS = Names("+-")

Align = Callable[[Sequence[HitBatch]], Iterable[HitBatch]]


def _genes(batch: Any, table: Any) -> Any:
    """The columns `gene` and `region`."""
    return table.annotation.columns(batch)


class Placed(Table[SomeBatch, Row]):
    """Rows in records of a genome."""

    optional: tuple[str, ...] = ("genome", "genome_number", "gene", "region")
    genome = Column(np.object_, lambda batch, _: same(batch.origin.name, batch))
    genome_number = Column(np.int64, lambda batch, _: np.full(len(batch), batch.origin.number))
    record = Column(np.object_, lambda batch, _: record_cells(batch))
    record_number = Column(np.int64, lambda batch, _: batch.record)
    start = Column(np.int64, lambda batch, _: batch.start)
    end = Column(np.int64, lambda batch, _: batch.end)
    length = Column(np.int64, lambda batch, _: batch.end - batch.start)
    strand = Column(np.str_, lambda batch, _: Named(_STRANDS, batch.minus))
    gene = Column(np.object_, lambda batch, table: table.once(_genes, batch)[0])
    region = Column(np.object_, lambda batch, table: table.once(_genes, batch)[1])


def bed_scores(distance: Any, letters: Any) -> Longs:
    """Scores of BED, int64[n]: 1000 without differences, 0 with as many as letters."""
    return _rounded(1000 * (1 - distance / letters))


def _rounded(numbers: Floats) -> Longs:
    return np.rint(numbers).astype(np.int64)


class Hit(NamedTuple):
    """A row of Hits; start and end are 0-based and half-open on the forward strand."""

    record: str
    start: int
    end: int
    pattern: str
    distance: int
    strand: str


ListedHit = named_row("ListedHit", ("genome", *Hit._fields))


def _flanks(batch: HitBatch, hits: "Hits") -> list[Named]:
    before, behind = zip(*flanks(batch, hits.letters, FLANK), strict=True)
    return [words_of(word.replace("U", "T") for word in each) for each in (before, behind)]


def _cigars(batch: HitBatch) -> TextCells | Edits:
    return TextCells(batch.aligned.ops, runs=True) if batch.edits is None else Edits(batch.edits)


def _differences(batch: HitBatch, hits: "Hits") -> tuple[Longs, Longs]:
    return differences(batch, hits.patterns.lengths, hits.pam_first)


def _positions(batch: HitBatch, hits: "Hits") -> Named:
    row, position = _differences(batch, hits)
    parts = np.split(position, np.cumsum(np.bincount(row, minlength=len(batch)))[:-1])
    return words_of(",".join(map(str, part.tolist())) for part in parts[: len(batch)])


def _differences_3p(batch: HitBatch, hits: "Hits") -> Longs:
    row, position = _differences(batch, hits)
    last = position > hits.patterns.lengths[batch.pattern[row]] - LAST
    return np.bincount(row[last], minlength=len(batch))


def _cuts(batch: HitBatch, hits: "Hits") -> Floats:
    return cuts(batch, hits.patterns.lengths, hits.pam_first)


@cache
def _score_column(name: str) -> Column[np.float64]:
    """Return the column of a score of hits."""
    column = Column(np.float64, lambda batch, _: batch.scores[name], "g")
    column.name = name
    return column


class Hits(Placed[HitBatch, Hit]):
    """The hits of a search, in order of record, start, end, strand and pattern.

    Columns are NumPy arrays of one length, made when first used: names and words are str (object).
    `start` and `end` are 0-based and half-open on the forward strand; `match` is the text as the
    pattern reads it. `record_number` and `pattern_number` count from 0 in the order of the genome
    and of the patterns, as names may repeat. `genome` and `genome_number` are there for several
    genomes, `k` where it was a share of a pattern's letters, and scores, `gene`, `region` and what
    is known of variants where they were asked for. `patterns` are those of the search, `searched`
    are its Genomes, and `pam_first` says whether a PAM stands before the patterns.

    Iteration gives rows, `hits[3]` a row, as a Hit; `hits[:10]`, `hits[hits.distance == 0]` and
    `hits[numbers]` give Hits.
    """

    noun = "hit"
    optional = (*Placed.optional, *VARIANTS, "k")
    pattern = Column(np.object_, lambda batch, hits: Named(hits.labels, batch.pattern))
    pattern_number = Column(np.int32, lambda batch, _: batch.pattern)
    score = Column(
        np.int64,
        lambda batch, hits: bed_scores(batch.distance, hits.patterns.lengths[batch.pattern]),
    )
    distance = Column(np.int32, lambda batch, _: batch.distance)
    cigar = Column(np.object_, lambda batch, _: _cigars(batch), aligned=True)
    match = Column(np.object_, lambda batch, _: TextCells(batch.aligned.text), aligned=True)
    k = Column(np.int64, lambda batch, hits: hits.k_each[batch.pattern])
    query = Column(np.object_, lambda batch, hits: Named(hits.queries, batch.pattern))
    mismatches = Column(np.int64, lambda batch, _: batch.aligned.ops.counted("X"), aligned=True)
    insertions = Column(np.int64, lambda batch, _: batch.aligned.ops.counted("I"), aligned=True)
    deletions = Column(np.int64, lambda batch, _: batch.aligned.ops.counted("D"), aligned=True)
    positions = Column(np.object_, _positions, aligned=True)
    differences_3p = Column(np.int64, _differences_3p, aligned=True)
    unknown = Column(np.int64, lambda batch, _: batch.aligned.text.counted("N"), aligned=True)
    cut = Column(np.float64, _cuts, ".0f", aligned=True)
    flank_5p = Column(np.object_, lambda batch, hits: hits.once(_flanks, batch)[0])
    flank_3p = Column(np.object_, lambda batch, hits: hits.once(_flanks, batch)[1])
    variants = Column(
        np.object_, lambda batch, _: shared(batch.variants, lambda words: Names(["", *words]))
    )
    af = Column(np.float64, lambda batch, _: batch.af, "g")
    samples = Column(np.object_, lambda batch, _: shared(batch.samples, CarrierNames))
    reference_distance = Column(np.float64, lambda batch, _: batch.reference_distance, ".0f")

    scores: tuple[str, ...] = ()  # the names of those that hits have
    ordered = True  # whether they are in the genome's order
    width = 80  # characters of lines for eyes
    colour = False  # whether differences have one there
    letters: Letters | None = None  # of the genomes, where they can be read

    def __init__(
        self,
        batches: Iterable[HitBatch],
        patterns: PatternSet,
        searched: Genome | Genomes | None = None,
        pam_first: bool = False,
        k_each: Longs | None = None,
        align: Align | None = None,
    ) -> None:
        """k_each: int64[P], the k of each pattern, where that is a column; align: gives batches
        their alignments, of a search without them."""
        self.searched = None if searched is None else as_genomes(searched)
        self.patterns, self.pam_first, self.k_each = patterns, pam_first, k_each
        self.labels, self.queries = Names(patterns.names), Names(patterns.sequences)
        self._align = align
        genome = ("genome",) * bool(self.searched and self.searched.named)
        shares = ("k",) * (k_each is not None)
        self._row = ListedHit if genome else Hit
        place = ("record", "start", "end", "pattern")
        self.bed = (*place, "score", "strand", "distance", *genome)
        self.tsv = (*genome, *place, "distance", "strand", "cigar", "match", *shares)
        super().__init__(batches)

    @property
    def columns(self) -> dict[str, Column[Any]]:
        """The columns that rows have, by name: scores before those of variants."""
        columns = super().columns
        of_variants = {name: columns.pop(name) for name in VARIANTS if name in columns}
        of_scores = {name: _score_column(name) for name in self.scores}
        return columns | of_scores | of_variants

    def add_scores(self, names: Sequence[str]) -> None:
        """Give rows the columns of scores, in TSV behind its others."""
        self.scores = (*self.scores, *names)
        self.add(names)

    def to_sam(self, target: Any) -> None:
        """Write SAM with a header to a path or to a handle, as `to_bed` does.

        Raises InputError for a genome whose records SAM cannot name, for one that cannot be read
        again for their lengths, and for hits that variants make.
        """
        if "variants" in self.tsv and any(self.variants):
            raise InputError(
                "SAM aligns to the genome, not to its variants; write TSV, or the hits without any"
            )
        records, starts = np.diff(self.record_number), np.diff(self.start)
        self.ordered = bool(((records > 0) | ((records == 0) & (starts >= 0))).all())
        self._write("sam", target)

    def to_gff3(self, target: Any) -> None:
        """Write GFF3 to a path or to a handle, as `to_bed` does."""
        self._write("gff3", target)

    def __add__(self, other: "Hits") -> "Hits":
        """The hits of both, one behind the other, of searches of the same genomes.

        They have the columns of both. Patterns that differ come one behind the other too. Raises
        InputError for other genomes.
        """
        if not isinstance(other, Hits):
            return NotImplemented
        mine, others = (
            (hits.searched and hits.searched.identity, hits.pam_first, "variants" in hits.tsv)
            for hits in (self, other)
        )
        if mine != others:
            raise InputError(
                "the hits are of searches of different genomes, of PAMs on different sides or with "
                "variants and without; search both genomes at once: give a list"
            )
        self.align()
        other.align()
        first, more, shares = self.patterns, other.batches, self.k_each
        alike = [(p.names, p.sequences) for p in (first, other.patterns)]
        ks: list[Any] = [shares, other.k_each]
        if alike[0] != alike[1] or not np.array_equal(*ks):
            more = [replace(batch, pattern=batch.pattern + len(first)) for batch in more]
            shares = None if any(k is None for k in ks) else np.concatenate(ks)
            first = first + other.patterns
        found = Hits([*self.batches, *more], first, self.searched, self.pam_first, shares)
        found.add([name for name in self.tsv if name in other.tsv and name not in found.tsv])
        found.scores = tuple(name for name in self.scores if name in other.scores)
        found.annotation, found.letters = self.annotation, self.letters or other.letters
        return found

    def __getstate__(self) -> dict[str, Any]:
        """What another process needs: it has the alignments, and maybe not the genome."""
        self.align()
        return vars(self)

    def align(self, column: str = "") -> None:
        """See Table: a CIGAR needs no letters where a search found its alignment."""
        known = all(batch.edits is not None for batch in self.batches if len(batch))
        if self._align and not (known and column == "cigar"):
            self.batches, self._align = list(self._align(self.batches)), None


class Product(NamedTuple):
    """A row of Products; start and end are 0-based and half-open on the forward strand."""

    record: str
    start: int
    end: int
    name: str
    strand: str
    distance_forward: int
    distance_reverse: int


ListedProduct = named_row("ListedProduct", ("genome", *Product._fields))


def _of_sites(side: str, column: Column[Any]) -> Column[Any]:
    """A column of hits as that of the sites of one primer of products."""

    def cells(batch: ProductBatch, table: Any) -> Any:
        return column.cells(getattr(batch, side), table)

    return Column(column.kind, cells, aligned=column.aligned)


def _site_columns(side: str) -> Iterator[Column[Any]]:
    """The columns of the sites of one primer of products, in the order of TSV."""
    columns = (Hits.pattern, Hits.start, Hits.end, Hits.distance, Hits.cigar, Hits.match)
    return (_of_sites(side, column) for column in columns)


def _product_scores(batch: ProductBatch, products: "Products") -> Longs:
    lengths, (one, other) = products.pairs.primers.lengths, (batch.forward, batch.reverse)
    return bed_scores(one.distance + other.distance, lengths[one.pattern] + lengths[other.pattern])


def _product_texts(batch: ProductBatch, _: "Products") -> TextCells:
    if batch.text is None:
        raise InputError("the products have no text; ask for it with sequence=True")
    return TextCells(batch.text)


def _probes(batch: ProductBatch, _: "Products") -> Floats:
    """The differences of the probe that each product holds, NaN where there is none."""
    if batch.probe is None:
        return np.full(len(batch), nan)
    return np.where(batch.probe.pattern < 0, nan, batch.probe.distance)


def _product_names(batch: ProductBatch, products: "Products") -> Named:
    return words_of(products.pairs.product_names(batch.forward.pattern, batch.reverse.pattern))


class Products(Placed[ProductBatch, Product]):
    """The products of pairs of primers, in order of record, start, end, strand and primers.

    Columns are NumPy arrays of one length: the place as in Hits; `name`, of the pair, or of both
    primers where they are no partners; `forward`, `forward_start`, `forward_end`,
    `distance_forward`, `cigar_forward` and `match_forward`, the forward primer's name and site, and
    likewise those of the reverse one; `probe`, the differences of the pair's probe, NaN where there
    is none; `sequence`, the products from the forward primer on, where they were asked for. `start`
    and `end` include the primers, and `strand` is `+` where the forward primer is the site on `+`.

    Iteration gives rows, `products[3]` a row, as a Product; `products[:10]`,
    `products[products.length < 400]` and `products[numbers]` give Products.
    """

    noun, optional = "product", (*Placed.optional, "probe")
    name = Column(np.object_, _product_names)
    score = Column(np.int64, _product_scores)
    forward, forward_start, forward_end, distance_forward, cigar_forward, match_forward = (
        _site_columns("forward")
    )
    reverse, reverse_start, reverse_end, distance_reverse, cigar_reverse, match_reverse = (
        _site_columns("reverse")
    )
    probe = Column(np.float64, _probes, ".0f")
    forward_number = _of_sites("forward", Hits.pattern_number)
    reverse_number = _of_sites("reverse", Hits.pattern_number)
    sequence = Column(np.object_, _product_texts)

    def __init__(
        self,
        batches: Iterable[ProductBatch],
        pairs: PrimerPairs,
        has_text: bool = False,
        named: bool = False,
    ) -> None:
        """has_text: whether products come with their text, even where there are none; named:
        whether they come from several genomes."""
        self.pairs, self.named, self.labels = pairs, named, Names(pairs.primers.names)
        self._row = ListedProduct if named else Product
        probe = ("probe",) * bool(pairs.sides[:, PROBE].any())
        place, genome = ("record", "start", "end", "name"), ("genome",) * named
        distances = ("distance_forward", "distance_reverse")
        self.bed = (*place, "score", "strand", *distances, *genome)
        sites = [
            name.format(side)
            for side in ("forward", "reverse")
            for name in ("{}", "{}_start", "{}_end", "distance_{}", "cigar_{}", "match_{}")
        ]
        text = ("sequence",) * has_text
        self.tsv = (*genome, *place, "length", "strand", *sites, *probe, *text)
        super().__init__(batches)


class Primer(NamedTuple):
    """A row of Primers; start and end are 0-based and half-open on the forward strand."""

    record: str
    start: int
    end: int
    length: int
    strand: str
    gc: float
    tm: float


def _primer_names(batch: PrimerBatch, _: "Primers") -> Named:
    first = np.where(batch.minus, batch.end - 1, batch.start)
    return words_of(f"primer_{position}" for position in first.tolist())


class Primers(Placed[PrimerBatch, Primer]):
    """The primers of a search, in order of target record, start, end and strand.

    Columns are NumPy arrays of one length: the place as in Hits, `length`, `gc`, the share of G and
    C, and `tm`, °C, NaN with an N.

    Iteration gives rows, `primers[3]` a row, as a Primer; `primers[:10]`,
    `primers[primers.tm > 60]` and `primers[numbers]` give Primers.
    """

    noun, _row, joins = "primer", Primer, False
    name = Column(np.object_, _primer_names)
    score = Column(
        np.int64,
        lambda batch, table: _rounded(1000 * np.minimum(1, table.k / (batch.end - batch.start))),
    )
    gc = Column(np.float64, lambda batch, _: batch.gc, ".3f", "NA")
    tm = Column(np.float64, lambda batch, _: batch.tm, ".1f", "NA")
    bed = ("record", "start", "end", "name", "score", "strand")

    def __init__(self, batches: Iterable[PrimerBatch], k: int, both_strands: bool = False) -> None:
        self.k, self.both_strands = k, both_strands
        self.tsv = (*self.bed[:3], "length", "gc", "tm", *("strand",) * both_strands)
        super().__init__(batches)
        self._searched = self.batches  # whose regions are reported, whatever rows are selected

    def regions_to_bed(self, target: Any) -> None:
        """Write the stretches in which every position has a primer as BED, as `to_bed` does.

        They are those of the whole search, whichever of its rows are here.
        """
        with opened(target) as handle:
            for batch in self._searched:
                self.write_regions(handle, batch)

    def write_regions(self, handle: Any, batch: PrimerBatch) -> None:
        """Write those of a batch to a binary handle."""
        (record,) = batch.names.values()
        for start, end, minus in batch.regions.tolist():
            strand = (".", 0, "+-"[minus]) if self.both_strands else ()
            write_line(handle, (record, start, end, *strand))


@cache
def _count_at(distance: int) -> Column[np.int64]:
    """Return the column of how many sites of a guide have a distance."""
    column = Column(np.int64, lambda batch, _: batch.counts[:, distance])
    column.name = f"d{distance}"
    return column


@cache
def _specificity_by(score: str) -> Column[np.float64]:
    """Return the column of the specificity of guides by a score."""
    column = Column(np.float64, lambda batch, _: batch.specificity_by(score), "g")
    column.name = f"specificity_{score}"
    return column


class Guides(Placed[GuideBatch, Any]):
    """The guides of a target, in its order, or the best first.

    Columns are NumPy arrays of one length: the place of guide and PAM as in Hits; `guide` and
    `pam`, as the guide's strand reads them; `gc`, the guide's share of G and C; `d0`, `d1` …, its
    sites in the genome by distance; `specificity` by CFD, NaN where it is undefined.

    Iteration gives rows; `guides[:10]`, `guides[guides.specificity > 0.5]` and `guides[numbers]`
    give Guides.
    """

    noun = "guide"
    guide = Column(np.object_, lambda batch, _: TextCells(batch.guide))
    pam = Column(np.object_, lambda batch, _: TextCells(batch.pam))
    gc = Column(np.float64, lambda batch, _: batch.gc, ".3f")
    specificity = Column(np.float64, lambda batch, _: batch.specificity, "g")
    score = Column(np.int64, lambda batch, _: _rounded(1000 * np.nan_to_num(batch.specificity)))
    bed = ("record", "start", "end", "guide", "score", "strand")

    def __init__(self, batches: Iterable[GuideBatch], k: int, scores: Sequence[str] = ()) -> None:
        """scores: names of those by which guides have a specificity too, beside CFD."""
        self._counts = {f"d{distance}": distance for distance in range(k + 1)}
        others = [name for name in dict.fromkeys(scores) if name != "cfd"]
        self._specificities = {f"specificity_{name}": name for name in others}
        place = ("record", "start", "end", "guide", "pam", "strand", "gc")
        self._fields = (*place, *self._counts, "specificity", *self._specificities)
        self.tsv = self._fields
        super().__init__(batches)

    @property
    def _row(self) -> Any:  # which another process makes anew
        return named_row("Guide", self._fields)

    @property
    def columns(self) -> dict[str, Column[Any]]:
        """The columns that rows have, by name: specificities before the score, then counts."""
        columns = super().columns
        score = columns.pop("score")
        columns |= {name: _specificity_by(each) for name, each in self._specificities.items()}
        columns |= {"score": score}
        return columns | {name: _count_at(d) for name, d in self._counts.items()}
