"""Processes that compile side by side share out the kernels: each is compiled by who claims it.

A claim is a file in a folder that the processes were given. No two wait for each other: who waits
for a kernel is compiling one that calls it, and no kernel calls itself.
"""

import os
import time
from contextlib import contextmanager, suppress

try:
    from fcntl import LOCK_EX, LOCK_NB, LOCK_SH, flock
except ImportError:  # Windows
    flock = None

PATIENCE = 120.0  # seconds, where no lock tells whether who claimed a kernel still lives
PAUSE = 0.01  # seconds between looks at the disk

_shared = []  # the folder of claims, while there is one
_taken = {}  # this process's claims by path, as open files: their locks end with the process


@contextmanager
def sharing(folder):
    """While the block runs, share kernels with the processes that were given the same folder."""
    _shared.append(folder)
    try:
        yield
    finally:
        _shared.remove(folder)
        for path in [path for path in _taken if os.path.dirname(path) == folder]:
            _taken.pop(path).close()


def take(name):
    """Whether something is this process's to do, and nobody else's; True without a folder."""
    if not _shared:
        return True
    path = os.path.join(_shared[-1], name)
    if path not in _taken:
        try:
            file = _taken[path] = open(path, "x")  # noqa: SIM115  open as long as the process lives
        except FileExistsError:
            return False
        except OSError:  # the folder is gone, or the disk full: then each does all
            return True
        with suppress(OSError):
            if flock:
                flock(file, LOCK_EX | LOCK_NB)
    return True


def give_up(name):
    """Let others take what this process took and could not do."""
    if _shared:
        with suppress(OSError):
            os.unlink(os.path.join(_shared[-1], name))


def await_other(name, look):
    """What look() gives once it gives something, or None when `name` is this process's to do.

    look: gives None as long as the process that took `name` has not done it.
    """
    while not take(name):
        found = look()
        if found is not None or _abandoned(name):
            return found
        time.sleep(PAUSE)
    return None


def _abandoned(name):
    """Whether the process that took a name has died, as far as can be told."""
    try:
        with open(os.path.join(_shared[-1], name)) as file:
            if flock:
                flock(file, LOCK_SH | LOCK_NB)
                return True
            return time.time() - os.fstat(file.fileno()).st_mtime > PATIENCE
    except (BlockingIOError, FileNotFoundError):
        return False
    except OSError:
        return True
