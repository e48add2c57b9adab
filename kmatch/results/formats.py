"""Formats that only hits have: SAM, GFF3, and lines for eyes; and the writer of each format."""

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from kmatch import __version__
from kmatch.errors import InputError
from kmatch.jit import entry
from kmatch.results.batches import HitBatch
from kmatch.results.columns import take_rows
from kmatch.results.output import Sender
from kmatch.results.tables import (
    DIGITS,
    ROWS,
    Names,
    Screen,
    Searched,
    TableWriter,
    named_at_end,
    rows_of,
    side_by_side,
)
from kmatch.sequences.patterns import Pattern, PatternSet, pattern_set

gff3_lines = entry("kmatch.results.lines", "gff3_lines")
sam_lines = entry("kmatch.results.lines", "sam_lines")

_GFF3_HEADER = "##gff-version 3\n"
# Text before a hit's start, number, name, distance and CIGAR.
_GFF3_WORDS = ("\tkmatch\tnucleotide_match\t", ".\tID=hit", ";Name=", ";distance=", ";cigar=")
# Bytes that GFF3 wants escaped.
_IN_SEQUENCE = re.compile(rb"[^a-zA-Z0-9.:^*$@!+_?|-]")
_IN_VALUE = re.compile(rb"[\x00-\x1f\x7f%;=&,]")
ONE_LINE = "the records of one genome, and none that is a circle"
OTHERS = "bed, tsv, gff3 or view"
LABEL = 254  # characters that SAM allows a read's name
_UNFIT = re.compile(r"[^!-?A-~]")  # in a read's name
_LETTERS = bytes.maketrans(b"acgturyswkmbdhvnU", b"ACGTTRYSWKMBDHVNT")
_COMPLEMENT = bytes.maketrans(b"ACGTRYSWKMBDHVN", b"TGCAYRSWMKVHDBN")
_UNKNOWN_QUALITY = 255
FEW = 1 << 10  # shown at a time
GAP = "-"
DIFFERENCE, PLAIN = "\x1b[1;31m", "\x1b[0m"
AROUND = 5  # letters of the text on either side
_LOWER_COMPLEMENT = str.maketrans("acgturyswkmbdhvn", "tgcaayrswmkvhdbn")
LEAST = 10  # columns of an alignment in a line, even on a narrow screen
_TITLES = ("pattern ", "        ", "text    ")
FILE = Screen(80, False)


class Queries(NamedTuple):
    """The patterns of SAM lines.

    labels: their Names; letters: their letters as Names; complement: uint8[256], that of each
    letter; pam_first: uint8, whether a PAM stands before a pattern.
    """

    labels: Names
    letters: Names
    complement: np.ndarray
    pam_first: int


class Words(NamedTuple):
    """What SAM lines have in common, uint8 each: before the CIGAR, before the letters, before the
    number of differences, and before the distance."""

    cigar: np.ndarray
    letters: np.ndarray
    differences: np.ndarray
    distance: np.ndarray


def make_writer(form: str, handle: Any, searched: Searched) -> Any:
    """The writer of a format, `bed`, `tsv`, `sam`, `gff3` or `view`, to a text or binary handle.

    Raises InputError for a genome of which SAM cannot be written.
    """
    if form == "sam":
        return SamWriter(handle, searched)
    if form == "gff3":
        return Gff3Writer(handle, searched.patterns)
    if form == "view":
        return ViewWriter(handle, searched)
    return TableWriter(handle, form, searched)


class Gff3Writer(Sender):
    """Writes the header, and HitBatches as a line a hit: a `nucleotide_match`, numbered from 1.

    A circular record has a line of its own before its hits, of which those over the origin end
    behind its last letter.

    patterns: list of Pattern.
    """

    def __init__(self, handle: Any, patterns: Sequence[Pattern]) -> None:
        super().__init__(handle)
        panel = pattern_set(patterns)
        self._labels = side_by_side(map(_escaper(_IN_VALUE), panel.names))
        self._lengths = panel.lengths
        self._words = tuple(np.frombuffer(word.encode(), np.uint8) for word in _GFF3_WORDS)
        self._number = 1
        self._circles: set[tuple[int, int]] = set()  # those that have their lines
        self._send(_GFF3_HEADER.encode())

    def write(self, batch: HitBatch) -> None:
        """Write a HitBatch."""
        name = batch.origin.name
        genome = None if name is None else _escaper(_IN_VALUE)(name)
        cuts = [0, len(batch)]
        if batch.origin.circles and len(batch):
            cuts[1:1] = (np.flatnonzero(np.diff(batch.record)) + 1).tolist()
        for begin, end in pairwise(cuts):
            if begin < end:
                self._send_circle(batch, int(batch.record[begin]), genome)
            for first in range(begin, end, ROWS):
                lines = self._lines(batch, slice(first, min(first + ROWS, end)))
                self._send(named_at_end(lines, ";genome=", genome))

    def _send_circle(self, batch: HitBatch, record: int, genome: str | None) -> None:
        size = (batch.origin.circles or {}).get(record)
        circle = batch.origin.number, record
        if size is None or circle in self._circles:
            return
        self._circles.add(circle)
        name = _escaper(_IN_SEQUENCE)(batch.names[record])
        line = f"{name}\tkmatch\tregion\t1\t{size}\t.\t+\t.\tIs_circular=true"
        ending = "\n" if genome is None else f";genome={genome}\n"
        self._send((line + ending).encode("utf-8", "surrogateescape"))

    def _lines(self, batch: HitBatch, rows: slice) -> memoryview:
        found, _ = rows_of(batch, rows)
        names = self._names(batch, rows)
        columns = take_rows(batch.aligned, rows)
        size = np.diff(names.ends)[found.record].sum()
        size += np.diff(self._labels.ends)[found.pattern].sum()
        size += len(found.record) * (5 * DIGITS + sum(map(len, self._words)) + 8)
        out = np.empty(int(size) + 2 * len(columns.ops), np.uint8)
        words = (self._number, *self._words)
        written = gff3_lines(found, names, self._labels, self._lengths, columns, words, out)
        self._number += len(found.record)
        return memoryview(out.data)[:written]

    def _names(self, batch: HitBatch, rows: slice) -> Names:
        names, _ = batch.record_names(rows)
        return side_by_side(map(_escaper(_IN_SEQUENCE), names))


def _escaper(unfit: re.Pattern[bytes]) -> Callable[[str], str]:
    """A function that writes the bytes of a name that do not fit as `%` and two digits."""

    def escape(name: str) -> str:
        data = name.encode("utf-8", "surrogateescape")
        return unfit.sub(lambda byte: b"%%%02X" % byte[0][0], data).decode(
            "utf-8", "surrogateescape"
        )

    return escape


class SamWriter(Sender):
    """Writes the header, and HitBatches as a line a hit.

    A read is the pattern on the forward strand, an IUPAC letter that matched being the base that it
    matched, so that read, CIGAR and reference agree. Its name has `_` for what SAM does not allow.
    Raises InputError for a genome whose records a header cannot name.
    """

    def __init__(self, handle: Any, searched: Searched) -> None:
        super().__init__(handle)
        self._lengths = _lengths(searched)
        self._numbers: dict[str, int] = {}
        self._queries = _queries(pattern_set(searched.patterns), searched.pam_first)
        fixed = (f"\t{_UNKNOWN_QUALITY}\t", "\t*\t0\t0\t", "\t*\tNM:i:", "\tkd:i:")
        self._words = Words(*(np.frombuffer(word.encode(), np.uint8) for word in fixed))
        order = "coordinate" if searched.ordered else "unknown"
        lines = [f"@HD\tVN:1.6\tSO:{order}"]
        lines += [f"@SQ\tSN:{name}\tLN:{length}" for name, length in self._lengths.items()]
        lines += [f"@PG\tID:kmatch\tPN:kmatch\tVN:{__version__}", ""]
        self._send("\n".join(lines).encode("utf-8", "surrogateescape"))

    def write(self, batch: HitBatch) -> None:
        """Write a HitBatch. Raises InputError where the header does not fit its records."""
        for first in range(0, len(batch), ROWS):
            self._send(self._lines(batch, slice(first, first + ROWS)))

    def _lines(self, batch: HitBatch, rows: slice) -> memoryview:
        self._check(batch, rows)
        found, names = rows_of(batch, rows)
        columns = take_rows(batch.aligned, rows)
        labels = self._queries.labels
        size = np.diff(names.ends)[found.record].sum() + np.diff(labels.ends)[found.pattern].sum()
        size += len(found.record) * (4 * DIGITS + sum(map(len, self._words)))
        # A run of one column takes two bytes of the CIGAR, and a column one letter.
        out = np.empty(int(size) + 3 * len(columns.ops), np.uint8)
        written = sam_lines(found, names, self._queries, columns, self._words, out)
        return memoryview(out.data)[:written]

    def _check(self, batch: HitBatch, rows: slice) -> None:
        names, which = batch.record_names(rows)
        lengths = np.array([self._lengths.get(name, 0) for name in names], np.int64)
        beyond = batch.end[rows] > lengths[which]
        if beyond.any():
            raise InputError(
                f"record '{names[which[np.argmax(beyond)]]}' is not as the genome's .fai says; "
                "make it anew with samtools faidx, or remove it"
            )
        numbers = np.unique(batch.record[rows]).tolist()
        for name, number in zip(names, numbers, strict=True):
            if self._numbers.setdefault(name, number) != number:
                raise _repeated(name)


def _lengths(searched: Searched) -> dict[str, int]:
    """Letters of each record, by name; SAM has no records without letters."""
    genomes = searched.genomes
    if genomes is None:
        raise InputError("SAM needs the genome that was searched; give it to Hits")
    if genomes.named or genomes.circular:
        raise InputError(f"SAM has {ONE_LINE}; write {OTHERS}")
    names, lengths = genomes.genome(0).sizes()
    known: dict[str, int] = {}
    for number, (name, length) in enumerate(zip(names, lengths.tolist(), strict=True), 1):
        if not name or name[0] in "*=":
            fault = f"is named '{name}'" if name else "has no name"
            raise InputError(
                f"{genomes.label}: record {number} {fault}, which SAM cannot have; "
                "rename it, or write another format"
            )
        if name in known:
            raise _repeated(name)
        if length:
            known[name] = length
    return known


def _repeated(name: str) -> InputError:
    return InputError(
        f"several records are named '{name}', which SAM cannot tell apart; rename them, or write "
        "another format"
    )


def _queries(panel: PatternSet, pam_first: bool) -> Queries:
    letters = "".join(panel.sequences).encode().translate(_LETTERS)
    complement = np.frombuffer(_COMPLEMENT, np.uint8)
    labels = side_by_side(_UNFIT.sub("_", name)[:LABEL] for name in panel.names)
    written = Names(np.frombuffer(letters, np.uint8), panel.begins)
    return Queries(labels, written, complement, int(pam_first))


class ViewWriter(Sender):
    """Writes HitBatches as a paragraph a hit.

    Its first line has the interval, the strand, the pattern's name and the distance. Below them
    stand the pattern and, in its direction, the text, `|` between letters that match, a gap as `-`.
    A few letters on either side of the text are in lower case.
    """

    def __init__(self, handle: Any, searched: Searched) -> None:
        super().__init__(handle)
        panel = pattern_set(searched.patterns)
        self._names = panel.names
        self._patterns = [letters.upper().replace("U", "T") for letters in panel.sequences]
        self._pam_first = searched.pam_first
        self._screen = searched.screen or FILE
        self._letters_of = searched.letters

    def write(self, batch: HitBatch) -> None:
        """Write a HitBatch."""
        for first in range(0, len(batch), FEW):
            lines = self._lines(batch, slice(first, first + FEW))
            self._send("".join(f"{line}\n" for line in lines).encode("utf-8", "surrogateescape"))

    def _lines(self, batch: HitBatch, rows: slice) -> Iterator[str]:
        names, which = batch.record_names(rows)
        numbers = batch.record[rows].tolist()
        columns = take_rows(batch.aligned, rows)
        ops, text = columns.ops.tobytes().decode(), columns.text.tobytes().decode()
        intervals = (which, *(getattr(batch, name)[rows] for name in ("start", "end", "minus")))
        kinds = (batch.pattern[rows], batch.distance[rows])
        parts = (pairwise(columns.op_ends.tolist()), pairwise(columns.text_ends.tolist()))
        values = (*(column.tolist() for column in (*intervals, *kinds)), *parts)
        genome = "" if batch.origin.name is None else f"{batch.origin.name} "
        for number, row in zip(numbers, zip(*values, strict=True), strict=True):
            record, start, end, minus, pattern, distance, op, letters = row
            where = f"{genome}{names[record]}:{start}-{end} {'-' if minus else '+'}"
            yield f"{where} {self._names[pattern]}, distance {distance}"
            aligned = ops[slice(*op)], self._patterns[pattern], text[slice(*letters)]
            around = self._around((batch.origin.number, number), start, end, minus)
            yield from self._alignment(aligned, around)
            yield ""

    def _around(self, record: tuple[int, int], start: int, end: int, minus: int) -> tuple[str, str]:
        """Letters before and behind a hit, as the pattern reads them.

        record: the numbers of the genome and of the record.
        """
        if self._letters_of is None:
            return "", ""
        first = max(start - AROUND, 0)
        letters = self._letters_of(*record, first, end + AROUND).tobytes().decode("latin-1").lower()
        before, behind = letters[: start - first], letters[end - first :]
        if minus:
            before, behind = (part[::-1].translate(_LOWER_COMPLEMENT) for part in (behind, before))
        return before, behind

    def _alignment(self, aligned: tuple[str, str, str], around: tuple[str, str]) -> Iterator[str]:
        before, behind = around
        above, below = laid_out(*aligned, self._pam_first)
        ops = "=" * len(before) + aligned[0] + "=" * len(behind)
        marks = "".join("|" if op == "=" else " " for op in aligned[0])
        lines = [f"{' ' * len(before)}{line}{' ' * len(behind)}" for line in (above, marks)]
        lines.append(before + below + behind)
        width = max(self._screen.width - len(_TITLES[0]), LEAST)
        for first in range(0, len(ops), width):
            part = slice(first, first + width)
            for title, line in zip(_TITLES, lines, strict=True):
                coloured = self._coloured(line[part], ops[part]) if title.strip() else line[part]
                yield f"{title}{coloured}".rstrip()

    def _coloured(self, letters: str, ops: str) -> str:
        if not self._screen.colour:
            return letters
        return "".join(
            letter if op == "=" else f"{DIFFERENCE}{letter}{PLAIN}"
            for letter, op in zip(letters, ops, strict=True)
        )


def laid_out(ops: str, pattern: str, text: str, pam_first: bool) -> tuple[str, str]:
    """The two lines of an alignment, one above the other; gaps are `-`.

    Letters of a PAM are those of the text that they matched.
    """
    beside = len(ops) - ops.count("D") - len(pattern)
    number, above, below = -beside if pam_first else 0, "", ""
    texts = iter(text)
    for op in ops:
        letter = GAP if op == "I" else next(texts)
        below += letter
        if op == "D":
            above += GAP
            continue
        above += pattern[number] if 0 <= number < len(pattern) else letter
        number += 1
    return above, below
