"""Where results go: standard output, or a file that is either whole or absent."""

import os
import secrets
import stat
import sys
from contextlib import contextmanager, suppress

from kmatch.errors import OutputError


@contextmanager
def open_output(path=None):
    """Give a binary handle for standard output (path None or `-`) or for a file.

    A file is written beside its final place and renamed when the block ends well; otherwise
    nothing is left of it. `.gz` in the name compresses. Devices and pipes are written to as they
    are. Raises OutputError where writing fails; BrokenPipeError passes through.
    """
    label = "standard output" if path in (None, "-") else str(path)
    try:
        if path in (None, "-") or _is_standard_output(path):
            if sys.stdout is None:
                raise OutputError(f"{label}: it is closed; write to a file with -o")
            yield sys.stdout.buffer
            sys.stdout.buffer.flush()
        elif _is_special(path):
            with open(path, "wb") as handle:
                yield handle
        else:
            with _whole_file(os.path.realpath(path), _compresses(path)) as handle:
                yield handle
    except BrokenPipeError:
        raise
    except OSError as error:
        reason = error.strerror or str(error)
        raise OutputError(f"{label}: cannot be written: {reason}{_advice(path)}") from error


def _advice(path):
    folder = os.path.dirname(str(path or "")) or "."
    return f"; make the folder {folder} first" if not os.path.isdir(folder) else ""


def _is_standard_output(path):
    # /dev/stdout may be a file that is being appended to, which opening it would cut.
    with suppress(OSError, AttributeError, ValueError):
        return os.path.samestat(os.stat(path), os.fstat(sys.stdout.fileno()))
    return False


def _is_special(path):
    with suppress(OSError):
        return not stat.S_ISREG(os.stat(path).st_mode)
    return False


def _compresses(path):
    return str(path).lower().endswith(".gz")


@contextmanager
def _whole_file(path, compressed):
    partial = f"{path}.{secrets.token_hex(4)}.partial"
    try:
        with open(partial, "xb") as raw:
            if compressed:
                from xopen import xopen

                with xopen(raw, "wb", threads=0, format="gz") as handle:
                    yield handle
            else:
                yield raw
            raw.flush()
        os.replace(partial, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(partial)
        raise
