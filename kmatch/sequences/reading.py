"""Records of a genome file, one at a time: FASTA, 2bit and GenBank, all parsed by Biopython."""

import codecs
import shutil
import tempfile
import warnings
from typing import NamedTuple

import numpy as np

from kmatch.errors import InputError
from kmatch.sequences.files import open_source, reading

BLOCK = 1 << 20
PACKED = b"\x89KMATCH\r\n\x1a\n\0"  # how a packed genome begins
# No base, but other bytes mean something to the parser: '>' a header, some others blanks.
_LETTERS = bytes(c if 33 <= c < 127 and c != ord(">") else ord("*") for c in range(256))
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
    if source.head.startswith(PACKED):
        return _packed
    if source.head.startswith(_TWOBIT):
        return _twobit
    if source.head.startswith(b"LOCUS "):
        return _genbank
    if source.head.startswith(b">"):
        return _fasta
    if not source.head:
        raise InputError(f"{source.label}: the file is empty; give a FASTA file")
    raise InputError(
        f"{source.label}: not a sequence file; kmatch reads FASTA (a '>' first), 2bit, GenBank, "
        "and what kmatch pack writes"
    )


def _fasta(source):
    # Imported where it is used: Biopython is a quarter of a second of start-up.
    from Bio.SeqIO.FastaIO import SimpleFastaParser

    for title, sequence in SimpleFastaParser(long_lines(source.handle, source.label)):
        yield (title.split(None, 1) or [""])[0], sequence.encode("ascii")


def _packed(source):
    # Out of a pipe or a compressed file: one that can be mapped is not read as records.
    from kmatch.sequences.packed import PackedFile

    with tempfile.TemporaryFile() as copy:
        shutil.copyfileobj(source.handle, copy)
        copy.flush()
        file = PackedFile(copy, source.label)
        for name, letters in file.records():
            yield name, letters[:]


def _twobit(source):
    # Biopython reads by offset and from the file itself, past any decompression.
    with tempfile.TemporaryFile() as copy:
        shutil.copyfileobj(source.handle, copy)
        copy.seek(0)
        yield from _biopython(source, copy, "twobit")


def _genbank(source):
    text = codecs.getreader("utf-8")(source.handle, "surrogateescape")
    yield from _biopython(source, text, "genbank")


def _biopython(source, handle, form):
    """Records of a format in which Biopython meets damage with errors of any class, or warnings."""
    from Bio import BiopythonWarning, SeqIO
    from Bio.Seq import UndefinedSequenceError

    try:
        records = iter(SeqIO.parse(handle, form))
        while True:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", BiopythonWarning)
                warnings.filterwarnings("error", message="Premature end|Expected sequence length")
                record = next(records, None)
            if record is None:
                return
            yield record.id, bytes(record.seq)
    except UndefinedSequenceError as error:
        raise InputError(
            f"{source.label}: record '{record.id}' holds no sequence; "
            "download the file with its sequence"
        ) from error
    except Exception as error:
        raise InputError(
            f"{source.label}: damaged or cut {form} file ({error}); copy or download it again"
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
            stretch = data[at:stop].translate(_LETTERS, b" \t\n\v\f")
            if stretch:
                yield stretch.decode("ascii")
            end = data.find(b"\n", header + 1) if header >= 0 else -1
            if end < 0:
                rest = data[stop:]
                break
            yield data[header + 1 : end + 1].decode("utf-8", "surrogateescape")
            at = end
    if len(rest) > 1:
        yield rest[1:].decode("utf-8", "surrogateescape")
