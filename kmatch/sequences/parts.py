"""Parts of a file, which are read where they are used, and errors of reading."""

import io
import os
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from gzip import BadGzipFile

from kmatch.errors import InputError

_AGAIN = "copy or download it again"


@dataclass
class FilePart:
    """Bytes start … stop−1 of a file, which are read when `bytes` asks for them, by any thread.

    Like bytes they have a length and slices, and are joined to the part that follows by `+`.
    label: of the file in messages. A file that is cut meanwhile gives fewer bytes.
    """

    file: io.FileIO
    label: str
    start: int
    stop: int

    def __len__(self) -> int:
        return self.stop - self.start

    def __getitem__(self, key: slice) -> "FilePart":
        first, last, _ = key.indices(len(self))
        return FilePart(self.file, self.label, self.start + first, self.start + last)

    def __add__(self, other: "FilePart") -> "FilePart":
        return FilePart(self.file, self.label, self.start, other.stop)

    def __bytes__(self) -> bytes:
        with decoding(self.label):
            return os.pread(self.file.fileno(), len(self), self.start)


@contextmanager
def decoding(label: str) -> Iterator[None]:
    """Turn errors of reading and decompressing into an InputError that names the input."""
    try:
        yield
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
