"""Reads of a FASTQ file, many at a time; their qualities are not looked at."""

import re
from collections.abc import Iterator

import numpy as np

from kmatch.arrays import Bytes, Longs
from kmatch.errors import InputError
from kmatch.sequences.names import shown
from kmatch.sequences.readers.files import Source
from kmatch.sequences.records import MOST, Stretch, foreign_letter

BLOCK = 1 << 20  # bytes that are split at a time, unless a read is longer
LONGEST_READ = 1 << 30  # bytes of its four lines
_FORM = "kmatch reads FASTQ of four lines a read"
_AGAIN = "copy or download the file again"


def read_fastq(source: Source, block: int = BLOCK) -> Iterator[Stretch]:
    """Yield Stretches of the reads of a FASTQ file.

    Four lines are a read: '@' and its name, letters, '+', and as many qualities. LF, CRLF or CR
    ends a line. Raises InputError, naming the read, for anything else.
    """
    from kmatch.sequences.readers.genomes.reads import PAUSE, split_reads

    data, letters, names = (np.empty(block + 1, np.uint8) for _ in range(3))
    lengths = np.empty(MOST, np.int64)
    number, kept, more = 0, 0, True
    while more:
        if kept >= len(data) - 1:  # one read fills the buffer
            _check_length(source.label, number + 1, kept)
            data = np.resize(data, 2 * kept + 1)
            letters, names = np.empty_like(data), np.empty_like(data)
        read = source.handle.readinto(data[kept:-1].data)
        end, at, more = kept + read, 0, read > 0
        if not more and kept:
            data[kept], end = ord("\n"), kept + 1  # the last line may have no break
        while at < end:
            found = split_reads(data, at, end, letters, names, lengths)
            why, at, filled, named, count = found
            if count:
                yield _stretch(names[:named], lengths[:count], letters[:filled])
            number += count
            if why != PAUSE:
                raise _fault(source.label, number + 1, data[at:end], why)
            if not count:
                break
        kept = end - at
        data[:kept] = data[at:end]
    if kept:
        name = shown(_name(_lines(data[:kept])[0]))
        raise InputError(f"{source.label}: read {number + 1}, '{name}', is cut; {_AGAIN}")


def _stretch(names: Bytes, lengths: Longs, letters: Bytes) -> Stretch:
    words = names[:-1].tobytes().decode("utf-8", "surrogateescape").split("\n")
    return Stretch(words, lengths.copy(), letters.copy())


def _check_length(label: str, number: int, size: int) -> None:
    if size >= LONGEST_READ:
        raise InputError(
            f"{label}: read {number} has more than {LONGEST_READ:,} bytes; is this FASTQ?"
        )


def _lines(data: Bytes) -> list[bytes]:
    """The first four lines, some of them perhaps empty."""
    lines = re.split(b"\r\n|\r|\n", data.tobytes(), maxsplit=4)[:4]
    return lines + [b""] * (4 - len(lines))


def _name(header: bytes) -> str:
    words = header[1:].split(None, 1)
    return words[0].decode("utf-8", "surrogateescape") if words else ""


def _fault(label: str, number: int, data: Bytes, why: int) -> InputError:
    """What is wrong with the read that data begins with."""
    from kmatch.sequences.readers.genomes.lines import FOREIGN, KINDS
    from kmatch.sequences.readers.genomes.reads import BINARY, NO_AT, NO_PLUS, PROTEIN

    header, letters, _, qualities = _lines(data)
    read = f"read {number}, '{shown(_name(header))}',"
    if why == BINARY:
        return InputError(f"{label}: a binary file, not FASTQ")
    if why == NO_AT:
        return InputError(f"{label}: read {number} does not begin with '@'; {_FORM}")
    if why == NO_PLUS:
        return InputError(f"{label}: {read} has no '+' after its line of letters; {_FORM}")
    if why == PROTEIN:
        at = int(np.argmax(KINDS[np.frombuffer(letters, np.uint8)] == FOREIGN))
        return foreign_letter((label, number, _name(header)), at, letters[at])
    bases = len(b"".join(letters.split()))
    return InputError(
        f"{label}: {read} has {bases:,} letters and {len(qualities):,} qualities; {_AGAIN}"
    )
