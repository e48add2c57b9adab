"""Why primers make no product: which oligos have no site, and whether the sites of the others face
each other.

Sites are noted while they come, by cell, an assay (or a pair) in a genome. Of each record the first
site of an oligo on `+` and the last one on `-` tell whether any two face each other:

    |==>------==>---------<==-----<==|
     first                        last
"""

from collections.abc import Callable, Iterable, Iterator

import numpy as np

from kmatch.apps.joins import MINUS, PLUS, Joins
from kmatch.arrays import Ints, Longs, first_of_each, order_of, range_join
from kmatch.errors import listed
from kmatch.results.batches import (
    ENDLESS,
    FACING,
    LENGTH,
    REASONS,
    ROLE_BITS,
    HitBatch,
    joined,
    no_hits,
    sizes_of,
)
from kmatch.sequences.oligos import PROBE, PrimerPairs

ROLES = 3
NO_LENGTH = 0

Units = Callable[[Longs], Longs]  # the genome that each record is in, by number


def all_in_one(record: Longs) -> Longs:
    """Return the unit of records that are all asked together, int64[n]."""
    return np.zeros_like(record)


class SiteTally:
    """Facts of the sites of primers and probes, by cell.

    A cell is a pair in a unit: cell = unit · pairs + pair. has_site: bool[cells, 3], by role;
    has_product: bool[cells], whether primers make a product, with its probe or without;
    other_length: int64[cells], letters from a site to one that faces it, of one such pair,
    NO_LENGTH where none do.
    """

    def __init__(
        self, pairs: PrimerPairs, joins: Joins, unit_count: int = 1, units: Units = all_in_one
    ) -> None:
        self._pairs = pairs
        self._joins = joins
        self._units = units
        cell_count = unit_count * len(pairs)
        self.has_site = np.zeros((cell_count, ROLES), np.bool_)
        self.has_product = np.zeros(cell_count, np.bool_)
        self.other_length = np.full(cell_count, NO_LENGTH)
        self._waiting = no_hits()  # the outermost sites of the last record so far

    def heard(self, batches: Iterable[HitBatch]) -> Iterator[HitBatch]:
        """Yield the HitBatches of sites, in their order, and note them."""
        for batch in filter(len, batches):
            self._note(batch)
            yield batch
        self._close(self._waiting)

    def note_products(self, record: Longs, oligo: Ints) -> None:
        """Note products of primers.

        record: int64[n]; oligo: int32[n], one of the primers of each.
        """
        self.has_product[self._cells(record, oligo)] = True

    def reasons(self) -> Longs:
        """Return why each cell has no product, int64[cells], in bits."""
        lacks_site = ~self.has_site
        # A probe that the products of primers do not hold is missing, wherever else it may be.
        lacks_site[self.has_product, PROBE] = True
        has_role = np.tile(self._pairs.sides, (len(lacks_site) // len(self._pairs), 1))
        reason = (lacks_site & has_role) @ ROLE_BITS
        is_whole = reason == 0
        reason[is_whole & (self.other_length != NO_LENGTH)] = LENGTH
        reason[is_whole & (self.other_length == NO_LENGTH)] = FACING
        return reason

    def _cells(self, record: Longs, oligo: Ints) -> Longs:
        """Return the cells of oligos in records, int64[n]."""
        return self._units(record) * len(self._pairs) + self._pairs.pair[oligo]

    def _note(self, batch: HitBatch) -> None:
        """Note sites; sites of the last record wait for the rest of it."""
        cells = self._cells(batch.record, batch.pattern)
        self.has_site[cells, self._pairs.role[batch.pattern]] = True

        waiting = self._waiting
        if len(waiting) and waiting.origin.number != batch.origin.number:
            self._close(waiting)
            waiting = no_hits()
        sites = _outermost(joined([waiting, self._primers(batch)]))
        is_last = sites.record == batch.record[-1]
        self._close(sites.picked(np.flatnonzero(~is_last)))
        self._waiting = sites.picked(np.flatnonzero(is_last))

    def _primers(self, batch: HitBatch) -> HitBatch:
        """Return the sites that are of primers."""
        is_primer = ~self._joins.is_probe[batch.pattern]
        return batch.picked(np.flatnonzero(is_primer))

    def _close(self, sites: HitBatch) -> None:
        """Note which of the outermost sites of whole records face each other."""
        plus_rows, minus_rows = self._partners(sites)
        length = sites.end[minus_rows] - sites.start[plus_rows]
        is_facing = sites.start[minus_rows] >= sites.start[plus_rows]
        is_facing &= sites.end[minus_rows] >= sites.end[plus_rows]

        # On a circle they do so over the origin, if not otherwise.
        circle_size = sizes_of(sites.record[plus_rows], sites.origin.circles or {})
        is_circular = circle_size < ENDLESS
        length = np.where(is_circular & ~is_facing, length + circle_size, length)
        rows = np.flatnonzero(is_facing | is_circular)
        cells = self._cells(sites.record[plus_rows[rows]], sites.pattern[plus_rows[rows]])
        self.other_length[cells] = length[rows]

    def _partners(self, sites: HitBatch) -> tuple[Longs, Longs]:
        """Return the rows of all joined sites on `+` and `-` of one record, int64[n] each."""
        joins = self._joins
        plus_rows = np.flatnonzero(sites.minus == PLUS)
        minus_rows = np.flatnonzero(sites.minus == MINUS)
        group_count = int(joins.group.max()) + 1
        plus_key = sites.record[plus_rows] * group_count + joins.partner[sites.pattern[plus_rows]]
        minus_key = sites.record[minus_rows] * group_count + joins.group[sites.pattern[minus_rows]]
        order = order_of(minus_key)
        first = np.searchsorted(minus_key[order], plus_key, side="left")
        last = np.searchsorted(minus_key[order], plus_key, side="right")
        number, place = range_join(first, last)
        return plus_rows[number], minus_rows[order[place]]


def _outermost(sites: HitBatch) -> HitBatch:
    """Return of each oligo in a record its first site on `+` and its last one on `-`.

    Sites of an oligo on one strand do not lie inside one another, so that the first to begin is the
    first to end.
    """
    distance = np.where(sites.minus == MINUS, -sites.start, sites.start)
    order = order_of(sites.record, sites.pattern, sites.minus, distance)
    return sites.picked(first_of_each(order, sites.record, sites.pattern, sites.minus))


def explained(tally: SiteTally, pairs: PrimerPairs, product: tuple[int, int]) -> str:
    """Return in a line why no pair has a product.

    product: letters of a product at least and at most.
    """
    lacking: list[str] = []  # pairs by why they have no product
    without_probe: list[str] = []
    outside: list[str] = []
    facing: list[str] = []
    for cell, reason in enumerate(tally.reasons().tolist()):
        name = pairs.names[cell]
        if tally.has_product[cell]:
            without_probe.append(name)
        elif reason == LENGTH:
            outside.append(f"{name} ({tally.other_length[cell]:,})")
        elif reason == FACING:
            facing.append(name)
        else:
            lacking.append(f"{name} ({REASONS[reason]})")

    least, most = product
    kinds = {
        "no site within k": lacking,
        "sites, but none that face each other (is the reverse primer written as it stands in the "
        "template?)": facing,
        f"products of other lengths than {least}-{most}": outside,
        "products that do not hold the probe": without_probe,
    }
    return "; ".join(f"{what}: {listed(names)}" for what, names in kinds.items() if names)
