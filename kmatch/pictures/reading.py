"""Tables that kmatch wrote, TSV or BED, read back as columns."""

from collections.abc import Callable, Iterable, Iterator
from math import isfinite, nan
from typing import Any, NamedTuple, NoReturn

import numpy as np

from kmatch.arguments import MOST
from kmatch.arrays import Floats, Ints, Longs
from kmatch.errors import InputError, shown
from kmatch.pictures.columns import (
    HITS,
    PRODUCTS,
    HitColumns,
    Nouns,
    PrimerColumns,
    Records,
    last_ends,
    within_folder,
)
from kmatch.sequences.files import Source, StrPath, open_source

_BLOCK = 1 << 22  # bytes of lines taken at a time
_HEADERS = (b"#", b"track", b"browser")
_SHOWN = 40  # characters of a wrong cell
_NOT_AVAILABLE = b"NA"
_OTHERS = {  # first bytes of what is no table of hits
    b"@HD": "SAM",
    b"@SQ": "SAM",
    b"##gff": "GFF3",
    b">": "FASTA",
    b"pattern\td": "a summary, which has no positions",
}
_WANTED = "write the hits as TSV (--format tsv) or BED, and plot these"


class Layout(NamedTuple):
    """Which column of a table holds what, by number; distances are added up."""

    width: int
    record: int
    start: int
    end: int
    strand: int | None
    pattern: int | None = None
    distances: tuple[int, ...] = ()
    gc: int | None = None
    tm: int | None = None
    genome: int | None = None

    @property
    def of_primers(self) -> bool:
        return not self.distances


def read_table(path: StrPath) -> HitColumns | PrimerColumns:
    """The hits, products or primers of a table that kmatch wrote; `-` is standard input.

    Products are hits of their pair, with the distances of both primers added up. Raises InputError,
    naming file and line, for anything else.
    """
    with open_source(path) as source:
        return _Reader(source).columns()


class _Names:
    """Numbers for names, in the order of their first appearance."""

    def __init__(self) -> None:
        self._numbers: dict[bytes, int] = {}

    def numbers(self, names: Iterable[bytes]) -> list[int]:
        known = self._numbers
        return [known.setdefault(name, len(known)) for name in names]

    def names(self) -> list[str]:
        return [name.decode("utf-8", "surrogateescape") for name in self._numbers]


class _Reader:
    """Reads the lines of a Source block by block."""

    def __init__(self, source: Source) -> None:
        self._label, self._handle = source.label, source.handle
        self._line = 0  # number of the last line of the blocks before
        self._records, self._patterns, self._genomes = _Names(), _Names(), _Names()

    def columns(self) -> HitColumns | PrimerColumns:
        parts = []
        layout = None
        for block in self._blocks():
            lines = [line.rstrip(b"\r\n") for line in block]
            if layout is None:
                layout, lines = self._begin(lines)
            if layout is not None:
                parts.append(self._rows(layout, lines))
            self._line += len(block)
        if layout is None or not layout.of_primers:
            of_products = layout is not None and len(layout.distances) == 2
            return self._hits(parts, PRODUCTS if of_products else HITS)
        return self._primers(parts)

    def _blocks(self) -> Iterator[list[bytes]]:
        while block := self._handle.readlines(_BLOCK):
            yield block

    def _begin(self, lines: list[bytes]) -> tuple[Layout | None, list[bytes]]:
        """The Layout that the first line of a table shows, and its rows; None while there is none.

        A header leaves an empty line behind, so that lines keep their numbers.
        """
        for number, line in enumerate(lines):
            for start, what in _OTHERS.items():
                if line.startswith(start):
                    self._fail(number, f"this is {what}; {_WANTED}")
            if not line.strip() or line.startswith(_HEADERS):
                continue
            cells = line.split(b"\t")
            layout = _tsv_layout(cells)
            if layout is not None:
                return layout, [b""] * (number + 1) + lines[number + 1 :]
            layout = _bed_layout(cells)
            if layout is None:
                self._fail(number, f"neither a header nor BED of kmatch's; {_WANTED}")
            return layout, lines
        return None, []

    def _rows(self, layout: Layout, lines: list[bytes]) -> list[Any]:
        """Columns of the rows among lines, in the order in which `_hits` takes them."""
        rows, numbers = [], []
        for number, line in enumerate(lines):
            if line and not line.startswith(_HEADERS):
                cells = line.split(b"\t")
                if len(cells) < layout.width:
                    self._fail(
                        number,
                        f"{len(cells)} of the table's {layout.width} columns; complete the line, "
                        "or write the table again",
                    )
                rows.append(cells)
                numbers.append(number)

        def whole(column: int) -> Longs:
            return self._numbers_of(rows, numbers, column, np.int64, _whole)

        def real(column: int | None) -> Floats:
            if column is None:
                return np.full(len(rows), np.nan)
            return self._numbers_of(rows, numbers, column, np.float64, _real)

        names = (row[layout.record] for row in rows)
        if layout.genome is not None:
            self._genomes.numbers(row[layout.genome] for row in rows)
            names = (row[layout.genome] + b" " + row[layout.record] for row in rows)
        start, end = whole(layout.start), whole(layout.end)
        for row in np.flatnonzero(start >= end)[:1].tolist():
            self._fail(numbers[row], f"starts at {start[row]} and ends before, at {end[row]}")
        patterns = [] if layout.pattern is None else [row[layout.pattern] for row in rows]
        return [
            np.array(self._records.numbers(names), np.int32),
            start,
            end,
            self._minus(layout, rows, numbers),
            np.array(self._patterns.numbers(patterns), np.int32),
            sum((whole(column) for column in layout.distances), np.zeros(len(rows), np.int64)),
            real(layout.gc),
            real(layout.tm),
        ]

    def _minus(self, layout: Layout, rows: list[list[bytes]], numbers: list[int]) -> Any:
        if layout.strand is None:
            return np.zeros(len(rows), bool)
        strands = [row[layout.strand] for row in rows]
        if not {*strands} <= {b"+", b"-"}:
            wrong = next(at for at, strand in enumerate(strands) if strand not in (b"+", b"-"))
            self._fail(numbers[wrong], f"'{_cell(strands[wrong])}' is no strand; + and - are")
        return np.array([strand == b"-" for strand in strands], bool)

    def _numbers_of(
        self,
        rows: list[list[bytes]],
        numbers: list[int],
        column: int,
        kind: Any,
        convert: Callable[[bytes], Any],
    ) -> Any:
        """A column as numbers. Raises InputError for a cell that is none."""
        cells = [row[column] for row in rows]
        try:
            return np.array([convert(cell) for cell in cells], kind)
        except ValueError:
            for number, cell in zip(numbers, cells, strict=True):
                try:
                    convert(cell)
                except ValueError:
                    self._fail(number, f"'{_cell(cell)}' in column {column + 1} is no number")
            raise

    def _fail(self, number: int, message: str) -> NoReturn:
        """Raise InputError for a line of the block, counted from 0."""
        raise InputError(f"{self._label}: line {self._line + number + 1}: {message}")

    def _hits(self, parts: list[list[Any]], nouns: Nouns) -> HitColumns:
        record, start, end, minus, pattern, distance, *_ = _joined(parts)
        records = self._known_records(record, end)
        patterns = self._patterns.names()
        return HitColumns(records, patterns, record, start, end, pattern, distance, minus, nouns)

    def _primers(self, parts: list[list[Any]]) -> PrimerColumns:
        record, start, end, minus, _, _, gc, tm = _joined(parts)
        return PrimerColumns(self._known_records(record, end), record, start, end, minus, gc, tm)

    def _known_records(self, record: Ints, end: Longs) -> Records:
        """The records, without the folder that all genomes are in."""
        names = self._records.names()
        genomes = self._genomes.names()
        if genomes:
            folder = len(genomes[0]) - len(within_folder(genomes)[0])
            names = [name[folder:] for name in names]
        return Records(names, last_ends(record, end, len(names)))


def _joined(parts: list[list[Any]]) -> list[Any]:
    kinds = (np.int32, np.int64, np.int64, bool, np.int32, np.int64, np.float64, np.float64)
    return [
        np.concatenate([np.zeros(0, kind), *(part[column] for part in parts)])
        for column, kind in enumerate(kinds)
    ]


def _tsv_layout(cells: list[bytes]) -> Layout | None:
    """The Layout that a header line of TSV names, or None."""
    at = {cell.decode("utf-8", "replace"): number for number, cell in enumerate(cells)}
    if not {"sequence", "start", "end"} <= at.keys():
        return None
    place = at["sequence"], at["start"], at["end"], at.get("strand")
    genome = at.get("genome")
    if {"pattern", "distance", "strand"} <= at.keys():
        return Layout(len(cells), *place, at["pattern"], (at["distance"],), genome=genome)
    if {"name", "distance_forward", "distance_reverse", "strand"} <= at.keys():
        both = at["distance_forward"], at["distance_reverse"]
        return Layout(len(cells), *place, at["name"], both, genome=genome)
    if {"gc", "tm"} <= at.keys():
        return Layout(len(cells), *place, gc=at["gc"], tm=at["tm"], genome=genome)
    return None


def _bed_layout(cells: list[bytes]) -> Layout | None:
    """The Layout of BED as kmatch writes it, by its first line, or None."""
    if len(cells) < 6 or not (cells[1].isdigit() and cells[2].isdigit()):
        return None
    counts = sum(cell.isdigit() for cell in cells[6:8])
    width = 6 + counts
    genome = width if len(cells) == width + 1 else None
    if len(cells) > width + 1 or (not counts and not cells[3].startswith(b"primer_")):
        return None
    if not counts:
        return Layout(len(cells), 0, 1, 2, 5, genome=genome)
    return Layout(len(cells), 0, 1, 2, 5, 3, (6, 7)[:counts], genome=genome)


def _whole(cell: bytes) -> int:
    if not cell.isdigit() or int(cell[:20]) > MOST * MOST:
        raise ValueError
    return int(cell)


def _real(cell: bytes) -> float:
    value = nan if cell == _NOT_AVAILABLE else float(cell)
    if cell != _NOT_AVAILABLE and not isfinite(value):
        raise ValueError
    return value


def _cell(cell: bytes) -> str:
    return shown(cell.decode("utf-8", "replace"), _SHOWN)
