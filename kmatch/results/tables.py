"""Writing hit batches as BED or TSV."""

import numpy as np

from kmatch.results.files.sending import Sender
from kmatch.results.lines import DIGITS, bed_lines, tsv_lines
from kmatch.sequences.patterns import pattern_set

ROWS = 1 << 15  # formatted at a time
HEADER = "sequence\tstart\tend\tpattern\tdistance\tstrand\tcigar\tmatch\n"
FORMATS = ("bed", "tsv")


class TableWriter(Sender):
    """Writes HitBatches to a text or binary handle; TSV begins with its header line.

    patterns: list of Pattern.
    """

    def __init__(self, handle, form, patterns):
        super().__init__(handle)
        patterns = pattern_set(patterns)
        self._lines = self._bed if form == "bed" else self._tsv
        self._labels, self._label_ends = _side_by_side(patterns.names)
        self._lengths = patterns.lengths
        if form == "tsv":
            self._send(HEADER.encode())

    def write(self, batch):
        """Write a HitBatch."""
        for first in range(0, len(batch), ROWS):
            self._send(self._lines(batch, slice(first, first + ROWS)))

    def _bed(self, batch, rows):
        columns, names, ends = _columns(batch, rows)
        room = self._fixed_room(columns, names, ends)
        out = np.empty(room, np.uint8)
        written = bed_lines(
            *columns, names, ends, self._labels, self._label_ends, self._lengths, out
        )
        return memoryview(out)[:written]

    def _tsv(self, batch, rows):
        columns, names, ends = _columns(batch, rows)
        aligned = batch.align(rows)
        # A run of one column takes two bytes, the most a column can take.
        room = self._fixed_room(columns, names, ends) + 2 * len(aligned.ops) + len(aligned.text)
        out = np.empty(room, np.uint8)
        written = tsv_lines(
            *columns,
            names,
            ends,
            self._labels,
            self._label_ends,
            aligned.op_ends,
            aligned.ops,
            aligned.text_ends,
            aligned.text,
            out,
        )
        return memoryview(out)[:written]

    def _fixed_room(self, columns, names, ends):
        record, pattern = columns[0], columns[3]
        widths = np.diff(ends)[record].sum() + np.diff(self._label_ends)[pattern].sum()
        return int(widths) + len(record) * (4 * DIGITS + 9)


def _columns(batch, rows):
    """The columns of some rows, and the names of their records, as `bed_lines` takes them."""
    names, record = batch.record_names(rows)
    columns = (
        record,
        batch.start[rows],
        batch.end[rows],
        batch.pattern[rows],
        batch.distance[rows],
        batch.minus[rows],
    )
    return columns, *_side_by_side(names)


def _side_by_side(names):
    encoded = [name.encode("utf-8", "surrogateescape") for name in names]
    ends = np.cumsum([0] + [len(name) for name in encoded])
    return np.frombuffer(b"".join(encoded), np.uint8), ends
