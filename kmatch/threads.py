"""Threads beside the caller's: pools, and one that makes items before they are asked for."""

import os
import re
from collections import deque
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from threading import Condition, Thread
from typing import TypeVar

from kmatch.errors import InputError

SETTING = "NUMBA_NUM_THREADS"
PATIENCE = 0.5  # seconds to wait for the thread, which may itself wait for a pipe

Item = TypeVar("Item")


def cores() -> int:
    """The cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def kernel_threads() -> int:
    """The threads that kernels may use: those of NUMBA_NUM_THREADS, or else one a core.

    Raises InputError for a number below 1.
    """
    named = os.environ.get(SETTING, "").strip()
    if re.fullmatch(r"0+|-\d+", named):
        raise InputError(f"{SETTING} is {named}; set it to 1 or more, or leave it unset")
    return int(named) if named.isdecimal() else cores()


def pool(threads: int, name: str) -> ThreadPoolExecutor:
    """The pool of so many threads of a name, which all who ask for it share."""
    return _pool(threads, name, os.getpid())  # a forked child has none of its parent's threads


@cache
def _pool(threads: int, name: str, process: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(threads, thread_name_prefix=name)


def run_ahead(
    items: Generator[Item], weigh: Callable[[Item], int], capacity: int, name: str
) -> Iterator[Item]:
    """Yield the items of a generator, which a thread called `name` runs.

    The thread stops while items that weigh more than `capacity` together wait. What it raises is
    raised here, behind the items before. When this generator is closed, the thread closes `items`.
    """
    waiting: deque[tuple[Item, int]] = deque()
    changed = Condition()
    weight, closed, ended = 0, False, False
    failed: BaseException | None = None

    def may_go_on() -> bool:
        return closed or weight <= capacity

    def produce() -> None:
        nonlocal weight, ended, failed
        try:
            for item in items:
                with changed:
                    waiting.append((item, weigh(item)))
                    weight += waiting[-1][1]
                    changed.notify()
                    changed.wait_for(may_go_on)
                    if closed:
                        break
        except BaseException as error:
            failed = error
        with changed:
            ended = True
            changed.notify()
        items.close()

    thread = Thread(target=produce, name=name, daemon=True)
    thread.start()
    try:
        while True:
            with changed:
                changed.wait_for(lambda: waiting or ended)
                if not waiting:
                    break
                item, less = waiting.popleft()
                weight -= less
                changed.notify()
            yield item
        if failed:
            raise failed
    finally:
        with changed:
            closed = True
            changed.notify()
        thread.join(PATIENCE)
