"""Bounds that seeds give: no more than what the whole search finds, and often the same."""

import numpy as np
import pytest
from support.commands import random_letters

from kmatch.apps.primer import LETTER_CODES, PrimerOptions, PrimerSearch, background_parts
from kmatch.engine.cpu.seeds import Seeds
from kmatch.engine.cuda.open_starts import open_starts
from kmatch.engine.types import Starts
from kmatch.genome import Genome
from kmatch.search.query import Run


def search(target, background, k, **options):
    genomes = [Genome.from_records(each) for each in (target, background)]
    return PrimerSearch(*genomes, k, PrimerOptions(**options), Run("cpu", 1))


def relatives(seed):
    """A text, and a copy with letters changed, inserted and left out, and strangers beside it."""
    rng = np.random.default_rng(seed)
    text = random_letters(900, seed=seed)
    copy = list(text)
    for position in rng.choice(len(copy), 25, replace=False).tolist():
        copy[position] = rng.choice(["", "A", "CG", "N"])
    stranger = random_letters(300, seed=seed + 100)
    return [("t", text[:850] + stranger), ("u", stranger[:5])], [
        ("c", "".join(copy)),
        ("d", text[870:]),
    ]


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize(("k", "longest"), [(1, 30), (4, 25), (6, None)])
def test_seeds_never_raise_a_bound_too_far(seed, k, longest):
    target, background = relatives(seed)
    whole = search(target, background, k, max_length=longest)
    whole.engine.takes_seeds = False
    list(whole)
    seeded = search(target, background, k, max_length=longest)
    starts = seeded._starts
    seeds = Seeds(starts)
    for part in background_parts(Genome.from_records(background), (0, 1)):
        seeds.raise_bounds(starts, part.columns, k)
    assert (starts.bounds <= whole._starts.bounds).all()
    assert (starts.bounds > k).sum() > 600  # what has a relative is known to be longer
    list(seeded)
    assert (seeded._starts.bounds == whole._starts.bounds).all()


def test_bounds_along_a_diagonal():
    """
    target       A C G T T G C A A T G C A T G C C A T A      k = 2
    background   A C G T T G C A A T G C A T G C T A T A
    mismatch                                     16
    bound of 0   one difference by the end, and one more letter: 21, but its limit is 20
    """
    target = "ACGTTGCAATGCATGCCATA"
    background = target[:16] + "T" + target[17:]
    searched = search([("t", target)], [("b", background)], 2, max_length=18)
    starts = searched._starts
    seeds = Seeds(starts)
    seeds.raise_bounds(starts, LETTER_CODES[np.frombuffer(background.encode(), np.uint8)], 2)
    limits = np.minimum(18, 20 - np.arange(20))
    assert starts.limits.tolist() == limits.tolist()
    assert starts.bounds.tolist() == (limits + 1).tolist()


def test_what_is_left_is_packed():
    """
    start       0 1 2 3 4 5 6 7 8 9 … 39
    open            o o       o               limits 2, and 3 at start 7
    packed          [---]     [---]           2-4, 7-9
    """
    limits = np.full(40, 2)
    limits[7] = 3
    bounds = limits + 1
    bounds[[2, 3, 7]] = 1
    masks = (np.arange(40) % 15 + 1).astype(np.uint8)
    starts = Starts(masks, np.array([0, 40]), limits, bounds)
    opened = open_starts(starts)
    assert opened.positions.tolist() == [2, 3, 4, 7, 8, 9]
    assert opened.starts.masks.tolist() == masks[[2, 3, 4, 7, 8, 9]].tolist()
    assert opened.starts.begins.tolist() == [0, 3, 6]
    assert opened.starts.limits.tolist() == [2, 2, 1, 3, 2, 1]
    assert opened.starts.bounds.tolist() == [1, 1, 2, 1, 3, 2]
    opened.starts.bounds[:] = 2
    opened.hand_back(starts)
    assert starts.bounds[[2, 3, 7]].tolist() == [2, 2, 2]
    assert starts.bounds[[1, 4, 8]].tolist() == [3, 3, 3]


def test_nothing_is_packed_where_most_is_left():
    starts = Starts(np.ones(9, np.uint8), np.array([0, 9]), 9 - np.arange(9), np.ones(9, np.int64))
    assert open_starts(starts) is None
    starts.bounds[:] = 10
    assert len(open_starts(starts).positions) == 0
