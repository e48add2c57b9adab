"""Work that threads share, without barriers between one kernel and the next.

The first argument of a kernel that threads share is `work`, int64[2], the next item and the number
of items: each thread takes the next item as soon as it has finished one, and a kernel returns when
none is left. So a thread that comes late finds nothing to do, and one that has finished goes on
with the next kernel.
"""

import ctypes
import os
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from functools import cache
from typing import Any, TypeVar

import numpy as np

from kmatch.engine.geometry import Text


def cores() -> int:
    """Return the cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


ARENAS = 2
M_ARENA_MAX = -8  # of malloc.h


def share_arenas() -> None:
    """Have all threads of this process share a few arenas of memory, where glibc has these.

    By default glibc gives each thread an arena, which keeps what is free in it: with 16 threads 200
    MB and more.
    """
    if sys.platform == "linux":
        with suppress(OSError, AttributeError):
            ctypes.CDLL(None).mallopt(M_ARENA_MAX, ARENAS)


def pool(threads: int, name: str) -> ThreadPoolExecutor:
    """Return the pool of so many threads of a name, which all who ask for it share."""
    return _pool(threads, name, os.getpid())  # a forked child has none of its parent's threads


@cache
def _pool(threads: int, name: str, process: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(threads, thread_name_prefix=name)


SLAB = 2048  # windows or hits to an item of work


def slabs(count: int) -> int:
    """Items of work in `count` windows or hits."""
    return -(-count // SLAB)


WARM_SHARE = 8  # warm-ups that a stretch of rows is long at least, where the text allows
STRETCH = 2048  # rows that all queries scan before the next: they stay in the L2 cache
TASKS_PER_THREAD = 4


def stretches(queries: int, longest: int, rows: int, threads: int) -> int:
    """Return how many parts a chunk's rows are cut into: short ones, and enough for all threads.

    longest: the most letters and k of a query together, which is the warm-up of a part.
    """
    wanted = max(-(-TASKS_PER_THREAD * threads // max(queries, 1)), rows // STRETCH)
    return max(min(wanted, rows // (WARM_SHARE * longest)), 1)


TILE = 512  # words of text in a tile, which all queries scan before the next, in the L1 cache


def tiles(text: Text) -> int:
    """Items of work in scanning a chunk for mismatches."""
    return -(-text.rows * text.words // TILE)


PACK_ROWS = 64  # rows packed at a time: one cache line of each lane


def pack_items(text: Text) -> int:
    """Items of work in packing a chunk: PACK_ROWS rows each."""
    return -(-(text.plane_words // text.words) // PACK_ROWS)


SPAN = 1 << 13  # positions of an item of work


def spans(shown: int) -> int:
    """Items of work in a View of so many letters."""
    return -(-shown // SPAN)


AHEAD = 2  # calls beyond one a thread whose results wait for their turn, or are under way

Kernel = Callable[..., object]
Result = TypeVar("Result")


class Workers:
    """`threads` threads, which others that want as many share. One means the caller's own."""

    def __init__(self, threads: int) -> None:
        self.threads = threads

    def run(self, kernel: Kernel, items: int, *arguments: Any) -> None:
        """Do all items of a kernel; the calling thread takes part."""
        job = self._share(kernel, items, arguments, min(self.threads, items) - 1)
        try:
            kernel(job.work, *arguments)
        finally:
            job.stop()  # no item is left, so this waits for those that are under way

    def start(self, kernel: Kernel, items: int, *arguments: Any) -> "Job":
        """Start all items of a kernel, and return their Job at once.

        Work for a single thread is done first, before another thread would have woken up.
        """
        if (threads := min(self.threads, items)) > 1:
            return self._share(kernel, items, arguments, threads)
        job = Job(items, [])
        kernel(job.work, *arguments)
        return job

    def ahead(
        self, calls: Iterable[Callable[[], Result]], most: int | None = None
    ) -> Iterator[Result]:
        """Yield the results of calls, in order, while threads make some of the next ones.

        calls: are asked for in the calling thread; most: how many calls are made at a time, None
        for as many as there are threads. An error of a call, or of asking for one, is raised in its
        turn. A result that is there is yielded before the next call is asked for, which may take
        long; beside the calls under way no more than a few wait for their turn.
        """
        if self.threads == 1:
            yield from (call() for call in calls)
            return
        many = min(most or self.threads, self.threads)
        submit = pool(many, "kmatch items").submit
        waiting = deque[Future[Result]]()
        following = iter(calls)
        is_asking = True
        asking_error: Exception | None = None
        try:
            while waiting or is_asking:
                if is_asking:
                    # The next call, None behind the last one and where there is an error.
                    call = None
                    try:
                        call = next(following, None)
                    except Exception as error:
                        asking_error = error
                    is_asking = call is not None
                    if call is not None:
                        waiting.append(submit(call))

                # The first result, if it is there or nothing else can be done.
                is_full = len(waiting) > many + AHEAD
                if waiting and (is_full or not is_asking or waiting[0].done()):
                    yield waiting.popleft().result()
            if asking_error:
                raise asking_error
        finally:
            for result in waiting:
                if not result.cancel():
                    result.exception()  # which waits

    def _share(self, kernel: Kernel, items: int, arguments: tuple[Any, ...], threads: int) -> "Job":
        job = Job(items, [])
        if threads > 0:
            submit = pool(self.threads, "kmatch").submit
            job.shares += [submit(kernel, job.work, *arguments) for _ in range(threads)]
        return job


class Job:
    """A kernel under way; work: int64[2], which it takes; shares: the parts of threads."""

    def __init__(self, items: int, shares: list[Future[object]]) -> None:
        self.work = np.array([0, items], np.int64)
        self.shares = shares

    def wait(self) -> None:
        """Wait until all items are done; raises the error of a thread."""
        for share in self.shares:
            share.result()

    def stop(self) -> None:
        """Leave out the items that no thread has begun, and wait for the others, as `wait`."""
        self.work[0] = self.work[1]
        for share in self.shares:
            if not share.cancel():
                share.result()


ALONE = Workers(1)  # for an item of work, beside which threads do others
