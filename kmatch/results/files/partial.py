"""A file under a temporary name beside its final one, until it is whole."""

import os
import re
import secrets
import stat
from contextlib import suppress

from kmatch import interrupts

try:
    import fcntl
except ImportError:  # on Windows
    fcntl = None  # type: ignore[assignment]

_SUFFIX = ".{}.partial"
_DIGITS = 8  # hexadecimal ones, of which no two runs choose the same
_LONGEST = 255  # bytes of a file name, where the file system gives no limit


class PartialFile:
    """A new file that replaces `path` when it is whole; `descriptor` is open for writing.

    It is locked while a process writes it: an unlocked one was left by a killed process, and is
    removed when the same path is written next. It has the mode and, as far as that may be given,
    the owner of the file that it replaces. Raises OSError.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        folder, stem = _stem(path)
        _clear(folder, stem)
        before = _regular(path)
        while True:
            self.name = os.path.join(folder, stem + _SUFFIX.format(secrets.token_hex(_DIGITS // 2)))
            self.descriptor = self._create(before)
            # Another run may have taken it for one that was left, in the moment before the lock.
            if _lock(self.descriptor, wait=True) is None or _is_at(self.name, self.descriptor):
                return
            os.close(self.descriptor)

    def _create(self, before: os.stat_result | None) -> int:
        interrupts.unfinished.add(self.name)
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0)
        try:
            descriptor = os.open(self.name, flags, 0o666 if before is None else 0o600)
        except OSError:
            interrupts.unfinished.discard(self.name)
            raise
        if before is not None:
            _take_after(descriptor, before)
        return descriptor

    def rename(self) -> None:
        """Take the final name. Raises OSError, and Interrupted where a signal was missed."""
        interrupts.check()
        os.replace(self.name, self.path)
        interrupts.unfinished.discard(self.name)

    def remove(self) -> None:
        with suppress(OSError):
            os.unlink(self.name)
        interrupts.unfinished.discard(self.name)


def _stem(path: str) -> tuple[str, str]:
    """The folder of a path, and how the names of its partial files begin."""
    folder, name = os.path.split(path)
    longest = _LONGEST
    with suppress(OSError, AttributeError, ValueError):
        longest = os.pathconf(folder or ".", "PC_NAME_MAX")
    most = longest - len(_SUFFIX.format("")) - _DIGITS
    while len(os.fsencode(name)) > most:
        name = name[:-1]
    return folder, name


def _regular(path: str) -> os.stat_result | None:
    with suppress(OSError):
        found = os.stat(path)
        if stat.S_ISREG(found.st_mode):
            return found
    return None


def _take_after(descriptor: int, before: os.stat_result) -> None:
    """Give a new file the owner and the mode of the one that was there before."""
    if not hasattr(os, "fchown"):
        return
    for owner in ((before.st_uid, -1), (-1, before.st_gid)):
        with suppress(OSError):  # only root gives files away
            os.fchown(descriptor, *owner)
    mode = stat.S_IMODE(before.st_mode) & 0o777
    if os.fstat(descriptor).st_gid != before.st_gid:  # another group may do what all may
        mode = mode & 0o707 | (mode & 0o007) << 3
    os.fchmod(descriptor, mode)


def _clear(folder: str, stem: str) -> None:
    """Remove the partial files that runs which were killed have left."""
    ours = re.compile(re.escape(stem + ".") + f"[0-9a-f]{{{_DIGITS}}}" + re.escape(".partial"))
    with suppress(OSError), os.scandir(folder or ".") as entries:
        for name in [entry.name for entry in entries if ours.fullmatch(entry.name)]:
            with suppress(OSError):
                _clear_one(os.path.join(folder, name))


def _clear_one(path: str) -> None:
    found = os.lstat(path)
    if fcntl is None or not stat.S_ISREG(found.st_mode) or found.st_uid != os.geteuid():
        return
    descriptor = os.open(path, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        if _lock(descriptor, wait=False) and _is_at(path, descriptor):
            os.unlink(path)
    finally:
        os.close(descriptor)


def _lock(descriptor: int, wait: bool) -> bool | None:
    """Whether the file is locked now; None where there are no locks. It ends with the process."""
    if fcntl is None:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except BlockingIOError:
        return False
    except OSError:
        return None
    return True


def _is_at(path: str, descriptor: int) -> bool:
    with suppress(OSError):
        return os.path.samestat(os.lstat(path), os.fstat(descriptor))
    return False
