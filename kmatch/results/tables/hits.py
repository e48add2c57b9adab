"""Writing hit batches as BED or TSV."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from kmatch.results.batches import HitBatch
from kmatch.results.files.sending import Sender
from kmatch.results.tables.lines import DIGITS, Names, Rows, bed_lines, tsv_lines
from kmatch.sequences.patterns import Pattern, pattern_set

ROWS = 1 << 15  # formatted at a time
HEADER = "sequence\tstart\tend\tpattern\tdistance\tstrand\tcigar\tmatch\n"
FORMATS = ("bed", "tsv")


class TableWriter(Sender):
    """Writes HitBatches to a text or binary handle; TSV begins with its header line.

    patterns: list of Pattern.
    """

    def __init__(self, handle: Any, form: str, patterns: Sequence[Pattern]) -> None:
        super().__init__(handle)
        panel = pattern_set(patterns)
        self._lines = self._bed if form == "bed" else self._tsv
        self._labels = side_by_side(panel.names)
        self._lengths = panel.lengths
        if form == "tsv":
            self._send(HEADER.encode())

    def write(self, batch: HitBatch) -> None:
        """Write a HitBatch."""
        for first in range(0, len(batch), ROWS):
            self._send(self._lines(batch, slice(first, first + ROWS)))

    def _bed(self, batch: HitBatch, rows: slice) -> memoryview:
        found, names = rows_of(batch, rows)
        out = np.empty(self._fixed_size(found, names), np.uint8)
        written = bed_lines(found, names, self._labels, self._lengths, out)
        return memoryview(out.data)[:written]

    def _tsv(self, batch: HitBatch, rows: slice) -> memoryview:
        found, names = rows_of(batch, rows)
        columns = batch.align(rows)
        # A run of one column takes two bytes, the most a column can take.
        size = self._fixed_size(found, names) + 2 * len(columns.ops) + len(columns.text)
        out = np.empty(size, np.uint8)
        written = tsv_lines(found, names, self._labels, columns, out)
        return memoryview(out.data)[:written]

    def _fixed_size(self, found: Rows, names: Names) -> int:
        """Bytes that lines take at the most, without alignments."""
        records = np.diff(names.ends)[found.record].sum()
        labels = np.diff(self._labels.ends)[found.pattern].sum()
        return int(records + labels) + len(found.record) * (4 * DIGITS + 9)


def rows_of(batch: HitBatch, rows: slice) -> tuple[Rows, Names]:
    """The Rows of a slice, and the Names of the records that they are in."""
    names, record = batch.record_names(rows)
    found = Rows(
        record,
        batch.start[rows],
        batch.end[rows],
        batch.pattern[rows],
        batch.distance[rows],
        batch.minus[rows],
    )
    return found, side_by_side(names)


def side_by_side(names: Iterable[str]) -> Names:
    encoded = [name.encode("utf-8", "surrogateescape") for name in names]
    ends = np.cumsum([0] + [len(name) for name in encoded])
    return Names(np.frombuffer(b"".join(encoded), np.uint8), ends)
