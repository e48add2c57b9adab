"""Opening input: a path or standard input, compressed or not, told by content."""

import io
import os
import sys
import zlib
from contextlib import contextmanager

from kmatch.errors import InputError

MAGIC = {
    "gz": b"\x1f\x8b",
    "bz2": b"BZh",
    "xz": b"\xfd7zXZ\x00",
    "zst": b"\x28\xb5\x2f\xfd",
}
_PEEK = 1 << 16


class Source:
    """An open input: `handle` gives uncompressed bytes, `consumed` and `size` count raw ones."""

    def __init__(self, label, raw, handle, size):
        self.label = label
        self.handle = handle
        self.size = size
        self._raw = raw

    @property
    def consumed(self):
        """Bytes read so far of the file as it lies on disk; None where that is unknown."""
        return self._raw.tell() if self.size else None


def label_of(path):
    """How messages name an input."""
    return "standard input" if str(path) == "-" else str(path)


@contextmanager
def open_source(path):
    """Open a path, or standard input for `-`, for reading bytes.

    Whatever goes wrong while it is open, a missing file as well as a cut gzip stream, becomes
    an InputError that names the input.
    """
    label = label_of(path)
    try:
        raw = sys.stdin.buffer if str(path) == "-" else open(path, "rb")  # noqa: SIM115
    except OSError as error:
        raise InputError(f"{label}: cannot be read: {_reason(error)}") from error
    try:
        size = None if str(path) == "-" else os.fstat(raw.fileno()).st_size
        buffered = raw if hasattr(raw, "peek") else io.BufferedReader(raw, _PEEK)
        with reading(label):
            handle = _decompressed(buffered)
        yield Source(label, raw, handle, size)
    finally:
        if raw is not sys.stdin.buffer:
            raw.close()


@contextmanager
def reading(label):
    """Turn what a reader raises on damaged data into an InputError that names the input."""
    try:
        yield
    except EOFError as error:
        raise InputError(
            f"{label}: the compressed file is truncated; copy or download it again"
        ) from error
    except (zlib.error, ValueError, OSError) as error:
        raise InputError(f"{label}: cannot be read: {_reason(error)}") from error
    except Exception as error:
        # lzma and zstd have error classes of their own that name no common base
        if type(error).__name__ in ("LZMAError", "ZstdError"):
            raise InputError(f"{label}: damaged compressed file: {error}") from error
        raise


def _decompressed(buffered):
    head = buffered.peek(8)[:8]
    for kind, magic in MAGIC.items():
        if head.startswith(magic):
            from xopen import xopen

            return xopen(buffered, "rb", threads=0, format=kind)
    return buffered


def _reason(error):
    return getattr(error, "strerror", None) or str(error) or type(error).__name__
