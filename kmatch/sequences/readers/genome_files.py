"""Records of a genome file, a part at a time: FASTA, 2bit and GenBank, parsed by Biopython."""

import codecs
import shutil
import tempfile
import warnings
from threading import Lock

import numpy as np

from kmatch.errors import InputError
from kmatch.sequences.names import shown
from kmatch.sequences.readers.files import open_source, reading
from kmatch.sequences.readers.formats import refuse_others
from kmatch.sequences.readers.twobit import check_twobit
from kmatch.sequences.records import (
    MOST,
    SHORT,
    STRETCH,
    Stretch,
    check_letters,
    foreign_letter,
    stretch_of,
)

BLOCK = 1 << 20
LONGEST_HEADER = 1 << 20
_ENDING = 1 << 10  # bytes; blank lines may be the last ones
_NOTE = 200  # characters of what Biopython says
_CUTS = 1 << 12  # headers looked for at a time
_GOES_ON = "\0"  # the title, which no file can hold, of letters that go on with a record
_TWOBIT = (b"\x1a\x41\x27\x43", b"\x43\x27\x41\x1a")


def read_parts(path, others=()):
    """Yield (part, consumed, size) for a genome file or standard input (`-`).

    others: (first bytes, parser) of further formats; a parser yields the Stretches of a source.

    part: a Stretch of records, or of one that is long a part; consumed, size: bytes read so far of
    the file as it lies on disk, and in all (either may be None). Raises InputError for a file that
    is missing, empty, damaged or no sequence file.
    """
    with open_source(path) as source, reading(source.label):
        number, parser = 0, _parser(source, others)  # records before
        for part in parser(source):
            if not all(part.names):
                place = number + part.names.index("") + 1
                where = " after its '>'" if parser is _fasta else ""
                raise InputError(f"{source.label}: record {place} has no name; write one{where}")
            number += len(part.names) - part.goes_on
            yield part, source.consumed, source.size


def _parser(source, others):
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
    refuse_others(source, "a genome that kmatch reads")
    raise InputError(
        f"{source.label}: not a sequence file; kmatch reads FASTA (a '>' first), 2bit, GenBank, "
        "and what kmatch pack writes"
    )


def _fasta(source):
    from kmatch.sequences.readers.seqio.FastaIO import SimpleFastaParser

    name, names, sequences, letters = "", [], [], 0
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


def _letters(sequence):
    return np.frombuffer(sequence.encode("ascii"), np.uint8)


def _stretch(names, sequences):
    lengths = np.fromiter(map(len, sequences), np.int64, len(sequences))
    return Stretch(names, lengths, _letters("".join(sequences)))


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


def _twobit(source):
    # Biopython reads by offset and from the file itself, past any decompression.
    with tempfile.TemporaryFile() as copy:
        shutil.copyfileobj(source.handle, copy)
        copy.seek(0)
        check_twobit(copy, source.label)
        yield from _biopython(source, copy, "twobit")


def _genbank(source):
    lines = _Ending(source.handle)
    text = codecs.getreader("utf-8")(lines, "surrogateescape")
    yield from _biopython(source, text, "genbank")
    # Biopython takes a file that is cut in the first line of a record.
    if not lines.ending.rstrip().endswith(b"\n//"):
        raise InputError(
            f"{source.label}: the genbank file is cut, since it does not end with '//'; "
            "copy or download it again"
        )


class _Ending:
    """A handle that remembers the last bytes it has given."""

    def __init__(self, handle):
        self._handle, self.ending = handle, b""

    def read(self, size=-1):
        data = self._handle.read(size)
        self.ending = (self.ending + data)[-_ENDING:]
        return data


_FILTERS = Lock()  # the process has one list of warning filters, and threads may read side by side


def _biopython(source, handle, form):
    """Records of a format in which Biopython meets damage with errors of any class, or warnings."""
    from Bio import BiopythonWarning, SeqIO
    from Bio.Seq import UndefinedSequenceError

    try:
        number, records = 0, iter(SeqIO.parse(handle, form))
        while True:
            with _FILTERS, warnings.catch_warnings():
                warnings.simplefilter("ignore", BiopythonWarning)
                warnings.filterwarnings("error", message="Premature end|Expected sequence length")
                record = next(records, None)
            if record is None:
                return
            number += 1
            letters = np.frombuffer(bytes(record.seq), np.uint8)
            check_letters((source.label, number, record.id), letters)
            yield stretch_of(record.id, letters)
    except UndefinedSequenceError as error:
        raise InputError(
            f"{source.label}: record '{shown(record.id)}' holds no sequence; "
            "download the file with its sequence"
        ) from error
    except InputError:
        raise
    except Exception as error:
        reason = shown(str(error), _NOTE)
        raise InputError(
            f"{source.label}: damaged or cut {form} file ({reason}); copy or download it again"
        ) from error


def long_lines(handle, label, block):
    """Yield FASTA as str lines, the sequence in stretches of up to `block` letters.

    Biopython's parser spends its time on lines; stretches without line breaks make it many times
    faster. Headers stay lines of their own, of which the name is left and a mark behind it, as the
    parser strips blanks that may be part of names. Any of LF, CRLF and CR ends a line.
    """
    from kmatch.sequences.readers.lines import split_lines

    data, letters = np.empty(block, np.uint8), np.empty(block, np.uint8)
    cuts = np.empty((_CUTS, 3), np.int64)
    kept, begins, more, place = 0, True, True, _Place(label)
    while more:
        if kept == len(data):  # of one header
            place.check_header(kept)
            data, letters = np.resize(data, 2 * kept), np.empty(2 * kept, np.uint8)
        read = handle.readinto(memoryview(data)[kept:])
        end, at, more = kept + read, 0, read > 0
        if not more and kept:
            data[kept], end = ord("\n"), kept + 1
        while at < end:
            before = at
            at, begins, filled, count = split_lines(data, at, end, begins, letters, cuts)
            headers = [_name(data, cut) for cut in cuts[:count].tolist()]
            place.advance(headers, cuts[:count], filled)
            if at < 0:
                raise place.error(at, letters[filled])
            yield from _lines(headers, str(letters[:filled], "ascii"), cuts[:count])
            if at == before:
                break
        kept = end - at
        data[:kept] = data[at:end]


def _name(data, cut):
    """The name in a header, up to the first ASCII blank."""
    words = data[cut[0] + 1 : cut[1]].tobytes().split(None, 1)
    return words[0].decode("utf-8", "surrogateescape") if words else ""


def _lines(names, letters, cuts):
    """The headers, and the letters before, between and behind them."""
    done = 0
    for name, first in zip(names, cuts[:, 2].tolist(), strict=True):
        if first > done:
            yield letters[done:first]
        yield f">{name}|"
        done = first
    if len(letters) > done:
        yield letters[done:] if done else letters


class _Place:
    """Where in a FASTA file the reader is, for errors to tell."""

    def __init__(self, label):
        self._label, self._record, self._name, self._letters = label, 0, "", 0

    def advance(self, names, cuts, letters):
        """Go on by the headers cut out, and by so many letters."""
        if names:
            self._record += len(names)
            self._name, self._letters = names[-1], -int(cuts[-1, 2])
        self._letters += letters

    def check_header(self, length):
        if length >= LONGEST_HEADER:
            raise InputError(
                f"{self._label}: the header of record {self._record + 1} has more than "
                f"{LONGEST_HEADER:,} characters; is this FASTA?"
            )

    def error(self, why, letter):
        from kmatch.sequences.readers.lines import BINARY

        if why == BINARY:
            return InputError(f"{self._label}: a binary file, not FASTA")
        where = (self._label, self._record, self._name)
        return foreign_letter(where, self._letters, letter)
