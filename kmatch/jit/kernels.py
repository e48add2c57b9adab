"""The decorators that make kernels. What they return is typed by Numba, so Any here."""

from collections.abc import Callable
from typing import Any

import numba
from numba import types

from kmatch.jit.folders import folder_name
from kmatch.jit.numba_cache import keep

Decorator = Callable[[Callable[..., Any]], Any]


def kernel_by_number(function: Callable[..., Any]) -> Any:
    """A kernel that is compiled for each number that is written out in a call."""
    return numba.njit(nogil=True)(function)


def kernel(function: Callable[..., Any]) -> Any:
    """A kernel that host code calls by an Entry, and other kernels by its name."""
    dispatcher = kernel_by_number(function)
    plain = getattr(dispatcher, "get_call_template", None)
    if plain:  # not once for each number, which compiles the same many times

        def template(args: Any, kws: Any) -> Any:
            named = {name: types.unliteral(kind) for name, kind in kws.items()}
            return plain(tuple(map(types.unliteral, args)), named)

        dispatcher.get_call_template = template
    return dispatcher


def kept_kernel(function: Callable[..., Any], parallel: bool = False) -> Any:
    """A kernel that Python calls as Numba compiles it, which is kept on disk too."""
    return keep(numba.njit(nogil=True, parallel=parallel)(function))


def parallel_kernel(function: Callable[..., Any]) -> Any:
    """As `kept_kernel`; its `prange` loops run on Numba's threads."""
    return kept_kernel(function, parallel=True)


inlined: Decorator = numba.njit(inline="always")

folder_name()  # of the sources as they are now, just before kernels are imported
