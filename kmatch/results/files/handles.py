"""Handles whose errors name the output."""

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from kmatch.errors import ClosedPipe, OutputError


@contextmanager
def writing(label: str, advice: str = "") -> Iterator[None]:
    """Turn an OSError of the block into an OutputError that names the output.

    advice: what to do about it, after the reason. Raises ClosedPipe where nobody reads any more.
    """
    try:
        yield
    except OSError as error:
        raise output_error(label, error, advice) from error


def output_error(label: str, error: OSError, advice: str = "") -> OutputError:
    """The OutputError for an OSError of an output."""
    reason = f"{label}: cannot be written: {error.strerror or error}"
    if isinstance(error, BrokenPipeError):
        return ClosedPipe(reason)
    if isinstance(error, IsADirectoryError):
        advice = "; give a file in it"
    return OutputError(reason + advice)


class NamedHandle:
    """A binary handle for writing, whose failures are OutputErrors that name it."""

    def __init__(self, handle: Any, label: str) -> None:
        self._handle, self._label = handle, label

    def write(self, data: Any) -> int:
        """Write all of some bytes, also to a stream without a buffer; returns how many."""
        size = memoryview(data).nbytes
        with writing(self._label):
            written = self._write_some(data)
            while written < size:
                written += self._write_some(memoryview(data).cast("B")[written:])
        return size

    def _write_some(self, data: Any) -> int:
        written = self._handle.write(data)
        if written is None:
            raise BlockingIOError(errno.EAGAIN, os.strerror(errno.EAGAIN))
        return written

    def flush(self) -> None:
        with writing(self._label):
            self._handle.flush()

    def close(self) -> None:
        with writing(self._label):
            self._handle.close()
