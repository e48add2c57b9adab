"""Reads and the barcode of each, as a table, and how many there are of each barcode."""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from kmatch.arrays import Floats, Longs
from kmatch.engine.types import Texts
from kmatch.errors import OutputError
from kmatch.results.batches import Batch
from kmatch.results.columns import Column, Table, named_row, opened, write_line
from kmatch.results.lines import Named, Names

STATUSES = ("assigned", "ambiguous", "unassigned")
ASSIGNED, AMBIGUOUS, UNASSIGNED = range(len(STATUSES))
NO_BARCODE = STATUSES[AMBIGUOUS:]  # what is in the place of a barcode
_STRANDS = Names(("+", "-", ""))


class TextNames(Names):
    """Words that stand side by side already."""

    def __init__(self, texts: Texts) -> None:
        self._texts = texts

    @property
    def texts(self) -> Texts:
        return self._texts

    @property
    def words(self) -> list[str]:
        bounds, letters = self._texts
        pairs = pairwise(bounds.tolist())
        return [letters[i:j].tobytes().decode("utf-8", "surrogateescape") for i, j in pairs]


def _read_names(batch: "ReadBatch", _: "Reads") -> Named:
    return Named(TextNames(batch.read), np.arange(len(batch)))


@dataclass(frozen=True, eq=False, repr=False)
class ReadBatch(Batch):
    """n reads in the order of their file, numbered by `record`, and the best site of each.

    read: their names; length: int64, their letters; status: int64, ASSIGNED, AMBIGUOUS or
    UNASSIGNED; barcode, distance: int64, of the best site, whose place is `start` and `end`; minus:
    int64, 1 for the strand `-`; second, second_distance: int64, of the best site of another
    barcode. All of these are -1 where there is none.
    """

    read: Texts
    length: Longs
    status: Longs
    barcode: Longs
    distance: Longs
    minus: Longs
    second: Longs
    second_distance: Longs

    def groups(self, barcode_count: int) -> Longs:
        """Return where each read goes, int64[n]: a barcode by number, and behind the last one
        AMBIGUOUS and UNASSIGNED."""
        return np.where(self.status == ASSIGNED, self.barcode, barcode_count - 1 + self.status)


def _number(name: str) -> Column[np.float64]:
    """Return the column of a field of batches, NaN where that is -1."""

    def numbers(batch: ReadBatch, _: "Reads") -> Floats:
        found = getattr(batch, name)
        return np.where(found < 0, np.nan, found)

    return Column(np.float64, numbers, ".0f")


def _barcode(name: str) -> Column[np.object_]:
    """Return the column of the names of the barcodes in a field, the last label where it is -1."""

    def names(batch: ReadBatch, table: "Reads") -> Named:
        found = getattr(batch, name)
        return Named(table.labels, np.where(found < 0, len(table.names), found))

    return Column(np.object_, names)


def _strands(batch: ReadBatch, _: "Reads") -> Named:
    return Named(_STRANDS, np.where(batch.minus < 0, 2, batch.minus))


class Reads(Table[ReadBatch, Any]):
    """The reads of a file and the barcode of each, a row a read, in the order of the file.

    Columns are NumPy arrays of one length: `read` holds names, `length` the letters, `status` is
    `assigned`, `ambiguous` or `unassigned`, `barcode` and `second` hold names of barcodes (object),
    empty where there is none, as `strand`. `distance`, `start`, `end` and `second_distance` are
    float64, NaN where there is none.

    Iteration gives rows; `reads[:10]`, `reads[reads.status == "assigned"]` and `reads[numbers]`
    give Reads.
    """

    noun = "read"
    joins = False
    read = Column(np.object_, _read_names)
    length = Column(np.int64, lambda batch, _: batch.length)
    status = Column(np.object_, lambda batch, _: Named(Names(STATUSES), batch.status))
    barcode = _barcode("barcode")
    distance = _number("distance")
    strand = Column(np.object_, _strands)
    start = _number("start")
    end = _number("end")
    second = _barcode("second")
    second_distance = _number("second_distance")
    tsv = (
        "read",
        "length",
        "status",
        "barcode",
        "distance",
        "strand",
        "start",
        "end",
        "second",
        "second_distance",
    )
    _row = named_row("Read", tsv)

    def __init__(self, batches: Iterable[ReadBatch], names: list[str], k: int) -> None:
        """names: of the barcodes; k: the most differences of a read that is not unassigned."""
        self.names = names
        self.labels = Names([*names, ""])
        self._most = k
        super().__init__(batches)

    def take(self, batches: Iterable[ReadBatch]) -> None:
        super().take(batches)
        self._counts: Any = np.zeros((len(self.names) + len(NO_BARCODE), self._most + 1), np.int64)
        for batch in self.batches:
            self.count(batch)

    def count(self, batch: ReadBatch) -> None:
        """Have the reads of a batch in the counts, which need it no longer."""
        places = batch.groups(len(self.names)), np.maximum(batch.distance, 0)
        np.add.at(self._counts, places, 1)

    @property
    def statuses(self) -> dict[str, int]:
        """How many reads have each status."""
        *barcodes, ambiguous, unassigned = self._counts.sum(axis=1).tolist()
        return dict(zip(STATUSES, (sum(barcodes), ambiguous, unassigned), strict=True))

    @property
    def facts(self) -> list[dict[str, Any]]:
        """Of each barcode its name, and its reads, by distance too."""
        rows = zip(self.names, self._counts.tolist(), strict=False)
        return [
            {"barcode": name, "reads": sum(row), "reads_by_distance": row} for name, row in rows
        ]

    def to_bed(self, target: Any) -> None:
        raise OutputError("reads have no BED, as not every row has a place; use to_tsv")

    def to_html(self, target: Any) -> None:
        raise OutputError("reads have no page; to_summary has the numbers of each barcode")

    def plot(self, *, records: int | None = None) -> Any:
        raise OutputError("reads have no picture; to_summary has the numbers of each barcode")

    def to_summary(self, target: Any) -> None:
        """Write `barcode d0 … dk total` as TSV to a path or to a handle, a line a barcode, and one
        for the ambiguous reads and the unassigned ones."""
        counts = self._counts.tolist()
        with opened(target) as handle:
            write_line(handle, ["barcode", *(f"d{d}" for d in range(self._most + 1)), "total"])
            for name, row in zip([*self.names, *NO_BARCODE], counts, strict=True):
                cells = row if name != STATUSES[UNASSIGNED] else len(row) * [""]
                write_line(handle, [name, *cells, sum(row)])
