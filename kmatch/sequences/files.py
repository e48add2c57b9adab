"""Inputs opened: a path or standard input, whose content shows compression and format."""

import codecs
import io
import os
import re
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from functools import partial
from itertools import repeat, takewhile
from typing import TYPE_CHECKING, Any, TypeVar

from kmatch.errors import InputError
from kmatch.sequences.parts import FilePart, decoding
from kmatch.sequences.records import Ahead, in_turn

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

StrPath = str | os.PathLike[str]
Item = TypeVar("Item")

MAGIC = {
    "gz": b"\x1f\x8b",
    "bz2": b"BZh",
    "xz": b"\xfd7zXZ\x00",
    "zst": b"\x28\xb5\x2f\xfd",
}
LIST = "@"  # before the path of a file that lists genomes
HEAD = 16  # bytes that show the format of a file
COMMENTS = (b";", b"#")  # begin lines above FASTA
LINE_ENDS = (b"\n", b"\r")
LONGEST_COMMENTS = 1 << 18  # bytes of all these lines
SAM = rb"@(HD|SQ|RG|PG|CO)\t"
_START = 1 << 16  # bytes that are looked at
_SMALL = 1 << 20  # bytes of a file that threads are worth
MOST = 1 << 28  # characters of a text file, all of which are kept in memory
_TO_FASTA = "convert it to FASTA, as with samtools fasta"
# Lines for the genome browser of UCSC, above rows of BED. A row of several cells, whose name may
# begin with these words, is none.
_UCSC = re.compile(
    r"(track|browser) [^\t,;]*$|track\s+\w+=|browser\s+(position|hide|dense|pack|squish|full)\s"
)
# Formats that are not read: how a file begins, what it is then, and what to do.
_OTHERS = [
    (rb"PK\x03\x04.{26}(\[Content|_rels|docProps|xl/|mimetype)", "a workbook", "save it as TSV"),
    (rb"PK\x03\x04", "a zip archive", "unpack it first"),
    (rb"BAM\x01", "BAM", _TO_FASTA),
    (rb"CRAM", "CRAM", _TO_FASTA),
    (SAM, "SAM", _TO_FASTA),
    (rb"@[^\r\n]*\r?\n[A-Za-z.*-]+\r?\n\+", "FASTQ", "convert it to FASTA, as with seqkit fq2fa"),
    (rb"##gff-version", "GFF", "give FASTA, or for regions BED"),
    (rb"##fileformat=VCF", "VCF", "give FASTA, or for regions BED"),
    (rb"\s*<(!DOCTYPE|html|HTML|\?xml)", "a web page", "download the file itself"),
    (rb"ID   ", "EMBL", "convert it to FASTA, as with seqret"),
    (rb"%PDF", "PDF", "give a FASTA file"),
    (rb"\xff\xfe|\xfe\xff", "text in UTF-16", "save it as UTF-8"),
    (rb".{257}ustar", "a tar archive", "unpack it first"),
]


Part = bytes | FilePart


class Source:
    """An open input.

    handle: its uncompressed bytes, without a byte order mark and without blanks before the first
    letter; head: the first HEAD of these bytes, or all if they are fewer; size: bytes of the file
    on disk, None for anything but a file; ahead: how its blocks are read and taken apart. A small
    file is read in turn.
    """

    def __init__(self, label: str, raw: Any, size: int | None, ahead: Ahead = in_turn) -> None:
        self.label, self.size, self._raw = label, size, raw
        self.ahead = in_turn if size and size < _SMALL else ahead
        self._plain_size = size  # of a file that is not compressed
        handle = _buffered(raw, label)
        for kind, magic in MAGIC.items():
            if handle.peek().startswith(magic):
                with decoding(label):
                    handle = _buffered(self._decompressed(handle, kind), label)
                self._plain_size = None
                break
        self.handle = self._stripped(handle)
        self.head = self.handle.peek()[:HEAD]

    def _decompressed(self, handle: io.BufferedReader, kind: str) -> Any:
        """Return a handle of the bytes that a handle holds compressed.

        Threads inflate BGZF, where they may read ahead.
        """
        if kind == "gz" and self.size and self.ahead is not in_turn:
            from kmatch.sequences.bgzf import block_size, inflated

            if block_size(handle.peek()):
                whole = FilePart(self._raw, self.label, 0, self.size)
                as_gzip = partial(_decompressed, self._raw, kind)
                return _Joined(inflated(whole, self.ahead, as_gzip))
        return _decompressed(handle, kind)

    def _stripped(self, handle: io.BufferedReader) -> io.BufferedReader:
        if handle.peek().startswith(codecs.BOM_UTF8):
            handle.read(len(codecs.BOM_UTF8))
        if not handle.peek()[:1].isspace():
            return handle
        while (start := handle.peek())[:1].isspace():
            handle.read(len(start) - len(start.lstrip()))
        return _buffered(handle, self.label)  # what is left in the buffer may not show the format

    def skip_comments(self) -> None:
        """Go on to the first line that is neither blank nor a comment of `;` or `#`.

        LF, CRLF or CR ends a line. Raises InputError where there are more of them than a file of
        sequences has.
        """
        skipped = 0
        in_comment = False
        while letter := self.handle.peek()[:1]:
            in_comment = (in_comment or letter in COMMENTS) and letter not in LINE_ENDS
            if not (in_comment or letter.isspace()):
                break
            self.handle.read(1)
            skipped += 1
            if skipped > LONGEST_COMMENTS:
                raise InputError(
                    f"{self.label}: more than {LONGEST_COMMENTS:,} characters of comments before "
                    "the first record; is this FASTA?"
                )
        # What is left in the buffer may not show the format.
        self.handle = _buffered(self.handle, self.label)
        self.head = self.handle.peek()[:HEAD]

    @property
    def consumed(self) -> int | None:
        """Bytes of the file on disk that were read so far; None where its size is unknown."""
        return self._raw.tell() if self.size else None

    @property
    def is_read_by_workers(self) -> bool:
        """Whether blocks are read where they are taken apart, perhaps by threads.

        A plain file's are, which can be read anywhere.
        """
        return bool(self._plain_size) and self.ahead is not in_turn

    def blocks(self, size: int) -> Iterator[Part]:
        """Yield the bytes of the handle, `size` at a time, and at the end fewer, perhaps none.

        Where `is_read_by_workers` they are FileParts.
        """
        if self.is_read_by_workers:
            rest = FilePart(self._raw, self.label, self.handle.tell(), self._plain_size or 0)
            for start in range(0, len(rest) + 1, size):
                part = rest[start : start + size]
                self._raw.seek(part.stop)  # which shows what is consumed
                yield part
            return
        # Room for a whole block would cost more than the bytes of a small file.
        asked = min(size, self._plain_size + 1) if self._plain_size else size
        data = self.handle.read(asked)
        while len(data) == size:
            yield data
            data = self.handle.read(asked)
        yield data

    def made_ahead(self, items: Iterator[Item]) -> Iterator[Item]:
        """Return items that a thread makes ahead, of what it reads in a file.

        Those of a pipe are made when they are asked for, as nobody can end a thread that waits for
        a pipe.
        """
        if not self.size or self.ahead is in_turn:
            return items
        made = self.ahead(repeat(partial(next, items, None)), 1)
        return takewhile(lambda item: item is not None, made)


class _Filled(io.RawIOBase):
    """A handle that gives as many bytes as it is asked for; its errors name the input."""

    def __init__(self, handle: Any, label: str) -> None:
        self._handle, self._label = handle, label

    def readable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._handle.tell()

    def readinto(self, buffer: "WriteableBuffer") -> int:
        view, filled = memoryview(buffer), 0
        with decoding(self._label):
            while filled < len(view) and (count := self._handle.readinto(view[filled:])):
                filled += count
        return filled


class _Joined:
    """A handle of bytes that come in pieces, none of them empty."""

    def __init__(self, pieces: Iterator[bytes]) -> None:
        self._pieces = pieces
        self._left = memoryview(b"")

    def readinto(self, buffer: memoryview) -> int:
        while not self._left and (piece := next(self._pieces, b"")):
            self._left = memoryview(piece)
        count = min(len(buffer), len(self._left))
        buffer[:count] = self._left[:count]
        self._left = self._left[count:]
        return count


def _decompressed(handle: Any, kind: str) -> Any:
    """Return a handle of the bytes that a handle holds compressed.

    gzip is read by isal, where it is installed. So would xopen, whose import takes longer.
    """
    if kind == "gz":
        with suppress(ImportError):
            from isal.igzip import IGzipFile

            return IGzipFile(fileobj=handle, mode="rb")  # type: ignore[no-untyped-call]
    from xopen import xopen

    return xopen(handle, "rb", threads=0, format=kind)


def _buffered(handle: Any, label: str) -> io.BufferedReader:
    return io.BufferedReader(_Filled(handle, label), _START)


def label_of(path: StrPath) -> str:
    """Return how messages name an input."""
    return "standard input" if str(path) == "-" else str(path)


@contextmanager
def open_source(path: StrPath, ahead: Ahead = in_turn) -> Iterator[Source]:
    """Open a path, or standard input for `-`, as a Source. `ahead` reads its blocks.

    Raises InputError, naming the input, where it cannot be opened, at the end of the block where a
    file is not as it was at the beginning, and in place of a ValueError of the block, which is how
    parsers meet damaged data.
    """
    label = label_of(path)
    if str(path) == "-":
        if sys.stdin is None:
            raise InputError(f"{label}: it is closed; give a file, or pipe something in")
        # A thread that waits for a pipe in the buffer would hold its lock as Python ends: a crash.
        stdin: Any = sys.stdin.buffer  # which may stand in for the real one, without `raw`
        opened: Any = nullcontext(getattr(stdin, "raw", stdin))
    else:
        opened = _opened(path)
    with opened as raw:
        found = None if str(path) == "-" else os.fstat(raw.fileno())
        before = found if found and stat.S_ISREG(found.st_mode) else None
        try:
            yield Source(label, raw, before and before.st_size, ahead)
        except ValueError as error:
            raise InputError(f"{label}: cannot be read: {error}") from error
        if before:
            after = os.fstat(raw.fileno())
            if (before.st_size, before.st_mtime_ns) != (after.st_size, after.st_mtime_ns):
                raise InputError(
                    f"{label}: the file was changed while it was read, so that hits may be "
                    "missing; search it again once it stays as it is"
                )


def check_readable(path: StrPath) -> None:
    """Raise InputError for a path that cannot be opened; pipes and `-`, read once, are left."""
    mode = _mode_of(path)
    is_read_once = mode and not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))
    if str(path) != "-" and not is_read_once:
        _opened(path).close()


def _mode_of(path: StrPath) -> int:
    """Return what `os.stat` says of the kind of a path, 0 where there is nothing."""
    try:
        return os.stat(path).st_mode
    except (OSError, ValueError):
        return 0


def size_of(path: StrPath) -> int | None:
    """Return how many bytes a file has; None for a pipe, and for all else that is no file."""
    try:
        found = os.stat(path)
    except (OSError, ValueError):
        return None
    return found.st_size if stat.S_ISREG(found.st_mode) else None


def _opened(path: StrPath) -> io.FileIO:
    label = label_of(path)
    try:
        return open(path, "rb", buffering=0)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        advice = ""
        if "://" in label:
            advice = "; download it first"
        elif re.fullmatch(r".+:[\d,]+(-|\.\.)[\d,]+", label):
            advice = "; a region is a line of a BED file: name, tab, start from 0, tab, end"
        elif os.path.isdir(label):
            advice = (
                "; give one of its files, or for GENOME the name of several in a list, as @LIST"
            )
        raise InputError(f"{label}: cannot be read: {reason}{advice}") from error


def refuse_others(source: Source, wanted: str) -> None:
    """Raise InputError for a Source that begins like a file of another format."""
    start = source.handle.peek()
    for begin, what, advice in _OTHERS:
        if re.match(begin, start, re.DOTALL):
            raise InputError(f"{source.label}: looks like {what}, not {wanted}; {advice}")


def is_list(path: str) -> bool:
    """Return whether a path names a file that lists genomes."""
    return path.startswith(LIST)


def read_lines(path: StrPath, what: str) -> list[str]:
    """Return the lines of a text file; LF, CRLF or CR ends a line.

    what: the contents, for messages.
    """
    with open_source(path) as source:
        refuse_others(source, what)
        text = io.TextIOWrapper(source.handle, "utf-8", "surrogateescape").read(MOST + 1)
    if "\0" in text:
        raise InputError(f"{source.label}: a binary file, not a list of {what}")
    if len(text) > MOST:
        raise InputError(
            f"{source.label}: more than {MOST:,} characters of {what}; search a part at a time"
        )
    return text.split("\n")


def is_comment(line: str) -> bool:
    """Return whether a line of a table is blank, or one that may stand above or between rows of
    BED."""
    return not line.strip() or line.startswith("#") or bool(_UCSC.match(line))


def read_names(path: StrPath, what: str) -> list[str]:
    """Return the lines of a file, stripped, but blank lines and lines that begin with `#`."""
    lines = map(str.strip, read_lines(path, what))
    return [line for line in lines if line and not line.startswith("#")]


def read_list(path: str) -> list[str]:
    """Return the paths that a list names, one a line, relative to the current folder.

    path: of the list, which stands behind `@`; `-` for standard input. Raises InputError for a list
    that names none, or standard input.
    """
    names = read_names(path.removeprefix(LIST), "genomes")
    label = f"{LIST}{label_of(path.removeprefix(LIST))}"
    if not names:
        raise InputError(f"{label}: the list names no genome; write the path of one a line")
    if "-" in names:
        raise InputError(f"{label}: a list names files, and '-' is none; give - in place of it")
    if odd := next((name for name in names if name.startswith((">", ";"))), None):
        raise InputError(
            f"{label}: '{odd[:40]}' begins a sequence file; a list has the path of a genome a "
            f"line, and the genome itself is given without the {LIST}"
        )
    return names
