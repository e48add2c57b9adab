"""Kernels as host code calls them: by name, so that a warm search imports nothing of Numba.

An entry sees by its arguments which object it needs: machine code of the kernel for these types,
which was compiled once and kept (`kmatch.jit.folders`). llvmlite loads it and ctypes calls it, with
the addresses, shapes and numbers of all arguments in one array of words, and without Python's lock.
Where there is no such object, and none can be made, the kernel is called as Numba compiles it.
"""

import ctypes
import os
from array import array
from collections.abc import Callable
from functools import cache, cached_property
from importlib import import_module
from threading import RLock
from typing import Annotated, Any, get_args, get_origin, get_type_hints

import numpy as np
from llvmlite import binding

from kmatch.jit import folders

FAILED = 1  # what an object returns for a kernel that ended by an exception

# Settings of Numba's with which each process compiles, as they ask for other kernels.
SETTINGS = (
    *("NUMBA_DISABLE_JIT", "NUMBA_BOUNDSCHECK", "NUMBA_DEBUGINFO", "NUMBA_OPT"),
    *("NUMBA_LOOP_VECTORIZE", "NUMBA_SLP_VECTORIZE", "NUMBA_CPU_NAME", "NUMBA_CPU_FEATURES"),
)

Call = Callable[[int], int]
loaded: list[Any] = []  # libraries of kernels, which stay as long as the process

# Called with the name of a kernel that has to be compiled, and why by each process, or "".
listeners: list[Callable[[str, str], object]] = []
ahead: dict[str, tuple["Entry", Any]] = {}  # what is compiled ahead, of each `entry`
_opening = RLock()


def report(name: str, reason: object = "") -> None:
    """Tell all listeners of a kernel that is about to be compiled."""
    for listener in listeners:
        listener(name, str(reason).partition("\n")[0])


class Unfit(Exception):
    """An argument that objects do not take, or a kernel of which none can be made."""


class Entry:
    """A kernel that is called as the function it is made of; it returns a number, for None 0."""

    def __init__(self, module: str, name: str) -> None:
        self.module, self.name = module, name
        self._calls: dict[Any, Call | Exception] = {}

    @cached_property
    def kernel(self) -> Any:
        """The kernel as other kernels call it."""
        return getattr(import_module(self.module), self.name)

    def __call__(self, *arguments: Any) -> Any:
        words, kinds = [0], list[Any]()
        try:
            call = self.open(spell(arguments, words, kinds), kinds)
        except Exception as error:  # Numba and LLVM raise what they like
            report(self.name, f"{type(error).__name__}: {error}")
            from kmatch.jit.kernels import plain

            return plain(self.kernel)(*arguments)
        frame = array("q", words)
        if call(frame.buffer_info()[0]) == FAILED:  # kernels raise nothing, and check no bounds
            raise MemoryError(f"the kernel {self.name} got no memory")
        return frame[0]

    def open(self, spelled: str, kinds: list[Any]) -> Call:
        """The object for arguments that are spelled so, loaded, and first compiled where there is
        none. Where none can be made, the same is raised each time."""
        asked = spelled, *kinds
        if asked not in self._calls:
            with _opening:
                if asked not in self._calls:
                    try:
                        self._calls[asked] = self._load(spelled, kinds)
                    except Exception as error:
                        self._calls[asked] = error
        found = self._calls[asked]
        if isinstance(found, Exception):
            raise found.with_traceback(None)
        return found

    def _load(self, spelled: str, kinds: list[Any]) -> Call:
        if asked := next(filter(os.environ.get, SETTINGS), None):
            raise Unfit(f"{asked} is set")
        same = (f"{kind}{getattr(kind, '_fields', '')}" for kind in kinds)  # in every process
        file = folders.file_of(self.module, self.name, spelled, *same)

        def compile_object() -> bytes:
            from kmatch.jit.kernels import compile_object

            report(self.name)
            return compile_object(self.kernel, spelled, kinds, file)

        return load(folders.find_or_make(file, compile_object), file)


def entry(name: str, types: Any) -> Entry:
    """The kernel of a name, "module:function"; types: of the tuple of its arguments."""
    made = Entry(*name.split(":"))
    ahead[name] = made, types
    return made


def spell(value: Any, words: list[int], kinds: list[Any]) -> str:
    """How an object makes an argument of the next words, as Python spells it, kind() being the next
    type. Adds these words and types to the others. Raises Unfit."""
    kind = type(value)
    if kind is np.ndarray:
        if not (value.flags.c_contiguous and value.flags.aligned):
            raise Unfit("an array whose items are not side by side")
        kinds.append(value.dtype)
        # Numba's array: who owns it, items, bytes of each, where they are, shape and strides.
        words += 0, 0, value.size, value.itemsize, value.ctypes.data, *value.shape, *value.strides
        return f"array(kind(), {value.ndim})"
    if isinstance(value, tuple):
        if kind is not tuple:
            kinds.append(kind)
        own = "tuple" if kind is tuple else "kind()"
        return f"items({', '.join([own, *(spell(each, words, kinds) for each in value)])})"
    if isinstance(value, int | np.bool_ | np.integer):
        kinds.append(int if kind is np.int64 else kind)  # which Numba takes alike
        words.append(int(value) - (int(value) >> 63 << 64 if kind is np.uint64 else 0))
        return "number(kind())"
    raise Unfit(f"an argument of {kind}")


def example(annotation: Any) -> Any:
    """An argument that is annotated so: an empty array, 0 or a tuple of such."""
    origin, parts = get_origin(annotation), get_args(annotation)
    if alias := getattr(origin, "__value__", None):  # NDArray since NumPy 2.5
        return example(alias[parts])
    if origin is Annotated:  # with an array's dimensions, or with its dtype
        array, more = parts
        if isinstance(more, np.dtype):
            return np.zeros(0, more)
        return example(array).reshape((0,) * more)
    if origin is np.ndarray:
        return np.zeros(0, get_args(parts[1])[0])
    if origin is tuple:
        return tuple(map(example, parts))
    if issubclass(annotation, tuple):
        return annotation(*map(example, get_type_hints(annotation, include_extras=True).values()))
    return annotation(0)


def load(content: bytes, name: str) -> Call:
    """The function that an object defines under a name."""
    library = binding.JITLibraryBuilder().add_object_img(content).export_symbol(name)
    loaded.append(library.add_current_process().link(_linker(), name))
    return ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p)(loaded[-1][name])


@cache
def _linker() -> Any:
    return binding.create_lljit_compiler(machine())


@cache
def machine() -> Any:
    """LLVM's machine for this processor."""
    binding.initialize_native_target()
    binding.initialize_native_asmprinter()
    target = binding.Target.from_default_triple()
    # Code, constants and the C library may be farther apart than a small code model reaches.
    far = {"reloc": "static", "codemodel": "large"}
    return target.create_target_machine(*folders.processor(), opt=3, **far)
