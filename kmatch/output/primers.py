"""Writing primers as BED or TSV, and the regions that have them as BED."""

import io
from math import isnan

ROWS = 1 << 14  # formatted at a time
HEADER = "sequence\tstart\tend\tlength\tgc\ttm"
STRANDS = "+-"


class _Writer:
    """Sends lines to a text or binary handle."""

    def __init__(self, handle):
        self._handle = handle
        self._as_text = isinstance(handle, io.TextIOBase)

    def _send(self, lines):
        text = "".join(lines)
        self._handle.write(text if self._as_text else text.encode("utf-8", "surrogateescape"))


class PrimerWriter(_Writer):
    """Writes PrimerBatches; TSV begins with its header line.

    k: differences that the primers have; both_strands: whether TSV rows end with the strand.
    """

    def __init__(self, handle, form, k, both_strands):
        super().__init__(handle)
        self._k, self._both = k, both_strands
        self._lines = self._bed if form == "bed" else self._tsv
        if form == "tsv":
            self._send([HEADER, "\tstrand" if both_strands else "", "\n"])

    def write(self, batch):
        """Write a PrimerBatch."""
        for first in range(0, len(batch), ROWS):
            self._send(self._lines(batch, slice(first, first + ROWS)))

    def _bed(self, batch, rows):
        columns = (batch.start, batch.end, batch.first, batch.minus)
        for start, end, first, minus in _rows(columns, rows):
            score = round(1000 * min(1, self._k / (end - start)))
            yield f"{batch.name}\t{start}\t{end}\tprimer_{first}\t{score}\t{STRANDS[minus]}\n"

    def _tsv(self, batch, rows):
        columns = (batch.start, batch.end, batch.gc, batch.tm, batch.minus)
        for start, end, gc, tm, minus in _rows(columns, rows):
            degrees = "NA" if isnan(tm) else f"{tm:.1f}"
            strand = f"\t{STRANDS[minus]}" if self._both else ""
            yield f"{batch.name}\t{start}\t{end}\t{end - start}\t{gc:.3f}\t{degrees}{strand}\n"


class RegionWriter(_Writer):
    """Writes the regions of PrimerBatches as BED, with strands where both were asked for."""

    def __init__(self, handle, both_strands):
        super().__init__(handle)
        self._both = both_strands

    def write(self, batch):
        """Write the regions of a PrimerBatch."""
        for start, end, minus in batch.regions.tolist():
            strand = f"\t.\t0\t{STRANDS[minus]}" if self._both else ""
            self._send([f"{batch.name}\t{start}\t{end}{strand}\n"])


def _rows(columns, rows):
    return zip(*(column[rows].tolist() for column in columns), strict=True)
