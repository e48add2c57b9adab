"""Kernels as host code calls them: by name, so that a warm search imports nothing of Numba.

An entry sees by its arguments which object it needs: machine code of the kernel for these types,
which was compiled once and kept (`kmatch.jit.folders`). llvmlite loads it and ctypes calls it, with
the addresses, shapes and numbers of all arguments in one array of words, and without Python's lock.
Where there is no such object, and none can be made, the kernel is called as Numba compiles it.
"""

import ctypes
import os
from array import array
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache, cached_property
from importlib import import_module
from threading import RLock
from typing import Any

import numpy as np

from kmatch.errors import KmatchWarning
from kmatch.interrupts import held
from kmatch.jit import folders

# What an object returns: that memory was lacking, another failure, or what its result is.
LACKING, FAILED, NOTHING, TRUTH, NUMBER = range(-1, 4)

# Settings of Numba's with which kernels are called as Numba compiles them.
CHECKING = ("NUMBA_DISABLE_JIT", "NUMBA_BOUNDSCHECK")

Listener = Callable[[str], object]
Call = Callable[[int, int], int]

_listeners: list[Listener] = []
unfit: list[str] = []  # why kernels are called as Numba compiles them
_opening = RLock()


@contextmanager
def on_compile(listener: Listener) -> Iterator[None]:
    """While the block runs, call listener(name) before each kernel that has to be compiled."""
    _listeners.append(listener)
    try:
        yield
    finally:
        _listeners.remove(listener)


def report_compile(name: str) -> None:
    """Call all listeners with the name of a kernel that is about to be compiled."""
    for listener in _listeners:
        listener(name)


class Unfit(Exception):
    """An argument that objects do not take, or a kernel of which none can be made."""


class Entry:
    """A kernel that is called as the function it is made of."""

    def __init__(self, module: str, name: str) -> None:
        self.module, self.name = module, name
        self._calls: dict[Any, Call | None] = {}  # None: as Numba compiles it

    @cached_property
    def _plain(self) -> Any:
        if not _checking():
            report_compile(self.name)
        return getattr(import_module(self.module), self.name)

    def __call__(self, *arguments: Any) -> Any:
        kinds: list[Any] = []
        words = [0]
        try:
            take(arguments, kinds, words)
            call = self._call_of(tuple(kinds), arguments)
        except Unfit as reason:
            _refuse(self.name, reason)
            call = None
        if call is None:
            return self._plain(*arguments)
        frame = array("q", words)
        address = frame.buffer_info()[0]
        status = call(address, address)
        if status == LACKING:
            raise MemoryError
        if status == FAILED:
            raise RuntimeError(f"the kernel {self.name} failed; NUMBA_DISABLE_JIT=1 shows where")
        if status == NOTHING:
            return None
        return bool(frame[0]) if status == TRUTH else frame[0]

    def _call_of(self, kinds: Any, arguments: tuple[Any, ...]) -> Call | None:
        try:
            return self._calls[kinds]
        except KeyError:
            pass
        with _opening:
            if kinds not in self._calls:
                self._calls[kinds] = None if _checking() else self.open(arguments)
            return self._calls[kinds]

    def open(self, arguments: tuple[Any, ...]) -> Call | None:
        """The object for some arguments, loaded, and first compiled where there is none."""
        if not self.module.startswith("kmatch."):  # the digest covers kmatch's sources only
            return None
        key = f"{self.module} {self.name} {spell(arguments)}"
        name = f"kmatch_{folders.short(key)}"

        def compile_object() -> bytes:
            from kmatch.jit.compiling import compile_object

            report_compile(self.name)
            return compile_object(self.module, self.name, arguments, name)

        file = f"{self.module.removeprefix('kmatch.')}.{self.name}.{name[7:]}.kernel"
        try:
            return load(folders.find_or_make(file, key, compile_object), name)
        except KmatchWarning:
            raise
        except Exception as error:  # Numba and LLVM raise what they like
            _refuse(self.name, error)
            return None


def _refuse(name: str, reason: Exception) -> None:
    if not unfit:
        line = f"{reason}".partition("\n")[0]
        unfit.append(f"{name}: {type(reason).__name__}: {line}")


def entry(module: str, name: str) -> Entry:
    """The kernel of a name in a module."""
    return Entry(module, name)


def take(value: Any, kinds: list[Any], words: list[int]) -> None:
    """Add an argument's kind, and the words that an object takes for it. Raises Unfit."""
    kind = type(value)
    if kind is np.ndarray:
        if not (value.flags.c_contiguous and value.flags.aligned):
            raise Unfit("an array whose items are not side by side")
        kinds += value.dtype, value.ndim
        words.append(value.ctypes.data)
        words += value.shape
    elif kind is int or kind is np.int64:  # which Numba takes alike
        kinds.append(int)
        words.append(int(value))
    elif isinstance(value, tuple):
        kinds += kind, len(value)
        for each in value:
            take(each, kinds, words)
    elif isinstance(value, bool | np.bool_ | np.integer):
        kinds.append(kind)
        words.append(int(value) - (int(value) >> 63 << 64 if kind is np.uint64 else 0))
    else:
        raise Unfit(f"an argument of {kind}")


def spell(value: Any) -> str:
    """The kinds of an argument in words that are the same in every process."""
    if isinstance(value, np.ndarray):
        return f"{value.ndim}{value.dtype.descr if value.dtype.names else value.dtype.str}"
    if isinstance(value, tuple):
        named = f"{type(value).__qualname__}{getattr(value, '_fields', '')}"
        return f"{named}({', '.join(map(spell, value))})"
    return "int" if isinstance(value, np.int64) else type(value).__name__


def _checking() -> bool:
    return any(os.environ.get(name, "0") not in ("", "0") for name in CHECKING)


def load(content: bytes, name: str) -> Call:
    """The function that an object defines under a name."""
    from llvmlite import binding

    with held():  # LLVM asks Python for symbols
        engine = _linker()
        engine.add_object_file(binding.ObjectFileRef.from_data(content))
        engine.finalize_object()
        address = engine.get_function_address(name)
    return ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p)(address)


@cache
def _linker() -> Any:
    from llvmlite import binding

    return binding.create_mcjit_compiler(binding.parse_assembly(""), machine())


@cache
def machine() -> Any:
    """LLVM's machine for this processor."""
    from llvmlite import binding

    binding.initialize_native_target()
    binding.initialize_native_asmprinter()
    processor = {
        "cpu": binding.get_host_cpu_name(),
        "features": binding.get_host_cpu_features().flatten(),
    }
    target = binding.Target.from_default_triple()
    # Code, constants and the C library may be farther apart than a small code model reaches.
    return target.create_target_machine(**processor, opt=3, reloc="static", codemodel="large")
