"""Which way a search goes, and on which device: constant rules that were measured on real DNA.

A scan compares everything. On a CPU pieces can be looked up instead (`lookup`), or positions
that hold a piece exactly are found first (`filter`). A choice never changes the output.
"""

import numpy as np

from kmatch.arrays import Bools, Longs

GPU_PAYS = 10**12  # comparisons of letters from which on a GPU is worth its start
ALIKE = 0.27  # how likely two letters of a genome are equal, about
FEW_SURVIVORS = 1e-5  # at a position, with which a filter is faster than a scan for differences
TRIED_BESIDE = 50  # patterns beside a PAM from which on look-ups are tried,
TRIED = 1_000  # and without a PAM,
TRIED_K = 2  # there up to so many differences
TRIAL = 1 << 16  # positions that are then searched both ways
SHARE = 128  # patterns that are scanned in the time that one candidate of a look-up takes, about
RARE = 4096  # positions for each of which a filter may have a survivor


def work_of(letters: int | None, lengths: Longs, strand: str) -> int | None:
    """Return how many letters a scan compares, None where that is unknown.

    letters: of the text; lengths: int64[P], of the patterns; strand: `both`, `+` or `-`.
    """
    return None if letters is None else letters * int(lengths.sum()) * (1 + (strand == "both"))


def device_for(work: int | None) -> tuple[str, str]:
    """Return the device where there is a GPU, for some work: (`cpu` or `cuda`, why)."""
    if work is None:
        return "cuda", "a usable GPU, and a text of unknown length"
    if work < GPU_PAYS:
        return "cpu", f"{work:.2g} letters to compare, too few for a GPU"
    return "cuda", f"{work:.2g} letters to compare"


def filter_pays(lengths: Longs, limits: Longs) -> Bools:
    """Return whether a filter is faster than a scan for differences, for each query, bool[Q];
    lengths, limits: int64[Q]."""
    pieces = limits + 1
    pays: Bools = pieces * np.power(ALIKE, lengths // pieces) < FEW_SURVIVORS
    return pays


def try_lookup(patterns: int, k: int, pams: int, gapless: bool) -> bool:
    """Return whether a trial decides between a look-up and a scan, of mismatches alone if
    gapless."""
    return patterns >= (TRIED_BESIDE if pams else TRIED) and (pams > 0 or gapless or k <= TRIED_K)


def most_candidates(positions: int, queries: int) -> int:
    """Candidates of a look-up in so many positions beyond which a scan takes over."""
    return positions * max(queries // SHARE, 1)


def most_survivors(positions: int) -> int:
    """Return the same for the survivors of a filter."""
    return positions // RARE + 1
