"""Other files: genomes in 2bit and in GenBank, which Biopython parses, and regions in BED."""

import codecs
import io
import os
import re
import warnings
from collections.abc import Callable, Generator, Iterator, Sequence
from threading import Lock
from typing import BinaryIO, NamedTuple

import numpy as np

from kmatch.arrays import Bytes
from kmatch.errors import MOST, InputError, shown
from kmatch.sequences.alphabet import check_letters
from kmatch.sequences.fasta import read_fasta, read_fastq
from kmatch.sequences.files import (
    SAM,
    Source,
    StrPath,
    label_of,
    open_source,
    read_lines,
    refuse_others,
    seekable_copy,
)
from kmatch.sequences.records import Part, Stretch, stretch_of

_ENDING = 1 << 10  # last bytes of a file that are examined; blank lines may be among them
_NOTE = 200  # characters of Biopython's message that are shown
_TWOBIT = (b"\x1a\x41\x27\x43", b"\x43\x27\x41\x1a")
# The letters of each byte of 2bit.
_FOURS = np.frombuffer(b"TCAG", np.uint8)[np.arange(256)[:, None] >> np.array([6, 4, 2, 0]) & 3]
_HEADERS = ("track", "browser")  # the first word of lines of BED that are no regions
COMMENT = "#"  # begins a line of BED

Parser = Callable[[Source], Iterator[Stretch]]
Formats = Sequence[tuple[bytes, Parser]]  # the first bytes of a file, and its parser


def read_parts(path: StrPath, others: Formats = ()) -> Generator[Part]:
    """Yield (part, consumed, size) for a genome file or standard input (`-`).

    others: further formats. part: a Stretch; consumed, size: bytes of the file on disk that were
    read so far, and all of them (None where unknown). Raises InputError for a file that is missing,
    empty, damaged or no sequence file.
    """
    with open_source(path) as source:
        number = 0  # records before the part
        for part in _parser(source, others)(source):
            if not all(part.names):
                unnamed = number + part.names.index("") + 1
                raise InputError(f"{source.label}: record {unnamed} has no name; write one")
            number += len(part.names) - part.goes_on
            yield part, source.consumed, source.size


def _parser(source: Source, others: Formats) -> Parser:
    for magic, parser in others:
        if source.head.startswith(magic):
            return parser
    if source.head.startswith(_TWOBIT):
        return _twobit
    if source.head.startswith(b"LOCUS "):
        return _genbank
    if source.head.startswith(b">"):
        return read_fasta
    if not source.head:
        raise InputError(f"{source.label}: the file is empty; give a FASTA file")
    if source.head.startswith(b"@") and not re.match(SAM, source.head):
        return read_fastq
    refuse_others(source, "a genome that kmatch reads")
    raise InputError(
        f"{source.label}: not a sequence file; kmatch reads FASTA ('>' first), FASTQ ('@' first), "
        f"2bit, GenBank, and what kmatch pack writes{_patterns_perhaps(source.head)}"
    )


def _patterns_perhaps(head: bytes) -> str:
    """What to say of a file that begins like text with a pattern a line."""
    sequence = re.match(rb"(?:[^\t\r\n]{1,99}\t)?[ACGTUNRYSWKMBDHV]{4,99}\s", head, re.IGNORECASE)
    return "; is it the file of patterns? The genome comes first" if sequence else ""


def _twobit(source: Source) -> Iterator[Stretch]:
    with seekable_copy(source.handle) as copy:  # records are where the index says
        yield from _TwoBit(copy, source.label).stretches()


class _TwoBit:
    """A file of 2bit; its counts and offsets are not believed before it is known to be so long."""

    def __init__(self, handle: BinaryIO, label: str) -> None:
        self._handle, self._label = handle, label
        self._size = handle.seek(0, os.SEEK_END)
        handle.seek(0)
        self._number = "<u4" if handle.read(4) == _TWOBIT[1] else ">u4"

    def _read(self, count: int, what: str) -> bytes:
        if count > self._size - self._handle.tell():
            raise self._damaged(f"{what} ends beyond it")
        return self._handle.read(count)

    def _numbers(self, count: int, what: str) -> list[int]:
        numbers: list[int] = np.frombuffer(self._read(4 * count, what), self._number).tolist()
        return numbers

    def _damaged(self, what: str) -> InputError:
        return InputError(
            f"{self._label}: the 2bit file is cut or damaged: {what}; copy or download it again"
        )

    def stretches(self) -> Iterator[Stretch]:
        """Yield the Stretch of each record, in the order of the index."""
        version, count, _ = self._numbers(3, "its header")
        if version:
            raise InputError(
                f"{self._label}: 2bit of version {version}, which kmatch does not read; "
                "convert it with twoBitToFa"
            )
        entries: list[tuple[str, int]] = []
        what = f"its index of {count:,} records"
        if count > self._size:
            raise self._damaged(f"{what} ends beyond it")
        for number in range(1, count + 1):
            (length,) = self._read(1, what)
            if not length:
                raise InputError(
                    f"{self._label}: record {number} of the 2bit file has no name; "
                    "write the file again with one"
                )
            name = self._read(length, what).decode("utf-8", "replace")
            entries.append((name, self._numbers(1, what)[0]))
        end = self._handle.tell()
        for number, (name, offset) in enumerate(entries, 1):
            if offset < end:
                raise self._damaged("its index points into itself")
            self._handle.seek(offset)
            yield stretch_of(name, self._letters(f"record {number}, '{shown(name)}',"))

    def _letters(self, what: str) -> Bytes:
        """The letters of the record at hand."""
        blocks = []
        size, count = self._numbers(2, what)
        for _ in range(2):  # the blocks of N, and those of masked letters
            numbers = self._numbers(2 * count + 1, f"{what} with {count:,} blocks")
            blocks.append(list(zip(numbers[:count], numbers[count:-1], strict=True)))
            if any(begin + length > size for begin, length in blocks[-1]):
                raise self._damaged(f"{what} has blocks beyond its {size:,} letters")
            count = numbers[-1]  # of masked blocks, and then a number that is not used
        fours = np.frombuffer(self._read(-(-size // 4), what), np.uint8)
        letters = _FOURS[fours].reshape(-1)[:size]
        for begin, length in blocks[0]:
            letters[begin : begin + length] = ord("N")
        return letters


def _genbank(source: Source) -> Iterator[Stretch]:
    """Yield the records. Biopython meets damage with errors of any class or a warning."""
    from Bio import BiopythonWarning, SeqIO
    from Bio.Seq import UndefinedSequenceError

    lines, name, number = _Ending(source.handle), "", 0
    try:
        records = SeqIO.parse(codecs.getreader("utf-8")(lines, "surrogateescape"), "genbank")
        while True:
            with _FILTERS, warnings.catch_warnings():
                warnings.simplefilter("ignore", BiopythonWarning)
                warnings.filterwarnings("error", message="Premature end|Expected sequence length")
                record = next(records, None)
            if record is None:
                break
            name, number = record.id, number + 1
            letters = np.frombuffer(bytes(record.seq), np.uint8)
            check_letters((source.label, number, name), letters)
            yield stretch_of(name, letters)
    except UndefinedSequenceError as error:
        raise InputError(
            f"{source.label}: record '{shown(name)}' holds no sequence; "
            "download the file with its sequence"
        ) from error
    except InputError:
        raise
    except Exception as error:
        reason = shown(str(error), _NOTE)
        raise InputError(
            f"{source.label}: damaged or cut genbank file ({reason}); copy or download it again"
        ) from error
    # Biopython accepts a file that is cut in the first line of a record.
    if not lines.ending.rstrip().endswith(b"\n//"):
        raise InputError(
            f"{source.label}: the genbank file is cut, since it does not end with '//'; "
            "copy or download it again"
        )


class _Ending(io.RawIOBase):
    """A handle that remembers the last bytes read from it."""

    def __init__(self, handle: io.BufferedReader) -> None:
        self._handle, self.ending = handle, b""

    def read(self, size: int = -1, /) -> bytes:
        data = self._handle.read(size)
        self.ending = (self.ending + data)[-_ENDING:]
        return data


_FILTERS = Lock()  # the process has one list of warning filters, and threads may read side by side


class Region(NamedTuple):
    """A part of a record, 0-based and half-open; where: its line, with which messages begin."""

    record: str
    start: int
    end: int
    where: str


def read_regions(path: StrPath) -> list[Region]:
    """The Regions of a BED file, or of standard input (`-`), of which three columns are read.

    A line that begins with `#` and has two positions behind its first tab is one too: a genome may
    have a record of that name. Where it has none, the line is a comment (see `Regions`).

    Raises InputError for a file without regions, and for lines that are no BED.
    """
    label = label_of(path)
    regions = list(_regions(read_lines(path, "regions"), label))
    if not regions:
        raise InputError(
            f"{label}: no regions; write BED: a record's name, a tab, start, a tab and end"
        )
    return regions


def _regions(lines: list[str], label: str) -> Iterator[Region]:
    for number, line in enumerate(lines, 1):
        # A record may be called so too: a tab follows its name.
        if not line.strip() or line.split(" ")[0] in _HEADERS:
            continue
        name, *cells = line.split("\t") if "\t" in line else line.split()
        sound = len(cells) > 1 and all(map(_is_position, cells[:2]))
        if line.startswith(COMMENT) and not ("\t" in line and sound):
            continue
        where = f"{label}: line {number}: "
        if not sound:
            raise InputError(
                f"{where}no region: write a record's name, a tab, start, counted from 0, a tab and "
                "end; a line that is no region starts with '#'"
            )
        start, end = map(int, cells[:2])
        if start > end:
            raise InputError(f"{where}the region begins at {start} and ends before, at {end}")
        yield Region(name, start, end, where)


def _is_position(cell: str) -> bool:
    digits = cell.strip()
    return digits.isdecimal() and len(digits) < 20 and int(digits) <= MOST
