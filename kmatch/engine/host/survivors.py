"""How often pieces of patterns are expected to stand in a text."""

from kmatch.engine.cpu.edit.pieces import cut_at
from kmatch.engine.host.sharing import SLAB, next_item
from kmatch.jit import inlined, kernel


@inlined
def _chance(piece, step, most, alone, after):
    """The share of positions at which the first `most` letters of a piece stand; letters that are
    no plane of a base are left out. step: −1 where the text is read downwards."""
    chance, before = 1.0, -1
    first = len(piece) - 1 if step < 0 else 0
    for i in range(min(len(piece), most)):
        base = piece[first + i * step]
        if base >= 4:
            before = -1
            continue
        chance *= alone[base] if before < 0 else after[before, base]
        before = base
    return chance


@kernel
def expect_survivors(work, patterns, k, backward, most, pairs, survivors):
    """Fill `survivors`, float64[n], with the exact pieces at a position of n patterns.

    work: an item is a slab of patterns; patterns: int8[n, m], plane numbers as they are read; each
    has k + 1 pieces, of which `most` letters are looked at; pairs: see `geometry.base_pairs`.
    """
    alone = pairs.sum(axis=1)
    after = pairs / alone.reshape(4, 1)
    m, step = patterns.shape[1], -1 if backward else 1
    item = next_item(work)
    while item >= 0:
        for q in range(item * SLAB, min((item + 1) * SLAB, len(patterns))):
            survivors[q] = 0.0
            for j in range(k + 1):
                piece = patterns[q, cut_at(j, m, k) : cut_at(j + 1, m, k)]
                survivors[q] += _chance(piece, step, most, alone, after)
        item = next_item(work)
