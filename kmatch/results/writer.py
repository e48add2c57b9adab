"""What writes tables: lines of cells, formatted by threads beside the search, and sent in order."""

import io
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Iterable
from concurrent.futures import Future
from typing import Any

from kmatch.results.lines import Fields, lines_of
from kmatch.threads import cores, pool

ROWS = 1 << 15  # formatted at a time
MANY = 1 << 12  # rows of a batch that is formatted beside the search
AHEAD = 3  # times ROWS that may wait beyond those that are formatted
THREADS = 4  # that format at a time


class Writer(ABC):
    """Writes a header and batches to a text or binary handle; table: what they are
    rows of."""

    def __init__(self, handle: Any, table: Any) -> None:
        self.handle, self.table = handle, table
        self._as_text = isinstance(handle, io.TextIOBase)
        self._waiting: deque[Future[memoryview]] = deque()
        threads = min(table.threads or cores(), THREADS)
        self._submit, self._ahead = pool(threads, "kmatch lines").submit, AHEAD + threads
        self.send(self.header().encode("utf-8", "surrogateescape"))

    def header(self) -> str:
        """What stands above the lines."""
        return ""

    @abstractmethod
    def fields(self, batch: Any) -> Fields:
        """The Fields of the lines of some rows, asked for in order."""

    def write(self, batch: Any) -> None:
        """Write a batch; threads format a large one while the search goes on."""
        for first in range(0, len(batch), ROWS):
            fields = self.fields(batch.picked(slice(first, first + ROWS)))
            if len(batch) < MANY and not self._waiting:
                self.send(lines_of(fields))
                continue
            self._waiting.append(self._submit(lines_of, fields))
            self._send_until(self._ahead)

    def write_all(self, batches: Iterable[Any]) -> None:
        """Write batches, and finish."""
        for batch in batches:
            self.write(batch)
        self.finish()

    def finish(self) -> None:
        """Send what still waits, after the last batch."""
        self._send_until(0)
        self.table.check()

    def send(self, data: Any) -> None:
        """Write bytes to the handle."""
        self.handle.write(bytes(data).decode("utf-8", "surrogateescape") if self._as_text else data)

    def _send_until(self, left: int) -> None:
        """Send lines in their order: what is ready, and until so many parts wait."""
        while self._waiting and (len(self._waiting) > left or self._waiting[0].done()):
            self.send(self._waiting.popleft().result())
