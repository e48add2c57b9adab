"""Kernels as host code calls them: by name, so that a warm search imports nothing of Numba.

An entry sees by its arguments which object it needs: machine code of the kernel for these types,
which was compiled once and kept (`kmatch.jit.folders`). llvmlite loads it and ctypes calls it, with
the addresses, shapes and numbers of all arguments in one array of words, and without Python's lock.
Where there is no such object, and none can be made, the kernel is called as Numba compiles it.
"""

import os
from array import array
from collections.abc import Callable
from functools import cached_property
from importlib import import_module
from threading import RLock
from typing import Any

from kmatch.jit import folders
from kmatch.jit.arguments import Kinds, Unfit, described, lay_out_all
from kmatch.jit.objects import FAILED, Call, load

# Settings of Numba's with which each process compiles, as they ask for other kernels.
SETTINGS = (
    "NUMBA_DISABLE_JIT",
    "NUMBA_BOUNDSCHECK",
    "NUMBA_DEBUGINFO",
    "NUMBA_OPT",
    "NUMBA_LOOP_VECTORIZE",
    "NUMBA_SLP_VECTORIZE",
    "NUMBA_CPU_NAME",
    "NUMBA_CPU_FEATURES",
)

# Called with the name of a kernel that has to be compiled, and why by each process, or "".
listeners: list[Callable[[str, str], object]] = []
ahead: dict[str, tuple["Entry", Any]] = {}  # what is compiled ahead, of each `entry`
_opening = RLock()


def report(name: str, reason: object = "") -> None:
    """Tell all listeners of a kernel that is about to be compiled."""
    for listener in listeners:
        listener(name, str(reason).partition("\n")[0])


class Entry:
    """A kernel that is called as the function it is made of; it returns a number, for None 0."""

    def __init__(self, module: str, name: str) -> None:
        self.module = module
        self.name = name
        self._calls: dict[Kinds, Call | Exception] = {}

    @cached_property
    def kernel(self) -> Any:
        """The kernel as other kernels call it."""
        return getattr(import_module(self.module), self.name)

    def __call__(self, *arguments: Any) -> Any:
        words = [0]  # in which an object leaves the kernel's number
        try:
            call = self.open(lay_out_all(arguments, words))
        except Exception as error:  # Numba and LLVM raise what they like
            report(self.name, f"{type(error).__name__}: {error}")
            from kmatch.jit.kernels import plain

            return plain(self.kernel)(*arguments)
        frame = array("q", words)
        if call(frame.buffer_info()[0]) == FAILED:  # kernels raise nothing, and check no bounds
            raise MemoryError(f"the kernel {self.name} got no memory")
        return frame[0]

    def open(self, kinds: Kinds) -> Call:
        """Return the object for arguments of some kinds, loaded.

        It is compiled where there is none. Where none can be made, the same is raised each time.
        """
        if kinds not in self._calls:
            with _opening:
                if kinds not in self._calls:
                    self._calls[kinds] = self._loaded(kinds)
        found = self._calls[kinds]
        if isinstance(found, Exception):
            raise found.with_traceback(None)
        return found

    def _loaded(self, kinds: Kinds) -> Call | Exception:
        """Return the object for arguments of some kinds, or why there is none."""
        try:
            if setting := next(filter(os.environ.get, SETTINGS), None):
                raise Unfit(f"{setting} is set")
            file = folders.file_of(self.module, self.name, *map(described, kinds))
            return load(folders.find_or_make(file, lambda: self._compile(kinds, file)), file)
        except Exception as error:
            return error

    def _compile(self, kinds: Kinds, file: str) -> bytes:
        from kmatch.jit.kernels import compile_object

        report(self.name)
        return compile_object(self.kernel, kinds, file)


def entry(name: str, types: Any) -> Entry:
    """Return the kernel of a name, "module:function"; types: of the tuple of its arguments."""
    made = Entry(*name.split(":"))
    ahead[name] = made, types
    return made


def hosted(kernel: Any) -> Entry:
    """Return a kernel that only host code beside it calls, as an Entry."""
    made = Entry(kernel.__module__, kernel.__name__)
    made.kernel = kernel
    return made
