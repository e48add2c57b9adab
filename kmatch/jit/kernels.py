"""The decorators that make kernels."""

import numba

from kmatch.jit import numba_parts
from kmatch.jit.folders import folder_name, own_folder


def _kept(**options):
    """A decorator that compiles a function on its first call and keeps the result on disk."""
    if not numba_parts.AS_EXPECTED:
        return numba.njit(nogil=True, cache=True, **options)
    compiler = numba.njit(nogil=True, **options)

    def decorate(function):
        dispatcher = compiler(function)
        if not numba.config.DISABLE_JIT:
            dispatcher._cache = numba_parts.KernelCache(function)
        return dispatcher

    return decorate


folder_name()  # of the sources as they are now, which are about to be imported
if not numba_parts.AS_EXPECTED:
    # Numba's own cache looks no further than a function's own file; the folder does.
    numba.config.CACHE_DIR = str(own_folder())

kernel = _kept()
parallel_kernel = _kept(parallel=True)  # its `prange` loops run on Numba's threads
inlined = numba.njit(inline="always")
