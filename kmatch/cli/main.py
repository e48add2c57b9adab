"""The `kmatch` command and what its errors look like."""

import sys

from kmatch import interrupts

_LIBRARIES = ("numba", "llvmlite")  # where what the machine lacks may be an error of any class
_TRACEBACK = "--debug shows where"


def main(arguments=None):
    """Run the command line and exit: 0 done, 1 failed, 2 wrong usage, 130 interrupted."""
    interrupts.install()  # before anything is imported that takes its time
    try:
        status = run(sys.argv[1:] if arguments is None else arguments)
        interrupts.release()
    except KeyboardInterrupt:  # before `run` could tell of it, or after
        status = _interrupted()
        interrupts.release()
    sys.exit(status)


def run(arguments):
    """Run the command line; returns the exit status."""
    arguments = list(arguments)
    from kmatch.cli.streams import standard_streams

    with standard_streams():
        try:
            from kmatch.cli.group import run_command

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


def _interrupted():
    name = interrupts.came()
    by = f" by {name}" if name not in (None, "SIGINT") else ""
    return _tell(f"interrupted{by}", interrupts.status())


def _is_quiet(error):
    from kmatch.errors import ClosedPipe

    return isinstance(error, ClosedPipe)


def _failed(error):
    """Say what an error was; returns the exit status."""
    from kmatch.errors import KmatchError

    if _is_quiet(error):
        return 0
    if isinstance(error, KmatchError):
        return _tell(str(error), 1)
    if isinstance(error, MemoryError):
        advice = "search fewer patterns at a time, or a genome of shorter records"
        return _tell(f"out of memory; {advice}", 1)
    words = _words(error)
    # Inputs and outputs tell of themselves: what is left is the machine's, or a defect.
    if isinstance(error, OSError | ImportError | RuntimeError) or _of_a_library(error):
        return _tell(f"the machine: {words}; {_TRACEBACK}", 1)
    return _tell(f"a defect of kmatch: {type(error).__name__}: {words}; {_TRACEBACK}", 1)


def _words(error):
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    return str(error).rstrip(".") or type(error).__name__


def _of_a_library(error):
    """Whether an error was raised in what kmatch is compiled with, not in kmatch."""
    traceback = error.__traceback__
    while traceback.tb_next:
        traceback = traceback.tb_next
    module = traceback.tb_frame.f_globals.get("__name__", "")
    return module.partition(".")[0] in _LIBRARIES


def _tell(message, status):
    from kmatch.cli.messages import one_line

    if sys.stderr is not None:
        print(f"kmatch: error: {one_line(message)}", file=sys.stderr)
    return status
