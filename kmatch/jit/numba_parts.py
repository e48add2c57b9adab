"""The one file that touches Numba's private parts: its cache of compiled functions, and how those
that only kernels call are compiled.

Where these are not as expected, AS_EXPECTED is false, and kernels use Numba's cache as it is, by
`in_numba_cache`.
"""

import hashlib
import os
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cached_property
from pathlib import Path
from threading import Lock
from typing import Any

from numba import config, types

from kmatch.errors import KmatchWarning
from kmatch.interrupts import held
from kmatch.jit.folders import (
    DamagedFile,
    KernelFiles,
    await_other,
    give_up,
    kernel_folders,
    mark_used,
    open_folder,
    own_folder,
    unchanged,
)

Listener = Callable[[str], object]

_listeners: list[Listener] = []
_warned: set[str] = set()


@contextmanager
def on_compile(listener: Listener) -> Iterator[None]:
    """While the block runs, call listener(name) before each function that has to be compiled."""
    _listeners.append(listener)
    try:
        yield
    finally:
        _listeners.remove(listener)


def report_compile(name: str) -> None:
    """Call all listeners with the name of a function that is about to be compiled."""
    for listener in _listeners:
        listener(name)


def warn_once(subject: str, message: str) -> None:
    """Warn of a subject once a process: what fails for one kernel fails for each."""
    if subject not in _warned:
        _warned.add(subject)
        warnings.warn(message, KmatchWarning, stacklevel=2)


_configuring = Lock()  # a launch, while a setting of Numba's is another

# What this file uses of a cache, and of the class that its _impl_class names.
_CACHE = (
    ("_load_overload", "_save_overload", "_index_key", "_guard_against_spurious_io_errors"),
    ("rebuild", "reduce", "check_cachable", "filename_base"),
)
# What it uses of code that is linked, of a compiler and of a function that compiles itself.
_LIBRARY = (
    *("_finalize_final_module", "_finalize_dynamic_globals", "_get_module_for_linking"),
    *("get_pointer_to_function", "serialize_using_object_code", "codegen"),
)
_COMPILER = ("compile_extra",)
_DISPATCHER = ("get_call_template", "get_overload")


def _is_as_expected(cache: Any) -> bool:
    """Whether one of Numba's classes of caches has all the parts that this file uses."""
    parts = zip((cache, getattr(cache, "_impl_class", None)), _CACHE, strict=True)
    return all(hasattr(owner, name) for owner, names in parts for name in names)


try:
    from llvmlite import binding as llvm
    from numba.core.caching import FunctionCache, IndexDataCacheFile, NullCache
    from numba.core.codegen import JITCodeLibrary
    from numba.core.compiler import Compiler
    from numba.core.dispatcher import Dispatcher
    from numba.core.runtime import _nrt_python as runtime

    _HELPERS = dict(runtime.c_helpers)
    AS_EXPECTED = _is_as_expected(FunctionCache) and all(
        hasattr(owner, name)
        for owner, names in (
            (IndexDataCacheFile, ("_dump",)),
            (JITCodeLibrary, _LIBRARY),
            (Compiler, _COMPILER),
            (Dispatcher, _DISPATCHER),
        )
        for name in names
    )
except (ImportError, AttributeError):
    AS_EXPECTED = False
if not AS_EXPECTED:
    FunctionCache = NullCache = JITCodeLibrary = Compiler = object


def in_numba_cache(caching: Callable[..., Any], plain: Callable[..., Any]) -> Callable[..., Any]:
    """The decorator `caching`, which uses Numba's own cache, made to use it in our folder.

    That cache notices changes in a function's own file only; the folder's name covers the others.
    So where the folder cannot be written, `plain` serves, which keeps nothing.
    """

    def decorate(function: Any) -> Any:
        folder = own_folder()
        with suppress(OSError):
            open_folder(folder)
        if not os.access(folder, os.W_OK):
            return plain(function)
        before, config.CACHE_DIR = config.CACHE_DIR, str(folder)
        try:
            return caching(function)
        finally:
            config.CACHE_DIR = before

    return decorate


class _Locator:
    """Where Numba finds a function's compiled code, which is new by the folder's name."""

    def __init__(self, function: Callable[..., Any], folder: Path) -> None:
        self._py_file = function.__code__.co_filename
        self._folder = folder

    def ensure_cache_path(self) -> None:
        open_folder(self._folder)

    def get_cache_path(self) -> str:
        return str(self._folder)

    def get_source_stamp(self) -> str:
        return self._folder.name


def _disk_cache(parent: Any, target: str) -> Any:
    """A subclass of one of Numba's caches on disk that writes our files, in our folders.

    target: a suffix of the files' names, for what the kernels run on.
    """

    class Impl(parent._impl_class):
        def __init__(self, function: Callable[..., Any]) -> None:
            self._lineno = function.__code__.co_firstlineno
            self._locator = _Locator(function, own_folder())
            self._filename_base = f"{_file_name(function)}.{target}"

    class DiskCache(parent):
        _impl_class = Impl
        _cache_file: Any

        def __init__(self, function: Callable[..., Any]) -> None:
            super().__init__(function)
            name, dump = self._impl.filename_base, self._cache_file._dump
            folders = map(str, kernel_folders())
            self._files = [KernelFiles(folder, name, dump) for folder in folders]
            self._cache_file = self._files[0]

        def load_overload(self, signature: Any, context: Any) -> Any:
            # Numba sets up its compiler first, which takes a quarter of a second and is of no use
            # to a kernel that is found.
            with self._guard_against_spurious_io_errors():
                return self._load_overload(signature, context)

        def _load_overload(self, signature: Any, context: Any) -> Any:
            key = self._index_key(signature, context.codegen())
            found = (_load(files, key) for files in self._files)
            data = next((data for data in found if data is not None), None)
            if data is None:
                own = self._cache_file
                data = await_other(own.file_name(key), lambda: _load(own, key))
            if data is not None:
                with held():  # LLVM asks Python for the code: without an answer it has none to run
                    return self._impl.rebuild(context, data)
            report_compile(self._py_func.__qualname__)
            return None

        def _save_overload(self, signature: Any, data: Any) -> None:
            try:
                if unchanged():  # an upgrade may have come while this process ran
                    super()._save_overload(signature, data)
            except OSError as error:
                give_up(self._cache_file.file_name(self._index_key(signature, data.codegen)))
                warn_once(
                    "keeping",
                    f"{self._cache_path}: compiled kernels cannot be kept there: "
                    f"{error.strerror or error}; each process compiles them again; name another "
                    "folder in NUMBA_CACHE_DIR",
                )

    return DiskCache


def _file_name(function: Callable[..., Any]) -> str:
    name = f"{function.__module__}.{function.__qualname__}-{function.__code__.co_firstlineno}"
    plain = "".join(letter for letter in name if letter not in "<>")
    if not plain.startswith("kmatch."):  # the folder's name covers kmatch's sources only
        content = Path(function.__code__.co_filename).read_bytes()
        plain = f"{plain}-{hashlib.blake2b(content, digest_size=12).hexdigest()}"
    return f"{plain.removeprefix('kmatch.')[-100:]}.{sys.implementation.cache_tag}"


def _load(files: KernelFiles, key: Any) -> Any:
    mark_used(files.folder)
    try:
        return files.load(key)
    except DamagedFile as error:
        warn_once("damage", f"{error}: a compiled kernel was damaged; it is compiled again")
        with suppress(OSError):
            os.unlink(str(error))
        return None


class _InnerLibrary(JITCodeLibrary):
    """The code of a kernel that kernels call: linked into theirs, with no machine code of its own,
    which would take a third of the time that it takes to compile."""

    @classmethod
    def read(cls, codegen: Any, state: Any) -> Any:
        """The library that `serialize_using_object_code` has made `state` of."""
        name, _, code = state
        library = cls(codegen, name)
        library._final_module = library._shared_module = llvm.parse_bitcode(code)
        library._finalize_final_module()
        return library

    @property
    def codegen(self) -> Any:
        return _NoEnvironments(super().codegen)

    def get_pointer_to_function(self, name: str) -> int:
        self._ensure_finalized()
        return 0

    def serialize_using_object_code(self) -> Any:
        return self.name, "inner", self._get_module_for_linking().as_bitcode()

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._finalized = True


class _Stand:
    """An object with all attributes of another but those of its class."""

    def __init__(self, other: Any) -> None:
        self._other = other

    def __getattr__(self, name: str) -> Any:
        return getattr(self._other, name)


class _NoEnvironments(_Stand):
    """The codegen of an _InnerLibrary, whose variables have no addresses."""

    def set_env(self, name: str, environment: Any) -> None:
        pass


class _InnerContext(_Stand):
    """A target whose codegen, itself, reads an _InnerLibrary."""

    def codegen(self) -> Any:
        return self

    def unserialize_library(self, state: Any) -> Any:
        return _InnerLibrary.read(self._other.codegen(), state)


class InnerCompiler(Compiler):
    """Compiles kernels that kernels call."""

    def compile_extra(self, function: Callable[..., Any]) -> Any:
        library = _InnerLibrary(self.state.targetctx.codegen(), function.__qualname__)
        library.enable_object_caching()
        self.state["library"] = library
        return super().compile_extra(function)


def call_within(dispatcher: Any, inner: Any, by_number: bool) -> None:
    """Have kernels that call a kernel link another one of the same function.

    dispatcher: of the kernel that Python calls; inner: compiled by an InnerCompiler; by_number:
    whether to compile it, as Numba does, again for each number that is written out in a call, and
    for those that a variable is set to before a loop.
    """
    dispatcher.get_overload = inner.get_overload
    dispatcher.get_call_template = plain = inner.get_call_template

    def template(args: Any, kws: Any) -> Any:
        named = {name: types.unliteral(kind) for name, kind in kws.items()}
        return plain(tuple(map(types.unliteral, args)), named)

    if not by_number:
        dispatcher.get_call_template = template


def _inner_cache() -> Any:
    cache = _disk_cache(FunctionCache, "inner")
    plain: Any = cache._impl_class

    class Impl(plain):
        def rebuild(self, context: Any, payload: Any) -> Any:
            return super().rebuild(_InnerContext(context), payload)._replace(target_context=context)

    cache._impl_class = Impl
    return cache


_CpuCache: Any = _disk_cache(FunctionCache, "cpu") if AS_EXPECTED else None
_InnerCache: Any = _inner_cache() if AS_EXPECTED else None


class KernelCache(NullCache):
    """Numba's cache on disk for one kernel of the CPU.

    inner: whether kernels call it. It is opened at the kernel's first call, and loads what is
    compiled without setting up a compiler, which takes a fifth of a second.
    """

    def __init__(self, function: Callable[..., Any], inner: bool = False) -> None:
        self._function, self._inner = function, inner

    @cached_property
    def _opened(self) -> Any:
        return (_InnerCache if self._inner else _CpuCache)(self._function)

    @property
    def cache_path(self) -> str:
        return self._opened.cache_path

    def load_overload(self, signature: Any, context: Any) -> Any:
        for name, address in _HELPERS.items():
            llvm.add_symbol(name if name.startswith("_") else f"NRT_{name}", address)
        return self._opened.load_overload(signature, context)

    def save_overload(self, signature: Any, data: Any) -> None:
        for environment in () if self._inner else data._find_referenced_environments():
            data.codegen.set_env(environment.env_name, environment)  # inner kernels' too
        self._opened.save_overload(signature, data)


def adopt_cuda_kernels() -> None:
    """Have `cuda.jit(cache=True)` keep the kernels of kmatch where those of the CPU are kept, and
    launch them in grids of any size without a warning: a short text does not fill a GPU.

    Kernels of other packages are as ever.
    """
    from numba.cuda import dispatcher

    compiler = getattr(sys.modules.get("numba_cuda"), "__version__", "")
    cache = getattr(dispatcher, "CUDACache", None)
    opened = _disk_cache(cache, f"cuda{compiler}") if _is_as_expected(cache) else None
    plain = dispatcher.CUDADispatcher.enable_caching

    def enable_caching(self: Any) -> None:
        if self.py_func.__module__.partition(".")[0] != "kmatch":
            plain(self)
            return
        if opened:
            self._cache = opened(self.py_func)
        else:
            in_numba_cache(plain, lambda dispatcher: None)(self)
        if hasattr(self, "configure") and hasattr(dispatcher, "config"):
            self.configure = _quietly(self.configure, dispatcher.config)

    dispatcher.CUDADispatcher.enable_caching = enable_caching


def _quietly(configure: Callable[..., Any], settings: Any) -> Callable[..., Any]:
    """`configure` of a CUDA kernel, without Numba's warning of small grids."""

    def configured(*launch: Any) -> Any:
        with _configuring:
            before = settings.CUDA_LOW_OCCUPANCY_WARNINGS
            settings.CUDA_LOW_OCCUPANCY_WARNINGS = 0
            try:
                return configure(*launch)
            finally:
                settings.CUDA_LOW_OCCUPANCY_WARNINGS = before

    return configured
