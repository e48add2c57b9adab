"""Guides of a target, and their sites in a genome: counted, scored and ranked.

A guide is a window of A, C, G and T beside a PAM, on either strand of the target. First all guides
of the target are found (`find_guides`). Then those that differ are searched for in the genome
(`guide_query`), and their sites are counted and scored as they come.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from kmatch.apps.searches import begin_search, make_scorer
from kmatch.arguments import checked_count
from kmatch.arrays import Longs, order_of, ranked
from kmatch.errors import InputError
from kmatch.genome import Genome, Genomes
from kmatch.results.batches import GuideBatch, HitBatch, joined, no_hits
from kmatch.results.cas9 import GUIDE
from kmatch.results.limit import Counts
from kmatch.results.scores import SCORES
from kmatch.results.table import VARIANTS, Hits
from kmatch.search.query import RUN, Query, Run
from kmatch.search.regions import Regions
from kmatch.search.rules import load_pams
from kmatch.sequences.circles import Circular
from kmatch.sequences.patterns import PatternSet


class GuideOptions(NamedTuple):
    """Which guides there are, and what counts as their sites.

    k: the most mismatches of a site or, with bulges, differences; pam, pam_side: what guides stand
    beside, see `load_pams`; length: their letters; max_insertions, max_deletions: bulges of the
    guide and of the site; score: `mit`, where guides have that specificity too; best: how many
    guides there are at the most, None for all.
    """

    k: int
    pam: str | Sequence[str] = "NGG"
    pam_side: str = "3p"
    length: int = GUIDE
    max_insertions: int = 0
    max_deletions: int = 0
    score: Sequence[str] = ()
    best: int | None = None

    @property
    def has_bulges(self) -> bool:
        """Whether sites may have letters more or less than their guides."""
        return bool(self.max_insertions or self.max_deletions)

    @property
    def is_scored(self) -> bool:
        """Whether sites have a score: where one is asked for, and where guides are Cas9's."""
        pams = [pam.sequence for pam in load_pams(self.pam, self.pam_side)]
        is_of_cas9 = SCORES["cfd"].suits(self.length, pams, self.pam_side == "5p")
        return is_of_cas9 or bool(self.score)


class GuideSearch:
    """Finds the sites of a target's guides in genomes: iterated once, it gives their HitBatches,
    and then the guides.

    sites: the table of these batches; counts: of the sites of each guide. Each guide is searched
    once, however often it is in the target. Raises InputError where there is none, and for options
    that do not fit.
    """

    def __init__(
        self,
        target: Genome,
        genomes: Genomes,
        options: GuideOptions,
        run: Run = RUN,
        regions: Regions | None = None,
    ) -> None:
        """regions: of the target."""
        self._best = options.best
        self._found = find_guides(target, options, run, regions, genomes.circular)
        panel, self._panel_rows = distinct_guides(self._found)
        query = guide_query(panel, options)

        # The scores of sites, and the specificity of guides that each comes to.
        scores = list(dict.fromkeys(("cfd", *options.score))) if options.is_scored else []
        self._scorer = make_scorer(query, scores, run.threads) if scores else None
        specificities = self._scorer.specificities() if self._scorer else None
        self.counts = Counts(panel, options.k, specificities)

        self.sites = Hits((), panel, genomes, options.pam_side == "5p")
        self.sites.add_scores(scores)
        if run.variants is not None:
            self.sites.add(VARIANTS)
        run = run._replace(aligned=run.aligned or bool(scores))
        self._search = begin_search(query, genomes, run)
        self.progress = self._search.progress
        self.engine = self._search.engine

    def __iter__(self) -> Iterator[HitBatch]:
        batches = self._search
        if self._scorer:
            batches = self._scorer.scored(batches)
        for batch in batches:
            self.counts.add(batch)
            yield batch

    def guides(self) -> GuideBatch:
        """Return the guides, in the order of the target, or the best with the most specific
        first."""
        rows = self._panel_rows
        specificities = {
            score: specificity.values[rows] for score, specificity in self.counts.scores.items()
        }
        counts = self.counts.hits[rows]
        found = replace(self._found, counts=counts, specificities=specificities)
        if self._best is None:
            return found
        return found.picked(best_first(found)[: self._best])


def best_first(guides: GuideBatch) -> Longs:
    """Return the order of guides from the best to the worst, int64[n].

    The most specific comes first, and those whose specificity is undefined last. Of equal ones the
    fewest sites without differences decide, then the fewest with one, and so on, and then the order
    in which they come:

        specificity   d0  d1  d2
        0.9            3   0   7
        0.5            1   0   9
        0.5            1   2   0
        undefined      1   0   0
    """
    specificity = np.nan_to_num(guides.specificity, nan=-1.0)
    return order_of(-specificity, *guides.counts.T)


def distinct_guides(guides: GuideBatch) -> tuple[PatternSet, Longs]:
    """Return the guides that differ, sorted, and which of them each guide is, int64[n]."""
    length = len(guides.guide.letters) // len(guides)
    whole_guides = guides.guide.letters.view(f"S{length}")  # each as one value
    different, rows = ranked(whole_guides)
    return _panel([guide.decode() for guide in different.tolist()]), rows


def guide_query(panel: PatternSet, options: GuideOptions) -> Query:
    """Return the Query for the sites of guides."""
    query = Query("multi", panel, options.k, pam=options.pam, pam_side=options.pam_side)
    if not options.has_bulges:
        return query
    return query._replace(
        problem="edit",
        max_insertions=options.max_insertions,
        max_deletions=options.max_deletions,
    )


def find_guides(
    target: Genome,
    options: GuideOptions,
    run: Run = RUN,
    regions: Regions | None = None,
    circular: Circular | None = None,
) -> GuideBatch:
    """Return the guides of a target, inside regions where there are: sites of as many N beside a
    PAM.

    They are sorted by record, start, end and strand, and nothing is known of their sites. Raises
    InputError where there is no guide, and for PAMs and regions that cannot be used.
    """
    length = checked_count("length", options.length)
    if not length:
        raise InputError("guides have 0 letters; give 1 or more")
    genomes = Genomes(target)
    genomes.circular = circular
    query = Query("multi", _panel(["N" * length]), pam=options.pam, pam_side=options.pam_side)
    search = begin_search(query, genomes, Run("cpu", run.threads), regions)
    batches = [no_hits()]
    for batch in search.everywhere():
        batches.append(regions.inside(batch) if regions else batch)
    if regions:
        regions.check(target.label)
    hits = joined(batches)
    if not len(hits):
        raise _no_guide(target, length, options, regions)
    return _guide_batch(hits, length, options.pam_side)


def _no_guide(
    target: Genome, length: int, options: GuideOptions, regions: Regions | None
) -> InputError:
    """Return the error that a target has no guide."""
    pams = [pam.sequence for pam in load_pams(options.pam, options.pam_side)]
    side = "behind" if options.pam_side == "5p" else "before"
    place = " inside a region" if regions else ""
    return InputError(
        f"{target.label}: there is no guide: no {length} letters A, C, G and T stand "
        f"{side} {' or '.join(pams)}{place}"
    )


def _guide_batch(hits: HitBatch, length: int, pam_side: str) -> GuideBatch:
    """Return the guides that hits of as many N are, each with its PAM.

        pam_side `3p`    GGCATTCAGATTACAGGTAC TGG
                         guide                pam

        pam_side `5p`    TTTC GGCATTCAGATTACAGGTAC
                         pam  guide

    length: letters of a guide; PAMs may have more or less of them.
    """
    text = hits.aligned.text
    begin = text.bounds[:-1]
    pam_length = np.diff(text.bounds) - length
    guide_length = np.full_like(pam_length, length)
    if pam_side == "5p":
        pam = text.stretches(begin, pam_length)
        guide = text.stretches(begin + pam_length, guide_length)
    else:
        guide = text.stretches(begin, guide_length)
        pam = text.stretches(begin + length, pam_length)
    return GuideBatch(
        hits.record,
        hits.start,
        hits.end,
        hits.names,
        hits.minus,
        guide,
        pam,
        counts=np.zeros((len(hits), 0), np.int64),
        specificities={},
        origin=hits.origin,
    )


def _panel(sequences: list[str]) -> PatternSet:
    """Return patterns that name themselves."""
    return PatternSet(sequences, sequences)
