"""The time that kernels on the CPU take, and what they do in it."""

import time
from collections.abc import Iterator
from contextlib import contextmanager

from kmatch.engine.primers import WorkDone


class Stopwatch:
    """A KernelTime (see `kmatch.engine.protocol`) of what runs inside `timing`."""

    def __init__(self) -> None:
        self._seconds = 0.0
        self.rows = 0
        self.done: list[WorkDone] = []

    @property
    def seconds(self) -> float:
        return self._seconds

    @contextmanager
    def timing(self) -> Iterator[None]:
        """Time what runs inside."""
        began = time.perf_counter()
        yield
        self._seconds += time.perf_counter() - began
