"""Searches of every problem by name, held against the oracle, on whichever device is asked for."""

from typing import NamedTuple

import naive
import naive_bounds
import pytest

from kmatch.engine.cuda.driver import SIMULATED
from support import differences, mismatches, pcr, primers
from support.cases import EDIT, HAMMING, MULTI, edit_cases, hamming_cases
from support.constraints import CASES as CONSTRAINED
from support.constraints import constrained_cases

on_a_gpu = pytest.mark.gpu
simulated = pytest.mark.skipif(not SIMULATED, reason="it is for the simulator")
on_the_cpu = pytest.mark.skipif(SIMULATED, reason="it is not for the simulator")
# With the marks of their tests.
DEVICES = [("cuda", ())] if SIMULATED else [("cpu", ()), ("cuda", on_a_gpu)]

NEAR, FAR = "TTCGGGCCC", "GATTACAGATTACAGATTACAGATTACAGATTACAGA"  # 9 and 37 letters
LIMITS_DIFFER = (
    [("a", NEAR[:8]), ("b", "CAACCGGGGT"), ("c", FAR), ("d", "ACGGT" * 60 + FAR)],
    [NEAR, "CAACCGGGGT", FAR, FAR[:32], FAR[18:] + FAR[:18], "AC" * 18, "CT" * 30],
    0,
    {},
)
TEXTS = [("a", "ACGTTGACCATTAGNNCAGGATACCAGTTGACCAT"), ("b", "TTGACCA"), ("c", "GGTACTGGTCAACC")]
PANEL = ["TTGACCA", "ACC", "GATACCAGTTGACCA", "AACCAGT", "TTGACCA"]
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


def _without_k(find):
    return lambda records, patterns, k, **options: find(records, patterns, **options)


def _shown(rows_of, find):
    """Rows of what a search finds."""
    return lambda *given, **options: rows_of(find(*given, **options))


intervals, aligned = mismatches.rows, differences.rows
PROBLEMS = {
    "hamming": Problem(HAMMING, hamming_cases, _shown(intervals, mismatches.search), naive.hamming),
    "multi": Problem(MULTI, None, _shown(intervals, mismatches.search_panel), mismatches.oracle),
    "edit": Problem(EDIT, edit_cases, _shown(aligned, differences.edit), naive.edit),
    "best": Problem(
        EDIT | {"counters hold all distances where limits differ": LIMITS_DIFFER},
        edit_cases,
        _without_k(_shown(aligned, differences.best)),
        _without_k(naive.best),
    ),
    "constraints": Problem(
        CONSTRAINED, constrained_cases, _shown(aligned, differences.edit), naive_bounds.edit
    ),
    "pcr": Problem(
        PRODUCTS, pcr.cases, _shown(pcr.rows, pcr.products), _shown(pcr.plain, pcr.expected)
    ),
    "primer": Problem(
        primers.CASES, primers.primer_cases, _shown(primers.rows, primers.primer), naive.primers
    ),
}


def check(problem, case, **how):
    """Search as a case says, on a device and with settings, and expect what the oracle finds."""
    _, _, find, expect = PROBLEMS[problem]
    records, patterns, k, options = case
    expected = expect(records, patterns, k, **options)
    assert find(records, patterns, k, **options, **how) == expected
    return expected
