"""Choosing a published algorithm and running it on a device."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from kmatch.arrays import Bytes, Longs
from kmatch.engine.choice import Work
from kmatch.engine.devices import choose_engine
from kmatch.engine.protocol import Engine
from kmatch.errors import DeviceError, InputError
from kmatch.published.registry import ENGINE, Algorithm, find
from kmatch.sequences.patterns import Pattern

if TYPE_CHECKING:
    from kmatch.search.running import Running

POSITIONS = 1 << 26  # of a chunk: a table takes four bytes of each
PANEL = 1 << 6  # patterns of one length that are searched at a time, and a row of the table each


def choose_algorithm(
    command: str, patterns: Sequence[Pattern], running: Running, work: Work | None = None
) -> tuple[Engine, Run | None]:
    """The engine of a search, and how a published algorithm runs there: None for `bitplane`.

    running: a Running, whose on_engine hears of the engine; `auto` is the CPU for what only runs
    there; work: as for `choose_engine`. Raises InputError for an unknown name or patterns that the
    algorithm's layout cannot hold, DeviceError for a device that cannot be used or that the
    algorithm was not made for.
    """
    chosen = _chosen(command, patterns, running, work)
    if running.on_engine:
        running.on_engine(chosen[0])
    return chosen


def _chosen(
    command: str, patterns: Sequence[Pattern], running: Running, work: Work | None
) -> tuple[Engine, Run | None]:
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
            f"and not on {engine.place}; use another --device, or --algorithm {ENGINE}"
        )
    for pattern in patterns:
        if limit := algorithm.limit_below(len(pattern), engine.name):
            raise InputError(
                f"pattern '{pattern.name}' has {len(pattern)} letters, and algorithm '{name}' "
                f"holds {limit}; use --algorithm {ENGINE}"
            )
    return engine, Run(engine, algorithm)


class Run:
    """An algorithm on the device of an engine; `layout` is that of chunks whose tables fit."""

    def __init__(self, engine: Any, algorithm: Algorithm) -> None:
        self._engine = engine
        function = algorithm.load(engine.name)
        self._run = partial(engine.run, function) if engine.name == "cpu" else function
        self._panel = algorithm.panel
        self.layout = engine.layout.within(POSITIONS // PANEL if algorithm.panel else POSITIONS)

    def text(self, masks: Bytes) -> Any:
        """A text, masks as uint8[n], on the device."""
        if self._engine.name == "cpu":
            from kmatch.published.cpu.text import HostText

            return HostText(masks)
        from kmatch.published.cuda.text import DeviceText

        return DeviceText(masks, self._engine.place)

    def ends(self, text: Any, pattern: Bytes, k: int) -> tuple[Longs, Longs]:
        """(place, distance), int64[h], of what one pattern, uint8[m], finds in a text."""
        return text.hits(self._run(text, pattern, k))

    def smallest(self, text: Any, pattern: Bytes) -> int:
        """The smallest distance of a pattern to any end in a text."""
        return text.smallest(self._run(text, pattern, len(pattern)))

    def primers(self, target: Any, background: Any, k: int) -> tuple[Longs, Longs]:
        """(start, length), int64[h], of the primers that start in a target text."""
        return target.hits(self._run(target, background, k))

    def windows(
        self, text: Any, patterns: list[Bytes], k: int
    ) -> Iterator[tuple[int, Longs, Longs]]:
        """Yield (number, place, distance) for each pattern that has hits; places are starts."""
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
                row, place = np.divmod(index, table.shape[1])
                cuts = np.searchsorted(row, np.arange(1, len(group)))
                yield from zip(group, np.split(place, cuts), np.split(distance, cuts), strict=True)
