"""Hits as tables of columns."""

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np

from kmatch.arrays import Ints, Longs, Objects, Strings, bounds_of
from kmatch.engine.alignments import Columns
from kmatch.results.alignments import cigars, matches
from kmatch.results.batches import HitBatch, aligned_anew
from kmatch.results.table import Table
from kmatch.sequences.chunks import Spans
from kmatch.sequences.patterns import Pattern

if TYPE_CHECKING:
    from kmatch.genome import Genome

ROWS = 1 << 15  # aligned at a time
SIGNS = np.array(["+", "-"])


class Hit(NamedTuple):
    """A row of Hits; start and end are 0-based and half-open on the forward strand."""

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
    `cigar` and `match`, the text as the pattern reads it, hold str (object) and are computed when
    first used. `record_number` and `pattern_number` count from 0 in the order of the genome and of
    the patterns, as names may repeat. `patterns` are those of the search, `genome` is the Genome,
    and `pam_first` says whether a PAM stands before the patterns.

    Iteration gives rows, `hits[3]` a row, as a Hit; `hits[:10]`, `hits[hits.distance == 0]` and
    `hits[numbers]` give Hits.
    """

    _row = Hit
    _shown = ("record", "start", "end", "pattern", "distance", "strand")
    _columns = (*_shown, "cigar", "match")
    _lazy = ("record", "pattern", "cigar", "match")
    _noun = "hit"

    def __init__(
        self,
        batches: Iterable[HitBatch],
        patterns: Sequence[Pattern],
        genome: "Genome | None" = None,
        pam_first: bool = False,
    ) -> None:
        super().__init__(batches)
        self.patterns, self.genome, self.pam_first = patterns, genome, pam_first
        self.record_number: Longs = self._column("record", np.int64)
        self.start: Longs = self._column("start", np.int64)
        self.end: Longs = self._column("end", np.int64)
        self.pattern_number: Ints = self._column("pattern", np.int32)
        self.distance: Ints = self._column("distance", np.int32)
        self.strand: Strings = SIGNS[self._column("minus", np.uint8)]

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

    def _aligned(self, words: Callable[[Columns], list[str]]) -> Objects:
        found: list[str] = []
        for batch in self.batches:
            for first in range(0, len(batch), ROWS):
                found += words(batch.align(slice(first, first + ROWS)))
        return np.array(found, object)

    def _taken(self, rows: Longs) -> Self:
        if not len(rows):
            return type(self)([], self.patterns, self.genome, self.pam_first)
        spans, align = _origins(self.batches, rows)
        batch = HitBatch(
            self.record_number[rows],
            self.start[rows],
            self.end[rows],
            self.pattern_number[rows],
            self.distance[rows],
            (self.strand[rows] == "-").astype(np.uint8),
            spans,
            align,
        )
        return type(self)([batch], self.patterns, self.genome, self.pam_first)

    def _writer(self, form: str, handle: Any) -> Any:
        from kmatch.results.formats.searched import Searched
        from kmatch.results.formats.writers import make_writer

        records, starts = np.diff(self.record_number), np.diff(self.start)
        ordered = bool(((records > 0) | ((records == 0) & (starts >= 0))).all())
        searched = Searched(self.patterns, self.genome, self.pam_first, ordered)
        return make_writer(form, handle, searched)


def _origins(batches: list[HitBatch], rows: Longs) -> tuple[Spans, Callable[[Any], Columns]]:
    """Spans that name the records of rows, counted over several HitBatches, and their `align`."""
    bounds = bounds_of([len(batch) for batch in batches])
    source = np.searchsorted(bounds, rows, side="right") - 1
    local = rows - bounds[source]
    names: Any = {}  # by number
    for number in np.unique(source).tolist():
        batch, mine = batches[number], local[source == number]
        for record in np.unique(batch.record[mine]).tolist():
            names[record] = batch.spans.names[record - batch.spans.first]

    def align(part: Any) -> Columns:
        return aligned_anew(batches, source[part], local[part])

    none = np.zeros(0, np.int64)
    return Spans(0, names, none, none), align
