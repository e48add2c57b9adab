"""The folders of compiled kernels, each named by a digest of the kernels' sources."""

import os
import re
import stat
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path

import llvmlite
import numba

from kmatch import __version__
from kmatch.jit.sources import PACKAGE, digest

BESIDE = PACKAGE / "__pycache__"
NAME = re.compile(r"kmatch-[0-9a-f]{24}")
SUFFIXES = (".kernel", ".part", ".lcs", ".nbi", ".nbc")  # of the files that kmatch and Numba write

# Of numba.config: kernels that were compiled with other values are other kernels.
SETTINGS = ("BOUNDSCHECK", "DEBUGINFO_DEFAULT", "OPT", "LOOP_VECTORIZE", "SLP_VECTORIZE")

# A folder for other sources or versions is removed a month after its last use; where there are more
# than FEW newer ones, a day after it. A process that still used it would only compile again.
MONTH, DAY = 30 * 86400, 86400
FEW = 4


def own_folder() -> Path:
    """The folder for this user's kernels, which is searched first and written to."""
    return _base() / folder_name()


def kernel_folders() -> list[Path]:
    """That folder, and the one beside the package, which an installer can fill for all users."""
    return list(dict.fromkeys([own_folder(), BESIDE / folder_name()]))


def open_folder(folder: Path) -> None:
    """Make a folder of kernels unless it exists, and remove old ones beside it.

    Raises OSError where it cannot be made.
    """
    if not folder.is_dir():
        folder.mkdir(parents=True, exist_ok=True)
        _sweep(folder)


@cache
def mark_used(folder: str) -> None:
    """Set a folder's time, once a process, to show that its kernels are in use."""
    with suppress(OSError):
        os.utime(folder)


def nothing_compiled() -> bool:
    """Whether no kernel of these sources and versions has been compiled yet."""
    return not any(any(_kernels(folder)) for folder in kernel_folders())


def measure(folder: Path) -> tuple[int, int]:
    """The number of compiled kernels in a folder, and their bytes."""
    sizes = []
    for entry in _kernels(folder):
        with suppress(OSError):  # another process may remove it
            sizes.append(entry.stat().st_size)
    return len(sizes), sum(sizes)


def _kernels(folder: Path) -> Iterator[os.DirEntry[str]]:
    with suppress(OSError), os.scandir(folder) as entries:
        yield from (entry for entry in entries if entry.name.endswith(".kernel"))


@cache
def folder_name() -> str:
    """The name of the folders for the sources, as they are at the first call, the versions, and
    what Numba's environment variables change in all kernels."""
    settings = (f"{name}={getattr(numba.config, name, None)}" for name in SETTINGS)
    return f"kmatch-{digest(__version__, numba.__version__, llvmlite.__version__, *settings)}"


@cache
def _base() -> Path:
    """Where folders of kernels are made: NUMBA_CACHE_DIR, or else the first that is writable of
    the package's own folder, the user's cache, and a private folder for temporary files.

    Where none is, the package's own, so that the first attempt to keep a kernel there says so.
    """
    if numba.config.CACHE_DIR:
        return Path(numba.config.CACHE_DIR)
    if _writable(BESIDE):
        return BESIDE
    with suppress(RuntimeError):  # a user without a home
        home = _user_cache() / "kmatch"
        if _writable(home):
            return home
    user = os.getuid() if hasattr(os, "getuid") else 0
    try:
        return Path(_private_folder(Path(tempfile.gettempdir()) / f"kmatch-{user}", user))
    except OSError:  # no folder for temporary files either
        return BESIDE


def _user_cache() -> Path:
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches"
    if os.name == "nt":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home())
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")


def _writable(folder: Path) -> bool:
    while not folder.exists() and folder != folder.parent:
        folder = folder.parent
    return os.access(folder, os.W_OK)


def _private_folder(path: Path, user: int) -> str:
    """A folder of this user alone, where everybody may write: what it contains is executed."""
    try:
        path.mkdir(mode=0o700, exist_ok=True)
        found = path.lstat()
    except OSError:
        return tempfile.mkdtemp(prefix="kmatch-")
    ours = stat.S_ISDIR(found.st_mode) and found.st_uid == user and not found.st_mode & 0o022
    return str(path) if ours else tempfile.mkdtemp(prefix="kmatch-")


def _sweep(new: Path) -> None:
    """Remove the folders beside a new one that have names like ours and are long out of use."""
    now, others = time.time(), []
    with suppress(OSError), os.scandir(new.parent) as entries:
        for entry in entries:
            ours = NAME.fullmatch(entry.name) and entry.is_dir(follow_symlinks=False)
            if ours and entry.name != new.name:
                others.append((now - entry.stat().st_mtime, entry.path))
    for newer, (age, path) in enumerate(sorted(others)):
        if age > MONTH or (age > DAY and newer >= FEW):
            _remove(path)


def _remove(folder: str) -> None:
    """Remove a folder of kernels; a file that kmatch did not write stays, and the folder too."""
    with suppress(OSError):
        for entry in os.scandir(folder):
            if entry.name.endswith(SUFFIXES):
                os.unlink(entry.path)
        os.rmdir(folder)
