"""Compiled kernels on disk: a file each, in a folder named by the digest of their sources."""

import hashlib
import os
import pickle
import re
import secrets
import stat
import sys
import tempfile
import time
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple, TextIO, TypeVar

import llvmlite
import numba

from kmatch import __version__

PACKAGE = Path(__file__).parents[1]

# Folders and files above the engine: a file there counts only if it contains one of MAKERS, which
# make kernels. All other files count. Tests check that no kernel and nothing that kernels import is
# left out.
HOST = {"bench", "packed", "results", "search", "sequences"}
HOST |= {"__main__.py", "api.py", "cluster.py", "genome.py"}
HOST |= {"jit/rehearsal.py", "published/registry.py", "published/search.py"}
KERNEL_FREE = {"cli", "pictures"}
MAKERS = (b"@kernel", b"@parallel_kernel", b"@inlined", b"import numba", b"from numba")


def kernel_sources(package: Path = PACKAGE) -> Iterator[tuple[str, bytes]]:
    """Yield (path, content) of all files that a kernel's code can come from, in any order.

    The path is relative to the package, with `/` between its parts.
    """
    folders = [""]
    while folders:
        folder = folders.pop()
        with os.scandir(os.path.join(package, folder)) as entries:
            for entry in entries:
                path = folder + entry.name
                host = not HOST.isdisjoint((path, path.partition("/")[0]))
                if entry.name.endswith(".py"):
                    with open(entry.path, "rb", buffering=0) as handle:
                        content = handle.read()
                    if not host or any(maker in content for maker in MAKERS):
                        yield path, content
                elif path not in KERNEL_FREE and entry.name != "__pycache__" and entry.is_dir():
                    folders.append(path + "/")


def digest(*versions: str, package: Path = PACKAGE) -> str:
    """24 hexadecimal digits that change with any kernel source and any version.

    The sources are those at the first call. Every process reads them all, which takes 2 ms: times
    and sizes do not suffice, since an installer may set the times, and sizes may stay the same.
    """
    summary = _sources(package).copy()
    summary.update("\0".join(versions).encode())
    return summary.hexdigest()


def unchanged(package: Path = PACKAGE) -> bool:
    """Whether the sources are still those at the first call of `digest`."""
    return _sources(package).digest() == _read(package).digest()


@cache
def _sources(package: Path) -> "hashlib.blake2b":
    return _read(package)


def _read(package: Path) -> "hashlib.blake2b":
    summary = hashlib.blake2b(digest_size=12)
    for path, content in sorted(kernel_sources(package)):
        summary.update(b"%b\0%d\0" % (path.encode(), len(content)))
        summary.update(content)
    return summary


# The folders of compiled kernels, each named by a digest of the kernels' sources.


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


# Compiled kernels as files: one for each kernel and signature, used only if it is whole.


MARK = b"kmatch kernel 1\n"
CHECK = 32  # bytes of the digest that follows the mark


class DamagedFile(Exception):
    """A file differs from what was written."""


class KernelFiles(NamedTuple):
    """The files of one kernel, in one folder; their names begin with `name`.

    dump: makes bytes that pickle can load. There is no index of signatures as Numba writes it: two
    processes that write at once can leave one that points at the wrong code.
    """

    folder: str
    name: str
    dump: Callable[[object], bytes]

    def load(self, key: Hashable) -> Any:
        """The data saved under a key, or None. Raises DamagedFile."""
        path = self.path(key)
        try:
            with open(path, "rb") as handle:
                content = handle.read()
        except OSError:
            return None
        begin = len(MARK) + CHECK
        kept = memoryview(content)[begin:]
        if content[:begin] != MARK + _check(kept):
            raise DamagedFile(path)
        try:
            found, data = pickle.loads(kept)
        except Exception as error:  # pickle's failures are of many classes
            raise DamagedFile(path) from error
        return data if found == key else None

    def save(self, key: Hashable, data: object) -> None:
        """Save data under a key, in place of any older data. An OSError leaves no file behind."""
        kept = self.dump((key, data))
        path = self.path(key)
        part = f"{path}.{secrets.token_hex(8)}.part"
        try:
            with open(part, "xb") as handle:
                handle.write(MARK + _check(kept))
                handle.write(kept)
            os.replace(part, path)
        except BaseException:
            with suppress(OSError):
                os.unlink(part)
            raise

    def path(self, key: Hashable) -> str:
        """The file of a key, which Numba makes of signature, processor and the function's code."""
        return os.path.join(self.folder, self.file_name(key))

    def file_name(self, key: Hashable) -> str:
        """The file's name in the folder."""
        short = hashlib.blake2b(repr(key).encode(), digest_size=12).hexdigest()
        return f"{self.name}.{short}.kernel"


def _check(content: bytes | memoryview) -> bytes:
    return hashlib.blake2b(content, digest_size=CHECK).digest()


# Processes that compile at the same time share the kernels: the first to claim one compiles it.
#
# A claim is a file in a folder that all these processes know. Claims cannot deadlock: a process
# that waits for a kernel is compiling one that calls it, and no kernel calls itself.


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
