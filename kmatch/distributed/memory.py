"""Memory that a worker keeps between arrays."""

import ctypes
import os
from contextlib import suppress
from functools import cache

# What glibc raises its thresholds to by itself, unless Dask has fixed one: then each array of a
# genome or of a chunk would be mapped anew, page by page.
_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3  # names of mallopt
_KEPT, _MAPPED = 64 << 20, 32 << 20  # bytes


@cache
def keep_memory() -> None:
    """Have freed memory used again where Dask's nanny has it given back at once."""
    if "MALLOC_TRIM_THRESHOLD_" in os.environ:
        with suppress(OSError, AttributeError):
            libc = ctypes.CDLL(None)
            libc.mallopt(_TRIM_THRESHOLD, _KEPT)
            libc.mallopt(_MMAP_THRESHOLD, _MAPPED)
