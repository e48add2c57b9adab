"""Scores of Cas9's sites and the specificity of guides, from hits that are aligned.

CFD: Doench et al. 2016, the product of a weight for each difference and one for the PAM. MIT: Hsu
et al. 2013, for mismatches alone. Either is for guides of twenty letters before a PAM of three,
`NGG` or another that begins with N, and undefined (NaN) for whatever its tables do not hold: other
guides, other letters than A, C, G and T, and bulges at the first position.
"""

from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from itertools import product
from typing import NamedTuple

import numpy as np

from kmatch.arrays import Bools, Bytes, Floats, Longs, counted_in_rows, look_up
from kmatch.results.batches import HitBatch

GUIDE, PAM = 20, 3  # letters
SITE = GUIDE + PAM
UNKNOWN = 4  # the code of any letter but A, C, G and T
AT_ONCE = 1 << 14  # rows
_MIT = np.array(  # thousandths by which a mismatch at each position lowers the score
    [0, 0, 14, 0, 0, 395, 317, 0, 389, 79, 445, 508, 613, 851, 732, 828, 615, 804, 685, 583]
)

_CODES = np.full(256, UNKNOWN, np.uint8)
_CODES[np.frombuffer(b"ACGTU", np.uint8)] = [0, 1, 2, 3, 3]


Most = tuple[int | None, int | None, int | None]  # mismatches, insertions, deletions


class Weights(NamedTuple):
    """CFD's, NaN where there is none. A site's letters are as the guide's strand reads them.

    pairs: float64[20, 5, 5] by position, the guide's letter and the site's; skipped_text:
    float64[21, 5] by the number of guide letters before a letter of the site that meets none;
    skipped_guide: float64[20, 5]; pam: float64[5, 5] by the last two letters.
    """

    pairs: Floats
    skipped_text: Floats
    skipped_guide: Floats
    pam: Floats


@cache
def cfd_weights() -> Weights:
    """The weights of supplementary table 19, by codes of letters."""
    weights = Weights(*(np.full(shape, np.nan) for shape in ((20, 5, 5), (21, 5), (20, 5), (5, 5))))
    for code in range(UNKNOWN):
        weights.pairs[:, code, code] = 1
    for line in files("kmatch.results").joinpath("cfd.tsv").read_text().splitlines():
        if line.startswith("#"):
            continue
        guide, site, *values = line.split("\t")
        numbers = np.array([value or "nan" for value in values], np.float64)
        codes = _CODES[np.frombuffer(site.encode(), np.uint8)]
        if guide == "PAM":
            weights.pam[*codes] = numbers[0]
        elif guide == "-":
            weights.skipped_text[1:, codes[0]] = numbers
        elif site == "-":
            weights.skipped_guide[:, _CODES[ord(guide)]] = numbers
        else:
            weights.pairs[:, _CODES[ord(guide)], codes[0]] = numbers
    return weights


def guide_codes(letters: str) -> Bytes | None:
    """The codes of a guide, uint8[20]; None where no score is defined for it."""
    codes = _CODES[np.frombuffer(letters.upper().encode(), np.uint8)]
    return codes if len(codes) == GUIDE and (codes != UNKNOWN).all() else None


def is_cas9(pam: str) -> bool:
    """Whether scores are defined beside a PAM, which stands behind the guide."""
    return len(pam) == PAM and pam[0].upper() == "N"


class Scorer:
    """Scores the hits of a search for guides, beside PAMs that stand behind them."""

    def __init__(self, guides: list[str], most: Most) -> None:
        """guides: the letters of each pattern; most: how many differences of each kind their hits
        were searched with, None where only the distance bounds them."""
        known = [guide_codes(letters) for letters in guides]
        self.defined: Bools = np.array([codes is not None for codes in known], np.bool_)
        blank = np.full(GUIDE, UNKNOWN, np.uint8)
        self._guides = np.array([blank if codes is None else codes for codes in known], np.uint8)
        self._most = most

    def cfd(self, batch: HitBatch) -> Floats:
        """CFD of aligned hits, float64[n], from 0 to 1; NaN where it is undefined.

        Where a site has several alignments of its distance within the bounds, it is the greatest.
        """
        scores = np.full(len(batch), np.nan)
        for rows, guide, site, distance in self._alike(batch):
            if site.shape[1] == SITE and (distance < 2 or self._most[1] == 0):
                scores[rows] = _mismatched(guide, site[:, :GUIDE], distance)
            else:
                scores[rows] = _best_cfd(guide, site[:, :-PAM], distance, self._most)
            scores[rows] *= cfd_weights().pam[site[:, -2], site[:, -1]]
        return scores

    def mit(self, batch: HitBatch) -> Floats:
        """MIT's score of aligned hits, float64[n], from 0 to 100; NaN where it is undefined."""
        ops = batch.aligned.ops
        bulges = counted_in_rows((ops == ord("I")) | (ops == ord("D")), batch.aligned.op_ends)
        scores = np.full(len(batch), np.nan)
        for rows, guide, site, distance in self._alike(batch):
            if site.shape[1] == SITE:
                scores[rows] = _mit(guide != site[:, :GUIDE], distance)
                scores[rows[(site == UNKNOWN).any(1) | (bulges[rows] > 0)]] = np.nan
        return scores

    def _alike(self, batch: HitBatch) -> Iterator[tuple[Longs, Bytes, Bytes, int]]:
        """Rows with a guide that is scored, by the length of their text and their distance.

        The rows' numbers, int64[r], and codes: guides, uint8[r, 20], and sites, uint8[r, length].
        """
        ends, text = batch.aligned[2:]
        lengths, codes = np.diff(ends), look_up(text, _CODES)
        kinds = np.where(self.defined[batch.pattern], lengths << 16 | batch.distance, -1)
        for kind in sorted(set(kinds.tolist()) - {-1}):
            length, distance = divmod(int(kind), 1 << 16)
            every = np.flatnonzero(kinds == kind)
            for first in range(0, len(every), AT_ONCE):
                rows = every[first : first + AT_ONCE]
                if (lengths == length).all():
                    site = codes.reshape(-1, length)[rows]
                else:
                    site = codes[ends[rows][:, None] + np.arange(length)]
                yield rows, self._guides[batch.pattern[rows]], site, distance


def _mit(differs: Bools, mismatches: int) -> Floats:
    """The formula of Hsu et al. for rows with as many mismatches; differs: bool[r, 20]."""
    scores = 100 * np.where(differs, 1 - _MIT / 1000, 1).prod(1)
    if mismatches > 1:
        first, last = differs.argmax(1), GUIDE - 1 - differs[:, ::-1].argmax(1)
        between = (last - first) / (mismatches - 1)
        scores /= ((GUIDE - 1 - between) / (GUIDE - 1) * 4 + 1) * mismatches**2
    return scores


def _mismatched(guide: Bytes, text: Bytes, mismatches: int) -> Floats:
    """The product of the weights of rows with as many mismatches; guide, text: uint8[r, 20]."""
    at = np.flatnonzero(guide != text)
    weights = cfd_weights().pairs[at % GUIDE, guide.reshape(-1)[at], text.reshape(-1)[at]]
    product: Floats = weights.reshape(-1, mismatches).prod(1) if mismatches else np.ones(len(guide))
    return product


def _best_cfd(guide: Bytes, text: Bytes, distance: int, most: Most) -> Floats:
    """The greatest product of weights over all alignments of a distance, NaN where none has one.

    guide: uint8[r, 20]; text: uint8[r, length].
    """
    best = np.full(len(guide), np.nan)
    for inserted in range(distance + 1):
        deleted = text.shape[1] - GUIDE + inserted
        counts = (distance - inserted - deleted, inserted, deleted)
        if all(
            0 <= count <= (distance if bound is None else bound)
            for count, bound in zip(counts, most, strict=True)
        ):
            best = np.fmax(best, _best_of(guide, text, counts))
    return best


def _best_of(guide: Bytes, text: Bytes, counts: tuple[int, int, int]) -> Floats:
    """The same over all alignments with so many mismatches, insertions and deletions.

    State (i, a, b, c), before letter i of the guide: the greatest product of those alignments of
    the letters before it that have a insertions, b deletions and c mismatches.
    """
    weights, (mismatched, inserted, deleted) = cfd_weights(), counts
    best = np.full((inserted + 1, deleted + 1, mismatched + 1, len(guide)), np.nan)
    best[0, 0, 0] = 1
    states, length = list(product(range(inserted + 1), range(deleted + 1))), text.shape[1]
    for i in range(GUIDE + 1):
        for a, b in states:
            at = i - a + b  # letters of the text that are used
            if b and 0 < at <= length:
                more = best[a, b - 1] * weights.skipped_text[i, text[:, at - 1]]
                best[a, b] = np.fmax(best[a, b], more)
        if i == GUIDE:
            break
        letter, before = guide[:, i], best
        best = np.full_like(before, np.nan)
        for a, b in states:
            at = i - a + b
            if at < length:
                same = letter == text[:, at]
                weight = weights.pairs[i, letter, text[:, at]]
                best[a, b] = np.fmax(best[a, b], np.where(same, before[a, b], np.nan))
                changed = np.where(same, np.nan, before[a, b, :-1] * weight)
                best[a, b, 1:] = np.fmax(best[a, b, 1:], changed)
            if a < inserted:
                skipped = before[a, b] * weights.skipped_guide[i, letter]
                best[a + 1, b] = np.fmax(best[a + 1, b], skipped)
    return best[-1, -1, -1]


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
