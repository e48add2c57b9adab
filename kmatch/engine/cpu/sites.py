"""Windows beside the sites of a PAM, read out of a chunk's planes."""

from numba import prange

from kmatch.engine.cpu.letters import LETTERS, read_window
from kmatch.jit import parallel_kernel

WORTH = 1500  # queries whose comparison with all windows takes as long as finding and packing sites


def pays(queries):
    """Whether the sites of a PAM are better found before so many queries are compared there."""
    return queries >= WORTH


@parallel_kernel
def read_sites(planes, words, rows, plane_words, positions, minus, length, letters):
    """Write windows of a chunk one after another, each in the direction of its strand.

    planes, words, rows, plane_words: a chunk, whose halo is at least `length`; positions: int64[n],
    where the windows start; minus: uint8[n], 1 reads the reverse complement; length: letters of a
    window; letters: uint8[≥ n·length], ACGT and N, filled here.
    """
    for i in prange(len(positions)):
        window = letters[i * length : (i + 1) * length]
        read_window(planes, words, rows, plane_words, positions[i], minus[i], window)
        for j in range(length):
            window[j] = LETTERS[window[j]]
