"""The columns of hits, products and primers: what each is called, made of and written as."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from math import inf, isnan, nan
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from kmatch.arrays import Bytes, Floats, Longs, bounds_of, counted_in_rows, ranked
from kmatch.errors import InputError, shown
from kmatch.genome import Genomes
from kmatch.results.batches import (
    AssayBatch,
    Batch,
    HitBatch,
    PrimerBatch,
    PrimerSites,
    ProductBatch,
    Texts,
    letters_beside,
    sizes_of,
)
from kmatch.sequences.patterns import Pattern, pattern_set
from kmatch.sequences.primer_pairs import FORWARD, PROBE, REVERSE, PrimerPairs

if TYPE_CHECKING:
    from kmatch.results.annotation import Annotation
    from kmatch.results.scores import Scorer

Made = TypeVar("Made")
HEADINGS = {"record": "sequence", "sequence": "product"}  # of TSV, where not the column's name


class Names:
    """Words that many rows share, by number; kind: of their array."""

    def __init__(self, words: Iterable[str], kind: Any = object) -> None:
        self.words, self.kind = list(words), kind

    @cached_property
    def texts(self) -> Texts:
        """The words side by side."""
        encoded = [word.encode("utf-8", "surrogateescape") for word in self.words]
        return Texts(bounds_of(list(map(len, encoded))), np.frombuffer(b"".join(encoded), np.uint8))

    @cached_property
    def quoted(self) -> "Names":
        """The same with the quotes that CSV wants."""
        return Names(map(_quoted, self.words), self.kind)

    @cached_property
    def array(self) -> NDArray[Any]:
        """The words as an array."""
        return np.array([*self.words, ""], self.kind)[:-1]


def _quoted(word: str) -> str:
    doubled = word.replace('"', '""')
    return f'"{doubled}"' if any(mark in word for mark in ',"\r\n') else word


class Named(NamedTuple):
    """Cells that are among Names; which: int[n], by number."""

    names: Names
    which: Any


class Spelt(NamedTuple):
    """Cells with a text each; runs: whether its letters are alignment columns, for a CIGAR."""

    texts: Texts
    runs: bool = False


Letters = Callable[[int, int, int, int], Bytes]
Cells = Named | Spelt | NDArray[Any]  # an array of numbers


class Column(NamedTuple):
    """A column of a table.

    kind: of its values in Python; cells(batch, rows): makes its Cells, rows being what the batch's
    rows are of; word: how its numbers are written, where these are no whole ones; aligned: whether
    it is made of alignments.
    """

    kind: Any
    cells: Callable[[Any, Any], Cells]
    word: Callable[[float], str] | None = None
    aligned: bool = False

    def values(self, batch: Batch, rows: Any) -> NDArray[Any]:
        """Its values in Python."""
        cells = self.cells(batch, rows)
        if isinstance(cells, Named):
            return cells.names.array[cells.which]
        if isinstance(cells, Spelt):
            return Names(cells.texts.cigars() if cells.runs else cells.texts.words()).array
        return cells

    def written(self, batch: Batch, rows: Any) -> Cells:
        """Its Cells as lines have them: words or whole numbers."""
        cells = self.cells(batch, rows)
        if self.word is None or not isinstance(cells, np.ndarray):
            return cells
        known, which = ranked(np.where(np.isnan(cells), -inf, cells))
        words = [self.word(nan if value == -inf else value) for value in known.tolist()]
        return Named(Names(words), which)


def worded(form: str, missing: str = "") -> Callable[[float], str]:
    """A function that writes numbers in a form such as `.3f`, and NaN as `missing`."""
    return lambda number: missing if isnan(number) else format(number, form)


def listed(words: Iterable[str]) -> Named:
    """Cells out of their words."""
    names = Names(words)
    return Named(names, np.arange(len(names.words)))


def same(word: str, batch: Batch) -> Named:
    """Cells that hold one word."""
    return Named(Names([word]), np.zeros(len(batch), np.int64))


def record_cells(batch: Batch, name: Callable[[str], str] = str) -> Named:
    """The names of records, as `name` writes them."""
    names, which = batch.record_names()
    return Named(Names(map(name, names)), which)


def cigar_cells(columns: Any) -> Spelt:
    """The CIGARs of alignments."""
    return Spelt(Texts(columns.op_ends, columns.ops), runs=True)


class LastBatch(Generic[Made]):
    """Calls a function of a batch, and keeps what it gives until another comes."""

    def __init__(self, make: Callable[[Any], Made]) -> None:
        self._make: Callable[[Any], Made] = make
        self._last: tuple[Any, Any] = (None, None)

    def __call__(self, batch: Batch) -> Made:
        if self._last[0] is not batch:
            self._last = (batch, self._make(batch))
        made: Made = self._last[1]
        return made

    def __getstate__(self) -> dict[str, Any]:
        return {"_make": self._make, "_last": (None, None)}


def flanks(batch: HitBatch, rows: "HitRows", size: int) -> Iterator[tuple[str, str]]:
    """Up to so many letters before and behind each hit, as its pattern reads them."""
    record, minus = batch.record.tolist(), batch.minus.tolist()
    places = zip(record, batch.start.tolist(), batch.end.tolist(), minus, strict=True)
    for number, start, end, reverse in places:
        if rows.letters is None:
            yield "", ""
            continue
        first = max(start - size, 0)
        found = rows.letters(batch.origin.number, number, first, end + size)
        letters = found.tobytes().decode("latin-1").upper()
        before, behind = letters[: start - first], letters[end - first :]
        if reverse:
            before, behind = (part[::-1].translate(_COMPLEMENT) for part in (behind, before))
        yield before, behind


def _number_of(op: str) -> Column:
    """The column of how many differences of a kind there are."""

    def count(batch: HitBatch, _: "HitRows") -> Longs:
        return counted_in_rows(batch.aligned.ops == ord(op), batch.aligned.op_ends)

    return Column(np.int64, count, aligned=True)


def _beside(batch: HitBatch, rows: "HitRows") -> Longs:
    return letters_beside(batch.aligned, rows.panel.lengths[batch.pattern])


def _differences(batch: HitBatch, rows: "HitRows") -> tuple[Longs, Longs]:
    """The row of each difference, and its position, counted from 1, in the pattern: of letters of
    the text that it lacks, that of the letter before."""
    ops, ends = batch.aligned.ops, batch.aligned.op_ends
    letters = bounds_of(ops != ord("D"))
    at = np.flatnonzero(ops != ord("="))
    row = np.searchsorted(ends, at, "right") - 1
    before = _beside(batch, rows)[row] if rows.pam_first else 0
    return row, letters[at + 1] - letters[ends[row]] - before


def _positions(batch: HitBatch, rows: "HitRows") -> Named:
    row, position = _differences(batch, rows)
    parts = np.split(position, np.cumsum(np.bincount(row, minlength=len(batch)))[:-1])
    return listed(",".join(map(str, part.tolist())) for part in parts[: len(batch)])


def _differences_3p(batch: HitBatch, rows: "HitRows") -> Longs:
    row, position = _differences(batch, rows)
    last = position > rows.panel.lengths[batch.pattern[row]] - LAST
    return np.bincount(row[last], minlength=len(batch))


def _cuts(batch: HitBatch, rows: "HitRows") -> Floats:
    """How many letters of the record stand before the cut, NaN where there is no PAM behind."""
    beside = _beside(batch, rows)
    cut = np.where(batch.minus, batch.start + beside + CUT, batch.end - beside - CUT)
    cut -= np.where(cut > (size := sizes_of(batch.record, batch.origin.circles or {})), size, 0)
    return np.where((beside == 0) | rows.pam_first, np.nan, cut)


def scores(distance: Any, letters: Any) -> Longs:
    """Scores of BED, int64[n]: 1000 without differences, 0 with as many as letters."""
    return _rounded(1000 * (1 - distance / letters))


def _product_scores(batch: ProductBatch, rows: "ProductRows") -> Longs:
    lengths, (one, other) = rows.pairs.primers.lengths, (batch.forward, batch.reverse)
    return scores(one.distance + other.distance, lengths[one.primer] + lengths[other.primer])


def _product_texts(batch: ProductBatch, rows: "ProductRows") -> Spelt:
    if batch.text is None:
        raise InputError("the products have no text; ask for it with sequence=True")
    return Spelt(batch.text)


def _probes(batch: ProductBatch, _: "ProductRows") -> Floats:
    """The differences of the probe that each product holds, NaN where there is none."""
    if batch.probe is None:
        return np.full(len(batch), nan)
    return np.where(batch.probe.primer < 0, nan, batch.probe.distance)


def _primer_names(batch: PrimerBatch, rows: "PrimerRows") -> Named:
    first = np.where(batch.minus, batch.end - 1, batch.start)
    return listed(f"primer_{position}" for position in first.tolist())


def _primer_scores(batch: PrimerBatch, rows: "PrimerRows") -> Longs:
    return _rounded(1000 * np.minimum(1, rows.k / (batch.end - batch.start)))


def _rounded(numbers: Floats) -> Longs:
    return np.rint(numbers).astype(np.int64)


def _spelt(words: Any) -> Named:
    """Cells of words in bytes, S[n]."""
    names, which = np.unique(words, return_inverse=True)
    return Named(Names(name.decode() for name in names.tolist()), which)


def _count_at(distance: int) -> Column:
    """The column of how many sites of a guide have a distance."""
    return Column(np.int64, lambda batch, _: batch.counts[:, distance])


def _gc(words: Any) -> Floats:
    """Shares of G and C in words of one length, float64[n]."""
    letters = np.ascontiguousarray(words).view(np.uint8).reshape(len(words), -1)
    return np.isin(letters, (ord("G"), ord("C"))).mean(1)


def _site_columns(side: str) -> dict[str, Column]:
    """The columns of the sites of one primer of products, in the order of TSV."""

    def of(batch: ProductBatch) -> PrimerSites:
        return batch.forward if side == "forward" else batch.reverse

    def text(batch: ProductBatch, _: "ProductRows") -> Spelt:
        columns = of(batch).columns
        assert columns is not None  # of a search that was asked for them
        return Spelt(Texts(columns.text_ends, columns.text))

    return {
        side: Column(object, lambda batch, rows: Named(rows.labels, of(batch).primer)),
        f"{side}_start": Column(np.int64, lambda batch, _: of(batch).start),
        f"{side}_end": Column(np.int64, lambda batch, _: of(batch).end),
        f"distance_{side}": Column(np.int32, lambda batch, _: of(batch).distance),
        f"cigar_{side}": Column(
            object, lambda batch, _: cigar_cells(of(batch).columns), aligned=True
        ),
        f"match_{side}": Column(object, text, aligned=True),
    }


_STRANDS = Names("+-", "U1")
ANNOTATED = ("gene", "region")
SCORES = ("cfd", "mit")
VARIANTS = ("variants", "af", "samples", "reference_distance")
FLANKS = ("flank_5p", "flank_3p")
FLANK, LAST, CUT = 10, 5, 3  # letters of a flank, of a pattern's end, and from a cut to the PAM
_COMPLEMENT = str.maketrans("ACGTURYSWKMBDHVN", "TGCAAYRSWMKVHDBN")
_GENOME = ("genome", "genome_number")  # which only rows of several genomes have
_PLACE = {
    "genome": Column(object, lambda batch, _: same(batch.origin.name, batch)),
    "genome_number": Column(np.int64, lambda batch, _: np.full(len(batch), batch.origin.number)),
    "record": Column(object, lambda batch, _: record_cells(batch)),
    "record_number": Column(np.int64, lambda batch, _: batch.record),
    "start": Column(np.int64, lambda batch, _: batch.start),
    "end": Column(np.int64, lambda batch, _: batch.end),
    "length": Column(np.int64, lambda batch, _: batch.end - batch.start),
    "strand": Column("U1", lambda batch, _: Named(_STRANDS, batch.minus)),
    "gene": Column(object, lambda batch, rows: listed(rows.annotated(batch)[0])),
    "region": Column(object, lambda batch, rows: listed(rows.annotated(batch)[1])),
}
_HITS = _PLACE | {
    "pattern": Column(object, lambda batch, rows: Named(rows.labels, batch.pattern)),
    "pattern_number": Column(np.int32, lambda batch, _: batch.pattern),
    "score": Column(
        np.int64, lambda batch, rows: scores(batch.distance, rows.panel.lengths[batch.pattern])
    ),
    "distance": Column(np.int32, lambda batch, _: batch.distance),
    "cigar": Column(object, lambda batch, _: cigar_cells(batch.aligned), aligned=True),
    "match": Column(object, lambda batch, _: Spelt(Texts(*batch.aligned[2:])), aligned=True),
    "k": Column(np.int64, lambda batch, rows: rows.k[batch.pattern]),
    "query": Column(object, lambda batch, rows: Named(rows.queries, batch.pattern)),
    "mismatches": _number_of("X"),
    "insertions": _number_of("I"),
    "deletions": _number_of("D"),
    "positions": Column(object, _positions, aligned=True),
    "differences_3p": Column(np.int64, _differences_3p, aligned=True),
    "unknown": Column(
        np.int64,
        lambda batch, _: counted_in_rows(batch.aligned.text == ord("N"), batch.aligned.text_ends),
        aligned=True,
    ),
    "cut": Column(np.float64, _cuts, worded(".0f"), aligned=True),
    "flank_5p": Column(object, lambda batch, rows: listed(rows.flanks(batch)[0])),
    "flank_3p": Column(object, lambda batch, rows: listed(rows.flanks(batch)[1])),
    "cfd": Column(np.float64, lambda batch, rows: rows.scorer.cfd(batch), worded("g"), True),
    "mit": Column(np.float64, lambda batch, rows: rows.scorer.mit(batch), worded("g"), True),
    "variants": Column(object, lambda batch, _: listed(batch.made.variants)),
    "af": Column(np.float64, lambda batch, _: batch.made.af, worded("g")),
    "samples": Column(object, lambda batch, _: listed(batch.made.samples)),
    "reference_distance": Column(np.float64, lambda batch, _: batch.made.distance, worded(".0f")),
}
_FORWARD, _REVERSE = _site_columns("forward"), _site_columns("reverse")
SITES = (*_FORWARD, *_REVERSE)
_PRODUCTS = _PLACE | {
    "name": Column(
        object,
        lambda batch, rows: listed(
            rows.pairs.product_names(batch.forward.primer, batch.reverse.primer)
        ),
    ),
    "score": Column(np.int64, _product_scores),
    **_FORWARD,
    **_REVERSE,
    "probe": Column(np.float64, _probes, worded(".0f")),
    "forward_number": Column(np.int32, lambda batch, _: batch.forward.primer),
    "reverse_number": Column(np.int32, lambda batch, _: batch.reverse.primer),
    "sequence": Column(object, _product_texts),
}
_PRIMERS = _PLACE | {
    "name": Column(object, _primer_names),
    "score": Column(np.int64, _primer_scores),
    "gc": Column(np.float64, lambda batch, _: batch.gc, worded(".3f", "NA")),
    "tm": Column(np.float64, lambda batch, _: batch.tm, worded(".1f", "NA")),
}
_GUIDES = _PLACE | {
    "guide": Column(object, lambda batch, _: _spelt(batch.guide)),
    "pam": Column(object, lambda batch, _: _spelt(batch.pam)),
    "gc": Column(np.float64, lambda batch, _: _gc(batch.guide), worded(".3f")),
    "specificity": Column(np.float64, lambda batch, _: batch.specificity, worded("g")),
    "specificity_mit": Column(np.float64, lambda batch, _: batch.specificity_mit, worded("g")),
    "score": Column(np.int64, lambda batch, _: _rounded(1000 * np.nan_to_num(batch.specificity))),
}


def _or_none(numbers: Longs) -> Floats:
    """Numbers, NaN where they are -1."""
    return np.where(numbers < 0, nan, numbers)


def _number(cells: Callable[[AssayBatch], Longs]) -> Column:
    """The column of numbers of assays, where there is one."""
    return Column(np.float64, lambda batch, _: _or_none(cells(batch)), worded(".0f"))


def _oligo_columns(name: str, role: int) -> dict[str, Column]:
    return {
        name: _number(lambda batch: batch.distance[:, role]),
        f"{name}_3p": _number(lambda batch: batch.distance_3p[:, role]),
        f"tm_{name}": Column(np.float64, lambda batch, _: batch.tm[:, role], worded(".1f")),
    }


_ANSWERS = Names(("no", "yes"))
_ASSAYS = {
    "genome": Column(object, lambda batch, _: Named(Names(batch.units), batch.genome)),
    "assay": Column(object, lambda batch, rows: Named(rows.labels, batch.assay)),
    "amplifies": Column(object, lambda batch, _: Named(_ANSWERS, batch.amplifies.astype(np.int64))),
    "record": _PLACE["record"],
    "start": _number(lambda batch: batch.start),
    "end": _number(lambda batch: batch.end),
    "length": _number(lambda batch: batch.end - batch.start - (batch.start < 0)),
    **_oligo_columns("forward", FORWARD),
    **_oligo_columns("reverse", REVERSE),
    **_oligo_columns("probe", PROBE),
}
_REGIONS = _PLACE | {
    "name": Column(object, lambda batch, _: same(".", batch)),
    "score": Column(np.int64, lambda batch, _: np.zeros(len(batch), np.int64)),
}


class Rows:
    """What the rows of a table are of: what the cells of its columns are made with.

    columns: by name; without: the names of those that these rows lack; bed, tsv: of those that are
    written; threads: that may format lines, None for one a core.
    """

    columns: dict[str, Column]
    without: tuple[str, ...] = ANNOTATED
    bed: tuple[str, ...]
    tsv: tuple[str, ...]
    threads: int | None = None
    annotation: "Annotation | None" = None

    def cells(self, name: str, batch: Batch) -> Cells:
        """The Cells of a column as lines have them."""
        return self.columns[name].written(batch, self)

    def annotate(self, annotation: "Annotation") -> None:
        """Give rows the columns `gene` and `region`."""
        self.annotation, self.annotated = annotation, LastBatch(annotation.columns)
        self.add(ANNOTATED)

    def check(self) -> None:
        """Warn, behind the last row, of an annotation that knows none of the records."""
        if self.annotation:
            self.annotation.check()

    def add(self, names: Sequence[str]) -> None:
        """Give rows columns that they lack, and TSV behind its others."""
        self.without = tuple(name for name in self.without if name not in names)
        self.tsv = (*self.tsv, *names)

    def choose(self, names: Sequence[str]) -> None:
        """Have TSV these columns. Raises InputError for a name that there is not."""
        self.tsv = tuple(map(self.known, names))

    def known(self, name: str) -> str:
        """The name of a column by that or by its heading. Raises InputError where there is none."""
        known = {name: name for name in self.columns if name not in self.without}
        known |= {HEADINGS[name]: name for name in self.columns if name in HEADINGS}
        if name not in known:
            raise InputError(f"there is no column '{shown(name)}'; give {', '.join(known)}")
        return known[name]

    @property
    def aligned(self) -> bool:
        """Whether TSV has columns that are made of alignments."""
        return any(self.columns[name].aligned for name in self.tsv)


class Screen(NamedTuple):
    """width: characters of a line; colour: whether differences have one."""

    width: int
    colour: bool


class HitRows(Rows):
    """Hits of patterns.

    genomes: that were searched, of which several are named in the rows; None will do for one and
    other formats than SAM. pam_first: whether a PAM stands before the patterns. k: int64[P], the
    differences of each pattern where these are a share of its letters.

    ordered: whether hits come in the genome's order; screen: what lines for eyes are made for, None
    for a file; letters(genome, record, start, end): the letters of a stretch, uint8, genome and
    record by number, called in order, None where they cannot be had.
    """

    columns = _HITS
    ordered = True
    screen: Screen | None = None
    letters: Letters | None = None
    scorer: "Scorer"

    def __init__(
        self,
        patterns: Sequence[Pattern],
        genomes: Genomes | None = None,
        pam_first: bool = False,
        k: Longs | None = None,
    ) -> None:
        self.panel, self.genomes = pattern_set(patterns), genomes
        self.pam_first, self.k = pam_first, k
        self.labels, self.queries = Names(self.panel.names), Names(self.panel.sequences)
        self.flanks = LastBatch(self._flanks)
        several = genomes is not None and genomes.named
        absent = (*ANNOTATED, *SCORES, *VARIANTS, *("k",) * (k is None))
        self.without = absent if several else (*_GENOME, *absent)
        place, genome = ("record", "start", "end", "pattern"), ("genome",) * several
        self.bed = (*place, "score", "strand", "distance", *genome)
        shares = ("k",) * (k is not None)
        self.tsv = (*genome, *place, "distance", "strand", "cigar", "match", *shares)

    def score(self, scorer: "Scorer", names: Sequence[str]) -> None:
        """Give hits the columns of scores, `cfd` and `mit`."""
        self.scorer = scorer
        self.add(names)

    def _flanks(self, batch: HitBatch) -> list[tuple[str, ...]]:
        pairs = ([part.replace("U", "T") for part in each] for each in flanks(batch, self, FLANK))
        return list(zip(*pairs, strict=True)) or [(), ()]


class ProductRows(Rows):
    """Products of pairs of primers; has_text: whether their text is written too; named: whether
    they tell their genome, as there are several."""

    columns = _PRODUCTS

    def __init__(self, pairs: PrimerPairs, has_text: bool = False, named: bool = False) -> None:
        self.pairs, self.labels = pairs, Names(pairs.primers.names)
        probe = ("probe",) * bool(pairs.sides[:, PROBE].any())
        self.without = (*_GENOME * (not named), *ANNOTATED, *("probe",) * (not probe))
        place, genome = ("record", "start", "end", "name"), ("genome",) * named
        distances = ("distance_forward", "distance_reverse")
        self.bed = (*place, "score", "strand", *distances, *genome)
        text = ("sequence",) * has_text
        self.tsv = (*genome, *place, "length", "strand", *SITES, *probe, *text)


class PrimerRows(Rows):
    """Primers with k differences; both_strands: of both strands, which TSV tells then."""

    columns, without = _PRIMERS, (*_GENOME, *ANNOTATED)
    bed = ("record", "start", "end", "name", "score", "strand")

    def __init__(self, k: int, both_strands: bool) -> None:
        self.k = k
        self.tsv = (*self.bed[:3], "length", "gc", "tm", *("strand",) * both_strands)


class GuideRows(Rows):
    """Guides with their sites within k; mit: whether they tell that specificity too."""

    bed = ("record", "start", "end", "guide", "score", "strand")

    def __init__(self, k: int, mit: bool = False) -> None:
        counts = {f"d{distance}": _count_at(distance) for distance in range(k + 1)}
        self.columns = _GUIDES | counts
        specificities = ("specificity", *("specificity_mit",) * mit)
        self.without = (*_GENOME, *ANNOTATED, *("specificity_mit",) * (not mit))
        place = ("record", "start", "end", "guide", "pam", "strand", "gc")
        self.tsv = (*place, *counts, *specificities)


class AssayRows(Rows):
    """Assays in genomes; bed: none."""

    columns, without, bed = _ASSAYS, (), ()
    tsv = (
        *("genome", "assay", "amplifies", "record", "start", "end", "length"),
        *("forward", "reverse", "probe", "forward_3p", "reverse_3p"),
        *("tm_forward", "tm_reverse", "tm_probe"),
    )

    def __init__(self, pairs: PrimerPairs) -> None:
        self.labels = Names(pairs.names)


class RegionRows(Rows):
    """Regions of primers, as BED; both_strands: whether it tells the strand."""

    columns = _REGIONS

    def __init__(self, both_strands: bool) -> None:
        self.bed = PrimerRows.bed[: 6 if both_strands else 3]
