"""Threads that run kernels, without barriers between one kernel and the next.

Every kernel takes `work` first (see `sharing`) and ends when no item is left, so threads that come
late find nothing to do, and a thread that is done goes on with the next kernel that was started.
"""

import os
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from threading import Lock

import numpy as np


@cache
def _pool(threads, process):
    return ThreadPoolExecutor(threads, thread_name_prefix="kmatch")


class Workers:
    """`threads` threads, shared by all who ask for so many; with one, the caller does all."""

    def __init__(self, threads):
        self.threads = threads

    def run(self, kernel, items, *arguments):
        """Do all items of a kernel; the caller takes part."""
        work = np.array([0, items], np.int64)
        others = self._share(kernel, work, arguments, min(self.threads, items) - 1)
        try:
            kernel(work, *arguments)
            for share in others:
                if not share.cancel():
                    share.result()
        finally:
            work[0] = items

    def start(self, kernel, items, *arguments, after=None):
        """The Job of doing all items of a kernel while the caller goes on.

        after(): what the thread that ends last does then.
        """
        work = np.array([0, items], np.int64)
        shares = max(min(self.threads, items), 1)
        last = _last_of(shares)

        def share(*arguments):
            kernel(*arguments)
            if last() and after:
                after()

        if self.threads == 1:
            share(work, *arguments)
            return Job(work, [])
        return Job(work, self._share(share, work, arguments, shares))

    def _share(self, kernel, work, arguments, threads):
        # A child of fork has none of its parent's threads.
        pool = _pool(self.threads, os.getpid()) if threads > 0 else None
        return [pool.submit(kernel, work, *arguments) for _ in range(threads)]


def _last_of(many):
    """A function that tells whether it is called for the last of so many times."""
    lock, left = Lock(), [many]

    def is_last():
        with lock:
            left[0] -= 1
            return left[0] == 0

    return is_last


class Job:
    """A kernel under way on several threads."""

    def __init__(self, work, shares):
        self._work, self._shares = work, shares

    def wait(self):
        """Return when all items are done; raises what a thread raised."""
        for share in self._shares:
            share.result()

    def stop(self):
        """Leave out the items that no thread has begun, and return when none is at work."""
        self._work[0] = self._work[1]
        for share in self._shares:
            if not share.cancel():
                share.exception()
