"""The standard streams of a command: output says what fails, standard error never fails."""

import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import NoReturn, TextIO

from kmatch.results.files.handles import output_error
from kmatch.results.files.output import STANDARD


@contextmanager
def standard_streams() -> Iterator[None]:
    """While the block runs, a failure of standard output is an OutputError, and a failure of
    standard error, which may be closed, full or gone, is ignored."""
    before = sys.stdout, sys.stderr
    # Closed, standard error leaves its number to the next file, and libraries may write there.
    null = None if sys.stderr else open(os.devnull, "w")  # noqa: SIM115
    sys.stdout = _wrapped(sys.stdout, _StandardOutput)
    sys.stderr = _wrapped(null or sys.stderr, _StandardError)
    try:
        yield
    finally:
        wrapped = sys.stdout, sys.stderr
        sys.stdout, sys.stderr = before
        for stream in wrapped:
            if isinstance(stream, _Stream):
                stream.end()
        if null:
            null.close()


def _wrapped(stream: TextIO, kind: "type[_Stream]") -> TextIO:
    """The stream with another way to fail, or as it is where there are no bytes below it."""
    if not isinstance(getattr(stream, "buffer", None), io.BufferedIOBase | io.RawIOBase):
        return stream
    with suppress(OSError):
        stream.flush()
    return kind(
        stream.buffer,
        encoding=stream.encoding,
        errors=stream.errors,
        line_buffering=bool(stream.line_buffering),
        write_through=getattr(stream, "write_through", False),
    )


class _Stream(io.TextIOWrapper):
    def write(self, text: str) -> int:
        try:
            return super().write(text)
        except OSError as error:
            self._fail(error)
            return len(text)

    def flush(self) -> None:
        try:
            super().flush()
        except OSError as error:
            self._fail(error)

    def end(self) -> None:
        """Restore the stream below, or a null stream if it fails: Python flushes it once more at
        its end, and would complain."""
        try:
            super().flush()
        except OSError:
            with suppress(OSError):
                null = os.open(os.devnull, os.O_WRONLY)
                os.dup2(null, self.fileno())
                os.close(null)
        self.detach()

    def _fail(self, error: OSError) -> None:
        raise NotImplementedError


class _StandardOutput(_Stream):
    """Standard output, whose failures are OutputErrors."""

    def _fail(self, error: OSError) -> NoReturn:
        raise output_error(STANDARD, error) from error


class _StandardError(_Stream):
    """Standard error; only what it cannot take is lost."""

    def _fail(self, error: OSError) -> None:
        pass
