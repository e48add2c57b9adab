"""Work for several GPUs: one queue of chunks, and a thread for each GPU that takes from it.

Equal work ends at the same time on equal GPUs: one that took more than another leaves what comes to
the other, unless that is slow or busy.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from contextlib import AbstractContextManager, nullcontext
from threading import Condition, Lock, Thread
from time import monotonic
from typing import Any

from kmatch.engine.cuda.gpu import driver
from kmatch.errors import DeviceError

DEEP = 2  # scans that a GPU has at a time: one is copied to it while another runs
PATIENCE = 0.5  # of the time of a scan, which an idle GPU leaves work to another for
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
        self._board = Board(len(gpus))
        for number, gpu in enumerate(gpus):
            name, given = f"kmatch {gpu.device}", (gpu, self._board, number)
            Thread(target=_serve, args=given, name=name, daemon=True).start()

    def hand_out(self, start: Callable[[Any], Any], size: int) -> HandedOut:
        """Let a GPU do start(its engine); size: of this work, in whatever all of it has."""
        handed = HandedOut(start)
        self._board.add(handed, size)
        return handed

    def close(self) -> None:
        """Let the threads end."""
        self._board.close()


class Board:
    """Work that no GPU has taken yet, and how much each of `many` has taken."""

    def __init__(self, many: int) -> None:
        self._changed = Condition()
        self._work: deque[tuple[HandedOut, int]] = deque()
        self._taken = [0] * many
        self._lead = 0  # that a GPU may have, as others were too slow
        self._closed = False

    def add(self, handed: HandedOut, size: int) -> None:
        with self._changed:
            self._work.append((handed, size))
            self._changed.notify_all()

    def close(self) -> None:
        with self._changed:
            self._closed = True
            self._changed.notify_all()

    def take(self, number: int, busy: bool, seconds: float) -> tuple[HandedOut | None, bool]:
        """Work for a GPU, None where there is none now, and whether more may come.

        Waits for it unless the GPU is busy. seconds: that a scan takes.
        """
        with self._changed:
            if not self._wait(number, busy, PATIENCE * seconds):
                return None, bool(self._work) or not self._closed
            handed, size = self._work.popleft()
            self._taken[number] += size
            self._changed.notify_all()
            return handed, True

    def _wait(self, number: int, busy: bool, patience: float) -> bool:
        """Wait for work that a GPU should take; returns whether there is some."""
        until = None
        while not self._work or (lead := self._lead_of(number)) > self._lead:
            if busy or (self._closed and not self._work):
                return False
            if not self._work:
                until = None
                self._changed.wait()
                continue
            until = until or monotonic() + patience
            if (left := until - monotonic()) <= 0:
                self._lead = 2 * lead  # they are slow, and need not be waited for again soon
                return True
            self._changed.wait(left)
        return True

    def _lead_of(self, number: int) -> int:
        return self._taken[number] - min(self._taken)


def _serve(gpu: Any, board: Board, number: int) -> None:
    """Do what a GPU is to take from a board, until that is closed."""
    under_way: deque[tuple[HandedOut, float]] = deque()
    seconds, goes_on = 0.0, True
    while goes_on or under_way:
        handed = None
        if len(under_way) < DEEP:
            handed, goes_on = board.take(number, bool(under_way), seconds)
        with alone():
            if handed and handed.begin(gpu):
                under_way.append((handed, monotonic()))
            elif under_way and not handed:
                oldest, began = under_way.popleft()
                oldest.finish()
                seconds = monotonic() - began
