"""A plugin of pytest for processes in which Numba simulates a GPU: threads in turns, tiny sizes.

Numba's own threads are Python's, which it polls: that takes nearly all of its time. Here those of a
block take turns, each up to the next barrier, in an order that is reversed after each barrier and
begins at the other end in the next block: where a barrier is missing, threads read other values.
"""

from contextlib import contextmanager, nullcontext
from dataclasses import replace
from itertools import count
from threading import RLock
from types import SimpleNamespace

import numpy as np
import pytest
from greenlet import getcurrent, greenlet
from numba import types
from numba.cuda.simulator import kernel, kernelapi

NOTHING = nullcontext()
TINY = {"HEIGHT": 4, "ROWS": 1, "MORE": 4, "DEEPEST": 64, "MOST": 2, "WIDTH": 1}  # for primers
_blocks = count()
_changed = []  # (names of a module, its own `cuda`), while a kernel runs


class Thread(greenlet):
    """What kernels know as the current thread."""

    def __init__(self, block, function, block_index, index):
        super().__init__(function)
        self._manager = block
        self.blockIdx, self.threadIdx = kernelapi.Dim3(*block_index), kernelapi.Dim3(*index)

    def syncthreads(self):
        self.parent.switch()

    syncthreads_and = kernel.BlockThread.syncthreads_and
    syncthreads_count = kernel.BlockThread.syncthreads_count
    syncthreads_or = kernel.BlockThread.syncthreads_or


class Block(kernel.BlockManager):
    def run(self, index, *arguments):
        threads = [Thread(self, self._f, index, each) for each in np.ndindex(*self._block_dim)]
        if next(_blocks) % 2:
            threads.reverse()
        while threads:
            for thread in threads:
                thread.switch(*arguments)  # which are for its start
            threads = [thread for thread in reversed(threads) if not thread.dead]


def _knowing(function, running):
    """A context in which `cuda`, where a function stands, is the running kernel's.

    It stays so to the kernel's end: Numba changes it back after each call of a device function.
    """
    names = function.__globals__
    if names.get("cuda") in (running, None):
        return NOTHING
    _changed.append((names, names["cuda"]))
    names["cuda"] = running
    return _restoring() if len(_changed) == 1 else NOTHING


@contextmanager
def _restoring():
    try:
        yield
    finally:
        while _changed:
            names, cuda = _changed.pop()
            names["cuda"] = cuda


def _convert(kind, *given, call=types.Integer.__call__):
    """`numba.uint64(x)` and the like, without what Numba imports at each call."""
    if len(given) == 1 and isinstance(given[0], (int, np.generic)):
        return kind.cast_python_value(given[0])
    return call(kind, *given)


def pytest_configure(config):
    launch, lock = kernel.FakeCUDAKernel.__call__, RLock()

    def alone(*given):  # a kernel at a time, which calls functions of its own
        with lock:
            return launch(*given)

    kernel.FakeCUDAKernel.__call__ = alone
    kernel.BlockManager = Block
    kernel.swapped_cuda_module = _knowing
    kernelapi.threading = SimpleNamespace(current_thread=getcurrent)
    types.Integer.__call__ = _convert
    # The recurrence adds to carry; what runs over the end of a word concerns nobody.
    config.addinivalue_line("filterwarnings", "ignore:.*overflow encountered in scalar add")


@pytest.fixture(autouse=True)
def small(monkeypatch):
    """Few threads of a block with lanes, and small tiles: one thread runs after another."""
    from kmatch.engine.cuda import engine, primer, text

    monkeypatch.setattr(text, "BLOCKS", 1)
    monkeypatch.setattr(text, "THREADS", 3)
    monkeypatch.setattr(engine, "LAYOUT", replace(engine.LAYOUT, words=2, reading_words=1))
    for name, value in TINY.items():
        monkeypatch.setattr(primer, name, value)
