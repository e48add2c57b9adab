"""Records of a genome file, a part at a time; Biopython parses FASTA, 2bit and GenBank."""

import codecs
import io
import re
import shutil
import tempfile
import warnings
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from threading import Lock
from typing import Any

import numpy as np

from kmatch.arrays import Bytes, Longs
from kmatch.errors import InputError
from kmatch.sequences.names import shown
from kmatch.sequences.readers.files import Source, StrPath, open_source, reading
from kmatch.sequences.readers.formats import SAM, refuse_others
from kmatch.sequences.readers.genomes.twobit import check_twobit
from kmatch.sequences.records import (
    MOST,
    SHORT,
    STRETCH,
    Part,
    Stretch,
    check_letters,
    foreign_letter,
    stretch_of,
)

BLOCK = 1 << 20
LONGEST_HEADER = 1 << 20
_ENDING = 1 << 10  # last bytes of a file that are examined; blank lines may be among them
_NOTE = 200  # characters of Biopython's message that are shown
_CUTS = 1 << 12  # headers cut out at a time
_GOES_ON = "\0"  # the title of letters that continue a record; no file can contain it
_TWOBIT = (b"\x1a\x41\x27\x43", b"\x43\x27\x41\x1a")

Parser = Callable[[Source], Iterator[Stretch]]
Formats = Sequence[tuple[bytes, Parser]]  # the first bytes of a file, and its parser


def read_parts(path: StrPath, others: Formats = ()) -> Generator[Part]:
    """Yield (part, consumed, size) for a genome file or standard input (`-`).

    others: further formats. part: a Stretch; consumed, size: bytes of the file on disk that were
    read so far, and all of them (None where unknown). Raises InputError for a file that is missing,
    empty, damaged or no sequence file.
    """
    with open_source(path) as source, reading(source.label):
        number, parser = 0, _parser(source, others)  # records before the part
        for part in parser(source):
            if not all(part.names):
                unnamed = number + part.names.index("") + 1
                where = _NAMED_AFTER.get(parser, "")
                raise InputError(f"{source.label}: record {unnamed} has no name; write one{where}")
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
        return _fasta
    if not source.head:
        raise InputError(f"{source.label}: the file is empty; give a FASTA file")
    if source.head.startswith(b"@") and not re.match(SAM, source.head):
        return _fastq
    refuse_others(source, "a genome that kmatch reads")
    raise InputError(
        f"{source.label}: not a sequence file; kmatch reads FASTA ('>' first), FASTQ ('@' first), "
        f"2bit, GenBank, and what kmatch pack writes{_patterns_perhaps(source.head)}"
    )


def _patterns_perhaps(head: bytes) -> str:
    """What to say of a file that begins like text with a pattern a line."""
    sequence = re.match(rb"(?:[^\t\r\n]{1,99}\t)?[ACGTUNRYSWKMBDHV]{4,99}\s", head, re.IGNORECASE)
    return "; is it the file of patterns? The genome comes first" if sequence else ""


def _fasta(source: Source) -> Iterator[Stretch]:
    from kmatch.sequences.readers.seqio.FastaIO import SimpleFastaParser

    name, letters = "", 0
    names: list[str] = []
    sequences: list[str] = []
    lines = _in_parts(long_lines(source.handle, source.label, BLOCK))
    for title, sequence in SimpleFastaParser(lines):
        alone = title == _GOES_ON or len(sequence) > SHORT
        if names and (alone or letters > STRETCH or len(names) >= MOST):
            yield _stretch(names, sequences)
            names, sequences, letters = [], [], 0
        if title != _GOES_ON:
            name = title[:-1]
        if alone:
            yield stretch_of(name, _letters(sequence), title == _GOES_ON)
        else:
            names.append(name)
            sequences.append(sequence)
            letters += len(sequence)
    if names:
        yield _stretch(names, sequences)


def _letters(sequence: str) -> Bytes:
    return np.frombuffer(sequence.encode("ascii"), np.uint8)


def _stretch(names: list[str], sequences: list[str]) -> Stretch:
    lengths = np.fromiter(map(len, sequences), np.int64, len(sequences))
    return Stretch(names, lengths, _letters("".join(sequences)))


def _in_parts(lines: Iterable[str]) -> Iterator[str]:
    """The lines, with a header before letters that continue a record.

    The parser joins all letters under a header, so the parts of a long record stay apart.
    """
    after_letters = False
    for line in lines:
        is_letters = line[0] != ">"
        if after_letters and is_letters:
            yield f">{_GOES_ON}"
        yield line
        after_letters = is_letters


def _fastq(source: Source) -> Iterator[Stretch]:
    from kmatch.sequences.readers.genomes.fastq import read_fastq

    return read_fastq(source)


_NAMED_AFTER: dict[Parser, str] = {_fasta: " after its '>'", _fastq: " after its '@'"}


def _twobit(source: Source) -> Iterator[Stretch]:
    # Biopython reads by offset and from the file itself, past any decompression.
    with tempfile.TemporaryFile() as copy:
        shutil.copyfileobj(source.handle, copy)
        copy.seek(0)
        check_twobit(copy, source.label)
        yield from _biopython(source, copy, "twobit")


def _genbank(source: Source) -> Iterator[Stretch]:
    lines = _Ending(source.handle)
    text = codecs.getreader("utf-8")(lines, "surrogateescape")
    yield from _biopython(source, text, "genbank")
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


def _biopython(source: Source, handle: Any, form: str) -> Iterator[Stretch]:
    """Yield the records of a format. Biopython meets damage with errors of any class or a warning.

    handle: as Biopython takes it, binary or text.
    """
    from Bio import BiopythonWarning, SeqIO
    from Bio.Seq import UndefinedSequenceError

    name, number = "", 0
    try:
        records = iter(SeqIO.parse(handle, form))
        while True:
            with _FILTERS, warnings.catch_warnings():
                warnings.simplefilter("ignore", BiopythonWarning)
                warnings.filterwarnings("error", message="Premature end|Expected sequence length")
                record = next(records, None)
            if record is None:
                return
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
            f"{source.label}: damaged or cut {form} file ({reason}); copy or download it again"
        ) from error


def long_lines(handle: io.BufferedReader, label: str, block: int) -> Iterator[str]:
    """Yield the lines of FASTA, with the sequence in lines of up to `block` letters.

    Biopython's parser spends its time on lines; long ones make it many times faster. A header is
    cut to its name and a mark: the parser strips blanks that may be part of names. LF, CRLF or CR
    ends a line.
    """
    from kmatch.sequences.readers.genomes.lines import split_lines

    data, letters = np.empty(block, np.uint8), np.empty(block, np.uint8)
    cuts = np.empty((_CUTS, 3), np.int64)
    kept, begins, more, position = 0, True, True, _Position(label)
    while more:
        if kept == len(data):  # one header fills the buffer
            position.check_header(kept)
            data, letters = np.resize(data, 2 * kept), np.empty(2 * kept, np.uint8)
        read = handle.readinto(data[kept:].data)
        end, at, more = kept + read, 0, read > 0
        if not more and kept:
            data[kept], end = ord("\n"), kept + 1
        while at < end:
            before = at
            at, begins, filled, count = split_lines(data, at, end, begins, letters, cuts)
            headers = [_name(data, cut) for cut in cuts[:count].tolist()]
            position.advance(headers, cuts[:count], filled)
            if at < 0:
                raise position.error(at, letters[filled])
            yield from _lines(headers, str(letters[:filled].data, "ascii"), cuts[:count])
            if at == before:
                break
        kept = end - at
        data[:kept] = data[at:end]


def _name(data: Bytes, cut: Sequence[int]) -> str:
    """The name in a header, up to the first ASCII blank."""
    words = data[cut[0] + 1 : cut[1]].tobytes().split(None, 1)
    return words[0].decode("utf-8", "surrogateescape") if words else ""


def _lines(names: list[str], letters: str, cuts: Longs) -> Iterator[str]:
    """The headers, and the letters before, between and after them."""
    done = 0
    for name, first in zip(names, cuts[:, 2].tolist(), strict=True):
        if first > done:
            yield letters[done:first]
        yield f">{name}|"
        done = first
    if len(letters) > done:
        yield letters[done:] if done else letters


class _Position:
    """Where in a FASTA file the reader is, for errors."""

    def __init__(self, label: str) -> None:
        self._label, self._record, self._name, self._letters = label, 0, "", 0

    def advance(self, names: list[str], cuts: Longs, letters: int) -> None:
        """Move on by headers and by a number of letters; names, cuts: of the headers."""
        if names:
            self._record += len(names)
            self._name, self._letters = names[-1], -int(cuts[-1, 2])
        self._letters += letters

    def check_header(self, length: int) -> None:
        if length >= LONGEST_HEADER:
            raise InputError(
                f"{self._label}: the header of record {self._record + 1} has more than "
                f"{LONGEST_HEADER:,} characters; is this FASTA?"
            )

    def error(self, why: int, letter: int) -> InputError:
        from kmatch.sequences.readers.genomes.lines import BINARY

        if why == BINARY:
            return InputError(f"{self._label}: a binary file, not FASTA")
        origin = (self._label, self._record, self._name)
        return foreign_letter(origin, self._letters, letter)
