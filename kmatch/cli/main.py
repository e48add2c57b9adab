"""The `kmatch` command, its standard streams, and what its errors look like."""

import io
import os
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import NoReturn, TextIO

from kmatch import interrupts

_LIBRARIES = ("numba", "llvmlite")  # whose errors about the machine may be of any class
_THREADS = "NUMBA_NUM_THREADS"  # which Numba reads, and does not name when it refuses it
_TRACEBACK = "--debug shows where"
SWITCHING = 5e-4  # seconds


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit: 0 done, 1 failed, 2 wrong usage, 130 interrupted."""
    interrupts.install()  # before anything is imported that takes its time
    # GNU OpenMP's threads, which published algorithms run on, wait by spinning. That takes
    # milliseconds a kernel where other programs want the cores; passive ones take microseconds.
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    # Those of NumPy's linear algebra spin too when they are started: on 16 cores for 1.9 seconds
    # of the CPU in every process. kmatch has no use for them.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    # A thread that only starts a kernel waits so long for one that computes in Python: 5 ms are
    # Python's own, in which most kernels end.
    sys.setswitchinterval(SWITCHING)
    try:
        status = run(sys.argv[1:] if arguments is None else arguments)
        interrupts.release()
    except KeyboardInterrupt:  # before `run` could handle it, or after
        status = _interrupted()
        interrupts.release()
    if interrupts.came():
        interrupts.end(status)
    sys.exit(status)


def run(arguments: Iterable[str]) -> int:
    """Run the command line; returns the exit status."""
    arguments = list(arguments)
    with standard_streams():
        try:
            from kmatch.cli.command import run_command

            status = run_command(arguments)
            interrupts.check()
            if sys.stdout is not None:
                sys.stdout.flush()
            return status
        except Exception as error:
            if interrupts.came():  # an import that is cut short may fail in any way
                return _interrupted()
            if "--debug" in arguments and not _is_quiet(error):
                raise
            return _failed(error)
        except KeyboardInterrupt:
            return _interrupted()


def _interrupted() -> int:
    if interrupts.came() and interrupts.is_said():
        return interrupts.status()
    return _say(interrupts.words(), interrupts.status())


def _is_quiet(error: Exception) -> bool:
    from kmatch.errors import ClosedPipe

    return isinstance(error, ClosedPipe)


def _failed(error: Exception) -> int:
    """Say what an error was; returns the exit status."""
    from kmatch.errors import KmatchError

    if _is_quiet(error):
        return 0
    if isinstance(error, KmatchError):
        return _say(str(error), 1)
    if isinstance(error, MemoryError):
        advice = "search fewer patterns at a time, or a genome of shorter records"
        return _say(f"out of memory; {advice}", 1)
    threads = os.environ.get(_THREADS, "").strip()
    if _of_a_library(error) and re.fullmatch(r"0+|-\d+", threads):
        return _say(f"{_THREADS} is {threads}; set it to 1 or more, or leave it unset", 1)
    words = _words(error)
    # Errors of inputs and outputs are KmatchErrors: what is left is the machine's, or a defect.
    if isinstance(error, OSError | ImportError | RuntimeError) or _of_a_library(error):
        return _say(f"the machine: {words}; {_TRACEBACK}", 1)
    return _say(f"a defect of kmatch: {type(error).__name__}: {words}; {_TRACEBACK}", 1)


def _words(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    return str(error).rstrip(".") or type(error).__name__


def _of_a_library(error: Exception) -> bool:
    """Whether an error was raised in the libraries that compile kmatch, not in kmatch."""
    module = ""
    traceback = error.__traceback__
    while traceback:
        module = traceback.tb_frame.f_globals.get("__name__", "")
        traceback = traceback.tb_next
    return module.partition(".")[0] in _LIBRARIES


def _say(message: str, status: int) -> int:
    """Print an error; returns the exit status."""
    from kmatch.cli.messages import one_line

    if sys.stderr is not None:
        print(f"kmatch: error: {one_line(message)}", file=sys.stderr)
    return status


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
        from kmatch.results.output import STANDARD, output_error

        raise output_error(STANDARD, error) from error


class _StandardError(_Stream):
    """Standard error; only what it cannot take is lost."""

    def _fail(self, error: OSError) -> None:
        pass
