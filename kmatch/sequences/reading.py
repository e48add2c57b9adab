"""Records of a genome file, one at a time: FASTA, 2bit and GenBank, all parsed by Biopython."""

import io
from typing import NamedTuple

import numpy as np

from kmatch.errors import InputError
from kmatch.sequences.files import open_source, reading

BLOCK = 1 << 20
# A '>' inside a sequence is no base; at the start of a stretch it would look like a header.
_NOT_A_HEADER = bytes.maketrans(b">", b"*")
_TWOBIT = (b"\x1a\x41\x27\x43", b"\x43\x27\x41\x1a")


class Record(NamedTuple):
    """One sequence: its name and its letters, uint8[n] of ASCII codes in any case."""

    name: str
    letters: np.ndarray


def read_records(path, on_progress=None):
    """Yield the Records of a genome file or of standard input (`-`).

    `on_progress(consumed, size)` is told the bytes read of the file as it lies on disk (either
    may be None). Raises InputError for a file that is missing, empty, damaged or no sequence file.
    """
    with open_source(path) as source, reading(source.label):
        records = _parser(source)(source)
        for number, (name, letters) in enumerate(records, 1):
            if not name:
                raise InputError(
                    f"{source.label}: record {number} has no name; write one after its '>'"
                )
            if on_progress:
                on_progress(source.consumed, source.size)
            yield Record(name, np.frombuffer(letters, np.uint8))


def _parser(source):
    head = source.handle.peek(4096)[:4096]
    if head.startswith(_TWOBIT):
        return _twobit
    if head.startswith(b"LOCUS "):
        return _genbank
    start = head.lstrip()
    if start.startswith(b">"):
        return _fasta
    if not start:
        raise InputError(f"{source.label}: the file is empty; give a FASTA file")
    raise InputError(
        f"{source.label}: not a sequence file; kmatch reads FASTA (a '>' first), 2bit and GenBank"
    )


def _fasta(source):
    # Imported where it is used: Biopython is a quarter of a second of start-up.
    from Bio.SeqIO.FastaIO import SimpleFastaParser

    for title, sequence in SimpleFastaParser(long_lines(source.handle, source.label)):
        yield (title.split(None, 1) or [""])[0], sequence.encode("latin-1")


def _twobit(source):
    from Bio import SeqIO

    for record in SeqIO.parse(source.handle, "twobit"):
        yield record.id, bytes(record.seq)


def _genbank(source):
    from Bio import SeqIO
    from Bio.Seq import UndefinedSequenceError

    for record in SeqIO.parse(io.TextIOWrapper(source.handle, "latin-1"), "genbank"):
        try:
            yield record.id, bytes(record.seq)
        except UndefinedSequenceError as error:
            raise InputError(
                f"{source.label}: record '{record.id}' holds no sequence; "
                "download the GenBank file with its sequence"
            ) from error


def long_lines(handle, label, block=BLOCK):
    """Yield FASTA as str lines, the sequence in stretches of up to `block` letters.

    Biopython's parser spends its time on lines; stretches without line breaks make it several
    times faster. Headers stay lines of their own. Any of LF, CRLF and CR ends a line.
    """
    rest = b"\n"  # a header at the very beginning is then found like any other
    while data := handle.read(block):
        if b"\0" in data:
            raise InputError(f"{label}: a binary file, not FASTA")
        if b"\r" in data:
            data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        data = rest + data
        at = 0
        while True:
            header = data.find(b"\n>", at)
            # A final line break stays behind: the next block may begin with '>'.
            stop = header if header >= 0 else len(data) - data.endswith(b"\n")
            stretch = data[at:stop].translate(_NOT_A_HEADER, b" \t\n\v\f")
            if stretch:
                yield stretch.decode("latin-1")
            end = data.find(b"\n", header + 1) if header >= 0 else -1
            if end < 0:
                rest = data[stop:]
                break
            yield data[header + 1 : end + 1].decode("latin-1")
            at = end
    if len(rest) > 1:
        yield rest[1:].decode("latin-1")
