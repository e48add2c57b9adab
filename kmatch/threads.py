"""Threads beside the caller's: pools, and one that makes items before they are asked for."""

import os
from collections.abc import Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import cache
from queue import Empty, Queue
from threading import Event, Thread
from typing import Any, TypeVar

PATIENCE = 0.5  # seconds to wait for the thread, which may itself wait for a pipe

_END = object()  # behind the items that a thread makes

Item = TypeVar("Item")


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


def run_ahead(items: Generator[Item], name: str) -> Iterator[Item]:
    """Yield the items of a generator, which a thread called `name` runs; one of them may wait.

    What it raises is raised here, behind the items before. When this generator is closed, the
    thread closes `items`.
    """
    made: Queue[Any] = Queue(1)
    failed: list[BaseException] = []
    closed = Event()

    def produce() -> None:
        try:
            for item in items:
                if not closed.is_set():  # otherwise nobody may be there to take it
                    made.put(item)
                if closed.is_set():
                    break
        except BaseException as error:
            failed.append(error)
        items.close()
        made.put(_END)

    thread = Thread(target=produce, name=name, daemon=True)
    thread.start()
    item = None
    try:
        while (item := made.get()) is not _END:
            yield item
        if failed:
            raise failed[0]
    finally:
        closed.set()
        with suppress(Empty):
            while item is not _END:
                item = made.get(timeout=PATIENCE)
            thread.join()
