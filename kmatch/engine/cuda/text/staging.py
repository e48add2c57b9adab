"""Planes in ordinary memory on their way to the GPU.

It copies at full speed, and beside its work, from pinned memory alone. So threads of the CPU copy
planes there, the next ones while those before are searched, and each part goes on as it comes.
"""

from concurrent.futures import ThreadPoolExecutor

import numpy as np

from kmatch.engine.cuda.gpu import driver

PARTS = 4  # of planes, by as many threads
SLOTS = 2  # planes that are under way at a time


class Staging:
    """Pinned memory for planes under way; stream: in which they are copied to the GPU."""

    def __init__(self, stream):
        self._stream = stream
        self._pool = ThreadPoolExecutor(PARTS)
        self._slots = [(np.empty(0, np.uint64), None)] * SLOTS

    def start(self, planes, text):
        """Begin to copy planes to text, on the GPU. Returns the Transfer."""
        pinned, before = self._slots.pop(0)
        if before:
            before.finish()
        if len(pinned) < len(planes):
            pinned = driver.pinned(len(planes))  # of which systems may grant little
            pinned = np.empty(len(planes), np.uint64) if pinned is None else pinned
        transfer = Transfer(planes, pinned[: len(planes)], text, self._pool, self._stream)
        self._slots.append((pinned, transfer))
        return transfer


class Transfer:
    """Planes under way to the GPU."""

    def __init__(self, planes, pinned, text, pool, stream):
        self._pinned, self._text, self._stream = pinned, text, stream
        cuts = np.linspace(0, len(planes), PARTS + 1).astype(int).tolist()
        parts = [slice(*cuts[i : i + 2]) for i in range(PARTS)]
        self._parts = [(part, pool.submit(np.copyto, pinned[part], planes[part])) for part in parts]
        self._sent = None

    def wait(self, stream):
        """Let later work in a stream wait until all is there."""
        self._send()
        self._sent.wait(stream)

    def finish(self):
        """Wait until all is there."""
        self._send()
        self._sent.synchronize()

    def _send(self):
        while self._parts:
            part, copied = self._parts.pop(0)
            copied.result()
            self._text[part].copy_to_device(self._pinned[part], stream=self._stream)
        self._sent = self._sent or driver.mark(self._stream)
