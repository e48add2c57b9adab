"""Processes that compile side by side share out the kernels: each is compiled by who claims it.

A claim is a file in a folder that the processes were given. No two wait for each other: who waits
for a kernel is compiling one that calls it, and no kernel calls itself.
"""

import os
import time
from contextlib import contextmanager, suppress
from pathlib import Path

PATIENCE = 120.0  # seconds; whoever claimed it longer ago has died
PAUSE = 0.01  # seconds between looks at the disk

_shared = []  # the folder of claims, while there is one
_taken = set()  # the paths of this process's claims


@contextmanager
def sharing(folder):
    """While the block runs, share kernels with the processes that were given the same folder."""
    _shared.append(folder)
    try:
        yield
    finally:
        _shared.remove(folder)


def take(name):
    """Whether something is this process's to do, and nobody else's; True without a folder."""
    if not _shared:
        return True
    path = os.path.join(_shared[-1], name)
    if path not in _taken:
        try:
            Path(path).touch(exist_ok=False)
        except FileExistsError:
            return False
        except OSError:  # the folder is gone, or the disk full: then each does all
            return True
        _taken.add(path)
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
        if _age(name) > PATIENCE:
            return None
        found = look()
        if found is not None:
            return found
        time.sleep(PAUSE)
    return None


def _age(name):
    try:
        return time.time() - os.stat(os.path.join(_shared[-1], name)).st_mtime
    except OSError:
        return 0.0
