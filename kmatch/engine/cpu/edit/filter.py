"""Filter or full scan: an estimate of both for each query."""

import numpy as np

from kmatch.engine.cpu.edit.pieces import HASTE, cut
from kmatch.engine.cpu.edit.tile import groups
from kmatch.jit import kernel

# Nanoseconds of one core, from measurements; only their ratios matter.
CELL = 0.0019  # a cell of the bit-sliced recurrence
COUNT = 0.0065  # counters and border, a text position
DEEPER = 6  # rows below the first group that are computed on average
AND = 0.0006  # a letter of a piece, a text position
LOOK = 0.003  # a piece, a text position
WINDOW = 60.0  # a window, apart from its columns
COLUMN = 11.0  # a column of a window, apart from its words
BLOCK = 2.0  # a word of 64 pattern letters of a column

SAMPLES = 64  # rows of a chunk in which letters are counted


@kernel
def _ones(word):
    word = word - ((word >> np.uint64(1)) & np.uint64(0x5555555555555555))
    pairs = np.uint64(0x3333333333333333)
    word = (word & pairs) + ((word >> np.uint64(2)) & pairs)
    word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int64((word * np.uint64(0x0101010101010101)) >> np.uint64(56))


@kernel
def frequencies(planes, words, plane_words, count):
    """Share of the chunk's positions in each of its first `count` planes, float64."""
    rows = plane_words // words
    every = max(1, rows // SAMPLES)
    looked = (rows + every - 1) // every
    shares = np.zeros(count)
    for plane in range(count):
        for row in range(0, rows, every):
            for word in range(words):
                shares[plane] += _ones(planes[plane * plane_words + row * words + word])
    return shares / (64 * words * looked)


@kernel
def estimate(letters, k, shares, rows):
    """Nanoseconds of a query: a scan, pieces and survivors for each position, and a survivor."""
    m = letters.size
    depth = min(m, groups(m, k)[0] + DEEPER)
    warm = 1.0 + (m + k) / rows
    bounds = cut(m, k)
    survivors = ands = 0.0
    for piece in range(k + 1):
        chance = 1.0
        for i in range(bounds[piece], bounds[piece + 1]):
            chance *= shares[letters[i]]
        survivors += chance
        ands += min(bounds[piece + 1] - bounds[piece], HASTE + 1)
    window = WINDOW + (m + 3 * k) * (COLUMN + BLOCK * ((m + 63) // 64))
    scan = (depth * CELL + COUNT) * warm
    return scan, (ands * AND + (k + 1) * LOOK) * warm, survivors * window, window


@kernel
def choose(text, search, always):
    """The most survivors with which a filter pays, for each query, int64[Q]; 0 to scan at once.

    text: Text; search: DifferenceQuery; always: filter whatever it costs.
    """
    planes, words, rows, plane_words = text
    letters, begins, _, bases = search.reading
    limits = search.limits
    shares = frequencies(planes, words, plane_words, len(bases))
    budgets = np.zeros(len(limits), np.int64)
    for q in range(len(limits)):
        pattern = letters[begins[q] : begins[q + 1]]
        scan, pieces, survivors, window = estimate(pattern, limits[q], shares, rows)
        if always:
            budgets[q] = 1 << 40
        elif pieces + survivors < scan:
            budgets[q] = 64 + np.int64(64 * words * rows * scan / window)
    return budgets
