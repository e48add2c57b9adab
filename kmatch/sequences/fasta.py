"""Genomes in FASTA and FASTQ, read a block at a time, since a record may have gigabases."""

import mmap
import os
from collections.abc import Iterator
from contextlib import suppress
from itertools import chain, pairwise

import numpy as np

from kmatch.arrays import Longs, bounds_of
from kmatch.errors import InputError, shown
from kmatch.sequences.alphabet import BLANKS, FOREIGN, KINDS, foreign_letter
from kmatch.sequences.files import Source
from kmatch.sequences.records import Stretch, first_word

BLOCK = 1 << 20  # bytes that are read at a time
LONGEST_HEADER = 1 << 20
LONGEST_LINE = 1 << 30  # of FASTQ
_AT, _LF, _GREATER = b"@\n>"
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
        first, *parts = _at_headers(kept + (data or b"\n"))
        kept = b"\n" if data.endswith(b"\n") else b""
        title, end, text = parts[-1].partition(b"\n") if parts else (b"", b"", b"")
        if data and parts and not text.strip():  # the header's end or the first letters may follow
            del parts[-1]
            kept = b"\n" + title + end + text[-1:]
            if len(kept) > LONGEST_HEADER:
                raise InputError(
                    f"{source.label}: the header of record {count + len(parts) + 1} has more than "
                    f"{LONGEST_HEADER:,} characters; is this FASTA?"
                )
        titles, texts = [], [first]
        for part in parts:
            title, _, text = part.partition(b"\n")
            titles.append(title)
            texts.append(text)
        goes_on = bool(first.strip())
        names = [name, *_names(titles)] if goes_on else _names(titles)
        if not names:
            continue
        stretch = _stretch(source, names, texts[not goes_on :], count, before, goes_on)
        yield stretch
        before = int(stretch.lengths[-1]) + (0 if titles else before)
        count, name = count + len(titles), names[-1]


def read_fastq(source: Source) -> Iterator[Stretch]:
    """Yield Stretches of the reads of a FASTQ file.

    Four lines are a read: '@' and its name, letters, '+', and as many qualities, which are not
    looked at. LF, CRLF or CR ends a line. Raises InputError, naming the read, for anything else.
    """
    number, rest = 0, bytearray()  # reads so far; a line whose end is not read yet
    lines: list[bytes] = []
    for data in chain(_blocks(source), [b""]):
        first, *others = data.split(b"\n")
        rest += first
        if len(rest) > LONGEST_LINE:
            raise InputError(
                f"{source.label}: read {number + 1} has more than {LONGEST_LINE:,} bytes; "
                "is this FASTQ?"
            )
        if others or not data:
            lines += [bytes(rest), *others[:-1]]
            rest = bytearray(others[-1] if others else b"")
        titles, texts, at, fault = _reads(lines, not data)
        if texts:
            yield _stretch(source, _names(titles), texts, number)
            number += len(texts)
        del lines[:at]
        if fault:
            raise InputError(f"{source.label}: read {number + 1}{fault}")
    if left := [line for line in lines if line]:
        raise InputError(f"{source.label}: read {number + 1}{_fault(left[0], b'+', 1, 0, True)}")


def _reads(lines: list[bytes], at_end: bool) -> tuple[list[bytes], list[bytes], int, str]:
    """The headers and the letters of reads, how many lines they are, and a fault behind them."""
    columns = [lines[i : len(lines) // 4 * 4 : 4] for i in range(4)]
    titles, texts, pluses, qualities = columns
    if (
        {title[:1] for title in titles} == {b"@"}
        and {plus[:1] for plus in pluses} == {b"+"}
        and list(map(len, texts)) == list(map(len, qualities))
        and not any(map(b"".join(texts + qualities).__contains__, BLANKS))
    ):
        return titles, texts, 4 * len(texts), ""
    titles, texts, at = [], [], 0
    while at + 3 < len(lines):
        title, text, plus, quality = lines[at : at + 4]
        if not title:  # a blank line between reads
            at += 1
            continue
        bases = len(text.translate(None, BLANKS))
        unequal = {bases} != {len(quality), len(quality.translate(None, BLANKS))}
        if title[0] != _AT or plus[:1] != b"+" or unequal:
            if plus[:1] == b"+" and len(lines) == at + 4 and not at_end:
                break  # it may be the last read, and cut
            return titles, texts, at, _fault(title, plus, bases, len(quality), at_end)
        titles.append(title)
        texts.append(text)
        at += 4
    return titles, texts, at, ""


def _fault(title: bytes, plus: bytes, bases: int, qualities: int, at_end: bool) -> str:
    """What is wrong with a read, behind its number."""
    if title[0] != _AT:
        return f" does not begin with '@'; {_FORM}"
    name = f", '{shown(_names([title])[0])}',"
    if plus[:1] != b"+":
        return f"{name} has no '+' after its line of letters; {_FORM}"
    if at_end and qualities < bases:
        return f"{name} is cut; {_AGAIN}"
    return f"{name} has {bases:,} letters and {qualities:,} qualities; {_AGAIN}"


def _blocks(source: Source) -> Iterator[bytes]:
    """Yield the bytes of a file, BLOCK at a time, with LF for CRLF and CR.

    Raises InputError for a zero byte.
    """
    held = b""
    while data := source.handle.read(BLOCK):
        if b"\0" in data:
            form = "FASTA" if source.head.startswith(b">") else "FASTQ"
            raise InputError(f"{source.label}: a binary file, not {form}")
        if held or b"\r" in data:
            data = held + data
            held = b"\r" if data.endswith(b"\r") else b""  # LF may follow
            data = data[: len(data) - len(held)].replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        if data:
            yield data
    if held:
        yield b"\n"


def _at_headers(text: bytes) -> list[bytes]:
    """FASTA cut where a header begins."""
    codes = np.frombuffer(text, np.uint8)
    begins = np.flatnonzero((codes[1:] == _GREATER) & (codes[:-1] == _LF)) + 1
    return [text[begin:end] for begin, end in pairwise([0, *begins.tolist(), len(text)])]


def _names(titles: list[bytes]) -> list[str]:
    """The names in headers, behind '>' or '@', each up to its first ASCII blank."""
    if not titles:
        return []
    words = [words[0] if (words := title[1:].split(None, 1)) else b"" for title in titles]
    return b"\n".join(words).decode("utf-8", "surrogateescape").split("\n")


def _stretch(
    source: Source,
    names: list[str],
    texts: list[bytes],
    count: int,
    before: int = 0,
    goes_on: bool = False,
) -> Stretch:
    """The Stretch of records by their texts, letters with blanks.

    count: of the records before, with the one that goes on; before: letters of that one. Raises
    InputError for letters that no record has.
    """
    parts = [text.translate(KINDS, BLANKS) for text in texts]
    letters, sizes = b"".join(parts), list(map(len, parts))
    if (at := letters.find(FOREIGN)) >= 0:
        bounds = bounds_of(sizes)
        row = int(np.searchsorted(bounds, at, "right")) - 1
        offset = at - int(bounds[row])
        letter = texts[row].translate(None, BLANKS)[offset]
        origin = source.label, count + row + 1 - goes_on, names[row]
        raise foreign_letter(origin, offset + (0 if row else before * goes_on), letter)
    return Stretch(names, np.array(sizes, np.int64), np.frombuffer(letters, np.uint8), goes_on)


def read_index(path: str | os.PathLike[str]) -> tuple[list[str], Longs] | None:
    """Names and lengths, int64[n], of a FASTA file's records from the index that samtools makes.

    None without an index `FILE.fai`, with one older than the file, with one that cannot be read,
    and where the file's headers are not where it says.
    """
    index = os.fspath(path) + ".fai"
    with suppress(OSError, ValueError):
        if os.path.getmtime(index) < os.path.getmtime(path):
            return None
        with open(index, encoding="utf-8", errors="surrogateescape") as file:
            rows = [line.rstrip("\n").split("\t") for line in file if line.strip()]
        names = [name for name, *_ in rows]
        numbers = np.array([row[1:5] for row in rows], np.int64).reshape(-1, 4)
        with (
            open(path, "rb") as genome,
            mmap.mmap(genome.fileno(), 0, access=mmap.ACCESS_READ) as letters,
        ):
            if _fits(letters, names, numbers):
                return names, numbers[:, 0]
    return None


def _fits(letters: mmap.mmap, names: list[str], numbers: Longs) -> bool:
    """Whether between the records of an index there is nothing but headers, the last of which is
    that of the next record.

    numbers: int64[n, 4], letters, offset of the first, letters and bytes of a line.
    """
    end = 0
    for name, (length, offset, bases, width) in zip(names, numbers.tolist(), strict=True):
        headers = letters[end:offset].decode("utf-8", "surrogateescape").split("\n")
        headers = [line for line in headers if line.strip()]
        if not _are_headers(headers) or not headers or first_word(headers[-1][1:]) != name:
            return False
        lines, rest = divmod(length, bases) if bases else (0, 0)
        end = offset + lines * width + rest
        if end > len(letters):  # the last line of a file may lack its break
            end -= width - bases
        if end > len(letters) or letters.find(b">", offset, end) >= 0:
            return False
    return _are_headers(letters[end:].decode("utf-8", "surrogateescape").split("\n"))


def _are_headers(lines: list[str]) -> bool:
    return all(line.startswith(">") for line in lines if line.strip())
