"""Compiled kernels on disk: a file each, in a folder named by the digest of their sources.

Processes that want the same kernel at once have one of them compile it.
"""

import fcntl
import hashlib
import os
import re
import secrets
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import llvmlite
from llvmlite import binding

from kmatch import __version__
from kmatch.errors import KmatchWarning

PACKAGE = Path(__file__).parents[1]
BESIDE = PACKAGE / "__pycache__"
NAME = re.compile(r"kmatch-[0-9a-f]{24}")
SUFFIXES = (".kernel", ".part", ".lock")

# What kernels come from: these, and each file that contains one of MAKERS, which make kernels.
# Tests check that no kernel and nothing that kernels import is left out.
SOURCES = (
    *("engine/", "jit/", "published/cpu/", "published/cuda/"),
    *("__init__.py", "arrays.py", "errors.py", "interrupts.py", "threads.py"),
)
MAKERS = (
    *(b"@kernel", b"@kept_kernel", b"@parallel_kernel", b"@inlined"),
    *(b"import numba", b"from numba"),
)

# Settings of Numba's: kernels that were compiled with other values are other kernels.
SETTINGS = (
    *("OPT", "LOOP_VECTORIZE", "SLP_VECTORIZE", "DEBUGINFO"),
    *("CPU_NAME", "CPU_FEATURES", "BOUNDSCHECK"),
)

MONTH = 30 * 86400  # after which a folder for other sources or versions is removed
CHECK = 32  # bytes of the digest before a kernel
PAUSE = 0.02  # seconds between looks at the disk
RECENT = 1.0  # seconds that a process without Numba leaves to one that has just compiled

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
                if entry.name.endswith(".py"):
                    with open(entry.path, "rb", buffering=0) as handle:
                        content = handle.read()
                    if path.startswith(SOURCES) or any(each in content for each in MAKERS):
                        yield path, content
                elif entry.name != "__pycache__" and entry.is_dir():
                    folders.append(path + "/")


def digest(*versions: str, package: Path = PACKAGE) -> str:
    """24 hexadecimal digits that change with any kernel source and any version.

    Every process reads the sources, which takes 2 ms: times and sizes do not suffice, since an
    installer may set the times, and sizes may stay the same.
    """
    summary = hashlib.blake2b("\0".join(versions).encode(), digest_size=12)
    for path, content in sorted(kernel_sources(package)):
        summary.update(b"\0%b\0%d\0" % (path.encode(), len(content)))
        summary.update(content)
    return summary.hexdigest()


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
    """The name of the folders for the sources as they are at the first call."""
    return _folder_name()


def _folder_name() -> str:
    """It changes with the sources, the versions, the processor, and what Numba's environment
    variables change in all kernels."""
    settings = (os.environ.get(f"NUMBA_{name}", "") for name in SETTINGS)
    processor = binding.get_host_cpu_name(), binding.get_host_cpu_features().flatten()
    versions = __version__, sys.implementation.cache_tag or "", _numba(), llvmlite.__version__
    return f"kmatch-{digest(*versions, *processor, *settings)}"


def _numba() -> str:
    """The file that says Numba's version, read without an import."""
    found = find_spec("numba")
    file = Path(found.origin).with_name("_version.py") if found and found.origin else Path()
    return file.read_text() if file.is_file() else ""


@cache
def _base() -> Path:
    """Where folders of kernels are made: NUMBA_CACHE_DIR, or else the first that is writable of
    the package's own folder and the user's cache.

    Where neither is, the package's own, so that the first attempt to keep a kernel there says so.
    """
    if named := os.environ.get("NUMBA_CACHE_DIR"):
        return Path(named)
    with suppress(RuntimeError):  # a user without a home
        home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "kmatch"
        if not _writable(BESIDE) and _writable(home):
            return home
    return BESIDE


def _writable(folder: Path) -> bool:
    while not folder.exists() and folder != folder.parent:
        folder = folder.parent
    return os.access(folder, os.W_OK)


def _sweep(new: Path) -> None:
    """Remove the folders beside a new one that have names like ours and are long out of use; a
    file that kmatch did not write stays, and its folder too."""
    with suppress(OSError):
        for folder in list(os.scandir(new.parent)):
            ours = NAME.fullmatch(folder.name) and folder.is_dir(follow_symlinks=False)
            if not ours or time.time() - folder.stat().st_mtime < MONTH:
                continue
            for file in os.scandir(folder):
                if file.name.endswith(SUFFIXES):
                    os.unlink(file.path)
            with suppress(OSError):
                os.rmdir(folder)


# Kernels as files, used only if they are whole.


def find_or_make(file: str, key: str, make: Callable[[], bytes]) -> bytes:
    """The object kept in a file under a key, made by make() where there is none, and then kept.

    Of processes that want it at once one makes it, and the others wait. What make() raises is
    raised here.
    """
    if (found := find(file, key)) is not None:
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


def find(file: str, key: str) -> bytes | None:
    """The object kept in a file of any of the folders under a key."""
    for folder in kernel_folders():
        mark_used(str(folder))
        if (found := read(folder / file, key)) is not None:
            return found
    return None


def keep(file: str, key: str, content: bytes) -> None:
    """Keep what was compiled, with a warning where that fails; not where an upgrade has come while
    this process ran."""
    own = own_folder()
    try:
        open_folder(own)
        if _folder_name() == own.name:
            write(own / file, key, content)
    except OSError as error:
        if not _warned:  # once a process: what fails for one kernel fails for each
            _warned.add(str(own))
            warnings.warn(
                f"{own}: compiled kernels cannot be kept there: {error.strerror or error}; each "
                "process compiles them again; name another folder in NUMBA_CACHE_DIR",
                KmatchWarning,
                stacklevel=2,
            )


def read(path: Path, key: str) -> bytes | None:
    """The object kept whole in a file under a key; None where there is none."""
    try:
        content = path.read_bytes()
    except OSError:
        return None
    kept = content[CHECK:]
    said = key.encode() + b"\n"
    whole = content[:CHECK] == _check(kept) and kept.startswith(said)
    return kept[len(said) :] if whole else None


def write(path: Path, key: str, content: bytes) -> None:
    """Keep an object in a file, in place of any other. An OSError leaves no file behind."""
    kept = key.encode() + b"\n" + content
    part = path.with_name(f"{path.name}.{secrets.token_hex(8)}.part")
    try:
        part.write_bytes(_check(kept) + kept)
        part.replace(path)
    except BaseException:
        with suppress(OSError):
            part.unlink()
        raise


def short(key: str) -> str:
    """A short name for a key."""
    return hashlib.blake2b(key.encode(), digest_size=12).hexdigest()


def _check(content: bytes) -> bytes:
    return hashlib.blake2b(content, digest_size=CHECK).digest()


@contextmanager
def _claim(path: Path) -> Iterator[Callable[[], bool]]:
    """Yield a function that says whether this process is to make a file, or another one does.

    A lock ends with its process; one that is stopped does not count. A process without Numba
    leaves the next kernel to one that has just compiled another.
    """
    lock, latest = path.with_name(f"{path.name}.lock"), path.with_name("latest.lock")
    ours = False

    def is_ours() -> bool:
        nonlocal ours
        if "numba" not in sys.modules and _age(latest) < RECENT:
            return False
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return _is_stopped(lock)
        os.ftruncate(file, os.write(file, b"%d" % os.getpid()))
        ours = True
        return True

    try:
        file = os.open(lock, os.O_CREAT | os.O_WRONLY)
    except OSError:
        yield lambda: True
        return
    try:
        yield is_ours
    finally:
        if ours:
            with suppress(OSError):
                latest.touch()
                lock.unlink()
        os.close(file)


def _age(path: Path) -> float:
    """Seconds since a file was touched, many where there is none."""
    with suppress(OSError):
        return time.time() - path.stat().st_mtime
    return MONTH


def _is_stopped(lock: Path) -> bool:
    """Whether the process that holds a lock is stopped, where the system shows that."""
    with suppress(OSError, IndexError):
        state = Path("/proc", lock.read_text(), "stat").read_text().rpartition(")")[2]
        return state.split()[0] in "Tt"
    return False
