"""Genomes of any format, which is told by the first bytes; those in 2bit and in GenBank."""

import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

from kmatch.arrays import Bytes
from kmatch.errors import InputError, shown
from kmatch.sequences.alphabet import check_letters, reading_of, without_gaps
from kmatch.sequences.fasta import read_fasta, read_fastq
from kmatch.sequences.files import COMMENTS, SAM, Source, StrPath, open_source, refuse_others
from kmatch.sequences.genbank import LOCUS, is_circular, name_of, read_genbank
from kmatch.sequences.records import Ahead, Progress, Stretch, in_turn, stretch_of

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
    gaps: str | None = None,
    circles: dict[str, None] | None = None,
) -> Iterator[Stretch]:
    """Yield the Stretches of a genome file or standard input (`-`).

    others: further formats; ahead: how blocks of FASTA and FASTQ are read; gaps: see `reading_of`,
    of FASTA and GenBank; circles: takes the names of records that are circles by the file itself.
    on_progress hears of the bytes of the file on disk that were read so far.

    Raises InputError for a file that is missing, empty, damaged or no sequence file.
    """
    with open_source(path, ahead) as source:
        number = 0  # records before the part
        parser = _parser(source, others, gaps, {} if circles is None else circles)
        for part in parser(source):
            name_bounds = part.names.bounds
            if not (name_bounds[1:] > name_bounds[:-1]).all():
                unnamed = number + part.names.index("") + 1
                raise InputError(f"{source.label}: record {unnamed} has no name; write one")
            number += len(part.names) - part.goes_on
            if on_progress:
                on_progress(source.consumed, source.size)
            yield part


def _parser(source: Source, others: Formats, gaps: str | None, circles: dict[str, None]) -> Parser:
    """Return what parses a Source, told by its first bytes; gaps, circles: see `read_parts`."""
    for magic, parser in others:
        if source.head.startswith(magic):
            return parser
    if source.head.startswith(_TWOBIT):
        return _twobit
    if source.head.startswith(LOCUS):
        return partial(_genbank, gaps=gaps, circles=circles)
    if source.head.startswith(COMMENTS):
        refuse_others(source, "a genome that kmatch reads")
        source.skip_comments()
    if source.head.startswith(b">"):
        return partial(read_fasta, gaps=gaps)
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
    """Return the letters of the record at an offset; order: the type of numbers."""
    size, count = np.frombuffer(data, order, 2, at).tolist()
    blocks = np.frombuffer(data, order, 2 * count + 1, at + 8)  # begins, lengths; of masked ones
    at += 8 + blocks.nbytes + 8 * int(blocks[-1]) + 4  # the last number is not used
    letters = _FOURS[np.frombuffer(data, np.uint8, -(-size // 4), at)].reshape(-1)[:size]
    for begin, length in blocks[:-1].reshape(2, count).T.tolist():
        if begin + length > size:
            raise ValueError
        letters[begin : begin + length] = ord("N")
    return letters


def _genbank(source: Source, gaps: str | None, circles: dict[str, None]) -> Iterator[Stretch]:
    """Yield the Stretch of each record; names of those that are circles are added to `circles`."""
    reading = reading_of(gaps)
    records = read_genbank(source, _name_and_letters)
    for number, (name, letters, is_circle) in enumerate(records, 1):
        check_letters((source.label, number, name), letters, reading)
        if is_circle:
            circles[name] = None
        yield stretch_of(name, without_gaps(letters, gaps))


def _name_and_letters(record: Any) -> tuple[str, Bytes, bool]:
    """Return (name, letters, whether it is a circle) of a SeqRecord."""
    letters = np.frombuffer(bytes(record.seq), np.uint8)
    return name_of(record), letters, is_circular(record)
