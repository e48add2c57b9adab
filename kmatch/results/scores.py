"""Scores of Cas9's sites and the specificity of guides, from hits that are aligned.

CFD: Doench et al. 2016, the product of a weight for each difference and one for the PAM. MIT: Hsu
et al. 2013, for mismatches alone. Either is for guides of twenty letters before a PAM of three,
`NGG` or another that begins with N, and undefined (NaN) for whatever its tables do not hold: other
guides, other letters than A, C, G and T, and bulges at the first position.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from importlib.resources import files
from typing import Annotated

import numpy as np

from kmatch.arrays import Bools, Bytes, Floats, Ints, Longs, counted_in_rows
from kmatch.jit.entries import entry
from kmatch.results.batches import HitBatch

Guides = tuple[Ints, Annotated[Bytes, 2]]
Weights = Annotated[Floats, 3]
Best = Annotated[Floats, 4]
score_cfd = entry(
    "kmatch.results.kernels:score_cfd",
    tuple[tuple[Longs, Bytes], Guides, Ints, tuple[int, int, int], Weights, Best, Floats],
)

GUIDE, PAM = 20, 3  # letters
CODE = 7  # bits of an ASCII letter in which A, C, G, T, N and - differ: its code
UNKNOWN, INSERTED, DELETED = ord("N") & CODE, ord("I"), ord("D")
KNOWN = re.compile(rf"[ACGT]{{{GUIDE}}}")
LOWERING = 1e-3 * np.array(  # MIT's score, by a mismatch at each position
    [0, 0, 14, 0, 0, 395, 317, 0, 389, 79, 445, 508, 613, 851, 732, 828, 615, 804, 685, 583]
)

Most = tuple[int | None, int | None, int | None]  # mismatches, insertions, deletions


@cache
def cfd_weights() -> Floats:
    """CFD's weights of supplementary table 19, float64[22, 8, 8] by position, the codes of the
    guide's letter and of the site's, as the guide's strand reads them; NaN where there is none.

    A letter of the site that meets none has the number of guide letters before it in place of a
    position. The last weights are those of the PAM, by its last two letters.
    """
    weights = np.full((GUIDE + 2, 8, 8), np.nan)
    for letter in b"ACGT":
        weights[:GUIDE, letter & CODE, letter & CODE] = 1
    for line in files("kmatch.results").joinpath("cfd.tsv").read_text().splitlines():
        if not line.startswith("#"):
            guide, site, *values = line.split("\t")
            first = {"-": 1, "PAM": GUIDE + 1}.get(guide, 0)
            letters = site if guide == "PAM" else guide + site
            row, column = (ord(letter) & CODE for letter in letters)
            numbers = [float(value or "nan") for value in values]
            weights[first : first + len(numbers), row, column] = numbers
    return weights


class Scorer:
    """Scores the hits of a search for guides, beside PAMs that stand behind them."""

    def __init__(self, guides: list[str], most: Most) -> None:
        """guides: the letters of each pattern; most: how many differences of each kind their hits
        were searched with, None where only the distance bounds them."""
        words = (guide.upper().replace("U", "T") for guide in guides)
        known = "".join(word if KNOWN.fullmatch(word) else "N" * GUIDE for word in words)
        self._codes = np.frombuffer(known.encode(), np.uint8).reshape(-1, GUIDE) & CODE
        self.defined: Bools = self._codes[:, 0] != UNKNOWN
        self._most = most

    def cfd(self, batch: HitBatch) -> Floats:
        """CFD of aligned hits, float64[n], from 0 to 1; NaN where it is undefined.

        Where a site has several alignments of its distance within the bounds, it is the greatest.
        """
        k, scores = int(batch.distance.max(initial=0)), np.empty(len(batch))
        most = tuple(k if bound is None else bound for bound in self._most)
        best = np.empty((2, k + 1, k + 1, k + 1))
        sites, guides = tuple(batch.aligned.text), (batch.pattern, self._codes)
        score_cfd(sites, guides, batch.distance, most, cfd_weights(), best, scores)
        return scores

    def mit(self, batch: HitBatch) -> Floats:
        """MIT's score of aligned hits, float64[n], from 0 to 100; NaN where it is undefined."""
        scores, ((ops_ends, ops), (ends, text)) = np.full(len(batch), np.nan), batch.aligned
        bulged = counted_in_rows((ops == INSERTED) | (ops == DELETED), ops_ends) > 0
        fits = ~bulged & self.defined[batch.pattern] & (np.diff(ends) == GUIDE + PAM)
        sites = text[ends[:-1][fits][:, None] + np.arange(GUIDE + PAM)] & CODE
        differs = self._codes[batch.pattern[fits]] != sites[:, :GUIDE]
        n = differs.sum(axis=1)
        span = GUIDE - 1 - differs.argmax(axis=1) - differs[:, ::-1].argmax(axis=1)
        between = span / np.maximum(n - 1, 1)
        apart = np.where(n > 1, ((GUIDE - 1 - between) / (GUIDE - 1) * 4 + 1) * n * n, 1)
        scores[fits] = 100 * np.where(differs, 1 - LOWERING, 1).prod(axis=1) / apart
        scores[np.flatnonzero(fits)[(sites == UNKNOWN).any(axis=1)]] = np.nan
        return scores

    def scored(self, batches: Iterable[HitBatch], names: Sequence[str]) -> Iterator[HitBatch]:
        """Yield aligned HitBatches with those of their scores that are named."""
        for batch in batches:
            made = {name: getattr(self, name)(batch) for name in names if len(batch)}
            yield replace(batch, **made)

    def specificities(self, names: Sequence[str]) -> "dict[str, Specificity]":
        """A Specificity by each of the scores that are named."""
        return {name: Specificity(name, self.defined) for name in names}


class Specificity:
    """How specific each of P guides is, from the scores of all its hits but one that is perfect."""

    def __init__(self, score: str, defined: Bools) -> None:
        """score: `cfd` or `mit`; defined: bool[P], of which patterns there are any."""
        self._score, self._defined = score, defined
        self._whole = 1 if score == "cfd" else 100
        self._sum, self._perfect = np.zeros((2, len(defined)))

    def add(self, batch: HitBatch) -> None:
        """Count hits with their scores; one that has none adds nothing."""
        known = np.fmax(getattr(batch, self._score), 0)
        self._sum += np.bincount(batch.pattern, known, len(self._sum))
        perfect = np.flatnonzero(batch.distance == 0)
        np.maximum.at(self._perfect, batch.pattern[perfect], known[perfect])

    @property
    def values(self) -> Floats:
        """For CFD 1 / (1 + sum), for MIT 100 · 100 / (100 + sum), float64[P]; NaN for patterns
        that are no guides."""
        whole, rest = self._whole, np.maximum(self._sum - self._perfect, 0)
        return np.where(self._defined, whole * whole / (whole + rest), np.nan)
