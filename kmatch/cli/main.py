"""The `kmatch` command, its standard streams, and what its errors look like."""

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

from kmatch import interrupts

_TRACEBACK = "--debug shows where"
SWITCHING = 5e-4  # seconds


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit: 0 done, 1 failed, 2 wrong usage; signals end it at once."""
    interrupts.install()  # before anything is imported that takes its time
    # Threads of NumPy's linear algebra spin when they are started: on 16 cores for 1.9 seconds of
    # the CPU in every process. kmatch has no use for them.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    # A thread that only starts a kernel waits so long for one that computes in Python: 5 ms are
    # Python's own, in which most kernels end.
    sys.setswitchinterval(SWITCHING)
    sys.exit(run(sys.argv[1:] if arguments is None else arguments))


def run(arguments: Iterable[str]) -> int:
    """Run the command line; returns the exit status."""
    arguments = list(arguments)
    with standard_streams():
        try:
            from kmatch.cli.command import run_command

            status = run_command(arguments)
            if sys.stdout is not None:
                sys.stdout.flush()
            return status
        except Exception as error:
            from kmatch.errors import ClosedPipe

            if isinstance(error, ClosedPipe):
                return 0
            if "--debug" in arguments:
                raise
            from kmatch.cli.messages import one_line

            if sys.stderr is not None:
                print(f"kmatch: error: {one_line(_words(error))}", file=sys.stderr)
            return 1


def _words(error: Exception) -> str:
    """What is said of an error."""
    from kmatch.errors import KmatchError

    if isinstance(error, KmatchError):
        return str(error)
    if isinstance(error, MemoryError):
        return "out of memory; search fewer patterns at a time, or a genome of shorter records"
    words = str(error).rstrip(".") or type(error).__name__
    if isinstance(error, OSError) and error.strerror:
        words = f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    # Errors of inputs and outputs are KmatchErrors: what is left is the machine's, or a defect.
    if isinstance(error, OSError | ImportError | RuntimeError):
        return f"the machine: {words}; {_TRACEBACK}"
    return f"a defect of kmatch: {type(error).__name__}: {words}; {_TRACEBACK}"


@contextmanager
def standard_streams() -> Iterator[None]:
    """While the block runs, a failure of standard output is an OutputError, and a failure of
    standard error, which may be closed, full or gone, is ignored."""
    before = sys.stdout, sys.stderr
    # Closed, standard error leaves its number to the next file, and libraries may write there.
    null = None if sys.stderr else open(os.devnull, "w")  # noqa: SIM115
    streams: list[Any] = [_Stream(sys.stderr or null, lambda error: None)]
    if sys.stdout is not None:
        streams.append(_Stream(sys.stdout, _report))
    sys.stderr, sys.stdout = (*streams, None)[:2]
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before
        for stream in streams:
            stream.end()
        if null:
            null.close()


class _Stream:
    """A standard stream, of whose failures `fail` hears."""

    def __init__(self, stream: Any, fail: Callable[[OSError], None]) -> None:
        self._stream, self._fail = stream, fail

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        try:
            return int(self._stream.write(text))
        except OSError as error:
            self._fail(error)
            return len(text)

    def flush(self) -> None:
        try:
            self._stream.flush()
        except OSError as error:
            self._fail(error)

    def end(self) -> None:
        """Flush the stream, or have a null stream in its place if it fails: Python flushes it once
        more at its end, and would complain."""
        try:
            self._stream.flush()
        except OSError:
            with suppress(OSError):
                null = os.open(os.devnull, os.O_WRONLY)
                os.dup2(null, self._stream.fileno())
                os.close(null)


def _report(error: OSError) -> None:
    from kmatch.results.output import STANDARD, output_error

    raise output_error(STANDARD, error) from error
