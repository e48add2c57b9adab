"""Opening input: a path or standard input, compressed or not, told by content."""

import codecs
import io
import os
import stat
import sys
import zlib
from contextlib import contextmanager
from gzip import BadGzipFile

from kmatch.errors import InputError

MAGIC = {
    "gz": b"\x1f\x8b",
    "bz2": b"BZh",
    "xz": b"\xfd7zXZ\x00",
    "zst": b"\x28\xb5\x2f\xfd",
}
HEAD = 16  # bytes that tell what a file is
BLANKS = 1 << 24  # before the first letter
_BLOCK = 1 << 16
_AGAIN = "copy or download it again"


class Source:
    """An open input.

    handle: its uncompressed bytes, without a byte order mark and blank lines before the first
    letter; head: the first HEAD of them, or fewer if there are no more; size: bytes of the file as
    it lies on disk, None where that is unknown.
    """

    def __init__(self, label, raw, size):
        self.label = label
        self.size = size
        self._counted = _Counted(raw)
        start, handle = _told(self._counted, label, strip=False)
        for kind, magic in MAGIC.items():
            if start.startswith(magic):
                from xopen import xopen

                with _decoding(label):
                    handle = xopen(handle, "rb", threads=0, format=kind)
        self.head, self.handle = _told(handle, label, strip=True)
        if not self.head and self.handle.peek(1):
            raise InputError(f"{label}: begins with {BLANKS:,} blanks; is this the right file?")

    @property
    def consumed(self):
        """Bytes read so far of the file as it lies on disk; None where that is unknown."""
        return self._counted.count if self.size else None


class _Counted(io.RawIOBase):
    """A handle that counts the bytes it has given."""

    def __init__(self, handle):
        self._handle = handle
        self.count = 0

    def readable(self):
        return True

    def readinto(self, buffer):
        count = self._handle.readinto(buffer)
        self.count += count or 0
        return count


class _Replayed(io.RawIOBase):
    """Bytes already read, then the rest of the handle they came from, whose errors name it."""

    def __init__(self, head, handle, label):
        self._head, self._handle, self._label = head, handle, label

    def readable(self):
        return True

    def readinto(self, buffer):
        if not self._head:
            with _decoding(self._label):
                return self._handle.readinto(buffer)
        data = self._head[: len(buffer)]
        self._head = self._head[len(buffer) :]
        buffer[: len(data)] = data
        return len(data)


def _told(handle, label, strip):
    """The first HEAD bytes of a handle, and a handle that still gives them.

    None are told where there are only blanks, and more than BLANKS of them.
    """
    head, left = b"", BLANKS
    with _decoding(label):
        while len(head) < HEAD and left > 0 and (data := handle.read(_BLOCK)):
            head += data
            left -= len(data)
            if strip:
                head = head.removeprefix(codecs.BOM_UTF8).lstrip()
    return head[:HEAD], io.BufferedReader(_Replayed(head, handle, label), _BLOCK)


def label_of(path):
    """How messages name an input."""
    return "standard input" if str(path) == "-" else str(path)


@contextmanager
def open_source(path):
    """Open a path, or standard input for `-`, as a Source.

    Raises InputError, naming the input, where it cannot be opened.
    """
    label = label_of(path)
    if str(path) == "-":
        if sys.stdin is None:
            raise InputError(f"{label}: it is closed; give a file, or pipe something in")
        # Python locks the buffer while a thread waits for a pipe, and would end with a crash.
        yield Source(label, getattr(sys.stdin.buffer, "raw", sys.stdin.buffer), None)
        return
    with _opened(path) as raw:
        yield Source(label, raw, os.fstat(raw.fileno()).st_size)


def check_readable(path):
    """Raise InputError for a path that cannot be opened; `-` and pipes, which open once, can."""
    if str(path) == "-":
        return
    try:
        kept = stat.S_ISREG(os.stat(path).st_mode) or os.path.isdir(path)
    except (OSError, ValueError):
        kept = True  # opening it tells why
    if kept:
        _opened(path).close()


def _opened(path):
    label = label_of(path)
    try:
        return open(path, "rb", buffering=0)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        advice = "; download it first" if "://" in label else ""
        raise InputError(f"{label}: cannot be read: {reason}{advice}") from error


@contextmanager
def reading(label):
    """Turn what a parser raises on damaged data into an InputError that names the input.

    What the handle of a Source raises is one already: other OSErrors are not of the input.
    """
    try:
        yield
    except ValueError as error:
        raise InputError(f"{label}: cannot be read: {error}") from error


@contextmanager
def _decoding(label):
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
        # The decompressors have error classes of their own with no base in common.
        if type(error).__name__ not in ("IsalError", "LZMAError", "ZstdError"):
            raise
        raise InputError(f"{label}: the compressed file is damaged ({error}); {_AGAIN}") from error
