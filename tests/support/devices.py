"""Searches of every problem by name, held against the oracle, on whichever device is asked for."""

from typing import NamedTuple

import naive
import naive_bounds

from support import differences, mismatches, pcr, primers
from support.cases import EDIT, HAMMING, MULTI, edit_cases, hamming_cases
from support.constraints import CASES as CONSTRAINED
from support.constraints import constrained_cases

NEAR, FAR = "TTCGGGCCC", "GATTACAGATTACAGATTACAGATTACAGATTACAGA"  # 9 and 37 letters
LIMITS_DIFFER = (
    [("a", NEAR[:8]), ("b", "CAACCGGGGT"), ("c", FAR), ("d", "ACGGT" * 60 + FAR)],
    [NEAR, "CAACCGGGGT", FAR, FAR[:32], FAR[18:] + FAR[:18], "AC" * 18, "CT" * 30],
    0,
    {},
)
PAIRS = {"a": (["ACGTTG"], ["GGTAAG"]), "b": (["GGATCC"], ["CCTACG", "AGTACG"])}
SITES = [("r", "ACGTTGNNGGATCCACTTACCAACGTAGG"), ("s", "GGTAAGTTTACGTTGCAACGTACT")]
PRODUCTS = {
    name: (SITES, PAIRS, 1, {"product": (6, 30), "pairs": "any", "edit": edit})
    for name, edit in (("mismatches", False), ("differences", True))
}


class Problem(NamedTuple):
    """cases: by name; drawn(longest=…): a strategy for more, of patterns of so many letters at the
    most; find(records, patterns, k, **options): the rows of kmatch; expect(…): the oracle's."""

    cases: dict
    drawn: object
    find: object
    expect: object


def _best(find):
    """A search for the closest hits, which has no k."""
    return lambda records, patterns, k, **options: find(records, patterns, **options)


PROBLEMS = {
    "hamming": Problem(
        HAMMING,
        hamming_cases,
        lambda *given, **options: mismatches.rows(mismatches.search(*given, **options)),
        naive.hamming,
    ),
    "multi": Problem(
        MULTI,
        None,
        lambda *given, **options: mismatches.rows(mismatches.search_panel(*given, **options)),
        naive.multi,
    ),
    "edit": Problem(
        EDIT,
        edit_cases,
        lambda *given, **options: differences.rows(differences.edit(*given, **options)),
        naive.edit,
    ),
    "best": Problem(
        EDIT | {"counters hold all distances where limits differ": LIMITS_DIFFER},
        edit_cases,
        _best(lambda *given, **options: differences.rows(differences.best(*given, **options))),
        _best(naive.best),
    ),
    "constraints": Problem(
        CONSTRAINED,
        constrained_cases,
        lambda *given, **options: differences.rows(differences.edit(*given, **options)),
        naive_bounds.edit,
    ),
    "pcr": Problem(
        PRODUCTS,
        pcr.cases,
        lambda *given, **options: pcr.rows(pcr.products(*given, **options)),
        lambda *given, **options: pcr.plain(pcr.expected(*given, **options)),
    ),
    "primer": Problem(
        primers.CASES,
        primers.primer_cases,
        lambda *given, **options: primers.rows(primers.primer(*given, **options)),
        naive.primers,
    ),
}


def check(problem, case, **how):
    """Search as a case says, on a device and with settings, and expect what the oracle finds."""
    _, _, find, expect = PROBLEMS[problem]
    records, patterns, k, options = case
    expected = expect(records, patterns, k, **options)
    assert find(records, patterns, k, **options, **how) == expected
    return expected
