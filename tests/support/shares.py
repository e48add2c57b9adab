"""-k as a share of each pattern's letters in tests."""

import naive

from support.differences import edit
from support.mismatches import search

PROBLEMS = [(search, naive.hamming), (edit, naive.edit)]
TEXTS = [("a", "ACGTTGACCATTAGNNCAGGATACCAGTTGACCAT"), ("b", "TTGACCA"), ("c", "GGTACTGGTCAACC")]
PANEL = ["TTGACCA", "ACC", "GATACCAGTTGACCA", "AACCAGT", "TTGACCA"]


def within(oracle, records, patterns, percent, **options):
    """The oracle's hits of each pattern alone, within its own k, together in order."""
    hits = []
    for number, pattern in enumerate(patterns):
        k = int(len(pattern) * percent / 100)
        found = oracle(records, [pattern], k, **options)
        hits += [(*hit[:3], number, *hit[4:6]) for hit in found]
    return naive.in_order(hits)
