"""Guides of a target, and their sites in a genome: counted, scored and ranked."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from kmatch.apps.searches import begin_search, make_scorer
from kmatch.arguments import checked_count
from kmatch.arrays import Bytes, Longs, bounds_of, gather, ranked
from kmatch.engine.types import Texts
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
    """pam, pam_side: what guides stand beside, see `load_pams`; length: their letters; k: the most
    mismatches of a site or, with bulges, differences; max_insertions, max_deletions: bulges of the
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
        k, pam, side, length, *bulges, scores, self._best = options
        self._found = find_guides(target, options, run, regions, genomes.circular)
        guides, self._which = ranked(self._found.guide.letters.view(f"S{length}"))
        panel = _panel([guide.decode() for guide in guides.tolist()])
        problem, most = ("edit", bulges) if any(bulges) else ("multi", (None, None))
        query = Query(problem, panel, k, "both", 0, 0, pam, side, None, None, *most)
        pams = [each.sequence for each in load_pams(pam, side)]
        scored = SCORES["cfd"].suits(length, pams, side == "5p") or bool(scores)
        kinds = list(dict.fromkeys(("cfd", *scores))) if scored else []
        self._scorer = make_scorer(query, kinds) if scored else None  # which may say why not
        specific = self._scorer.specificities() if self._scorer else None
        self.counts = Counts(panel, k, specific)
        self.sites = Hits((), panel, genomes, side == "5p")
        self.sites.add_scores(kinds)
        if run.variants is not None:
            self.sites.add(VARIANTS)
        run = run._replace(aligned=run.aligned or scored)
        self._search = begin_search(query, genomes, run)
        self.progress, self.engine = self._search.progress, self._search.engine

    def __iter__(self) -> Iterator[HitBatch]:
        found = self._search
        for batch in self._scorer.scored(found) if self._scorer else found:
            self.counts.add(batch)
            yield batch

    def guides(self) -> GuideBatch:
        """The guides, in the order of the target, or the best with the most specific first."""
        scores = self.counts.scores.items()
        specificities = {kind: each.values[self._which] for kind, each in scores}
        counts = self.counts.hits[self._which]
        found = replace(self._found, counts=counts, specificities=specificities)
        if self._best is None:
            return found
        keys = [*found.counts.T[::-1], -np.nan_to_num(found.specificity, nan=-1.0)]
        return found.picked(np.lexsort(keys)[: self._best])


def find_guides(
    target: Genome,
    options: GuideOptions,
    run: Run = RUN,
    regions: Regions | None = None,
    circular: Circular | None = None,
) -> GuideBatch:
    """The guides of a target, inside regions where there are: sites of as many N beside a PAM.

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
    batches = search.everywhere()
    hits = joined([no_hits(), *(map(regions.inside, batches) if regions else batches)])
    if regions:
        regions.check(target.label)
    if not len(hits):
        pams = " or ".join(pam.sequence for pam in load_pams(options.pam, options.pam_side))
        beside = f"{'behind' if options.pam_side == '5p' else 'before'} {pams}"
        raise InputError(
            f"{target.label}: there is no guide: no {length} letters A, C, G and T stand {beside}"
            + " inside a region" * bool(regions)
        )
    ends, text = hits.aligned.text
    size = np.diff(ends) - length
    first = options.pam_side == "5p"
    guide = _stretches(text, ends[:-1] + size * first, np.full_like(size, length))
    pam = _stretches(text, ends[:-1] + length * (not first), size)
    return GuideBatch(
        *(hits.record, hits.start, hits.end, hits.names, hits.minus, guide, pam),
        *(np.zeros((len(hits), 0), np.int64), {}),
        origin=hits.origin,
    )


def _panel(words: list[str]) -> PatternSet:
    """Patterns that name themselves."""
    return PatternSet(words, words)


def _stretches(text: Bytes, begin: Longs, size: Longs) -> Texts:
    """Stretches of a text, int64[n] each, side by side."""
    bounds = bounds_of(size)
    return Texts(bounds, gather(text, begin, bounds))
