"""Sites of primers joined to products, and the text of these.

Sites come in the order of hits. A site on `+` waits until every site on `-` that it can be joined
to has come; what waits is within the longest product.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from kmatch.arrays import Longs, bounds_of, gather
from kmatch.results.batches import HitBatch, joined, sizes_of

PRODUCTS = 1 << 15  # yielded together, and any others that start where the last of them does


class Limits(NamedTuple):
    """Letters of a product, primers included: at least and at most."""

    least: int
    most: int


class Groups(NamedTuple):
    """Which primers are joined: those of group g on `+` to those of group partner[g] on `-`.

    of: int64, the group of each primer; partner: int64, by group, no two of them the same.
    """

    of: Longs
    partner: Longs


class Sites:
    """Sites of primers in the order of hits; most: letters of the longest product."""

    def __init__(self, hits: HitBatch, most: int) -> None:
        self.hits, self._most = hits, most

    @cached_property
    def line(self) -> tuple[Longs, Longs]:
        """Starts and ends on one line, on which no product reaches from record to record."""
        record, start, end = self.hits.record, self.hits.start, self.hits.end
        first = np.flatnonzero(np.diff(record, prepend=-1))
        reached = np.maximum.reduceat(end, first)
        sizes = np.diff(np.append(first, len(record)))
        shift = np.repeat(bounds_of(reached + self._most)[:-1], sizes)
        return start + shift, end + shift

    @property
    def finished(self) -> int:
        """How many sites are too far before the last one for a product that reaches later sites."""
        starts, _ = self.line
        return int(np.searchsorted(starts, starts[-1] - self._most, side="right"))


def finished_sites(batches: Iterable[HitBatch], most: int) -> Iterator[tuple[Sites, int]]:
    """Yield Sites, and how many of the first are finished; the others come again.

    Batches wait until they hold as many sites as come again: so the work is that of a few passes.
    """
    waiting: list[HitBatch] = []
    again = fresh = 0
    for batch in batches:
        if not len(batch):
            continue
        waiting.append(batch)
        fresh += len(batch)
        if fresh >= again:
            sites = Sites(joined(waiting), most)
            count = sites.finished
            yield sites, count
            waiting = [sites.hits.picked(slice(count, None))]
            again, fresh = len(waiting[0]), 0
    if again + fresh:
        yield Sites(joined(waiting), most), again + fresh


def joined_sites(
    sites: Sites, count: int, groups: Groups, limits: Limits
) -> Iterator[tuple[Longs, Longs]]:
    """Yield the products of the first sites on `+`, as rows (on `+`, on `-`), int64[n] each.

    They come in the order of these first sites' starts, of which none is shared by two parts.
    """
    starts, ends = sites.line
    group, minus = groups.of[sites.hits.pattern], sites.hits.minus.astype(bool)
    plus, others = np.flatnonzero(~minus[:count]), np.flatnonzero(minus)
    # By group, a line of its own each, on which no product reaches from group to group.
    apart = int(starts[-1]) + limits.most + 1
    others = others[np.argsort(group[others], kind="stable")]
    place = group[others] * apart + starts[others]
    first = groups.partner[group[plus]] * apart + starts[plus]
    longest = int((ends - starts).max())
    low = np.searchsorted(place, first + max(limits.least - longest, 0))
    many = np.searchsorted(place, first + limits.most) - low
    for part in _parts(starts[plus], many):
        bounds = bounds_of(many[part])
        on_plus = np.repeat(plus[part], many[part])
        on_minus = gather(others, low[part], bounds)
        length = ends[on_minus] - starts[on_plus]
        kept = (ends[on_minus] >= ends[on_plus]) & (length >= limits.least)
        kept &= length <= limits.most
        if kept.any():
            yield on_plus[kept], on_minus[kept]


def _parts(starts: Longs, many: Longs) -> Iterator[slice]:
    """Cut sites into parts of about PRODUCTS products, between two starts."""
    first = np.flatnonzero(np.diff(starts, prepend=-1))
    part = (np.cumsum(many) - many)[first] // PRODUCTS
    cuts = first[np.flatnonzero(np.diff(part, prepend=-1))].tolist()
    yield from map(slice, cuts, [*cuts[1:], len(starts)])


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
