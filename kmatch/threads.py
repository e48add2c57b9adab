"""Threads beside the caller's: pools, and one that makes items before they are asked for."""

import os
import re
from collections import deque
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from threading import Condition, Thread
from typing import Generic, TypeVar

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
    queue: _Queue[Item] = _Queue(capacity)
    thread = Thread(target=_produce, args=(items, weigh, queue), name=name, daemon=True)
    thread.start()
    try:
        while (one := queue.take()) is not None:
            yield one[0]
    finally:
        queue.close()
        thread.join(PATIENCE)


def _produce(items: Generator[Item], weigh: Callable[[Item], int], queue: "_Queue[Item]") -> None:
    try:
        for item in items:
            if not queue.put(item, weigh(item)):
                return
        queue.end(None)
    except BaseException as error:
        queue.end(error)
    finally:
        items.close()


class _Queue(Generic[Item]):
    """Items between two threads, and what they weigh."""

    def __init__(self, capacity: int) -> None:
        self._changed = Condition()
        self._items: deque[tuple[Item, int]] = deque()
        self._weight, self._capacity = 0, capacity
        self._ended = self._closed = False
        self._error: BaseException | None = None

    def put(self, item: Item, weight: int) -> bool:
        """Add an item, and wait until more may be made; False once closed."""
        with self._changed:
            self._items.append((item, weight))
            self._weight += weight
            self._changed.notify()
            self._changed.wait_for(lambda: self._closed or self._weight <= self._capacity)
            return not self._closed

    def end(self, error: BaseException | None) -> None:
        """Take note that no item comes any more, and of the error that is the reason."""
        with self._changed:
            self._ended, self._error = True, error
            self._changed.notify()

    def take(self) -> tuple[Item, int] | None:
        """The next item and its weight, None at the end; raises the other thread's error."""
        with self._changed:
            self._changed.wait_for(lambda: self._items or self._ended)
            if self._items:
                item, weight = self._items.popleft()
                self._weight -= weight
                self._changed.notify()
                return item, weight
            if self._error:
                raise self._error
            return None

    def close(self) -> None:
        """Let the other thread end."""
        with self._changed:
            self._closed = True
            self._changed.notify()
