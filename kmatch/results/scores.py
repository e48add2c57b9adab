"""Scores of the sites of guides, and the specificity of a guide.

A new score is a function of aligned hits in a file of its own, and its line of SCORES.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import numpy as np

from kmatch.arrays import Bools, Floats
from kmatch.engine.workers import Workers, cores
from kmatch.errors import InputError
from kmatch.nucleases import CAS9, NUCLEASES
from kmatch.results.batches import HitBatch
from kmatch.results.cas9 import GUIDE, GuideLetters, Most, guide_letters, is_cas9
from kmatch.results.cfd import cfd_scores
from kmatch.results.mit import mit_scores


class Score(NamedTuple):
    """A score of the sites of guides.

    name: of its column, and for `--score`.
    whole: the score of a site without differences.
    guide_length: letters of the guides that it is for; hits of others have none.
    suits_pam(pam, leads): whether it is for sites beside a PAM that leads or follows the guide.
    of_hits(batch, guides, most): float64[n], of aligned hits of guides searched with these bounds.
    nuclease: that it is for, of NUCLEASES.
    """

    name: str
    whole: int
    guide_length: int
    suits_pam: Callable[[str, bool], bool]
    of_hits: Callable[[HitBatch, GuideLetters, Most], Floats]
    nuclease: str = CAS9

    def suits(
        self, guide_length: int, pams: Sequence[str], leads: bool, nuclease: str | None = None
    ) -> bool:
        """Return whether it is for guides of a length, see `suits_pams`."""
        return guide_length == self.guide_length and self.suits_pams(pams, leads, nuclease)

    def suits_pams(self, pams: Sequence[str], leads: bool, nuclease: str | None = None) -> bool:
        """Return whether it is for sites beside each of some PAMs, and of a nuclease if named."""
        if not pams or nuclease not in (None, self.nuclease):
            return False
        return all(self.suits_pam(pam, leads) for pam in pams)

    def specificity(self, others: Floats) -> Floats:
        """Return the specificity of guides, which is `whole` for a guide without other sites.

        others: float64[P], the sum of the scores of all sites of a guide but a perfect one.
        """
        return self.whole * self.whole / (self.whole + others)


SCORES = {
    score.name: score
    for score in (
        Score("cfd", 1, GUIDE, is_cas9, cfd_scores),
        Score("mit", 100, GUIDE, is_cas9, mit_scores),
    )
}


def check_scores(
    names: Iterable[str], pams: Sequence[str], leads: bool, nuclease: str | None = None
) -> None:
    """Raise InputError where a score is not for sites beside some PAMs, or of a nuclease.

    leads: whether the PAMs stand before the pattern; nuclease: None for the score's own.
    """
    for name in names:
        score = SCORES[name]
        if not score.suits_pams(pams, leads, nuclease):
            fitting = NUCLEASES[score.nuclease]
            raise InputError(
                f"the score {name} is for sites of {fitting.title}, beside its PAM, {fitting.pam}, "
                "or one that it cuts weakly"
            )


class Scorer:
    """Scores the hits of a search for guides."""

    def __init__(
        self,
        names: Sequence[str],
        guides: Iterable[str],
        pams: Sequence[str],
        leads: bool,
        most: Most,
        nuclease: str | None = None,
        threads: int | None = None,
    ) -> None:
        """names: of the scores; guides: the letters of each pattern; pams: beside the patterns, all
        before them if they lead; most: the bounds of the search; nuclease: if one is named;
        threads: None for one a core.

        Raises InputError for PAMs and nucleases that a score is not for.
        """
        check_scores(names, pams, leads, nuclease)
        self._scores = [SCORES[name] for name in names]
        self._guides = guide_letters(guides)
        self._most = most
        self._workers = Workers(threads or cores())

    def scored(self, batches: Iterable[HitBatch]) -> Iterator[HitBatch]:
        """Yield aligned HitBatches with their scores, which threads make."""
        return self._workers.ahead(partial(self._scored, batch) for batch in batches)

    def _scored(self, batch: HitBatch) -> HitBatch:
        if not len(batch):
            return batch
        scores = {
            score.name: score.of_hits(batch, self._guides, self._most) for score in self._scores
        }
        return replace(batch, scores=scores)

    def specificities(self) -> "dict[str, Specificity]":
        """Return a Specificity by each of the scores, by name."""
        return {score.name: Specificity(score, self._guides.is_guide) for score in self._scores}


class Specificity:
    """The specificity of each of P patterns, by the scores of all its sites but one perfect site.

    sites of a guide  perfect 1, perfect 1, 0.6, 0.2, undefined
    CFD's             1 / (1 + 1 + 0.6 + 0.2)
    """

    def __init__(self, score: Score, is_guide: Bools) -> None:
        """is_guide: bool[P], which patterns have one."""
        self._score = score
        self._is_guide = is_guide
        self._sums = np.zeros(len(is_guide))
        self._perfect = np.zeros(len(is_guide))  # the greatest score of a site without differences

    def add(self, batch: HitBatch) -> None:
        """Count the sites among hits with their scores; one that has none adds nothing."""
        found = batch.scores if batch.site_scores is None else batch.site_scores
        assert found is not None
        scores = np.fmax(found[self._score.name], 0)
        self._sums += np.bincount(batch.pattern, scores, len(self._sums))
        perfect_rows = np.flatnonzero(batch.distance == 0)
        np.maximum.at(self._perfect, batch.pattern[perfect_rows], scores[perfect_rows])

    @property
    def values(self) -> Floats:
        """The specificity of each pattern, float64[P]; NaN for one that is no guide."""
        return self.with_more(np.zeros(len(self._sums)))

    def with_more(self, more: Floats) -> Floats:
        """Return the specificity with more added to the sums of the sites' scores, float64[P].

        more: float64[P]. A sum below zero counts as zero.
        """
        others = np.maximum(self._sums - self._perfect + more, 0)
        return np.where(self._is_guide, self._score.specificity(others), np.nan)
