"""Numba's threads after a fork: GNU OpenMP ends a child that uses them, so kmatch refuses first."""

import os
from contextlib import suppress

import numba

from kmatch.errors import DeviceError

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
