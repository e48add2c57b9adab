"""Writing primers as BED or TSV, and the regions that have them as BED."""

from collections.abc import Iterable, Iterator
from math import isnan
from typing import Any

from numpy.typing import NDArray

from kmatch.results.batches import PrimerBatch
from kmatch.results.output import Sender

ROWS = 1 << 14  # formatted at a time
HEADER = "sequence\tstart\tend\tlength\tgc\ttm"
STRANDS = "+-"


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
            self._send_lines([HEADER, "\tstrand" if both_strands else "", "\n"])

    def write(self, batch: PrimerBatch) -> None:
        """Write a PrimerBatch."""
        for first in range(0, len(batch), ROWS):
            self._send_lines(self._lines(batch, slice(first, first + ROWS)))

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
