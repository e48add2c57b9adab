"""BED, TSV, CSV, SAM, GFF3 and lines for eyes: the writer of each format by its name.

A writer makes lines of rows, which threads do beside the search.
"""

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from kmatch import __version__
from kmatch.arrays import Bytes, Longs, bounds_of, first_of_each, order_of, run_starts
from kmatch.engine.types import Texts
from kmatch.engine.workers import Workers, cores
from kmatch.errors import InputError
from kmatch.genome import Genomes
from kmatch.results.batches import Batch, HitBatch, cut_at_origin
from kmatch.results.lines import (
    Cells,
    Edits,
    Fields,
    Named,
    Names,
    TextCells,
    heading_of,
    lines_of,
    record_cells,
    same,
    words_in,
    words_of,
)
from kmatch.results.sites import COMPLEMENT, flanks

ROWS = 1 << 15  # formatted at a time
# Columns of alignments: letters that match, a letter of the pattern alone, and one of the text.
MATCH = ord("=")
INSERTED = ord("I")
SKIPPED = ord("D")
UNKNOWN = ord("N")
NEWLINE = ord("\n")
REVERSE = 16  # the flag of SAM for the strand -
SECONDARY = 256  # that for all lines of a read but the first
LABEL = 254  # characters that SAM allows a read's name
_UNFIT = re.compile(r"[^!-?A-~]")  # in a read's name
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
GAP = "-"
DIFFERENCE = "\x1b[1;31m"  # what begins and ends a colour on a terminal
PLAIN = "\x1b[0m"
AROUND = 5  # letters of the text on either side
LEAST = 10  # columns of an alignment in a line, even on a narrow screen


class Writer(ABC):
    """Writes a header and batches to a binary handle; table: has the columns of the rows."""

    def __init__(self, handle: Any, table: Any) -> None:
        self.handle = handle
        self.table = table

    def header(self) -> str:
        """Return the lines above the rows."""
        return ""

    def carried(self, batch: Any) -> Any:
        """Return the facts that some rows need of the rows before them; asked for in order."""
        return None

    @abstractmethod
    def fields(self, batch: Any, carried: Any) -> Fields:
        """Return the Fields of the lines of some rows, in a thread of its own.

        carried: the value of `carried` for these rows.
        """

    def write_all(self, batches: Iterable[Any]) -> None:
        """Write the header and batches.

        The header waits for the first row: where the search fails before that, nothing is written.
        """
        header = self.header().encode("utf-8", "surrogateescape")
        lines = self._formatted(batches)
        first_lines = next(lines, b"")
        self.handle.write(header)
        self.handle.write(first_lines)
        for more_lines in lines:
            self.handle.write(more_lines)
        self.table.check()

    def _formatted(self, batches: Iterable[Any]) -> Iterator[memoryview]:
        """Yield the lines of batches, which threads make while the search goes on."""
        workers = Workers(self.table.threads or cores())
        return workers.ahead(self._items(batches))

    def _items(self, batches: Iterable[Any]) -> Iterator[Callable[[], memoryview]]:
        """Yield calls that make the lines of some rows, for all rows of batches in order."""
        for batch in batches:
            for first in range(0, len(batch), ROWS):
                rows = batch.picked(slice(first, first + ROWS))
                yield partial(self._lines_of, rows, self.carried(rows))

    def _lines_of(self, batch: Any, carried: Any) -> memoryview:
        return lines_of(self.fields(batch, carried))


class BedWriter(Writer):
    """Writes BED, in which a row over the origin of its record is two."""

    between = "\t"

    def fields(self, batch: Batch, carried: Any) -> Fields:
        return self._tabbed(self.table.bed, cut_at_origin(batch), {})

    def _tabbed(self, names: Iterable[str], batch: Batch, carried: dict[str, Cells]) -> Fields:
        """Return the Fields of columns; carried: the cells of some of them."""
        fields = []
        for number, name in enumerate(names):
            cells = carried[name] if name in carried else self.table.cells(name, batch)
            fields.append((self.between if number else "", cells))
        return fields


class TsvWriter(BedWriter):
    """Writes TSV below a line of headings."""

    def header(self) -> str:
        return self.between.join(map(heading_of, self.table.tsv)) + "\n"

    def carried(self, batch: Batch) -> dict[str, Cells]:
        """Return the cells of the columns that are made in the order of rows."""
        columns = self.table.columns
        in_turn = [name for name in self.table.tsv if columns[name].in_turn]
        return {name: self.table.cells(name, batch) for name in in_turn}

    def fields(self, batch: Batch, carried: dict[str, Cells]) -> Fields:
        return self._tabbed(self.table.tsv, batch, carried)


class CsvWriter(TsvWriter):
    """Writes the same with commas, and quotes where words hold one."""

    between = ","

    def fields(self, batch: Batch, carried: dict[str, Cells]) -> Fields:
        return [(before, _quoted(cells)) for before, cells in super().fields(batch, carried)]


def _quoted(cells: Cells) -> Cells:
    """Return cells with the quotes that CSV wants; only Names may need any."""
    return Named(cells.names.quoted, cells.which) if isinstance(cells, Named) else cells


class SamWriter(Writer):
    """Writes SAM.

    A read is the pattern on the forward strand. An IUPAC letter that matched is written as the base
    that it matched, so that read, CIGAR and reference agree. Its name has `_` for characters that
    SAM does not allow. The first line of a name is primary. Raises InputError for a genome whose
    records a header cannot name.
    """

    def __init__(self, handle: Any, table: Any) -> None:
        """table: Hits, with the genome that was searched."""
        self._lengths = _lengths(table.searched)
        self._labels = Names(_UNFIT.sub("_", name)[:LABEL] for name in table.labels.words)
        # Which of the distinct names each pattern has, and whether there was a line of it.
        numbers: dict[str, int] = {}
        self._label_numbers = np.array(
            [numbers.setdefault(label, len(numbers)) for label in self._labels.words], np.int64
        )
        self._is_written = np.zeros(len(numbers), np.bool_)
        # The letters of all patterns side by side.
        letters = "".join(table.patterns.sequences).upper().replace("U", "T")
        self._letters = np.frombuffer(letters.encode(), np.uint8)
        super().__init__(handle, table)

    def header(self) -> str:
        order = "coordinate" if self.table.ordered else "unknown"
        lines = [f"@HD\tVN:1.6\tSO:{order}"]
        lines += [f"@SQ\tSN:{name}\tLN:{length}" for name, length in self._lengths.items()]
        program = f"@PG\tID:kmatch\tPN:kmatch\tVN:{__version__}"
        if self.table.command_line:
            typed = _CONTROL.sub("_", self.table.command_line)
            program = f"{program}\tCL:{typed}"
        return "\n".join([*lines, program, ""])

    def fields(self, batch: HitBatch, carried: Longs) -> Fields:
        """See Writer; carried: the flags of lines."""
        ops, reads = self._forward(batch)
        differences = np.diff(ops.bounds) - ops.counted("=")
        return [
            ("", Named(self._labels, batch.pattern)),
            ("\t", carried),
            ("\t", self.table.cells("record", batch)),
            ("\t", batch.start + 1),
            ("\t255\t", TextCells(ops, runs=True)),
            ("\t*\t0\t0\t", TextCells(reads)),
            ("\t*\tNM:i:", differences),
            ("\tkd:i:", batch.distance),
        ]

    def carried(self, batch: HitBatch) -> Longs:
        """Return the flags of hits, which tell whether their names stood in lines before."""
        labels = self._label_numbers[batch.pattern]
        is_secondary = np.ones(len(batch), np.bool_)
        is_secondary[first_of_each(order_of(labels), labels)] = False
        is_secondary |= self._is_written[labels]
        self._is_written[labels] = True
        return np.where(batch.minus, REVERSE, 0) + np.where(is_secondary, SECONDARY, 0)

    def _forward(self, batch: HitBatch) -> tuple[Texts, Texts]:
        """Return the columns of hits and the letters of their reads, on the forward strand.

        pattern    A R C - T      on -, turned round and complemented
        text       A G G T -
        columns    = = X D I      I D X = =
        read       A G C   T      A   G C T
        """
        bounds, ops = batch.aligned.ops
        is_read = ops != SKIPPED
        reads_before = bounds_of(is_read)
        read_bounds = reads_before[bounds]
        letters = self._column_letters(batch, reads_before)
        # Columns of hits on - come from their last one to their first one.
        sizes = np.diff(bounds)
        is_minus = np.repeat(batch.minus.astype(bool), sizes)
        columns = np.arange(len(ops))
        first_and_last = bounds[:-1] + bounds[1:] - 1  # their sum
        backwards = np.repeat(first_and_last, sizes) - columns
        order = np.where(is_minus, backwards, columns)
        complements = np.frombuffer(COMPLEMENT, np.uint8)[letters]
        forward = np.where(is_minus, complements, letters)[order]
        # Reads lack the letters of the text that patterns skip.
        reads = forward[is_read[order]]
        return Texts(bounds, ops[order]), Texts(read_bounds, reads)

    def _column_letters(self, batch: HitBatch, reads_before: Longs) -> Bytes:
        """Return the letter of its read at each column of hits, and any where it has none.

        It is the base of the text that it matches. Where it matches an unknown letter it is the
        pattern's. reads_before: int64[columns+1], letters of all reads before each column, and
        after the last.
        """
        (bounds, ops), (_, text) = batch.aligned
        read_bounds = reads_before[bounds]
        # The letter of the patterns at each column; letters of PAMs match, and are the text's.
        pattern_bounds = self.table.patterns.begins
        first_letters = pattern_bounds[batch.pattern]
        if self.table.pam_first:  # the pattern ends where the read does
            first_letters = pattern_bounds[batch.pattern + 1] - np.diff(read_bounds)
        shifts = np.repeat(first_letters - read_bounds[:-1], np.diff(bounds))
        places = reads_before[:-1] + shifts
        of_pattern = self._letters.take(places, mode="clip")
        # The letter of the text at each column, which is the read's where it matches.
        texts_before = bounds_of(ops != INSERTED)[:-1]
        of_text = text.take(texts_before, mode="clip")
        is_of_text = ops == MATCH
        unknown = np.flatnonzero(is_of_text & (of_text == UNKNOWN))
        if len(unknown):
            row = np.searchsorted(bounds, unknown, side="right") - 1
            pattern = batch.pattern[row]
            is_in_pattern = places[unknown] >= pattern_bounds[pattern]
            is_in_pattern &= places[unknown] < pattern_bounds[pattern + 1]
            is_of_text[unknown[is_in_pattern]] = False
        return np.where(is_of_text, of_text, of_pattern)


def _lengths(genomes: Genomes | None) -> dict[str, int]:
    """Return the letters of each record, by name; SAM has no records without letters.

    Raises InputError for records that SAM cannot name, or not tell apart.
    """
    if genomes is None:
        raise InputError("SAM needs the genome that was searched; give it to Hits")
    if genomes.named or genomes.circular:
        raise InputError(
            "SAM has the records of one genome, and none that is a circle; write bed, tsv, gff3 or "
            "view"
        )
    names, lengths = genomes.genome(0).sizes
    sizes: dict[str, int] = {}
    pairs = zip(names, lengths.tolist(), strict=True)
    for number, (name, length) in enumerate(pairs, 1):
        if not name or name[0] in "*=":
            fault = f"is named '{name}'" if name else "has no name"
            raise InputError(
                f"{genomes.label}: record {number} {fault}, which SAM cannot have; "
                "rename it, or write another format"
            )
        if name in sizes:
            raise InputError(
                f"several records are named '{name}', which SAM cannot tell apart; rename them, "
                "or write another format"
            )
        if length:
            sizes[name] = length
    return sizes


class Gff3Writer(Writer):
    """Writes GFF3: each hit is a `nucleotide_match`, numbered from 1.

    The header has the lengths of the records where they cost no reading. A circular record has a
    line of its own before its hits. A hit over the origin ends behind the record's last letter.
    """

    def __init__(self, handle: Any, table: Any) -> None:
        """table: Hits."""
        self._labels = Names(map(_in_value, table.labels.words))
        self._number = 1  # of the next hit
        self._circles: set[tuple[int, int]] = set()  # those that have their lines
        super().__init__(handle, table)

    def header(self) -> str:
        lines = ["##gff-version 3"]
        for name, length in _lengths_at_hand(self.table.searched).items():
            lines.append(f"##sequence-region {_in_sequence(name)} 1 {length}")
        return "\n".join([*lines, ""])

    def carried(self, batch: HitBatch) -> tuple[int, Named]:
        """Return the number of the first hit, and the lines of circles that stand before hits."""
        first = self._number
        self._number += len(batch)
        return first, self._circle_lines(batch)

    def fields(self, batch: HitBatch, carried: tuple[int, Named]) -> Fields:
        first, circle_lines = carried
        genome = _genome_value(batch)
        fields: list[tuple[str, Cells]] = [
            ("", circle_lines),
            ("", record_cells(batch, _in_sequence)),
            ("\tkmatch\tnucleotide_match\t", batch.start + 1),
            ("\t", batch.end),
            ("\t", self.table.cells("score", batch)),
            ("\t", self.table.cells("strand", batch)),
            ("\t.\tID=hit", np.arange(first, first + len(batch))),
            (";Name=", Named(self._labels, batch.pattern)),
            (";distance=", batch.distance),
            (";cigar=", _cigar_values(self.table.cells("cigar", batch))),
        ]
        if genome is not None:
            fields.append((";genome=", same(genome, batch)))
        return fields

    def _circle_lines(self, batch: HitBatch) -> Named:
        """Return for the first hit of a circular record that record's line, for others nothing."""
        genome = _genome_value(batch)
        lines = [""]
        which = np.zeros(len(batch), np.int64)
        circles = batch.origin.circles or {}
        first_rows = run_starts(batch.record).tolist() if circles else ()
        for row in first_rows:
            record = int(batch.record[row])
            circle = (batch.origin.number, record)
            if record not in circles or circle in self._circles:
                continue
            self._circles.add(circle)
            which[row] = len(lines)
            place = f"{_in_sequence(batch.names[record])}\tkmatch\tregion"
            ending = "" if genome is None else f";genome={genome}"
            size = circles[record]
            lines.append(f"{place}\t1\t{size}\t.\t+\t.\tIs_circular=true{ending}\n")
        return Named(Names(lines), which)


def _lengths_at_hand(genomes: Genomes | None) -> dict[str, int]:
    """Return the letters of each record, by name, of one genome whose lengths cost no reading.

    Records without letters are left out. Where records share a name there are none at all.
    """
    if genomes is None or genomes.named:
        return {}
    genome = genomes.genome(0)
    if not genome.has_sizes:
        return {}
    names, lengths = genome.sizes
    if len(set(names)) < len(names):
        return {}
    sizes = zip(names, lengths.tolist(), strict=True)
    return {name: length for name, length in sizes if length}


def _cigar_values(cells: TextCells | Edits) -> TextCells:
    """Return CIGARs as values of GFF3, in which `=` is escaped.

    12=1X4=  ->  12%3D1X4%3D
    """
    lines = bytes(lines_of([("", cells)])).replace(b"=", b"%3D")
    letters = np.frombuffer(lines, np.uint8)
    is_end = letters == NEWLINE
    # Before the end of line i stand the ends of i other lines.
    ends = np.flatnonzero(is_end)
    bounds = np.append(0, ends - np.arange(len(ends)))
    return TextCells(Texts(bounds, letters[~is_end]))


def _escaped(unfit: re.Pattern[bytes], name: str) -> str:
    """Return a name with the bytes of it that do not fit as `%` and two digits."""
    data = name.encode("utf-8", "surrogateescape")
    escaped = unfit.sub(lambda byte: b"%%%02X" % byte[0][0], data)
    return escaped.decode("utf-8", "surrogateescape")


def _genome_value(batch: HitBatch) -> str | None:
    """Return the name of the genome that hits are in as a value, None where there is but one."""
    name = batch.origin.name
    return None if name is None else _in_value(name)


_in_sequence = partial(_escaped, re.compile(rb"[^a-zA-Z0-9.:^*$@!+_?|-]"))
_in_value = partial(_escaped, re.compile(rb"[\x00-\x1f\x7f%;=&,]"))


class Drawn(NamedTuple):
    """An alignment as it is drawn: three words of equal length.

    above: letters of the pattern, below: letters of the text, blanks where there is none; ops: as
    in alignments, and blanks beside them.

        above         A C G T - A G G
        ops       _ _ = = X I D = = =
        below     g a A C T - A A G G
    """

    above: str
    ops: str
    below: str

    def beside(self, before: str, behind: str) -> "Drawn":
        """Return the same between letters of the text."""
        left = " " * len(before)
        right = " " * len(behind)
        return Drawn(
            f"{left}{self.above}{right}",
            f"{left}{self.ops}{right}",
            f"{before}{self.below}{behind}",
        )


class ViewWriter(Writer):
    """Writes a paragraph a hit.

    Its first line has the interval, the strand, the pattern's name and the distance. Below them
    stand the pattern, with the letters that its PAM matched, and, in its direction, the text, `|`
    between letters that match, a gap as `-`. A few letters on either side of the text are in lower
    case.
    """

    def __init__(self, handle: Any, table: Any) -> None:
        """table: Hits."""
        self._patterns = [word.upper().replace("U", "T") for word in table.patterns.sequences]
        super().__init__(handle, table)

    def carried(self, batch: HitBatch) -> list[tuple[str, str]]:
        """Return the letters beside hits, as genomes are read in order."""
        return list(flanks(batch, self.table.letters, AROUND))

    def fields(self, batch: HitBatch, carried: list[tuple[str, str]]) -> Fields:
        ops = words_in(TextCells(batch.aligned.ops))
        texts = words_in(TextCells(batch.aligned.text))
        rows = zip(self._titles(batch), batch.pattern.tolist(), ops, texts, carried, strict=True)
        paragraphs = []
        for title, pattern, row_ops, text, (before, behind) in rows:
            drawn = self._drawn(self._patterns[pattern], row_ops, text)
            lines = self._lines(drawn.beside(before.lower(), behind.lower()))
            paragraphs.append("\n".join([title, *lines, ""]))  # the last line is empty
        return [("", words_of(paragraphs))]

    def _titles(self, batch: HitBatch) -> Iterator[str]:
        """Yield the first line of each hit."""
        genome = "" if batch.origin.name is None else f"{batch.origin.name} "
        columns = (batch.record, batch.start, batch.end, batch.minus, batch.pattern, batch.distance)
        rows = zip(*(column.tolist() for column in columns), strict=True)
        for record, start, end, minus, pattern, distance in rows:
            place = f"{genome}{batch.names[record]} {start} {end}"
            strand = "-" if minus else "+"
            yield f"{place} {strand} {self.table.labels.words[pattern]}, distance {distance}"

    def _drawn(self, pattern: str, ops: str, text: str) -> Drawn:
        """Return an alignment of a pattern and its PAM, which is shown as the text has it."""
        pam_length = len(ops) - ops.count("D") - len(pattern)
        if self.table.pam_first:
            above = iter(text[:pam_length] + pattern)
        else:
            above = iter(pattern + text[len(text) - pam_length :])
        below = iter(text)
        return Drawn(
            "".join([GAP if op == "D" else next(above) for op in ops]),
            ops,
            "".join([GAP if op == "I" else next(below) for op in ops]),
        )

    def _lines(self, drawn: Drawn) -> Iterator[str]:
        """Yield three lines for as many columns as fit on the screen, then for the next ones."""
        width = max(self.table.width - len("pattern "), LEAST)
        for first in range(0, len(drawn.ops), width):
            above, ops, below = (word[first : first + width] for word in drawn)
            marks = "".join(["|" if op == "=" else " " for op in ops])
            yield f"pattern {self._coloured(above, ops)}".rstrip()
            yield f"        {marks}".rstrip()
            yield f"text    {self._coloured(below, ops)}".rstrip()

    def _coloured(self, letters: str, ops: str) -> str:
        if not self.table.colour:
            return letters
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
