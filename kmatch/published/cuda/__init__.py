"""Published algorithms on CUDA devices, and a text on a GPU, as they take it."""

from contextlib import AbstractContextManager
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from kmatch.arrays import Bytes, Longs
from kmatch.engine.cuda import driver
from kmatch.engine.cuda.driver import DeviceArray


class DeviceText:
    """masks: uint8[n], a set of bases a letter, on the GPU; kernels run in `stream`.

    The constructor takes masks on the host and the GPU, `cuda:N`. Raises DeviceError if its memory
    is too small.
    """

    def __init__(self, masks: Bytes, device: str) -> None:
        driver.use_device(int(device.partition(":")[2]))
        self.stream = driver.new_stream()
        self.masks = self.put(masks)
        self._watch = driver.Stopwatch()
        self._table: DeviceArray = None

    @property
    def seconds(self) -> float:
        """Seconds of the kernels so far; 0 in the simulator, which has no clock."""
        return self._watch.seconds

    def timed(self) -> AbstractContextManager[None]:
        """A context that times the kernels launched inside."""
        return self._watch.timing(self.stream)

    def launch(
        self, kernel: Any, blocks: Any, threads: Any, *arguments: Any, shared: int = 0
    ) -> None:
        """Launch and time a kernel on a grid; shared: bytes of a block's shared memory."""
        with self.timed():
            kernel[blocks, threads, self.stream, shared](*arguments)

    def put(self, array: NDArray[Any]) -> DeviceArray:
        """A copy of an array on the GPU."""
        copy = self.empty(array.shape, array.dtype)
        copy.copy_to_device(np.ascontiguousarray(array), stream=self.stream)
        return copy

    def empty(self, shape: int | tuple[int, ...], dtype: DTypeLike) -> DeviceArray:
        """An array on the GPU for kernels to work in."""
        return driver.empty(shape, dtype, self.stream)

    def table(self, shape: int | tuple[int, ...]) -> DeviceArray:
        """int32[shape] on the GPU for results; it takes the memory of the table before it."""
        size = int(np.prod(shape))
        if self._table is None or len(self._table) < size:
            self._table = None  # gives the smaller one back first
            self._table = self.empty(size, np.int32)
        return self._table[:size].reshape(shape)

    def hits(self, table: DeviceArray) -> tuple[Longs, Longs]:
        """(index, distance) of the entries of a table that are not negative."""
        flat = self.fetch(table.reshape(table.size))
        listed = np.flatnonzero(flat >= 0)
        return listed, flat[listed].astype(np.int64)

    def smallest(self, table: DeviceArray) -> int:
        """The smallest number in a table."""
        return int(self.fetch(table).min())

    def fetch(self, array: DeviceArray) -> NDArray[Any]:
        """A copy on the host of an array on the GPU."""
        copy = array.copy_to_host(stream=self.stream)
        self.stream.synchronize()
        return copy
