"""Chunks are scanned once each, however many hits they hold.

While a chunk is reported, the next ones are scanned. The scan of a chunk ends early if its hits
exceed the capacity; the hits seen by then show into how many parts to cut it, and later chunks are
cut beforehand. So memory is bounded, and a text is mostly scanned twice where it becomes denser.
"""

from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from itertools import chain, pairwise
from typing import Any

import numpy as np

from kmatch.arrays import Longs
from kmatch.engine.engine import Engine, Scan

CAPACITY: int | None = None  # hit codes of a scan, None for the engine's own; tests make it tiny
BATCH = 1 << 17  # codes that are an item of work, at the most
LETTERS = 1 << 23  # of alignments that come together
AHEAD = 2  # scans under way for each queue, beside the chunk that is reported
MARGIN = 2.0  # times the expected hits fit into the capacity
FADING = 0.5  # of the density seen so far is still expected in the next chunk

Start = Callable[[Any, int], Scan]


class Scanner:
    """Scans chunks for hit codes.

    engine: of a device. A chunk has a `length` in positions, and part(begin, end), the part of it
    that owns these.
    """

    def __init__(self, engine: Engine) -> None:
        self._queues = engine.queues
        self._capacity = CAPACITY or engine.capacity
        self._density = 0.0  # hits a position

    def scan(self, chunks: Iterable[Any], start: Start) -> Generator[tuple[Any, Longs]]:
        """Yield (chunk, codes): each PackedChunk, or its parts in order, with its sorted codes.

        start(chunk, capacity) starts an engine's scan of a chunk.
        """
        ahead = AHEAD * self._queues
        pending: deque[tuple[Any, Scan]] = deque()
        try:
            for part in chain.from_iterable(map(self._parts, chunks)):
                pending.append((part, start(part, self._capacity)))
                if len(pending) > ahead:
                    yield from self._finish(*pending.popleft(), start)
            while pending:
                yield from self._finish(*pending.popleft(), start)
        finally:
            for _, scan in pending:
                scan.stop()

    def _parts(self, chunk: Any, least: int = 1) -> Iterable[Any]:
        """Return a chunk in parts, `least` or more, of which each has room for its hits, if they
        are as dense as those seen."""
        many = int(self._density * MARGIN * chunk.length / self._capacity) + 1
        many = min(max(many, least), chunk.length)
        if many == 1:
            return [chunk]
        cuts = (np.arange(many + 1) * chunk.length // many).tolist()
        return (chunk.part(begin, end) for begin, end in pairwise(cuts))

    def _finish(self, chunk: Any, scan: Scan, start: Start) -> Iterator[tuple[Any, Longs]]:
        """Yield a chunk and the codes of its scan, or parts of it if not all codes fit."""
        found = scan.found()
        seen = (len(found.codes) + found.lost) / max(found.share, 1e-9)
        self._density = max(seen / chunk.length, FADING * self._density)
        if not found.lost:
            yield chunk, found.codes
        elif chunk.length == 1:  # all hits of one position have to fit
            yield from self._finish(chunk, start(chunk, 2 * (len(found.codes) + found.lost)), start)
        else:
            del found
            yield from self.scan(self._parts(chunk, 2), start)


def code_batches(codes: Longs, most: int) -> Iterator[Longs]:
    """Yield sorted codes, int64[n], in stretches of at most so many."""
    for first in range(0, len(codes), most):
        yield codes[first : first + most]


def rows_at_once(lengths: Longs, aligned: bool) -> int:
    """Return how many hits come together, which bounds the letters of alignments.

    lengths: of the patterns; aligned: whether hits come with their alignments.
    """
    if not aligned:
        return BATCH
    longest = int(lengths.max())
    return min(BATCH, max(LETTERS // longest, 1))
