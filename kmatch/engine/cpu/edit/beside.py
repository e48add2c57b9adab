"""Which way differences beside a PAM are searched for, and what it needs of a panel.

All positions are scanned and PAMs looked for beside what is found; or the sites are found first,
and the patterns compared there, all of them (`anchors`) or those that are looked up (`lookup`).
"""

from math import comb
from typing import NamedTuple

import numpy as np

from kmatch.arrays import Floats, Longs
from kmatch.engine import costs
from kmatch.engine.constraints import Constraints
from kmatch.engine.costs import CPU, FIRST_ROWS, total
from kmatch.engine.cpu.edit.anchors import AnchoredPanel, anchored_masks, anchored_panel
from kmatch.engine.cpu.edit.lookup import WIDEST
from kmatch.engine.cpu.edit.pieces import STEP
from kmatch.engine.cpu.edit.seeds import (
    AnchorSeeds,
    anchor_seeds,
    find_pieces,
    serve,
    site_factors,
)
from kmatch.engine.differences import DifferenceQuery

EDIT = 1.4  # ways to differ in a letter, as likely as a letter that is the same


class AnchorTables(NamedTuple):
    """What a search beside PAMs needs of its queries.

    strands: int64[S, 2], (minus, backward) of each strand that is searched; panel, seeds: one of
    them, None is the other.
    """

    query: DifferenceQuery
    constraints: Constraints
    strands: Longs
    panel: AnchoredPanel | None
    seeds: AnchorSeeds | None


def likeness(query: DifferenceQuery, bases: Floats) -> Floats:
    """How likely a letter of the text is one of each query, the geometric mean, float64[Q].

    bases: the shares of A, C, G and T in the text, float64[4].
    """
    letters, begins, _, masks = query.reading
    likely = np.array([bases[(mask >> np.arange(4)) & 1 == 1].sum() for mask in masks])
    means: Floats = np.exp(np.add.reduceat(np.log(likely)[letters], begins[:-1]) / query.lengths)
    return means


def ends_expected(query: DifferenceQuery, likely: Floats) -> float:
    """Ends within the limits of their queries at a text position, all queries together.

    likely: p, the `likeness` of the queries. Of one of m letters there are
    C(m, k) · EDIT^k · p^(m − k); EDIT is fitted to random letters, m from 12 to 32.
    """
    m, k = query.lengths, query.limits
    kinds, kind = np.unique([m, k], axis=1, return_inverse=True)
    ways = np.array([comb(*each) * EDIT ** each[1] for each in kinds.T.tolist()])
    ends = ways[kind.reshape(-1)] * likely ** (m - k)
    return float(np.minimum(ends, 1.0).sum())


def scan_cost(query: DifferenceQuery, likely: Floats) -> float:
    """Nanoseconds to search for the ends at a text position: by a scan, or by pieces.

    As `filter.choose` does, with pieces of one length; likely: the `likeness` of the queries.
    """
    m, k, pieces = query.lengths, query.limits, CPU.pieces
    rows = np.minimum(m, 2 * query.k + FIRST_ROWS + CPU.recurrence.deeper)
    scan = rows * CPU.recurrence.cell + CPU.recurrence.column
    chance = likely ** (m / (k + 1))
    stops = (1 - np.exp(-chance * 64 * STEP)) / (64 * STEP)
    window = pieces.window + (m + 3 * k) * (pieces.column + pieces.block * -(-m // 64))
    sought = (k + 1) * (pieces.look + stops * pieces.stop + chance * window)
    return float(np.minimum(scan, sought).sum())


def anchor_factors(query: DifferenceQuery, share: float) -> costs.Anchors:
    """What is paid at a text position where all patterns are compared at the sites.

    share: of the positions that are sites, on each strand.
    """
    lengths, strands = query.lengths, len(np.unique(query.reading.backward))
    window = int(lengths.max()) + query.k
    cells = float((lengths * (2 * query.k + 1)).sum())
    return costs.Anchors(1, share * strands * window, share * cells, share * len(lengths))


def anchor_seed_factors(
    query: DifferenceQuery, share: float, positions: float
) -> costs.AnchorSeeds | None:
    """The same where pieces are looked up, with the tables for so many positions; None where that
    is not possible."""
    masks, begins = anchored_masks(query)
    if not serve(masks, begins, query.k):
        return None
    patterns = len(begins) - 1
    pieces = find_pieces(int(query.lengths.min()), query.k, patterns)
    if pieces is None:
        return None
    sites = share * (len(query.limits) // patterns)
    paid = site_factors(pieces, query.k, patterns)
    _, _, lookup, branch, candidate, _ = (sites * each for each in paid)
    return costs.AnchorSeeds(1, sites, lookup, branch, candidate, paid.entry / positions)


def anchor_tables(
    query: DifferenceQuery,
    constraints: Constraints,
    share: float,
    bases: Floats,
    positions: int,
    always: bool,
) -> AnchorTables | None:
    """The AnchorTables of the better of both ways, None where a scan is better than both.

    share: of the positions that are sites, on each strand; bases: see `likeness`; positions:
    of the text, about; always: where a scan is better too, and as if the text were long.
    """
    compared = looked_up = total(CPU.anchors, anchor_factors(query, share))
    factors = anchor_seed_factors(query, share, float("inf") if always else positions)
    if factors and constraints.pams.shape[2] <= WIDEST:
        looked_up = total(CPU.anchor_seeds, factors)
    if not always:
        likely = likeness(query, bases)
        scanned = scan_cost(query, likely) + CPU.beside.end * ends_expected(query, likely)
        if min(looked_up, compared) > scanned:
            return None
    strands = np.unique(constraints.minus)
    first = [int(np.argmax(constraints.minus == minus)) for minus in strands]
    both = np.stack([strands, query.reading.backward[first]], axis=1).astype(np.int64)
    if looked_up < compared:
        masks, begins = anchored_masks(query)
        seeds = anchor_seeds(masks, begins, query.limits[: len(begins) - 1])
        return AnchorTables(query, constraints, both, None, seeds)
    return AnchorTables(query, constraints, both, anchored_panel(query), None)
