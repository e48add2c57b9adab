"""Writing hit batches as BED or TSV."""

import numpy as np

from kmatch.output.lines import DIGITS, bed_lines, tsv_lines
from kmatch.output.sending import Sender

ROWS = 1 << 15  # formatted at a time
HEADER = "sequence\tstart\tend\tpattern\tdistance\tstrand\tcigar\tmatch\n"
FORMATS = ("bed", "tsv")


class TableWriter(Sender):
    """Writes HitBatches to a text or binary handle; TSV begins with its header line.

    patterns: list of Pattern.
    """

    def __init__(self, handle, form, patterns):
        super().__init__(handle)
        self._lines = self._bed if form == "bed" else self._tsv
        self._labels, self._label_ends = _side_by_side([pattern.name for pattern in patterns])
        self._lengths = np.array([len(pattern) for pattern in patterns], np.int64)
        if form == "tsv":
            self._send(HEADER.encode())

    def write(self, batch):
        """Write a HitBatch."""
        names, ends = _side_by_side(batch.spans.names)
        for first in range(0, len(batch), ROWS):
            rows = slice(first, first + ROWS)
            self._send(self._lines(batch, rows, names, ends))

    def _bed(self, batch, rows, names, ends):
        columns = _columns(batch, rows)
        room = self._fixed_room(columns, names, ends)
        out = np.empty(room, np.uint8)
        written = bed_lines(
            *columns, names, ends, self._labels, self._label_ends, self._lengths, out
        )
        return memoryview(out)[:written]

    def _tsv(self, batch, rows, names, ends):
        columns, aligned = _columns(batch, rows), batch.align(rows)
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
    return (
        batch.record[rows] - batch.spans.first,
        batch.start[rows],
        batch.end[rows],
        batch.pattern[rows],
        batch.distance[rows],
        batch.minus[rows],
    )


def _side_by_side(names):
    encoded = [name.encode("utf-8", "surrogateescape") for name in names]
    ends = np.cumsum([0] + [len(name) for name in encoded])
    return np.frombuffer(b"".join(encoded), np.uint8), ends
