"""Reading ahead: a thread reads while what it has read is searched."""

from collections import deque
from collections.abc import Generator, Iterator
from threading import Condition, Thread

from kmatch.sequences.records import Part

Batch = list[Part]
BATCH = 1 << 20  # letters handed over at a time
CAPACITY = 1 << 23  # letters read ahead, at most
PATIENCE = 0.5  # seconds to wait for the reader, which may itself wait for a pipe


def read_ahead(parts: Generator[Part]) -> Iterator[Part]:
    """Yield what `parts` of `read_parts` yields, while a thread reads on.

    The thread stops once more than CAPACITY letters wait. What it raises is raised here. When this
    generator is closed, the thread closes `parts` too.
    """
    queue = _Queue()
    reader = Thread(target=_read, args=(parts, queue), name="kmatch reader", daemon=True)
    reader.start()
    try:
        while (batch := queue.take()) is not None:
            yield from batch
    finally:
        queue.close()
        reader.join(PATIENCE)


def _read(parts: Generator[Part], queue: "_Queue") -> None:
    batch: Batch = []
    letters = 0
    try:
        for part in parts:
            batch.append(part)
            letters += len(part[0].letters)
            if letters >= BATCH:
                if not queue.put(batch, letters):
                    return
                batch, letters = [], 0
        queue.put(batch, letters)
        queue.put(None, 0)
    except BaseException as error:
        queue.put(batch, letters)
        queue.fail(error)
    finally:
        parts.close()


class _Queue:
    """Batches between two threads."""

    def __init__(self) -> None:
        self._changed = Condition()
        self._batches: deque[tuple[Batch | None, int]] = deque()
        self._letters = 0
        self._closed = False
        self._error: BaseException | None = None

    def put(self, batch: Batch | None, letters: int) -> bool:
        """Add a batch, or None for the end, and wait until more may be read; False once closed."""
        with self._changed:
            self._batches.append((batch, letters))
            self._letters += letters
            self._changed.notify()
            self._changed.wait_for(lambda: self._closed or self._letters <= CAPACITY)
            return not self._closed

    def fail(self, error: BaseException) -> None:
        with self._changed:
            self._error = error
            self._changed.notify()

    def take(self) -> Batch | None:
        """The next batch, None at the end; raises the reader's error."""
        with self._changed:
            self._changed.wait_for(lambda: self._batches or self._error)
            if self._error and not self._batches:
                raise self._error
            batch, letters = self._batches.popleft()
            self._letters -= letters
            self._changed.notify()
            return batch

    def close(self) -> None:
        with self._changed:
            self._closed = True
            self._changed.notify()
