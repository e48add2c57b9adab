"""Guides and variants: the places that alleles make, and the alleles that undo a target."""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from kmatch.arrays import Bools, Floats, Longs, Rows, order_of, range_join, ranked, run_starts
from kmatch.results.batches import ENDLESS, RECORD, GuideBatch, HitBatch
from kmatch.results.scores import Specificity
from kmatch.search.ends import anchors_of
from kmatch.search.query import Query
from kmatch.search.sites import site_rules, take_sites

CFD = "cfd"  # the score of `specificity_variants`


@dataclass(frozen=True, eq=False, repr=False)
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
        self._most_gaps = int(self._given.most_gaps.max())
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

        # Later hits begin where the last one does, or behind. One in an insertion may begin a
        # letter behind its place.
        later_start = int(hits.record[-1] * RECORD + hits.start[-1])
        self._settle(later_start - 1)

    def rest(self) -> None:
        """Count and compare what is left."""
        self._settle(ENDLESS)

    def specificity(self, reference: Specificity, counts: Longs) -> Floats:
        """Return the specificity of guides with these places, float64[P].

        reference: by the reference's sites; counts: int64[P], of sites without differences. A
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
        scores_by_name = hits.scores if hits.site_scores is None else hits.site_scores
        scores = np.zeros(len(hits))
        if scores_by_name and CFD in scores_by_name:
            scores = np.fmax(scores_by_name[CFD], 0)
        guide = hits.pattern.astype(np.int64)
        anchor = anchors_of(hits, given.rules, given.pattern_lengths)
        return Places(
            group=2 * guide + hits.minus,
            place=hits.record * RECORD + anchor,
            score=scores,
            is_perfect=hits.distance == 0,
        )

    def _settle(self, later_place: int) -> None:
        """Count and compare the places that no later hit is near; later_place: the least of later
        hits."""
        # Places that alleles make, each once.
        is_done = self._made.place < later_place
        made = self._made.take(is_done).in_order()
        self._made = self._made.take(~is_done)
        once = made.take(run_starts(made.group, made.place))
        np.add.at(self._counts, once.guide, 1)

        # Hits that alleles make, by chains that are whole.
        varied = self._varied.in_order()
        bounds = self._chain_bounds(varied)
        last_rows = bounds[1:] - 1
        last_place = varied.place[last_rows]
        is_chain_whole = last_place + self._most_gaps < later_place
        is_whole = np.repeat(is_chain_whole, np.diff(bounds))
        self._compare(varied.take(is_whole))
        self._varied = varied.take(~is_whole)

        # The reference's sites that a later hit may be near.
        first_place = self._varied.place.min(initial=later_place)
        is_near = self._reference.place >= first_place - self._most_gaps
        self._reference = self._reference.take(is_near)

    def _compare(self, varied: Places) -> None:
        """Add what places score with alleles above the reference's; varied: whole chains."""
        if not len(varied):
            return
        places = self._best_of(varied)

        # The reference's sites near each, and the greatest score of these.
        reference = self._reference.in_order()
        rows, near = self._pairs_near(places, reference)
        of_reference = np.zeros(len(places))
        np.maximum.at(of_reference, rows, reference.score[near])

        # The greatest score of each place, and what alleles add to it.
        greatest = np.maximum(places.score, of_reference)
        np.add.at(self._added, places.guide, greatest - of_reference)

        # Of the places with a perfect site one is left out.
        is_near_perfect = reference.is_perfect[near]
        own = rows[is_near_perfect]
        np.maximum.at(self._perfect_with_alleles, places.guide[own], greatest[own])
        made = np.flatnonzero(places.is_perfect)
        np.maximum.at(self._perfect_by_alleles, places.guide[made], greatest[made])

    def _best_of(self, varied: Places) -> Places:
        """Return the places of whole chains: the hits that are taken from the greatest score on.

        A place is perfect if any of its hits is.

            place      30   31   32   33        with 1 letter between hits of a place
            score      0.5  0.7  0.1  0.2
            taken           1st       2nd       30 and 32 belong to 31
        """
        bounds = self._chain_bounds(varied)
        chain = np.repeat(np.arange(len(bounds) - 1), np.diff(bounds))
        preferred = order_of(chain, -varied.score)
        size = np.full(len(varied), ENDLESS)  # no place is on a circle
        most_gaps = self._given.most_gaps[varied.guide]
        best = np.full(len(varied), -1)
        take_sites(bounds, preferred, (varied.place, size, most_gaps), best)

        has_perfect = np.zeros(len(varied), np.bool_)
        perfect_rows = np.flatnonzero(varied.is_perfect)
        has_perfect[best[perfect_rows]] = True
        is_taken = best == np.arange(len(varied))
        return replace(varied, is_perfect=has_perfect).take(is_taken)

    def _pairs_near(self, places: Places, others: Places) -> tuple[Longs, Longs]:
        """Return every pair of a place and another one near it, (int64[pairs], int64[pairs]).

        others: sorted by group and place.
        """
        most_gaps = self._given.most_gaps[places.guide]
        first = first_at(others, places.group, places.place - most_gaps)
        stop = first_at(others, places.group, places.place + most_gaps + 1)
        return range_join(first, stop)

    def _chain_bounds(self, places: Places) -> Longs:
        """Return the bounds of chains, int64[chains+1]: of places that are near the next one.

        places: n, sorted by group and place.
        """
        most_gaps = self._given.most_gaps[places.guide]
        is_far = np.diff(places.place) > most_gaps[1:]
        is_other_group = np.diff(places.group) != 0
        inner_bounds = np.flatnonzero(is_far | is_other_group) + 1
        outer_bounds = [0, len(places)] if len(places) else [0]
        return np.sort(np.append(inner_bounds, outer_bounds))


def first_at(places: Places, group: Longs, place: Longs) -> Longs:
    """Return the first row of a group that is at a place or behind it, int64[n].

    places: sorted by group and place; group, place: int64[n].
    """
    # Group and place of all in one number.
    _, group_number = ranked(np.append(places.group, group))
    _, place_number = ranked(np.append(places.place, place))
    numbers = group_number * len(place_number) + place_number
    count = len(places)
    return np.searchsorted(numbers[:count], numbers[count:])


class SiteKey(NamedTuple):
    """What tells sites apart; record: its name."""

    pattern: int
    record: str
    start: int
    end: int
    minus: int


class Targets:
    """Finds the alleles that undo the targets of guides.

    guides: n of them, as the target has them; panel_rows: int64[n], the pattern of each.
    """

    def __init__(self, guides: GuideBatch, panel_rows: Longs) -> None:
        self._own_keys = keys_of(guides, panel_rows)
        self._wanted = set(self._own_keys)
        self._of_own: dict[SiteKey, Any] = {}  # Losses of guides' own places
        self._of_first: dict[int, Any] = {}  # of the first perfect site of each pattern

    def add(self, hits: HitBatch) -> None:
        """Take the next sites."""
        if hits.losses is None:
            return
        assert hits.variants is not None
        is_perfect = (hits.distance == 0) & (hits.variants == "")
        perfect = hits.picked(np.flatnonzero(is_perfect))
        assert perfect.losses is not None
        keys = keys_of(perfect, perfect.pattern)
        for key, losses in zip(keys, perfect.losses, strict=True):
            self._of_first.setdefault(key.pattern, losses)
            if key in self._wanted:
                self._of_own[key] = losses

    def losses(self) -> Iterator[Any]:
        """Yield the Losses of each guide's target, none where nothing undoes it."""
        for key in self._own_keys:
            of_first = self._of_first.get(key.pattern)
            yield self._of_own.get(key, of_first) or ()


def keys_of(rows: Any, patterns: Any) -> list[SiteKey]:
    """Return the SiteKey of each of n rows; patterns: of integers, n."""
    records = [rows.names[number] for number in rows.record.tolist()]
    columns = zip(
        patterns.tolist(),
        records,
        rows.start.tolist(),
        rows.end.tolist(),
        rows.minus.tolist(),
        strict=True,
    )
    return [SiteKey(*cells) for cells in columns]


def frequency_of(losses: Any) -> float:
    """Return the greatest frequency of some Losses, NaN where none is known."""
    frequencies = [loss.frequency for loss in losses]
    stated = [frequency for frequency in frequencies if not math.isnan(frequency)]
    return max(stated, default=np.nan)
