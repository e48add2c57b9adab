"""The one file that touches Numba's private parts: its cache of compiled functions.

Where these are not as expected, AS_EXPECTED is false and Numba's own cache serves as it is.
"""

import hashlib
import os
import sys
from contextlib import suppress
from functools import cached_property
from pathlib import Path

from kmatch.jit.claims import await_other, give_up
from kmatch.jit.files import DamagedFile, KernelFiles
from kmatch.jit.folders import kernel_folders, mark_used, open_folder, own_folder
from kmatch.jit.sources import unchanged
from kmatch.jit.telling import tell_of_compiling, warn_once

try:
    from llvmlite import binding as llvm
    from numba.core.caching import Cache, CompileResultCacheImpl, FunctionCache, NullCache
    from numba.core.caching import IndexDataCacheFile as _IndexFile
    from numba.core.runtime import _nrt_python as runtime

    _HELPERS = dict(runtime.c_helpers)
    _USED = (
        (Cache, ("_load_overload", "_save_overload", "_index_key")),
        (Cache, ("_guard_against_spurious_io_errors",)),
        (_IndexFile, ("_dump",)),
        (CompileResultCacheImpl, ("rebuild", "reduce", "check_cachable")),
    )
    AS_EXPECTED = all(hasattr(owner, name) for owner, names in _USED for name in names)
except (ImportError, AttributeError):
    AS_EXPECTED = False
if not AS_EXPECTED:
    FunctionCache = NullCache = object


class _Locator:
    """Tells Numba where a function's compiled code lies; the folder's name vouches for its age."""

    def __init__(self, function, folder):
        self._py_file = function.__code__.co_filename
        self._folder = folder

    def ensure_cache_path(self):
        open_folder(self._folder)

    def get_cache_path(self):
        return str(self._folder)

    def get_source_stamp(self):
        return self._folder.name


def _disk_cache(parent, target):
    """A subclass of one of Numba's caches on disk that keeps files of ours, in folders of ours.

    target: a suffix of the files' names; says what compiles where it is not Numba.
    """

    class Impl(parent._impl_class):
        def __init__(self, function):
            self._lineno = function.__code__.co_firstlineno
            self._locator = _Locator(function, own_folder())
            self._filename_base = f"{_file_name(function)}.{target}"

    class DiskCache(parent):
        _impl_class = Impl

        def __init__(self, function):
            super().__init__(function)
            name, dump = self._impl.filename_base, self._cache_file._dump
            folders = map(str, kernel_folders())
            self._places = [KernelFiles(folder, name, dump) for folder in folders]
            self._cache_file = self._places[0]

        def _load_overload(self, signature, context):
            key = self._index_key(signature, context.codegen())
            found = (_load(files, key) for files in self._places)
            data = next((data for data in found if data is not None), None)
            if data is None:
                own = self._cache_file
                data = await_other(own.file_name(key), lambda: _load(own, key))
            if data is not None:
                return self._impl.rebuild(context, data)
            tell_of_compiling(self._py_func.__qualname__)
            return None

        def _save_overload(self, signature, data):
            try:
                if unchanged():  # not where an upgrade came while this process ran
                    super()._save_overload(signature, data)
            except OSError as error:
                give_up(self._cache_file.file_name(self._index_key(signature, data.codegen)))
                warn_once(
                    "keeping",
                    f"{self._cache_path}: compiled kernels cannot be kept there: "
                    f"{error.strerror or error}; each process compiles them anew; name another "
                    "folder in NUMBA_CACHE_DIR",
                )

    return DiskCache


def _file_name(function):
    name = f"{function.__module__}.{function.__qualname__}-{function.__code__.co_firstlineno}"
    plain = "".join(letter for letter in name if letter not in "<>")
    if not plain.startswith("kmatch."):  # the folder vouches for the sources of kmatch alone
        content = Path(function.__code__.co_filename).read_bytes()
        plain = f"{plain}-{hashlib.blake2b(content, digest_size=12).hexdigest()}"
    return f"{plain.removeprefix('kmatch.')[-100:]}.{sys.implementation.cache_tag}"


def _load(files, key):
    mark_used(files.folder)
    try:
        return files.load(key)
    except DamagedFile as error:
        warn_once("damage", f"{error}: a compiled kernel was damaged; it is compiled again")
        with suppress(OSError):
            os.unlink(str(error))
        return None


_CpuCache = _disk_cache(FunctionCache, "cpu") if AS_EXPECTED else None


class KernelCache(NullCache):
    """Numba's cache on disk for one kernel of the CPU.

    It is opened when the kernel is called first, and does not set up a compiler to load what is
    compiled, which takes a fifth of a second.
    """

    def __init__(self, function):
        self._function = function

    @cached_property
    def _opened(self):
        return _CpuCache(self._function)

    @property
    def cache_path(self):
        return self._opened.cache_path

    def load_overload(self, signature, context):
        for name, address in _HELPERS.items():
            llvm.add_symbol(name if name.startswith("_") else f"NRT_{name}", address)
        with self._opened._guard_against_spurious_io_errors():
            return self._opened._load_overload(signature, context)

    def save_overload(self, signature, data):
        self._opened.save_overload(signature, data)


def keep_cuda_kernels():
    """Have `cuda.jit(cache=True)` keep the kernels of kmatch where those of the CPU are kept.

    Functions of other packages stay where Numba keeps them.
    """
    from numba import config
    from numba.cuda import dispatcher

    compiler = getattr(sys.modules.get("numba_cuda"), "__version__", "")
    try:
        opened = _disk_cache(dispatcher.CUDACache, f"cuda{compiler}")
        plain = dispatcher.CUDADispatcher.enable_caching
    except AttributeError:  # its own cache then, in the folder that sources have named
        config.CACHE_DIR = str(own_folder())
        return

    def enable_caching(self):
        if self.py_func.__module__.partition(".")[0] == "kmatch":
            self._cache = opened(self.py_func)
        else:
            plain(self)

    dispatcher.CUDADispatcher.enable_caching = enable_caching
