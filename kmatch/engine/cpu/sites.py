"""Windows beside the sites of a PAM, read out of a chunk's planes."""

from kmatch.engine.cpu.letters import LETTERS, read_window
from kmatch.engine.cpu.sharing import next_item
from kmatch.jit import kernel

SLAB = 4096  # windows of an item of work
WORTH = 1500  # queries whose comparison with all windows takes as long as finding and packing sites


def pays(queries):
    """Whether the sites of a PAM are better found before so many queries are compared there."""
    return queries >= WORTH


def slabs(windows):
    """Items of work in reading so many windows."""
    return -(-windows // SLAB)


@kernel
def read_sites(work, text, positions, minus, length, letters):
    """Write windows of a chunk one after another, each in the direction of its strand.

    work: see `slabs`; text: (planes, words, rows, plane_words) of a chunk, whose halo is at least
    `length`; positions: int64[n], where the windows start; minus: uint8[n], 1 reads the reverse
    complement; length: letters of a window; letters: uint8[≥ n·length], ACGT and N, filled here.
    """
    planes, words, rows, plane_words = text
    slab = next_item(work)
    while slab >= 0:
        for i in range(slab * SLAB, min((slab + 1) * SLAB, len(positions))):
            window = letters[i * length : (i + 1) * length]
            read_window(planes, words, rows, plane_words, positions[i], minus[i], window)
            for j in range(length):
                window[j] = LETTERS[window[j]]
        slab = next_item(work)
