"""Hits of circular records: over the origin, each once, minima and loci as the circle has them."""

from collections.abc import Iterable, Iterator
from dataclasses import replace

import numpy as np

from kmatch.arrays import Bools, Longs
from kmatch.results.batches import HitBatch, joined, letters_beside, sizes_of
from kmatch.search.rules import Rules
from kmatch.sequences.circles import Circles


def windows_once(batches: Iterable[HitBatch], circles: Circles) -> Iterator[HitBatch]:
    """The hits whose windows begin in the letters of a record, and are no longer than it."""
    for batch in batches:
        if not len(batch):
            continue
        size = sizes_of(batch.record, circles.lengths)
        kept = np.flatnonzero((batch.start < size) & (batch.end - batch.start <= size))
        batch = replace(batch, origin=batch.origin._replace(circles=circles.lengths))
        yield batch if len(kept) == len(batch) else batch.picked(kept)


def hits_on_circles(
    hits: HitBatch, circles: Circles, rules: Rules, lengths: Longs, report: str
) -> Iterator[HitBatch]:
    """The hits of circular records out of all ends in them and in the letters behind them.

    rules: that the hits keep to; lengths: int64[P], of the patterns.
    """
    record, start, end = hits.record, hits.start, hits.end
    pattern, minus, distance = hits.pattern, hits.minus, hits.distance.astype(np.int64)
    size, reach = sizes_of(record, circles.lengths), rules.reach
    backward = minus != rules.leads
    beside = letters_beside(hits.aligned, lengths[pattern]) if rules.unequal else reach
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
            rows = rows[loci_on_circles(group, arcs, distance[rows], size[rows])]
    turned = start // size * size
    start, end, anchor = start - turned, end - turned, anchor - turned
    order = (column[rows] for column in (anchor, pattern, minus, end, start, record))
    rows = rows[np.lexsort(tuple(order))]
    if len(rows):
        yield replace(hits, start=start, end=end).picked(rows)


def by_record(batches: Iterable[HitBatch]) -> Iterator[HitBatch]:
    """The hits in HitBatches that hold all of their records."""
    waiting: list[HitBatch] = []  # hits of one record
    for batch in batches:
        if not len(batch):
            continue
        if waiting and waiting[-1].record[-1] != batch.record[0]:
            yield joined(waiting)
            waiting = []
        cut = int(np.searchsorted(batch.record, batch.record[-1]))
        if cut:
            yield joined([*waiting, batch.picked(slice(cut))])
            waiting, batch = [], batch.picked(slice(cut, None))
        waiting.append(batch)
    if waiting:
        yield joined(waiting)


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


def loci_on_circles(group: Longs, arcs: Longs, distance: Longs, size: Longs) -> Longs:
    """The rows that stand for sets of overlapping hits of a group: those of the smallest distance,
    then those that begin first, then the shortest, then those that meet their anchors first.

    arcs: int64[3, n], where each hit begins on its circle of `size` letters, in reading direction,
    its letters, and those before its anchor, which tell hits with both ends in common apart, as
    PAMs of several lengths make them. A set begins where no arc goes on; all round the circle it
    begins at the origin.
    """
    order = np.lexsort((*arcs[::-1], group))
    group, distance, size, (start, length, met) = (
        each[..., order] for each in (group, distance, size, arcs)
    )
    first = np.searchsorted(group, group)
    last = np.searchsorted(group, group, side="right") - 1
    at = start + 3 * size.max(initial=0) * group  # the circles one behind another
    reach = np.maximum.accumulate(at + length)
    begins = at >= np.maximum(np.append(-1, reach[:-1]), reach[last] - size)
    begins |= (np.arange(len(group)) == first) & ~np.isin(group, group[begins])
    sets = np.cumsum(begins)
    over = ~begins[first] & (sets == sets[first])  # part of the set that runs over the origin
    sets, start = np.where(over, sets[last], sets), start + size * over
    best = np.lexsort((met, length, start, distance, sets))
    return order[best[np.diff(sets[best], prepend=0) > 0]]
