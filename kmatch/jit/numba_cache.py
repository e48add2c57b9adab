"""Numba's cache on disk with a file a signature: for kernels of GPUs and of published algorithms.

Numba's own has an index of signatures, and two processes that write it at once can leave one that
points at the wrong code; and it sees changes in a function's own file only. This is the one file
that touches Numba's private parts: where they are not as expected, nothing is kept.
"""

import pickle
import sys
from collections.abc import Callable
from pathlib import Path
from threading import Lock
from typing import Any

from kmatch.interrupts import held
from kmatch.jit import folders
from kmatch.jit.entries import report_compile

# What this file uses of a cache, and of the class that its _impl_class names.
_CACHE = ("load_overload", "save_overload", "_index_key"), ("rebuild", "reduce", "check_cachable")

_configuring = Lock()  # a launch, while a setting of Numba's is another


def _is_as_expected(cache: Any) -> bool:
    parts = zip((cache, getattr(cache, "_impl_class", None)), _CACHE, strict=True)
    return all(hasattr(owner, name) for owner, names in parts for name in names)


def keep(dispatcher: Any) -> Any:
    """A function that Numba compiles for the CPU, kept on disk where that is possible."""
    try:
        from numba.core.caching import FunctionCache
    except ImportError:
        return dispatcher
    if _is_as_expected(FunctionCache) and hasattr(dispatcher, "_cache"):
        dispatcher._cache = _disk_cache(FunctionCache, "cpu")(dispatcher.py_func)
    return dispatcher


class _Locator:
    """Where Numba finds a function's compiled code, which is new by the folder's name."""

    def __init__(self, function: Callable[..., Any], folder: Path) -> None:
        self._py_file = function.__code__.co_filename
        self._folder = folder

    def ensure_cache_path(self) -> None:
        folders.open_folder(self._folder)

    def get_cache_path(self) -> str:
        return str(self._folder)

    def get_source_stamp(self) -> str:
        return self._folder.name


def _disk_cache(parent: Any, target: str) -> Any:
    """A subclass of one of Numba's caches that writes our files; target: what the kernels run on,
    a part of the files' names."""

    class Impl(parent._impl_class):
        def __init__(self, function: Callable[..., Any]) -> None:
            self._lineno = function.__code__.co_firstlineno
            self._locator = _Locator(function, folders.own_folder())
            module = function.__module__.removeprefix("kmatch.")
            self._filename_base = f"{module}.{function.__name__}-{self._lineno}.{target}"

    class DiskCache(parent):
        _impl_class = Impl

        def _place(self, signature: Any, codegen: Any) -> tuple[str, str]:
            """(file, key) of what is compiled for a signature."""
            key = repr(self._index_key(signature, codegen)).replace("\n", " ")
            return f"{self._impl.filename_base}.{folders.short(key)}.kernel", key

        def load_overload(self, signature: Any, context: Any) -> Any:
            if (found := folders.find(*self._place(signature, context.codegen()))) is not None:
                if target == "cpu":
                    context.refresh()  # code for the CPU calls Numba's runtime
                with held():  # LLVM asks Python for the code: without an answer it has none
                    return self._impl.rebuild(context, pickle.loads(found))
            report_compile(self._py_func.__qualname__)
            return None

        def save_overload(self, signature: Any, data: Any) -> None:
            if self._impl.check_cachable(data):
                content = self._cache_file._dump(self._impl.reduce(data))
                folders.keep(*self._place(signature, data.codegen), content)

    return DiskCache


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
