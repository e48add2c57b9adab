"""The decorators that make kernels."""

import os

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


def parallel_kernel(function):
    """A kernel whose `prange` loops run on Numba's threads."""
    # GNU OpenMP's threads wait by spinning, which takes milliseconds a kernel where other programs
    # want the cores; passive ones take microseconds always.
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    return _parallel(function)


folder_name()  # of the sources as they are now, which are about to be imported
if not numba_parts.AS_EXPECTED:
    # Numba's own cache looks no further than a function's own file; the folder does.
    numba.config.CACHE_DIR = str(own_folder())

kernel = _kept()
_parallel = _kept(parallel=True)
inlined = numba.njit(inline="always")
