"""Kernels of GPUs on disk: all that kmatch uses of Numba's private parts.

Numba's own cache has an index of signatures, and two processes that write it at once can leave one
that points at the wrong code; it sees changes in a function's own file only, and reads no folder
that it cannot write. What is private, and where it is not as expected each process compiles:

- a kernel of `cuda.jit` asks its `_cache` before it compiles, by load_overload(signature, context),
  and gives it what was compiled, by save_overload(signature, compiled);
- what was compiled can be pickled, and has a `codegen`, as the context has;
- a codegen's magic_tuple() tells the versions of toolkit and GPU.
"""

import pickle
from types import FunctionType
from typing import Any

from kmatch.jit import folders
from kmatch.jit.entries import report


def keep_cuda(kernel: Any, compiler: str) -> Any:
    """A kernel of `cuda.jit`, which is kept from now on; compiler: its name and version."""
    if hasattr(kernel, "_cache"):  # not in the simulator
        kernel._cache = CudaCache(kernel.py_func, compiler)
    return kernel


class CudaCache:
    """Where a kernel for GPUs looks for code before it compiles."""

    cache_path = None

    def __init__(self, function: FunctionType, compiler: str) -> None:
        self._function, self._compiler = function, compiler

    def _place(self, signature: Any, codegen: Any) -> tuple[str, str]:
        """(file, key) of what is compiled for a signature: beside sources it depends on numbers,
        constants of the functions around it."""
        function = self._function
        constants = [int(cell.cell_contents) for cell in function.__closure__ or ()]
        made_of = function.__qualname__, constants, signature, codegen.magic_tuple()
        return folders.place(function.__module__, function.__name__, *made_of, self._compiler)

    def load_overload(self, signature: Any, context: Any) -> Any:
        """What was compiled for a signature, None where nothing is kept."""
        reason = ""
        try:
            found = folders.find(*self._place(signature, context.codegen()))
            if found is not None:
                return pickle.loads(found)
        except Exception as error:  # not as expected, which may be anything
            reason = repr(error)
        report(self._function.__name__, reason)
        return None

    def save_overload(self, signature: Any, compiled: Any) -> None:
        """Keep what was compiled for a signature."""
        try:
            place, content = self._place(signature, compiled.codegen), pickle.dumps(compiled)
        except Exception as error:
            report(self._function.__name__, repr(error))
        else:
            folders.keep(*place, content)
