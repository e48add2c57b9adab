"""Searches by the algorithms of published papers: the engine's chunks, hits and order.

The engine reads the genome and traces alignments; the algorithm finds where patterns match.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from kmatch.arrays import Bytes, Longs
from kmatch.engine.codes import Coding
from kmatch.engine.engine import Engine
from kmatch.engine.types import FRESH, Starts
from kmatch.published.run import Run
from kmatch.results.batches import HitBatch
from kmatch.search.chunks import PackedChunk
from kmatch.search.ends import DifferenceSearch
from kmatch.search.mismatches import window_batches
from kmatch.search.pam import Pam, united
from kmatch.search.panel import ReadingPanel, Request, rank_panel
from kmatch.search.rules import NO_RULES, Rules
from kmatch.sequences.alphabet import reverse_complement
from kmatch.sequences.patterns import Pattern

COLUMN_MASKS = np.array([1, 2, 4, 8, 0, 0], np.uint8)  # of the codes of a background


class PublishedWindows:
    """Every window of chunks within k mismatches, by a published algorithm.

    engine, run: of `choose_algorithm`; pams: of one length, one of which must stand beside every
    pattern, or none.
    """

    def __init__(self, engine: Any, run: Run, request: Request, pams: Sequence[Pam] = ()) -> None:
        self._engine, self._run, self._request = engine, run, request
        pam = united(pams) if pams else None
        patterns: Sequence[Pattern] = request.patterns
        whole = [pam.join(pattern) for pattern in patterns] if pam else patterns
        self.panel = panel = rank_panel(whole, request.strand)
        self.queries = len(panel.lengths)
        self._masks, self._required, self._skipped = [], [], np.zeros(len(panel.lengths), np.int64)
        for rank, (number, minus) in enumerate(zip(panel.pattern, panel.minus, strict=True)):
            masks = patterns[number].masks
            exact = [required_letters(masks, request.ends)]
            if pam:
                exact = [pam.beside(exact[0], each.masks) for each in pams]
                self._skipped[rank] = pam.skipped(minus)
            self._masks.append(reverse_complement(masks) if minus else masks)
            self._required.append([reverse_complement(x) if minus else x for x in exact])

    def run(self, chunks: Iterable[PackedChunk]) -> Iterator[HitBatch]:
        """Yield the HitBatches of an iterable of PackedChunks."""
        for chunk in chunks:
            yield from self._scan(chunk)

    def _scan(self, chunk: PackedChunk) -> Iterator[HitBatch]:
        beyond = int(self.panel.lengths.max()) - 1
        masks = chunk_masks(chunk, beyond, self._engine)
        step = self._run.layout.length
        found = [np.zeros(0, np.int64)]
        for first in range(0, chunk.length, step):
            text = self._run.text(masks[first : first + step + beyond])
            for rank, start, distance in self._run.windows(text, self._masks, self._request.k):
                position = first + start - self._skipped[rank]
                for required in self._required[rank]:
                    found.append(self._window_codes(masks, rank, position, distance, required))
        codes = np.unique(np.concatenate(found))
        yield from window_batches(codes, chunk, self.panel, self._request, self._engine)

    def _window_codes(
        self, masks: Bytes, rank: int, position: Longs, distance: Longs, required: Bytes
    ) -> Longs:
        """Codes of the windows of one query, int64[h], whose required letters match."""
        fits = (position >= 0) & (position + self.panel.lengths[rank] <= len(masks))
        position, distance = position[fits], distance[fits]
        for offset in np.flatnonzero(required):
            fits = masks[position + offset] & required[offset] != 0
            position, distance = position[fits], distance[fits]
        return Coding(len(self.panel.lengths), self._request.k).encode(position, rank, distance)


def required_letters(masks: Bytes, ends: tuple[int, int]) -> Bytes:
    """The letters that must match, as masks, uint8[m]; 0 elsewhere."""
    offset = np.arange(len(masks))
    exact = (offset < ends[0]) | (offset >= len(masks) - ends[1])
    return np.where(exact, masks, 0).astype(np.uint8)


class PublishedDifferences(DifferenceSearch):
    """A search for differences, by a published algorithm."""

    def __init__(
        self,
        engine: Engine,
        run: Run,
        panel: ReadingPanel,
        limits: Longs,
        report: str,
        rules: Rules,
        aligned: bool = True,
    ) -> None:
        super().__init__(engine, panel, limits, report, rules, aligned=aligned)
        self._run = run

    def find_codes(self, chunks: Iterable[PackedChunk]) -> Iterator[tuple[PackedChunk, Longs]]:
        """Yield (chunk, codes) of whole chunks, as `DifferenceSearch.find_codes`."""
        for chunk in chunks:
            yield chunk, self._codes(chunk)

    def _codes(self, chunk: PackedChunk) -> Longs:
        halo, found, limits = chunk.geometry.halo, [], self._query.limits
        masks = chunk_masks(chunk, halo, self._engine)
        for query, text, letters in reading_texts(masks, self._panel, self._run):
            index, distance = self._run.ends(text, letters, int(limits[query]))
            if self._panel.letters.backward[query]:
                position = len(masks) - 1 - index
                own = position < chunk.length
            else:
                position, own = index, index >= halo
            found.append(self._coding.encode(position, query, distance)[own])
        return np.sort(np.concatenate(found))


def difference_search(
    engine: Any,
    run: Run | None,
    panel: ReadingPanel,
    limits: Longs,
    report: str,
    rules: Rules = NO_RULES,
    way: str | None = None,
    aligned: bool = True,
) -> DifferenceSearch:
    """The DifferenceSearch of the engine, or of a published algorithm where `run` is not None."""
    if run:
        return PublishedDifferences(engine, run, panel, limits, report, rules, aligned)
    how = (way, aligned)
    return DifferenceSearch(engine, panel, limits, report, rules, *how)


def published_distances(
    chunks: Iterable[PackedChunk], panel: ReadingPanel, patterns: int, engine: Engine, run: Run
) -> Longs:
    """As `kmatch.search.best.smallest_distances`, by a published algorithm."""
    distances = np.zeros(patterns, np.int64)
    distances[panel.pattern] = panel.lengths
    for chunk in chunks:
        masks = chunk_masks(chunk, chunk.geometry.halo, engine)
        for query, text, letters in reading_texts(masks, panel, run):
            pattern = panel.pattern[query]
            distances[pattern] = min(distances[pattern], run.smallest(text, letters))
    return distances


def reading_texts(masks: Bytes, panel: ReadingPanel, run: Run) -> Iterator[tuple[Any, Any, Bytes]]:
    """Yield (query, text, pattern) for all queries, some of which read the text downwards."""
    letters = panel.letters
    for backward in (0, 1):
        queries = np.flatnonzero(letters.backward == backward)
        if len(queries):
            text = run.text(np.ascontiguousarray(masks[::-1]) if backward else masks)
        for query in queries:
            planes = letters.letters[letters.begins[query] : letters.begins[query + 1]]
            yield query, text, letters.bases[planes]


def chunk_masks(chunk: PackedChunk, beyond: int, engine: Engine) -> Bytes:
    """The letters that a chunk owns, and some beyond, in the halo at most, as masks, uint8[n]."""
    masks = np.empty(chunk.length + beyond, np.uint8)
    engine.read_text(chunk.plain, masks)
    return masks


def extend_published(
    run: Run,
    starts: Starts,
    columns: Bytes,
    k: int,
    on_progress: Callable[[float], object] | None = None,
) -> None:
    """As an engine's `extend_primers`, by a published algorithm.

    Records of the background are parted by k letters that match nothing, so that no alignment
    across them has fewer than k differences.
    """
    masks, begins, limits, bounds = starts
    background = run.text(np.repeat(COLUMN_MASKS[columns], np.where(columns == FRESH, k, 1)))
    for number, (first, end) in enumerate(pairwise(begins)):
        if end > first:
            start, length = run.primers(run.text(masks[first:end]), background, k)
            found = limits[first:end] + 1
            found[start] = np.minimum(found[start], length)
            np.maximum(bounds[first:end], found, out=bounds[first:end])
        if on_progress:
            on_progress((number + 1) / (len(begins) - 1))
