"""Planes in ordinary memory on their way to the GPU.

A GPU copies at full speed, and while it computes, from pinned memory alone. So threads of the CPU
copy planes there, the next ones while the previous ones are searched, and each part is sent on as
soon as it has arrived.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np

from kmatch.arrays import Words
from kmatch.engine.cuda.gpu import driver
from kmatch.engine.cuda.gpu.driver import DeviceArray, Event, Stream

PARTS = 4  # of planes, each copied by a thread
SLOTS = 2  # transfers under way at a time


class Staging:
    """Pinned memory for planes under way.

    stream: of the GPU, in which they are copied.
    """

    def __init__(self, stream: Stream) -> None:
        self._stream = stream
        self._pool = ThreadPoolExecutor(PARTS)
        empty: tuple[Words, Transfer | None] = (np.empty(0, np.uint64), None)
        self._slots = [empty] * SLOTS

    def start(self, planes: Words, copied: DeviceArray) -> Transfer:
        """Begin to copy planes to `copied`, on the GPU; returns the Transfer."""
        pinned, before = self._slots.pop(0)
        if before:
            before.finish()
        if len(pinned) < len(planes):
            granted = driver.pinned(len(planes))  # systems may grant little
            pinned = np.empty(len(planes), np.uint64) if granted is None else granted
        transfer = Transfer(planes, pinned[: len(planes)], copied, self._pool, self._stream)
        self._slots.append((pinned, transfer))
        return transfer


class Transfer:
    """Planes under way to the GPU."""

    def __init__(
        self,
        planes: Words,
        pinned: Words,
        copied: DeviceArray,
        pool: ThreadPoolExecutor,
        stream: Stream,
    ) -> None:
        self._pinned, self._copied, self._stream = pinned, copied, stream
        cuts = np.linspace(0, len(planes), PARTS + 1).astype(int).tolist()
        parts = [slice(*cuts[i : i + 2]) for i in range(PARTS)]
        self._parts = [(part, pool.submit(np.copyto, pinned[part], planes[part])) for part in parts]

    def wait(self, stream: Stream) -> None:
        """Make later work in a stream wait until all has arrived."""
        self._send().wait(stream)

    def finish(self) -> None:
        """Wait until all has arrived."""
        self._send().synchronize()

    def _send(self) -> Event:
        """Send all parts to the GPU, unless they are; returns the event of their arrival."""
        while self._parts:
            part, pinned = self._parts.pop(0)
            pinned.result()
            self._copied[part].copy_to_device(self._pinned[part], stream=self._stream)
            if not self._parts:
                self._sent: Event = driver.mark(self._stream)
        return self._sent
