"""Threads beside the caller's."""

import os
from concurrent.futures import ThreadPoolExecutor
from functools import cache


def cores() -> int:
    """The cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def pool(threads: int, name: str) -> ThreadPoolExecutor:
    """The pool of so many threads of a name, which all who ask for it share."""
    return _pool(threads, name, os.getpid())  # a forked child has none of its parent's threads


@cache
def _pool(threads: int, name: str, process: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(threads, thread_name_prefix=name)
