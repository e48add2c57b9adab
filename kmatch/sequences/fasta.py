"""Genomes in FASTA and FASTQ, read a block at a time, since a record may have gigabases."""

from collections.abc import Iterator, Sequence
from itertools import chain

import numpy as np

from kmatch.errors import InputError, shown
from kmatch.sequences.alphabet import BLANKS, BREAK, FOREIGN, KINDS, foreign_letter
from kmatch.sequences.files import Source
from kmatch.sequences.records import Stretch

BLOCK = 1 << 20  # bytes that are read at a time
LONGEST_HEADER = 1 << 20
_BREAK = bytes([BREAK])
_FORM = "kmatch reads FASTQ of four lines a read"
_AGAIN = "copy or download the file again"


def read_fasta(source: Source) -> Iterator[Stretch]:
    """Yield Stretches of the records of a FASTA file; long ones come in parts.

    LF, CRLF or CR ends a line. Raises InputError for a header without an end, and for a letter that
    stands for no nucleotide.
    """
    count, name, before = 0, "", 0  # of records so far; the last one's name, and its letters
    kept = b"\n"  # what the next block begins with: a break where a line begins
    for data in chain(_blocks(source), [b""]):
        first, *parts = (kept + data).split(b"\n>")
        kept = b"\n" if data.endswith(b"\n") else b""
        last: list[bytes] = []
        if data and parts:  # this one may go on
            last = [parts.pop()]
            _, _, text = last[0].partition(b"\n")
            if len(text) <= BLOCK >> 6 or not text.strip():
                kept, last = b"\n>" + last[0], []
            if len(kept) > LONGEST_HEADER:
                raise InputError(
                    f"{source.label}: the header of record {count + len(parts) + 1} has more than "
                    f"{LONGEST_HEADER:,} characters; is this FASTA?"
                )
        if first.strip():
            yield (stretch := _stretch(source, [name], [first], count - 1, before))
            before += len(stretch.letters)
        for some in filter(None, (parts, last)):
            titles, texts = [], []
            for part in some:
                title, _, text = part.partition(b"\n")
                titles.append(title)
                texts.append(text)
            yield (stretch := _stretch(source, names_of(titles), texts, count))
            count, name, before = count + len(some), stretch.names[-1], int(stretch.lengths[-1])


def read_fastq(source: Source) -> Iterator[Stretch]:
    """Yield Stretches of the reads of a FASTQ file.

    Four lines are a read: '@' and its name, letters, '+', and as many qualities, which are not
    looked at. LF, CRLF or CR ends a line. Raises InputError, naming the read, for anything else.
    """
    number, rest = 0, b""  # reads so far; a line whose end is not read yet
    lines: list[bytes] = []
    for data in chain(_blocks(source), [b""]):
        *ended, rest = (rest + data).split(b"\n")
        lines += ended if data else [rest]
        if not all(lines[::4]):
            given, lines = lines, []
            for line in given:
                if line or len(lines) % 4:  # a blank line between reads is none of them
                    lines.append(line)
        count = len(lines) // 4
        titles, texts, *_ = reads = [lines[i : 4 * count : 4] for i in range(4)]
        for at, (title, text, plus, quality) in enumerate(zip(*reads, strict=True), number + 1):
            if title[:1] != b"@" or plus[:1] != b"+":
                raise _fault(source, at, title, f"has no '+' after its line of letters; {_FORM}")
            if len(text) != len(quality):
                what = f"has {len(text):,} letters and {len(quality):,} qualities; {_AGAIN}"
                raise _fault(source, at, title, what)
        if titles:
            yield _stretch(source, names_of([title[1:] for title in titles]), texts, number)
            number += count
            del lines[: 4 * count]
    if lines:
        raise _fault(source, number + 1, lines[0], f"is cut; {_AGAIN}")


def _fault(source: Source, number: int, title: bytes, what: str) -> InputError:
    """The InputError for a read with a title, or for another line in place of it."""
    if title.startswith(b"@"):
        which = f"{number}, '{shown(names_of([title[1:]])[0])}',"
    else:
        which, what = f"{number}", f"does not begin with '@'; {_FORM}"
    return InputError(f"{source.label}: read {which} {what}")


def _blocks(source: Source) -> Iterator[bytes]:
    """Yield the bytes of a file, BLOCK at a time, with LF for CRLF and CR.

    Raises InputError for a zero byte.
    """
    while data := source.handle.read(BLOCK):
        if data.endswith(b"\r"):
            data += source.handle.read(1)  # LF may follow
        if b"\0" in data:
            form = "FASTA" if source.head.startswith(b">") else "FASTQ"
            raise InputError(f"{source.label}: a binary file, not {form}")
        if b"\r" in data:
            data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        yield data


def names_of(titles: Sequence[bytes]) -> list[str]:
    """The names in headers, behind '>' or '@', each up to its first ASCII blank."""
    words = [(title.split(None, 1) or [b""])[0] for title in titles]
    return b"\n".join(words).decode("utf-8", "surrogateescape").split("\n")


def _stretch(
    source: Source, names: list[str], texts: Sequence[bytes], count: int, before: int = 0
) -> Stretch:
    """The Stretch of records by their texts, letters with blanks.

    count: of the records before; before: letters of the first one that came before. Raises
    InputError for letters that no record has.
    """
    letters = _BREAK.join(texts).translate(KINDS, BLANKS)
    if (at := letters.find(FOREIGN)) >= 0:
        row, begin = letters.count(BREAK, 0, at), letters.rfind(BREAK, 0, at) + 1
        letter = texts[row].translate(None, BLANKS)[at - begin]
        offset = at - begin + (0 if row else before)
        raise foreign_letter((source.label, count + row + 1, names[row]), offset, letter)
    ends = np.flatnonzero(np.frombuffer(letters, np.uint8) == BREAK)
    lengths = np.diff(ends, prepend=-1, append=len(letters)) - 1
    if len(ends):
        letters = letters.translate(None, _BREAK)
    return Stretch(names, lengths, np.frombuffer(letters, np.uint8), before > 0)
