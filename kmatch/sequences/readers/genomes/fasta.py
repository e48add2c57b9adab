"""Records of a FASTA file, many at a time; Biopython parses them."""

import io
from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np

from kmatch.arrays import Bytes, Longs
from kmatch.errors import InputError
from kmatch.sequences.readers.files import Source
from kmatch.sequences.readers.seqio.FastaIO import SimpleFastaParser
from kmatch.sequences.records import SHORT, Stretch, foreign_letter

BLOCK = 1 << 20  # bytes that are split at a time, unless a header is longer
LONGEST_HEADER = 1 << 20
_CUTS = 1 << 12  # headers cut out at a time
_GOES_ON = "\0"  # the title of letters that continue a record; no file can contain it
_NAMELESS = [b""]


def read_fasta(source: Source) -> Iterator[Stretch]:
    """Yield Stretches of the records of a FASTA file; long ones come in parts."""
    name, header = "", ""  # of the record read last; a header whose letters may follow
    for lines in line_blocks(source.handle, source.label, BLOCK):
        goes_on = not header and lines[0][0] != ">"
        if header or goes_on:
            lines.insert(0, header or f">{_GOES_ON}")
        header = lines.pop() if lines[-1][0] == ">" else ""
        if lines:
            names, sequences = [], []
            for title, sequence in SimpleFastaParser(iter(lines)):
                names.append(title[:-1])
                sequences.append(sequence)
            if goes_on:
                names[0] = name
            name = names[-1]
            yield from _stretches(names, sequences, goes_on)
    if header:
        yield from _stretches([header[1:-1]], [""], False)


def _stretches(names: list[str], sequences: Sequence[str], goes_on: bool) -> Iterator[Stretch]:
    """Yield short records together; a long one, and what continues a record, is alone."""
    lengths = np.fromiter(map(len, sequences), np.int64, len(sequences))
    alone = lengths > SHORT
    alone[0] |= goes_on
    cuts = np.flatnonzero(alone).tolist()
    bounds = sorted({0, *cuts, *(cut + 1 for cut in cuts), len(names)})
    for first, last in pairwise(bounds):
        letters = np.frombuffer("".join(sequences[first:last]).encode("ascii"), np.uint8)
        yield Stretch(names[first:last], lengths[first:last], letters, goes_on and first == 0)


def line_blocks(handle: io.BufferedReader, label: str, block: int) -> Iterator[list[str]]:
    """Yield lines of FASTA, many at a time, with the sequence in lines of up to `block` letters.

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
            names = _names(data, cuts[:count])
            position.advance(names, cuts[:count], filled)
            if at < 0:
                raise position.error(at, letters[filled])
            if lines := _lines(names, str(letters[:filled].data, "ascii"), cuts[:count]):
                yield lines
            if at == before:
                break
        kept = end - at
        data[:kept] = data[at:end]


def _names(data: Bytes, cuts: Longs) -> list[str]:
    """The names in headers, each up to its first ASCII blank."""
    if not len(cuts):
        return []
    first, last = cuts[0, 0], cuts[-1, 1]
    text = data[first:last].tobytes()
    begins, ends = (cuts[:, 0] - first + 1).tolist(), (cuts[:, 1] - first).tolist()
    titles = [text[begin:end] for begin, end in zip(begins, ends, strict=True)]
    words = [(title.split(None, 1) or _NAMELESS)[0] for title in titles]
    return b"\n".join(words).decode("utf-8", "surrogateescape").split("\n")


def _lines(names: list[str], letters: str, cuts: Longs) -> list[str]:
    """The headers, and the letters before, between and after them."""
    bounds = [0, *cuts[:, 2].tolist(), len(letters)]
    lines = [""] * (2 * len(names) + 1)
    lines[::2] = [letters[begin:end] for begin, end in pairwise(bounds)]
    lines[1::2] = [f">{name}|" for name in names]
    return list(filter(None, lines))


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
