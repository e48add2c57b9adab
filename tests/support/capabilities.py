"""The GPUs that kernels are compiled for in tests: the oldest that CUDA 13 knows, and the newest.

What kernels do differently begins between them, at 8.0.
"""

from functools import cache

import pytest
from numba import types

CAPABILITIES = [(7, 5), (9, 0)]


def check_toolkit(cuda):
    """Skip a test where nothing can be compiled for CUDA."""
    if missing := _missing(cuda):
        pytest.skip(f"no CUDA toolkit to compile with: {missing}")


@cache
def _missing(cuda):
    try:
        cuda.compile_ptx(lambda words: None, (types.uint64[::1],), cc=(9, 0))
    except Exception as error:  # the toolkit's failures have many classes
        return str(error).splitlines()[0]
    return ""
