"""Genomes in FASTA and FASTQ, read a block at a time, since a record may have gigabases.

Blocks are read in order. Each is cut where a record begins, and the rest begins the next block. So
every block can be taken apart by itself: threads do that side by side.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

from kmatch.arrays import Bytes, Longs, Table, bounds_of, look_up
from kmatch.errors import InputError, shown
from kmatch.jit.entries import entry
from kmatch.sequences.alphabet import FOREIGN, READ_AS, foreign_letter, reading_of
from kmatch.sequences.files import LINE_ENDS, Part, Source
from kmatch.sequences.records import RecordNames, Stretch

BLOCK = 1 << 22  # bytes that are read at a time
READERS = 4  # threads that take blocks apart, at most: others would wait for their turn
LOOK = 1 << 12  # bytes at the end of a block that are looked at first
LONGEST_HEADER = 1 << 22
FASTA = ord(">")  # begins its records
_FORM = "kmatch reads FASTQ of four lines a read"
_AGAIN = "copy or download the file again"

_NO_NAMES = RecordNames.of([])

whole_reads = entry("kmatch.engine.cpu.reading:whole_reads", tuple[Bytes])
take_apart = entry(
    "kmatch.engine.cpu.reading:take_apart", tuple[Bytes, int, int, Bytes, Bytes, Bytes, Table]
)


# What a block holds; what is wrong with what follows, as an error says it behind the number; and
# whether there is a letter that is an error.
Taken = tuple[list[Stretch], str, bool]


def read_fasta(source: Source, gaps: str | None = None) -> Iterator[Stretch]:
    """Yield Stretches of the records of a FASTA file; long ones come in parts.

    gaps: see `reading_of`. LF, CRLF or CR ends a line. Raises InputError for a header without an
    end, and for a letter that is an error.
    """
    blocks = _fasta_blocks(source, reading_of(gaps))
    if not source.is_read_by_workers:
        blocks = source.made_ahead(blocks)
    return _stretches(source, blocks, "the header of record")


def read_fastq(source: Source) -> Iterator[Stretch]:
    """Yield Stretches of the reads of a FASTQ file.

    Four lines are a read: '@' and its name, letters, '+', and as many qualities, which are not
    looked at. LF, CRLF or CR ends a line. Raises InputError, naming the read, for anything else.
    """
    return _stretches(source, source.made_ahead(_fastq_blocks(source)), "read")


def _stretches(
    source: Source, blocks: Iterator[Callable[[], Taken]], what: str
) -> Iterator[Stretch]:
    """Yield the Stretches of blocks, which threads take apart ahead.

    what: the fault in words, where there is one.
    """
    count = before = 0  # records so far, and letters of the last one
    names = _NO_NAMES
    for parts, fault, has_foreign in source.ahead(blocks, READERS):
        for part in parts:
            if part.goes_on:
                part = part._replace(names=names[-1:])
            else:
                before = 0
            if has_foreign:
                _check(part, source.label, count - part.goes_on, before)
            yield part
            names = part.names
            count += len(names) - part.goes_on
            before += int(part.lengths[-1])
        if fault:
            raise InputError(f"{source.label}: {what} {count + 1}{fault}")


def _check(part: Stretch, label: str, count: int, before: int) -> None:
    """Raise InputError for a letter that is an error.

    count: of the records before; before: letters of the first record in parts before this one.
    """
    letters = np.asarray(part.letters)
    if letters.max(initial=0) >= FOREIGN:
        place = int(np.argmax(letters >= FOREIGN))
        bounds = bounds_of(part.lengths)
        row = int(np.searchsorted(bounds, place, side="right")) - 1
        offset = place - int(bounds[row])
        if row == 0:
            offset += before
        origin = label, count + row + 1, part.names[row]
        raise foreign_letter(origin, offset, int(letters[place]) - FOREIGN)


def _fasta_blocks(source: Source, reading: Bytes) -> Iterator[Callable[[], Taken]]:
    """Yield a call that takes apart each block of a FASTA file; reading: see `reading_of`."""
    kept: Any = b""
    begins_line = True
    for block in source.blocks(BLOCK):
        is_last = len(block) < BLOCK
        data = kept + block if kept else block
        size = len(data) if is_last else _cut(data, begins_line, reading)
        kept = data[size:]
        if size:
            is_open = not (kept or is_last)
            yield partial(_take_apart, source, data[:size], reading, begins_line, is_open)
        if len(kept) >= LONGEST_HEADER:
            yield partial(_too_long, source, kept)
        if not is_last:
            begins_line = bool(kept) or bytes(data[-1:]) in LINE_ENDS


def _cut(data: Part, begins_line: bool, reading: Bytes) -> int:
    """Return how many bytes of FASTA are a block; the rest begins the next block.

    begins_line: whether they begin a line; reading: see `reading_of`.

    The last record begins the next block if its header is among the last LOOK bytes, or if none of
    its letters is in the data. Otherwise it goes on in the next block.

        … A C G T ⏎ A C|G T ⏎ > c h r 2 ⏎ A C        LOOK bytes are behind |
                               ^ the next block
    """
    # The last LOOK bytes decide most blocks: they have a header, or letters behind a line end.
    near_start = max(len(data) - LOOK, 0)
    near = bytes(data[near_start:])
    header = _last_header(near)
    if header > 0:
        return near_start + header
    if near_start and _has_letters(near, reading):
        return len(data)

    # A long header, or letters in one line.
    whole = bytes(data)
    header = _last_header(whole)
    if header < 0 or (header == 0 and not begins_line) or _has_letters(whole[header:], reading):
        return len(data)
    return header


def _last_header(data: bytes) -> int:
    """Return where the last header begins: a '>' behind a line end, or at 0; −1 for none."""
    header = data.rfind(b">")
    while header > 0 and data[header - 1 : header] not in LINE_ENDS:
        header = data.rfind(b">", 0, header)
    return header


def _has_letters(data: bytes, reading: Bytes) -> bool:
    """Return whether there are letters behind the first line end of data without headers there."""
    lines = re.split(rb"[\r\n]", data, maxsplit=1)
    return bool(look_up(lines[-1], reading).any()) and len(lines) > 1


def _too_long(source: Source, header: Part) -> Taken:
    """Return the fault of a header that has no end."""
    _text_of(source, header)
    return [], f" has more than {LONGEST_HEADER:,} characters; is this FASTA?", False


def _fastq_blocks(source: Source) -> Iterator[Callable[[], Taken]]:
    """Yield a call that takes apart each block of a FASTQ file: whole reads, at the end the
    rest."""
    kept = b""
    for block in source.blocks(BLOCK):
        is_last = len(block) < BLOCK
        data = kept + _text_of(source, block)
        if data.endswith(b"\r") and not is_last:  # LF may follow
            data = _line_feeds(data[:-1]) + b"\r"
        else:
            data = _line_feeds(data)
        size = len(data) if is_last else whole_reads(np.frombuffer(data, np.uint8))
        kept = data[size:]
        if size:
            yield partial(_take_apart, source, data[:size], READ_AS)


def _line_feeds(data: bytes) -> bytes:
    """Return bytes with LF for CRLF and CR."""
    if b"\r" in data:
        data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    return data


def _take_apart(
    source: Source, block: Part, reading: Bytes, begins_line: bool = True, is_open: bool = False
) -> Taken:
    """Return the records of a block.

    reading: see `reading_of`; begins_line: whether a record may begin at once; is_open: whether the
    last one may go on in the next block, so that it comes alone.
    """
    data = _line_feeds(_text_of(source, block))
    letters, bounds, names, end = _cleaned(data, source.head[0], reading, begins_line)
    fault = _fault(data[end:]) if end < len(data) else ""
    has_foreign = bool(letters.max(initial=0) >= FOREIGN)
    return _parts(letters, bounds, names, is_open), fault, has_foreign


def _parts(letters: Bytes, bounds: Longs, names: RecordNames, is_open: bool) -> list[Stretch]:
    """Return the Stretches of the records of a block; see `_cleaned` and `_take_apart`."""
    parts = []
    if bounds[0] > 0:
        parts.append(Stretch(names[:0], bounds[:1], letters[: bounds[0]], goes_on=True))
    count = len(names)
    whole = max(count - is_open, 0)
    for first, last in ((0, whole), (whole, count)):
        if first < last:
            rows = bounds[first : last + 1]
            parts.append(Stretch(names[first:last], np.diff(rows), letters[rows[0] : rows[-1]]))
    return parts


def _text_of(source: Source, block: Part) -> bytes:
    """Return the bytes of a block; raises InputError where one of them is zero."""
    data = bytes(block)
    if b"\0" in data:
        form = "FASTA" if source.head[0] == FASTA else "FASTQ"
        raise InputError(f"{source.label}: a binary file, not {form}")
    return data


def _cleaned(
    data: bytes, mark: int, reading: Bytes, begins_line: bool
) -> tuple[Bytes, Longs, RecordNames, int]:
    """Return (letters of all records, where each begins among them and the last one ends, names,
    where the lines of the last one end) of a block; mark: the first byte of each record."""
    size = len(data)
    letters = np.empty(size if mark == FASTA else size // 2, np.uint8)  # the rest are qualities
    words = np.empty(size, np.uint8)
    bounds = np.empty((3, size // 2 + 2), np.int64)
    raw = np.frombuffer(data, np.uint8)
    count = take_apart(raw, int(begins_line), mark, reading, letters, words, bounds)
    letter_bounds, word_bounds, places = bounds[:, : count + 1].copy()
    names = RecordNames(word_bounds, words[: word_bounds[-1]].copy())
    return letters[: letter_bounds[-1]], letter_bounds, names, int(places[-1])


def _fault(rest: bytes) -> str:
    """Return the fault, in words, of the first lines of FASTQ that are no read."""
    title, *lines = rest.split(b"\n", 4)
    if not title.startswith(b"@"):
        return f" does not begin with '@'; {_FORM}"
    which = f", '{shown(names_of([title[1:]])[0])}',"
    if len(lines) < 3:
        return f"{which} is cut; {_AGAIN}"
    text, plus, quality = lines[:3]
    if not plus.startswith(b"+"):
        return f"{which} has no '+' after its line of letters; {_FORM}"
    return f"{which} has {len(text):,} letters and {len(quality):,} qualities; {_AGAIN}"


def names_of(titles: Sequence[bytes]) -> list[str]:
    """Return the names in headers, behind '>' or '@', each up to its first ASCII blank."""
    words = [(title.split(None, 1) or [b""])[0] for title in titles]
    return b"\n".join(words).decode("utf-8", "surrogateescape").split("\n")
