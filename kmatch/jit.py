"""Compiling: every kernel is made by one of these, cached on disk, and runs without the GIL."""

import os
import stat
import sys
import tempfile
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path

import numba
from llvmlite import binding as llvm
from numba.core.caching import (
    CompileResultCacheImpl,
    FunctionCache,
    InTreeCacheLocator,
    NullCache,
)
from numba.core.runtime import _nrt_python as runtime

_listeners = []


@contextmanager
def telling_of_compiling(listener):
    """While the block runs, call listener(name) before each function that has to be compiled."""
    _listeners.append(listener)
    try:
        yield
    finally:
        _listeners.remove(listener)


def _find_cache_folder():
    """A folder for compiled kernels where Numba would find none.

    Numba keeps them beside the source or else in the user's cache folder, and fails where neither
    can be written: in a read-only installation without a home.
    """
    if numba.config.CACHE_DIR or _writable(Path(__file__).parent):
        return ""
    if sys.platform == "darwin":
        home = Path.home() / "Library" / "Caches"
    elif os.name == "nt":
        home = Path(os.environ.get("LOCALAPPDATA", Path.home()))
    else:
        home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    if _writable(home):
        return ""
    user = os.getuid() if hasattr(os, "getuid") else 0
    return _private_folder(Path(tempfile.gettempdir()) / f"kmatch-{user}", user)


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


class _BesideSource(InTreeCacheLocator):
    """Where kernels were compiled by who installed kmatch; it need not be writable to be read."""

    def ensure_cache_path(self):
        pass


class _InstalledImpl(CompileResultCacheImpl):
    _locator_classes = (_BesideSource,)


class _InstalledCache(FunctionCache):
    _impl_class = _InstalledImpl


class _Cache(NullCache):
    """Numba's cache on disk for one kernel.

    It is opened when the kernel is called first, does not set up a compiler to load what is
    compiled, which takes a fifth of a second, and finds what was compiled at installation.
    """

    def __init__(self, function):
        self._function = function

    @cached_property
    def _own(self):
        return FunctionCache(self._function)

    @cached_property
    def _installed(self):
        return _InstalledCache(self._function)

    @property
    def cache_path(self):
        return self._own.cache_path

    def load_overload(self, signature, context):
        for name, address in runtime.c_helpers.items():
            llvm.add_symbol(name if name.startswith("_") else f"NRT_{name}", address)
        found = _load(self._own, signature, context)
        if found is None and self._installed.cache_path != self._own.cache_path:
            found = _load(self._installed, signature, context)
        if found is None:
            for listener in _listeners:
                listener(self._function.__qualname__)
        return found

    def save_overload(self, signature, data):
        self._own.save_overload(signature, data)

    def flush(self):
        self._own.flush()


def _load(cache, signature, context):
    with cache._guard_against_spurious_io_errors():
        return cache._load_overload(signature, context)


# GNU OpenMP's threads wait by spinning, which takes milliseconds a kernel where other programs
# want the cores; passive ones take microseconds always.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

if folder := _find_cache_folder():
    numba.config.CACHE_DIR = folder


def _cached(compiler):
    def decorate(function):
        dispatcher = compiler(function)
        if not numba.config.DISABLE_JIT:
            dispatcher._cache = _Cache(function)
        return dispatcher

    return decorate


kernel = _cached(numba.njit(nogil=True))
parallel_kernel = _cached(numba.njit(nogil=True, parallel=True))
inlined = numba.njit(inline="always")
