"""Which way differences beside a PAM are searched for, and what it needs of a panel.

All positions are scanned and PAMs looked for beside what is found; or the sites are found first,
and the patterns compared there, all of them (`anchors`) or those that are looked up (`lookup`).
Without a PAM large panels may be looked up at every position.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from kmatch.arrays import Bytes, Longs
from kmatch.engine import costs
from kmatch.engine.constraints import Constraints, View
from kmatch.engine.costs import CPU, total
from kmatch.engine.cpu.edit.anchors import (
    LANES,
    AnchoredPanel,
    anchored_masks,
    anchored_panel,
    first_look,
)
from kmatch.engine.cpu.edit.filter import (
    Extent,
    Shares,
    ends_within,
    expected_ends,
    expected_time,
)
from kmatch.engine.cpu.edit.lookup import WIDEST, count_candidates, spans
from kmatch.engine.cpu.edit.seeds import (
    AnchorSeeds,
    Piece,
    anchor_seeds,
    find_pieces,
    serve,
    site_factors,
)
from kmatch.engine.differences import DifferenceQuery
from kmatch.engine.geometry import likeness

BLOCKS = 64  # of a chunk in which candidates are counted, at the least
SURE = 1.5  # times as long as a look-up a scan has to take: estimates err by as much


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

    @property
    def lasts(self) -> bool:
        """Whether it would be the same for more positions, of which each is cheaper so."""
        return self.seeds is not None


class Sample(NamedTuple):
    """What is known of a chunk that others are like.

    count_ends(): the ends at a position of some of its rows, all queries together, or None where it
    has too few rows.
    """

    shares: Shares
    extent: Extent
    count_ends: Callable[[], float | None]


def is_faster(query: DifferenceQuery, sample: Sample, other: float) -> bool:
    """Whether a scan for the ends, and for the PAMs beside them, takes less than so many
    nanoseconds a position.

    Letters say little about the ends in repeats, so these are counted where the rest is faster.
    """
    if len(query.limits) * min(CPU.recurrence.column, CPU.pieces.look) > other:
        return False  # however the text may be
    models = CPU.recurrence, CPU.pieces
    spent = expected_time(query, sample.shares, sample.extent, models)
    if spent > other:
        return False
    counted = sample.count_ends()
    ends = expected_ends(query, sample.shares) if counted is None else counted
    return bool(spent + CPU.beside.end * ends < other)


def anchor_factors(query: DifferenceQuery, share: float, alike: float) -> costs.Anchors:
    """What is paid at a text position where all patterns are compared at the sites.

    share: of the positions that are sites, on each strand; alike: see `geometry.likeness`.
    """
    k, strands, rows = query.k, len(np.unique(query.reading.backward)), 0.0
    lengths, counts = np.unique(query.lengths, return_counts=True)
    for m, count in zip(lengths.tolist(), counts.tolist(), strict=True):
        looked = first_look(m, k)
        rows += count * (looked + (m - looked) * min(LANES * ends_within(looked, k, alike), 1.0))
    letters = share * strands * (int(lengths[-1]) + k)
    return costs.Anchors(1, letters, share * rows * (2 * k + 1), share * len(query.limits))


def anchor_pieces(masks: Bytes, begins: Longs, k: int, alike: float) -> list[Piece] | None:
    """The pieces to look up, None where that is not possible.

    masks, begins: of `anchored_masks`; alike: see `geometry.likeness`.
    """
    if not serve(masks, begins, k):
        return None
    return find_pieces(int(np.diff(begins).min()), k, len(begins) - 1, alike)


def anchor_seed_factors(
    query: DifferenceQuery, pieces: list[Piece], share: float, alike: float, positions: float
) -> costs.AnchorSeeds:
    """What is paid where pieces are looked up, with the tables for so many positions; other
    arguments as for `anchor_factors`."""
    strands = len(np.unique(query.reading.backward))
    sites, patterns = share * strands, len(query.limits) // strands
    paid = site_factors(pieces, query.k, patterns, alike)
    _, _, lookup, branch, candidate, _ = (sites * each for each in paid)
    return costs.AnchorSeeds(1, sites, lookup, branch, candidate, paid.entry / positions)


def anchor_tables(
    query: DifferenceQuery,
    constraints: Constraints,
    share: float,
    sample: Sample,
    positions: int | None,
    before: AnchorTables | None = None,
) -> AnchorTables | None:
    """The AnchorTables of the better of both ways, None where a scan is better than both.

    share: of the positions that are sites, on each strand; sample: of the text; positions: to
    search, None for many of them, and where a scan is better too; before: for fewer positions,
    where a scan was no better and so is not for more.
    """
    alike = likeness(sample.shares.alone[:4])
    compared = looked_up = total(CPU.anchors, anchor_factors(query, share, alike))
    masks, begins = anchored_masks(query)
    narrow = constraints.pams.shape[2] <= WIDEST
    pieces = anchor_pieces(masks, begins, query.k, alike) if narrow else None
    if pieces:
        factors = anchor_seed_factors(query, pieces, share, alike, positions or float("inf"))
        looked_up = total(CPU.anchor_seeds, factors)
    if positions and not before and is_faster(query, sample, min(looked_up, compared)):
        return None
    strands = strands_of(query, constraints)
    if pieces and looked_up < compared:
        seeds = anchor_seeds(masks, begins, query.limits[: len(begins) - 1], pieces)
        return AnchorTables(query, constraints, strands, None, seeds)
    return AnchorTables(query, constraints, strands, anchored_panel(query), None)


def strands_of(query: DifferenceQuery, constraints: Constraints) -> Longs:
    """The strands of AnchorTables."""
    strands = np.unique(constraints.minus)
    first = [int(np.argmax(constraints.minus == minus)) for minus in strands]
    return np.stack([strands, query.reading.backward[first]], axis=1).astype(np.int64)


def lookup_tables(
    query: DifferenceQuery, constraints: Constraints, sample: Sample, view: View, positions: int
) -> AnchorTables | None:
    """The AnchorTables with which pieces are looked up at every position, None where a scan is
    better.

    constraints: without PAMs; sample, view: of the text; positions: to search. Letters say little
    about candidates in repeats, so these are counted in some blocks.
    """
    alike = likeness(sample.shares.alone[:4])
    masks, begins = anchored_masks(query)
    pieces = anchor_pieces(masks, begins, query.k, alike)
    if not pieces:
        return None
    models = CPU.recurrence, CPU.pieces
    scan = expected_time(query, sample.shares, sample.extent, models) / SURE
    factors = anchor_seed_factors(query, pieces, 1.0, alike, positions)
    if total(CPU.anchor_seeds, factors) > scan:
        return None
    strands = strands_of(query, constraints)
    seeds = anchor_seeds(masks, begins, query.limits[: len(begins) - 1], pieces)
    step = max(spans(view.shown) // BLOCKS, 1)
    windows, looked_up, candidates = count_candidates(view, constraints, seeds, strands, step)
    sites = len(strands) / max(windows, 1)
    counted = factors._replace(branch=sites * looked_up, candidate=sites * candidates)
    if total(CPU.anchor_seeds, counted) > scan:
        return None
    return AnchorTables(query, constraints, strands, None, seeds)
