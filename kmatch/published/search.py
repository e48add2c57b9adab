"""Searches by the algorithms of published papers: engines that find the hits of a chunk by them.

All else, reading, plateaus, alignments and order, is the same as by kmatch's own algorithm.
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from kmatch.arrays import Bytes, Longs, Words
from kmatch.engine.codes import Coding, Found, found_in, marked
from kmatch.engine.engine import Engine, Scan, UnderWay, read_text
from kmatch.engine.geometry import LANES_PER_WORD, Layout, Text, halo_of
from kmatch.engine.queries import DifferenceQuery, QueryArrays
from kmatch.engine.types import FRESH, Starts

if TYPE_CHECKING:
    from kmatch.published.registry import Algorithm

POSITIONS = 1 << 26  # of a table, four bytes each
PANEL = 1 << 6  # patterns of one length that are searched at a time, a row of the table each
BASES = np.array([1, 2, 4, 8], np.uint8)  # of the first planes
COLUMN_MASKS = np.append(BASES, np.zeros(2, np.uint8))  # of the codes of a background

Table = NDArray[np.int32]


class Published(Engine):
    """An Engine whose scans are those of an algorithm, on the device of another engine."""

    takes_seeds = False  # as the work of the algorithm is what is measured

    def __init__(self, base: Any, algorithm: "Algorithm") -> None:
        super().__init__(base.threads)
        self.name, self.device, self.description = algorithm.name, base.device, base.description
        self.capacity, self.workers, self._base = base.capacity, base.workers, base
        self.layout = Layout().within(POSITIONS // PANEL) if algorithm.panel else Layout()
        self._algorithm, self._run = algorithm, algorithm.load(base.name)

    def planes(self, size: int) -> Words:
        planes: Words = self._base.planes(size)
        return planes

    def text(self, masks: Bytes) -> Any:
        """A text, masks as uint8[n], on the device, as the algorithm takes it."""
        if self._base.name == "cpu":
            return masks
        from kmatch.published.cuda import DeviceText

        return DeviceText(masks, self._base.gpus[0])

    def table(self, text: Any, pattern: Any, k: int) -> Table:
        """What the algorithm finds (see `kmatch.published`), in host memory."""
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
        """(position, distance) of the hits of a pattern, uint8[m], in a text; or, where that is
        the background of primers, (start, length) of those in a target text; or of a panel."""
        table = self.table(text, pattern, k).reshape(-1)
        index = np.flatnonzero(table >= 0)
        return index, table[index].astype(np.int64)

    def windows(
        self, text: Any, patterns: Sequence[Bytes], k: int
    ) -> Iterator[tuple[int, Longs, Longs]]:
        """Yield (number of a pattern, starts, distances) of the hits of patterns in a text."""
        lengths = np.array([len(masks) for masks in patterns])
        together = max(min(POSITIONS // len(text), PANEL), 1) if self._algorithm.panel else 1
        for length in np.unique(lengths):
            numbers = np.flatnonzero(lengths == length)
            for first in range(0, len(numbers), together):
                group = numbers[first : first + together].tolist()
                panel = np.stack([patterns[number] for number in group])
                given = panel if self._algorithm.panel else panel[0]
                table = self.table(text, given, min(k, int(length))).reshape(len(group), -1)
                row, start = np.nonzero(table >= 0)
                distance = table[row, start].astype(np.int64)
                cuts = np.searchsorted(row, np.arange(1, len(group)))
                yield from zip(group, np.split(start, cuts), np.split(distance, cuts), strict=True)

    def start_scan(self, text: Text, query: QueryArrays, k: int, capacity: int) -> Scan:
        """All letters of a window are the algorithm's pattern; of its hits those count in which the
        letters that have to match do."""
        masks = self._letters(text)
        bases = np.append(BASES, query.masks)[query.planes]
        coding, codes = Coding(len(query.bounds), k), [np.zeros(0, np.int64)]
        letters = [slice(first, end) for first, _, end, _ in query.bounds.tolist()]
        patterns = [bases[each][np.argsort(query.shifts[each])] for each in letters]
        for number, start, distance in self.windows(self.text(masks), patterns, k):
            fits = np.ones(len(start), bool)
            for letter in range(*query.bounds[number, 1:3]):
                at = (start + query.shifts[letter])[fits]
                fits[fits] = masks[at] & bases[letter] != 0
            codes.append(coding.encode(start[fits], number, distance[fits]))
        return _done(codes)

    def start_edit(
        self, text: Text, query: DifferenceQuery, way: str | None, capacity: int, owned: int = 0
    ) -> Scan:
        coding, codes = Coding(len(query.limits), marked(query.k)), [np.zeros(0, np.int64)]
        reading, masks = query.reading, self._letters(text)
        for backward, letters in enumerate((masks, np.ascontiguousarray(masks[::-1]))):
            numbers = np.flatnonzero((reading.backward == backward) & (query.limits >= 0)).tolist()
            on_device = self.text(letters) if numbers else None
            for number in numbers:
                planes = reading.letters[slice(*reading.begins[number : number + 2])]
                pattern, limit = reading.bases[planes], int(query.limits[number])
                end, distance = self.hits(on_device, pattern, limit)
                position = len(masks) - 1 - end if backward else end
                codes.append(coding.encode(position, number, distance))
        return _done(codes)

    def _letters(self, text: Text) -> Bytes:
        """The letters of a chunk with its halo, as masks."""
        masks = np.empty(LANES_PER_WORD * text.words * text.rows + halo_of(text), np.uint8)
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
        masks, begins, limits, bounds = starts
        background = self.text(np.repeat(COLUMN_MASKS[columns], np.where(columns == FRESH, k, 1)))
        for number, (first, end) in enumerate(pairwise(begins)):
            if end > first:
                start, length = self.hits(self.text(masks[first:end]), background, k)
                found = limits[first:end] + 1
                found[start] = np.minimum(found[start], length)
                np.maximum(bounds[first:end], found, out=bounds[first:end])
            if on_progress:
                on_progress((number + 1) / (len(begins) - 1))
        return 0


def _done(codes: list[Longs]) -> Scan:
    found: Found = found_in(np.concatenate(codes), 0, 1.0)
    return UnderWay(lambda: found)
