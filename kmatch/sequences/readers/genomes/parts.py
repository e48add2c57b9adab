"""Records of a genome file, a part at a time; Biopython parses FASTA, 2bit and GenBank."""

import codecs
import io
import re
import warnings
from collections.abc import Callable, Generator, Iterator, Sequence
from threading import Lock
from typing import Any

import numpy as np

from kmatch.errors import InputError
from kmatch.sequences.names import shown
from kmatch.sequences.readers.files import (
    Source,
    StrPath,
    open_source,
    reading,
    seekable_copy,
)
from kmatch.sequences.readers.formats import SAM, refuse_others
from kmatch.sequences.readers.genomes.twobit import check_twobit
from kmatch.sequences.records import (
    Part,
    Stretch,
    check_letters,
    stretch_of,
)

_ENDING = 1 << 10  # last bytes of a file that are examined; blank lines may be among them
_NOTE = 200  # characters of Biopython's message that are shown
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
    from kmatch.sequences.readers.genomes.fasta import read_fasta

    return read_fasta(source)


def _fastq(source: Source) -> Iterator[Stretch]:
    from kmatch.sequences.readers.genomes.fastq import read_fastq

    return read_fastq(source)


_NAMED_AFTER: dict[Parser, str] = {_fasta: " after its '>'", _fastq: " after its '@'"}


def _twobit(source: Source) -> Iterator[Stretch]:
    # Biopython reads by offset and from the file itself, past any decompression.
    with seekable_copy(source.handle) as copy:
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
