"""Compiled kernels on disk: a file each, used if it is whole, in a folder named by the digest of
their sources.

Processes that want the same kernel at once have one of them compile it. Kernels are loaded as code,
so that the folder in the user's caches is private: it belongs to the user, and nobody else looks
into it or writes there.
"""

import errno
import fcntl
import hashlib
import os
import shutil
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import nullcontext, suppress
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import IO

import llvmlite
from llvmlite import binding

from kmatch import __version__
from kmatch.errors import KmatchWarning, OutputError, counted

PACKAGE = Path(__file__).parents[1]
BESIDE = PACKAGE / "__pycache__"
NAMES = "kmatch-" + 24 * "[0-9a-f]"  # of folders

# Where systems keep caches: the variable that names the folder, and the usual one in a home.
CACHES = {"darwin": ("", "Library/Caches"), "win32": ("LOCALAPPDATA", "AppData/Local")}
OTHER_CACHES = ("XDG_CACHE_HOME", ".cache")
PRIVATE = 0o700

# What kernels come from: these files, and all files of these folders. Tests check that no kernel
# and nothing that kernels import is left out.
FILES = ("__init__.py", "arguments.py", "arrays.py", "errors.py", "results/kernels.py")
FOLDERS = ("engine", "engine/cpu", "engine/cuda", "jit", "published/cpu", "published/cuda")

MONTH = 30 * 86400  # after which a folder for other sources or versions is removed
CHECK = 32  # bytes of the digest before a kernel
PAUSE = 0.02  # seconds between looks at the disk, ten times as many for a process without Numba


def digest(*versions: str, package: Path = PACKAGE) -> str:
    """24 hexadecimal digits that change with any kernel source and any version.

    Every process reads the sources, which takes 2 ms: times and sizes do not suffice, since an
    installer may set the times, and sizes may stay the same.
    """
    summary = hashlib.blake2b("\0".join(versions).encode(), digest_size=12)
    for path in kernel_sources(package):
        content = (package / path).read_bytes()
        summary.update(b"\0%b\0%d\0%b" % (path.encode(), len(content), content))
    return summary.hexdigest()


def kernel_sources(package: Path = PACKAGE) -> list[str]:
    """Return the files that a kernel's code can come from, relative to the package."""
    found = [f"{folder}/{name}" for folder in FOLDERS for name in os.listdir(package / folder)]
    return sorted([*FILES, *(path for path in found if path.endswith(".py"))])


@cache
def folder_name() -> str:
    """Return the name of the folders for the versions, the processor, and the sources as they are
    at the first call."""
    versions = __version__, sys.implementation.cache_tag or "", _numba(), llvmlite.__version__
    return f"kmatch-{digest(*versions, *processor())}"


def processor() -> tuple[str, str]:
    """Return LLVM's name of this processor, and its features."""
    return binding.get_host_cpu_name(), binding.get_host_cpu_features().flatten()


def _numba() -> str:
    """Return the file that says Numba's version, read without an import."""
    found = find_spec("numba")
    file = Path(found.origin).with_name("_version.py") if found and found.origin else Path()
    return file.read_text() if file.is_file() else ""


@cache
def kernel_folders() -> list[Path]:
    """Return the folder for this user's kernels, which is searched first and written to, and the
    one beside the package, which an installer can fill for all users.

    The user's is in NUMBA_CACHE_DIR, or else in the user's caches, or without a home beside the
    package.
    """
    named = os.environ.get("NUMBA_CACHE_DIR")
    base = Path(named) if named else user_caches() or BESIDE
    return [each / folder_name() for each in dict.fromkeys([base, BESIDE])]


def user_caches() -> Path | None:
    """Return the folder of kmatch among the user's caches, None for a user without a home."""
    variable, usual = CACHES.get(sys.platform, OTHER_CACHES)
    named = Path(os.environ.get(variable, ""))
    if named.is_absolute():
        return named / "kmatch"
    with suppress(RuntimeError):
        return Path.home() / usual / "kmatch"
    return None


def _make_private(caches: Path) -> None:
    """Make the folder among the user's caches private, once kernels that others may have written
    there are removed. Raises OSError where there is none, and where it is another user's."""
    found = caches.stat()
    if found.st_uid != os.geteuid():
        raise PermissionError(errno.EACCES, "the folder belongs to another user")
    if found.st_mode & 0o022:
        for folder in caches.glob(NAMES):
            shutil.rmtree(folder)
    if found.st_mode & 0o077:
        caches.chmod(PRIVATE)


def _is_safe(folder: Path) -> bool:
    """Return whether the kernels in a folder may be loaded.

    A folder that the user has named is taken as it is, and a folder beside the package as the
    package itself.
    """
    if folder.parent == user_caches():
        try:
            _make_private(folder.parent)
        except OSError:
            return False
    return True


def _open_folder() -> Path:
    """Return the user's folder, made if it has to be.

    When it is made, folders beside it with such a name that are long out of use are removed. Raises
    OSError where it cannot be made, or is not the user's."""
    own = kernel_folders()[0]
    caches = own.parent
    is_users = caches == user_caches()
    caches.mkdir(PRIVATE if is_users else 0o777, parents=True, exist_ok=True)
    if is_users:
        _make_private(caches)
    if not own.is_dir():
        own.mkdir(exist_ok=True)
        for other in own.parent.glob(NAMES):
            with suppress(OSError):  # it is gone meanwhile
                if time.time() - other.stat().st_mtime > MONTH:
                    shutil.rmtree(other)
    return own


def remove_kernels() -> Iterator[str]:
    """Remove the folders for all sources and versions, where they can be; yield each as words.

    Raises OutputError where one cannot be removed.
    """
    for caches in dict.fromkeys(folder.parent for folder in kernel_folders()):
        if not os.access(caches, os.W_OK):  # none, or an installer's
            continue
        for folder in sorted(caches.glob(NAMES)):
            described = describe_kernels(folder)
            try:
                shutil.rmtree(folder)
            except OSError as error:
                reason = error.strerror or str(error)
                raise OutputError(f"{folder}: kernels cannot be removed: {reason}") from error
            yield described


def describe_kernels(folder: Path) -> str:
    """Return a folder, and how many kernels it has."""
    sizes: list[int] = []
    with suppress(OSError):  # none yet, or in somebody else's home
        sizes += [file.stat().st_size for file in folder.iterdir() if file.suffix == ".kernel"]
    return f"{folder} ({counted(len(sizes), 'kernel')}, {sum(sizes) / 1e6:.1f} MB)"


def find_or_make(file: str, make: Callable[[], bytes]) -> bytes:
    """Return the object kept in a file, made by make() where there is none, and then kept.

    Of processes that want it at once one makes it, and the others wait. An error of make() is
    raised here.
    """
    if (found := find(file)) is not None:
        return found
    try:
        lock = open(_open_folder() / f"{file}.lock", "a+")  # noqa: SIM115
    except OSError:
        lock = None  # nothing can be written there, as keep() will say
    with lock or nullcontext():
        while lock and not _is_ours(lock):
            # Who has just compiled, and has loaded Numba, comes first to the next kernel.
            time.sleep(PAUSE if "numba" in sys.modules else 10 * PAUSE)
        if (found := find(file)) is None:
            found = make()
            keep(file, found)
        return found


def _is_ours(lock: IO[str]) -> bool:
    """Return whether this process has a lock, which ends with a process; one that is stopped has
    none."""
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        lock.seek(0)
        with suppress(OSError):  # it has just begun or ended, or no system tells
            return "\nState:\tT" in Path(f"/proc/{lock.read()}/status").read_text()
        return False
    with suppress(OSError):  # a full disk
        lock.truncate(0)
        os.write(lock.fileno(), b"%d" % os.getpid())
    return True


def find(file: str) -> bytes | None:
    """Return the object kept whole in a file of any of the folders."""
    for folder in filter(_is_safe, kernel_folders()):
        try:
            whole = (folder / file).read_bytes()
        except OSError:
            continue
        if whole[:CHECK] == _check(file, whole[CHECK:]):
            with suppress(OSError):
                os.utime(folder)  # it is in use
            return whole[CHECK:]
    return None


def keep(file: str, content: bytes) -> None:
    """Keep compiled code, in place of any other, with a warning where that fails; not where an
    upgrade has come while this process ran."""
    if folder_name.__wrapped__() != folder_name():
        return
    try:
        (_open_folder() / file).write_bytes(_check(file, content) + content)
    except OSError as error:
        reason = error.strerror or str(error)
        warnings.warn(
            f"{kernel_folders()[0]}: compiled kernels cannot be kept there: {reason}; each process "
            "compiles them again; name another folder in NUMBA_CACHE_DIR",
            KmatchWarning,
            stacklevel=2,
        )


def file_of(module: str, name: str, *made_of: object) -> str:
    """Return the file of a kernel, by all that it is made of beside sources and versions."""
    key = "\n".join(map(str, (module, name, *made_of)))
    short = hashlib.blake2b(key.encode(), digest_size=12).hexdigest()
    return f"{module.removeprefix('kmatch.')}.{name}.{short}.kernel"


def _check(file: str, content: bytes) -> bytes:
    return hashlib.blake2b(file.encode() + b"\n" + content, digest_size=CHECK).digest()
