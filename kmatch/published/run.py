"""Chooses a published algorithm and runs it on a device."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from kmatch.arrays import Bytes, Longs
from kmatch.engine.devices import choose_engine
from kmatch.engine.engine import Engine
from kmatch.errors import DeviceError, InputError
from kmatch.published.registry import ENGINE, Algorithm, find

if TYPE_CHECKING:
    from kmatch.search.query import Run as Running
    from kmatch.sequences.patterns import Pattern

Hits = tuple[Longs, Longs]  # positions and distances, or starts and lengths

POSITIONS = 1 << 26  # of a chunk, four bytes of a table each
PANEL = 1 << 6  # patterns of one length that are searched at a time, a row of the table each


def choose_algorithm(
    command: str, patterns: Sequence[Pattern], running: Running, work: int | None = None
) -> tuple[Engine, Run | None]:
    """The engine of a search, and the Run of a published algorithm there, None for `bitplane`.

    running: how the search runs; `auto` is the CPU for algorithms that only run there; work: as for
    `choose_engine`. Raises InputError for an unknown name and for patterns that the algorithm's
    layout does not hold, DeviceError for a device that cannot be used or on which the algorithm
    does not run.
    """
    name, device = running.algorithm, running.device
    algorithm = find(command, name)
    if algorithm is None:
        return choose_engine(device, running.threads, work), None
    if device == "auto" and "cuda" not in algorithm.devices:
        device = "cpu"
    engine = choose_engine(device, running.threads)
    if engine.name not in algorithm.devices:
        raise DeviceError(
            f"algorithm '{name}' ({algorithm.paper}) runs on {' or '.join(algorithm.devices)}, "
            f"and not on {engine.device}; use another --device, or --algorithm {ENGINE}"
        )
    if engine.queues > 1:
        raise DeviceError(f"algorithm '{name}' runs on one GPU, not on {engine.device}; use cuda:N")
    for pattern in patterns:
        if limit := algorithm.limit_below(len(pattern), engine.name):
            raise InputError(
                f"pattern '{pattern.name}' has {len(pattern)} letters, and algorithm '{name}' "
                f"holds {limit}; use --algorithm {ENGINE}"
            )
    return engine, Run(engine, algorithm)


class Run:
    """An algorithm on the device of an engine; `layout`: of chunks whose tables fit in memory."""

    def __init__(self, engine: Any, algorithm: Algorithm) -> None:
        self._engine = engine
        function = algorithm.load(engine.name)
        if engine.name == "cpu":
            from kmatch.published.cpu import on_threads

            function = partial(on_threads, engine.threads, function)
        self._run = function
        self._panel = algorithm.panel
        self.layout = engine.layout.within(POSITIONS // PANEL if algorithm.panel else POSITIONS)

    def text(self, masks: Bytes) -> Any:
        """A text, masks as uint8[n], on the device."""
        if self._engine.name == "cpu":
            from kmatch.published.cpu import HostText

            return HostText(masks)
        from kmatch.published.cuda import DeviceText

        return DeviceText(masks, self._engine.device)

    def ends(self, text: Any, pattern: Bytes, k: int) -> Hits:
        """(position, distance) of the hits of one pattern in a text."""
        hits: Hits = text.hits(self._run(text, pattern, k))
        return hits

    def smallest(self, text: Any, pattern: Bytes) -> int:
        """The smallest distance of a pattern at any end in a text."""
        return int(text.smallest(self._run(text, pattern, len(pattern))))

    def primers(self, target: Any, background: Any, k: int) -> Hits:
        """(start, length) of the primers in a target text."""
        hits: Hits = target.hits(self._run(target, background, k))
        return hits

    def windows(
        self, text: Any, patterns: Sequence[Bytes], k: int
    ) -> Iterator[tuple[int, Longs, Longs]]:
        """Yield (number of a pattern, starts, distances) of the hits of patterns in a text."""
        if not self._panel:
            for number, masks in enumerate(patterns):
                yield number, *self.ends(text, masks, k)
            return
        lengths = np.array([len(masks) for masks in patterns])
        for length in np.unique(lengths):
            numbers = np.flatnonzero(lengths == length)
            for first in range(0, len(numbers), PANEL):
                group = numbers[first : first + PANEL]
                table = self._run(text, np.stack([patterns[number] for number in group]), k)
                index, distance = text.hits(table)
                row, start = np.divmod(index, table.shape[1])
                cuts = np.searchsorted(row, np.arange(1, len(group)))
                yield from zip(group, np.split(start, cuts), np.split(distance, cuts), strict=True)
