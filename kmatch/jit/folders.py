"""Compiled kernels on disk: a file each, in a folder named by the digest of their sources.

Processes that want the same kernel at once have one of them compile it.
"""

import hashlib
import os
import re
import secrets
import stat
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from threading import Event, Thread
from typing import Any

from llvmlite import binding

from kmatch import __version__
from kmatch.errors import KmatchWarning

fcntl: Any  # None on Windows

try:
    import fcntl
except ImportError:
    fcntl = None

PACKAGE = Path(__file__).parents[1]
BESIDE = PACKAGE / "__pycache__"
NAME = re.compile(r"kmatch-[0-9a-f]{24}")
SUFFIXES = (".kernel", ".part", ".lock", ".lcs", ".nbi", ".nbc")  # of files of kmatch and Numba

# Folders and files above the engine: a file there counts only if it contains one of MAKERS, which
# make kernels. All other files count. Tests check that no kernel and nothing that kernels import is
# left out.
HOST = {"bench", "packed", "results", "search", "sequences"}
HOST |= {"__main__.py", "api.py", "cluster.py", "genome.py"}
HOST |= {"jit/rehearsal.py", "published/registry.py", "published/search.py"}
KERNEL_FREE = {"cli", "pictures"}
MAKERS = (
    b"@kernel",
    b"@kept_kernel",
    b"@parallel_kernel",
    b"@inlined",
    b"import numba",
    b"from numba",
)

# Settings of Numba's: kernels that were compiled with other values are other kernels.
SETTINGS = (
    "OPT",
    "LOOP_VECTORIZE",
    "SLP_VECTORIZE",
    "DEBUGINFO",
    "CPU_NAME",
    "CPU_FEATURES",
    "BOUNDSCHECK",
)

# A folder for other sources or versions is removed a month after its last use; where there are more
# than FEW newer ones, a day after it. A process that still used it would only compile again.
MONTH, DAY = 30 * 86400, 86400
FEW = 4

MARK = b"kmatch kernel 2\n"
CHECK = 32  # bytes of the digest that follows the mark

PAUSE = 0.02  # seconds between looks at the disk
BEAT = 0.5  # seconds between signs of life of a process that compiles
PATIENCE = 4 * BEAT  # seconds without one, after which others compile too

_warned: set[str] = set()


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
    """The name of the folders for the sources, as they are at the first call, the versions, the
    processor, and what Numba's environment variables change in all kernels."""
    settings = (os.environ.get(f"NUMBA_{name}", "") for name in SETTINGS)
    processor = binding.get_host_cpu_name(), binding.get_host_cpu_features().flatten()
    versions = (__version__, sys.implementation.cache_tag, *map(_version, ("numba", "llvmlite")))
    return f"kmatch-{digest(*versions, *processor, *settings)}"


def _version(package: str) -> str:
    """What says an installed package's version, read without an import."""
    found = find_spec(package)
    folder = Path(found.origin).parent if found and found.origin else Path()
    files = (folder / "_version.py", folder / "__init__.py")
    return next((file.read_text() for file in files if file.is_file()), "")


@cache
def _base() -> Path:
    """Where folders of kernels are made: NUMBA_CACHE_DIR, or else the first that is writable of
    the package's own folder, the user's cache, and a private folder for temporary files.

    Where none is, the package's own, so that the first attempt to keep a kernel there says so.
    """
    if named := os.environ.get("NUMBA_CACHE_DIR"):
        return Path(named)
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


# Kernels as files, used only if they are whole.


def find_or_make(file: str, key: str, make: Callable[[], bytes]) -> bytes:
    """The object kept in a file under a key, made by make() where there is none, and then kept.

    Of processes that want it at once one makes it, and the others wait as long as it shows signs of
    life. What make() raises is raised here.
    """
    for folder in kernel_folders():
        mark_used(str(folder))
        if (found := read(folder / file, key)) is not None:
            return found
    path = own_folder() / file
    with suppress(OSError):
        open_folder(path.parent)
    with _claim(path) as is_ours:
        while not is_ours():
            if (found := read(path, key)) is not None:
                return found
            time.sleep(PAUSE)
        if (found := read(path, key)) is not None:
            return found
        made = make()
        keep(file, key, made)
        return made


def keep(file: str, key: str, content: bytes) -> None:
    """Keep what was compiled, with a warning where that fails; not where an upgrade has come while
    this process ran."""
    own = own_folder()
    try:
        open_folder(own)
        if unchanged():
            write(own / file, key, content)
    except OSError as error:
        warn_once(
            "keeping",
            f"{own}: compiled kernels cannot be kept there: {error.strerror or error}; each "
            "process compiles them again; name another folder in NUMBA_CACHE_DIR",
        )


def read(path: Path, key: str) -> bytes | None:
    """The object kept in a file under a key; None where there is none. A damaged one is removed."""
    try:
        content = path.read_bytes()
    except OSError:
        return None
    begin = len(MARK) + CHECK
    said = key.encode() + b"\n"
    kept = content[begin:]
    if content[:begin] == MARK + _check(kept) and kept.startswith(said):
        return kept[len(said) :]
    warn_once("damage", f"{path}: a compiled kernel was damaged; it is compiled again")
    with suppress(OSError):
        path.unlink()
    return None


def write(path: Path, key: str, content: bytes) -> None:
    """Keep an object in a file, in place of any other. An OSError leaves no file behind."""
    kept = key.encode() + b"\n" + content
    part = path.with_name(f"{path.name}.{secrets.token_hex(8)}.part")
    try:
        part.write_bytes(MARK + _check(kept) + kept)
        part.replace(path)
    except BaseException:
        with suppress(OSError):
            part.unlink()
        raise


def short(key: str) -> str:
    """A short name for a key."""
    return hashlib.blake2b(key.encode(), digest_size=12).hexdigest()


def warn_once(subject: str, message: str) -> None:
    """Warn of a subject once a process: what fails for one kernel fails for each."""
    if subject not in _warned:
        _warned.add(subject)
        warnings.warn(message, KmatchWarning, stacklevel=2)


def _check(content: bytes) -> bytes:
    return hashlib.blake2b(content, digest_size=CHECK).digest()


@contextmanager
def _claim(path: Path) -> Iterator[Callable[[], bool]]:
    """Yield a function that says whether this process is to make a file, or the one to do so lives.

    A lock ends with its process; one that is stopped gives no signs of life. A process without
    Numba leaves the next kernel to one that has just compiled another.
    """
    lock, seen = path.with_name(f"{path.name}.lock"), path.parent / "compiled.lock"
    ended = Event()

    def beat() -> None:
        while not ended.wait(BEAT):
            with suppress(OSError):
                os.utime(lock)

    try:
        file = open(lock, "a")  # noqa: SIM115
    except OSError:
        yield lambda: True
        return
    with file:

        def is_ours() -> bool:
            if fcntl is None:
                return True
            if "numba" not in sys.modules and _age(seen) < 2 * BEAT:
                return False
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                return _age(lock) > PATIENCE
            if not beating.is_alive():
                os.utime(lock)
                beating.start()
            return True

        beating = Thread(target=beat, daemon=True)
        try:
            yield is_ours
        finally:
            if beating.is_alive():
                ended.set()
                with suppress(OSError):
                    seen.touch()
                    lock.unlink()


def _age(path: Path) -> float:
    """Seconds since a file was touched, many where there is none."""
    try:
        return time.time() - path.stat().st_mtime
    except OSError:
        return PATIENCE * 2
