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
        if not _are_reads(lines, not data):
            lines = _checked_reads(lines, source.label, number, not data)
        if count := len(lines) // 4:
            titles, texts = lines[: 4 * count : 4], lines[1 : 4 * count : 4]
            yield _stretch(source, names_of([title[1:] for title in titles]), texts, number)
            number += count
            del lines[: 4 * count]


def _are_reads(lines: list[bytes], at_end: bool) -> bool:
    """Whether lines are whole reads, with less than one behind them unless the file is at its end;
    blank lines between reads, and blanks in them, are left to `_checked_reads`."""
    titles, texts, pluses, qualities = (lines[i : len(lines) // 4 * 4 : 4] for i in range(4))
    letters = b"".join(texts + qualities)
    return (
        not (at_end and len(lines) % 4)
        and {title[:1] for title in titles} <= {b"@"}
        and {plus[:1] for plus in pluses} <= {b"+"}
        and list(map(len, texts)) == list(map(len, qualities))
        and not any(blank in letters for blank in BLANKS)
    )


def _checked_reads(lines: list[bytes], label: str, number: int, at_end: bool) -> list[bytes]:
    """The lines without blank ones between reads; number: of reads before them.

    Raises InputError for what is no read.
    """
    sound: list[bytes] = []
    at = 0
    while at < len(lines) if at_end else at + 3 < len(lines):
        if not lines[at]:
            at += 1
            continue
        title, text, plus, quality = read = (lines[at : at + 4] + 3 * [b""])[:4]
        fault = f", '{shown(names_of([title[1:]])[0])}',"
        bases = len(text.translate(None, BLANKS))
        if not title.startswith(b"@"):
            fault = f" does not begin with '@'; {_FORM}"
        elif at + 4 > len(lines):
            fault += f" is cut; {_AGAIN}"
        elif not plus.startswith(b"+"):
            fault += f" has no '+' after its line of letters; {_FORM}"
        elif {bases} != {len(quality), len(quality.translate(None, BLANKS))}:
            fault += f" has {bases:,} letters and {len(quality):,} qualities; {_AGAIN}"
        else:
            sound += read
            at += 4
            continue
        raise InputError(f"{label}: read {number + len(sound) // 4 + 1}{fault}")
    return sound + lines[at:]


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
