"""What variants do to guides: the places that alleles make, and the alleles that undo a target."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from kmatch.arrays import Bools, Floats, Longs, Rows, order_of, range_join, ranked, run_starts
from kmatch.results.batches import ENDLESS, RECORD, GuideBatch, HitBatch
from kmatch.results.scores import Specificity
from kmatch.search.ends import anchors_of
from kmatch.search.query import Query
from kmatch.search.sites import site_rules, take_sites

CFD = "cfd"  # the score of `specificity_variants`


@dataclass(frozen=True)
class Places(Rows):
    """n hits or sites of guides by their places.

    group: int64[n], counts guides and strands; place: int64[n], where the PAM-side end is, on one
    line of all records; score: float64[n], CFD, 0 where it is undefined; is_perfect: bool[n],
    whether it has no difference.
    """

    group: Longs
    place: Longs
    score: Floats
    is_perfect: Bools

    @property
    def guide(self) -> Longs:
        """The guide of each, int64[n]."""
        return self.group // 2

    def in_order(self) -> "Places":
        """Return them sorted by group and place."""
        return self.take(order_of(self.group, self.place))


NO_PLACES = Places(
    group=np.zeros(0, np.int64),
    place=np.zeros(0, np.int64),
    score=np.zeros(0),
    is_perfect=np.zeros(0, np.bool_),
)


class VariantSites:
    """Counts the places that alleles make, and finds the greatest score that each place has.

    query: for the sites of P guides, which come in order. Of a guide, places with insertions and
    deletions 1 letter apart at the most:

        place               30    31        72        90    91
        reference's sites   0.2             0.6
        hits by alleles           0.5       0.1       0.4   0.7
        greatest            0.5             0.6             0.7
        alleles add         0.3             0               0.7
    """

    def __init__(self, query: Query) -> None:
        self._given = site_rules(query)
        guide_count = len(query.patterns)
        self._counts = np.zeros(guide_count, np.int64)
        self._added = np.zeros(guide_count)
        # The greatest score of a perfect site of the reference, without alleles and with them, and
        # of one that alleles make.
        self._perfect = np.zeros(guide_count)
        self._perfect_with_alleles = np.zeros(guide_count)
        self._perfect_by_alleles = np.zeros(guide_count)
        # What waits for later ones.
        self._reference = NO_PLACES
        self._made = NO_PLACES
        self._varied = NO_PLACES

    def watch(self, hits: HitBatch) -> HitBatch:
        """Take note of the next hits that alleles make, and return those that may be sites.

        Hits that alleles make, and that are no closer than the reference's, are no sites: they may
        but have a greater score.
        """
        assert hits.variants is not None and hits.reference_distance is not None
        is_made = hits.variants != ""
        varied = self._places(hits.picked(np.flatnonzero(is_made)))
        self._varied = self._varied.followed_by(varied)
        is_left_out = is_made & (hits.distance >= hits.reference_distance)
        return hits.picked(np.flatnonzero(~is_left_out))

    def add(self, hits: HitBatch) -> None:
        """Take the next sites."""
        if not len(hits):
            return
        assert hits.variants is not None
        places = self._places(hits)
        is_made = hits.variants != ""
        self._made = self._made.followed_by(places.take(is_made))

        # The reference's sites.
        reference = places.take(~is_made)
        perfect = reference.take(reference.is_perfect)
        np.maximum.at(self._perfect, perfect.guide, perfect.score)
        self._reference = self._reference.followed_by(reference)

        # A hit may lie behind its place by a letter, in an insertion.
        self._settle(int(hits.record[-1] * RECORD + hits.start[-1]) - 1)

    def rest(self) -> None:
        """Count and compare what is left."""
        self._settle(ENDLESS)

    def specificity(self, reference: Specificity, counts: Longs) -> Floats:
        """Return the specificity of guides with these places, float64[P].

        reference: by the reference's sites; counts: int64[P], of those without differences. A
        perfect site that alleles make is left out where the reference has none.
        """
        with_alleles = np.maximum(self._perfect, self._perfect_with_alleles)
        left_out = np.where(counts == 0, self._perfect_by_alleles, with_alleles)
        return reference.with_more(self._added - (left_out - self._perfect))

    @property
    def counts(self) -> Longs:
        """How many places alleles make or bring closer, int64[P]."""
        return self._counts

    def _places(self, hits: HitBatch) -> Places:
        """Return hits as Places."""
        given = self._given
        scores = (hits.scores if hits.site_scores is None else hits.site_scores) or {}
        anchor = anchors_of(hits, given.rules, given.pattern_lengths)
        return Places(
            group=2 * hits.pattern.astype(np.int64) + hits.minus,
            place=hits.record * RECORD + anchor,
            score=np.fmax(scores.get(CFD, np.zeros(len(hits))), 0),
            is_perfect=hits.distance == 0,
        )

    def _settle(self, later_place: int) -> None:
        """Count and compare what no later hit is near; later_place: of these, at the least."""
        # Places that alleles make, each once.
        is_done = self._made.place < later_place
        made = self._made.take(is_done).in_order()
        once = made.take(run_starts(made.group, made.place))
        self._counts += np.bincount(once.guide, minlength=len(self._counts))
        self._made = self._made.take(~is_done)

        # Hits that alleles make, by chains that are whole.
        varied = self._varied.in_order()
        most_gaps = self._given.most_gaps
        bounds = chain_bounds(varied, most_gaps[varied.guide])
        last_place = varied.place[bounds[1:] - 1]
        is_whole = np.repeat(last_place + most_gaps.max() < later_place, np.diff(bounds))
        self._compare(varied.take(is_whole))
        self._varied = varied.take(~is_whole)

        # The reference's sites that a later hit may be near.
        first_place = self._varied.place.min(initial=later_place)
        is_near = self._reference.place >= first_place - most_gaps.max()
        self._reference = self._reference.take(is_near)

    def _compare(self, varied: Places) -> None:
        """Add what places score with alleles above the reference's; varied: whole chains."""
        if not len(varied):
            return
        # Each place once, with the greatest score.
        most_gaps = self._given.most_gaps[varied.guide]
        bounds = chain_bounds(varied, most_gaps)
        chain = np.repeat(np.arange(len(bounds) - 1), np.diff(bounds))
        preferred = order_of(chain, -varied.score)
        best = np.full(len(varied), -1)
        take_sites(bounds, preferred, (varied.place, np.full_like(best, ENDLESS), most_gaps), best)
        has_perfect = np.zeros(len(varied), np.bool_)
        has_perfect[best[varied.is_perfect]] = True
        is_best = best == np.arange(len(varied))
        places = varied.take(is_best)
        has_perfect = has_perfect[is_best]

        # The reference's sites near each, and the greatest score of these.
        reference = self._reference.in_order()
        first = first_at(reference, places.group, places.place - most_gaps[is_best])
        stop = first_at(reference, places.group, places.place + most_gaps[is_best] + 1)
        place_rows, near = range_join(first, stop)
        of_reference = np.zeros(len(places))
        np.maximum.at(of_reference, place_rows, reference.score[near])
        greatest = np.maximum(places.score, of_reference)
        np.add.at(self._added, places.guide, greatest - of_reference)

        # The places of perfect sites, of which one is left out.
        own_rows = place_rows[reference.is_perfect[near]]
        np.maximum.at(self._perfect_with_alleles, places.guide[own_rows], greatest[own_rows])
        perfect = places.guide[has_perfect]
        np.maximum.at(self._perfect_by_alleles, perfect, greatest[has_perfect])


def chain_bounds(places: Places, most_gaps: Longs) -> Longs:
    """Return the bounds of chains, int64[chains+1]: of places that are near the next one.

    places: n, sorted by group and place; most_gaps: int64[n], letters between two that are near.
    """
    is_other_group = np.diff(places.group) != 0
    is_far = np.diff(places.place) > most_gaps[1:]
    starts = np.flatnonzero(is_other_group | is_far) + 1
    edges = [0, len(places)] if len(places) else [0]
    return np.sort(np.append(starts, edges))


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
    """Yield what tells sites apart: pattern, record, place and strand; patterns: int64[n]."""
    records = [rows.names[number] for number in rows.record.tolist()]
    columns = (patterns, rows.start, rows.end, rows.minus)
    pattern, start, end, minus = (column.tolist() for column in columns)
    yield from zip(pattern, records, start, end, minus, strict=True)


def frequency_of(losses: Any) -> float:
    """Return the greatest frequency of some Losses, NaN where none is known."""
    known = [loss.frequency for loss in losses if not math.isnan(loss.frequency)]
    return max(known, default=np.nan)
