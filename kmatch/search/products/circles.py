"""Products over the origin of circular records: sites on `-` come once more, a turn later."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import pairwise

import numpy as np

from kmatch.arrays import Longs
from kmatch.results.batches import HitBatch, sizes_of
from kmatch.search.products.joins import Sites


def with_second_turns(batches: Iterable[HitBatch], most: int) -> Iterator[HitBatch]:
    """The HitBatches, and behind those of a circular record its sites on `-` a turn later, as far
    as products of up to `most` letters reach."""
    waiting: list[HitBatch] = []  # sites of the last record
    for batch in batches:
        if not len(batch) or batch.origin.circles is None:
            yield batch
            continue
        bounds = [*np.flatnonzero(np.diff(batch.record, prepend=-1)).tolist(), len(batch)]
        for first, last in pairwise(bounds):
            part = batch.picked(slice(first, last))
            if waiting and waiting[-1].record[0] != part.record[0]:
                yield from _second_turn(waiting)
                waiting = []
            yield part
            near = np.flatnonzero((part.minus == 1) & (part.start < most))
            if len(near):
                waiting.append(part.picked(near))
    yield from _second_turn(waiting)


def _second_turn(batches: list[HitBatch]) -> Iterator[HitBatch]:
    for batch in batches:
        size = (batch.origin.circles or {}).get(int(batch.record[0]))
        if size is not None:
            yield replace(batch, start=batch.start + size, end=batch.end + size)


def within_one_turn(sites: Sites, rows: tuple[Longs, Longs]) -> tuple[Longs, Longs]:
    """The products, as rows (on `+`, on `-`), that are no longer than their circular record."""
    circles = sites.hits.origin.circles
    if circles is None:
        return rows
    plus, others = rows
    size = sizes_of(sites.hits.record[plus], circles)
    kept = sites.hits.end[others] - sites.hits.start[plus] <= size
    return plus[kept], others[kept]


def first_turn(sites: Sites, rows: Longs) -> tuple[Longs, Longs]:
    """Starts and ends of sites, which begin in the letters of their record."""
    start, end = sites.hits.start[rows], sites.hits.end[rows]
    circles = sites.hits.origin.circles
    if circles is not None:
        size = sizes_of(sites.hits.record[rows], circles)
        turned = np.where(start >= size, size, 0)
        start, end = start - turned, end - turned
    return start, end
