"""Hits as tables of columns."""

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import Any, NamedTuple, Self

import numpy as np

from kmatch.arrays import Ints, Longs, Objects, Strings
from kmatch.engine.types import Columns
from kmatch.genome import Genome, Genomes, as_genomes
from kmatch.results.batches import HitBatch, taken
from kmatch.results.columns import cigars, matches, take_rows
from kmatch.results.table import Table
from kmatch.sequences.patterns import Pattern

ROWS = 1 << 15  # whose alignments become words at a time
SIGNS = np.array(["+", "-"])
Align = Callable[[Sequence[HitBatch]], Iterable[HitBatch]]


class Hit(NamedTuple):
    """A row of Hits; start and end are 0-based and half-open on the forward strand."""

    record: str
    start: int
    end: int
    pattern: str
    distance: int
    strand: str


class ListedHit(NamedTuple):
    """A row of the Hits of several genomes."""

    genome: str
    record: str
    start: int
    end: int
    pattern: str
    distance: int
    strand: str


class Hits(Table[HitBatch, Hit]):
    """The hits of a search, in order of record, start, end, strand and pattern.

    Columns are NumPy arrays of one length: `record` and `pattern` hold names (object), `start` and
    `end` int64, 0-based and half-open on the forward strand, `distance` int32, `strand` `+` or `-`;
    `cigar` and `match`, the text as the pattern reads it, hold str (object). Columns are made when
    first used. `record_number` and `pattern_number` count from 0 in the order of the genome and of
    the patterns, as names may repeat. Of several genomes there are also `genome`, names (object),
    and `genome_number`. `patterns` are those of the search, `searched` are its Genomes, and
    `pam_first` says whether a PAM stands before the patterns. Where k was a share of a pattern's
    letters, `k` (int64) is what it came to.

    Iteration gives rows, `hits[3]` a row, as a Hit; `hits[:10]`, `hits[hits.distance == 0]` and
    `hits[numbers]` give Hits.
    """

    _row = Hit
    _shown = ("record", "start", "end", "pattern", "distance", "strand")
    _columns: Sequence[str] = (*_shown, "cigar", "match")
    _lazy = ("record", "pattern", "strand", "cigar", "match")
    _noun = "hit"

    def __init__(
        self,
        batches: Iterable[HitBatch],
        patterns: Sequence[Pattern],
        searched: Genome | Genomes | None = None,
        pam_first: bool = False,
        k_each: Longs | None = None,
        align: Align | None = None,
    ) -> None:
        """k_each: int64[P], the k of each pattern, where that is a column; align: gives batches
        their alignments, of a search without them."""
        super().__init__(batches)
        self._align = align
        self.searched = None if searched is None else as_genomes(searched)
        self._add_genomes(self.searched is not None and self.searched.named, ListedHit)
        self.patterns, self.pam_first, self._k_each = patterns, pam_first, k_each
        if k_each is not None:
            self.k: Longs = k_each[self.pattern_number]
            self._columns = (*self._columns, "k")

    @cached_property
    def record_number(self) -> Longs:
        """Records by number."""
        return np.asarray(self._column("record", np.int64))

    @cached_property
    def start(self) -> Longs:
        """Where hits begin on the forward strand, 0-based."""
        return np.asarray(self._column("start", np.int64))

    @cached_property
    def end(self) -> Longs:
        """Where hits end on the forward strand, half-open."""
        return np.asarray(self._column("end", np.int64))

    @cached_property
    def pattern_number(self) -> Ints:
        """Patterns by number."""
        return np.asarray(self._column("pattern", np.int32))

    @cached_property
    def distance(self) -> Ints:
        """Mismatches or differences."""
        return np.asarray(self._column("distance", np.int32))

    @cached_property
    def strand(self) -> Strings:
        """`+` or `-`."""
        return SIGNS[self._column("minus", np.uint8)]

    @cached_property
    def record(self) -> Objects:
        """Names of the records."""
        parts = []
        for batch in self.batches:
            names, which = batch.record_names()
            parts.append(np.array(names, object)[which])
        return np.concatenate([np.zeros(0, object), *parts])

    @cached_property
    def pattern(self) -> Objects:
        """Names of the patterns."""
        return np.array([pattern.name for pattern in self.patterns], object)[self.pattern_number]

    @cached_property
    def cigar(self) -> Objects:
        """Alignments from the pattern's first letter on: `=`, `X`, `I` and `D`."""
        return self._aligned(cigars)

    @cached_property
    def match(self) -> Objects:
        """The text of each hit in the direction of the pattern: A, C, G, T or N a base."""
        return self._aligned(matches)

    def to_sam(self, target: Any) -> None:
        """Write SAM with a header to a path or to a handle, as `to_bed` does.

        Raises InputError for a genome whose records SAM cannot name, and for one that cannot be
        read again for their lengths.
        """
        self._write("sam", target)

    def to_gff3(self, target: Any) -> None:
        """Write GFF3 to a path or to a handle, as `to_bed` does."""
        self._write("gff3", target)

    def plot(self, *, records: int | None = None) -> Any:
        """A Matplotlib Figure: hits along their records by strand and distance, and their numbers
        by pattern and distance.

        records: how many, those with the most hits, are drawn by themselves; 24 by default. Raises
        OutputError where Matplotlib is not installed.
        """
        from kmatch.pictures.columns import columns_of_hits
        from kmatch.pictures.hits import draw_hits

        return draw_hits(columns_of_hits(self), records)

    def __getstate__(self) -> dict[str, Any]:
        """What another process needs: it has the alignments, and maybe not the genome."""
        self._make_alignments()
        return vars(self)

    def _make_alignments(self) -> None:
        if self._align:
            self.batches, self._align = list(self._align(self.batches)), None

    def _write(self, form: str, target: Any) -> None:
        if form != "bed":
            self._make_alignments()
        super()._write(form, target)

    def _aligned(self, words: Callable[[Columns], list[str]]) -> Objects:
        self._make_alignments()
        found: list[str] = []
        for batch in self.batches:
            for first in range(0, len(batch), ROWS):
                found += words(take_rows(batch.aligned, slice(first, first + ROWS)))
        return np.array(found, object)

    def _taken(self, rows: Longs) -> Self:
        batches = [taken(self.batches, part) for part in self._by_genome(rows)]
        common = self.patterns, self.searched, self.pam_first, self._k_each, self._align
        return type(self)(batches, *common)

    def _writer(self, form: str, handle: Any) -> Any:
        from kmatch.results.formats import make_writer
        from kmatch.results.tables import Searched

        records, starts = np.diff(self.record_number), np.diff(self.start)
        ordered = bool(((records > 0) | ((records == 0) & (starts >= 0))).all())
        searched = Searched(self.patterns, self.searched, self.pam_first, ordered, k=self._k_each)
        return make_writer(form, handle, searched)
