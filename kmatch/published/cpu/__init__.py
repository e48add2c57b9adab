"""Published algorithms on the CPU, and a text in host memory, as they take it."""

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

import numba
import numpy as np

from kmatch.arrays import Bytes, Ints, Longs
from kmatch.errors import DeviceError


def on_threads(threads: int, function: Callable[..., Any], *arguments: Any) -> Any:
    """function(*arguments), whose parallel kernels run on so many threads.

    Raises DeviceError in a process that was forked by one that had used them.
    """
    check_forks()
    before = numba.get_num_threads()
    numba.set_num_threads(threads)
    try:
        return function(*arguments)
    finally:
        numba.set_num_threads(before)


_lost: list[str] = []  # threads that this process was forked without


def _note_fork() -> None:
    with suppress(ValueError):  # none have been used
        _lost[:] = [numba.threading_layer()]


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_note_fork)


def check_forks() -> None:
    """Raise DeviceError where this process was forked by one that had used OpenMP."""
    if "omp" in _lost:
        raise DeviceError(
            "published algorithms cannot use threads in this process: it was forked by one that "
            "had used them; start processes by 'spawn' or 'forkserver', or use algorithm 'bitplane'"
        )


class HostText:
    """masks: uint8[n], a set of bases a letter; seconds: of the kernels so far."""

    def __init__(self, masks: Bytes) -> None:
        self.masks = masks
        self.seconds = 0.0

    @contextmanager
    def timed(self) -> Iterator[None]:
        """Time the kernels that run inside."""
        began = time.perf_counter()
        yield
        self.seconds += time.perf_counter() - began

    def table(self, shape: int | tuple[int, ...]) -> Ints:
        """int32[shape] for results."""
        return np.empty(shape, np.int32)

    def hits(self, table: Ints) -> tuple[Longs, Longs]:
        """(index, distance) of the entries of a table that are not negative."""
        flat = table.reshape(-1)
        index = np.flatnonzero(flat >= 0)
        return index, flat[index].astype(np.int64)

    def smallest(self, table: Ints) -> int:
        """The smallest number in a table."""
        return int(table.min())
