"""Reading goes on in a thread while what was read is searched."""

from collections import deque
from threading import Condition, Thread

BATCH = 1 << 20  # letters handed over at a time
ROOM = 1 << 23  # letters read ahead
PATIENCE = 0.5  # seconds for a reader to notice that nobody listens; it may wait for a pipe


def read_ahead(parts):
    """Yield what `parts` of `read_parts` yields, while a thread reads on.

    No more than ROOM letters wait, or one record that came as a whole. What the reader raises is
    raised here. Once this is closed, the thread closes `parts` too.
    """
    shelf = _Shelf()
    reader = Thread(target=_read, args=(parts, shelf), name="kmatch reader", daemon=True)
    reader.start()
    try:
        while (batch := shelf.take()) is not None:
            yield from batch
    finally:
        shelf.close()
        reader.join(PATIENCE)


def _read(parts, shelf):
    batch, letters = [], 0
    try:
        for part in parts:
            batch.append(part)
            letters += len(part[0].letters)
            if letters >= BATCH:
                if not shelf.put(batch, letters):
                    return
                batch, letters = [], 0
        shelf.put(batch, letters)
        shelf.put(None, 0)
    except BaseException as error:
        shelf.put(batch, letters)
        shelf.fail(error)
    finally:
        parts.close()


class _Shelf:
    """Batches between two threads."""

    def __init__(self):
        self._changed = Condition()
        self._batches = deque()
        self._letters = 0
        self._closed = False
        self._error = None

    def put(self, batch, letters):
        """Add a batch and wait until there is room for more; whether one should go on."""
        with self._changed:
            self._batches.append((batch, letters))
            self._letters += letters
            self._changed.notify()
            self._changed.wait_for(lambda: self._closed or self._letters <= ROOM)
            return not self._closed

    def fail(self, error):
        with self._changed:
            self._error = error
            self._changed.notify()

    def take(self):
        """The next batch, None at the end; raises what the reader failed with."""
        with self._changed:
            self._changed.wait_for(lambda: self._batches or self._error)
            if not self._batches:
                raise self._error
            batch, letters = self._batches.popleft()
            self._letters -= letters
            self._changed.notify()
            return batch

    def close(self):
        with self._changed:
            self._closed = True
            self._changed.notify()
