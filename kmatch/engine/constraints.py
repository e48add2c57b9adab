"""Constraints on alignments beside their distance, as kernels read them."""

from typing import NamedTuple

import numpy as np

from kmatch.arrays import Bytes, Longs
from kmatch.engine.differences import DifferenceQuery
from kmatch.engine.geometry import Text


class States(NamedTuple):
    """How far an alignment from its anchor has come, besides the pattern letters it has used.

    offset: int64[S], text letters beyond these; inserted, deleted: int64[S], the state after one
    more insertion or deletion, −1 where there is none; cost: int64[S], the differences that a
    state itself stands for; start: the state at the anchor; gap: what an insertion or a deletion
    costs beyond its state; apart: whether the states at the end bound what came before. A deletion
    leads to a later state.
    """

    offset: Longs
    inserted: Longs
    deleted: Longs
    cost: Longs
    start: int
    gap: int
    apart: bool


class Constraints(NamedTuple):
    """Constraints on the alignments of Q queries, and on the letters beside them.

    pams: uint8[2, X, w], the letters of X PAMs from the anchor outwards, for each strand as they
    stand on the forward strand; sizes: int64[X], the letters of each; near, far: letters at the
    anchor, and at the other end, that match with nothing inserted or deleted beside them; states:
    States; mismatches: the most there may be; minus: uint8[Q], the strand of each query; leads:
    whether the anchor is the pattern's beginning.
    """

    pams: Bytes
    sizes: Longs
    near: int
    far: int
    states: States
    mismatches: int
    minus: Bytes
    leads: bool


class AnchoredQuery(NamedTuple):
    """A search for differences at anchors alone; share: of the positions that are anchors, on each
    strand: all of them where no PAM stands beside."""

    query: DifferenceQuery
    constraints: Constraints
    share: float


class View(NamedTuple):
    """What a chunk shows, and some letters before it.

    text: Text; letters: uint8, its letters as masks, or none where they are to be read from the
    planes; before: uint8[w], those in front of it; shown: how many letters it has.
    """

    text: Text
    letters: Bytes
    before: Bytes
    shown: int


class Sites(NamedTuple):
    """n anchors beside a PAM: position: int64[n]; strand: int64[n], which of the strands searched
    they are on, as queries go by strands; backward: uint8[n], whether they are read downwards."""

    position: Longs
    strand: Longs
    backward: Bytes


def unit_states(k: int) -> States:
    """The States where only the sum of all differences is bounded, by k: one for each diagonal."""
    offset = np.arange(-k, k + 1)
    number = np.arange(2 * k + 1)
    deleted = np.where(number < 2 * k, number + 1, -1)
    return States(offset, number - 1, deleted, np.zeros_like(offset), k, 1, False)


def kind_states(k: int, insertions: int, deletions: int) -> States:
    """The States where each kind is bounded: one for each number of insertions and of deletions."""
    pairs = [
        (i, d)
        for i in range(min(insertions, k) + 1)
        for d in range(min(deletions, k) + 1)
        if i + d <= k
    ]
    number = {pair: at for at, pair in enumerate(pairs)}
    after = [(number.get((i + 1, d), -1), number.get((i, d + 1), -1)) for i, d in pairs]
    inserted, deleted = np.array(after, np.int64).T.copy()
    counts = np.array(pairs, np.int64)
    offset, cost = counts[:, 1] - counts[:, 0], counts.sum(axis=1)
    return States(offset, inserted, deleted, cost, 0, 0, True)
