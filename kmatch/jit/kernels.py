"""The decorators that make kernels. What they return is typed by Numba, so Any here."""

from collections.abc import Callable
from typing import Any

import numba

from kmatch.jit import numba_parts
from kmatch.jit.folders import folder_name

Decorator = Callable[[Callable[..., Any]], Any]


def _kept(by_number: bool = False, **options: bool) -> Decorator:
    """A decorator that compiles a function on its first call and keeps the result on disk.

    by_number: whether once for each number that is written out in a call, not once for all calls of
    a type.
    """
    compiler = numba.njit(nogil=True, no_cfunc_wrapper=True, **options)
    if not numba_parts.AS_EXPECTED:
        return numba_parts.in_numba_cache(numba.njit(nogil=True, cache=True, **options), compiler)
    inner_compiler = numba.njit(
        nogil=True,
        no_cfunc_wrapper=True,
        no_cpython_wrapper=True,
        pipeline_class=numba_parts.InnerCompiler,
        **options,
    )

    def decorate(function: Callable[..., Any]) -> Any:
        dispatcher = compiler(function)
        if not numba.config.DISABLE_JIT:
            inner = inner_compiler(function)
            dispatcher._cache = numba_parts.KernelCache(function)
            inner._cache = numba_parts.KernelCache(function, inner=True)
            numba_parts.call_within(dispatcher, inner, by_number)
        return dispatcher

    return decorate


folder_name()  # of the sources as they are now, just before kernels are imported

kernel = _kept()
kernel_by_number = _kept(by_number=True)  # where Numba's types for constants make faster code
parallel_kernel = _kept(parallel=True)  # its `prange` loops run on Numba's threads
inlined: Decorator = numba.njit(inline="always")
