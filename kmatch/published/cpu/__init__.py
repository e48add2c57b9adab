"""Published algorithms on the CPU, and a text in host memory, as they take it."""

import os
from collections.abc import Callable
from contextlib import AbstractContextManager, suppress
from typing import Any

import numba
import numpy as np

from kmatch.arrays import Bytes, Ints
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
    """masks: uint8[n], a set of bases a letter; timed(): a context in which kernels run."""

    def __init__(self, masks: Bytes, timed: Callable[[], AbstractContextManager[None]]) -> None:
        self.masks, self.timed = masks, timed

    def table(self, shape: int | tuple[int, ...]) -> Ints:
        """int32[shape] for results."""
        return np.empty(shape, np.int32)

    def fetch(self, table: Ints) -> Ints:
        """A table in host memory."""
        return table
