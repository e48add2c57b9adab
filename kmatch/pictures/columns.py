"""What pictures are made of: columns of hits, products or primers, found, or read from a table."""

import os
from array import array
from collections.abc import Sequence
from math import isfinite, nan
from typing import Any, NamedTuple

import numpy as np

from kmatch.arrays import Bools, Floats, Ints, Longs
from kmatch.errors import MOST, InputError, checked_count, shown
from kmatch.sequences.files import StrPath, open_source

_NEEDED = {  # columns of TSV, by what its rows are
    "hit": ("pattern", "distance", "strand"),
    "product": ("name", "distance_forward", "distance_reverse", "strand"),
    "primer": ("gc", "tm"),
}
_BED = ("sequence", "start", "end", "pattern", "score", "strand")  # and distances
_HEADERS = (b"#", b"track", b"browser")
_SHOWN = 40  # characters of a wrong cell
_OTHERS = {  # first bytes of what is no table of hits
    b"@HD": "SAM",
    b"@SQ": "SAM",
    b"##gff": "GFF3",
    b">": "FASTA",
    b"pattern\td": "a summary, which has no positions",
}
_WANTED = "write the hits as TSV (--format tsv) or BED, and plot these"


class Columns(NamedTuple):
    """Hits, products by pair, or primers, n rows; record and pattern number `names` and `patterns`.

    noun: `hit`, `product` or `primer`; names, lengths: of the records; a length that is unknown
    ends with the last row. distance: of a product, that of both primers together. gc (shares) and
    tm (°C): of primers, NaN where they are unknown.
    """

    noun: str
    names: list[str]
    lengths: Longs
    record: Longs
    start: Longs
    end: Longs
    minus: Bools
    patterns: Sequence[str]
    pattern: Ints | Longs
    distance: Ints | Longs
    gc: Floats
    tm: Floats


def columns_of(found: Any) -> Columns:
    """The Columns of Hits, Products or Primers: the records that have any, as long as the only
    genome of hits tells, and those of primers in full; the pairs that have any products."""
    several = hasattr(found, "genome")
    columns, numbers = _columns(found.noun, found, several)
    if found.noun == "product":
        pairs, pair = np.unique(found.name.astype(str), return_inverse=True)
        distance = found.distance_forward + found.distance_reverse
        return columns._replace(patterns=pairs.tolist(), pattern=pair, distance=distance)
    if found.noun == "primer":
        sizes = {number: len(each.codes) for each in found.batches for number in each.names}
        lengths = np.array([sizes[number] for number in numbers.tolist()], np.int64)
        return columns._replace(lengths=lengths, gc=found.gc, tm=found.tm)
    if found.searched is not None and not several and found.searched.can_reread:
        lengths = np.maximum(columns.lengths, found.searched.genome(0).lengths[numbers])
        columns = columns._replace(lengths=lengths)
    patterns = [pattern.name for pattern in found.patterns]
    return columns._replace(
        patterns=patterns, pattern=found.pattern_number, distance=found.distance
    )


def _columns(noun: str, found: Any, several: bool) -> tuple[Columns, Longs]:
    """The Columns of hits, products or primers without their own, and the numbers of their records.

    several: whether they come from several genomes, in each of which records count anew.
    """
    number = found.record_number
    if several:
        number = number + found.genome_number * (int(number.max(initial=0)) + 1)
    numbers, first, record = np.unique(number, return_index=True, return_inverse=True)
    names = [str(name) for name in found.record[first]]
    if several:
        genomes = _within_folder([str(name) for name in found.genome[first]])
        names = [f"{genome} {name}" for genome, name in zip(genomes, names, strict=True)]
    none, unknown = np.zeros(len(record), np.int64), np.full(len(record), np.nan)
    place = (found.start, found.end, found.strand == "-")
    lengths = _last_ends(record, found.end, len(names))
    return Columns(noun, names, lengths, record, *place, (), none, none, unknown, unknown), numbers


def _last_ends(record: Longs, end: Longs, records: int) -> Longs:
    """Where the last row of each record ends, int64[records]."""
    ends = np.zeros(records, np.int64)
    np.maximum.at(ends, record, end)
    return ends


def _within_folder(paths: list[str]) -> list[str]:
    """Names of genomes without the folder that all are in."""
    prefix = os.path.commonprefix(paths)  # noqa: RUF071, cut at a slash
    return [path[prefix.rfind("/") + 1 :] for path in paths]


def read_table(path: StrPath, genome: StrPath | None = None) -> Columns:
    """The hits, products or primers of a table that kmatch wrote; `-` is standard input.

    genome: where the lengths of the records are, if they are known. Raises InputError, naming file
    and line, for anything else.
    """
    table = _Table()
    with open_source(path) as source:
        for number, line in enumerate(source.handle, 1):
            try:
                table.add(line.rstrip(b"\r\n"))
            except ValueError as error:
                raise InputError(f"{source.label}: line {number}: {error}") from None
    columns = table.columns()
    if genome is None:
        return columns
    from kmatch.genome import Genome

    names, lengths = Genome(genome, keep=False).sizes()
    known = dict(zip(reversed(names), reversed(lengths.tolist()), strict=True))  # first of a name
    found = zip(columns.names, columns.lengths.tolist(), strict=True)
    return columns._replace(
        lengths=np.array([max(known.get(name, 0), end) for name, end in found], np.int64)
    )


class _Table:
    """The rows of a table, added line by line; ValueError says what is wrong with one."""

    def __init__(self) -> None:
        self._noun, self._width = "", 0
        self._at: dict[str, int] = {}  # the number of each column, by its name
        self._numbers, self._reals = array("q"), array("d")
        self._records: dict[tuple[bytes, bytes], int] = {}  # by genome and name
        self._patterns: dict[bytes, int] = {}

    def add(self, line: bytes) -> None:
        if not self._noun and (what := [_OTHERS[x] for x in _OTHERS if line.startswith(x)]):
            raise ValueError(f"this is {what[0]}; {_WANTED}")
        if not line.strip() or line.startswith(_HEADERS):
            return
        cells = line.split(b"\t")
        if not self._noun:
            self._width = len(cells)
            self._at = {cell.decode("utf-8", "replace"): n for n, cell in enumerate(cells)}
            for noun, needed in _NEEDED.items():
                if {"sequence", "start", "end", *needed} <= self._at.keys():
                    self._noun = noun
                    return
            self._expect_bed(cells)
        if len(cells) < self._width:
            raise ValueError(
                f"{len(cells)} of the table's {self._width} columns; complete the line, "
                "or write the table again"
            )
        self._add_row(cells)

    def _expect_bed(self, cells: list[bytes]) -> None:
        """Take the columns from the first line of BED as kmatch writes it."""
        counts = sum(cell.isdigit() for cell in cells[6:8])
        distances = ((), ("distance",), ("distance_forward", "distance_reverse"))[counts]
        self._at = {name: number for number, name in enumerate((*_BED, *distances))}
        more = len(cells) - len(self._at)
        if more == 1:
            self._at["genome"] = len(cells) - 1
        kmatchs = counts or b"".join(cells[3:4]).startswith(b"primer_")
        if not kmatchs or more not in (0, 1) or not (cells[1].isdigit() and cells[2].isdigit()):
            raise ValueError(f"neither a header nor BED of kmatch's; {_WANTED}")
        self._noun = ("primer", "hit", "product")[counts]

    def _add_row(self, cells: list[bytes]) -> None:
        at = self._at
        start, end = _whole(cells, at["start"]), _whole(cells, at["end"])
        if start >= end:
            raise ValueError(f"starts at {start} and ends before, at {end}")
        strand = cells[at["strand"]] if "strand" in at else b"+"
        if strand not in (b"+", b"-"):
            raise ValueError(f"'{_cell(strand)}' is no strand; + and - are")
        genome = cells[at["genome"]] if "genome" in at else b""
        record = self._records.setdefault((genome, cells[at["sequence"]]), len(self._records))
        pattern, distance = b"", 0
        if self._noun != "primer":
            pattern = cells[at.get("pattern", at.get("name", 0))]
            columns = ("distance", "distance_forward", "distance_reverse")
            distance = sum(_whole(cells, at[name]) for name in columns if name in at)
        number = self._patterns.setdefault(pattern, len(self._patterns))
        self._numbers.extend((record, start, end, strand == b"-", number, distance))
        self._reals.extend((_real(cells, at.get("gc")), _real(cells, at.get("tm"))))

    def columns(self) -> Columns:
        numbers = np.array(self._numbers, np.int64).reshape(-1, 6)
        record, start, end, minus, pattern, distance = np.ascontiguousarray(numbers.T)
        gc, tm = np.array(self._reals, np.float64).reshape(-1, 2).T
        names = [_text(name) for _, name in self._records]
        if "genome" in self._at:
            genomes = _within_folder([_text(genome) for genome, _ in self._records])
            names = [f"{genome} {name}" for genome, name in zip(genomes, names, strict=True)]
        place = (_last_ends(record, end, len(names)), record, start, end, minus.astype(bool))
        patterns = [_text(name) for name in self._patterns]
        return Columns(self._noun or "hit", names, *place, patterns, pattern, distance, gc, tm)


def _whole(cells: list[bytes], column: int) -> int:
    cell = cells[column]
    if not cell.isdigit() or int(cell[:20]) > MOST * MOST:
        raise ValueError(f"'{_cell(cell)}' in column {column + 1} is no number")
    return int(cell)


def _real(cells: list[bytes], column: int | None) -> float:
    if column is None or cells[column] == b"NA":
        return nan
    try:
        value = float(cells[column])
    except ValueError:
        value = nan
    if not isfinite(value):
        raise ValueError(f"'{_cell(cells[column])}' in column {column + 1} is no number")
    return value


def _text(cell: bytes) -> str:
    return cell.decode("utf-8", "surrogateescape")


def _cell(cell: bytes) -> str:
    return shown(cell.decode("utf-8", "replace"), _SHOWN)


class Lines(NamedTuple):
    """Which line of a picture each row is on, int64[n], and where: its offset on that line.

    shown: the records of the first lines, in order; others: how many more share a last line, one
    behind another, and how many letters these have. The scale of a line is that of the longest
    record shown, and on the line of the others as many letters as they have.
    """

    line: Longs
    offset: Longs
    shown: Longs
    others: int
    letters: int

    @property
    def size(self) -> int:
        return len(self.shown) + (self.others > 0)


def lines_of(columns: Columns, most: int) -> Lines:
    """Lines for the records, the `most` with the most rows by themselves."""
    most = checked_count("records", most, 1)
    counts = np.bincount(columns.record, minlength=len(columns.names))
    chosen = np.sort(np.argsort(-counts, kind="stable")[:most])
    lines = np.full(len(counts), len(chosen), np.int64)
    lines[chosen] = np.arange(len(chosen))
    lengths = np.where(lines == len(chosen), columns.lengths, 0)
    offsets = np.where(lengths > 0, np.cumsum(lengths) - lengths, 0)
    others, record = len(counts) - len(chosen), columns.record
    return Lines(lines[record], offsets[record], chosen, others, int(lengths.sum()))
