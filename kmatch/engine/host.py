"""The part of every engine that runs on the CPU: hits read back from the planes, and alignments."""

import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any, Generic, TypeVar

import numba
import numpy as np

from kmatch.arrays import Bytes, Longs, bounds_of
from kmatch.engine.geometry import Text
from kmatch.engine.protocol import KernelTime
from kmatch.engine.queries import ReadingArrays
from kmatch.engine.types import (
    Columns,
    Constraints,
    DifferenceQuery,
    Ends,
    Profile,
    Traced,
    View,
    Windows,
    Written,
)
from kmatch.engine.workers import Workers, slabs


class HostEngine:
    """The part of an engine that runs on threads of the CPU (see `kmatch.engine.protocol.Engine`).

    threads: at most one a core, None for all cores.
    """

    name: str
    queues = 1

    def __init__(self, threads: int | None = None) -> None:
        self.cores: int = numba.config.NUMBA_NUM_THREADS
        self.threads = min(threads or self.cores, self.cores)
        self._workers = Workers(self.threads)
        self._watch: Stopwatch | None = None

    def time_kernels(self) -> KernelTime:
        self._watch = Stopwatch()
        return self._watch

    def _timed(self) -> AbstractContextManager[None]:
        """A context in which kernels run; times them where that is wanted."""
        return nullcontext() if self._watch is None else self._watch.timing()

    def compile_primers(self, length: int) -> None:
        """Nothing to do: the same kernels take primers of any length."""

    def read_text(self, text: Text, letters: Bytes) -> None:
        from kmatch.engine.letters import read_text

        self._workers.run(read_text, text.words, text, letters)

    def spell(self, masks: Bytes, letters: Bytes) -> None:
        from kmatch.engine.letters import spell

        self._workers.run(spell, slabs(len(masks)), masks, letters)

    def read_sites(
        self,
        text: Text,
        letters: Bytes,
        positions: Longs,
        minus: Bytes,
        length: int,
        windows: Bytes,
    ) -> None:
        from kmatch.engine.letters import read_sites

        sites: tuple[Any, ...] = (positions, minus, length)
        self._workers.run(read_sites, slabs(len(positions)), text, letters, *sites, windows)

    def align_gapless(
        self, text: Text, windows: Windows, written: Written, columns: Columns
    ) -> None:
        from kmatch.engine.letters import align_gapless

        items = slabs(len(windows.position))
        self._workers.run(align_gapless, items, text, windows, written, columns)

    def profiles(self, reading: ReadingArrays) -> Profile:
        from kmatch.engine.trace import MASKS, fill_profiles

        begins = bounds_of(MASKS * -(-np.diff(reading.begins) // 64))
        profile = Profile(np.empty(begins[-1], np.uint64), begins)
        self._workers.run(fill_profiles, slabs(len(begins) - 1), reading, profile)
        return profile

    def trace(
        self,
        text: Text,
        letters: Bytes,
        query: DifferenceQuery,
        ends: Ends,
        traced: Traced,
        columns: Columns,
    ) -> None:
        from kmatch.engine.trace import trace

        items = slabs(len(ends.position))
        self._workers.run(trace, items, text, letters, query, ends, traced, columns)

    def read_stretch(self, view: View, position: int, letters: Bytes) -> None:
        from kmatch.engine.trace_rules import read_stretch

        read_stretch(view, position, letters)

    def stand_beside(
        self,
        view: View,
        query: DifferenceQuery,
        constraints: Constraints,
        ends: tuple[Longs, Longs],
        beside: Longs,
    ) -> None:
        from kmatch.engine.trace_rules import stand_beside

        items = slabs(len(beside))
        self._workers.run(stand_beside, items, view, query, constraints, ends, beside)

    def constrained_distances(
        self, view: View, query: DifferenceQuery, constraints: Constraints, ends: Ends
    ) -> None:
        from kmatch.engine.trace_rules import constrained_distances

        items = slabs(len(ends.position))
        self._workers.run(constrained_distances, items, view, query, constraints, ends)

    def trace_constrained(
        self,
        view: View,
        query: DifferenceQuery,
        constraints: Constraints,
        ends: Ends,
        traced: tuple[Longs, Longs, Longs],
        columns: Columns,
    ) -> None:
        from kmatch.engine.trace_rules import trace_constrained

        items = slabs(len(ends.position))
        self._workers.run(trace_constrained, items, view, query, constraints, ends, traced, columns)


Result = TypeVar("Result")


class Done(Generic[Result]):
    """A result that is there, handed on as that of a Scan under way is."""

    def __init__(self, result: Result) -> None:
        self._result = result

    def found(self) -> Result:
        """The result."""
        return self._result

    def stop(self) -> None:
        """Nothing is left to stop."""


class Stopwatch:
    """A KernelTime (see `kmatch.engine.protocol`) of what runs inside `timing`."""

    def __init__(self) -> None:
        self._seconds = 0.0

    @property
    def seconds(self) -> float:
        return self._seconds

    @contextmanager
    def timing(self) -> Iterator[None]:
        """Time what runs inside."""
        began = time.perf_counter()
        yield
        self._seconds += time.perf_counter() - began


Pack = Callable[[Bytes, Text], object]

_standing_in: list[Pack] = []


@contextmanager
def packing_by(function: Pack) -> Iterator[None]:
    """Make engines pack by function(letters, text), see `Engine.pack`, inside the block.

    Processes that compile kernels do so: every search would wait for the kernel that packs.
    """
    _standing_in.append(function)
    try:
        yield
    finally:
        _standing_in.remove(function)


def stand_in() -> Pack | None:
    """The function that packs instead of the kernel, or None."""
    return _standing_in[-1] if _standing_in else None
