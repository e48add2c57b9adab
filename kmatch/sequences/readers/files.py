"""Opening an input: a path or standard input; its content shows how it is compressed."""

import codecs
import io
import os
import shutil
import stat
import sys
import tempfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from gzip import BadGzipFile
from typing import TYPE_CHECKING, Any, BinaryIO, Protocol, cast

from kmatch.errors import InputError

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

StrPath = str | os.PathLike[str]

MAGIC = {
    "gz": b"\x1f\x8b",
    "bz2": b"BZh",
    "xz": b"\xfd7zXZ\x00",
    "zst": b"\x28\xb5\x2f\xfd",
}
HEAD = 16  # bytes that show the format of a file
BLANKS = 1 << 24  # blanks before the first letter, at most
_BLOCK = 1 << 16
_AGAIN = "copy or download it again"


class Readable(Protocol):
    """A binary handle."""

    def read(self, size: int, /) -> bytes | None: ...

    def readinto(self, buffer: "WriteableBuffer", /) -> int | None: ...


class Source:
    """An open input.

    handle: its uncompressed bytes, without a byte order mark and without blanks before the first
    letter; head: the first HEAD of these bytes, or all if they are fewer; size: bytes of the file
    on disk, None where that is unknown.
    """

    def __init__(self, label: str, raw: Readable, size: int | None) -> None:
        self.label = label
        self.size = size
        self._counted = _Counted(raw)
        start, handle = _look_ahead(self._counted, label, strip=False)
        for kind, magic in MAGIC.items():
            if start.startswith(magic):
                from xopen import xopen

                with _decoding(label):
                    # Its types leave out readinto, which all of its handles have.
                    unpacked = cast(Readable, xopen(handle, "rb", threads=0, format=kind))
                break
        else:
            unpacked = handle
        self.head, self.handle = _look_ahead(unpacked, label, strip=True)
        if not self.head and self.handle.peek(1):
            raise InputError(f"{label}: begins with {BLANKS:,} blanks; is this the right file?")

    @property
    def consumed(self) -> int | None:
        """Bytes of the file on disk that were read so far; None where its size is unknown."""
        return self._counted.count if self.size else None


class _Counted(io.RawIOBase):
    """A handle that counts the bytes it has given."""

    def __init__(self, handle: Readable) -> None:
        self._handle = handle
        self.count = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: "WriteableBuffer") -> int | None:
        count = self._handle.readinto(buffer)
        self.count += count or 0
        return count


class _Replayed(io.RawIOBase):
    """Bytes already read, then the rest of the handle they came from; its errors name the input."""

    def __init__(self, head: bytes, handle: Readable, label: str) -> None:
        self._head, self._handle, self._label = head, handle, label

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: "WriteableBuffer") -> int | None:
        if not self._head:
            with _decoding(self._label):
                return self._handle.readinto(buffer)
        view = memoryview(buffer)
        data = self._head[: len(view)]
        self._head = self._head[len(view) :]
        view[: len(data)] = data
        return len(data)


def _look_ahead(handle: Readable, label: str, strip: bool) -> tuple[bytes, io.BufferedReader]:
    """The first HEAD bytes of a handle, and a handle that gives all of its bytes.

    strip: whether to leave out a byte order mark and blanks first; after more than BLANKS of these
    the first bytes are empty.
    """
    head, left = b"", BLANKS
    with _decoding(label):
        while len(head) < HEAD and left > 0 and (data := handle.read(_BLOCK)):
            head += data
            left -= len(data)
            if strip:
                head = head.removeprefix(codecs.BOM_UTF8).lstrip()
    return head[:HEAD], io.BufferedReader(_Replayed(head, handle, label), _BLOCK)


def label_of(path: StrPath) -> str:
    """How messages name an input."""
    return "standard input" if str(path) == "-" else str(path)


@contextmanager
def open_source(path: StrPath) -> Iterator[Source]:
    """Open a path, or standard input for `-`, as a Source.

    Raises InputError, naming the input, where it cannot be opened, and at the end of the block
    where a file is not as it was at the beginning.
    """
    label = label_of(path)
    if str(path) == "-":
        if sys.stdin is None:
            raise InputError(f"{label}: it is closed; give a file, or pipe something in")
        # A thread that waits for a pipe in the buffer would hold its lock as Python ends: a crash.
        stdin: Any = sys.stdin.buffer  # which may stand in for the real one, without `raw`
        yield Source(label, getattr(stdin, "raw", stdin), None)
        return
    with _opened(path) as raw:
        before = os.fstat(raw.fileno())
        yield Source(label, raw, before.st_size)
        after = os.fstat(raw.fileno())
        if stat.S_ISREG(before.st_mode) and _version(before) != _version(after):
            raise InputError(
                f"{label}: the file was changed while it was read, so that hits may be missing; "
                "search it again once it stays as it is"
            )


def _version(status: os.stat_result) -> tuple[int, int]:
    return status.st_size, status.st_mtime_ns


def seekable_copy(handle: Readable) -> BinaryIO:
    """A copy of what is left of a handle: a temporary file, or memory where none can be made."""
    copy: BinaryIO
    try:
        copy = cast(BinaryIO, tempfile.TemporaryFile())  # noqa: SIM115  the caller closes it
    except FileNotFoundError:  # there is no folder for temporary files
        copy = io.BytesIO()
    shutil.copyfileobj(cast(BinaryIO, handle), copy)
    copy.seek(0)
    return copy


def check_readable(path: StrPath) -> None:
    """Raise InputError for a path that cannot be opened; pipes and `-`, read once, are left."""
    if str(path) == "-":
        return
    try:
        mode = os.stat(path).st_mode
        opens_often = stat.S_ISREG(mode) or stat.S_ISDIR(mode)
    except (OSError, ValueError):
        opens_often = True  # opening it gives the reason
    if opens_often:
        _opened(path).close()


def _opened(path: StrPath) -> io.FileIO:
    label = label_of(path)
    try:
        return open(path, "rb", buffering=0)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise InputError(f"{label}: cannot be read: {reason}{_advice(label)}") from error


def _advice(label: str) -> str:
    """What to do where a path cannot be opened, behind a semicolon, or nothing."""
    if "://" in label:
        return "; download it first"
    if os.path.isdir(label):
        return "; give one of its files, or for GENOME the name of several in a list, as @LIST"
    return ""


@contextmanager
def reading(label: str) -> Iterator[None]:
    """Turn what a parser raises on damaged data into an InputError that names the input.

    The handle of a Source raises InputErrors itself, so an OSError has another cause and stays.
    """
    try:
        yield
    except ValueError as error:
        raise InputError(f"{label}: cannot be read: {error}") from error


@contextmanager
def _decoding(label: str) -> Iterator[None]:
    """Turn what reading and decompressing raise into an InputError that names the input."""
    try:
        yield
    except InputError:
        raise
    except EOFError as error:
        raise InputError(f"{label}: the compressed file is truncated; {_AGAIN}") from error
    except BadGzipFile as error:
        raise InputError(
            f"{label}: damaged: what follows the compressed data is not gzip; {_AGAIN}"
        ) from error
    except (zlib.error, ValueError, OSError) as error:
        reason = getattr(error, "strerror", None) or error
        raise InputError(f"{label}: cannot be read: {reason}") from error
    except Exception as error:
        # The decompressors have error classes of their own, without a common base.
        if type(error).__name__ not in ("IsalError", "LZMAError", "ZstdError"):
            raise
        raise InputError(f"{label}: the compressed file is damaged ({error}); {_AGAIN}") from error
