"""Which way a search goes, and on which device: constant rules that were measured on real DNA.

A scan compares everything. On a CPU exact pieces can be looked up instead (`lookup`), the sites of
a PAM found first (`sites`), or what holds a piece exactly (`filter`). A choice never changes the
output.
"""

import numpy as np

from kmatch.arrays import Bools, Longs

GPU_PAYS = 10**12  # comparisons of letters from which on a GPU is worth its start
MANY_PATTERNS = 10_000  # from which on windows are looked up,
LETTERS = 6  # where a piece has so many letters at least
LONGEST = 64  # letters of a window that can be looked up
MANY_GUIDES = 1_000  # from which on the sites of a PAM are found first
FEW_SURVIVORS = 1e-5  # at a position, with which a filter is faster than a scan for differences
TRIED_BESIDE = 50  # patterns beside a PAM from which on look-ups for differences are tried,
TRIED = 1_000  # and without a PAM,
TRIED_K = 2  # up to so many differences
TRIAL = 1 << 16  # positions that are then searched both ways
SHARE = 128  # patterns that are scanned in the time that one candidate of a look-up takes, about
RARE = 4096  # positions for each of which a filter may have a survivor


def work_of(letters: int | None, lengths: Longs, strand: str) -> int | None:
    """How many letters a scan compares, None where that is unknown.

    letters: of the text; lengths: int64[P], of the patterns; strand: `both`, `+` or `-`.
    """
    return None if letters is None else letters * int(lengths.sum()) * (1 + (strand == "both"))


def device_for(work: int | None) -> tuple[str, str]:
    """The device where there is a GPU, for some work: (`cpu` or `cuda`, why)."""
    if work is None:
        return "cuda", "a usable GPU, and a text of unknown length"
    if work < GPU_PAYS:
        return "cpu", f"{work:.2g} letters to compare, too few for a GPU"
    return "cuda", f"{work:.2g} letters to compare"


def window_way(device: str, patterns: int, length: int, k: int, pams: int) -> str:
    """`scan`, `lookup` or `sites` for patterns of one length beside so many PAMs; device: `cpu` or
    `cuda`."""
    if pams:
        return "sites" if pams > 1 or (device == "cpu" and patterns >= MANY_GUIDES) else "scan"
    pays = patterns >= MANY_PATTERNS and LETTERS * (k + 1) <= length <= LONGEST
    return "lookup" if device == "cpu" and pays else "scan"


def filter_pays(lengths: Longs, limits: Longs, alike: float) -> Bools:
    """Whether a filter is faster than a scan for differences, for each query, bool[Q].

    lengths, limits: int64[Q]; alike: how likely two letters of the text are equal.
    """
    pieces = limits + 1
    pays: Bools = pieces * np.power(alike, lengths // pieces) < FEW_SURVIVORS
    return pays


def try_lookup(device: str, patterns: int, k: int, pams: int) -> bool:
    """Whether a trial decides between a look-up and another way for differences."""
    many = patterns >= TRIED_BESIDE if pams else patterns >= TRIED and k <= TRIED_K
    return device == "cpu" and many


def most_candidates(positions: int, queries: int) -> int:
    """Candidates of a look-up in so many positions beyond which a scan takes over."""
    return positions * max(queries // SHARE, 1)


def most_survivors(positions: int) -> int:
    """The same for the survivors of a filter."""
    return positions // RARE + 1
