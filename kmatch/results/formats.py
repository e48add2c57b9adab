"""BED, TSV and GFF3, a line a row, and the writer of each format by its name."""

import re
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from kmatch.results.batches import Batch, HitBatch, cut_at_origin
from kmatch.results.columns import HEADINGS
from kmatch.results.lines import Fields, Named, Names, record_cells, same
from kmatch.results.sam import SamWriter
from kmatch.results.table import Hits
from kmatch.results.view import ViewWriter
from kmatch.results.writer import Writer

# Bytes that GFF3 wants escaped.
_IN_SEQUENCE = re.compile(rb"[^a-zA-Z0-9.:^*$@!+_?|-]")
_IN_VALUE = re.compile(rb"[\x00-\x1f\x7f%;=&,]")


class BedWriter(Writer):
    """Writes BED, in which a row over the origin of its record is two."""

    between = "\t"

    def fields(self, batch: Batch) -> Fields:
        return self._tabbed(self.table.bed, cut_at_origin(batch))

    def _tabbed(self, names: Iterable[str], batch: Batch) -> Fields:
        return [
            (self.between if number else "", self.table.cells(name, batch))
            for number, name in enumerate(names)
        ]


class TsvWriter(BedWriter):
    """Writes TSV below a line of headings."""

    def header(self) -> str:
        return self.between.join(HEADINGS.get(name, name) for name in self.table.tsv) + "\n"

    def fields(self, batch: Batch) -> Fields:
        return self._tabbed(self.table.tsv, batch)


class CsvWriter(TsvWriter):
    """Writes the same with commas, and quotes where words hold one."""

    between = ","

    def fields(self, batch: Batch) -> Fields:
        return [
            (mark, cells._replace(names=cells.names.quoted) if isinstance(cells, Named) else cells)
            for mark, cells in super().fields(batch)
        ]


class Gff3Writer(Writer):
    """Writes GFF3: each hit is a `nucleotide_match`, numbered from 1.

    A circular record has a line of its own before its hits, of which those over the origin end
    behind its last letter.
    """

    def __init__(self, handle: Any, table: Hits) -> None:
        self._labels = Names(map(_escaper(_IN_VALUE), table.labels.words))
        self._number = 1
        self._circles: set[tuple[int, int]] = set()  # those that have their lines
        super().__init__(handle, table)

    def header(self) -> str:
        return "##gff-version 3\n"

    def fields(self, batch: HitBatch) -> Fields:
        first, self._number = self._number, self._number + len(batch)
        name = batch.origin.name
        genome = None if name is None else _escaper(_IN_VALUE)(name)
        return [
            ("", self._circle_lines(batch, genome)),
            ("", record_cells(batch, _escaper(_IN_SEQUENCE))),
            ("\tkmatch\tnucleotide_match\t", batch.start + 1),
            ("\t", batch.end),
            ("\t", self.table.cells("score", batch)),
            ("\t", self.table.cells("strand", batch)),
            ("\t.\tID=hit", np.arange(first, self._number)),
            (";Name=", Named(self._labels, batch.pattern)),
            (";distance=", batch.distance),
            (";cigar=", self.table.cells("cigar", batch)),
            *([] if genome is None else [(";genome=", same(genome, batch))]),
        ]

    def _circle_lines(self, batch: HitBatch, genome: str | None) -> Named:
        """For the first hit of a circular record that record's line, for others nothing."""
        lines, which = [""], np.zeros(len(batch), np.int64)
        circles = batch.origin.circles or {}
        begins = np.flatnonzero(np.diff(batch.record, prepend=-1)) if circles else ()
        for row in map(int, begins):
            record = int(batch.record[row])
            circle = batch.origin.number, record
            if record in circles and circle not in self._circles:
                self._circles.add(circle)
                which[row] = len(lines)
                place = f"{_escaper(_IN_SEQUENCE)(batch.names[record])}\tkmatch\tregion"
                ending = "" if genome is None else f";genome={genome}"
                size = circles[record]
                lines.append(f"{place}\t1\t{size}\t.\t+\t.\tIs_circular=true{ending}\n")
        return Named(Names(lines), which)


def _escaper(unfit: re.Pattern[bytes]) -> Callable[[str], str]:
    """A function that writes the bytes of a name that do not fit as `%` and two digits."""

    def escape(name: str) -> str:
        data = name.encode("utf-8", "surrogateescape")
        return unfit.sub(lambda byte: b"%%%02X" % byte[0][0], data).decode(
            "utf-8", "surrogateescape"
        )

    return escape


# By name, each made with (handle, table). Hits have all, products and primers BED, TSV and CSV.
FORMATS: dict[str, Callable[[Any, Any], Writer]] = {
    "bed": BedWriter,
    "tsv": TsvWriter,
    "csv": CsvWriter,
    "sam": SamWriter,
    "gff3": Gff3Writer,
    "view": ViewWriter,
}
