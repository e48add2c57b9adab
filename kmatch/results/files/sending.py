"""Sending bytes to a handle, whether it takes them or text."""

import io
from typing import Any


class Sender:
    """What writes to a text or binary handle."""

    def __init__(self, handle: Any) -> None:
        self._handle = handle
        self._as_text = isinstance(handle, io.TextIOBase)

    def finish(self) -> None:
        """Send what still waits, after the last batch."""

    def _send(self, data: Any) -> None:
        self._handle.write(
            bytes(data).decode("utf-8", "surrogateescape") if self._as_text else data
        )
