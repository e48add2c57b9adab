"""Guides of a target, and their sites in a genome: counted, scored and ranked.

A guide is a window of A, C, G and T beside a PAM, on either strand of the target. First all guides
of the target are found (`find_guides`). Then the different guides are searched for in the genome
(`guide_query`), and their sites are counted and scored as they come.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from kmatch.apps.searches import begin_search, make_scorer
from kmatch.apps.varied import CFD, Targets, VariantSites, frequency_of
from kmatch.arguments import GUIDE_REPORTS, check_choice, checked_count
from kmatch.arrays import Longs, order_of, ranked
from kmatch.errors import InputError
from kmatch.genome import Genome, Genomes
from kmatch.results.batches import GuideBatch, HitBatch, joined, no_hits
from kmatch.results.cas9 import GUIDE
from kmatch.results.limit import Counts
from kmatch.results.scores import SCORES, Scorer, check_scores
from kmatch.results.table import VARIANTS, Hits
from kmatch.search.query import RUN, Query, Run
from kmatch.search.regions import Regions
from kmatch.search.rules import load_pams
from kmatch.search.sites import Watch
from kmatch.sequences.circles import Circular
from kmatch.sequences.patterns import PatternSet

DECIMALS = 9  # of specificities that are told apart


class GuideOptions(NamedTuple):
    """The guides of a target, and the rules of their sites.

    k: the most mismatches of a site or, with bulges, differences; pam, pam_side: of the PAM beside
    guides, see `load_pams`; length: their letters; max_insertions, max_deletions: bulges of the
    guide and of the site; score: `mit`, where guides have its specificity too; best: how many
    guides there are at the most, None for all; report: `sites`, or `ends` for every end beside a
    PAM; nuclease: whose PAM that is, None where it was given by its letters.
    """

    k: int
    pam: str | Sequence[str] = "NGG"
    pam_side: str = "3p"
    length: int = GUIDE
    max_insertions: int = 0
    max_deletions: int = 0
    score: Sequence[str] = ()
    best: int | None = None
    report: str = "sites"
    nuclease: str | None = None

    @property
    def has_bulges(self) -> bool:
        """Whether sites may have letters more or less than their guides."""
        return bool(self.max_insertions or self.max_deletions)

    @property
    def pams(self) -> list[str]:
        """The letters of each PAM."""
        return [pam.sequence for pam in load_pams(self.pam, self.pam_side)]

    @property
    def scores(self) -> list[str]:
        """The names of the scores of sites: CFD where guides are SpCas9's, and other scores asked
        for."""
        leads = self.pam_side == "5p"
        is_of_cas9 = SCORES["cfd"].suits(self.length, self.pams, leads, self.nuclease)
        names = ("cfd", *self.score) if is_of_cas9 else self.score
        return list(dict.fromkeys(names))


class SiteTable(NamedTuple):
    """The sites of guides.

    batches: HitBatches, of a search that is iterated once; table: that they are written as; scorer:
    of them, None where they have no scores.
    """

    batches: Any
    table: Hits
    scorer: Scorer | None


def search_sites(
    panel: PatternSet,
    options: GuideOptions,
    genomes: Genomes,
    run: Run,
    watch: Watch | None = None,
) -> SiteTable:
    """Begin the search for the sites of guides; watch: of all hits, see `SiteSearch`."""
    query = guide_query(panel, options)
    scores = options.scores
    scorer = make_scorer(query, scores, options.nuclease, run.threads) if scores else None
    table = Hits((), panel, genomes, options.pam_side == "5p")
    table.add_scores(scores)
    if run.variants is not None:
        table.add(VARIANTS)
    run = run._replace(aligned=run.aligned or bool(scores))
    search = begin_search(query, genomes, run, scorer=scorer, watch=watch)
    return SiteTable(search, table, scorer)


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
        check_scores(options.score, options.pams, options.pam_side == "5p", options.nuclease)
        self._options = options
        self._genomes = genomes
        self._run = run
        self._found = find_guides(target, options, run, regions, genomes.circular)
        panel, self._panel_rows = distinct_guides(self._found)

        # What variants do to them: hits that are no closer may have a greater score.
        self._variant_sites: VariantSites | None = None
        watch = None
        if run.variants is not None:
            has_scores = CFD in options.scores
            variants = run.variants._replace(losses=True, every=has_scores)
            run = run._replace(variants=variants)
            self._variant_sites = VariantSites(guide_query(panel, options))
            self._targets = Targets(self._found, self._panel_rows)
            watch = self._variant_sites.watch

        # The sites of guides that differ, and the specificity that their scores come to.
        self._search, self.sites, scorer = search_sites(panel, options, genomes, run, watch)
        specificities = scorer.specificities() if scorer else None
        self.counts = Counts(panel, options.k, specificities)
        self.progress = self._search.progress
        self.engine = self._search.engine

    def __iter__(self) -> Iterator[HitBatch]:
        for batch in self._search:
            of_reference = batch
            if self._variant_sites is not None:
                self._variant_sites.add(batch)
                self._targets.add(batch)
                of_reference = batch.picked(np.flatnonzero(batch.variants == ""))
            self.counts.add(of_reference)
            yield batch

    def guides(self) -> GuideBatch:
        """Return all guides in the order of the target, once their sites are counted."""
        rows = self._panel_rows
        specificities = {
            score: specificity.values[rows] for score, specificity in self.counts.scores.items()
        }
        counts = self.counts.hits[rows]
        guides = replace(self._found, counts=counts, specificities=specificities)
        return guides if self._variant_sites is None else self._varied(guides, self._variant_sites)

    def _varied(self, guides: GuideBatch, sites: VariantSites) -> GuideBatch:
        """Return guides with the columns of variants."""
        rows = self._panel_rows
        sites.rest()
        specificity = np.full(len(guides), np.nan)
        if CFD in self.counts.scores:
            reference = self.counts.scores[CFD]
            specificity = sites.specificity(reference, self.counts.hits[:, 0])[rows]
        losses = list(self._targets.losses())
        names = [",".join(loss.name for loss in each) for each in losses]
        return replace(
            guides,
            variant_sites=sites.counts[rows],
            specificity_variants=specificity,
            target_variants=np.array(names, object),
            target_af=np.array([frequency_of(each) for each in losses]),
        )

    def best(self, guides: GuideBatch) -> GuideBatch:
        """Return the best of all guides, the most specific first; all where none are asked for."""
        if self._options.best is None:
            return guides
        return guides.picked(best_first(guides)[: self._options.best])

    def sites_of(self, guides: GuideBatch) -> SiteTable:
        """Search the genome again, for the sites of some of the guides."""
        panel, _ = distinct_guides(guides)
        return search_sites(panel, self._options, self._genomes, self._run)


def best_first(guides: GuideBatch) -> Longs:
    """Return the order of guides from the best to the worst, int64[n].

    The most specific guide comes first. A guide whose specificity is undefined comes last. Of equal
    ones the fewest sites without differences decide, then the fewest with one, and so on, then the
    share of G and C that is nearest to a half, and then the order in which they come:

        specificity   d0  d1  d2   GC
        0.9            3   0   7   0.2
        0.5            1   0   9   0.4
        0.5            1   0   9   0.35
        0.5            1   2   0   0.5
        undefined      1   0   0   0.5

    Sums depend in their last digits on the order of their parts, so that nine decimals count.
    """
    specificity = np.nan_to_num(guides.specificity, nan=-1.0).round(DECIMALS)
    imbalance = np.abs(2 * guides.strong - guides.length)
    return order_of(-specificity, *guides.counts.T, imbalance)


def distinct_guides(guides: GuideBatch) -> tuple[PatternSet, Longs]:
    """Return the guides that differ, sorted, and which of them each guide is, int64[n]."""
    length = len(guides.guide.letters) // len(guides)
    whole_guides = guides.guide.letters.view(f"S{length}")  # each as one value
    different, rows = ranked(whole_guides)
    return _panel([guide.decode() for guide in different.tolist()]), rows


def guide_query(panel: PatternSet, options: GuideOptions) -> Query:
    """Return the Query for the sites of guides."""
    check_choice("report", options.report, GUIDE_REPORTS)
    query = Query(
        "multi",
        panel,
        options.k,
        pam=options.pam,
        pam_side=options.pam_side,
        report=options.report,
    )
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
    pams = options.pams
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
        number=np.zeros(len(hits), np.int64),
        origin=hits.origin,
    )


def _panel(sequences: list[str]) -> PatternSet:
    """Return patterns that name themselves."""
    return PatternSet(sequences, sequences)
