"""The time that kernels on the CPU take, and what they did in it."""

import time
from contextlib import contextmanager


class Stopwatch:
    """A KernelTime (see `kmatch.engine.protocol`) of what runs inside `timing`."""

    def __init__(self):
        self._seconds = 0.0
        self.rows = 0
        self.done = []

    @property
    def seconds(self):
        return self._seconds

    @contextmanager
    def timing(self):
        """Time what runs inside."""
        began = time.perf_counter()
        yield
        self._seconds += time.perf_counter() - began
