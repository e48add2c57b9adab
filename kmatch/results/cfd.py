"""CFD, the cutting frequency determination of Doench et al. 2016: a product of weights.

Each letter of the guide has a weight, by its position and the letter of the site that it meets; so
have letters that meet none, and the last two letters of the PAM together.

    position   1 2 3 4   5 6 7 …  20
    guide      A C G T - T A G …  G    N G G
    site       A C A T C T - G …  G    T A G
    weight     1 1 a 1 b 1 c 1 …  1      d

a: G meets A at position 3. b: C meets no letter behind position 4. c: A meets none at position 6.
d: the PAM ends with AG. Supplementary table 19 has them.
"""

from functools import cache
from typing import Annotated

import numpy as np

from kmatch.arrays import Bytes, Floats, Ints, Longs
from kmatch.jit.entries import entry
from kmatch.results.batches import HitBatch
from kmatch.results.cas9 import CODE, GUIDE, GuideLetters, Most

_Guides = tuple[Ints, Annotated[Bytes, 2]]
_Weights = Annotated[Floats, 3]
_Products = Annotated[Floats, 4]
score_cfd = entry(
    "kmatch.results.kernels:score_cfd",
    tuple[tuple[Longs, Bytes], _Guides, Ints, tuple[int, int, int], _Weights, _Products, Floats],
)


@cache
def cfd_weights() -> Floats:
    """Return the weights of supplementary table 19, float64[22, 8, 8], NaN where there is none.

    They are by row, code of the guide's letter and code of the site's, as the guide's strand reads
    them. Row i is position i + 1; of a letter of the site that meets none, position i, so that the
    number of the guide's letters before it is the row. The last row has the weights of the PAM, by
    its last two letters.
    """
    from importlib.resources import files

    weights = np.full((GUIDE + 2, 8, 8), np.nan)
    for letter in b"ACGT":
        weights[:GUIDE, letter & CODE, letter & CODE] = 1
    lines = files("kmatch.results").joinpath("cfd.tsv").read_text().splitlines()
    for line in lines:
        if line.startswith("#"):
            continue
        guide, site, *values = line.split("\t")
        row = 0
        letters = guide + site
        if guide == "-":
            row = 1
        elif guide == "PAM":
            row = GUIDE + 1
            letters = site
        first, second = (ord(letter) & CODE for letter in letters)
        numbers = [float(value or "nan") for value in values]
        weights[row : row + len(numbers), first, second] = numbers
    return weights


def cfd_scores(batch: HitBatch, guides: GuideLetters, most: Most) -> Floats:
    """Return CFD of aligned hits, float64[n], from 0 to 1; NaN where it is undefined.

    Where a site has several alignments of its distance within the bounds, it is the greatest.
    """
    k = int(batch.distance.max(initial=0))
    bounds = tuple(k if bound is None else bound for bound in most)
    products = np.empty((2, k + 1, k + 1, k + 1))
    scores = np.empty(len(batch))
    score_cfd(
        tuple(batch.aligned.text),
        (batch.pattern, guides.codes),
        batch.distance,
        bounds,
        cfd_weights(),
        products,
        scores,
    )
    return scores
