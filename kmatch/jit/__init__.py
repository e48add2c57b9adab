"""Compiling: every kernel is made by one of these, kept on disk, and runs without the GIL.

A compiled kernel lies in a folder named by a digest of all kernel sources, so that none is ever
older than what it was made of.
"""

from kmatch.jit.kernels import inlined, kernel, parallel_kernel
from kmatch.jit.telling import telling_of_compiling

__all__ = ["inlined", "kernel", "parallel_kernel", "telling_of_compiling"]
