"""Tables of hits, products and primers: BED and TSV."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future
from math import isnan
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kmatch.arrays import Bytes, Longs
from kmatch.genome import Genomes
from kmatch.jit import entry
from kmatch.results.batches import (
    HitBatch,
    PrimerBatch,
    PrimerSites,
    ProductBatch,
    sizes_of,
)
from kmatch.results.columns import cigars, take_rows, words
from kmatch.results.output import Sender
from kmatch.sequences.patterns import Pattern, pattern_set
from kmatch.sequences.primer_pairs import PrimerPairs
from kmatch.threads import cores, pool

bed_lines = entry("kmatch.results.lines", "bed_lines")
tsv_lines = entry("kmatch.results.lines", "tsv_lines")

DIGITS = 20  # the most that an int64 takes


class Rows(NamedTuple):
    """n hits: record, start, end: int64[n]; pattern, distance: int32[n]; minus: uint8[n]."""

    record: np.ndarray
    start: np.ndarray
    end: np.ndarray
    pattern: np.ndarray
    distance: np.ndarray
    minus: np.ndarray


class Names(NamedTuple):
    """Names side by side: letters: uint8; ends: int64, number i is from ends[i] to ends[i+1]."""

    letters: np.ndarray
    ends: np.ndarray


ROWS = 1 << 15  # formatted at a time
MANY = 1 << 12  # rows of a batch that is formatted beside the search
AHEAD = 3  # times ROWS that may wait beyond those that are formatted
THREADS = 4  # that format at a time
_HIT_HEADER = "sequence\tstart\tend\tpattern\tdistance\tstrand\tcigar\tmatch"
FEW = 1 << 14  # products or primers formatted at a time
_PRODUCT_HEADER = (
    "sequence\tstart\tend\tname\tlength\tstrand"
    "\tforward\tforward_start\tforward_end\tdistance_forward\tcigar_forward"
    "\treverse\treverse_start\treverse_end\tdistance_reverse\tcigar_reverse"
)
_PRIMER_HEADER = "sequence\tstart\tend\tlength\tgc\ttm"
STRANDS = "+-"


class Screen(NamedTuple):
    """width: characters of a line; colour: whether differences have one."""

    width: int
    colour: bool


class Searched(NamedTuple):
    """What was searched.

    patterns; genomes: Genomes; None will do for one and other formats than SAM; pam_first: whether
    a PAM stands before the patterns; ordered: whether hits come in the genome's order; screen: what
    lines for eyes are made for, None for a file; letters(genome, record, start, end): the letters
    of a stretch, uint8, genome and record by number, called in order, None where they cannot be
    had; k: int64[P], the differences of each pattern where these are a share of its letters;
    threads: that may format lines, None for one a core.
    """

    patterns: Sequence[Pattern]
    genomes: Genomes | None = None
    pam_first: bool = False
    ordered: bool = True
    screen: Screen | None = None
    letters: Callable[[int, int, int, int], Bytes] | None = None
    k: Longs | None = None
    threads: int | None = None

    @property
    def named(self) -> bool:
        """Whether hits tell their genome, as there are several."""
        return self.genomes is not None and self.genomes.named


class TableWriter(Sender):
    """Writes HitBatches to a text or binary handle; TSV begins with its header line.

    Where several genomes were searched, lines name theirs, first in TSV, last in BED; where the
    differences allowed are a share of each pattern's letters, TSV ends with them.
    """

    def __init__(self, handle: Any, form: str, searched: Searched) -> None:
        super().__init__(handle)
        panel, named, k = pattern_set(searched.patterns), searched.named, searched.k
        self._lines = self._bed if form == "bed" else self._tsv
        self._labels = side_by_side(panel.names)
        self._lengths = panel.lengths
        self._waiting: deque[Future[memoryview]] = deque()
        threads = min(searched.threads or cores(), THREADS)
        self._submit, self._ahead = pool(threads, "kmatch lines").submit, AHEAD + threads
        self._ends = None if k is None else [b"\t%d\n" % each for each in k.tolist()]
        if form == "tsv":
            columns = ["genome"] * named + [_HIT_HEADER] + ["k"] * (k is not None)
            self._send(("\t".join(columns) + "\n").encode())

    def write(self, batch: HitBatch) -> None:
        """Write a HitBatch; threads format a large one while the search goes on."""
        if 0 < len(batch) < MANY and not self._waiting:
            self._send(self._lines(batch, slice(None)))
            return
        for first in range(0, len(batch), ROWS):
            rows = slice(first, first + ROWS)
            self._waiting.append(self._submit(self._lines, batch, rows))
            self._send_until(self._ahead)

    def finish(self) -> None:
        """Send what still waits, after the last batch."""
        self._send_until(0)

    def _send_until(self, left: int) -> None:
        """Send lines in their order: what is ready, and until so many parts wait."""
        while self._waiting and (len(self._waiting) > left or self._waiting[0].done()):
            self._send(self._waiting.popleft().result())

    def _bed(self, batch: HitBatch, rows: slice) -> memoryview:
        found, names = rows_of(batch, rows)
        if batch.origin.circles is not None:
            found = _cut_at_origin(found, batch.record[rows], batch.origin.circles)
        out = np.empty(self._fixed_size(found, names), np.uint8)
        written = bed_lines(found, names, self._labels, self._lengths, out)
        return named_at_end(memoryview(out.data)[:written], "\t", batch.origin.name)

    def _tsv(self, batch: HitBatch, rows: slice) -> memoryview:
        found, names = rows_of(batch, rows, batch.origin.name)
        columns = take_rows(batch.aligned, rows)
        # A run of one column takes two bytes, the most a column can take.
        size = self._fixed_size(found, names) + 2 * len(columns.ops) + len(columns.text)
        out = np.empty(size, np.uint8)
        written = tsv_lines(found, names, self._labels, columns, out)
        lines = memoryview(out.data)[:written]
        if self._ends is None:
            return lines
        each = zip(bytes(lines).split(b"\n"), batch.pattern[rows].tolist(), strict=False)
        return memoryview(b"".join(line + self._ends[pattern] for line, pattern in each))

    def _fixed_size(self, found: Rows, names: Names) -> int:
        """Bytes that lines take at the most, without alignments."""
        records = np.diff(names.ends)[found.record].sum()
        labels = np.diff(self._labels.ends)[found.pattern].sum()
        return int(records + labels) + len(found.record) * (4 * DIGITS + 9)


def named_at_end(lines: memoryview, before: str, genome: str | None) -> memoryview:
    """Lines that end with the name of a genome, if there is one, and what stands before it."""
    if genome is None:
        return lines
    name = f"{before}{genome}\n".encode("utf-8", "surrogateescape")
    return memoryview(bytes(lines).replace(b"\n", name))


def rows_of(batch: HitBatch, rows: slice, genome: str | None = None) -> tuple[Rows, Names]:
    """The Rows of a slice, and the Names of the records that they are in, behind the genome's."""
    names, record = batch.record_names(rows)
    if genome is not None:
        names = [f"{genome}\t{name}" for name in names]
    found = Rows(
        record,
        batch.start[rows],
        batch.end[rows],
        batch.pattern[rows],
        batch.distance[rows],
        batch.minus[rows],
    )
    return found, side_by_side(names)


def _cut_at_origin(found: Rows, record: Longs, circles: dict[int, int]) -> Rows:
    """The Rows with two for each one that runs over the origin: up to it, and from it on."""
    size = sizes_of(record, circles)
    over = found.end > size
    pieces = 1 + over
    cut = Rows(*(np.repeat(column, pieces) for column in found))
    second = np.cumsum(pieces)[over] - 1
    cut.end[second - 1], cut.start[second] = size[over], 0
    cut.end[second] -= size[over]
    return cut


def side_by_side(names: Iterable[str]) -> Names:
    encoded = [name.encode("utf-8", "surrogateescape") for name in names]
    ends = np.cumsum([0] + [len(name) for name in encoded])
    return Names(np.frombuffer(b"".join(encoded), np.uint8), ends)


class ProductWriter(Sender):
    """Writes ProductBatches to a text or binary handle; TSV begins with its header line.

    sequence: whether TSV ends with the text of the products; named: whether lines name the genome,
    first in TSV, last in BED.
    """

    def __init__(
        self,
        handle: Any,
        form: str,
        pairs: PrimerPairs,
        sequence: bool = False,
        named: bool = False,
    ) -> None:
        super().__init__(handle)
        self._pairs, self._sequence = pairs, sequence
        self._columns = self._bed if form == "bed" else self._tsv
        if form == "tsv":
            header = named * "genome\t" + _PRODUCT_HEADER + sequence * "\tproduct"
            self._send(f"{header}\n".encode())

    def write(self, batch: ProductBatch) -> None:
        """Write a ProductBatch."""
        for first in range(0, len(batch), FEW):
            part = batch.picked(slice(first, first + FEW))
            lines: Iterable[Any] = zip(*self._columns(part), strict=True)
            if self._columns == self._bed and batch.origin.circles is not None:
                lines = _cut_products(lines, part)
            if (genome := batch.origin.name) is not None:
                last = self._columns == self._bed
                lines = ((*line, genome) if last else (genome, *line) for line in lines)
            text = "".join("\t".join(map(str, line)) + "\n" for line in lines)
            self._send(text.encode("utf-8", "surrogateescape"))

    def _bed(self, batch: ProductBatch) -> Iterator[Any]:
        forward, reverse = batch.forward, batch.reverse
        lengths = self._pairs.primers.lengths
        letters = lengths[forward.primer] + lengths[reverse.primer]
        differences = forward.distance + reverse.distance
        yield from self._interval(batch)
        yield np.rint(1000 * (1 - differences / letters)).astype(np.int64).tolist()
        yield np.array([*STRANDS], object)[batch.minus]
        yield forward.distance.tolist()
        yield reverse.distance.tolist()

    def _tsv(self, batch: ProductBatch) -> Iterator[Any]:
        yield from self._interval(batch)
        yield (batch.end - batch.start).tolist()
        yield np.array([*STRANDS], object)[batch.minus]
        yield from self._site(batch.forward)
        yield from self._site(batch.reverse)
        if self._sequence and batch.text:
            yield words(batch.text)

    def _interval(self, batch: ProductBatch) -> Iterator[Any]:
        yield [batch.names[number] for number in batch.record.tolist()]
        yield batch.start.tolist()
        yield batch.end.tolist()
        yield self._pairs.product_names(batch.forward.primer, batch.reverse.primer)

    def _site(self, site: PrimerSites) -> Iterator[Any]:
        names = self._pairs.primers.names
        yield [names[number] for number in site.primer.tolist()]
        yield site.start.tolist()
        yield site.end.tolist()
        yield site.distance.tolist()
        yield cigars(site.columns) if site.columns else []


def _cut_products(lines: Iterable[Any], batch: ProductBatch) -> Iterator[tuple[Any, ...]]:
    """Lines of BED, two for each product that runs over the origin of its record."""
    sizes = sizes_of(batch.record, batch.origin.circles or {}).tolist()
    for (record, start, end, *rest), size in zip(lines, sizes, strict=True):
        yield record, start, min(end, size), *rest
        if end > size:
            yield record, 0, end - size, *rest


class _Lines(Sender):
    """Sends lines of text."""

    def _send_lines(self, lines: Iterable[str]) -> None:
        self._send("".join(lines).encode("utf-8", "surrogateescape"))


class PrimerWriter(_Lines):
    """Writes PrimerBatches; TSV begins with its header line.

    k: differences that the primers have; both_strands: whether TSV rows end with the strand.
    """

    def __init__(self, handle: Any, form: str, k: int, both_strands: bool) -> None:
        super().__init__(handle)
        self._k, self._both = k, both_strands
        self._lines = self._bed if form == "bed" else self._tsv
        if form == "tsv":
            self._send_lines([_PRIMER_HEADER, "\tstrand" if both_strands else "", "\n"])

    def write(self, batch: PrimerBatch) -> None:
        """Write a PrimerBatch."""
        for first in range(0, len(batch), FEW):
            self._send_lines(self._lines(batch, slice(first, first + FEW)))

    def _bed(self, batch: PrimerBatch, rows: slice) -> Iterator[str]:
        columns = (batch.start, batch.end, batch.first, batch.minus)
        for start, end, first, minus in _rows(columns, rows):
            score = round(1000 * min(1, self._k / (end - start)))
            yield f"{batch.name}\t{start}\t{end}\tprimer_{first}\t{score}\t{STRANDS[minus]}\n"

    def _tsv(self, batch: PrimerBatch, rows: slice) -> Iterator[str]:
        columns = (batch.start, batch.end, batch.gc, batch.tm, batch.minus)
        for start, end, gc, tm, minus in _rows(columns, rows):
            degrees = "NA" if isnan(tm) else f"{tm:.1f}"
            strand = f"\t{STRANDS[minus]}" if self._both else ""
            yield f"{batch.name}\t{start}\t{end}\t{end - start}\t{gc:.3f}\t{degrees}{strand}\n"


class RegionWriter(_Lines):
    """Writes the regions of PrimerBatches as BED, with strands where both were asked for."""

    def __init__(self, handle: Any, both_strands: bool) -> None:
        super().__init__(handle)
        self._both = both_strands

    def write(self, batch: PrimerBatch) -> None:
        """Write the regions of a PrimerBatch."""
        for start, end, minus in batch.regions.tolist():
            strand = f"\t.\t0\t{STRANDS[minus]}" if self._both else ""
            self._send_lines([f"{batch.name}\t{start}\t{end}{strand}\n"])


def _rows(columns: Iterable[NDArray[Any]], rows: slice) -> Iterator[tuple[Any, ...]]:
    return zip(*(column[rows].tolist() for column in columns), strict=True)
