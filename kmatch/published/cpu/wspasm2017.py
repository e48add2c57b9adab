"""Ho, Oh, Kim 2017: k differences by Levenshtein distance, on the CPU.

A parallel approximate string matching under Levenshtein distance on graphics processing units using
warp-shuffle operations, PLOS ONE 12(10), doi 10.1371/journal.pone.0186251. Row i of the matrix D
belongs to the pattern's letter i, column j to the text's letter j, both from 1. Letters are sets of
bases here, and the alphabet Σ is the pattern's.
"""

import numpy as np

from kmatch.arrays import Bytes, Ints
from kmatch.engine.cpu.hits import next_item
from kmatch.engine.workers import SLAB, Workers, slabs
from kmatch.jit.entries import hosted
from kmatch.jit.kernels import kernel

TOO_FAR = -1


@hosted
@kernel
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
            above_left = left
            above = value
        table[j] = above if above <= k else TOO_FAR


def row(text: Bytes, pattern: Bytes, k: int, table: Ints, workers: Workers) -> None:
    """Algorithm 1, PASM: the cells of a row in parallel; one row waits for the other.

    A row has index j + 1 for column j, and at index 0 the number of the row below, which makes the
    last two cases of equation (3) one.
    """
    alphabet, letters = np.unique(pattern, return_inverse=True)
    matches = np.empty((len(alphabet), len(text) + 1), np.int32)
    workers.run(find_matches, len(alphabet), text, alphabet, matches)
    above, here = np.zeros((2, len(text) + 2), np.int32)
    above[0] = 1
    for i, letter in enumerate(letters.tolist(), 1):
        here[0] = i + 1
        here[1] = i
        workers.run(_fill_row, slabs(len(text)), matches[letter], above, here)
        above, here = here, above
    table[:] = np.where(above[2:] <= k, above[2:], TOO_FAR)


@hosted
@kernel
def find_matches(work, text, alphabet, matches):
    """Equation (2), the matrix X: the last column up to j whose letter is one of the alphabet's.

    text: uint8[n]; alphabet: uint8[a]; matches: int32[a, n+1], receives X, 0 where there is none.
    Where the paper has 0 for i = 0, its figure has it for j = 0, which is meant.
    """
    while True:
        letter = next_item(work)
        if letter < 0:
            return
        last = np.int32(0)
        matches[letter, 0] = 0
        for j in range(1, len(text) + 1):
            last = np.int32(j) if text[j - 1] & alphabet[letter] else last
            matches[letter, j] = last


@hosted
@kernel
def _fill_row(work, match, above, here):
    """Equation (3): a row of D from the one above; each item of work is a slab of columns."""
    while True:
        item = next_item(work)
        if item < 0:
            return
        for j in range(item * SLAB + 1, min(item * SLAB + SLAB + 1, len(match))):
            beyond = above[match[j]] + np.int32(j - 1) - match[j]
            other = np.int32(1) + min(above[j + 1], above[j], beyond)
            here[j + 1] = above[j] if match[j] == j else other
