"""Scores of Cas9's sites and the specificity of guides, from hits that are aligned.

CFD: Doench et al. 2016, the product of a weight for each difference and one for the PAM. MIT: Hsu
et al. 2013, for mismatches alone. Either is for guides of twenty letters before a PAM of three,
`NGG` or another that begins with N, and undefined (NaN) for whatever its tables do not hold: other
guides, other letters than A, C, G and T, and bulges at the first position.
"""

import re
from functools import cache
from importlib.resources import files
from typing import NamedTuple

import numpy as np

from kmatch.arrays import Bools, Floats
from kmatch.jit import entry
from kmatch.results.batches import HitBatch

score_cfd = entry("kmatch.results.kernels", "score_cfd")
score_mit = entry("kmatch.results.kernels", "score_mit")

GUIDE, PAM = 20, 3  # letters
CODE = 7  # bits of an ASCII letter in which A, C, G, T and N differ: its code
KNOWN = re.compile(rf"[ACGT]{{{GUIDE}}}")
LOWERING = 1e-3 * np.array(  # MIT's score, by a mismatch at each position
    [0, 0, 14, 0, 0, 395, 317, 0, 389, 79, 445, 508, 613, 851, 732, 828, 615, 804, 685, 583]
)

Most = tuple[int | None, int | None, int | None]  # mismatches, insertions, deletions


class Weights(NamedTuple):
    """CFD's, NaN where there is none. A site's letters are as the guide's strand reads them.

    pairs: float64[20, 8, 8] by position, the guide's letter and the site's; skipped_text:
    float64[21, 8] by the number of guide letters before a letter of the site that meets none;
    skipped_guide: float64[20, 8]; pam: float64[8, 8] by the last two letters.
    """

    pairs: Floats
    skipped_text: Floats
    skipped_guide: Floats
    pam: Floats


@cache
def cfd_weights() -> Weights:
    """The weights of supplementary table 19, by codes of letters."""
    shapes = (GUIDE, 8, 8), (GUIDE + 1, 8), (GUIDE, 8), (8, 8)
    weights = Weights(*(np.full(shape, np.nan) for shape in shapes))
    for letter in b"ACGT":
        weights.pairs[:, letter & CODE, letter & CODE] = 1
    for line in files("kmatch.results").joinpath("cfd.tsv").read_text().splitlines():
        if line.startswith("#"):
            continue
        guide, site, *values = line.split("\t")
        numbers = np.array([value or "nan" for value in values], np.float64)
        letter, first, last = (ord(each) & CODE for each in (guide[0], site[0], site[-1]))
        if guide == "PAM":
            weights.pam[first, last] = numbers[0]
        elif guide == "-":
            weights.skipped_text[1:, first] = numbers
        elif site == "-":
            weights.skipped_guide[:, letter] = numbers
        else:
            weights.pairs[:, letter, first] = numbers
    return weights


def is_cas9(pam: str) -> bool:
    """Whether scores are defined beside a PAM, which stands behind the guide."""
    return len(pam) == PAM and pam[0].upper() == "N"


class Scorer:
    """Scores the hits of a search for guides, beside PAMs that stand behind them."""

    def __init__(self, guides: list[str], most: Most) -> None:
        """guides: the letters of each pattern; most: how many differences of each kind their hits
        were searched with, None where only the distance bounds them."""
        words = (guide.upper().replace("U", "T") for guide in guides)
        known = "".join(word if KNOWN.fullmatch(word) else "N" * GUIDE for word in words)
        self._codes = np.frombuffer(known.encode(), np.uint8).reshape(-1, GUIDE) & CODE
        self.defined: Bools = self._codes[:, 0] != ord("N") & CODE
        self._most = most

    def cfd(self, batch: HitBatch) -> Floats:
        """CFD of aligned hits, float64[n], from 0 to 1; NaN where it is undefined.

        Where a site has several alignments of its distance within the bounds, it is the greatest.
        """
        k, scores = int(batch.distance.max(initial=0)), np.empty(len(batch))
        most = tuple(k if bound is None else bound for bound in self._most)
        best = np.empty((2, k + 1, k + 1, k + 1))
        sites, guides = batch.aligned[2:], (batch.pattern, self._codes)
        score_cfd(sites, guides, batch.distance, most, cfd_weights(), best, scores)
        return scores

    def mit(self, batch: HitBatch) -> Floats:
        """MIT's score of aligned hits, float64[n], from 0 to 100; NaN where it is undefined."""
        guides, scores = (batch.pattern, self._codes), np.empty(len(batch))
        score_mit(batch.aligned[2:], guides, batch.aligned[:2], LOWERING, scores)
        return scores


class Specificity:
    """How specific each of P guides is, from the scores of all its hits but one that is perfect."""

    def __init__(self, score: str, scorer: Scorer) -> None:
        """score: `cfd` or `mit`."""
        self._score = getattr(scorer, score)
        self._whole, self._defined = (1 if score == "cfd" else 100), scorer.defined
        self._sum, self._perfect = np.zeros((2, len(self._defined)))

    def add(self, batch: HitBatch) -> None:
        """Count aligned hits; those without a score add nothing."""
        known = np.nan_to_num(self._score(batch))
        self._sum += np.bincount(batch.pattern, known, len(self._sum))
        perfect = np.flatnonzero(batch.distance == 0)
        np.maximum.at(self._perfect, batch.pattern[perfect], known[perfect])

    @property
    def values(self) -> Floats:
        """For CFD 1 / (1 + sum), for MIT 100 · 100 / (100 + sum), float64[P]; NaN for patterns
        that are no guides."""
        whole, rest = self._whole, np.maximum(self._sum - self._perfect, 0)
        return np.where(self._defined, whole * whole / (whole + rest), np.nan)
