"""Where results go: standard output, or a file that is either whole or absent."""

import os
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from kmatch.errors import OutputError
from kmatch.results.files.handles import NamedHandle, writing
from kmatch.results.files.partial import PartialFile

Path = str | os.PathLike[str]
STANDARD = "standard output"
_SEPARATORS = (os.sep, os.altsep or os.sep)  # of folders


@contextmanager
def open_output(path: Path | None = None) -> Iterator[Any]:  # a NamedHandle
    """Give a binary handle for standard output (path None or `-`) or for a file.

    A file is written under a temporary name and renamed when the block ends well; otherwise
    nothing is left of it. `.gz` in the name compresses. Devices and pipes are written to as they
    are. Raises OutputError where opening, writing or closing fails, ClosedPipe where nobody reads
    the pipe any more; what else the block raises passes through.
    """
    if path in (None, "-") or is_standard_output(path):
        label = STANDARD if path in (None, "-") else str(path)
        if sys.stdout is None:
            raise OutputError(f"{label}: it is closed; write to a file with -o")
        handle = NamedHandle(sys.stdout.buffer, label)
        yield handle
        handle.flush()
    elif not str(path):
        raise OutputError("the name of the output is empty; give a file, or - for standard output")
    elif str(path).endswith(_SEPARATORS):
        raise OutputError(f"{path}: this names a folder; name a file in it")
    elif is_special(path):
        with writing(str(path)):
            raw = open(path, "wb")  # noqa: SIM115
        with _closed_at_end(NamedHandle(raw, str(path)), raw) as handle:
            yield handle
    else:
        with _whole_file(os.path.realpath(path), str(path)) as handle:
            yield handle


def flush_all(*handles: NamedHandle) -> None:
    """Write what several outputs still buffer: if one fails, none gets its final name."""
    for handle in handles:
        handle.flush()


def is_standard_output(path: Path) -> bool:
    """Whether a path is standard output by another name: /dev/stdout may be a file that is being
    appended to, and opening it would cut it."""
    with suppress(OSError, AttributeError, ValueError):
        return os.path.samestat(os.stat(path), os.fstat(sys.stdout.fileno()))
    return False


def is_special(path: Path) -> bool:
    """Whether a path exists and is no regular file."""
    with suppress(OSError, ValueError):
        return not stat.S_ISREG(os.stat(path).st_mode)
    return False


@contextmanager
def _whole_file(path: str, label: str) -> Iterator[NamedHandle]:
    folder = os.path.dirname(label) or "."
    advice = "" if os.path.isdir(folder) else f"; make the folder {folder} first"
    with writing(label, advice):
        partial = PartialFile(path)
    try:
        # The lock lasts as long as the descriptor does, which the handle must not close.
        raw = os.fdopen(os.dup(partial.descriptor), "wb")
        with _closed_at_end(NamedHandle(raw, label), raw) as handle:
            if label.lower().endswith(".gz"):
                from xopen import xopen

                with writing(label):
                    packed = xopen(raw, "wb", threads=0, format="gz")
                with _closed_at_end(NamedHandle(packed, label), packed) as handle:
                    yield handle
            else:
                yield handle
        with writing(label):
            partial.rename()
    finally:
        partial.remove()
        os.close(partial.descriptor)


@contextmanager
def _closed_at_end(handle: NamedHandle, raw: Any) -> Iterator[NamedHandle]:
    """Close a handle; where the block has failed, that error is reported."""
    try:
        yield handle
        handle.close()
    except BaseException:
        with suppress(Exception):
            raw.close()
        raise
