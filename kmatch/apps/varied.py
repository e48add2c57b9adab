"""Guides and variants: the places that alleles make, and the alleles that undo a target."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from kmatch.arrays import Bools, Floats, Longs, Rows, order_of, range_join, ranked
from kmatch.results.batches import RECORD, GuideBatch, HitBatch
from kmatch.results.scores import Specificity
from kmatch.search.ends import anchors_of
from kmatch.search.query import Query
from kmatch.search.sites import site_rules

CFD = "cfd"  # the score of `specificity_variants`


@dataclass(frozen=True)
class Places(Rows):
    """n sites of guides.

    group: int64[n], counts guides and strands; place: int64[n], where the PAM-side end is, on one
    line of all records; score: float64[n], CFD, 0 where it is undefined; by_alleles: bool[n],
    whether alleles make it.
    """

    group: Longs
    place: Longs
    score: Floats
    by_alleles: Bools


class VariantSites:
    """Counts the sites that alleles make, and the scores that they add to the reference's.

    query: for the sites of P guides, which come in order.
    """

    def __init__(self, query: Query) -> None:
        self._given = site_rules(query)
        guide_count = len(query.patterns)
        self._counts = np.zeros(guide_count, np.int64)
        self._added = np.zeros(guide_count)
        self._perfect = np.zeros(guide_count)  # the greatest score of an allele's perfect site
        self._waiting = Places(*[np.zeros(0, kind) for kind in (int, int, float, bool)])

    def add(self, hits: HitBatch) -> None:
        """Take the next sites."""
        if not len(hits):
            return
        places = self._places(hits)
        by_alleles = hits.pattern[places.by_alleles]
        self._counts += np.bincount(by_alleles, minlength=len(self._counts))
        is_perfect = places.by_alleles & (hits.distance == 0)
        np.maximum.at(self._perfect, hits.pattern[is_perfect], places.score[is_perfect])

        # No later site is where this one begins, or before.
        waiting = self._waiting.followed_by(places)
        later_place = hits.record[-1] * RECORD + hits.start[-1] - self._given.most_gaps.max()
        is_done = waiting.place < later_place
        self._compare(waiting, is_done)
        self._waiting = waiting.take(~is_done)

    def rest(self) -> None:
        """Compare the sites that are left."""
        waiting = self._waiting
        self._compare(waiting, np.ones(len(waiting), np.bool_))
        self._waiting = waiting.take(slice(0))

    def specificity(self, reference: Specificity, counts: Longs) -> Floats:
        """Return the specificity of guides with these sites, float64[P].

        reference: by the reference's sites; counts: int64[P], of sites without differences. A
        perfect site that alleles make is left out where the reference has none.
        """
        left_out = np.where(counts == 0, self._perfect, 0)
        return reference.with_more(self._added - left_out)

    @property
    def counts(self) -> Longs:
        """How many places alleles make or bring closer, int64[P]."""
        return self._counts

    def _places(self, hits: HitBatch) -> Places:
        """Return hits as Places."""
        given = self._given
        assert hits.variants is not None
        scores = (hits.scores or {}).get(CFD, np.zeros(len(hits)))
        anchor = anchors_of(hits, given.rules, given.pattern_lengths)
        return Places(
            group=2 * hits.pattern.astype(np.int64) + hits.minus,
            place=hits.record * RECORD + anchor,
            score=np.fmax(scores, 0),
            by_alleles=hits.variants != "",
        )

    def _compare(self, places: Places, is_done: Bools) -> None:
        """Add the scores, above the reference's score of the place, of alleles' sites that are
        done.

        place        30    31        72
        reference    0.2             0.6
        alleles            0.5       0.1
        added              0.3       0         with insertions and deletions 30 and 31 are one
        """
        varied = places.take(places.by_alleles & is_done)
        if not len(varied):
            return
        reference = places.take(~places.by_alleles)
        reference = reference.take(order_of(reference.group, reference.place))

        # The greatest score of the reference near each.
        most_gaps = self._given.most_gaps[varied.group // 2]
        first = first_at(reference, varied.group, varied.place - most_gaps)
        stop = first_at(reference, varied.group, varied.place + most_gaps + 1)
        rows, near = range_join(first, stop)
        greatest = np.zeros(len(varied))
        np.maximum.at(greatest, rows, reference.score[near])
        more = np.maximum(varied.score - greatest, 0)
        np.add.at(self._added, varied.group // 2, more)


def first_at(places: Places, group: Longs, place: Longs) -> Longs:
    """Return the first row of a group that is at a place or behind it, int64[n].

    places: sorted by group and place; group, place: int64[n].
    """
    _, group_number = ranked(np.append(places.group, group))
    _, place_number = ranked(np.append(places.place, place))
    numbers = group_number * len(place_number) + place_number
    count = len(places)
    return np.searchsorted(numbers[:count], numbers[count:])


class Targets:
    """Finds the alleles that undo the targets of guides.

    guides: n of them, as the target has them; panel_rows: int64[n], the pattern of each.
    """

    def __init__(self, guides: GuideBatch, panel_rows: Longs) -> None:
        self._own = list(keys_of(guides, panel_rows))
        self._wanted = set(self._own)
        self._at_own: dict[Any, Any] = {}  # Losses of perfect sites, by their keys
        self._at_first: dict[int, Any] = {}  # of the first one of each pattern

    def add(self, hits: HitBatch) -> None:
        """Take the next sites."""
        if hits.losses is None:
            return
        assert hits.variants is not None
        perfect = hits.picked(np.flatnonzero((hits.distance == 0) & (hits.variants == "")))
        assert perfect.losses is not None
        keys = keys_of(perfect, perfect.pattern.astype(np.int64))
        for key, losses in zip(keys, perfect.losses, strict=True):
            self._at_first.setdefault(key[0], losses)
            if key in self._wanted:
                self._at_own[key] = losses

    def losses(self) -> Iterator[Any]:
        """Yield the Losses of each guide's target, none where nothing undoes it."""
        for key in self._own:
            losses = self._at_own[key] if key in self._at_own else self._at_first.get(key[0])
            yield losses or ()


def keys_of(rows: Any, patterns: Longs) -> Iterator[tuple[Any, ...]]:
    """Yield the keys of sites: pattern, record, place and strand; patterns: int64[n]."""
    records = [rows.names[number] for number in rows.record.tolist()]
    columns = (patterns, rows.start, rows.end, rows.minus)
    pattern, start, end, minus = (column.tolist() for column in columns)
    yield from zip(pattern, records, start, end, minus, strict=True)


def frequency_of(losses: Any) -> float:
    """Return the greatest frequency of some Losses, NaN where none is known."""
    known = [loss.frequency for loss in losses if not math.isnan(loss.frequency)]
    return max(known, default=np.nan)
