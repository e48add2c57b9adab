"""Ho, Oh, Kim 2017: k differences by Levenshtein distance, on the CPU.

A parallel approximate string matching under Levenshtein distance on graphics processing units using
warp-shuffle operations, PLOS ONE 12(10), doi 10.1371/journal.pone.0186251. Row i of the matrix D
belongs to the pattern's letter i, column j to the text's letter j, both from 1. Letters are sets of
bases here, and the alphabet Σ is that of the pattern.
"""

import numpy as np
from numba import prange

from kmatch.arrays import Bytes, Ints
from kmatch.jit.kernels import hosted, parallel

TOO_FAR = -1


@hosted
def sequential(text, pattern, k, table):
    """Equation (1), one cell after the other: the paper's ASM_CPU."""
    column = np.arange(len(pattern) + 1).astype(np.int32)
    for j in range(len(text)):
        above_left = above = np.int32(0)
        for i in range(1, len(column)):
            left = column[i]
            if text[j] & pattern[i - 1]:
                value = above_left
            else:
                value = np.int32(1 + min(above, left, above_left))
            column[i] = value
            above_left, above = left, value
        table[j] = above if above <= k else TOO_FAR


def row(text: Bytes, pattern: Bytes, k: int, table: Ints) -> None:
    """Algorithm 1, PASM: the cells of a row in parallel."""
    alphabet, letters = np.unique(pattern, return_inverse=True)
    matches = np.empty((len(alphabet), len(text) + 1), np.int32)
    find_matches(text, alphabet, matches)
    _rows(letters, matches, k, np.empty((2, len(text) + 2), np.int32), table)


@parallel
def find_matches(text, alphabet, matches):
    """Equation (2), the matrix X: the last column up to j whose letter is one of the alphabet's.

    text: uint8[n]; alphabet: uint8[a]; matches: int32[a, n+1], receives X, 0 where there is none.
    Where the paper has 0 for i = 0, its figure has it for j = 0, which is what is meant.
    """
    for letter in prange(len(alphabet)):
        last = np.int32(0)
        matches[letter, 0] = 0
        for j in range(1, len(text) + 1):
            last = np.int32(j) if text[j - 1] & alphabet[letter] else last
            matches[letter, j] = last


@parallel
def _rows(letters, matches, k, rows, table):
    """Equation (3), row after row of D, columns in parallel; one row waits for the other.

    rows: int32[2, n+2]; index j + 1 holds column j, and index 0 the number of the row below, which
    makes the last two cases of the equation one.
    """
    n, m = len(table), len(letters)
    rows[0, :] = 0
    rows[0, 0] = 1
    for i in range(1, m + 1):
        match, above, here = matches[letters[i - 1]], rows[(i - 1) % 2], rows[i % 2]
        here[0], here[1] = i + 1, i
        for j in prange(1, n + 1):
            beyond = above[match[j]] + np.int32(j - 1) - match[j]
            other = np.int32(1) + min(above[j + 1], above[j], beyond)
            here[j + 1] = above[j] if match[j] == j else other
    for j in prange(n):
        distance = rows[m % 2, j + 2]
        table[j] = distance if distance <= k else TOO_FAR
