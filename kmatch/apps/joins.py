"""Sites of primers that are joined to products, and the probes inside these.

Sites come in the order of hits. They are laid on one line (`finished_sites`), in parts that no
product crosses: a site on `+` waits until every site on `-` that it can be joined to has come. So
sites that wait are within the longest product. Then sites are joined (`joined_sites`), and in each
product a probe is looked for (`with_probes`).
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from kmatch.arrays import (
    Bools,
    Ints,
    Longs,
    Rows,
    bounds_of,
    first_of_each,
    order_of,
    range_join,
    run_starts,
)
from kmatch.results.batches import ENDLESS, HitBatch, joined, no_hits, sizes_of
from kmatch.search.search import by_record

PRODUCTS = 1 << 15  # yielded together, and any others that start where the last of them does
NO_PAIR = -1  # of oligos that hold no probe
NO_ROW = -1  # of a probe, where a product holds none
PLUS = 0
MINUS = 1


class Joins(NamedTuple):
    """Which oligos make products with which, by number of the oligo.

    group, partner: int64[P], a primer of group g on `+` is joined to the primers on `-` whose group
    is its partner; probe_pair: int64[P], the pair whose probes a product holds, NO_PAIR where it
    needs none; is_probe: bool[P], whether it is a probe and no primer; rank: int64[P], of a
    product's two primers the one of lower rank is the forward primer.
    """

    group: Longs
    partner: Longs
    probe_pair: Longs
    is_probe: Bools
    rank: Longs

    @property
    def has_probes(self) -> bool:
        """Whether any product has to hold a probe."""
        return bool((self.probe_pair != NO_PAIR).any())


class Sites(NamedTuple):
    """n sites of oligos in the order of hits, on one line on which no product reaches from record
    to record.

    hits: HitBatch; start, end: int64[n], on the line; circle_size: int64[n], letters of the
    circular record that a site is in, ENDLESS for a linear one.
    """

    hits: HitBatch
    start: Longs
    end: Longs
    circle_size: Longs

    @property
    def oligo(self) -> Ints:
        """The number of each site's oligo, int32[n]."""
        return self.hits.pattern


def on_one_line(hits: HitBatch, longest: int) -> Sites:
    """Return the Sites of hits.

        record 0            record 1           record 2
        |--==>---<==|·······|-<==---==>|·······|--==>--
                    longest            longest

    A record takes as many letters as its sites reach. longest: letters of a product at the most.
    """
    record_rows = run_starts(hits.record)
    record_ends = np.maximum.reduceat(hits.end, record_rows)
    shifts = bounds_of(record_ends + longest)[:-1]
    site_counts = np.diff(record_rows, append=len(hits))
    shift = np.repeat(shifts, site_counts)
    circle_size = sizes_of(hits.record, hits.origin.circles or {})
    return Sites(hits, hits.start + shift, hits.end + shift, circle_size)


def with_second_turns(
    batches: Iterable[HitBatch], longest: int, is_probe: Bools
) -> Iterator[HitBatch]:
    """Yield the HitBatches, with some sites of circular records again a turn later.

    These are the sites on `-` and the sites of probes, as far as products of up to `longest`
    letters reach over the origin. In a circle of n letters:

        0                            n                            2n
        |-(==)--<====--------====>---|-(==)--<====----------------|
                             |--------------------|
                             a product over the origin

    is_probe: as Joins has it.
    """
    for sites in by_record(batches):
        circle_size = sizes_of(sites.record, sites.origin.circles or {})
        is_circular = circle_size < ENDLESS
        can_end_products = (sites.minus == MINUS) | is_probe[sites.pattern]
        is_near = sites.start < longest
        rows = np.flatnonzero(is_circular & can_end_products & is_near)
        turn = circle_size[rows]
        later = sites.picked(rows)
        later = replace(later, start=later.start + turn, end=later.end + turn)
        both = joined([sites, later])
        yield both.picked(order_of(both.record, both.start))


def finished_sites(batches: Iterable[HitBatch], longest: int) -> Iterator[tuple[Sites, int]]:
    """Yield Sites, and how many of the first are finished.

    No product reaches from a finished site to sites that are to come. The others come again with
    the next ones:

        >--->---<---->---<---->.........<....
                  |-----------|
        finished    these wait  to come          |-----------|  the longest product
    """
    waiting = no_hits()
    for batch in filter(len, batches):
        sites = on_one_line(joined([waiting, batch]), longest)
        # What is to come starts where the last site does, or behind it.
        reach = sites.start[-1] - longest
        finished_count = int(np.searchsorted(sites.start, reach, side="right"))
        yield sites, finished_count
        waiting = sites.hits.picked(slice(finished_count, None))
    if len(waiting):
        yield on_one_line(waiting, longest), len(waiting)


@dataclass(frozen=True, eq=False, repr=False)
class Ranges(Rows):
    """n ranges of places in a GroupedSites: first … last−1, int64[n] each."""

    first: Longs
    last: Longs

    @property
    def counts(self) -> Longs:
        """How many places each range has, int64[n]."""
        return self.last - self.first

    def pairs(self) -> tuple[Longs, Longs]:
        """Return every pair of a range, by number, and a place in it, int64[pairs] each."""
        return range_join(self.first, self.last)


class GroupedSites(NamedTuple):
    """Some sites by group and start; each group has a stretch of one line to itself.

        group 0               group 1               group 2
        |--s-----s---s--------|s--s-----s-----------|-----s--
        0                     spacing               2 · spacing

    rows: int64[m], of Sites; positions: int64[m], of their starts on the line, sorted; spacing:
    letters from group to group.
    """

    rows: Longs
    positions: Longs
    spacing: int

    def between(self, group: Longs, start: Longs, end: Longs) -> Ranges:
        """Return the Ranges of the sites of a group that start at start … end−1.

        group, start, end: int64[n], start and end as Sites have them, within the spacing.
        """
        group_start = group * self.spacing
        first = np.searchsorted(self.positions, group_start + start)
        last = np.searchsorted(self.positions, group_start + end)
        return Ranges(first, last)


def grouped_sites(sites: Sites, rows: Longs, groups: Longs, longest: int) -> GroupedSites:
    """Return the GroupedSites of rows of Sites, sorted.

    groups: int64[P], of oligos; longest: letters of a product at the most.
    """
    spacing = int(sites.end.max()) + longest + 1
    group = groups[sites.oligo[rows]]
    order = order_of(group)
    positions = group * spacing + sites.start[rows]
    return GroupedSites(rows[order], positions[order], spacing)


@dataclass(frozen=True, eq=False, repr=False)
class ProductRows(Rows):
    """n products, as rows of Sites.

    plus, minus: int64[n], the site of a primer on `+`, at which the product starts, and the one on
    `-`, at which it ends; is_turned: bool[n], whether the latter is the forward primer; probe:
    int64[n], the site of the probe inside, NO_ROW where there is none.
    """

    plus: Longs
    minus: Longs
    is_turned: Bools
    probe: Longs

    @property
    def forward(self) -> Longs:
        """The sites of the forward primers, int64[n]."""
        return np.where(self.is_turned, self.minus, self.plus)

    @property
    def reverse(self) -> Longs:
        """The sites of the reverse primers, int64[n]."""
        return np.where(self.is_turned, self.plus, self.minus)


def joined_sites(
    sites: Sites, finished_count: int, joins: Joins, product: tuple[int, int]
) -> Iterator[ProductRows]:
    """Yield the products of the finished sites on `+`, in parts, in the order of their starts.

    Products that start together are in one part. None goes round a circle more than once. product:
    letters of a product at least and at most.
    """
    plus_rows = _primer_rows(sites, joins, PLUS)
    plus_rows = plus_rows[plus_rows < finished_count]
    minus_rows = _primer_rows(sites, joins, MINUS)
    minus_sites = grouped_sites(sites, minus_rows, joins.group, product[1])

    # What each site on `+` may be joined to; products are made of some of them at a time.
    ranges = _partner_ranges(sites, plus_rows, minus_sites, joins, product)
    for part in _parts(sites.start[plus_rows], ranges.counts):
        number, place = ranges.take(part).pairs()
        plus_part = plus_rows[part]
        products = _products(sites, plus_part[number], minus_sites.rows[place], joins)
        is_fit = _fits(sites, products, product)
        products = products.take(np.flatnonzero(is_fit))
        if len(products):
            yield products


def _primer_rows(sites: Sites, joins: Joins, minus: int) -> Longs:
    """Return the rows of Sites that are of primers on a strand, PLUS or MINUS, int64[n]."""
    is_primer = ~joins.is_probe[sites.oligo]
    return np.flatnonzero(is_primer & (sites.hits.minus == minus))


def _partner_ranges(
    sites: Sites,
    plus_rows: Longs,
    minus_sites: GroupedSites,
    joins: Joins,
    product: tuple[int, int],
) -> Ranges:
    """Return the Ranges of `minus_sites` in which each site on `+` may have its partners.

        |======>-------|-----------------------|
                   <===|                  <====|
                 least letters            most letters

    The first of these ranges is widened by the longest site, as sites have unequal lengths.
    """
    least, most = product
    partner = joins.partner[sites.oligo[plus_rows]]
    longest_site = int((sites.end - sites.start).max())
    nearest = max(least - longest_site, 0)
    start = sites.start[plus_rows]
    return minus_sites.between(partner, start + nearest, start + most)


def _parts(plus_start: Longs, counts: Longs) -> Iterator[slice]:
    """Yield slices of sites that make about PRODUCTS products each, cut between two starts.

        plus_start   3 3 5 8 8 9          with PRODUCTS = 3
        counts       2 1 4 0 1 1
        slices       0:2 2:3 3:6

    plus_start, counts: int64[n], of sites on `+`, their starts and how many products they make.
    """
    start_rows = run_starts(plus_start)
    products_before = bounds_of(counts)[start_rows]
    cuts = start_rows[run_starts(products_before // PRODUCTS)]
    bounds = [*cuts.tolist(), len(plus_start)]
    for first, last in pairwise(bounds):
        yield slice(first, last)


def _products(sites: Sites, plus_rows: Longs, minus_rows: Longs, joins: Joins) -> ProductRows:
    """Return sites on `+` and on `-`, int64[n] each, as products without probes."""
    plus_rank = joins.rank[sites.oligo[plus_rows]]
    minus_rank = joins.rank[sites.oligo[minus_rows]]
    no_probe = np.full(len(plus_rows), NO_ROW)
    return ProductRows(plus_rows, minus_rows, plus_rank > minus_rank, no_probe)


def _fits(sites: Sites, products: ProductRows, product: tuple[int, int]) -> Bools:
    """Return which products have two sites that face each other, at a length that is wanted.

        |=======>--------<=====|      they face each other,

        |=======>                     also where they overlap,
             <=====|

        |=======>                     but not where the site on `-` ends before the other one
         <=====|

    None goes round a circle more than once.
    """
    least, most = product
    product_end = sites.end[products.minus]
    length = product_end - sites.start[products.plus]
    is_facing = product_end >= sites.end[products.plus]
    is_long_enough = length >= least
    is_short_enough = length <= np.minimum(most, sites.circle_size[products.plus])
    return is_facing & is_long_enough & is_short_enough


def with_probes(sites: Sites, products: ProductRows, joins: Joins) -> ProductRows:
    """Return the products that need no probe or hold one, with the closest probe in each."""
    pair = joins.probe_pair[sites.oligo[products.plus]]
    products = replace(products, probe=_closest_probes(sites, products, pair, joins))
    is_whole = (pair == NO_PAIR) | (products.probe != NO_ROW)
    return products.take(np.flatnonzero(is_whole))


@dataclass(frozen=True, eq=False, repr=False)
class HeldProbes(Rows):
    """Sites of probes in products: rows of products and of Sites, int64[n] each."""

    product: Longs
    probe: Longs


def _closest_probes(sites: Sites, products: ProductRows, pair: Longs, joins: Joins) -> Longs:
    """Return the site of the closest probe in each product, on either strand, int64[n].

    pair: int64[n], whose probes each product needs. It is NO_ROW where a product holds none or
    needs none. Of sites as close the first counts:

        |========>----(=x=====)----(=======)----(=======)----<========|
                                     taken
    """
    probe_rows = np.flatnonzero(joins.is_probe[sites.oligo])
    probe_sites = grouped_sites(sites, probe_rows, joins.probe_pair, 0)

    # The sites of its probes that start in each product; NO_PAIR has none.
    product_start = sites.start[products.plus]
    product_end = sites.end[products.minus]
    product, place = probe_sites.between(pair, product_start, product_end).pairs()
    held = HeldProbes(product, probe_sites.rows[place])

    # Of those that end in it too the closest one.
    is_inside = sites.end[held.probe] <= product_end[held.product]
    held = held.take(np.flatnonzero(is_inside))
    closest_first = order_of(held.product, sites.hits.distance[held.probe])
    held = held.take(first_of_each(closest_first, held.product))

    found = np.full(len(products), NO_ROW)
    found[held.product] = held.probe
    return found
