"""Published algorithms on CUDA devices, and a text on a GPU, as they take it."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from kmatch.arrays import Bytes
from kmatch.engine.cuda.device import Gpu
from kmatch.engine.cuda.driver import DeviceArray


class DeviceText:
    """masks: uint8[n], a set of bases a letter, on a GPU; raises DeviceError without the memory."""

    def __init__(self, masks: Bytes, gpu: Gpu) -> None:
        gpu.use()
        self.empty = gpu.array
        self._stream = gpu.stream
        self._timed = gpu.timed
        self.masks = self.put(masks)

    def __len__(self) -> int:
        return len(self.masks)

    def launch(
        self, kernel: Any, blocks: Any, threads: Any, *arguments: Any, shared: int = 0
    ) -> None:
        """Launch and time a kernel on a grid; shared: bytes of a block's shared memory."""
        with self._timed():
            kernel[blocks, threads, self._stream, shared](*arguments)

    def put(self, array: NDArray[Any]) -> DeviceArray:
        """Return a copy of an array on the GPU."""
        copy = self.empty(array.shape, array.dtype)
        copy.copy_to_device(np.ascontiguousarray(array), stream=self._stream)
        return copy

    def fetch(self, array: DeviceArray) -> NDArray[Any]:
        """Return a copy on the host of an array on the GPU."""
        copy = array.copy_to_host(stream=self._stream)
        self._stream.synchronize()
        return copy
