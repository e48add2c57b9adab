"""Genomes of any format, which is told by the first bytes; those in 2bit and in GenBank."""

import io
import re
import warnings
from collections.abc import Callable, Iterator, Sequence
from threading import Lock

import numpy as np

from kmatch.arrays import Bytes
from kmatch.errors import InputError, shown
from kmatch.sequences.alphabet import check_letters
from kmatch.sequences.fasta import read_fasta, read_fastq
from kmatch.sequences.files import SAM, Source, StrPath, open_source, refuse_others
from kmatch.sequences.records import Ahead, Progress, Stretch, in_turn, stretch_of

_ENDING = 1 << 10  # last bytes of a file that are examined; blank lines may be among them
_NOTE = 200  # characters of Biopython's message that are shown
_TWOBIT = (b"\x1a\x41\x27\x43", b"\x43\x27\x41\x1a")
# The letters of each byte of 2bit.
_FOURS = np.frombuffer(b"TCAG", np.uint8)[np.arange(256)[:, None] >> np.array([6, 4, 2, 0]) & 3]

Parser = Callable[[Source], Iterator[Stretch]]
Formats = Sequence[tuple[bytes, Parser]]  # the first bytes of a file, and its parser


def read_parts(
    path: StrPath,
    others: Formats = (),
    on_progress: Progress | None = None,
    ahead: Ahead = in_turn,
) -> Iterator[Stretch]:
    """Yield the Stretches of a genome file or standard input (`-`).

    others: further formats; ahead: how blocks of FASTA and FASTQ are read. on_progress hears of the
    bytes of the file on disk that were read so far. Raises InputError for a file that is missing,
    empty, damaged or no sequence file.
    """
    with open_source(path, ahead) as source:
        number = 0  # records before the part
        for part in _parser(source, others)(source):
            if not np.diff(part.names.bounds).all():
                unnamed = number + part.names.index("") + 1
                raise InputError(f"{source.label}: record {unnamed} has no name; write one")
            number += len(part.names) - part.goes_on
            if on_progress:
                on_progress(source.consumed, source.size)
            yield part


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
    """Yield the Stretch of each record, in the order of the index.

    Counts and offsets are not believed: no array reaches beyond the file, which is a ValueError.
    """
    data, what = source.handle.read(), "its header"
    order = "<u4" if data[:4] == _TWOBIT[1] else ">u4"
    try:
        version, count, _ = np.frombuffer(data, order, 3, 4).tolist()
        if version:
            raise InputError(
                f"{source.label}: 2bit of version {version}, which kmatch does not read; "
                "convert it with twoBitToFa"
            )
        what, end = f"its index of {count:,} records", 16
        entries: list[tuple[str, int]] = []
        for _ in range(count):
            begin, end = end + 1, end + 1 + data[end]
            name = data[begin:end].decode("utf-8", "replace")
            entries.append((name, int(np.frombuffer(data, order, 1, end)[0])))
            end += 4
        for number, (name, offset) in enumerate(entries, 1):
            what = f"record {number}, '{shown(name)}'"
            if offset < end:
                raise ValueError
            yield stretch_of(name, _letters_of_twobit(data, order, offset))
    except (ValueError, IndexError) as error:
        raise InputError(
            f"{source.label}: the 2bit file is cut or damaged in {what}; copy or download it again"
        ) from error


def _letters_of_twobit(data: bytes, order: str, at: int) -> Bytes:
    """The letters of the record at an offset; order: the type of numbers."""
    size, count = np.frombuffer(data, order, 2, at).tolist()
    blocks = np.frombuffer(data, order, 2 * count + 1, at + 8)  # begins, lengths; of masked ones
    at += 8 + blocks.nbytes + 8 * int(blocks[-1]) + 4  # the last number is not used
    letters = _FOURS[np.frombuffer(data, np.uint8, -(-size // 4), at)].reshape(-1)[:size]
    for begin, length in blocks[:-1].reshape(2, count).T.tolist():
        if begin + length > size:
            raise ValueError
        letters[begin : begin + length] = ord("N")
    return letters


def _genbank(source: Source) -> Iterator[Stretch]:
    """Yield the records. Biopython meets damage with errors of any class or a warning."""
    from Bio import BiopythonWarning, SeqIO
    from Bio.Seq import UndefinedSequenceError

    data, name, number = source.handle.read(), "", 0
    # Biopython accepts a file that is cut in the first line of a record.
    if not data[-_ENDING:].rstrip().endswith(b"\n//"):
        raise InputError(
            f"{source.label}: the genbank file is cut, since it does not end with '//'; "
            "copy or download it again"
        )
    try:
        text = io.TextIOWrapper(io.BytesIO(data), "utf-8", "surrogateescape")
        records = SeqIO.parse(text, "genbank")
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
            f"{source.label}: damaged or cut genbank file ({reason}); copy or download it again"
        ) from error


_FILTERS = Lock()  # the process has one list of warning filters, and threads may read side by side
