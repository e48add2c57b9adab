"""What writes tables: lines of cells, formatted by threads beside the search, and sent in order."""

import io
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Iterable, Sequence
from concurrent.futures import Future
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kmatch.arrays import Bools, Bytes, Longs, bounds_of
from kmatch.jit.entries import entry
from kmatch.results.batches import Texts, take_texts
from kmatch.results.columns import Cells, Named, Names, Spelt
from kmatch.threads import cores, pool

fill_lines = entry(
    "kmatch.results.kernels:fill_lines", tuple[Bools, Bools, Longs, Longs, Longs, Bytes, Bytes]
)

ROWS = 1 << 15  # formatted at a time
MANY = 1 << 12  # rows of a batch that is formatted beside the search
AHEAD = 3  # times ROWS that may wait beyond those that are formatted
THREADS = 4  # that format at a time
DIGITS = 20  # the most that an int64 takes

Fields = Sequence[tuple[str, Cells]]  # what stands before each cell of a line, and the cells


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


def lines_of(fields: Fields) -> memoryview:
    """The lines of cells."""
    texts = [Names(before for before, _ in fields).texts]
    is_number, is_runs, begins, values, begin = [], [], [], [], len(fields)
    size = 0  # bytes that the lines take at the most
    for _, cells in fields:
        begins.append(begin)
        is_number.append(not isinstance(cells, Named | Spelt))
        is_runs.append(isinstance(cells, Spelt) and cells.runs)
        if not isinstance(cells, Named | Spelt):
            values.append(cells)
            size += DIGITS * len(cells)
            continue
        text, which = _texts_of(cells)
        values.append(which)
        texts.append(text)
        begin += len(text.ends) - 1
        # A run of one column takes two bytes, the most a column can take.
        size += int(np.diff(text.ends)[which].sum()) * (1 + is_runs[-1])
    rows = len(values[0])
    out = np.empty(size + rows * (len(texts[0].letters) + 1), np.uint8)
    written = fill_lines(
        np.array(is_number),
        np.array(is_runs),
        np.array(begins),
        np.concatenate(values).astype(np.int64, copy=False),
        bounds_of(np.concatenate([np.diff(text.ends) for text in texts])),
        np.concatenate([text.letters for text in texts]),
        out,
    )
    return memoryview(out.data)[:written]


def _texts_of(cells: Named | Spelt) -> tuple[Texts, NDArray[Any]]:
    """The Texts of cells, and which of them each is."""
    if isinstance(cells, Spelt):
        return cells.texts, np.arange(len(cells.texts.ends) - 1)
    texts, which = cells.names.texts, cells.which
    if len(which) < len(cells.names.words):  # of few rows: those of many patterns are not copied
        return take_texts(texts, which), np.arange(len(which))
    return texts, which
