"""Bounds of primers' lengths by an engine's kernels, beside those of the oracle."""

import naive
import numpy as np
from hypothesis import strategies as st

CODES = {letter: code for code, letter in enumerate("ACGT")}


def arguments(target, background, k, max_length=None):
    """(target, begins, limits, bounds, columns, k) as engines take them, of lists of strings."""
    begins = np.cumsum([0, *map(len, target)])
    letters = "".join(target)
    masks = np.array([1 << CODES[x] if x in CODES else 0 for x in letters], np.uint8)
    ends = np.repeat(begins[1:], np.diff(begins))
    limits = np.minimum(ends - np.arange(len(letters)), max_length or len(letters))
    columns = [code for text in background for code in (5, *(CODES.get(x, 4) for x in text))]
    bounds = np.minimum(k, limits + 1)
    return masks, begins, limits, bounds, np.array(columns, np.uint8), k


def expected(target, background, k, max_length=None):
    """The bounds that these arguments come to, by the oracle."""
    bounds = []
    for text in target:
        for r in range(len(text)):
            read = text[r:][:max_length]
            length = naive.shortest_apart(read, ["", *background], k)
            bounds.append(len(read) + 1 if length is None else length)
    return bounds


def texts(most, longest, letters="ACGTN"):
    return st.lists(st.text(letters, max_size=longest), min_size=1, max_size=most)
