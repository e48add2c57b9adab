"""Compiling: host code names kernels by `entry`, and decorators of `kmatch.jit.kernels`, which
imports Numba, make them; what is compiled is kept in `kmatch.jit.folders`.
"""

from kmatch.jit.entries import Entry, entry

__all__ = ["Entry", "entry"]
