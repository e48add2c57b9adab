"""Published algorithms on the CPU, and the threads that they run on."""

import os
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numba

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
