"""Searches by the algorithms of published papers: engines that find the hits of a chunk by them.

All else, reading, plateaus, alignments and order, is the same as by kmatch's own algorithm.
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from kmatch.arrays import Bytes, Longs, Words, distinct
from kmatch.engine.codes import Coding, Found, found_in, marked
from kmatch.engine.engine import Engine, Scan, UnderWay, read_text
from kmatch.engine.geometry import LANES_PER_WORD, Layout, Text, halo_of
from kmatch.engine.queries import DifferenceQuery, QueryArrays, ReadingArrays, step_of
from kmatch.engine.types import FRESH, Beside, Starts

if TYPE_CHECKING:
    from kmatch.published.registry import Algorithm

POSITIONS = 1 << 26  # of a table, four bytes each
PANEL = 1 << 6  # patterns of one length that are searched at a time, a row of the table each
BASES = np.array([1, 2, 4, 8], np.uint8)  # of the first planes
COLUMN_MASKS = np.append(BASES, np.zeros(2, np.uint8))  # of the codes of a background

Table = NDArray[np.int32]


class Published(Engine):
    """An Engine that scans by an algorithm, on the device of another engine."""

    takes_seeds = False  # as the work of the algorithm is what is measured

    def __init__(self, base: Any, algorithm: "Algorithm") -> None:
        super().__init__(base.threads)
        self.name = algorithm.name
        self.device = base.device
        self.description = base.description
        self.capacity = base.capacity
        self.workers = base.workers
        self.layout = Layout().within(POSITIONS // PANEL) if algorithm.panel else Layout()
        self._base = base
        self._algorithm = algorithm
        self._run = algorithm.load(base.name)

    def planes(self, size: int) -> Words:
        planes: Words = self._base.planes(size)
        return planes

    def text(self, masks: Bytes) -> Any:
        """Return a text, masks as uint8[n], on the device, as the algorithm takes it."""
        if self._base.name == "cpu":
            return masks
        from kmatch.published.cuda import DeviceText

        return DeviceText(masks, self._base.gpus[0])

    def table(self, text: Any, pattern: Any, k: int) -> Table:
        """Return the results of the algorithm (see `kmatch.published`), in host memory."""
        shape: tuple[int, ...] = (len(text),)
        if self._algorithm.counts_mismatches:
            shape = *pattern.shape[:-1], len(text) - pattern.shape[-1] + 1
        if self._base.name == "cpu":
            table: Table = np.empty(shape, np.int32)
            workers = (self.workers,) if self._algorithm.threaded else ()
            with self._base.timed():
                self._run(text, pattern, k, table, *workers)
            return table
        result = text.empty(shape, np.int32)
        self._run(text, pattern, k, result)
        found: Table = text.fetch(result)
        return found

    def hits(self, text: Any, pattern: Any, k: int) -> tuple[Longs, Longs]:
        """Return (position, distance) of the hits of a pattern, uint8[m], or of a panel, in a text;
        where the text is the background of primers, (start, length) of primers in a target."""
        table = self.table(text, pattern, k).reshape(-1)
        index = np.flatnonzero(table >= 0)
        return index, table[index].astype(np.int64)

    def windows(
        self, text: Any, patterns: Sequence[Bytes], k: int
    ) -> Iterator[tuple[int, Longs, Longs]]:
        """Yield (number of a pattern, starts, distances) of the hits of patterns in a text."""
        most = max(min(POSITIONS // len(text), PANEL), 1) if self._algorithm.panel else 1
        for numbers in _panels(patterns, most):
            panel = np.stack([patterns[number] for number in numbers])
            length = panel.shape[1]
            pattern = panel if self._algorithm.panel else panel[0]
            table = self.table(text, pattern, min(k, length)).reshape(len(numbers), -1)
            for number, row in zip(numbers, table, strict=True):
                starts = np.flatnonzero(row >= 0)
                yield number, starts, row[starts].astype(np.int64)

    def start_scan(self, text: Text, query: QueryArrays, k: int, capacity: int) -> Scan:
        """See `Engine.start_scan`. All letters of a window are the algorithm's pattern. A hit
        counts if the letters that have to match do."""
        masks = self._letters(text)
        bases = np.append(BASES, query.masks)[query.planes]
        coding = Coding(len(query.bounds), k)
        codes = [np.zeros(0, np.int64)]
        found = self.windows(self.text(masks), _windows_of(query, bases), k)
        for number, starts, distances in found:
            fits = np.ones(len(starts), bool)
            _, exact, end, _ = query.bounds[number]
            for letter in range(exact, end):
                text_letters = masks[starts + query.shifts[letter]]
                fits &= text_letters & bases[letter] != 0
            codes.append(coding.encode(starts[fits], number, distances[fits]))
        return _done(codes)

    def start_edit(
        self,
        text: Text,
        query: DifferenceQuery,
        way: str | None,
        capacity: int,
        owned: int = 0,
        beside: Beside | None = None,
    ) -> Scan:
        """See `Engine.start_edit`. A query that is read downwards is looked for in the reverse
        text."""
        masks = self._letters(text)
        coding = Coding(len(query.limits), marked(query.k))
        codes = [np.zeros(0, np.int64)]
        for backward in (0, 1):
            of_way = (query.reading.backward == backward) & (query.limits >= 0)
            if not of_way.any():
                continue
            on_device = self.text(np.ascontiguousarray(masks[:: step_of(backward)]))
            for number in np.flatnonzero(of_way).tolist():
                pattern = _pattern_of(query.reading, number)
                ends, distances = self.hits(on_device, pattern, int(query.limits[number]))
                positions = len(masks) - 1 - ends if backward else ends
                codes.append(coding.encode(positions, number, distances))
        return _done(codes)

    def _letters(self, text: Text) -> Bytes:
        """Return the letters of a chunk with its halo, as masks."""
        owned = LANES_PER_WORD * text.words * text.rows
        masks = np.empty(owned + halo_of(text), np.uint8)
        self.workers.run(read_text, text.words, text, masks)
        return masks

    def extend_primers(
        self,
        starts: Starts,
        columns: Bytes,
        k: int,
        on_progress: Callable[[float], object] | None = None,
    ) -> int:
        """As an engine's; cells are not counted.

        Records of the background are parted by k letters that match nothing, so that no alignment
        across them has fewer than k differences.
        """
        repeats = np.where(columns == FRESH, k, 1)
        background = self.text(np.repeat(COLUMN_MASKS[columns], repeats))
        records = list(pairwise(starts.begins.tolist()))
        for number, (begin, end) in enumerate(records, 1):
            if end > begin:
                record = self.text(starts.masks[begin:end])
                start, length = self.hits(record, background, k)
                found = starts.limits[begin:end] + 1
                found[start] = np.minimum(found[start], length)
                bounds = starts.bounds[begin:end]
                np.maximum(bounds, found, out=bounds)
            if on_progress:
                on_progress(number / len(records))
        return 0


def _panels(patterns: Sequence[Bytes], most: int) -> Iterator[list[int]]:
    """Yield the numbers of at most so many patterns of one length, shorter ones first."""
    lengths = np.array([len(pattern) for pattern in patterns])
    for length in distinct(lengths).tolist():
        alike = np.flatnonzero(lengths == length).tolist()
        for first in range(0, len(alike), most):
            yield alike[first : first + most]


def _windows_of(query: QueryArrays, bases: Bytes) -> list[Bytes]:
    """Return the letters of each query along the text; bases: uint8[L], the mask of each letter."""
    windows = []
    for first, _, end, _ in query.bounds.tolist():
        along_text = np.argsort(query.shifts[first:end])
        windows.append(bases[first:end][along_text])
    return windows


def _pattern_of(reading: ReadingArrays, number: int) -> Bytes:
    """Return the masks of a query by its number, as they are read."""
    begin, end = reading.begins[number : number + 2]
    return reading.bases[reading.letters[begin:end]]


def _done(codes: list[Longs]) -> Scan:
    found: Found = found_in(np.concatenate(codes), 0, 1.0)
    return UnderWay(lambda: found)
