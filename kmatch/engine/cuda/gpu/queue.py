"""Work for several GPUs: one queue of chunks, and a thread for each GPU that takes from it."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from contextlib import AbstractContextManager, nullcontext
from queue import Empty, SimpleQueue
from threading import Lock, Thread
from typing import Any

from kmatch.engine.cuda.gpu import driver
from kmatch.errors import DeviceError

DEEP = 2  # scans that a GPU has at a time: one is copied to it while another runs
_SIMULATOR = Lock()  # which runs one kernel at a time


def alone() -> AbstractContextManager[object]:
    """A context in which a thread may launch kernels."""
    return _SIMULATOR if driver.SIMULATED else nullcontext()


class HandedOut:
    """A Scan that whichever GPU is free carries out.

    start(gpu): starts it there, and returns what ends it, as a Scan does.
    """

    def __init__(self, start: Callable[[Any], Any]) -> None:
        self._start: Callable[[Any], Any] | None = start
        self._result: Future[Any] = Future()
        self._gpu: Any = None
        self._scan: Any = None

    def found(self) -> Any:
        """What was found; waits until it is there, and raises what went wrong."""
        return self._result.result()

    def stop(self) -> None:
        """Give it up; returns when no GPU is at work on it."""
        if not self._result.cancel():
            self._result.exception()

    def begin(self, gpu: Any) -> bool:
        """Start it on a GPU; returns whether there is something to finish."""
        if not self._result.set_running_or_notify_cancel():
            return False
        try:
            assert self._start is not None
            self._gpu, self._scan = gpu, self._start(gpu)
        except BaseException as error:
            self._fail(gpu, error)
            return False
        return True

    def finish(self) -> None:
        """Wait for the GPU, and hand on what it found."""
        try:
            self._result.set_result(self._scan.found())
        except BaseException as error:
            self._fail(self._gpu, error)
        self._start = self._scan = None  # the planes can go

    def _fail(self, gpu: Any, error: BaseException) -> None:
        if driver.is_failure(error):
            named = DeviceError(
                f"device {gpu.device}: {driver.reason(error)}; use the others or cpu"
            )
            named.__cause__ = error
            error = named
        self._result.set_exception(error)


class GpuQueue:
    """Hands work out to GPUs as each gets free.

    gpus: the engine of each. Close it when no more work comes.
    """

    def __init__(self, gpus: Sequence[Any]) -> None:
        self._work: SimpleQueue[HandedOut | None] = SimpleQueue()
        self._many = len(gpus)
        for gpu in gpus:
            name = f"kmatch {gpu.device}"
            Thread(target=_serve, args=(gpu, self._work), name=name, daemon=True).start()

    def hand_out(self, start: Callable[[Any], Any]) -> HandedOut:
        """Let a GPU do start(its engine), the next one that is free."""
        handed = HandedOut(start)
        self._work.put(handed)
        return handed

    def close(self) -> None:
        """Let the threads end."""
        for _ in range(self._many):
            self._work.put(None)


def _serve(gpu: Any, work: SimpleQueue[HandedOut | None]) -> None:
    """Do what comes out of a queue, until that is None."""
    under_way: deque[HandedOut] = deque()
    while True:
        try:
            handed = work.get(block=not under_way)
        except Empty:
            with alone():
                under_way.popleft().finish()
            continue
        with alone():
            if handed is not None and handed.begin(gpu):
                under_way.append(handed)
            while under_way and (handed is None or len(under_way) >= DEEP):
                under_way.popleft().finish()
        if handed is None:
            return
