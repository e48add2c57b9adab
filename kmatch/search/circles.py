"""Hits of circular records: over the origin, each once, minima and loci as the circle has them."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from kmatch.arrays import Bools, Longs
from kmatch.genome import Genome
from kmatch.results.batches import HitBatch, joined, letters_beside, sizes_of
from kmatch.search.chunks import Chunking
from kmatch.search.rules import Rules
from kmatch.search.search import Search
from kmatch.sequences.circles import Circles, Circular

Lengths = dict[int, int]


def windows_once(batches: Iterable[HitBatch], circles: Circles) -> Iterator[HitBatch]:
    """The hits whose windows begin in the letters of a record, and are no longer than it."""
    for batch in batches:
        if not len(batch):
            continue
        size = sizes_of(batch.record, circles.lengths)
        kept = np.flatnonzero((batch.start < size) & (batch.end - batch.start <= size))
        batch = replace(batch, origin=batch.origin._replace(circles=circles.lengths))
        yield batch if len(kept) == len(batch) else batch.picked(kept)


class Reading:
    """How genomes with circular records are searched for differences.

    more: letters that an occurrence takes at the most; lengths: int64[P], those of the patterns;
    search(report): a new DifferenceSearch, that keeps to rules.
    """

    def __init__(
        self, more: int, lengths: Longs, rules: Rules, search: Callable[[str], Any]
    ) -> None:
        self._more, self._lengths, self._rules, self._search = more, lengths, rules, search

    def run(
        self,
        genome: Genome,
        circular: Circular,
        chunking: Chunking,
        whole: Search[HitBatch],
        report: str,
    ) -> Iterator[HitBatch]:
        """Yield the HitBatches: linear and circular records by turns.

        whole: the search that this is part of, which takes note of what is searched.
        """
        circles = Circles(circular, self._more, unrolled=True)
        for turns, first, parts in circles.runs(whole.parts(genome)):
            search = self._search("ends" if turns else report)
            chunks = whole.noted(chunking.fresh(parts), circles, first)
            batches = _counted_from(first, circles.lengths, search.run(chunks))
            if turns:
                for rows in by_record(batches):
                    yield from self._on_circle(rows, circles, report)
            else:
                yield from batches

    def _on_circle(
        self, batches: list[HitBatch], circles: Circles, report: str
    ) -> Iterator[HitBatch]:
        """The hits of circular records out of all ends in them and in the letters behind them."""
        hits = joined(batches)
        record, start, end = hits.record, hits.start, hits.end
        pattern, minus, distance = hits.pattern, hits.minus, hits.distance.astype(np.int64)
        size, reach = sizes_of(record, circles.lengths), self._rules.reach
        backward, beside = minus != self._rules.leads, self._beside(hits)
        anchor = np.where(backward, start + beside, end - beside)
        # Only there is an end warmed up by as many letters as an alignment can take.
        first = np.where(backward, reach, circles.more - reach + 1)
        own = (anchor >= first) & (anchor < first + size) & (end - start <= size)
        place = np.where(backward, size - 1 - anchor, anchor - 1) % size
        rows = np.flatnonzero(own)
        rows = rows[np.lexsort((place[rows], minus[rows], pattern[rows], record[rows]))]
        if report != "ends":
            same = [np.diff(column[rows], prepend=-1) != 0 for column in (record, pattern, minus)]
            group = np.cumsum(np.any(same, axis=0))
            low = lowest_on_circles(group, place[rows], distance[rows], size[rows])
            rows, group = rows[low], group[low]
            if report == "loci":
                begin = np.where(minus == 1, size - end, start) % size
                met = np.where(minus == 1, end - anchor, anchor - start)
                arcs = np.stack([begin, end - start, met])[:, rows]
                rows = rows[_loci(group, arcs, distance[rows], size[rows])]
        turned = start // size * size
        start, end, anchor = start - turned, end - turned, anchor - turned
        order = (column[rows] for column in (anchor, pattern, minus, end, start, record))
        rows = rows[np.lexsort(tuple(order))]
        if len(rows):
            yield replace(hits, start=start, end=end).picked(rows)

    def _beside(self, hits: HitBatch) -> Any:
        """Letters of the PAM beside each hit: a number for all, or int64[n]."""
        if not self._rules.unequal:
            return self._rules.reach
        return letters_beside(hits.aligned, self._lengths[hits.pattern])


def _counted_from(first: int, lengths: Lengths, batches: Iterable[HitBatch]) -> Iterator[HitBatch]:
    for batch in batches:
        names = {number + first: name for number, name in batch.names.items()}
        origin = batch.origin._replace(circles=lengths)
        yield replace(batch, record=batch.record + first, names=names, origin=origin)


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
            yield [*waiting, batch.picked(slice(cut))]
            waiting, batch = [], batch.picked(slice(cut, None))
        waiting.append(batch)
    if waiting:
        yield waiting


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


def _loci(group: Longs, arcs: Longs, distance: Longs, size: Longs) -> Longs:
    """Rows that stand for sets of overlapping hits of a group; arcs: int64[3, n], of each hit, as
    `loci_on_circle` takes them, in reading direction."""
    found: list[int] = []
    bounds = [*np.flatnonzero(np.diff(group, prepend=-1)).tolist(), len(group)]
    for begin, stop in pairwise(bounds):
        part = slice(begin, stop)
        rows = [Arc(*row) for row in arcs[:, part].T.tolist()]
        chosen = loci_on_circle(rows, distance[part].tolist(), int(size[begin]))
        found += [begin + row for row in chosen]
    return np.array(found, np.int64)


class Arc(NamedTuple):
    """Where a hit lies on a circle, in reading direction; met: its letters before its anchor, which
    tell hits with both ends in common apart, as PAMs of several lengths make them."""

    start: int
    length: int
    met: int


def loci_on_circle(arcs: list[Arc], distance: list[int], size: int) -> list[int]:
    """The numbers of the arcs that stand for sets of overlapping ones: of the smallest distance,
    then those that begin first, then the shortest, then those that meet their anchors first.

    A set begins where no arc goes on; all round the circle it begins at the origin.
    """
    order = sorted(range(len(arcs)), key=lambda row: arcs[row])
    reach = max(arc.start + arc.length for arc in arcs) - size
    sets: list[list[tuple[int, int, int, int, int]]] = [[]]
    cut, stop = 0, size  # of one set all round
    for row in order:
        if arcs[row].start >= reach:
            cut, stop = arcs[row].start, 0
            sets.clear()
            break
        reach = max(reach, arcs[row].start + arcs[row].length)
    for start, row in sorted(((arcs[row].start - cut) % size, row) for row in order):
        if start >= stop:
            sets.append([])
        stop = max(stop, start + arcs[row].length)
        sets[-1].append((distance[row], start, *arcs[row][1:], row))
    return [min(each)[-1] for each in sets]
