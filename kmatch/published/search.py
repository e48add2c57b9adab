"""Searches by the algorithms of published papers: the engine's chunks, hits and order.

The engine reads the genome and traces alignments; the algorithm finds where patterns match.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kmatch.arrays import Bytes, Longs
from kmatch.engine.codes import Coding
from kmatch.engine.types import FRESH, Starts
from kmatch.published.registry import Algorithm
from kmatch.results.batches import HitBatch
from kmatch.search.chunks import PackedChunk, read_text
from kmatch.search.ends import DifferenceSearch
from kmatch.search.panel import ReadingPanel, build_panel
from kmatch.search.query import Query
from kmatch.search.rules import Pam, Rules, united
from kmatch.search.windows import window_batches
from kmatch.sequences.alphabet import reverse_complement

POSITIONS = 1 << 26  # of a chunk, four bytes of a table each
PANEL = 1 << 6  # patterns of one length that are searched at a time, a row of the table each
COLUMN_MASKS = np.array([1, 2, 4, 8, 0, 0], np.uint8)  # of the codes of a background


class Published:
    """An algorithm on the device of an engine; `layout`: of chunks whose tables fit in memory."""

    def __init__(self, engine: Any, algorithm: Algorithm) -> None:
        self.engine = engine
        function = algorithm.load(engine.name)
        if engine.name == "cpu":
            from kmatch.published.cpu import on_threads

            function = partial(on_threads, engine.threads, function)
        self._run = function
        self._panel = algorithm.panel
        self.layout = engine.layout.within(POSITIONS // PANEL if algorithm.panel else POSITIONS)

    def text(self, masks: Bytes) -> Any:
        """A text, masks as uint8[n], on the device."""
        if self.engine.name == "cpu":
            from kmatch.published.cpu import HostText

            return HostText(masks, self.engine.timed)
        from kmatch.published.cuda import DeviceText

        return DeviceText(masks, self.engine.gpus[0])

    def table(self, text: Any, pattern: Any, k: int) -> NDArray[np.int32]:
        """What the algorithm finds (see `kmatch.published`), in host memory."""
        found: NDArray[np.int32] = text.fetch(self._run(text, pattern, k))
        return found

    def hits(self, text: Any, pattern: Any, k: int) -> tuple[Longs, Longs]:
        """(position, distance) of the hits of a pattern, uint8[m], in a text; or, where that is
        the background of primers, (start, length) of those in a target text; or of a panel."""
        table = self.table(text, pattern, k).reshape(-1)
        index = np.flatnonzero(table >= 0)
        return index, table[index].astype(np.int64)

    def smallest(self, text: Any, pattern: Bytes) -> int:
        """The smallest distance of a pattern at any end in a text."""
        return int(self.table(text, pattern, len(pattern)).min())

    def windows(
        self, text: Any, patterns: Sequence[Bytes], k: int
    ) -> Iterator[tuple[int, Longs, Longs]]:
        """Yield (number of a pattern, starts, distances) of the hits of patterns in a text."""
        if not self._panel:
            for number, masks in enumerate(patterns):
                yield number, *self.hits(text, masks, k)
            return
        lengths = np.array([len(masks) for masks in patterns])
        for length in np.unique(lengths):
            numbers = np.flatnonzero(lengths == length)
            for first in range(0, len(numbers), PANEL):
                group = numbers[first : first + PANEL]
                panel = np.stack([patterns[number] for number in group])
                index, distance = self.hits(text, panel, k)
                row, start = np.divmod(index, len(text.masks) - length + 1)
                cuts = np.searchsorted(row, np.arange(1, len(group)))
                yield from zip(group, np.split(start, cuts), np.split(distance, cuts), strict=True)

    def reading(self, masks: Bytes, panel: ReadingPanel) -> Iterator[tuple[Any, Any, Bytes]]:
        """Yield (query, text, pattern) for all queries, some of which read the text downwards."""
        letters = panel.letters
        for backward in (0, 1):
            queries = np.flatnonzero(letters.backward == backward)
            if len(queries):
                text = self.text(np.ascontiguousarray(masks[::-1]) if backward else masks)
            for query in queries:
                planes = letters.letters[letters.begins[query] : letters.begins[query + 1]]
                yield query, text, letters.bases[planes]

    def masks_of(self, chunk: PackedChunk, beyond: int) -> Bytes:
        """The letters that a chunk owns, and some beyond, in the halo at most, as masks."""
        masks = np.empty(chunk.length + beyond, np.uint8)
        text = chunk.plain
        self.engine.workers.run(read_text, text.words, text, masks)
        return masks

    def windows_search(
        self, query: Query, pams: Sequence[Pam], aligned: bool
    ) -> "PublishedWindows":
        """A search for windows within k mismatches."""
        return PublishedWindows(self, query, pams, aligned)

    def difference_search(
        self, panel: ReadingPanel, limits: Longs, report: str, rules: Rules, aligned: bool
    ) -> DifferenceSearch:
        """A DifferenceSearch."""
        return PublishedDifferences(self, panel, limits, report, rules, None, aligned)

    def smallest_distances(
        self, chunks: Iterable[PackedChunk], panel: ReadingPanel, patterns: int
    ) -> Longs:
        """As `kmatch.search.best.smallest_distances`."""
        distances = np.zeros(patterns, np.int64)
        distances[panel.pattern] = panel.lengths
        for chunk in chunks:
            masks = self.masks_of(chunk, chunk.geometry.halo)
            for query, text, letters in self.reading(masks, panel):
                pattern = panel.pattern[query]
                distances[pattern] = min(distances[pattern], self.smallest(text, letters))
        return distances

    def extend_primers(
        self,
        starts: Starts,
        columns: Bytes,
        k: int,
        on_progress: Callable[[float], object],
    ) -> None:
        """As an engine's `extend_primers`.

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
            on_progress((number + 1) / (len(begins) - 1))


class PublishedWindows:
    """Every window of chunks within k mismatches.

    pams: of one length, one of which must stand beside every pattern, or none.
    """

    def __init__(
        self, published: Published, query: Query, pams: Sequence[Pam], aligned: bool
    ) -> None:
        self._published, self._k, self._aligned = published, int(query.k), aligned
        pam, patterns = united(pams) if pams else None, query.patterns
        self.panel = panel = build_panel(pam.join(patterns) if pam else patterns, query.strand)
        self.queries = len(panel.lengths)
        self._masks, self._required, self._skipped = [], [], np.zeros(self.queries, np.int64)
        for rank, (number, minus) in enumerate(zip(panel.pattern, panel.minus, strict=True)):
            masks = patterns[number].masks
            exact = [_required_letters(masks, query.ends)]
            if pam:
                exact = [pam.beside(exact[0], each.masks) for each in pams]
                self._skipped[rank] = pam.skipped(minus)
            self._masks.append(reverse_complement(masks) if minus else masks)
            self._required.append([reverse_complement(x) if minus else x for x in exact])

    def run(self, chunks: Iterable[PackedChunk]) -> Iterator[HitBatch]:
        """Yield the HitBatches of an iterable of PackedChunks."""
        beyond, engine = int(self.panel.lengths.max()) - 1, self._published.engine
        step = self._published.layout.length
        for chunk in chunks:
            masks = self._published.masks_of(chunk, beyond)
            found = [np.zeros(0, np.int64)]
            for first in range(0, chunk.length, step):
                text = self._published.text(masks[first : first + step + beyond])
                windows = self._published.windows(text, self._masks, self._k)
                for rank, start, distance in windows:
                    position = first + start - self._skipped[rank]
                    for required in self._required[rank]:
                        found.append(self._codes(masks, rank, position, distance, required))
            codes = np.unique(np.concatenate(found))
            yield from window_batches(codes, chunk, self.panel, self._k, engine, self._aligned)

    def _codes(
        self, masks: Bytes, rank: int, position: Longs, distance: Longs, required: Bytes
    ) -> Longs:
        """Codes of the windows of one query, int64[h], whose required letters match."""
        fits = (position >= 0) & (position + self.panel.lengths[rank] <= len(masks))
        position, distance = position[fits], distance[fits]
        for offset in np.flatnonzero(required):
            fits = masks[position + offset] & required[offset] != 0
            position, distance = position[fits], distance[fits]
        return Coding(self.queries, self._k).encode(position, rank, distance)


def _required_letters(masks: Bytes, ends: tuple[int, int]) -> Bytes:
    """The letters that must match, as masks, uint8[m]; 0 elsewhere."""
    offset = np.arange(len(masks))
    exact = (offset < ends[0]) | (offset >= len(masks) - ends[1])
    return np.where(exact, masks, 0).astype(np.uint8)


class PublishedDifferences(DifferenceSearch):
    """A search for differences, whose ends a published algorithm finds."""

    def __init__(self, published: Published, *search: Any) -> None:
        super().__init__(published.engine, *search)
        self._published = published

    def find_codes(self, chunks: Iterable[PackedChunk]) -> Iterator[tuple[PackedChunk, Longs]]:
        """Yield (chunk, codes) of whole chunks, as `DifferenceSearch.find_codes`."""
        for chunk in chunks:
            halo, found, limits = chunk.geometry.halo, [], self._query.limits
            masks = self._published.masks_of(chunk, halo)
            for query, text, letters in self._published.reading(masks, self._panel):
                index, distance = self._published.hits(text, letters, int(limits[query]))
                if self._panel.letters.backward[query]:
                    position = len(masks) - 1 - index
                    own = position < chunk.length
                else:
                    position, own = index, index >= halo
                found.append(self._coding.encode(position, query, distance)[own])
            yield chunk, np.sort(np.concatenate(found))
