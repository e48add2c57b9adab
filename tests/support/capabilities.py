"""The GPUs that kernels are compiled for in tests."""

import pytest
from numba import types

CAPABILITIES = [(7, 5), (8, 0), (9, 0)]


def check_toolkit(cuda):
    try:
        cuda.compile_ptx(lambda words: None, (types.uint64[::1],), cc=(9, 0))
    except Exception as error:  # the toolkit's failures have many classes
        pytest.skip(f"no CUDA toolkit to compile with: {str(error).splitlines()[0]}")
