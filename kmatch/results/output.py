"""Where results go: standard output, or a file that is either whole or absent."""

import errno
import io
import os
import stat
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from typing import Any, Self

from kmatch import interrupts
from kmatch.errors import ClosedPipe, OutputError

Path = str | os.PathLike[str]
STANDARD = "standard output"
COMPRESSED = ("gz", "zst")  # suffixes of names
NOTHING = {"zst": b"\x28\xb5\x2f\xfd\x20\x00\x01\x00\x00"}  # compressed, which xopen leaves out


@contextmanager
def open_output(path: Path | None = None) -> Iterator[Any]:  # a NamedHandle
    """Give a binary handle for standard output (path None or `-`) or for a file.

    A file is written under a temporary name and renamed when the block ends well; otherwise
    nothing is left of it. It has the mode and, as far as that may be given, the owner of the file
    that it replaces. `.gz`, which is BGZF, and `.zst` in the name compress. Devices and pipes are
    written to as they are. Raises OutputError where opening, writing or closing fails, ClosedPipe
    where nobody reads the pipe any more. Other errors of the block pass through.
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
    elif str(path).endswith(os.sep):
        raise OutputError(f"{path}: this names a folder; name a file in it")
    elif is_special(path):
        with writing(str(path)):
            raw = open(path, "wb")  # noqa: SIM115
        with NamedHandle(raw, str(path)) as handle:
            yield handle
    else:
        with _whole_file(os.path.realpath(path), str(path)) as handle:
            yield handle


@contextmanager
def open_outputs(path: Path | None, *others: Path | None) -> Iterator[list[Any]]:
    """Give handles as `open_output` does, also for others that are not None.

    Where one fails, none gets its final name.
    """
    paths = [path, *(other for other in others if other is not None)]
    with ExitStack() as stack:
        handles = [stack.enter_context(open_output(each)) for each in paths]
        yield handles
        for handle in handles:
            handle.flush()


def is_standard_output(path: Path) -> bool:
    """Return whether a path is standard output by another name.

    /dev/stdout may be a file that is being appended to, and opening it would cut it.
    """
    with suppress(OSError, AttributeError, ValueError):
        return os.path.samestat(os.stat(path), os.fstat(sys.stdout.fileno()))
    return False


def is_special(path: Path) -> bool:
    """Return whether a path exists and is no regular file."""
    with suppress(OSError, ValueError):
        return not stat.S_ISREG(os.stat(path).st_mode)
    return False


@contextmanager
def _whole_file(path: str, label: str) -> Iterator["NamedHandle"]:
    folder = os.path.dirname(path)
    shown = os.path.dirname(label) or "."
    advice = "" if os.path.isdir(shown) else f"; make the folder {shown} first"
    partial = os.path.join(folder, f"kmatch-{os.urandom(8).hex()}.partial")
    interrupts.unfinished.add(partial)
    try:
        with ExitStack() as stack:
            with writing(label, advice):
                raw = _create(partial, path)
            handle = stack.enter_context(NamedHandle(raw, label))
            kind = kind_of(label)
            if kind in COMPRESSED:
                with writing(label):
                    packed = compressor(raw, kind)
                handle = stack.enter_context(NamedHandle(packed, label))
            yield handle
        with writing(label):
            complete(partial, kind)
            os.replace(partial, path)
    finally:
        with suppress(OSError):
            os.unlink(partial)
        interrupts.unfinished.discard(partial)


def kind_of(path: str) -> str:
    """Return the last suffix of a name, which may say how a file is compressed."""
    return os.path.splitext(path.lower())[1].removeprefix(".")


def complete(path: str, kind: str) -> None:
    """Write the header that a compressed file without any bytes lacks, so that it can be read."""
    if kind in NOTHING and not os.path.getsize(path):
        with open(path, "wb") as handle:
            handle.write(NOTHING[kind])


def compressor(raw: Any, kind: str) -> Any:
    """Return a handle that compresses to a binary one: `gz`, in blocks of BGZF, or `zst`."""
    if kind == "gz":
        from kmatch.results.bgzf import BlockedGzip

        return BlockedGzip(raw)
    from xopen import xopen

    return xopen(raw, "wb", threads=0, format=kind)


def _create(name: str, path: str) -> io.BufferedWriter:
    """Open a new file for writing, with the owner and the mode of the one at `path`."""
    before = None
    with suppress(FileNotFoundError):
        before = os.stat(path)
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
    descriptor = os.open(name, flags, 0o666 if before is None else 0o600)
    if before is not None:
        for owner in ((before.st_uid, -1), (-1, before.st_gid)):
            with suppress(OSError):  # only root gives files away
                os.fchown(descriptor, *owner)
        mode = stat.S_IMODE(before.st_mode) & 0o777
        if os.fstat(descriptor).st_gid != before.st_gid:  # another group may do what all may
            mode = mode & 0o707 | (mode & 0o007) << 3
        os.fchmod(descriptor, mode)
    return os.fdopen(descriptor, "wb")


@contextmanager
def writing(label: str, advice: str = "") -> Iterator[None]:
    """Turn an OSError of the block into an OutputError that names the output.

    advice: for the user, after the reason. Raises ClosedPipe where nobody reads any more.
    """
    try:
        yield
    except OSError as error:
        reason = f"{label}: cannot be written: {error.strerror or error}"
        if isinstance(error, BrokenPipeError):
            raise ClosedPipe(reason) from error
        if isinstance(error, IsADirectoryError):
            advice = "; give a file in it"
        raise OutputError(reason + advice) from error


class NamedHandle:
    """A binary handle for writing, whose failures are OutputErrors that name it.

    As a context it is closed in the end; where the block fails, that is reported.
    """

    def __init__(self, handle: Any, label: str) -> None:
        self._handle = handle
        self._label = label

    def write(self, data: Any) -> int:
        """Write all of some bytes, also to a stream without a buffer; returns how many."""
        left = memoryview(data).cast("B")
        size = len(left)
        with writing(self._label):
            while left:
                written = self._handle.write(left)
                if written is None:
                    raise BlockingIOError(errno.EAGAIN, os.strerror(errno.EAGAIN))
                left = left[written:]
        return size

    def flush(self) -> None:
        with writing(self._label):
            self._handle.flush()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, failed: Any, *more: Any) -> None:
        with suppress(Exception) if failed else writing(self._label):
            self._handle.close()
