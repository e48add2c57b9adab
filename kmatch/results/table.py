"""Hits, products and primers: their columns, in Python and in every format."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from itertools import pairwise
from math import nan
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kmatch.arrays import Floats, Longs, bounds_of
from kmatch.errors import InputError
from kmatch.genome import Genome, Genomes, as_genomes
from kmatch.results.batches import (
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
from kmatch.sequences.patterns import PatternSet

if TYPE_CHECKING:
    from kmatch.sequences.oligos import PrimerPairs

VARIANTS = ("variants", "af", "samples", "reference_distance")
ALLELES = "alleles"  # a column of hits with variants, where it is asked for
FLANKS = ("flank_5p", "flank_3p")
SITE_COLUMNS = ("{}", "{}_start", "{}_end", "distance_{}", "cigar_{}", "match_{}")  # of a primer
FLANK = 10  # letters of a flank
LAST = 5  # letters of a pattern's end
_STRANDS = Names("+-")

Align = Callable[[Sequence[HitBatch]], Iterable[HitBatch]]


def _genes(batch: Any, table: Any) -> Any:
    """Return the columns `gene` and `region`."""
    return table.annotation.columns(batch)


def _nearest(batch: Any, table: Any) -> Any:
    """Return the columns `nearest_gene` and `nearest_distance`."""
    return table.annotation.nearest(batch)


class Placed(Table[SomeBatch, Row]):
    """Rows in records of a genome."""

    optional: tuple[str, ...] = ("genome", "genome_number", "gene", "region")
    annotated: tuple[str, ...] = ("nearest_gene", "nearest_distance")
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
    nearest_gene = Column(np.object_, lambda batch, table: table.once(_nearest, batch)[0])
    nearest_distance = Column(
        np.float64, lambda batch, table: table.once(_nearest, batch)[1], ".0f"
    )


def bed_scores(distance: Any, letters: Any) -> Longs:
    """Return scores of BED, int64[n]: 1000 without differences, 0 with as many as letters."""
    return rounded(1000 * (1 - distance / letters))


def rounded(numbers: Floats) -> Longs:
    """Return whole numbers."""
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


def _hit_scores(batch: HitBatch, hits: "Hits") -> Longs:
    return bed_scores(batch.distance, hits.patterns.lengths[batch.pattern])


def _variants(batch: HitBatch, _: "Hits") -> Named:
    assert batch.variants is not None
    return shared(batch.variants, lambda words: Names(["", *words]))


def _flanks(batch: HitBatch, hits: "Hits") -> list[Named]:
    """Return the columns `flank_5p` and `flank_3p`."""
    sides = zip(*flanks(batch, hits.letters, FLANK), strict=True)
    return [words_of(side) for side in sides]


def _cigars(batch: HitBatch) -> TextCells | Edits:
    if batch.edits is not None:
        return Edits(batch.edits)
    return TextCells(batch.aligned.ops, runs=True)


def _differences(batch: HitBatch, hits: "Hits") -> tuple[Longs, Longs]:
    return differences(batch, hits.patterns.lengths, hits.pam_first)


def _positions(batch: HitBatch, hits: "Hits") -> Named:
    rows, positions = _differences(batch, hits)
    words = list(map(str, positions.tolist()))
    # Where the positions of each hit begin, and the last ones end.
    counts = np.bincount(rows, minlength=len(batch))
    bounds = bounds_of(counts).tolist()
    return words_of(",".join(words[start:end]) for start, end in pairwise(bounds))


def _differences_3p(batch: HitBatch, hits: "Hits") -> Longs:
    rows, positions = _differences(batch, hits)
    lengths = hits.patterns.lengths[batch.pattern[rows]]
    is_last = positions > lengths - LAST
    return np.bincount(rows[is_last], minlength=len(batch))


def _cuts(batch: HitBatch, hits: "Hits") -> Floats:
    return cuts(batch, hits.patterns.lengths, hits.pam_first)


def _count_of(op: str) -> Column[np.int64]:
    """Return the column of how often alignments have an op."""
    return Column(np.int64, lambda batch, _: batch.aligned.ops.counted(op), aligned=True)


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
    genomes, `k` where it was a share of a pattern's letters. Scores, `gene`, `region` and the
    columns of variants are there where they were asked for. `patterns` are the search's patterns,
    `searched` its Genomes, and `pam_first` tells whether a PAM stands before the patterns.

    Iteration gives rows, `hits[3]` a row, as a Hit; `hits[:10]`, `hits[hits.distance == 0]` and
    `hits[numbers]` give Hits.
    """

    noun = "hit"
    optional = (*Placed.optional, *VARIANTS, "k")
    pattern = Column(np.object_, lambda batch, hits: Named(hits.labels, batch.pattern))
    pattern_number = Column(np.int32, lambda batch, _: batch.pattern)
    score = Column(np.int64, _hit_scores)
    distance = Column(np.int32, lambda batch, _: batch.distance)
    cigar = Column(np.object_, lambda batch, _: _cigars(batch), aligned=True)
    match = Column(np.object_, lambda batch, _: TextCells(batch.aligned.text), aligned=True)
    k = Column(np.int64, lambda batch, hits: hits.k_each[batch.pattern])
    query = Column(np.object_, lambda batch, hits: Named(hits.queries, batch.pattern))
    mismatches = _count_of("X")
    insertions = _count_of("I")
    deletions = _count_of("D")
    positions = Column(np.object_, _positions, aligned=True)
    differences_3p = Column(np.int64, _differences_3p, aligned=True)
    unknown = Column(np.int64, lambda batch, _: batch.aligned.text.counted("N"), aligned=True)
    cut = Column(np.float64, _cuts, ".0f", aligned=True)
    flank_5p = Column(np.object_, lambda batch, hits: hits.once(_flanks, batch)[0], in_turn=True)
    flank_3p = Column(np.object_, lambda batch, hits: hits.once(_flanks, batch)[1], in_turn=True)
    variants = Column(np.object_, _variants)
    af = Column(np.float64, lambda batch, _: batch.af, "g")
    samples = Column(np.object_, lambda batch, _: shared(batch.samples, CarrierNames))
    reference_distance = Column(np.float64, lambda batch, _: batch.reference_distance, ".0f")
    alleles = Column(np.object_, lambda batch, _: words_of(batch.alleles))

    if TYPE_CHECKING:  # which hits have where they were asked for
        cfd: NDArray[np.float64]
        mit: NDArray[np.float64]

    scores: tuple[str, ...] = ()  # the names of those that hits have
    has_alleles = False  # whether `alleles` is known of them
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
        self.patterns = patterns
        self.pam_first = pam_first
        self.k_each = k_each
        self.labels = Names(patterns.names)
        self.queries = Names(patterns.sequences)
        self.command_line = ""  # that asked for them
        self._align = align
        is_listed = self.searched is not None and self.searched.named
        self._row = ListedHit if is_listed else Hit
        genome = ("genome",) if is_listed else ()
        shares = () if k_each is None else ("k",)
        place = ("record", "start", "end", "pattern")
        self.bed = (*place, "score", "strand", "distance", *genome)
        self.tsv = (*genome, *place, "distance", "strand", "cigar", "match", *shares)
        super().__init__(batches)

    @property
    def columns(self) -> dict[str, Column[Any]]:
        """Return the columns that rows have, by name: scores before the columns of variants."""
        columns = super().columns
        if not self.has_alleles:
            del columns[ALLELES]
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
        records = np.diff(self.record_number)
        starts = np.diff(self.start)
        follows = (records > 0) | ((records == 0) & (starts >= 0))
        self.ordered = bool(follows.all())
        self._write("sam", target)

    def to_gff3(self, target: Any) -> None:
        """Write GFF3 to a path or to a handle, as `to_bed` does."""
        self._write("gff3", target)

    def __add__(self, other: "Hits") -> "Hits":
        """Return the hits of both, one behind the other, of searches of the same genomes.

        They have the columns of both. Patterns that differ come one behind the other too. Raises
        InputError for other genomes.
        """
        if not isinstance(other, Hits):
            return NotImplemented
        if self._search_identity() != other._search_identity():
            raise InputError(
                "the hits are of searches of different genomes, of PAMs on different sides or with "
                "variants and without; search both genomes at once: give a list"
            )
        self.align()
        other.align()
        patterns = self.patterns
        k_each = self.k_each
        more = other.batches
        if not self._has_patterns_of(other):
            # The other patterns get numbers behind those of these.
            more = [replace(batch, pattern=batch.pattern + len(patterns)) for batch in more]
            patterns = patterns + other.patterns
            if k_each is not None and other.k_each is not None:
                k_each = np.concatenate([k_each, other.k_each])
            else:
                k_each = None
        found = Hits([*self.batches, *more], patterns, self.searched, self.pam_first, k_each)
        common = [name for name in self.tsv if name in other.tsv]
        found.add([name for name in common if name not in found.tsv])
        found.scores = tuple(name for name in self.scores if name in other.scores)
        found.annotation = self.annotation
        found.has_alleles = self.has_alleles and other.has_alleles
        found.letters = self.letters or other.letters
        return found

    def _search_identity(self) -> tuple[Any, ...]:
        """Return the properties that searches share if their hits can be joined."""
        identity = None if self.searched is None else self.searched.identity
        return identity, self.pam_first, "variants" in self.tsv

    def _has_patterns_of(self, other: "Hits") -> bool:
        """Return whether both have the same patterns, and the same k for each."""
        mine: list[Any] = [self.patterns.names, self.patterns.sequences]
        others: list[Any] = [other.patterns.names, other.patterns.sequences]
        ks: list[Any] = [self.k_each, other.k_each]
        return mine == others and np.array_equal(*ks)

    def __getstate__(self) -> dict[str, Any]:
        """Return the state for another process, which has the alignments and maybe not the
        genome."""
        self.align()
        return vars(self)

    def align(self, column: str = "") -> None:
        """See Table: a CIGAR needs no letters where a search found its alignment."""
        if self._align is None:
            return
        filled = [batch for batch in self.batches if len(batch)]
        has_edits = all(batch.edits is not None for batch in filled)
        if column == "cigar" and has_edits:
            return
        self.batches = list(self._align(self.batches))
        self._align = None


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
    """Return a column of hits as a column of the sites of one primer of products."""

    def cells(batch: ProductBatch, table: Any) -> Any:
        return column.cells(getattr(batch, side), table)

    return Column(column.kind, cells, aligned=column.aligned)


def _site_columns(side: str) -> Iterator[Column[Any]]:
    """Yield the columns of the sites of one primer of products, in the order of TSV."""
    for column in (Hits.pattern, Hits.start, Hits.end, Hits.distance, Hits.cigar, Hits.match):
        yield _of_sites(side, column)


def _product_scores(batch: ProductBatch, products: "Products") -> Longs:
    lengths = products.pairs.primers.lengths
    letters = lengths[batch.forward.pattern] + lengths[batch.reverse.pattern]
    return bed_scores(batch.forward.distance + batch.reverse.distance, letters)


def _product_texts(batch: ProductBatch, _: "Products") -> TextCells:
    if batch.text is None:
        raise InputError(
            "the products have no text; ask for it by --sequence (in Python: sequence=True)"
        )
    return TextCells(batch.text)


def _probes(batch: ProductBatch, _: "Products") -> Floats:
    """Return the differences of the probe that each product holds, NaN where there is none."""
    if batch.probe is None:
        return np.full(len(batch), nan)
    return np.where(batch.probe.pattern < 0, nan, batch.probe.distance)


def _product_names(batch: ProductBatch, products: "Products") -> Named:
    names = products.pairs.product_names(batch.forward.pattern, batch.reverse.pattern)
    return words_of(names)


class Products(Placed[ProductBatch, Product]):
    """The products of pairs of primers, in order of record, start, end, strand and primers.

    Columns are NumPy arrays of one length: the place as in Hits; `name`, of the pair, or of both
    primers where they are no partners; `forward`, `forward_start`, `forward_end`,
    `distance_forward`, `cigar_forward` and `match_forward`, the forward primer's name and site, and
    `reverse` and so on for the reverse primer; `probe`, the differences of the pair's probe, NaN
    where there is none; `sequence`, the products from the forward primer on, where they were asked
    for. `start` and `end` include the primers, and `strand` is `+` where the forward primer is the
    site on `+`.

    Iteration gives rows, `products[3]` a row, as a Product; `products[:10]`,
    `products[products.length < 400]` and `products[numbers]` give Products.
    """

    noun = "product"
    optional = (*Placed.optional, "probe")
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
        pairs: "PrimerPairs",
        has_text: bool = False,
        named: bool = False,
    ) -> None:
        """has_text: whether products come with their text, even where there are none; named:
        whether they come from several genomes."""
        from kmatch.sequences.oligos import PROBE

        self.pairs = pairs
        self.named = named
        self.labels = Names(pairs.primers.names)
        self._row = ListedProduct if named else Product
        genome = ("genome",) if named else ()
        probe = ("probe",) if pairs.sides[:, PROBE].any() else ()
        text = ("sequence",) if has_text else ()
        place = ("record", "start", "end", "name")
        sites = [name.format("forward") for name in SITE_COLUMNS]
        sites += [name.format("reverse") for name in SITE_COLUMNS]
        self.bed = (*place, "score", "strand", "distance_forward", "distance_reverse", *genome)
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
    first_letters = np.where(batch.minus, batch.end - 1, batch.start)
    return words_of(f"primer_{position}" for position in first_letters.tolist())


def _primer_scores(batch: PrimerBatch, primers: "Primers") -> Longs:
    shares = primers.k / (batch.end - batch.start)
    return rounded(1000 * np.minimum(1, shares))


class Primers(Placed[PrimerBatch, Primer]):
    """The primers of a search, in order of target record, start, end and strand.

    Columns are NumPy arrays of one length: the place as in Hits, `length`, `gc`, the share of G and
    C, and `tm`, °C, NaN with an N.

    Iteration gives rows, `primers[3]` a row, as a Primer; `primers[:10]`,
    `primers[primers.tm > 60]` and `primers[numbers]` give Primers.
    """

    noun = "primer"
    joins = False
    _row = Primer
    name = Column(np.object_, _primer_names)
    score = Column(np.int64, _primer_scores)
    gc = Column(np.float64, lambda batch, _: batch.gc, ".3f", "NA")
    tm = Column(np.float64, lambda batch, _: batch.tm, ".1f", "NA")
    bed = ("record", "start", "end", "name", "score", "strand")

    def __init__(self, batches: Iterable[PrimerBatch], k: int, both_strands: bool = False) -> None:
        self.k = k
        self.both_strands = both_strands
        strand = ("strand",) if both_strands else ()
        self.tsv = ("record", "start", "end", "length", "gc", "tm", *strand)
        super().__init__(batches)
        self._searched = self.batches  # whose regions are reported, whatever rows are selected

    def regions_to_bed(self, target: Any) -> None:
        """Write the stretches in which every position has a primer as BED, as `to_bed` does.

        They belong to the whole search, whichever of its rows are here.
        """
        with opened(target) as handle:
            for batch in self._searched:
                self.write_regions(handle, batch)

    def write_regions(self, handle: Any, batch: PrimerBatch) -> None:
        """Write the regions of a batch to a binary handle."""
        (record,) = batch.names.values()
        for start, end, minus in batch.regions.tolist():
            cells = [record, start, end]
            if self.both_strands:
                cells += [".", 0, "-" if minus else "+"]
            write_line(handle, cells)
