"""Chunks are scanned once each, however many hits they hold.

While a chunk is reported, the next ones are scanned. The scan of a chunk ends early where its hits
do not find room; the hits seen by then say where to cut it into parts that hold fewer, and chunks
after it are cut beforehand. So memory is bounded, and a text is scanned twice at the most where it
becomes denser.
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import Protocol, Self, TypeVar

import numpy as np

from kmatch.arrays import Longs
from kmatch.engine.protocol import Engine, Scan

DEEP = 2  # scans under way for each of several GPUs
MARGIN = 1.25  # room for so many times the hits that are expected
FADING = 0.5  # of the hits a position seen before, in the next chunk


class Divided(Protocol):
    """What a Scanner scans: a chunk of `length` positions that can be cut into parts."""

    length: int

    def part(self, begin: int, end: int, engine: Engine) -> Self:
        """What it owns of the positions begin … end−1."""


Chunk = TypeVar("Chunk", bound=Divided)
Start = Callable[[Chunk, int], Scan]


class Scanner:
    """Scans chunks for hit codes.

    engine: of a device; factor: what codes hold below the position, Q·(k + 1); capacity: codes
    there is room for in a scan, the engine's own where it is None, which tests make tiny.
    """

    def __init__(self, engine: Engine, factor: int, capacity: int | None = None) -> None:
        self._engine, self._factor = engine, factor
        self._capacity = capacity or engine.capacity
        self._density = 0.0  # hits a position

    def scan(self, chunks: Iterable[Chunk], start: Start[Chunk]) -> Iterator[tuple[Chunk, Longs]]:
        """Yield (chunk, codes): each PackedChunk, or its parts in order, with its sorted codes.

        start(chunk, capacity) starts an engine's scan of a chunk.
        """
        queues = self._engine.queues
        ahead = 1 if queues == 1 else DEEP * queues  # beside the chunk that is reported
        pending: deque[tuple[Chunk, Scan]] = deque()
        try:
            for chunk in chunks:
                for part in self._parts(chunk):
                    pending.append((part, start(part, self._capacity)))
                    if len(pending) > ahead:
                        yield from self._finish(*pending.popleft(), start)
            while pending:
                yield from self._finish(*pending.popleft(), start)
        finally:
            for _, scan in pending:
                scan.stop()

    def _parts(self, chunk: Chunk) -> Iterable[Chunk]:
        many = int(self._density * MARGIN * chunk.length / self._capacity) + 1
        many = min(many, chunk.length)
        if many == 1:
            return [chunk]
        return self._cut(chunk, np.arange(1, many) * chunk.length // many)

    def _finish(
        self, chunk: Chunk, scan: Scan, start: Start[Chunk]
    ) -> Iterator[tuple[Chunk, Longs]]:
        found = scan.found()
        seen = (len(found.codes) + found.lost) / max(found.share, 1e-9)
        self._density = max(seen / chunk.length, FADING * self._density)
        if not found.lost:
            yield chunk, found.codes
        elif chunk.length == 1:  # all hits of one position have to find room
            yield from self._finish(chunk, start(chunk, 2 * (len(found.codes) + found.lost)), start)
        else:
            many = min(max(int(seen * MARGIN / self._capacity) + 1, 2), chunk.length)
            places = found.codes // self._factor
            cuts = places[np.arange(1, many) * len(places) // many]
            cuts = np.unique(cuts[(cuts > 0) & (cuts < chunk.length)])
            del found, places
            for part in self._cut(chunk, cuts if len(cuts) else [chunk.length // 2]):
                yield from self._finish(part, start(part, self._capacity), start)

    def _cut(self, chunk: Chunk, cuts: Iterable[int]) -> Iterator[Chunk]:
        begins, ends = [0, *cuts], [*cuts, chunk.length]
        for begin, end in zip(begins, ends, strict=True):
            yield chunk.part(int(begin), int(end), self._engine)
