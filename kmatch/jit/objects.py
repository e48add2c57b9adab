"""Objects: machine code of kernels, which llvmlite emits and loads without Numba.

An object defines one function of an address, at which the words of all arguments are (see
`kmatch.jit.arguments`), behind a word for the kernel's number.
"""

import ctypes
from collections.abc import Callable
from functools import cache
from typing import Any

from llvmlite import binding

from kmatch.jit.folders import processor

FAILED = 1  # what an object returns for a kernel that ended by an exception

Call = Callable[[int], int]

loaded: list[Any] = []  # libraries of kernels, which stay as long as the process


def load(content: bytes, name: str) -> Call:
    """Return the function that an object defines under a name."""
    library = binding.JITLibraryBuilder().add_object_img(content).export_symbol(name)
    loaded.append(library.add_current_process().link(_linker(), name))
    return ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p)(loaded[-1][name])


@cache
def _linker() -> Any:
    return binding.create_lljit_compiler(machine())


@cache
def machine() -> Any:
    """Return LLVM's machine for this processor."""
    binding.initialize_native_target()
    binding.initialize_native_asmprinter()
    target = binding.Target.from_default_triple()
    # Code, constants and the C library may be farther apart than a small code model reaches.
    far = {"reloc": "static", "codemodel": "large"}
    return target.create_target_machine(*processor(), opt=3, **far)
