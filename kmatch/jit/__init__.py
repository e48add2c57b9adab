"""Compiling: these decorators make every kernel, which is kept on disk and runs without the GIL.

Compiled kernels are kept in a folder named by a digest of all kernel sources, so that none is ever
older than its sources.
"""

from kmatch.jit.kernels import inlined, kernel, kernel_by_number, parallel_kernel
from kmatch.jit.numba_parts import on_compile

__all__ = ["inlined", "kernel", "kernel_by_number", "on_compile", "parallel_kernel"]
