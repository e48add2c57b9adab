"""Reads as they stand in a file of FASTA or FASTQ: the bytes of whole records, many at a time.

@read1 of a cell ↵ ACGTN ↵ + ↵ IIIII ↵ @read2 …
└ record ────────────────────────────┘
 └name┘            └body┘      └quality
"""

import os
import re
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any, NamedTuple, Self

import numpy as np

from kmatch.arrays import Bools, Bytes, Longs, bounds_of, gather
from kmatch.errors import InputError, shown
from kmatch.sequences.alphabet import READ_AS, check_letters, reading_of
from kmatch.sequences.fasta import names_of
from kmatch.sequences.files import SAM, StrPath, label_of, open_source, refuse_others

BLOCK = 1 << 23  # bytes that are read at a time
LF = ord("\n")
CR = ord("\r")
IS_BLANK = np.isin(np.arange(256), list(b" \t\v\f\n\r"))
LAST_BLANK = ord(" ")  # letters and qualities come behind it
FASTQ_LINES = 4  # of a read
SUFFIXES = (".fa", ".fasta", ".fq", ".fastq")
_SUFFIX = re.compile(r"\.(fa|fasta|fq|fastq)(\.gz|\.zst)?$", re.IGNORECASE)
_TAKE_OUT = "take gaps out first, as seqkit seq --remove-gaps does"
_OTHERS = {
    b"LOCUS ": "GenBank",
    b"\x1a\x41\x27\x43": "2bit",
    b"\x43\x27\x41\x1a": "2bit",
    b"\x89KMATCH": "a packed genome",
}


class Spans(NamedTuple):
    """Where n stretches begin and end in some data, int64[n] each."""

    begin: Longs
    end: Longs

    @property
    def sizes(self) -> Longs:
        """Their bytes, int64[n]."""
        return self.end - self.begin

    def take(self, rows: Longs | slice) -> "Spans":
        """Return some of them."""
        return Spans(self.begin[rows], self.end[rows])

    def read(self, data: Bytes) -> tuple[Longs, Bytes]:
        """Return the stretches side by side: where each begins, int64[n+1], and their bytes."""
        bounds = bounds_of(self.sizes)
        return bounds, gather(data, self.begin, bounds)


@dataclass(frozen=True)
class RawReads:
    """n reads of a file, one behind the other.

    form: `FASTA` or `FASTQ`; data: uint8, the bytes that they stand in. record, name, body,
    quality: their Spans in the data. A body reaches from the first letter to the last one, in FASTA
    over breaks of lines. Qualities of FASTA are empty, behind the record. letters: uint8, the
    letters of all bodies, without breaks. bounds: int64[n+1], where each read begins among the
    letters, and the end of the last one.
    """

    form: str
    data: Bytes
    record: Spans
    name: Spans
    body: Spans
    quality: Spans
    letters: Bytes
    bounds: Longs

    def __len__(self) -> int:
        return len(self.bounds) - 1

    @property
    def lengths(self) -> Longs:
        """The letters of each read, int64[n]."""
        return np.diff(self.bounds)

    def name_of(self, row: int) -> str:
        """Return the name of a read."""
        title = self.data[self.name.begin[row] : self.name.end[row]]
        return names_of([title.tobytes()])[0]

    def written(self, rows: Longs) -> tuple[Longs, Bytes]:
        """Return the records of some reads side by side, byte for byte; see Spans."""
        return self.record.take(rows).read(self.data)

    def trimmed(self, rows: Longs, kept: Spans) -> tuple[Longs, Bytes]:
        """Return the same with the letters that are kept, and their qualities, alone.

        kept: int64, for each read the first letter that stays, and the letter behind the last.
        Letters of FASTA come in one line if any are cut.

            @read1↵ACGTN↵+↵IIIII↵  1, 3 are kept:  @read1↵CG↵+↵II↵
        """
        record = self.record.take(rows)
        body = self.body.take(rows)
        quality = self.quality.take(rows)
        data = self.data
        letters = Spans(body.begin + kept.begin, body.begin + kept.end)
        scores = Spans(quality.begin + kept.begin, quality.begin + kept.end)
        if self.form == "FASTA":  # whose letters may have breaks between
            letters = self._unbroken(rows, kept)
            scores = quality
            data = np.concatenate([data, self.letters])

        # A record is what stands before the letters, these, what stands behind them, and so on.
        begins = [record.begin, letters.begin, body.end, scores.begin, quality.end]
        ends = [body.begin, letters.end, quality.begin, scores.end, record.end]
        begin = np.stack(begins, axis=1)
        end = np.stack(ends, axis=1)
        bounds, written = Spans(begin.reshape(-1), end.reshape(-1)).read(data)
        return bounds[:: len(begins)], written

    def _unbroken(self, rows: Longs, kept: Spans) -> Spans:
        """Return where letters that are kept stand without breaks, if `letters` follow the data."""
        body = self.body.take(rows)
        first = len(self.data) + self.bounds[rows]
        is_whole = kept.sizes == self.lengths[rows]
        begin = np.where(is_whole, body.begin, first + kept.begin)
        end = np.where(is_whole, body.end, first + kept.end)
        return Spans(begin, end)


class _Lines(NamedTuple):
    """Lines, int64[l] each: their beginnings, their ends, and the beginnings of the next lines."""

    begin: Longs
    end: Longs
    following: Longs

    def take(self, rows: Longs | Bools | slice) -> "_Lines":
        """Return some of them."""
        return _Lines(self.begin[rows], self.end[rows], self.following[rows])

    @property
    def spans(self) -> Spans:
        """Where they stand, without their breaks."""
        return Spans(self.begin, self.end)


class ReadFile:
    """A file of reads, from which they are taken in order; as a context it is closed in the end.

    form: `FASTA` or `FASTQ`; count: of the reads so far. Raises InputError for a file that cannot
    be opened, and for one of another format.
    """

    def __init__(self, path: StrPath) -> None:
        self.path = path
        with ExitStack() as stack:
            self._source = stack.enter_context(open_source(path))
            self.label = self._source.label
            self.form = self._known_form()
            self._opened = stack.pop_all()
        self.count = 0
        self._rest = b""  # what was read of the reads to come
        self._is_last = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *failed: Any) -> bool | None:
        return self._opened.__exit__(*failed)

    @property
    def progress(self) -> tuple[int | None, int | None]:
        """Bytes of the file on disk that were read, and how many it has."""
        return self._source.consumed, self._source.size

    def _known_form(self) -> str:
        """Return the form of the file, past comments above FASTA."""
        head = self._source.head
        for magic, what in _OTHERS.items():
            if head.startswith(magic):
                raise InputError(
                    f"{self.label}: this is {what}, and reads are written as they stand; give "
                    "FASTA or FASTQ"
                )
        if head.startswith(b"@") and not re.match(SAM, head):
            return "FASTQ"
        if not head.startswith(b">"):
            refuse_others(self._source, "reads in FASTA or FASTQ")
        self._source.skip_comments()
        if self._source.head.startswith(b">"):
            return "FASTA"
        what = "no reads" if head else "the file is empty"
        raise InputError(f"{self.label}: {what}; FASTA begins with '>', and FASTQ with '@'")

    def read(self, count: int | None = None) -> RawReads:
        """Return the next reads, as many as come together, or `count` of them.

        They are fewer at the end of the file, and none behind it. Raises InputError for anything
        but reads.
        """
        found = self._parsed(count)
        while not self._is_last and len(found) < (count or 1):
            self._rest += self._block()
            found = self._parsed(count)
        self._check(found)
        self.count += len(found)
        if len(found):
            self._rest = self._rest[found.record.end[-1] :]
        return found

    def _block(self) -> bytes:
        """Return the next bytes of the file. The last byte is no CR that LF follows."""
        size = max(BLOCK, len(self._rest))
        block: bytes = self._source.handle.read(size)
        self._is_last = len(block) < size
        while block.endswith(b"\r") and (more := self._source.handle.read(1)):
            block += more
        if b"\0" in block:
            raise InputError(f"{self.label}: a binary file, not {self.form}")
        return block

    def _parsed(self, count: int | None) -> RawReads:
        """Return the whole reads in the bytes at hand, the first `count` or all."""
        data = np.frombuffer(self._rest, np.uint8)
        blanks = np.append(_blanks_of(data), len(data))
        lines = _lines_of(data, blanks, self._is_last)
        if self.form == "FASTA":
            return self._of_fasta(data, lines, blanks, count)
        lines = _without_blank_lines(lines)
        if count is not None:
            lines = lines.take(slice(FASTQ_LINES * count))
        return self._of_fastq(data, lines, blanks)

    def _of_fasta(self, data: Bytes, lines: _Lines, blanks: Longs, count: int | None) -> RawReads:
        """Return the reads of lines of FASTA. Each read reaches to the next header."""
        is_header = data[lines.begin] == ord(">")
        bounds = np.flatnonzero(np.append(is_header, self._is_last))
        if count is not None:
            bounds = bounds[: count + 1]
        if not len(bounds):
            bounds = np.zeros(1, np.int64)
        header = lines.take(bounds[:-1])
        last = lines.take(bounds[1:] - 1)

        # Letters of a read are in the lines behind its header; blanks in them are none.
        line_bounds, letters = lines.take(~is_header).spans.read(data)
        letter_bounds = line_bounds[bounds - np.arange(len(bounds))]
        letters = letters[: letter_bounds[-1]]
        inside = _blanks_of(letters)
        if len(inside):
            letter_bounds -= np.searchsorted(inside, letter_bounds)
            letters = np.delete(letters, inside)

        return RawReads(
            self.form,
            data,
            record=Spans(header.begin, last.following),
            name=_names(header, blanks),
            body=Spans(header.following, np.maximum(last.end, header.following)),
            quality=Spans(last.following, last.following),
            letters=letters,
            bounds=letter_bounds,
        )

    def _of_fastq(self, data: Bytes, lines: _Lines, blanks: Longs) -> RawReads:
        """Return the reads of lines of FASTQ, four a read. Raises InputError for lines that are no
        read."""
        line_count = len(lines.begin)
        count = line_count // FASTQ_LINES
        header, body, plus, quality = (
            lines.take(slice(row, FASTQ_LINES * count, FASTQ_LINES)) for row in range(FASTQ_LINES)
        )
        is_read = data[header.begin] == ord("@")
        is_read &= data[plus.begin] == ord("+")
        is_read &= body.spans.sizes == quality.spans.sizes
        is_cut = self._is_last and line_count % FASTQ_LINES > 0
        if is_cut or not is_read.all():
            row = int(np.argmin(np.append(is_read, False)))
            raise self._fault(data, lines.take(slice(FASTQ_LINES * row, None)), row)
        bounds, letters = body.spans.read(data)
        return RawReads(
            self.form,
            data,
            record=Spans(header.begin, quality.following),
            name=_names(header, blanks),
            body=body.spans,
            quality=quality.spans,
            letters=letters,
            bounds=bounds,
        )

    def _fault(self, data: Bytes, lines: _Lines, row: int) -> InputError:
        """Return the InputError for lines of FASTQ that are no read, by the number of the read at
        hand."""
        title = data[lines.begin[0] : lines.end[0]].tobytes().decode("utf-8", "replace")
        return InputError(
            f"{self.label}: read {self.count + row + 1:,}, '{shown(title)}', is cut or damaged; a "
            "read of FASTQ has four lines: '@' and its name, letters, '+', and as many qualities"
        )

    def _check(self, reads: RawReads) -> None:
        """Raise InputError for a read without a name, and for letters that no read has."""
        is_unnamed = reads.name.sizes == 0
        if is_unnamed.any():
            row = int(np.argmax(is_unnamed))
            raise InputError(f"{self.label}: read {self.count + row + 1:,} has no name; write one")

        reading = reading_of(None) if self.form == "FASTA" else READ_AS
        try:
            check_letters((self.label, 0, "all"), reads.letters, reading)
        except InputError:  # in one of them, which is told
            for row in range(len(reads)):
                letters = reads.letters[reads.bounds[row] : reads.bounds[row + 1]]
                origin = self.label, self.count + row + 1, reads.name_of(row)
                check_letters(origin, letters, reading, _TAKE_OUT)


def _blanks_of(data: Bytes) -> Longs:
    """Return where blanks and breaks of lines are."""
    low = np.flatnonzero(data <= LAST_BLANK)
    return low[IS_BLANK[data[low]]]


def _lines_of(data: Bytes, blanks: Longs, is_last: bool) -> _Lines:
    """Return lines. LF, CRLF or CR ends each line.

    blanks: where blanks and breaks are in the data, and its end, which ends a line too if is_last.
    """
    letters = np.append(data[blanks[:-1]], 0)
    is_break = letters == LF
    if is_last and len(data):
        is_break[-1] = data[-1] != LF and data[-1] != CR

    # CR ends a line unless LF follows, and then belongs to the break.
    returns = np.flatnonzero(letters == CR)
    behind = np.minimum(blanks[returns] + 1, len(data) - 1)
    is_break[returns] = data[behind] != LF
    end = blanks[is_break]
    following = np.minimum(end + 1, len(data))
    begin = np.append(0, following)[: len(end)]
    is_crlf = (end > begin) & (data[end - 1] == CR)
    return _Lines(begin, end - is_crlf, following)


def _names(header: _Lines, blanks: Longs) -> Spans:
    """Return where the names in headers are, each up to a blank."""
    row = np.searchsorted(blanks, header.begin)
    return Spans(header.begin + 1, blanks[row])


def _without_blank_lines(lines: _Lines) -> _Lines:
    """Return the lines of FASTQ that are no blank ones between reads."""
    is_empty = lines.begin == lines.end
    if not is_empty[::FASTQ_LINES].any():
        return lines
    rows: list[int] = []
    for row, empty in enumerate(is_empty.tolist()):
        if not empty or len(rows) % FASTQ_LINES:
            rows.append(row)
    return lines.take(np.array(rows, np.int64))


@contextmanager
def opened_reads(
    path: StrPath, mates: StrPath | None = None
) -> Iterator[tuple[ReadFile, ReadFile | None]]:
    """Give the ReadFile of a path, and the ReadFile of its mates, if there are.

    Raises InputError where both are one file.
    """
    if mates and os.path.isfile(path) and os.path.isfile(mates) and os.path.samefile(path, mates):
        raise InputError(
            f"{label_of(mates)}: the mates are in the same file as the first reads; name the file "
            "of the second reads"
        )
    with ReadFile(path) as first, ReadFile(mates) if mates else nullcontext() as second:
        yield first, second


def check_mates(files: tuple[ReadFile, ReadFile], reads: RawReads, mates: RawReads) -> None:
    """Raise InputError where reads that were just taken and their mates do not fit.

    Names are equal, but for a last letter that is 1 or 2.
    """
    names = _unmarked(reads)
    others = _unmarked(mates)
    if names == others:
        return
    pairs = zip_longest(names.split(b"\n"), others.split(b"\n"))
    row = next(row for row, (name, other) in enumerate(pairs) if name != other) - 1
    told = []
    for file, each in zip(files, (reads, mates), strict=True):
        name = f"'{shown(each.name_of(row))}'" if row < len(each) else "none"
        told.append(f"{name} in {file.label}")
    raise InputError(
        f"read {files[0].count - len(reads) + row + 1:,} is {' and '.join(told)}; mates come in as "
        "many reads, of the same names in the same order"
    )


def _unmarked(reads: RawReads) -> bytes:
    """Return the names of reads, each behind a break, with 0 for a 1 or 2 at the end."""
    bounds, letters = Spans(reads.name.begin - 1, reads.name.end).read(reads.data)
    letters[bounds[:-1]] = LF  # in place of '>' or '@'
    last = bounds[1:] - 1
    is_mark = (letters[last] == ord("1")) | (letters[last] == ord("2"))
    letters[last[is_mark]] = ord("0")
    return letters.tobytes()


def suffix_of(path: StrPath, form: str) -> str:
    """Return the suffix of a path of reads, such as `.fq.gz`, empty where it is none of a form."""
    found = _SUFFIX.search(str(path))
    return found[0] if found and found[1][-1].upper() == form[-1] else ""
