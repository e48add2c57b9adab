"""Sites of primers joined to products: a sorted sweep over sites that are near one another.

Sites come in the order of hits. A site on `+` waits until every site on `-` that it can be joined
to has come; what waits is within the longest product.
"""

from collections.abc import Iterable, Iterator
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from kmatch.arrays import Longs, bounds_of
from kmatch.results.batches import HitBatch, joined
from kmatch.search.products.facing import count_products, write_products

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
    starts, _ = sites.line
    group = groups.of[sites.hits.pattern]
    minus = sites.hits.minus.astype(bool)
    plus = np.flatnonzero(~minus[:count])
    others = np.flatnonzero(minus)
    others = others[np.argsort(group[others], kind="stable")]
    bounds = bounds_of(np.bincount(group[others], minlength=len(groups.partner)))
    wanted = groups.partner[group[plus]]
    low, many = np.empty(len(plus), np.int64), np.empty(len(plus), np.int64)
    count_products(sites.line, (plus, wanted), (others, bounds), tuple(limits), (low, many))
    for first, last in _parts(starts[plus], many):
        part = slice(first, last)
        rows = np.empty(many[part].sum(), np.int64), np.empty(many[part].sum(), np.int64)
        if not len(rows[0]):
            continue
        write_products(
            sites.line, (plus[part], wanted[part]), (others, bounds), tuple(limits), low[part], rows
        )
        yield rows


def _parts(starts: Longs, many: Longs) -> Iterator[tuple[int, int]]:
    """Cut sites into parts of about PRODUCTS products, between two starts."""
    if not len(starts):
        return
    first = np.flatnonzero(np.diff(starts, prepend=-1))
    part = (np.cumsum(many) - many)[first] // PRODUCTS
    cuts = [0, *first[np.flatnonzero(np.diff(part)) + 1].tolist(), len(starts)]
    yield from pairwise(cuts)
