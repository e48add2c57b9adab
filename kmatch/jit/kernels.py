"""The decorators that make kernels. What they return is typed by Numba, so Any here."""

from collections.abc import Callable
from typing import Any

import numba

from kmatch.jit.entries import Entry
from kmatch.jit.folders import folder_name

Decorator = Callable[[Callable[..., Any]], Any]

# A kernel that host code calls by an Entry, and other kernels by its name.
kernel: Decorator = numba.njit(nogil=True)

inlined: Decorator = numba.njit(inline="always")


def hosted(function: Callable[..., Any]) -> Entry:
    """A kernel that only host code beside it calls, as an Entry."""
    return Entry(function.__module__, function.__name__, kernel(function))


def parallel(function: Callable[..., Any]) -> Entry:
    """The same with `prange` loops, on Numba's threads: each process compiles it."""
    made = numba.njit(nogil=True, parallel=True)(function)
    return Entry(function.__module__, function.__name__, made, fits=False)


folder_name()  # of the sources as they are now, just before kernels are imported
