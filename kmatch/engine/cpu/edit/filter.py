"""Filter or full scan: an estimate of both for each query."""

import numpy as np

from kmatch.engine.cpu.edit.pieces import HASTE, cut
from kmatch.engine.cpu.edit.tile import groups
from kmatch.jit import kernel

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
def estimate(letters, k, shares, rows, costs):
    """Nanoseconds of a query: a scan, pieces and survivors for each position, and a survivor.

    costs: CpuCosts.recurrence and .pieces.
    """
    recurrence, pieces = costs
    m = letters.size
    depth = min(m, groups(m, k)[0] + recurrence.deeper)
    warm = 1.0 + (m + k) / rows
    bounds = cut(m, k)
    survivors = read = 0.0
    for piece in range(k + 1):
        chance = 1.0
        for i in range(bounds[piece], bounds[piece + 1]):
            chance *= shares[letters[i]]
        survivors += chance
        read += min(bounds[piece + 1] - bounds[piece], HASTE + 1)
    window = pieces.window + (m + 3 * k) * (pieces.column + pieces.block * ((m + 63) // 64))
    scan = (depth * recurrence.cell + recurrence.column) * warm
    return scan, (read * pieces.letter + (k + 1) * pieces.look) * warm, survivors * window, window


@kernel
def choose(text, search, always, costs):
    """The most survivors with which a filter pays, for each query, int64[Q]; 0 to scan at once.

    text: Text; search: DifferenceQuery; always: filter whatever it costs; costs: as for
    `estimate`.
    """
    planes, words, rows, plane_words = text
    letters, begins, _, bases = search.reading
    limits = search.limits
    shares = frequencies(planes, words, plane_words, len(bases))
    budgets = np.zeros(len(limits), np.int64)
    for q in range(len(limits)):
        pattern = letters[begins[q] : begins[q + 1]]
        scan, pieces, survivors, window = estimate(pattern, limits[q], shares, rows, costs)
        if always:
            budgets[q] = 1 << 40
        elif pieces + survivors < scan:
            budgets[q] = 64 + np.int64(64 * words * rows * scan / window)
    return budgets
