"""The protocol of an engine: the kernels of a device as searches call them.

Planes, letters and results are arrays in host memory whatever the device. `text` is a chunk whose
planes no longer change; `capacity` is the most hit codes that a scan keeps. Alignments, and
letters that are read back out of planes, are the work of `workers` for every device.
"""

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Generic, NamedTuple, TypeVar

import numpy as np

from kmatch.arrays import Bytes, Longs, Words
from kmatch.engine.codes import Found
from kmatch.engine.geometry import Layout, Text
from kmatch.engine.queries import DifferenceQuery, QueryArrays
from kmatch.engine.types import SET, Beside, Starts
from kmatch.engine.workers import Workers, cores, pack_items
from kmatch.jit.entries import entry

pack = entry("kmatch.engine.cpu.pack:pack", tuple[Longs, Bytes, Text])
pack_masks = entry("kmatch.engine.cpu.pack:pack_masks", tuple[Longs, Bytes, Text])
add_sets = entry("kmatch.engine.cpu.pack:add_sets", tuple[Bytes, Longs, Text])
read_text = entry("kmatch.engine.letters:read_text", tuple[Longs, Text, Bytes])

Result = TypeVar("Result")


class UnderWay(NamedTuple, Generic[Result]):
    """Work of a device on a chunk. Its caller ends it by calling one of these, once.

    found(): the hits, once all is done; stop(): gives it up, and waits until none runs.
    """

    found: Callable[[], Result]
    stop: Callable[[], object] = lambda: None


Scan = UnderWay[Found]


class Engine(ABC):
    """The kernels of a device.

    name: `cpu` or `cuda`; device: itself, `cpu`, `cuda:N` or `cuda:N,M`; threads: of the CPU, at
    most one a core, None for all cores; description: of the device and why it was chosen, for
    people; layout: the chunks that it is fastest with; capacity: the hit codes of a chunk that it
    has memory for; queues: how many chunks it works on side by side; workers: its threads of the
    CPU.
    """

    name: str
    device: str
    description: str
    layout: Layout
    capacity: int
    queues = 1
    takes_seeds = True  # whether seeds raise the bounds of primers before a sweep

    def __init__(self, threads: int | None = None) -> None:
        self.cores = cores()
        self.threads = min(threads or self.cores, self.cores)
        self.workers = Workers(self.threads)
        self._seconds: float | None = None  # of kernels, where they are timed

    @contextmanager
    def timing_kernels(self) -> Iterator[Callable[[], float]]:
        """Time the kernels of scans and of `extend_primers` inside.

        Gives a function that returns their seconds so far, and waits for kernels under way. A GPU
        times scans by its events, and primers with the host's part; on the CPU no two scans are
        then under way at a time.
        """
        self._seconds = 0.0
        try:
            yield lambda: self._seconds or 0.0
        finally:
            self._seconds = None

    @contextmanager
    def timed(self) -> Iterator[None]:
        """A context in which kernels run; times them where that is wanted."""
        began = time.perf_counter()
        yield
        if self._seconds is not None:
            self._seconds += time.perf_counter() - began

    @abstractmethod
    def planes(self, size: int) -> Words:
        """uint64[size], uninitialised, for planes that do not change once they are scanned."""

    def pack(self, letters: Bytes, text: Text, united: bool = False) -> None:
        """Fill the planes A, C, G and T of a chunk.

        letters: uint8[n], ASCII in any case, 0 where there is no text; text: with planes of at
        least 4·plane_words words, filled here; united: whether there may be letters for sets of
        bases (see SET). Such a letter matches each base of its set.
        """
        self.workers.run(pack, pack_items(text), letters, text)
        if united:
            places = np.flatnonzero(letters >= SET)
            add_sets(letters[places], places, text)

    def pack_masks(self, masks: Bytes, text: Text) -> None:
        """Fill the planes of a chunk, as `pack` does, with letters as masks, uint8[n]."""
        self.workers.run(pack_masks, pack_items(text), masks, text)

    @abstractmethod
    def start_scan(self, text: Text, query: QueryArrays, k: int, capacity: int) -> Scan:
        """Start to look for the windows within k mismatches of each query, by where they start."""

    @abstractmethod
    def start_edit(
        self,
        text: Text,
        query: DifferenceQuery,
        way: str | None,
        capacity: int,
        owned: int = 0,
        beside: Beside | None = None,
    ) -> Scan:
        """Start to look for the anchored ends of each query within its limit.

        way: `filter` or `scan` (see `kmatch.engine.ways`), None to choose; owned: the positions of
        the chunk, where minima alone are wanted and an engine may leave other ends out, 0 for all
        ends; beside: PAMs, and an engine may leave out ends that have none. The position of a hit
        is the position of the letter read last; some codes come twice, and some ends are marked
        (see `kmatch.engine.codes.marked`). A query that is read upwards owns the positions halo …
        halo + 64·words·rows − 1. The positions before warm up the recurrence, so a genome begins
        with `halo` empty positions. A query that is read downwards owns 0 … 64·words·rows − 1. The
        halo is at least m + k of every query.
        """

    @abstractmethod
    def extend_primers(
        self,
        starts: Starts,
        columns: Bytes,
        k: int,
        on_progress: Callable[[float], object] | None = None,
    ) -> int:
        """Raise the bounds of starts as a background requires; returns the cells computed.

        A bound becomes the smallest length up to the limit that has k differences from every
        substring of the columns, or limit + 1 where there is none; no bound becomes smaller, and
        start + bound never decreases within a record. columns: uint8, letters of the background
        (see `kmatch.engine.types`); k: 1 or more; on_progress(share) is called with the share of
        the work that is done.
        """
