"""Sending bytes to a handle, whether it takes them or text."""

import io


class Sender:
    """What writes to a text or binary handle."""

    def __init__(self, handle):
        self._handle = handle
        self._as_text = isinstance(handle, io.TextIOBase)

    def _send(self, data):
        self._handle.write(
            bytes(data).decode("utf-8", "surrogateescape") if self._as_text else data
        )
