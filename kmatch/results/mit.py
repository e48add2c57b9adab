"""The score of Hsu et al. 2013, which its authors' web site at MIT gave: of mismatches alone.

    position           1 2 3 4 5 6 7 8 9 …                       20
    guide              A C G T T A G C C A T G C A T G C A T G
    site               A C G A T A G C C A T G C T T G C A T C
    differs                  |                   |           |
                             4                   14          20

    n = 3 mismatches, and the mean distance between neighbours d = (20 − 4) / (3 − 1) = 8
    score = 100 · (1 − M4) · (1 − M14) · (1 − M20) / ((19 − d) / 19 · 4 + 1) / n²

One mismatch has neither of the two divisors.
"""

import numpy as np

from kmatch.arrays import Bools, Floats, counted_in_rows
from kmatch.results.batches import HitBatch
from kmatch.results.cas9 import CODE, GUIDE, PAM, UNKNOWN, GuideLetters, Most

INSERTED = ord("I")  # columns of alignments that have a letter on one side alone
DELETED = ord("D")
# M, by how much a mismatch at each position lowers the score.
LOWERING = 1e-3 * np.array(
    [0, 0, 14, 0, 0, 395, 317, 0, 389, 79, 445, 508, 613, 851, 732, 828, 615, 804, 685, 583]
)


def mit_scores(batch: HitBatch, guides: GuideLetters, _: Most) -> Floats:
    """Return the score of aligned hits, float64[n], from 0 to 100; NaN where it is undefined."""
    # Hits without bulges, of guides of twenty letters beside a PAM of three.
    text = batch.aligned.text
    has_size = np.diff(text.bounds) == GUIDE + PAM
    is_guide = guides.is_guide[batch.pattern]
    rows = np.flatnonzero(~_has_bulge(batch) & has_size & is_guide)
    # Their sites and their mismatches, a row a hit.
    columns = np.arange(GUIDE + PAM)
    first_letters = text.bounds[rows]
    sites = text.letters[first_letters[:, None] + columns] & CODE
    codes = guides.codes[batch.pattern[rows]]
    differs = codes != sites[:, :GUIDE]
    factors = np.where(differs, 1 - LOWERING, 1)
    found = 100 * factors.prod(axis=1) / _divisors(differs)
    # A letter of the site, or of its PAM, that is no base leaves it undefined.
    is_unknown = (sites == UNKNOWN).any(axis=1)
    found[is_unknown] = np.nan
    scores = np.full(len(batch), np.nan)
    scores[rows] = found
    return scores


def _has_bulge(batch: HitBatch) -> Bools:
    """Return which hits have a letter on one side alone, bool[n]."""
    ops = batch.aligned.ops
    is_bulge = (ops.letters == INSERTED) | (ops.letters == DELETED)
    return np.asarray(counted_in_rows(is_bulge, ops.bounds) > 0)


def _divisors(differs: Bools) -> Floats:
    """Return the divisors of scores, float64[n]; differs: bool[n, 20], the mismatches."""
    counts = differs.sum(axis=1)
    first = differs.argmax(axis=1)
    last = GUIDE - 1 - differs[:, ::-1].argmax(axis=1)
    span = last - first
    mean_distance = span / np.maximum(counts - 1, 1)
    nearness = (GUIDE - 1 - mean_distance) / (GUIDE - 1) * 4 + 1
    return np.where(counts > 1, nearness * counts * counts, 1)
