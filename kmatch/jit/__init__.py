"""Compiling: host code names kernels by `entry`, kernels are made by the decorators of
`kmatch.jit.kernels`, which alone imports Numba.

Compiled kernels are kept in a folder named by a digest of all kernel sources, so that none is ever
older than its sources.
"""

from kmatch.jit.entries import Entry, entry

__all__ = ["Entry", "entry"]
