"""Processes that compile at the same time share the kernels: the first to claim one compiles it.

A claim is a file in a folder that all these processes know. Claims cannot deadlock: a process that
waits for a kernel is compiling one that calls it, and no kernel calls itself.
"""

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, TextIO, TypeVar

fcntl: Any  # None on Windows
try:
    import fcntl
except ImportError:
    fcntl = None

PATIENCE = 120.0  # seconds after which a claim is void where there are no locks
PAUSE = 0.01  # seconds between looks at the disk

_shared: list[str] = []  # the folder of claims, while there is one
_taken: dict[str, TextIO] = {}  # this process's claims by path; their locks end with the process
_Found = TypeVar("_Found")


@contextmanager
def sharing(folder: str) -> Iterator[None]:
    """While the block runs, share kernels with the processes that use the same folder."""
    _shared.append(folder)
    try:
        yield
    finally:
        _shared.remove(folder)
        for path in [path for path in _taken if os.path.dirname(path) == folder]:
            _taken.pop(path).close()


def take(name: str) -> bool:
    """Claim a task; whether it is this process's to do. Always True without a folder."""
    if not _shared:
        return True
    path = os.path.join(_shared[-1], name)
    if path not in _taken:
        try:
            file = _taken[path] = open(path, "x")  # noqa: SIM115  open as long as the process lives
        except FileExistsError:
            return False
        except OSError:  # the folder is gone, or the disk full: each process then does all
            return True
        with suppress(OSError):
            if fcntl:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    return True


def give_up(name: str) -> None:
    """Let others take a task that this process claimed and could not do."""
    if _shared:
        with suppress(OSError):
            os.unlink(os.path.join(_shared[-1], name))


def await_other(name: str, look: Callable[[], _Found | None]) -> _Found | None:
    """The first result of look() that is not None, or None where `name` is this process's to do.

    look: returns None until the process that took `name` has done it.
    """
    while not take(name):
        found = look()
        if found is not None or _abandoned(name):
            return found
        time.sleep(PAUSE)
    return None


def _abandoned(name: str) -> bool:
    """Whether the process that took a name has died, as far as this one can see."""
    try:
        with open(os.path.join(_shared[-1], name)) as file:
            if fcntl:
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
                return True
            return time.time() - os.fstat(file.fileno()).st_mtime > PATIENCE
    except (BlockingIOError, FileNotFoundError):
        return False
    except OSError:
        return True
