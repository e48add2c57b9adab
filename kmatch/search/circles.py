"""Hits of circular records: over the origin, each once, minima and loci as the circle has them."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np

from kmatch.arrays import Bools, Longs
from kmatch.engine.alignments import Columns
from kmatch.genome import Genome
from kmatch.results.hits import HitBatch, origins, sizes_of
from kmatch.search.chunks import PackedChunk, fresh_chunks
from kmatch.search.running import Running
from kmatch.sequences.chunks import ChunkPlan
from kmatch.sequences.circles import Circles, Circular

Lengths = dict[int, int]


def window_circles(circular: Circular, longest: int) -> Circles:
    """The Circles for windows of up to `longest` letters."""
    return Circles(circular, longest - 1)


def reading_circles(circular: Circular, longest: int, k: int) -> Circles:
    """The Circles for occurrences of up to `longest` letters with k differences."""
    return Circles(circular, longest + k, f"the longest pattern and {k} differences take")


def windows_once(batches: Iterable[HitBatch], circles: Circles) -> Iterator[HitBatch]:
    """The hits whose windows begin in the letters of a record, and are no longer than it."""
    for batch in batches:
        if not len(batch):
            continue
        size = sizes_of(batch.record, circles.lengths)
        kept = np.flatnonzero((batch.start < size) & (batch.end - batch.start <= size))
        batch = replace(batch, origin=batch.origin._replace(circles=circles.lengths))
        yield batch if len(kept) == len(batch) else picked_rows(batch, kept)


def picked_rows(batch: HitBatch, rows: Longs) -> HitBatch:
    """The HitBatch of rows of another, by number, int64[n]."""

    def align(part: Any) -> Columns:
        return batch.align(rows[part])

    names = ("record", "start", "end", "pattern", "distance", "minus")
    return replace(batch, **{name: getattr(batch, name)[rows] for name in names}, align=align)


class Reading:
    """How a genome with circular records is searched for differences.

    search(report): a new DifferenceSearch; report: the one that is wanted.
    """

    def __init__(
        self, circles: Circles, plan: ChunkPlan, engine: Any, search: Callable[[str], Any]
    ) -> None:
        self._circles, self._plan, self._engine = circles, plan, engine
        self._search = search

    def run(self, genome: Genome, running: Running, report: str) -> Iterator[HitBatch]:
        """Yield the HitBatches: linear and circular records by turns."""
        lengths = self._circles.lengths
        for circular, first, parts in self._circles.runs(genome.parts(running.on_progress)):
            search = self._search("ends" if circular else report)
            batches = _counted_from(first, search.run(self._packed(parts, running)))
            if circular:
                for rows in by_record(batches):
                    yield from _on_circle(rows, lengths, self._circles.more, report)
            else:
                yield from batches

    def _packed(self, parts: Any, running: Running) -> Iterator[PackedChunk]:
        words = self._engine.layout.reading_words
        return fresh_chunks(parts, self._plan, self._engine, words, running)


def _counted_from(first: int, batches: Iterable[HitBatch]) -> Iterator[HitBatch]:
    for batch in batches:
        spans = batch.spans._replace(first=batch.spans.first + first)
        yield replace(batch, record=batch.record + first, spans=spans)


def by_record(batches: Iterable[HitBatch]) -> Iterator[list[HitBatch]]:
    """Yield lists of HitBatches that hold all hits of their records."""
    waiting: list[HitBatch] = []  # hits of one record
    for batch in batches:
        if not len(batch):
            continue
        if waiting and waiting[-1].record[-1] != batch.record[0]:
            yield waiting
            waiting = []
        cut = int(np.searchsorted(batch.record, batch.record[-1]))
        if cut:
            yield [*waiting, picked_rows(batch, np.arange(cut))]
            waiting, batch = [], picked_rows(batch, np.arange(cut, len(batch)))
        waiting.append(batch)
    if waiting:
        yield waiting


def _on_circle(
    batches: list[HitBatch], lengths: Lengths, more: int, report: str
) -> Iterator[HitBatch]:
    """The hits of circular records out of all ends in them and in the letters behind them."""

    def column(name: str) -> Any:
        return np.concatenate([getattr(batch, name) for batch in batches])

    record, start, end, pattern, distance, minus = (
        column(name) for name in ("record", "start", "end", "pattern", "distance", "minus")
    )
    size = sizes_of(record, lengths)
    # Only there is an end warmed up by as many letters as an alignment can take.
    own = np.where(minus == 1, start < size, end > more)
    place = np.where(minus == 1, size - 1 - start, (end - 1) % size)
    rows = np.flatnonzero(own)
    rows = rows[np.lexsort((place[rows], minus[rows], pattern[rows], record[rows]))]
    if report != "ends":
        same = [np.diff(column[rows], prepend=-1) != 0 for column in (record, pattern, minus)]
        group = np.cumsum(np.any(same, axis=0))
        low = lowest_on_circles(group, place[rows], distance[rows], size[rows])
        rows, group = rows[low], group[low]
        if report == "loci":
            first = np.where(minus == 1, size - end, start) % size
            first, length = first[rows], (end - start)[rows]
            rows = rows[_loci(group, first, length, distance[rows], size[rows])]
    turned = start // size * size
    start, end = start - turned, end - turned
    order = (column[rows] for column in (pattern, minus, end, start, record))
    rows = rows[np.lexsort(tuple(order))]
    if len(rows):
        spans, align = origins(batches, rows)
        origin = batches[0].origin._replace(circles=lengths)
        columns = (record[rows], start[rows], end[rows])
        kinds = (pattern[rows], distance[rows], minus[rows])
        yield HitBatch(*columns, *kinds, spans, align, origin)


def lowest_on_circles(group: Longs, place: Longs, distance: Longs, size: Longs) -> Bools:
    """Which ends are the last of a plateau that is lower than what lies beside it, bool[n].

    group, place: of each end, sorted, place being that on its circle of `size` letters in reading
    direction. A plateau all round the circle ends with the record.
    """
    row = np.arange(len(group))
    first = np.searchsorted(group, group)
    last = np.searchsorted(group, group, side="right") - 1
    before, behind = np.where(row == first, last, row - 1), np.where(row == last, first, row + 1)
    beside = (place[before] + 1 - place) % size == 0
    begins = ~(beside & (distance[before] == distance))
    fell = ~beside | (distance[before] > distance)
    rises = ~beside[behind] | (distance[behind] > distance)
    run = np.maximum.accumulate(np.where(begins, row, -1))
    run = np.where(run < first, run[last], run)  # begun at the end of the circle
    low: Bools = np.where(
        run < first, place == size - 1, begins[behind] & rises & fell[np.maximum(run, 0)]
    )
    return low


def _loci(group: Longs, first: Longs, length: Longs, distance: Longs, size: Longs) -> Longs:
    """Rows that stand for sets of overlapping hits of a group, in reading direction."""
    found: list[int] = []
    bounds = [*np.flatnonzero(np.diff(group, prepend=-1)).tolist(), len(group)]
    for begin, stop in pairwise(bounds):
        part = slice(begin, stop)
        arcs = list(zip(first[part].tolist(), length[part].tolist(), strict=True))
        chosen = loci_on_circle(arcs, distance[part].tolist(), int(size[begin]))
        found += [begin + row for row in chosen]
    return np.array(found, np.int64)


def loci_on_circle(arcs: list[tuple[int, int]], distance: list[int], size: int) -> list[int]:
    """The numbers of the arcs, (start, length), that stand for sets of overlapping ones.

    A set begins where no arc goes on; all round the circle it begins at the origin.
    """
    order = sorted(range(len(arcs)), key=lambda row: arcs[row])
    reach = max(sum(arc) for arc in arcs) - size
    cut = 0
    for row in order:
        if arcs[row][0] >= reach:
            cut = arcs[row][0]
            break
        reach = max(reach, sum(arcs[row]))
    sets: list[list[tuple[int, int, int, int]]] = []
    reach = -1
    for start, row in sorted(((arcs[row][0] - cut) % size, row) for row in order):
        if start >= reach:
            sets.append([])
        reach = max(reach, start + arcs[row][1])
        sets[-1].append((distance[row], start, arcs[row][1], row))
    return [min(each)[-1] for each in sets]
