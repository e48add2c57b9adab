"""Writing hit batches as BED or TSV."""

from collections import deque
from collections.abc import Iterable
from concurrent.futures import Future
from typing import Any

import numpy as np

from kmatch.arrays import Longs
from kmatch.results.batches import HitBatch, sizes_of
from kmatch.results.columns import take_rows
from kmatch.results.formats.searched import Searched
from kmatch.results.output import Sender
from kmatch.results.tables.lines import DIGITS, Names, Rows, bed_lines, tsv_lines
from kmatch.sequences.patterns import pattern_set
from kmatch.threads import cores, pool

ROWS = 1 << 15  # formatted at a time
MANY = 1 << 12  # rows of a batch that is formatted beside the search
AHEAD = 3  # times ROWS that may wait beyond those that are formatted
THREADS = 4  # that format at a time
HEADER = "sequence\tstart\tend\tpattern\tdistance\tstrand\tcigar\tmatch"
FORMATS = ("bed", "tsv")


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
            columns = ["genome"] * named + [HEADER] + ["k"] * (k is not None)
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
