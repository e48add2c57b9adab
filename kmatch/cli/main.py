"""The `kmatch` command, its standard streams, and the look of its errors."""

import gc
import io
import os
import sys
from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import Any

from kmatch import interrupts

_TRACEBACK = "--debug shows where"
SWITCHING = 5e-4  # seconds
MANY_OBJECTS = 100_000  # more than imports make


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit: 0 done, 1 failed, 2 wrong usage; signals end it at once."""
    interrupts.install()  # before anything is imported that takes its time
    # Threads of NumPy's linear algebra spin when they are started: on 16 cores for 1.9 seconds of
    # the CPU in every process. kmatch has no use for them.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    # A thread that only starts a kernel waits so long for one that computes in Python: 5 ms are
    # Python's own, in which most kernels end.
    sys.setswitchinterval(SWITCHING)
    # What is imported stays, and Python would look for garbage in it a hundred times.
    gc.set_threshold(MANY_OBJECTS)
    forgive_standard_error()
    status = run(sys.argv[1:] if arguments is None else arguments)
    end_standard_output()
    sys.exit(status)


def run(arguments: Iterable[str]) -> int:
    """Run the command line; returns the exit status."""
    arguments = list(arguments)
    try:
        from kmatch.cli.command import run_command

        status = run_command(arguments)
        if sys.stdout is not None:
            sys.stdout.flush()
        return status
    except Exception as error:
        from kmatch.errors import ClosedPipe

        if isinstance(error, ClosedPipe | BrokenPipeError):
            return 0
        if "--debug" in arguments:
            raise
        from kmatch.cli.messages import one_line

        print(f"kmatch: error: {one_line(_words(error))}", file=sys.stderr)
        return 1


def _words(error: Exception) -> str:
    """Return the words for an error."""
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


class _Forgiving(io.FileIO):
    """A file of whose failures nobody hears."""

    def write(self, data: Any) -> int:
        with suppress(OSError):
            return super().write(data) or len(data)
        return len(data)


def forgive_standard_error() -> None:
    """Let standard error be closed, full or gone: messages are lost then, and no hits."""
    encoding = sys.stderr.encoding if sys.stderr else None
    if sys.stderr is None:  # the next file would have its number, and libraries may write there
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    handle = io.BufferedWriter(_Forgiving(2, "w", closefd=False))
    sys.stderr = io.TextIOWrapper(handle, encoding, "backslashreplace", line_buffering=True)


def end_standard_output() -> None:
    """Flush standard output, or have nothing in its place where that fails: Python flushes it once
    more at its end, and would complain."""
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
