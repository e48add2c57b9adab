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
_CUTS = 1 << 12  # headers looked for at a time
_GOES_ON = "\0"  # the title, which no file can hold, of letters that go on with a record
_TWOBIT = (b"\x1a\x41\x27\x43", b"\x43\x27\x41\x1a")


class Record(NamedTuple):
    """One sequence, or a part of one: its name and its letters, uint8[n], ASCII in any case.

    goes_on: whether these letters follow those of the Record before.
    """

    name: str
    letters: np.ndarray
    goes_on: bool = False


def read_parts(path):
    """Yield (part, consumed, size) for a genome file or standard input (`-`).

    part: a Record, long ones in several parts; consumed, size: bytes read so far of the file as it
    lies on disk, and in all (either may be None). Raises InputError for a file that is missing,
    empty, damaged or no sequence file.
    """
    with open_source(path) as source, reading(source.label):
        number = 0
        for name, letters, goes_on in _parser(source)(source):
            number += not goes_on
            if not name:
                raise InputError(
                    f"{source.label}: record {number} has no name; write one after its '>'"
                )
            part = Record(name, np.frombuffer(letters, np.uint8), goes_on)
            yield part, source.consumed, source.size


def whole_records(parts):
    """Join an iterable of Records, of which some go on, to whole ones."""
    name, letters = None, []
    for part in parts:
        if not part.goes_on and letters:
            yield Record(name, _joined(letters))
            letters = []
        name = part.name
        letters.append(part.letters)
    if letters:
        yield Record(name, _joined(letters))


def _joined(letters):
    return letters[0] if len(letters) == 1 else np.concatenate(letters)


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
    from kmatch.sequences.seqio.FastaIO import SimpleFastaParser

    name = ""
    lines = _in_parts(long_lines(source.handle, source.label, BLOCK))
    for title, sequence in SimpleFastaParser(lines):
        goes_on = title == _GOES_ON
        if not goes_on:
            name = (title.split(None, 1) or [""])[0]
        yield name, sequence.encode("ascii"), goes_on


def _in_parts(lines):
    """The same with a header before each stretch that goes on with a record.

    The parser joins the letters of a record; so it hands long ones over a part at a time.
    """
    after_letters = False
    for line in lines:
        is_letters = line[0] != ">"
        if after_letters and is_letters:
            yield f">{_GOES_ON}"
        yield line
        after_letters = is_letters


def _packed(source):
    # Out of a pipe or a compressed file: one that can be mapped is not read as records.
    from kmatch.sequences.packed import PackedFile

    with tempfile.TemporaryFile() as copy:
        shutil.copyfileobj(source.handle, copy)
        copy.flush()
        file = PackedFile(copy, source.label)
        for record in file.records():
            yield record.name, record.letters[:], False


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
            yield record.id, bytes(record.seq), False
    except UndefinedSequenceError as error:
        raise InputError(
            f"{source.label}: record '{record.id}' holds no sequence; "
            "download the file with its sequence"
        ) from error
    except Exception as error:
        raise InputError(
            f"{source.label}: damaged or cut {form} file ({error}); copy or download it again"
        ) from error


def long_lines(handle, label, block):
    """Yield FASTA as str lines, the sequence in stretches of up to `block` letters.

    Biopython's parser spends its time on lines; stretches without line breaks make it many times
    faster. Headers stay lines of their own. Any of LF, CRLF and CR ends a line.
    """
    from kmatch.sequences.lines import split_lines

    data, letters = np.empty(block, np.uint8), np.empty(block, np.uint8)
    cuts = np.empty((_CUTS, 3), np.int64)
    kept, begins, more = 0, True, True
    while more:
        if kept == len(data):  # of one header
            data, letters = np.resize(data, 2 * kept), np.empty(2 * kept, np.uint8)
        read = handle.readinto(memoryview(data)[kept:])
        end, at, more = kept + read, 0, read > 0
        if not more and kept:
            data[kept], end = ord("\n"), kept + 1
        while at < end:
            before = at
            at, begins, filled, count = split_lines(data, at, end, begins, letters, cuts)
            if at < 0:
                raise InputError(f"{label}: a binary file, not FASTA")
            yield from _lines(data, str(letters[:filled], "ascii"), cuts[:count])
            if at == before:
                break
        kept = end - at
        data[:kept] = data[at:end]


def _lines(data, letters, cuts):
    """The headers that are cut out of data, and the letters before, between and behind them."""
    data, done = memoryview(data), 0
    for begin, end, first in cuts.tolist():
        if first > done:
            yield letters[done:first]
        yield str(data[begin : end + 1], "utf-8", "surrogateescape")
        done = first
    if len(letters) > done:
        yield letters[done:] if done else letters
