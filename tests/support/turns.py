"""Blocks of Numba's simulator whose threads take turns, each up to the next barrier.

Numba's own threads are Python's, which it polls: that takes nearly all of its time. Turns are in an
order that is reversed after each barrier; where a barrier is missing, threads read other values.
"""

from types import SimpleNamespace

import numpy as np
from greenlet import getcurrent, greenlet
from numba.cuda.simulator import kernel, kernelapi


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
        while threads:
            for thread in threads:
                thread.switch(*arguments)  # which are for its start
            threads = [thread for thread in reversed(threads) if not thread.dead]


def take_turns():
    """Have the simulator run all kernels of this process so."""
    kernel.BlockManager = Block
    kernelapi.threading = SimpleNamespace(current_thread=getcurrent)
