"""Work that threads share, without barriers between one kernel and the next.

The first argument of every kernel is `work`, int64[2], the next item and the number of items: each
thread takes the next item as soon as it has finished one, and a kernel returns when none is left.
So a thread that comes late finds nothing to do, and one that has finished goes on with the next
kernel.
"""

from collections.abc import Callable
from concurrent.futures import Future
from threading import Lock
from typing import Any

import numpy as np

from kmatch.arrays import Longs
from kmatch.threads import pool

SLAB = 2048  # windows or hits to an item of work


def slabs(count: int) -> int:
    """Items of work in `count` windows or hits."""
    return -(-count // SLAB)


Kernel = Callable[..., object]

Shares = list[Future[object]]


class Workers:
    """`threads` threads; all Workers of as many threads share them. One means the caller's own."""

    def __init__(self, threads: int) -> None:
        self.threads = threads

    def run(self, kernel: Kernel, items: int, *arguments: Any) -> None:
        """Do all items of a kernel; the calling thread takes part."""
        work = np.array([0, items], np.int64)
        others = self._share(kernel, work, arguments, min(self.threads, items) - 1)
        try:
            kernel(work, *arguments)
            for share in others:
                if not share.cancel():
                    share.result()
        finally:
            work[0] = items

    def start(
        self,
        kernel: Kernel,
        items: int,
        *arguments: Any,
        after: Callable[[], object] | None = None,
    ) -> "Job":
        """Start all items of a kernel, and return their Job at once.

        after(): called by the thread that ends last.
        """
        work = np.array([0, items], np.int64)
        shares = max(min(self.threads, items), 1)
        last = _last_of(shares)

        def share(*arguments: Any) -> None:
            kernel(*arguments)
            if last() and after:
                after()

        if self.threads == 1:
            share(work, *arguments)
            return Job(work, [])
        return Job(work, self._share(share, work, arguments, shares))

    def _share(
        self, kernel: Kernel, work: Longs, arguments: tuple[Any, ...], threads: int
    ) -> Shares:
        if threads <= 0:
            return []
        submit = pool(self.threads, "kmatch").submit
        return [submit(kernel, work, *arguments) for _ in range(threads)]


def _last_of(many: int) -> Callable[[], bool]:
    """A function that returns whether this is the last of `many` calls of it."""
    lock, left = Lock(), [many]

    def is_last() -> bool:
        with lock:
            left[0] -= 1
            return left[0] == 0

    return is_last


class Job:
    """A kernel under way on several threads."""

    def __init__(self, work: Longs, shares: Shares) -> None:
        self._work, self._shares = work, shares

    def wait(self) -> None:
        """Wait until all items are done; raises what a thread raised."""
        for share in self._shares:
            share.result()

    def stop(self) -> None:
        """Leave out the items that no thread has begun, and wait for the others."""
        self._work[0] = self._work[1]
        for share in self._shares:
            if not share.cancel():
                share.exception()
