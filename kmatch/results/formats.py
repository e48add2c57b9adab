"""BED, TSV, CSV, SAM, GFF3 and lines for eyes: the writer of each format by its name.

A writer makes cells of rows, of which threads make lines beside the search.
"""

import re
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future
from functools import partial
from typing import Any

import numpy as np

from kmatch import __version__
from kmatch.arrays import bounds_of
from kmatch.engine.types import Texts
from kmatch.engine.workers import cores, pool
from kmatch.errors import InputError
from kmatch.genome import Genomes
from kmatch.results.batches import Batch, HitBatch, cut_at_origin
from kmatch.results.columns import HEADINGS
from kmatch.results.lines import (
    Fields,
    Named,
    Names,
    Spelt,
    lines_of,
    record_cells,
    same,
    words_in,
    words_of,
)
from kmatch.results.table import COMPLEMENT, Hits, flanks

ROWS = 1 << 15  # formatted at a time
MANY = 1 << 12  # rows of a batch that is formatted beside the search
AHEAD = 6  # times ROWS that may wait
MATCH, INSERTED, SKIPPED, REVERSE = ord("="), ord("I"), ord("D"), 16
LABEL = 254  # characters that SAM allows a read's name
_UNFIT = re.compile(r"[^!-?A-~]")  # in a read's name
GAP = "-"
DIFFERENCE, PLAIN = "\x1b[1;31m", "\x1b[0m"
AROUND = 5  # letters of the text on either side
LEAST = 10  # columns of an alignment in a line, even on a narrow screen


class Writer(ABC):
    """Writes a header and batches to a binary handle; table: what they are rows of."""

    def __init__(self, handle: Any, table: Any) -> None:
        self.handle, self.table = handle, table

    def header(self) -> str:
        """What stands above the lines."""
        return ""

    @abstractmethod
    def fields(self, batch: Any) -> Fields:
        """The Fields of the lines of some rows, asked for in order."""

    def write_all(self, batches: Iterable[Any]) -> None:
        """Write the header and batches; threads format large ones while the search goes on."""
        self.handle.write(self.header().encode("utf-8", "surrogateescape"))
        threads = pool(self.table.threads or cores(), "kmatch lines")
        waiting = deque[Future[memoryview]]()
        for batch in batches:
            for first in range(0, len(batch), ROWS):
                fields = self.fields(batch.picked(slice(first, first + ROWS)))
                if len(batch) < MANY and not waiting:  # seen at once, and before an error
                    self.handle.write(lines_of(fields))
                    continue
                waiting.append(threads.submit(lines_of, fields))
                while waiting and (len(waiting) > AHEAD or waiting[0].done()):
                    self.handle.write(waiting.popleft().result())
        for lines in waiting:
            self.handle.write(lines.result())
        self.table.check()


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


class SamWriter(Writer):
    """Writes SAM.

    A read is the pattern on the forward strand, an IUPAC letter that matched being the base that it
    matched, so that read, CIGAR and reference agree. Its name has `_` for what SAM does not allow.
    Raises InputError for a genome whose records a header cannot name.
    """

    def __init__(self, handle: Any, table: Hits) -> None:
        self._lengths = _lengths(table.searched)
        self._labels = Names(_UNFIT.sub("_", name)[:LABEL] for name in table.labels.words)
        letters = "".join(table.patterns.sequences).upper().replace("U", "T")
        self._letters = np.frombuffer(letters.encode(), np.uint8)
        super().__init__(handle, table)

    def header(self) -> str:
        order = "coordinate" if self.table.ordered else "unknown"
        lines = [f"@HD\tVN:1.6\tSO:{order}"]
        lines += [f"@SQ\tSN:{name}\tLN:{length}" for name, length in self._lengths.items()]
        return "\n".join([*lines, f"@PG\tID:kmatch\tPN:kmatch\tVN:{__version__}", ""])

    def fields(self, batch: HitBatch) -> Fields:
        (ends, ops), (_, text) = batch.aligned
        sizes, begins = np.diff(ends), self.table.patterns.begins
        before = bounds_of(ops != SKIPPED)  # letters read before each column
        bounds = before[ends]
        first = begins[batch.pattern]
        if self.table.pam_first:  # the letters of the PAM come before
            first = begins[batch.pattern + 1] - np.diff(bounds)
        at = before[:-1] + np.repeat(first - bounds[:-1], sizes)
        letters = np.where(  # those that match as the text's
            ops == MATCH,
            text.take(bounds_of(ops != INSERTED)[:-1], mode="clip"),
            self._letters.take(at, mode="clip"),
        )
        complements = np.frombuffer(COMPLEMENT, np.uint8)
        minus, columns = np.repeat(batch.minus.astype(bool), sizes), np.arange(len(ops))
        forward = np.where(minus, np.repeat(ends[:-1] + ends[1:] - 1, sizes) - columns, columns)
        ops, letters = ops[forward], np.where(minus, complements[letters], letters)[forward]
        return [
            ("", Named(self._labels, batch.pattern)),
            ("\t", batch.minus * REVERSE),
            ("\t", self.table.cells("record", batch)),
            ("\t", batch.start + 1),
            ("\t255\t", Spelt(Texts(ends, ops), runs=True)),
            ("\t*\t0\t0\t", Spelt(Texts(bounds, letters[ops != SKIPPED]))),
            ("\t*\tNM:i:", sizes - batch.aligned.ops.counted("=")),
            ("\tkd:i:", batch.distance),
        ]


def _lengths(genomes: Genomes | None) -> dict[str, int]:
    """Letters of each record, by name; SAM has no records without letters."""
    if genomes is None:
        raise InputError("SAM needs the genome that was searched; give it to Hits")
    if genomes.named or genomes.circular:
        raise InputError(
            "SAM has the records of one genome, and none that is a circle; write bed, tsv, gff3 or "
            "view"
        )
    names, lengths = genomes.genome(0).sizes
    known: dict[str, int] = {}
    for number, (name, length) in enumerate(zip(names, lengths.tolist(), strict=True), 1):
        if not name or name[0] in "*=":
            fault = f"is named '{name}'" if name else "has no name"
            raise InputError(
                f"{genomes.label}: record {number} {fault}, which SAM cannot have; "
                "rename it, or write another format"
            )
        if name in known:
            raise InputError(
                f"several records are named '{name}', which SAM cannot tell apart; rename them, "
                "or write another format"
            )
        if length:
            known[name] = length
    return known


class Gff3Writer(Writer):
    """Writes GFF3: each hit is a `nucleotide_match`, numbered from 1.

    A circular record has a line of its own before its hits, of which those over the origin end
    behind its last letter.
    """

    def __init__(self, handle: Any, table: Hits) -> None:
        self._labels = Names(map(_in_value, table.labels.words))
        self._number = 1
        self._circles: set[tuple[int, int]] = set()  # those that have their lines
        super().__init__(handle, table)

    def header(self) -> str:
        return "##gff-version 3\n"

    def fields(self, batch: HitBatch) -> Fields:
        first, self._number = self._number, self._number + len(batch)
        name = batch.origin.name
        genome = None if name is None else _in_value(name)
        return [
            ("", self._circle_lines(batch, genome)),
            ("", record_cells(batch, _in_sequence)),
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
                place = f"{_in_sequence(batch.names[record])}\tkmatch\tregion"
                ending = "" if genome is None else f";genome={genome}"
                size = circles[record]
                lines.append(f"{place}\t1\t{size}\t.\t+\t.\tIs_circular=true{ending}\n")
        return Named(Names(lines), which)


def _escaped(unfit: re.Pattern[bytes], name: str) -> str:
    """A name with the bytes of it that do not fit as `%` and two digits."""
    data = name.encode("utf-8", "surrogateescape")
    escaped = unfit.sub(lambda byte: b"%%%02X" % byte[0][0], data)
    return escaped.decode("utf-8", "surrogateescape")


_in_sequence = partial(_escaped, re.compile(rb"[^a-zA-Z0-9.:^*$@!+_?|-]"))
_in_value = partial(_escaped, re.compile(rb"[\x00-\x1f\x7f%;=&,]"))


class ViewWriter(Writer):
    """Writes a paragraph a hit.

    Its first line has the interval, the strand, the pattern's name and the distance. Below them
    stand the pattern, with the letters that its PAM matched, and, in its direction, the text, `|`
    between letters that match, a gap as `-`. A few letters on either side of the text are in lower
    case.
    """

    def __init__(self, handle: Any, table: Hits) -> None:
        self._patterns = [word.upper().replace("U", "T") for word in table.patterns.sequences]
        super().__init__(handle, table)

    def fields(self, batch: HitBatch) -> Fields:
        columns = (batch.record, batch.start, batch.end, batch.minus, batch.pattern, batch.distance)
        words = [words_in(Spelt(texts)) for texts in batch.aligned]
        hits = zip(*(each.tolist() for each in columns), strict=True)
        rows = zip(hits, *words, flanks(batch, self.table, AROUND), strict=True)
        lines = (self._lines(batch, *row) for row in rows)
        return [("", words_of("".join(f"{line}\n" for line in each) for each in lines))]

    def _lines(
        self, batch: HitBatch, hit: tuple[int, ...], ops: str, text: str, beside: tuple[str, str]
    ) -> Iterator[str]:
        """The lines of a hit but the last, which is empty."""
        record, start, end, minus, pattern, distance = hit
        genome = "" if batch.origin.name is None else f"{batch.origin.name} "
        where = f"{genome}{batch.names[record]}:{start}-{end} {'-' if minus else '+'}"
        yield f"{where} {self.table.labels.words[pattern]}, distance {distance}"
        word = self._patterns[pattern]
        size = len(ops) - ops.count("D") - len(word)  # letters of the PAM, which match
        pam = text[:size] if self.table.pam_first else text[len(text) - size :]
        letters = iter(pam + word if self.table.pam_first else word + pam)
        before, behind = ([(" ", " ", letter) for letter in part.lower()] for part in beside)
        bases = iter(text)
        between = [
            (GAP if op == "D" else next(letters), op, GAP if op == "I" else next(bases))
            for op in ops
        ]
        columns = [*before, *between, *behind]
        width = max(self.table.width - len("pattern "), LEAST)
        for first in range(0, len(columns), width):
            above, part, below = zip(*columns[first : first + width], strict=True)
            marks = "".join("|" if op == "=" else " " for op in part)
            yield f"pattern {self._coloured(above, part)}".rstrip()
            yield f"        {marks}".rstrip()
            yield f"text    {self._coloured(below, part)}".rstrip()

    def _coloured(self, letters: Iterable[str], ops: Iterable[str]) -> str:
        if not self.table.colour:
            return "".join(letters)
        return "".join(
            letter if op in "= " else f"{DIFFERENCE}{letter}{PLAIN}"
            for letter, op in zip(letters, ops, strict=True)
        )


# By name, each made with (handle, table). Hits have all, products and primers BED, TSV and CSV.
FORMATS: dict[str, Callable[[Any, Any], Writer]] = {
    "bed": BedWriter,
    "tsv": TsvWriter,
    "csv": CsvWriter,
    "sam": SamWriter,
    "gff3": Gff3Writer,
    "view": ViewWriter,
}
