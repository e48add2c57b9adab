"""The folders that compiled kernels lie in, each named by the digest of what they were made of."""

import os
import re
import stat
import sys
import tempfile
import time
from contextlib import suppress
from functools import cache
from pathlib import Path

import llvmlite
import numba

from kmatch import __version__
from kmatch.jit.sources import PACKAGE, digest

BESIDE = PACKAGE / "__pycache__"
NAME = re.compile(r"kmatch-[0-9a-f]{24}")
SUFFIXES = (".kernel", ".part", ".lcs", ".nbi", ".nbc")  # of the files that are written there

# A folder of other sources or versions is removed a month after its last use, and a day after it
# where newer ones are many. A process that still ran from it would compile again, no worse.
MONTH, DAY = 30 * 86400, 86400
FEW = 4


def own_folder():
    """The folder that this user's kernels are written to and looked for first."""
    return _base() / folder_name()


def kernel_folders():
    """It, and that beside the package, where whoever installed kmatch compiles for all users."""
    return list(dict.fromkeys([own_folder(), BESIDE / folder_name()]))


def open_folder(folder):
    """Make a folder of kernels where there is none, and remove others that nobody uses.

    Raises OSError where it cannot be made.
    """
    if not folder.is_dir():
        folder.mkdir(parents=True, exist_ok=True)
        _sweep(folder)


@cache
def mark_used(folder):
    """Note in a folder's time, once a process, that its kernels are in use."""
    with suppress(OSError):
        os.utime(folder)


def nothing_compiled():
    """Whether no kernel of these sources and versions was compiled yet."""
    return not any(any(_kernels(folder)) for folder in kernel_folders())


def measure(folder):
    """The number of compiled kernels in a folder, and their bytes."""
    sizes = []
    for entry in _kernels(folder):
        with suppress(OSError):  # one that another process removes
            sizes.append(entry.stat().st_size)
    return len(sizes), sum(sizes)


def _kernels(folder):
    with suppress(OSError), os.scandir(folder) as entries:
        yield from (entry for entry in entries if entry.name.endswith(".kernel"))


@cache
def folder_name():
    """The name of the folders for the sources as they are at the first call, and the versions."""
    return f"kmatch-{digest(__version__, numba.__version__, llvmlite.__version__)}"


@cache
def _base():
    """Where folders of kernels are made: as NUMBA_CACHE_DIR says, else the first to be writable.

    These are beside the package, the user's cache, and a private folder for temporary files.
    """
    if numba.config.CACHE_DIR:
        return Path(numba.config.CACHE_DIR)
    if _writable(BESIDE):
        return BESIDE
    home = _user_cache() / "kmatch"
    if _writable(home):
        return home
    user = os.getuid() if hasattr(os, "getuid") else 0
    return Path(_private_folder(Path(tempfile.gettempdir()) / f"kmatch-{user}", user))


def _user_cache():
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches"
    if os.name == "nt":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home())
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")


def _writable(folder):
    while not folder.exists() and folder != folder.parent:
        folder = folder.parent
    return os.access(folder, os.W_OK)


def _private_folder(path, user):
    """A folder in a place where all may write: what lies there is run, so it has to be ours."""
    try:
        path.mkdir(mode=0o700, exist_ok=True)
        found = path.lstat()
    except OSError:
        return tempfile.mkdtemp(prefix="kmatch-")
    ours = stat.S_ISDIR(found.st_mode) and found.st_uid == user and not found.st_mode & 0o022
    return str(path) if ours else tempfile.mkdtemp(prefix="kmatch-")


def _sweep(new):
    """Remove the folders beside a new one that are ours by their names and long out of use."""
    now, others = time.time(), []
    with suppress(OSError), os.scandir(new.parent) as entries:
        for entry in entries:
            ours = NAME.fullmatch(entry.name) and entry.is_dir(follow_symlinks=False)
            if ours and entry.name != new.name:
                others.append((now - entry.stat().st_mtime, entry.path))
    for newer, (age, path) in enumerate(sorted(others)):
        if age > MONTH or (age > DAY and newer >= FEW):
            _remove(path)


def _remove(folder):
    """Remove a folder of kernels; what kmatch did not write there stays, and the folder with it."""
    with suppress(OSError):
        for entry in os.scandir(folder):
            if entry.name.endswith(SUFFIXES):
                os.unlink(entry.path)
        os.rmdir(folder)
