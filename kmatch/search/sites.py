"""Sites: of the hits beside PAMs that reach one place, the best.

With insertions and deletions a place is reached from neighbouring PAMs too:

    genome      …CTAACAGTTGCTTTTATCACAGGG…
    guide        CTAACAGTTGCTTTTATCAC AGG       no difference: the site
                 CTAACAGTTGCTTTTATCACA GGG      1 deletion, a letter on: left out

Of each pattern and strand hits are taken from the best to the worst: the fewest differences first,
then the fewest insertions and deletions, then the first hit, on the strand `-` the last hit. A hit
is left out if an alignment may end at its PAM-side end as well as at the PAM-side end of a hit that
was taken, as they are near.

Hits near one another are a chain. A chain is decided once no later hit can join it, and hits leave
in order, once all before them are decided.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, fields, replace
from itertools import groupby
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kmatch.arrays import Longs, Rows, Table, order_of, run_starts
from kmatch.errors import InputError
from kmatch.jit.entries import entry
from kmatch.results.batches import ENDLESS, RECORD, HitBatch, joined, no_hits, sizes_of
from kmatch.search.ends import anchors_of
from kmatch.search.panel import checked_distances
from kmatch.search.query import Query, Run
from kmatch.search.rules import Rules, rules_of
from kmatch.search.search import Search

if TYPE_CHECKING:
    from kmatch.results.scores import Scorer

FOREVER = np.iinfo(np.int64).max
UNDECIDED, SITE, LEFT_OUT = range(3)
KINDS = 4  # of hits of a pattern: on either strand, of the reference and made by alleles
MINUS = 2  # is added for the strand `-`
# Of each group the number of its last chain, and the furthest place in it.
CHAIN = np.dtype([("number", np.int64), ("last", np.int64)])

Watch = Callable[[HitBatch], HitBatch]
_Chains = Annotated[NDArray[Any], CHAIN]
_Linked = tuple[Longs, Longs, Longs, Longs]
join_chains = entry("kmatch.engine.sites:join_chains", tuple[_Chains, _Linked, Longs, int])
take_sites = entry(
    "kmatch.engine.sites:take_sites", tuple[Longs, Longs, tuple[Longs, Longs, Longs], Longs]
)


@dataclass(frozen=True, eq=False, repr=False)
class Candidates(Rows):
    """n hits as they compete to be sites, in the order of hits.

    group: int64[n], counts patterns, strands and whether alleles make a hit; first: int64[n], where
    each hit begins, on one line of all records; last: int64[n], where its PAM-side end is there, on
    a circle beyond its record; reach: int64[n], so far behind `last` a hit of the group that joins
    the chain may begin; place: int64[n], of the PAM-side end in the record, on a circle of the
    first turn; size: int64[n], letters of the circle, or ENDLESS; distance, gaps: int64[n];
    most_gaps: int64[n], of an alignment of its pattern; chain: int64[n], the number of its chain;
    state: int64[n], UNDECIDED, SITE or LEFT_OUT.
    """

    group: Longs
    first: Longs
    last: Longs
    reach: Longs
    place: Longs
    size: Longs
    distance: Longs
    gaps: Longs
    most_gaps: Longs
    chain: Longs
    state: Longs


_NONE = np.zeros(0, np.int64)
NO_CANDIDATES = Candidates(*[_NONE] * len(fields(Candidates)))


class SiteRules(NamedTuple):
    """The rules and lengths that decide sites.

    rules: of the hits; pattern_lengths: int64[P]; most_gaps: int64[P], the most insertions and
    deletions that an alignment of each pattern may have; leasts: int64[2, P], how many letters at
    least lie between the beginning of a hit and its PAM-side end, where that is the hit's last
    letter but for the PAM, and where it is the first one.

        PAM-side end last     [----least----*][ PAM ]
        PAM-side end first    [ PAM ][*-------------]      the letters of the PAM
    """

    rules: Rules
    pattern_lengths: Longs
    most_gaps: Longs
    leasts: Table


def site_rules(query: Query, has_variants: bool = False) -> SiteRules:
    """Return the SiteRules of a Query; has_variants: whether hits may be of haplotypes.

    Hits of haplotypes may lie on any number of letters of the reference, or on none. Raises
    InputError for a query without a PAM.
    """
    rules = rules_of(query)
    if not rules.pams:
        raise InputError(
            "the report 'sites' is of hits beside a PAM; give a PAM, or ask for 'loci'"
        )
    lengths = query.patterns.lengths
    most_gaps = checked_distances(query)
    most_inserted = most_gaps
    _, insertions, deletions = rules.bounds
    if insertions is not None:
        most_inserted = np.minimum(most_inserted, insertions)
    if insertions is not None and deletions is not None:
        most_gaps = np.minimum(most_gaps, insertions + deletions)

    # From the beginning of a hit to its PAM-side end.
    shortest_pam = min(map(len, rules.pams))
    leasts = np.stack([lengths - most_inserted - 1, np.full(len(lengths), shortest_pam)])
    if has_variants:
        leasts = np.full_like(leasts, -1 - rules.reach)
    return SiteRules(rules, lengths, most_gaps, leasts)


class SiteFinder:
    """Finds the sites among hits of one genome, which come in order."""

    def __init__(self, given: SiteRules) -> None:
        self._given = given
        self._chains = np.zeros(KINDS * len(given.most_gaps), CHAIN)
        self._chains["last"] = -ENDLESS
        self._next_number = 0
        self._hits = no_hits()  # those that wait
        self._waiting = NO_CANDIDATES

    def feed(self, batch: HitBatch) -> tuple[HitBatch, Longs]:
        """Take hits; return those that leave, and which of them are sites, int64[sites]."""
        if batch.scores is not None:
            copies = {name: scores.copy() for name, scores in batch.scores.items()}
            batch = replace(batch, site_scores=copies)
        candidates = self._candidates(batch)
        self._hits = joined([self._hits, batch])
        self._waiting = self._waiting.followed_by(candidates)
        return self._leaving(int(candidates.first[-1]))

    def rest(self) -> tuple[HitBatch, Longs]:
        """Return the hits that are left, and which of them are sites."""
        return self._leaving(FOREVER)

    def _candidates(self, hits: HitBatch) -> Candidates:
        """Return hits as Candidates, in their chains."""
        given = self._given
        group = KINDS * hits.pattern.astype(np.int64) + MINUS * hits.minus
        if hits.variants is not None:
            group += hits.variants != ""
        gaps = np.zeros(len(hits), np.int64) if hits.gaps is None else hits.gaps.astype(np.int64)
        most_gaps = given.most_gaps[hits.pattern]

        # Where they are. All hits of a circle are one chain.
        record_start = hits.record * RECORD
        place = anchors_of(hits, given.rules, given.pattern_lengths)
        last = record_start + place
        size = np.full(len(hits), ENDLESS)
        if hits.origin.circles:
            size = sizes_of(hits.record, hits.origin.circles)
            place = place % size
            last = np.where(size < ENDLESS, record_start + 3 * (RECORD // 4), last)

        first = record_start + hits.start
        is_backward = hits.minus != given.rules.leads
        reach = most_gaps - given.leasts[is_backward.astype(np.int64), hits.pattern]
        chain = np.empty(len(hits), np.int64)
        linked = group, first, last, reach
        self._next_number = join_chains(self._chains, linked, chain, self._next_number)
        return Candidates(
            group=group,
            first=first,
            last=last,
            reach=reach,
            place=place,
            size=size,
            distance=hits.distance.astype(np.int64),
            gaps=gaps,
            most_gaps=most_gaps,
            chain=chain,
            state=np.full(len(hits), UNDECIDED),
        )

    def _leaving(self, later_start: int) -> tuple[HitBatch, Longs]:
        """Decide chains, and return the hits that leave, and which of them are sites.

        later_start: where later hits begin at the earliest, on the line of all records.
        """
        waiting = self._waiting
        chain = self._chains[waiting.group]
        is_last = chain["number"] == waiting.chain
        is_open = is_last & (chain["last"] + waiting.reach >= later_start)
        is_undecided = waiting.state == UNDECIDED
        self._decide(np.flatnonzero(is_undecided & ~is_open))

        # Those before the first one that is undecided.
        undecided = np.flatnonzero(is_undecided & is_open)
        count = int(undecided[0]) if len(undecided) else len(waiting)
        leaving = self._hits.picked(slice(count))
        sites = np.flatnonzero(waiting.state[:count] == SITE)
        self._hits = self._hits.picked(slice(count, None))
        self._waiting = waiting.take(slice(count, None))
        return leaving, sites

    def _decide(self, rows: Longs) -> None:
        """Decide which of some waiting hits are sites: of whole chains, by number."""
        if not len(rows):
            return
        state = self._waiting.state
        state[rows] = SITE

        # Those of chains of several hits.
        chain = self._waiting.chain[rows]
        number = chain - chain.min()
        is_shared = np.bincount(number)[number] > 1
        rows = rows[is_shared]

        # By chain and place, and from the best to the worst.
        order = order_of(chain[is_shared], self._waiting.place[rows])
        rows = rows[order]
        hits = self._waiting.take(rows)
        is_minus = hits.group & MINUS != 0
        turned_place = np.where(is_minus, -hits.place, hits.place)
        preferred = order_of(hits.chain, hits.distance, hits.gaps, turned_place)

        # The site of each.
        bounds = np.append(run_starts(hits.chain), len(rows))
        sites = np.full(len(rows), -1)
        take_sites(bounds, preferred, (hits.place, hits.size, hits.most_gaps), sites)
        is_left_out = sites != np.arange(len(rows))
        state[rows[is_left_out]] = LEFT_OUT

        self._share_scores(rows, hits, sites)

    def _share_scores(self, rows: Longs, hits: Candidates, sites: Longs) -> None:
        """Give sites the greatest score of their hits that are as good, and the others none.

        rows: int64[m], of some waiting hits; hits: these; sites: int64[m], of each its site, by
        number among them.
        """
        is_left_out = sites != np.arange(len(rows))
        is_as_good = (hits.distance == hits.distance[sites]) & (hits.gaps == hits.gaps[sites])
        lending = np.flatnonzero(is_left_out & is_as_good)
        for scores in (self._hits.site_scores or {}).values():
            np.fmax.at(scores, rows[sites[lending]], scores[rows[lending]])
            scores[rows[is_left_out]] = np.nan


class SiteSearch(Search[HitBatch]):
    """The hits of a search beside a PAM, with their scores and their sites' scores.

    Where the Query asks for sites, the sites alone.

    search: of the Query, for hits at all ends; run: that began it; scorer: None for no scores;
    watch: takes the hits of all ends with their scores, and returns those that may be sites.
    """

    def __init__(
        self,
        search: Search[HitBatch],
        query: Query,
        run: Run,
        scorer: "Scorer | None" = None,
        watch: "Watch | None" = None,
    ) -> None:
        super().__init__(search.genomes, run, search.regions)
        self.engine = search.engine
        self.progress = search.progress
        self._search = search
        self._given = site_rules(query, run.variants is not None)
        self._scorer = scorer
        self._watch = watch
        self._are_sites = query.report == "sites"
        # Without gaps each place has one hit of the reference.
        self._can_share_place = bool(self._given.most_gaps.any()) or run.variants is not None

    def everywhere(self) -> Iterator[HitBatch]:
        """Yield the hits, or sites, of one genome after another, in regions and elsewhere."""
        hits: Iterable[HitBatch] = filter(len, self._search.everywhere())
        if self._scorer is not None:
            hits = self._scorer.scored(hits)
        if self._watch is not None:
            hits = filter(len, map(self._watch, hits))
        if not self._can_share_place:
            yield from hits
            return
        for _, of_genome in groupby(hits, lambda batch: batch.origin.number):
            finder = SiteFinder(self._given)
            for batch in of_genome:
                yield self._wanted(*finder.feed(batch))
            yield self._wanted(*finder.rest())

    def _wanted(self, hits: HitBatch, sites: Longs) -> HitBatch:
        """Return all hits that leave, or the sites among them with the scores of these."""
        if not self._are_sites:
            return hits
        found = hits.picked(sites)
        return replace(found, scores=found.site_scores)
